"""Evidence on disk: where each file lies, loading a data folder with all faults listed, atomic writes.

Layout (one folder per system)::

    campaign.json  build.json  changes.json
    kat/<candidate>/<label>.log
    records/<candidate>/<label>__<operation>.json        hash: <label>__hash_<bytes>.json
    profile/<candidate>/<label>__<operation>.json
    MANIFEST.sha256
"""

import ctypes
import errno
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from evidence import published
from evidence.faults import Fault, FaultyError, PathFault, convert
from evidence.types import SCHEMA, Build, BuildInstance, Campaign, Change, Changes, Profile, Record

T = TypeVar("T", Record, Profile, Build, Campaign, Changes)
NO_SYSTEMS = frozenset({"catalog", "schema"})
CHANGES = "changes.json"
MANIFEST = "MANIFEST.sha256"
SIGNATURE = "MANIFEST.sha256.sig"
FILE_LIMIT_BYTES = 16 << 20  # the largest published file has 258 KB
NESTED = "not JSON: nested too deeply"
AT_FDCWD, RENAME_EXCHANGE = -100, 2  # of the kernel's renameat2


class SystemEvidence(NamedTuple):
    """Everything observed on one system. Paths of evidence are relative to ``folder``."""

    system_id: str
    folder: Path
    campaign: Campaign
    build: dict[str, BuildInstance]  # <candidate>/<label> -> build
    records: tuple[Record, ...]
    profiles: tuple[Profile, ...]
    files: tuple[str, ...]  # every file below the folder, sorted
    changes: tuple[Change, ...]  # the log, the latest last; published evidence in schema 2 has none


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
        FaultyError: with every fault of every file: JSON, schema, types, names, files that are missing, links.
    """
    folder = data / system_id
    loader = Loader(data)
    files = loader.inventory(folder)
    campaign = loader.load(folder / "campaign.json", Campaign)
    build = loader.load(folder / "build.json", Build)
    changes = loader.load(folder / CHANGES, Changes) if CHANGES in files else None
    records = [loader.load(folder / path, Record) for path in files if _is_in(path, "records")]
    profiles = [loader.load(folder / path, Profile) for path in files if _is_in(path, "profile")]
    if campaign and build and not loader.faults:
        loaded = SystemEvidence(
            system_id,
            folder,
            campaign,
            build.instances,
            tuple(record for record in records if record),
            tuple(profile for profile in profiles if profile),
            files,
            changes.entries if changes else (),
        )
        loader.faults.extend(_misplaced(loaded, data))
    if loader.faults or not campaign or not build:
        raise FaultyError(loader.faults)
    return loaded


def _is_in(path: str, kind: str) -> bool:
    parts = path.split("/")
    return len(parts) == 3 and parts[0] == kind and path.endswith(".json")


class Loader:
    """Loads evidence files of either schema and gathers the faults of all."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.faults: list[Fault] = []

    def inventory(self, folder: Path) -> tuple[str, ...]:
        """Return every file below ``folder``, sorted; note links and whatever else is no ordinary file.

        A link could name any file of the machine, and a pipe would never end.
        """
        base = len(os.fspath(folder)) + 1
        found = []
        for entry in self._entries(folder):
            if entry.is_file(follow_symlinks=False):
                found.append(entry.path[base:])
            elif not entry.is_dir(follow_symlinks=False):
                what = "a link" if entry.is_dir() else "no ordinary file"
                self.note(Path(entry.path), "", f"is {what}; evidence holds no links")
        return tuple(sorted(found))

    def _entries(self, folder: Path | str) -> Iterator[os.DirEntry[str]]:
        """Yield everything below a folder; note folders that cannot be read. Links are not followed."""
        try:
            with os.scandir(folder) as found:
                entries = list(found)
        except OSError as error:
            self.note(Path(folder), "", f"cannot be read: {error.strerror}")
            return
        for entry in entries:
            yield entry
            if entry.is_dir(follow_symlinks=False):
                yield from self._entries(entry.path)

    def load(self, file: Path, to: type[T]) -> T | None:
        """Return the file as ``to``, or None after noting its faults with file and JSON path."""
        try:
            raw = self._read(file)
            document = msgspec.json.decode(raw, type=to)
        except OSError as error:
            self.note(file, "", f"cannot be read: {error.strerror}")
            return None
        except msgspec.DecodeError:
            return self._explain(file, raw, to)
        except RecursionError:
            self.note(file, "", NESTED)
            return None
        if encode(document) != raw and not self._single(file, raw):
            return None
        return document

    def _read(self, file: Path) -> bytes:
        with file.open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size  # to ask for the limit each time takes longer than to read
            raw = stream.read(min(size, FILE_LIMIT_BYTES) + 1)
        if len(raw) > FILE_LIMIT_BYTES:
            raise OSError(errno.EFBIG, f"larger than {FILE_LIMIT_BYTES >> 20} MiB")
        return raw

    def _single(self, file: Path, raw: bytes) -> bool:
        """Return whether no key of a document stands twice, noting those that do.

        Decoding takes the last of two, and a reader may see the first. What is byte for byte as this program writes
        it cannot have any, so that only other files are looked through.
        """
        doubled: set[str] = set()

        def note(pairs: list[tuple[str, object]]) -> None:
            keys = [key for key, _ in pairs]
            doubled.update(key for key in keys if keys.count(key) > 1)

        json.loads(raw, object_pairs_hook=note)
        for key in sorted(doubled):
            self.note(file, "", f"key {key!r} stands twice in one object")
        return not doubled

    def note(self, file: Path, where: str, message: str) -> None:
        """Note one fault of a file."""
        self.faults.append(Fault(_shown(file, self.base), where, message))

    def _explain(self, file: Path, raw: bytes, to: type[T]) -> T | None:
        """Load what the fast path refuses: schema 2, or a faulty file."""
        value = self._plain(file, raw)
        if value is None or not self._single(file, raw):
            return None
        schema = value.get("schema")
        result: T | list[PathFault]
        if schema == published.SCHEMA or (schema is None and to in (Build, Campaign)):
            result = published.convert_document(value, to)
        elif schema == SCHEMA:
            result = convert(value, to)
        else:
            result = [PathFault("$.schema", _schema_advice(schema))]
        if isinstance(result, list):
            for fault in result:
                self.note(file, *fault)
            return None
        return result

    def _plain(self, file: Path, raw: bytes) -> dict[str, Any] | None:
        """Return a document as plain data; None, with the fault noted, when it is no JSON object."""
        try:
            value = msgspec.json.decode(raw)
        except RecursionError:
            self.note(file, "", NESTED)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            self.note(file, "", f"not JSON: {error}")
        else:
            if isinstance(value, dict):
                return value
            self.note(file, "$", "must be an object")
        return None


def _shown(file: Path, base: Path) -> str:
    return str(file.relative_to(base)) if file.is_relative_to(base) else str(file)


def _schema_advice(schema: Any) -> str:
    if isinstance(schema, int) and schema > SCHEMA:
        return f"schema {schema} is newer than this program, which reads 2 and {SCHEMA}; update katalog"
    return f"schema {schema!r} is not read; this program reads 2 and {SCHEMA}"


def _misplaced(loaded: SystemEvidence, base: Path) -> Iterator[Fault]:
    """Yield files whose name contradicts their content, and files that others name and that are missing."""
    if loaded.campaign.system_id != loaded.system_id:
        message = f"is {loaded.campaign.system_id!r} in folder {loaded.system_id!r}"
        yield Fault(_shown(loaded.folder / "campaign.json", base), "$.system_id", message)
    present = set(loaded.files)
    build = _shown(loaded.folder / "build.json", base)
    for key, built in loaded.build.items():
        if key != f"{built.candidate}/{built.label}":
            yield Fault(build, f"$.instances.{key}", f"holds {built.candidate}/{built.label}")
        if built.kat_log and built.kat_log not in present:
            yield Fault(build, f"$.instances.{key}.kat_log", f"{built.kat_log} is missing")
    named: list[tuple[str, Record | Profile]] = [(record_path(record), record) for record in loaded.records]
    named += [(profile_path(profile), profile) for profile in loaded.profiles]
    for path, item in named:
        if path not in present:
            yield Fault(_shown(loaded.folder / path, base), "$", "the file that holds this is named otherwise")
        present.discard(path)
        if f"{item.candidate}/{item.label}" not in loaded.build:
            message = f"build.json has no instance {item.candidate}/{item.label}"
            yield Fault(_shown(loaded.folder / path, base), "$.label", message)


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
    sync_folder(file.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder outlast a power cut.

    Raises:
        OSError: when the disk fails; a file system that cannot do this for a folder is left to itself.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EBADF, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def exchange(one: Path, other: Path) -> bool:
    """Swap two folders in one step, and return whether that was done: not every file system can."""
    try:
        rename = ctypes.CDLL(None).renameat2
    except AttributeError:  # a C library without it
        return False
    return bool(rename(AT_FDCWD, bytes(one.absolute()), AT_FDCWD, bytes(other.absolute()), RENAME_EXCHANGE) == 0)


def manifest(folder: Path) -> bytes:
    """Return the text of MANIFEST.sha256: one line ``<sha256>  <path>`` per file below ``folder``, sorted.

    The manifest itself and its signature are left out.
    """
    files = sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())
    return b"".join(
        f"{hashlib.sha256((folder / path).read_bytes()).hexdigest()}  {path}\n".encode()
        for path in files
        if path not in (MANIFEST, SIGNATURE)
    )
