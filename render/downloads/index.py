"""Which files there are: the page for people, and the versioned index for programs."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from render.look import templating
from render.look.table import Column, Piece, Table, table

VERSION = 1
PAGE = "downloads/index.md"
INDEX = "downloads/index.json"
WHAT = {
    "everything": "one row for each timed operation, with all that is known of it",
    "instances": "parameter sets as they were built, and their known-answer tests",
    "operations": "timed operations: derived figures, memory, sizes",
    "processes": "every run of the driver",
    "profiles": "shares and calls of symmetric functions",
    "notes": "notes that the evidence raises",
    "ranking": "ranks by strength and metric",
    "sets": "parameter sets with figures and texts, for the comparison page",
    "evidence": "the raw evidence: records, profiles, logs, manifest",
    "size-audit": "sizes about which sources disagree",
    "symmetric-survey": "verdicts and shares of symmetric primitives",
}


class File(NamedTuple):
    """One file to download: its path below the downloads folder, what it holds, rows where it is a table."""

    path: str
    table: str
    format: str
    rows: int | None
    size_bytes: int
    sha256: str


class SystemFiles(NamedTuple):
    """All files of one system. Without an id they are about all systems."""

    system_id: str
    registered: bool
    architecture: str
    description: str
    started_utc: str
    ended_utc: str | None
    files: list[File]


def file(path: str, name: str, form: str, rows: int | None, content: bytes) -> File:
    """Return the entry of a file with this content."""
    return File(path, name, form, rows, len(content), hashlib.sha256(content).hexdigest())


def document(systems: Sequence[SystemFiles], across: Sequence[File]) -> str:
    """Return the index for programs."""
    found: dict[str, Any] = {
        "version": VERSION,
        "systems": [{**each._asdict(), "files": [f._asdict() for f in each.files]} for each in systems],
        "files": [each._asdict() for each in across],
    }
    return json.dumps(found, ensure_ascii=False, indent=1) + "\n"


def page(systems: Sequence[SystemFiles], across: Sequence[File]) -> str:
    """Return the page for people as Markdown that holds HTML."""
    view = {
        "title": "Downloads",
        "systems": [(each, _table(f"Files of {each.system_id}", each.files)) for each in systems],
        "across": _table("Files about all systems", across),
    }
    return templating.render("downloads.md.j2", view)


def _table(caption: str, files: Sequence[File]) -> Table:
    by_name: dict[str, list[File]] = {}
    for each in files:
        by_name.setdefault(each.table, []).append(each)
    columns = (
        Column[list[File]]("table", lambda fs: Piece(fs[0].table, code=True)),
        Column[list[File]]("what it holds", lambda fs: WHAT[fs[0].table]),
        Column[list[File]]("rows", lambda fs: "–" if fs[0].rows is None else str(fs[0].rows), numeric=True),
        Column[list[File]]("files", _links),
    )
    return table("downloads", caption, columns, by_name.values())


def _links(files: Sequence[File]) -> list[Piece]:
    pieces: list[Piece] = []
    for each in files:
        name = f"{each.table} as {each.format}, {_size(each.size_bytes)}"
        pieces += [
            Piece(f"{each.format}", href=each.path, name=name),
            Piece(f" {_size(each.size_bytes)}  ", quiet=True),
        ]
    return pieces


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 1024:.0f} KiB" if size_bytes < 1 << 20 else f"{size_bytes / (1 << 20):.1f} MiB"
