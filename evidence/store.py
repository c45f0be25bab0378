"""Evidence on disk: where each file lies, loading a data folder with all faults listed, atomic writes.

Layout (one folder per system)::

    campaign.json  build.json
    kat/<candidate>/<label>.log
    records/<candidate>/<label>__<operation>.json        hash: <label>__hash_<bytes>.json
    profile/<candidate>/<label>__<operation>.json
    MANIFEST.sha256
"""

import hashlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from evidence import published
from evidence.faults import Fault, FaultyError, PathFault, convert
from evidence.types import SCHEMA, Build, BuildInstance, Campaign, Profile, Record

T = TypeVar("T", Record, Profile, Build, Campaign)
NO_SYSTEMS = frozenset({"catalog", "schema"})
MANIFEST = "MANIFEST.sha256"


class SystemEvidence(NamedTuple):
    """Everything observed on one system. Paths of evidence are relative to ``folder``."""

    system_id: str
    folder: Path
    campaign: Campaign
    build: dict[str, BuildInstance]  # <candidate>/<label> -> build
    records: tuple[Record, ...]
    profiles: tuple[Profile, ...]


def file_stem(label: str, operation: str, input_bytes: int | None) -> str:
    """Return the file name, without ending, of a record or profile."""
    return f"{label}__hash_{input_bytes}" if operation == "hash" else f"{label}__{operation}"


def record_path(record: Record) -> str:
    """Return the record's path below its system's folder."""
    return f"records/{record.candidate}/{file_stem(record.label, record.operation, record.input_bytes)}.json"


def profile_path(profile: Profile) -> str:
    """Return the profile's path below its system's folder."""
    return f"profile/{profile.candidate}/{file_stem(profile.label, profile.operation, profile.input_bytes)}.json"


def kat_log_path(candidate: str, label: str) -> str:
    """Return the KAT log's path below its system's folder."""
    return f"kat/{candidate}/{label}.log"


def systems(data: Path) -> list[str]:
    """Return the ids of all systems that a data folder holds a campaign of, sorted."""
    return sorted(
        entry.name for entry in data.iterdir() if entry.name not in NO_SYSTEMS and (entry / "campaign.json").is_file()
    )


def load_system(data: Path, system_id: str) -> SystemEvidence:
    """Load all evidence of one system, of either schema.

    Raises:
        FaultyError: with every fault of every file: JSON, schema, types, names, files that are missing.
    """
    folder = data / system_id
    loader = Loader(data)
    campaign = loader.load(folder / "campaign.json", Campaign)
    build = loader.load(folder / "build.json", Build)
    records = [loader.load(file, Record) for file in sorted(folder.glob("records/*/*.json"))]
    profiles = [loader.load(file, Profile) for file in sorted(folder.glob("profile/*/*.json"))]
    if campaign and build and not loader.faults:
        loaded = SystemEvidence(
            system_id,
            folder,
            campaign,
            build.instances,
            tuple(record for record in records if record),
            tuple(profile for profile in profiles if profile),
        )
        loader.faults.extend(_misplaced(loaded, data))
    if loader.faults or not campaign or not build:
        raise FaultyError(loader.faults)
    return loaded


class Loader:
    """Loads evidence files of either schema and gathers the faults of all."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.faults: list[Fault] = []

    def load(self, file: Path, to: type[T]) -> T | None:
        """Return the file as ``to``, or None after noting its faults with file and JSON path."""
        try:
            raw = file.read_bytes()
        except OSError as error:
            self.note(file, "", f"cannot be read: {error.strerror}")
            return None
        try:
            return msgspec.json.decode(raw, type=to)
        except msgspec.DecodeError:
            return self._explain(file, raw, to)

    def note(self, file: Path, where: str, message: str) -> None:
        """Note one fault of a file."""
        self.faults.append(Fault(_shown(file, self.base), where, message))

    def _explain(self, file: Path, raw: bytes, to: type[T]) -> T | None:
        """Load what the fast path refuses: schema 2, or a faulty file."""
        try:
            value = msgspec.json.decode(raw)
        except msgspec.DecodeError as error:
            self.note(file, "", f"not JSON: {error}")
            return None
        if not isinstance(value, dict):
            self.note(file, "$", "must be an object")
            return None
        schema = value.get("schema")
        result: T | list[PathFault]
        if schema == published.SCHEMA or (schema is None and to in (Build, Campaign)):
            result = published.convert_document(value, to)
        elif schema == SCHEMA:
            result = convert(value, to)
        else:
            self.note(file, "$.schema", _schema_advice(schema))
            return None
        if isinstance(result, list):
            for fault in result:
                self.note(file, *fault)
            return None
        return result


def _shown(file: Path, base: Path) -> str:
    return str(file.relative_to(base)) if file.is_relative_to(base) else str(file)


def _schema_advice(schema: Any) -> str:
    if isinstance(schema, int) and schema > SCHEMA:
        return f"schema {schema} is newer than this program, which reads 2 and {SCHEMA}; update katalog"
    return f"schema {schema!r} is not read; this program reads 2 and {SCHEMA}"


def _misplaced(loaded: SystemEvidence, base: Path) -> Iterator[Fault]:
    """Yield files whose name contradicts their content, and files that others name and that are missing."""

    def fault(path: str, where: str, message: str) -> Fault:
        return Fault(_shown(loaded.folder / path, base), where, message)

    if loaded.campaign.system_id != loaded.system_id:
        yield fault("campaign.json", "$.system_id", f"is {loaded.campaign.system_id!r} in folder {loaded.system_id!r}")
    for key, built in loaded.build.items():
        if key != f"{built.candidate}/{built.label}":
            yield fault("build.json", f"$.instances.{key}", f"holds {built.candidate}/{built.label}")
        if built.kat_log and not (loaded.folder / built.kat_log).is_file():
            yield fault("build.json", f"$.instances.{key}.kat_log", f"{built.kat_log} is missing")
    present = {file.relative_to(loaded.folder).as_posix() for file in loaded.folder.glob("*/*/*.json")}
    for path, item in [(record_path(r), r) for r in loaded.records] + [(profile_path(p), p) for p in loaded.profiles]:
        if path not in present:
            yield fault(path, "$", "the file that holds this is named otherwise")
        present.discard(path)
        if f"{item.candidate}/{item.label}" not in loaded.build:
            yield fault(path, "$.label", f"build.json has no instance {item.candidate}/{item.label}")


def encode(document: msgspec.Struct) -> bytes:
    """Return evidence as indented JSON with a final line end; the same document gives the same bytes."""
    return msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"


def write_atomically(file: Path, content: bytes) -> None:
    """Write a file so that it is there whole or not at all, also after a power cut.

    Raises:
        OSError: when the folder cannot be written.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
            os.fchmod(stream.fileno(), 0o644)
        os.replace(name, file)  # noqa: PTH105 - name is a string
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def manifest(folder: Path) -> bytes:
    """Return the text of MANIFEST.sha256: one line ``<sha256>  <path>`` per file below ``folder``, sorted."""
    files = sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())
    return b"".join(
        f"{hashlib.sha256((folder / path).read_bytes()).hexdigest()}  {path}\n".encode()
        for path in files
        if path != MANIFEST
    )
