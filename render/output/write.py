"""Writes a generated site: changed files only, all of a run or none, and never over what others made.

New contents are staged in the output folder and moved into place once the whole run has succeeded. A list
of the generated files (``.generated``) lies in the folder; only what it names is ever replaced or removed.

Evidence is not copied where the file system lets one file have two names: that takes a fifth of the time. Nothing here
writes into a file that exists, and evidence is only ever replaced as a whole, so that neither name can change what the
other shows. Evidence is a hundred thousand files: for them paths are strings, which take a third of the time.
"""

import filecmp
import os
import shutil
import tempfile
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import NamedTuple

LEDGER = ".generated"


class Counts(NamedTuple):
    """What a run did, in files."""

    written: int
    unchanged: int
    removed: int


class Writer:
    """Gathers the files of a site and then writes those that differ; use it as a context manager."""

    def __init__(self, out: Path, *, check: bool = False) -> None:
        self.out = out
        self.check = check
        self.changed: list[str] = []
        self._offered: set[str] = set()
        self._before = _read_ledger(out)
        self._staging: tempfile.TemporaryDirectory[str] | None = None
        self._staged: dict[str, str] = {}
        self._folders: set[str] = set()

    def __enter__(self) -> "Writer":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._staging:
            self._staging.cleanup()

    @property
    def stale(self) -> list[str]:
        """Return the files of an earlier run that this one no longer makes."""
        return sorted(path for path in self._before - self._offered if (self.out / path).is_file())

    def offer(self, path: str, text: str | bytes) -> None:
        """Take a page or another made file of the site."""
        content = text.encode() if isinstance(text, str) else text
        self._offered.add(path)
        file = self.out / path
        if file.is_file() and file.read_bytes() == content:
            return
        self._change(path)
        if not self.check:
            Path(self._stage(path)).write_bytes(content)

    def offer_copy(self, path: str, source: Path) -> None:
        """Take a file of the evidence. One of equal size and time counts as the same, save when checking."""
        self._offered.add(path)
        file = f"{self.out}/{path}"
        if os.path.isfile(file) and (
            os.path.samefile(file, source) or filecmp.cmp(source, file, shallow=not self.check)
        ):
            return
        self._change(path)
        if not self.check:
            _link_or_copy(source, self._stage(path))

    def commit(self) -> Counts:
        """Move what changed into place and remove what is stale.

        Raises:
            OSError: when the output folder cannot be written.
        """
        stale = self.stale
        if not self.check and (self.changed or stale or self._offered != self._before):
            self._write_ledger(self._before | self._offered)
            for path in self.changed:
                os.replace(self._staged[path], self._in_folder(f"{self.out}/{path}"))
            for path in stale:
                self._remove(path)
            self._write_ledger(self._offered)
        return Counts(len(self.changed), len(self._offered) - len(self.changed), len(stale))

    def _change(self, path: str) -> None:
        file = f"{self.out}/{path}"
        if path not in self._before and os.path.lexists(file):
            raise FileExistsError(
                17, "was not made by katalog and is in the way; move it or choose another --out", file
            )
        self.changed.append(path)

    def _stage(self, path: str) -> str:
        """Return where a file waits until the run has succeeded: all lie in one folder, under numbers."""
        if self._staging is None:
            existing = next(folder for folder in (self.out, *self.out.absolute().parents) if folder.is_dir())
            self._staging = tempfile.TemporaryDirectory(prefix=".staging-", dir=existing)
        file = self._staged[path] = f"{self._staging.name}/{len(self._staged)}"
        return file

    def _in_folder(self, file: str) -> str:
        """Return the path after making its folder, once."""
        folder = os.path.dirname(file)
        if folder not in self._folders:
            os.makedirs(folder, exist_ok=True)
            self._folders.add(folder)
        return file

    def _write_ledger(self, paths: set[str]) -> None:
        self.out.mkdir(parents=True, exist_ok=True)
        file = Path(self._stage(LEDGER))
        file.write_text("".join(f"{path}\n" for path in sorted(paths)), encoding="utf-8")
        file.replace(self.out / LEDGER)

    def _remove(self, path: str) -> None:
        file = self.out / path
        file.unlink()
        for folder in file.parents:
            if folder == self.out or any(folder.iterdir()):
                return
            folder.rmdir()


def _link_or_copy(source: Path, target: str) -> None:
    """Give a file a second name; copy it where the file system does not allow that, or the file is a link itself."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target)
    else:
        if os.path.islink(target):
            os.unlink(target)
            shutil.copy2(source, target)


def _read_ledger(out: Path) -> set[str]:
    """Return the generated files; a line that leads out of the folder is not believed."""
    file = out / LEDGER
    if not file.is_file():
        return set()
    paths = [PurePosixPath(line) for line in file.read_text(encoding="utf-8").splitlines()]
    within = {folder: (out / folder).resolve().is_relative_to(out.resolve()) for folder in {p.parent for p in paths}}
    return {str(path) for path in paths if within[path.parent] and ".." not in path.parts and not path.is_absolute()}
