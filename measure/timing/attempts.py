"""What a run folder holds while a campaign is under way, so that a killed one loses at most one process.

Names that begin with a dot are of work under way; what an interruption left of it goes at the next start. A file that
is not whole is made again: of an attempt, that is one driver run; of a calibration, the whole operation follows, since
its plan came from it.

plan.json                                         the planning settings: a run folder keeps one
campaign.json                                     start, environment, host checks, timed work
campaign.log                                      what was told to the operator, with times
driver/<sha256>/driver                            the driver that measures
<candidate>/lib/lib<label>.so                     libraries
build/<candidate>/<label>.json                    build, with the key of what went in
result/<candidate>/<label>.json                   build and KAT result
kat/<candidate>/<label>.log
interface/<candidate>/<label>.json                what getters say that decides on the operations
attempts/<candidate>/<label>__<operation>/        calibration.json, trial-<n>.json
returned/<candidate>/<label>.json                 what a worker measured, until it is under attempts/
profiled/<candidate>/<label>.json                 the library with wrapped helpers, and calls that escape them
profile/<candidate>/<label>__<operation>.json     its results
"""

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar

import msgspec

from evidence import plans, store
from evidence.types import BuildInstance, Campaign, Environment, Planning, Process, Profile, Sha256, Utc
from measure.build.library import Built
from measure.errors import StorageError, UsageError
from measure.source.fetch import file_sha256
from measure.timing.plan import Operation

T = TypeVar("T", bound=msgspec.Struct)
SHARED = ("sources",)  # folders of all runs


class Attempt(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One driver process and what it was run with; it counts only for that library, driver and plan."""

    library_sha256: Sha256
    driver_sha256: Sha256
    iterations: int
    warmups: int
    started_utc: Utc
    ended_utc: Utc
    environment: Environment
    process: Process
    shard: str | None = None  # the worker that made it


class BuildState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A finished build. ``key`` digests everything that went into it."""

    key: Sha256
    built: Built


class KatState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A finished known-answer test with the build that it speaks of. ``key`` digests both inputs."""

    key: Sha256
    result: BuildInstance


class Interface(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a library's getters say that decides on its operations; ``passes`` is absent where they say nothing."""

    library_sha256: Sha256
    driver_sha256: Sha256
    passes: int | None = None


class Profiled(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The library of a profile. ``key`` digests what went in; a reason says why it cannot serve."""

    key: Sha256
    built: Built
    status: str
    reason: str | None = None


class ProfileState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A finished profile. ``key`` digests profiled library, driver and number of calls."""

    key: Sha256
    timed_sha256: Sha256  # of the library without wrappers
    profile: Profile


class RunFolder(NamedTuple):
    """Paths and files of one run."""

    path: Path

    def build_file(self, candidate: str, label: str) -> Path:
        """Return where the build result of an instance lies."""
        return self.path / "build" / candidate / f"{label}.json"

    def result_file(self, candidate: str, label: str) -> Path:
        """Return where build and KAT result of an instance lie."""
        return self.path / "result" / candidate / f"{label}.json"

    def campaign_file(self) -> Path:
        """Return where the campaign's own facts lie."""
        return self.path / "campaign.json"

    def attempt_file(self, operation: Operation, number: int | Literal["calibration"]) -> Path:
        """Return where a trial (from 0) or the calibration of an operation lies."""
        name = "calibration" if number == "calibration" else f"trial-{number}"
        stem = store.file_stem(operation.label, operation.operation, operation.input_bytes)
        return self.path / "attempts" / operation.candidate / stem / f"{name}.json"

    def attempt_files(self, operation: Operation) -> list[Path]:
        """Return all attempts of an operation that are there."""
        return sorted(self.attempt_file(operation, "calibration").parent.glob("*.json"))

    def remove(self, files: Iterable[Path]) -> None:
        """Remove files of the run.

        Raises:
            StorageError: when one cannot be removed.
        """
        for file in files:
            try:
                file.unlink(missing_ok=True)
            except OSError as error:
                raise StorageError(f"{file}: cannot be removed: {error.strerror}; mend the folder's rights") from error

    def interface_file(self, candidate: str, label: str) -> Path:
        """Return where an instance's interface lies."""
        return self.path / "interface" / candidate / f"{label}.json"

    def returned_file(self, candidate: str, label: str) -> Path:
        """Return where a worker's attempts at an instance lie until they are in their own files."""
        return self.path / "returned" / candidate / f"{label}.json"

    def profiled_file(self, candidate: str, label: str) -> Path:
        """Return where the state of an instance's profiled library lies."""
        return self.path / "profiled" / candidate / f"{label}.json"

    def profile_file(self, operation: Operation) -> Path:
        """Return where the profile of an operation lies."""
        stem = store.file_stem(operation.label, operation.operation, operation.input_bytes)
        return self.path / "profile" / operation.candidate / f"{stem}.json"

    def log_file(self) -> Path:
        """Return where the lines that an operator sees are kept."""
        return self.path / "campaign.log"

    def campaign(self) -> Campaign | None:
        """Return the campaign as far as it has come; None before its start."""
        return read(self.campaign_file(), Campaign)

    def write(self, file: Path, document: msgspec.Struct) -> None:
        """Write a state file, whole or not at all.

        Raises:
            StorageError: when the folder cannot be written.
        """
        self.write_bytes(file, store.encode(document))

    def write_bytes(self, file: Path, content: bytes) -> None:
        """Write any file of the run, whole or not at all.

        Raises:
            StorageError: when the folder cannot be written.
        """
        try:
            store.write_atomically(file, content)
        except OSError as error:
            raise StorageError(f"{file}: cannot be written: {error.strerror}; free space or change --runs") from error

    def results(self) -> list[BuildInstance]:
        """Return build and KAT result of all instances, in order of candidate and label."""
        files = sorted((self.path / "result").glob("*/*.json"))
        return [state.result for file in files if (state := read(file, KatState))]

    def holds(self, built: Built | BuildInstance) -> bool:
        """Return whether the library that a state speaks of is there and whole; a build that failed has none."""
        return built.library is None or self._has(built.library, built.library_sha256)

    def holds_log(self, result: BuildInstance) -> bool:
        """Return whether the log of a known-answer test is there and whole, if there was a test."""
        return result.kat_log is None or self._has(result.kat_log, result.kat_log_sha256)

    def _has(self, path: str, sha256: str | None) -> bool:
        file = self.path / path
        return file.is_file() and file_sha256(file) == sha256

    def attempts(self) -> Iterator[Attempt]:
        """Yield all attempts that are whole."""
        files = sorted((self.path / "attempts").rglob("*.json"))
        return (attempt for file in files if (attempt := read(file, Attempt)))

    def damaged(self) -> list[Path]:
        """Return the results that are there and not whole."""
        kinds: dict[str, type[msgspec.Struct]] = {
            "result": KatState,
            "interface": Interface,
            "attempts": Attempt,
            "profile": ProfileState,
        }
        files = ((file, to) for name, to in kinds.items() for file in sorted((self.path / name).rglob("*.json")))
        return [file for file, to in files if read(file, to) is None]


def read(file: Path, to: type[T]) -> T | None:
    """Return a state file, or None where there is none or a kill or a full disk left it broken."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=to)
    except (FileNotFoundError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def recovered(folder: RunFolder, begun: Campaign) -> Campaign:
    """Return a campaign that begins now, or one as old as its attempts where its file was lost; it says so then."""
    first = min(folder.attempts(), key=lambda attempt: attempt.started_utc, default=None)
    if first is None:
        return begun
    note = (
        f"The campaign's own file was lost or damaged and made again on {begun.started_utc}: start and environment are "
        "those of the earliest attempt at hand, and checks of the host from before are not on record."
    )
    return msgspec.structs.replace(
        begun, started_utc=first.started_utc, environment_at_start=first.environment, history_note=note
    )


def remove_strays(folder: Path) -> None:
    """Remove what interrupted work left below a folder that nobody else is using."""
    for place, folders, _ in os.walk(folder):
        _remove_hidden(Path(place))
        folders[:] = [name for name in folders if not name.startswith(".")]


def _remove_hidden(folder: Path) -> None:
    for entry in folder.glob(".*"):
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)


@contextlib.contextmanager
def _shared(runs: Path) -> Iterator[None]:
    """Use the folders that runs share; who is alone there tidies up."""
    with (runs / ".lock").open("wb") as lock:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for name in SHARED:
                _remove_hidden(runs / name)
        fcntl.flock(lock, fcntl.LOCK_SH)
        yield


@contextlib.contextmanager
def opened(path: Path, planning: Planning) -> Iterator[RunFolder]:
    """Open a run folder for one process at a time, and hold it to the plan that it began with.

    Raises:
        StorageError: when the folder cannot be written or another run uses it.
        UsageError: when the folder was begun under another plan.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise StorageError(f"{path}: cannot be written: {error.strerror}; choose another --runs folder") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise StorageError(f"{path}: another run is using this folder; wait for it or choose another --runs") from None
    try:
        folder = RunFolder(path)
        remove_strays(path)
        begun = read(path / "plan.json", Planning)
        if begun is not None and begun != planning:
            words = plans.options(begun) or "the quick one"
            raise UsageError(f"{path}: begun under another plan ({words}); finish it or choose another --runs")
        folder.write(path / "plan.json", planning)
        with _shared(path.parents[1]):  # <runs>/<system>/<plan>
            yield folder
    finally:
        os.close(descriptor)
