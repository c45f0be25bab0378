"""Tells a full disk from a fault: what it stopped is no result, and the operator is told."""

import errno
import os
from pathlib import Path

from measure.errors import StorageError

SAID = ("No space left on device", "Disk quota exceeded")
# With more than this at hand, a program that complains is a program that complains: candidates may print anything.
SCARCE_BYTES = 64 << 20


def is_out(error: BaseException | None) -> bool:
    """Return whether an error says that a disk is full."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def check(said: str, folder: Path) -> None:
    """Judge what a program said that failed while it wrote below a folder.

    Raises:
        StorageError: when it complains of a full disk, and the folder's disk is as good as full.
    """
    if any(words in said for words in SAID) and free_bytes(folder) < SCARCE_BYTES:
        raise full(folder)


def free_bytes(folder: Path) -> int:
    """Return what the disk of a folder still holds for this user."""
    disk = os.statvfs(folder)
    return disk.f_bavail * disk.f_frsize


def full(place: Path | str) -> StorageError:
    """Return the error that says where there is no space left."""
    return StorageError(f"{place}: cannot be written: No space left on device; free space or change --runs")
