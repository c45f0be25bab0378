"""Fetches the sources of a candidate: a local folder, a PyPI sdist or an archive, the last two pinned by SHA-256.

An archive is unpacked and read, nothing in it is ever run. What was fetched stays in ``cache/<sha256>/``, so a
second fetch touches no network. It appears there by one rename: a fetch that is killed leaves at most a folder
``.fetch-...`` that nothing reads, and fetches may run side by side. The digest of the tree, in ``<sha256>.tree``,
shows whether it is still what was unpacked: one that a power cut or a hand has changed is fetched anew.
"""

import hashlib
import os
import re
import tarfile
import tempfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import NamedTuple, NoReturn, cast

from unearth import Link, PackageFinder
from unearth.errors import UnpackError, URLError
from unearth.fetchers import Fetcher, PyPIClient
from unearth.preparer import HTTPErrors, download_link

from evidence import store
from evidence.catalog import Source
from measure.confine import disk
from measure.errors import SourceError

DEFAULT_INDEX = "https://pypi.org/simple/"
PINNED = re.compile(r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)==(?P<version>[A-Za-z0-9.+!-]+)")
ARCHIVE_LIMIT_BYTES = 512 * 1024 * 1024
UNPACKED_LIMIT_BYTES = 4 * 1024 * 1024 * 1024
MEMBER_LIMIT = 100_000
UNREACHABLE: tuple[type[Exception], ...] = (*HTTPErrors, UnpackError, URLError, OSError)


class Fetched(NamedTuple):
    """Sources on this machine. ``origin`` names the source as the catalog does and holds no absolute path."""

    folder: Path  # top folder: recipe paths are relative to it
    origin: str  # e.g. pypi: pypqc==0.0.6.2
    archive_sha256: str | None  # None for a local folder


def fetch(source: Source, cache: Path, base: Path) -> Fetched:
    """Return the sources of a candidate, fetching them unless the cache has them.

    Args:
        source: what the catalog says.
        cache: folder of unpacked archives; made when missing.
        base: folder to which local paths in the catalog are relative.

    Raises:
        SourceError: when the sources are not to be had, have another digest, or would unpack outside their folder.
        StorageError: when the disk is full.
    """
    if source.path is not None:
        return _local(source.path, base)
    origin = f"pypi: {source.pypi}" if source.pypi else f"archive: {_shown(source.archive or '')}"
    if source.sha256 is None:
        raise SourceError(f"{origin}: no sha256 in the catalog; state the digest of the file that was reviewed")
    target = cache / source.sha256
    if not _is_whole(target):
        try:
            cache.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".fetch-", dir=cache) as scratch:
                _fetch_into(source, origin, base, Path(scratch), target)
        except (OSError, SourceError) as error:
            if disk.is_out(error) or disk.is_out(error.__cause__):
                raise disk.full(cache) from error
            raise
    return Fetched(_top_folder(target), origin, source.sha256)


def tree_sha256(folder: Path) -> str:
    """Return the SHA-256 of names and contents of all that lies below a folder; a link's content is where it points.

    Raises:
        OSError: when something cannot be read.
    """
    lines = []
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            content = f"link to {path.readlink().as_posix()!r}"
        else:
            content = file_sha256(path) if path.is_file() else "folder"
        lines.append(f"{content}  {path.relative_to(folder).as_posix()!r}\n")
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _seal(target: Path) -> Path:
    return target.with_name(f"{target.name}.tree")


def _is_whole(target: Path) -> bool:
    """Return whether a tree is there as it was unpacked; one from before there were seals is taken as it is."""
    if not target.is_dir():
        return False
    return not _seal(target).is_file() or _seal(target).read_text(encoding="ascii") == tree_sha256(target)


def sources_sha256(files: Iterable[Path], root: Path) -> str:
    """Return the SHA-256 of the sorted lines ``<sha256>  <path relative to root>`` of some files.

    Raises:
        OSError: when a file cannot be read.
        ValueError: when a file lies outside ``root``.
    """
    lines = sorted(f"{file_sha256(file)}  {file.relative_to(root).as_posix()}\n" for file in files)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def file_sha256(file: Path) -> str:
    """Return the SHA-256 of a file's content.

    Raises:
        OSError: when the file cannot be read.
    """
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _local(path: str, base: Path) -> Fetched:
    folder = (base / path).resolve()
    if not folder.is_dir():
        raise SourceError(f"path: {_shown(path)}: no such folder; source paths are relative to {base}")
    return Fetched(folder, f"path: {_shown(path)}", None)


def _shown(place: str) -> str:
    """Return how evidence names a path or address: no absolute path, no password."""
    if "://" in place and not place.startswith("file:"):
        return str(Link(place).redacted)
    return PurePosixPath(place).name if place.startswith(("/", "file:")) else place


def _fetch_into(source: Source, origin: str, base: Path, scratch: Path, target: Path) -> None:
    archive, place = _pypi(source.pypi, scratch) if source.pypi else _archive(source.archive or "", base, scratch)
    got = file_sha256(archive)
    if got != source.sha256:
        raise SourceError(
            f"{origin}: SHA-256 expected {source.sha256}, got {got} from {place}; nothing was unpacked; "
            "if the new file was reviewed, put its digest into the catalog"
        )
    unpacked = scratch / "unpacked"
    unpack(archive, unpacked)
    store.write_atomically(_seal(target), tree_sha256(unpacked).encode())
    if target.is_dir() and not _is_whole(target):
        target.rename(scratch / "damaged")
    try:
        unpacked.rename(target)
    except OSError:
        # Another fetch of the same archive was first: both trees are the same.
        if not target.is_dir():
            raise


def _pypi(requirement: str, scratch: Path) -> tuple[Path, str]:
    """Download the one sdist that ``name==version`` names; return it and the address that it came from."""
    match = PINNED.fullmatch(requirement)
    if not match:
        raise SourceError(f"pypi: {requirement!r} is not of the form name==version")
    index = os.environ.get("PIP_INDEX_URL") or DEFAULT_INDEX
    finder = PackageFinder(index_urls=[index], no_binary=[match["name"]])
    try:
        best = finder.find_best_match(requirement, allow_yanked=True).best
    except UNREACHABLE as error:
        _unreachable(Link(index), error)
    if best is None:
        raise SourceError(
            f"pypi: no sdist {requirement} on {Link(index).redacted}; check the network, or set PIP_INDEX_URL"
        )
    return _download(finder.session, best.link, scratch)


def _archive(place: str, base: Path, scratch: Path) -> tuple[Path, str]:
    if place.startswith(("https://", "http://")):
        with PyPIClient(follow_redirects=True) as client:
            return _download(cast("Fetcher", client), Link(place), scratch)
    file = base / place.removeprefix("file://")
    if not file.is_file():
        raise SourceError(f"archive: {_shown(place)}: no such file; source paths are relative to {base}")
    return file, str(file)


def _download(session: Fetcher, link: Link, scratch: Path) -> tuple[Path, str]:
    try:
        return download_link(session, link, scratch, download_reporter=_bound), link.redacted
    except UNREACHABLE as error:
        _unreachable(link, error)


def _bound(link: Link, completed: int, total: int | None) -> None:
    """Stop a download that is larger than any archive may be."""
    if max(completed, total or 0) > ARCHIVE_LIMIT_BYTES:
        raise SourceError(f"{link.redacted}: larger than {ARCHIVE_LIMIT_BYTES} bytes")


def _unreachable(link: Link, error: Exception) -> NoReturn:
    raise SourceError(f"{link.redacted}: cannot be fetched: {error}; check the network and try again") from error


def unpack(archive: Path, folder: Path) -> None:
    """Unpack a tar archive into a new folder.

    Raises:
        SourceError: for anything that is no tar archive, is too large, or would write or point outside the folder.
    """
    if not hasattr(tarfile, "data_filter"):
        raise SourceError("this Python cannot unpack safely; use Python 3.11.4 or later")
    folder.mkdir()
    links: set[PurePosixPath] = set()
    unpacked_bytes = 0
    try:
        with tarfile.open(archive) as tar:
            for count, member in enumerate(tar, start=1):
                unpacked_bytes += member.size
                if count > MEMBER_LIMIT or unpacked_bytes > UNPACKED_LIMIT_BYTES:
                    raise SourceError(f"{archive.name}: more than {MEMBER_LIMIT} members or too large when unpacked")
                _check_member(archive, member, links)
                tar.extract(member, folder, filter="data")
    except (tarfile.TarError, EOFError, OSError, ValueError) as error:
        raise SourceError(f"{archive.name}: cannot be unpacked: {error}") from error


def _check_member(archive: Path, member: tarfile.TarInfo, links: set[PurePosixPath]) -> None:
    """Refuse what tarfile's own filter repairs or, in older releases, lets pass through chains of links."""
    path = PurePosixPath(member.name)
    fault = None
    if path.is_absolute() or ".." in path.parts:
        fault = "would unpack outside its folder"
    elif not (member.isreg() or member.isdir() or member.issym() or member.islnk()):
        fault = "is no file, folder or link"
    elif links.intersection((path, *path.parents)):
        fault = "would be written through a link"
    elif member.issym() or member.islnk():
        if _points_outside(path.parent if member.issym() else PurePosixPath(), member.linkname):
            fault = f"links to {member.linkname!r}, outside its folder"
        links.add(path)
    if fault:
        raise SourceError(f"{archive.name}: member {member.name!r} {fault}; nothing was kept")


def _points_outside(start: PurePosixPath, linkname: str) -> bool:
    """Say whether a link target climbs out; a ``..`` after a name is refused, since that name may be a link."""
    parts = PurePosixPath(linkname).parts
    climbs = next((index for index, part in enumerate(parts) if part != ".."), len(parts))
    return linkname.startswith("/") or ".." in parts[climbs:] or climbs > len(start.parts)


def _top_folder(target: Path) -> Path:
    """Return the one folder that an sdist wraps everything in, else the folder itself."""
    entries = list(target.iterdir())
    return entries[0] if len(entries) == 1 and entries[0].is_dir() and not entries[0].is_symlink() else target
