"""The change log of a system: one entry for each publication that changed its evidence."""

import hashlib
from pathlib import Path

import msgspec

from evidence import store
from evidence.compare import Row, compare
from evidence.faults import FaultyError
from evidence.types import Change, ChangedFigure, Changes


def updated(data: Path, after: store.SystemEvidence, now: Change) -> Changes:
    """Return the log of a system whose evidence in ``data`` is about to be replaced.

    Where builds, records and profiles stay the same, the log does, too. Evidence that cannot be read is replaced all
    the same; the entry says that nothing could be compared with it.

    Args:
        data: the folder that holds what is there so far, if anything.
        after: what will be there.
        now: the entry, in which what changed is still to be filled in.
    """
    folder = data / after.system_id
    if not folder.exists():
        return Changes(schema=3, entries=(now,))
    log = store.Loader(data).load(folder / store.CHANGES, Changes)
    entries = log.entries if log else ()
    if entries and now.published_utc < entries[-1].published_utc:  # a clock was wrong; the order is right
        now = msgspec.structs.replace(now, published_utc=entries[-1].published_utc)
    replaced = msgspec.structs.replace(now, replaced_sha256=_digest(folder / store.MANIFEST))
    try:
        before = store.load_system(data, after.system_id)
    except FaultyError as error:
        note = f"what it replaced could not be read: {len(error.faults)} fault(s), first: {error.faults[0]}"
        return Changes(schema=3, entries=(*entries, msgspec.structs.replace(replaced, note=note)))
    if entries and (before.build, before.records, before.profiles) == (after.build, after.records, after.profiles):
        return Changes(schema=3, entries=entries)
    changed = tuple(_figure(row) for row in compare(before, after).changed())
    return Changes(schema=3, entries=(*entries, msgspec.structs.replace(replaced, changed=changed)))


def _digest(file: Path) -> str | None:
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else None


def _figure(row: Row) -> ChangedFigure:
    size = "" if row.input_bytes is None else f" {row.input_bytes} B"
    name = f"{row.candidate}/{row.label} {row.operation}{size}"
    return ChangedFigure(operation=name, verdict=row.verdict, ratio=row.ratio)
