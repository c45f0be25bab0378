"""The evidence of a system as one archive: the same bytes from the same files, whenever and by whomever it is made."""

import gzip
import hashlib
import tarfile
from collections.abc import Sequence
from pathlib import Path


def make(folder: Path, files: Sequence[str], root: str, kept: Path) -> Path:
    """Return the archive of ``files`` below ``folder``, made anew only if none of the same files is kept."""
    made = kept / f"{root}-{_key(folder, files)}.tar.gz"
    if not made.is_file():
        kept.mkdir(parents=True, exist_ok=True)
        for old in kept.glob(f"{root}-{'?' * 64}.tar.gz"):
            old.unlink()
        unfinished = made.with_suffix(".part")
        _write(unfinished, folder, files, root)
        unfinished.replace(made)
    return made


def _key(folder: Path, files: Sequence[str]) -> str:
    """Return a digest of names, sizes and times: what also decides whether a copy is made again."""
    digest = hashlib.sha256()
    for file in sorted(files):
        state = (folder / file).stat()
        digest.update(f"{file}\0{state.st_size}\0{state.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _write(target: Path, folder: Path, files: Sequence[str], root: str) -> None:
    with (
        target.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, compresslevel=6, mtime=0) as packed,
        tarfile.open(mode="w", fileobj=packed, format=tarfile.GNU_FORMAT) as archive,
    ):
        for file in sorted(files):
            member = tarfile.TarInfo(f"{root}/{file}")
            member.size = (folder / file).stat().st_size
            member.mode = 0o644
            with (folder / file).open("rb") as content:
                archive.addfile(member, content)
