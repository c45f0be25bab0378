"""Whether a run would find everything as the last one left it; then it need not read the evidence at all.

What goes into the pages (data, catalog, templates, programs, versions) and what came out of them is known by path, size
and time. The last run's digest of both is kept in the cache folder. ``--check`` never asks here: it compares contents.
"""

import hashlib
import os
import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from render.output.write import LEDGER

ROOT = Path(__file__).resolve().parents[2]
# What katalog's own files do not tell: libraries whose work ends up in the pages.
LIBRARIES = (
    "Jinja2",
    "MarkupSafe",
    "altair",
    "itables",
    "markdown-it-py",
    "msgspec",
    "pandas",
    "pyarrow",
    "vl-convert-python",
)


class State(NamedTuple):
    """Where a run reads and writes, and where its digest is kept."""

    data: Path
    catalog: Path
    out: Path
    cache: Path

    @property
    def file(self) -> Path:
        """Return where the digest of the last run into this output folder lies."""
        name = hashlib.sha256(str(self.out.resolve()).encode()).hexdigest()
        return self.cache / "last" / name


def files_of_last_run(state: State) -> int | None:
    """Return how many files the last run made if nothing has changed since, else None."""
    try:
        kept = state.file.read_text(encoding="utf-8")
    except OSError:
        return None
    return len(_made(state.out)) if kept == _digest(state) else None


def remember(state: State) -> None:
    """Keep the digest of what a run has just read and made."""
    state.file.parent.mkdir(parents=True, exist_ok=True)
    state.file.write_text(_digest(state), encoding="utf-8")


def _digest(state: State) -> str:
    digest = hashlib.sha256(sys.version.encode())
    for name in LIBRARIES:
        digest.update(f"{name} {version(name)}\n".encode())
    sources = (ROOT / "render", ROOT / "evidence", ROOT / "templates", state.data, state.catalog)
    for line in (line for folder in sources for line in _lines(folder, _below(folder))):
        digest.update(line)
    for line in _lines(state.out, _made(state.out)):
        digest.update(line)
    return digest.hexdigest()


def _below(folder: Path) -> Iterator[str]:
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        base = os.path.relpath(parent, folder)
        yield from (os.path.join(base, name) for name in sorted(names))  # noqa: PTH118 - a hundred thousand of them


def _made(out: Path) -> list[str]:
    ledger = out / LEDGER
    return ledger.read_text(encoding="utf-8").splitlines() if ledger.is_file() else []


def _lines(folder: Path, paths: Iterable[str]) -> Iterator[bytes]:
    """Yield path, size and time of every file; one that is gone has neither."""
    base = os.fspath(folder)
    for path in paths:
        try:
            found = os.stat(f"{base}/{path}")  # noqa: PTH116 - a hundred thousand of them
        except OSError:
            yield f"{path} gone\n".encode()
        else:
            yield f"{path} {found.st_size} {found.st_mtime_ns}\n".encode()
