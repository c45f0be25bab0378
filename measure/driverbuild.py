"""Builds the driver with cmake, and keeps it while it is whole.

A kill or a power cut may leave a build tree that cmake takes for good: objects of half their length, newer than their
sources. So a tree that does not build, or whose program is not the one that was built there, is built from nothing.
"""

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from evidence import store
from measure import space
from measure.errors import BuildError, StorageError
from measure.process import Limits, run
from measure.sources import file_sha256

LIMITS = Limits(timeout_s=600)
LEAST_BYTES = 1 << 20
LOCK, SEAL = "lock", "driver.sha256"


def program(csrc: Path, out: Path) -> Path:
    """Return the driver, built in the folder ``out`` where it is not up to date; one process at a time does so.

    Raises:
        BuildError: when it does not build.
        StorageError: when the folder cannot be written.
    """
    driver = out / "driver"
    try:
        with _locked(out) as lock:
            if not _is_whole(driver):
                _clear(out)
            if _failure(csrc, out, lock):
                _clear(out)
                if failure := _failure(csrc, out, lock):
                    raise BuildError(f"the driver does not build: {failure}")
            # Where root measures, it is run as another user.
            driver.chmod(0o755)
            if not _is_whole(driver):
                store.write_atomically(out / SEAL, file_sha256(driver).encode())
    except OSError as error:
        raise StorageError(f"{out}: cannot be written: {error.strerror}; free space or change --runs") from error
    return driver


@contextlib.contextmanager
def _locked(out: Path) -> Iterator[int]:
    """Hold the folder's lock. Compilers hold it too: those of a killed run are waited for."""
    out.mkdir(parents=True, exist_ok=True)
    with (out / LOCK).open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock.fileno()


def _is_whole(driver: Path) -> bool:
    """Return whether the program is the one that was built last."""
    seal = driver.with_name(SEAL)
    return driver.is_file() and seal.is_file() and seal.read_bytes() == file_sha256(driver).encode()


def _clear(out: Path) -> None:
    for entry in os.scandir(out):
        if entry.name != LOCK:
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry)
            else:
                Path(entry).unlink()


def _failure(csrc: Path, out: Path, lock: int) -> str | None:
    """Build; return how that failed, in one line, None where it did not."""
    configure = ["cmake", "-S", str(csrc), "-B", str(out), "-DCMAKE_BUILD_TYPE=Release"]
    for argv in (configure, ["cmake", "--build", str(out), "--target", "driver"]):
        finished = run(argv, LIMITS, held=(lock,))
        if finished.exit_code != 0:
            said = finished.stderr.text() + finished.stdout.text()
            space.check(said, out)
            if space.free_bytes(out) < LEAST_BYTES:  # cmake does not always say why
                raise space.full(out)
            return f"{finished.how()}: {(said.strip().splitlines() or [''])[0]}"
    return None
