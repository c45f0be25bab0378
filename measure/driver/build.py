"""Builds the driver with cmake, and keeps it while it is whole and its sources are the same."""

import contextlib
import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from evidence import store
from measure.build.compiler import compiler_version
from measure.confine import disk
from measure.confine.process import Limits, run
from measure.errors import BuildError, StorageError
from measure.source.fetch import file_sha256, sources_sha256

LIMITS = Limits(timeout_s=600)
LEAST_BYTES = 1 << 20
LOCK, SEAL = "lock", "driver.seal"
TRIES = 2  # what was killed once need not be again


def program(csrc: Path, out: Path) -> Path:
    """Return the driver, built in the folder ``out`` where it is not up to date; one process at a time does so.

    It is built from nothing each time: what an interrupted cmake remembers of a compiler need not be true.

    Raises:
        BuildError: when it does not build.
        StorageError: when the folder cannot be written.
        ToolMissingError: when the compiler is not installed.
    """
    driver, key = out / "driver", _key(csrc)
    try:
        with _locked(out) as lock:
            if not _is_kept(driver, key):
                _build(csrc, out, lock)
                # Where root measures, it is run as another user.
                driver.chmod(0o755)
                store.write_atomically(out / SEAL, _seal(driver, key))
    except OSError as error:
        raise StorageError(f"{out}: cannot be written: {error.strerror}; free space or change --runs") from error
    return driver


def _key(csrc: Path) -> str:
    """Return a digest of what the driver is built from."""
    files = [file for name in ("counter", "driver", "iccs", "profile") for file in (csrc / name).glob("*.[ch]")]
    state = hashlib.sha256(compiler_version("gcc").encode())
    state.update(sources_sha256([*files, csrc / "CMakeLists.txt"], csrc).encode())
    return state.hexdigest()


def _seal(driver: Path, key: str) -> bytes:
    return f"{key} {file_sha256(driver)}\n".encode()


def _is_kept(driver: Path, key: str) -> bool:
    """Return whether the program is the one that was built last, from the same sources."""
    seal = driver.with_name(SEAL)
    return driver.is_file() and seal.is_file() and seal.read_bytes() == _seal(driver, key)


def _build(csrc: Path, out: Path, lock: int) -> None:
    for _ in range(TRIES):
        _clear(out)
        failure = _failure(csrc, out, lock)
        if failure is None:
            return
    raise BuildError(f"the driver does not build: {failure}")


@contextlib.contextmanager
def _locked(out: Path) -> Iterator[int]:
    """Hold the folder's lock. Compilers hold it too: those of a killed run are waited for."""
    out.mkdir(parents=True, exist_ok=True)
    with (out / LOCK).open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock.fileno()


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
            disk.check(said, out)
            if disk.free_bytes(out) < LEAST_BYTES:  # cmake does not always say why
                raise disk.full(out)
            return f"{finished.how()}: {(said.strip().splitlines() or [''])[0]}"
    return None
