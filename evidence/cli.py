"""``python -m evidence``: verify a data folder, convert published evidence, write the schemas."""

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from evidence import catalog, schema, store
from evidence.compare import Comparison, compare
from evidence.faults import FaultyError
from evidence.signature import add_signatures
from evidence.types import Build
from evidence.verify import verify


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
    command.add_argument("--trusted", type=Path, metavar="FILE", help="allowed signers; every manifest must be signed")
    command.set_defaults(run=_verify)
    command = commands.add_parser("compare", help="say what changed between two campaigns of one system; exit 1 if so")
    command.add_argument("before", type=Path, metavar="A", help="folder of one system, such as old/data/arm_1")
    command.add_argument("after", type=Path, metavar="B", help="folder of the same system in the other campaign")
    command.add_argument("--json", action="store_true", help="print every row and fact as JSON")
    command.set_defaults(run=_compare)
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
    if options.trusted:
        result = add_signatures(result, options.data, options.trusted)
    for name, count in result.checked.items():
        print(f"{count:7} {name}")
    for fault in result.faults:
        print(fault, file=sys.stderr)
    print(f"{len(result.faults)} fault(s)" if result.faults else "no fault")
    return 1 if result.faults else 0


def _compare(options: argparse.Namespace) -> int:
    """Print the rows that changed, the folded count of the others, and the facts that changed."""
    before, after = (store.load_system(path.parent, path.name) for path in (options.before, options.after))
    found = compare(before, after)
    if options.json:
        print(json.dumps(comparison_json(found), indent=1))
    else:
        print("\n".join(comparison_lines(found)))
    return 1 if found.changed() or found.facts else 0


def comparison_lines(found: Comparison) -> list[str]:
    """Return a comparison as text: changed rows, then one line for the rest, then changed facts."""
    lines = []
    for row in found.changed():
        name = f"{row.candidate}/{row.label} {row.operation}{f' {row.input_bytes} B' if row.input_bytes else ''}"
        change = f"{row.ratio:.3f} ({row.interval.low:.3f} to {row.interval.high:.3f})" if row.interval else ""
        lines.append(f"{row.verdict:8} {name:50} {change}".rstrip())
    lines.append(f"{len(found.rows) - len(found.changed())} of {len(found.rows)} operations are within noise")
    lines += [f"{fact.place}: {fact.name}: {fact.before} -> {fact.after}" for fact in found.facts]
    return lines


def comparison_json(found: Comparison) -> dict[str, object]:
    """Return a comparison as plain data: every row and every changed fact."""
    rows = [{**row._asdict(), "interval": row.interval._asdict() if row.interval else None} for row in found.rows]
    return {"rows": rows, "facts": [fact._asdict() for fact in found.facts]}


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
    texts = schema.documents()
    for name, text in texts.items():
        store.write_atomically(options.data / "schema" / name, text)
    print(f"{len(texts)} schemas written to {options.data / 'schema'}")
    return 0
