"""``python -m evidence``: verify a data folder, convert published evidence, write the schemas."""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from evidence import catalog, store
from evidence.faults import FaultyError
from evidence.types import Build, Campaign, Profile, Record
from evidence.verify import verify

DOCUMENTS = {"record": Record, "profile": Profile, "build": Build, "campaign": Campaign}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand; return 0, 1 when evidence or catalog has faults, 2 when a path cannot be used."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except FaultyError as error:
        print(error, file=sys.stderr)
        print(f"{len(error.faults)} fault(s)", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"evidence: {error.filename or options.run.__name__}: {error.strerror or error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evidence", description=__doc__.partition(": ")[2])
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser("verify", help="prove a data folder; list every fault, exit 1 if any")
    command.add_argument("--data", type=Path, default=Path("data"), help="folder of the systems (default: data)")
    command.add_argument("--catalog", type=Path, help="folder of the catalog (default: DATA/catalog)")
    command.set_defaults(run=_verify)
    command = commands.add_parser("convert", help="rewrite published evidence (schema 2) as schema 3")
    command.add_argument("source", type=Path, metavar="SRC", help="folder that holds systems in schema 2")
    command.add_argument("target", type=Path, metavar="DST", help="data folder that gets the systems in schema 3")
    command.set_defaults(run=_convert)
    command = commands.add_parser("schema", help="write the JSON Schemas of the evidence files")
    command.add_argument("--data", type=Path, default=Path("data"), help="folder whose schema/ is written")
    command.set_defaults(run=_schema)
    return parser


def _verify(options: argparse.Namespace) -> int:
    people = catalog.load(options.catalog or options.data / "catalog")
    result = verify(options.data, people)
    for name, count in result.checked.items():
        print(f"{count:7} {name}")
    for fault in result.faults:
        print(fault, file=sys.stderr)
    print(f"{len(result.faults)} fault(s)" if result.faults else "no fault")
    return 1 if result.faults else 0


def _convert(options: argparse.Namespace) -> int:
    for system_id in store.systems(options.source):
        loaded = store.load_system(options.source, system_id)
        target = options.target / system_id
        if target.exists():
            raise FileExistsError(17, "exists already; remove it to convert again", str(target))
        write_system(loaded, target)
        print(f"{target}: {len(loaded.records)} records, {len(loaded.profiles)} profiles")
    return 0


def write_system(loaded: store.SystemEvidence, target: Path) -> None:
    """Write all evidence of one system as schema 3 with its manifest, all or nothing.

    Raises:
        OSError: when ``target`` cannot be written; it then does not exist.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as name:
        folder = Path(name) / target.name
        store.write_atomically(folder / "campaign.json", store.encode(loaded.campaign))
        store.write_atomically(folder / "build.json", store.encode(Build(schema=3, instances=loaded.build)))
        for record in loaded.records:
            store.write_atomically(folder / store.record_path(record), store.encode(record))
        for profile in loaded.profiles:
            store.write_atomically(folder / store.profile_path(profile), store.encode(profile))
        for log in sorted(built.kat_log for built in loaded.build.values() if built.kat_log):
            (folder / log).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(loaded.folder / log, folder / log)
        store.write_atomically(folder / store.MANIFEST, store.manifest(folder))
        folder.rename(target)


def _schema(options: argparse.Namespace) -> int:
    for name, document in DOCUMENTS.items():
        schema = msgspec.json.format(msgspec.json.encode(msgspec.json.schema(document), order="sorted"), indent=1)
        store.write_atomically(options.data / "schema" / f"{name}.json", schema + b"\n")
    print(f"{len(DOCUMENTS)} schemas written to {options.data / 'schema'}")
    return 0
