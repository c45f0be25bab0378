"""A machine that measures for another: it joins a Dask scheduler and times one instance at a time on one core.

What arrives is bytes: the driver, a library, and an :class:`Order`. What leaves is bytes: an :class:`Answer`. Nothing
stays on this machine. ``distributed`` is imported where it is used, so that measuring on one machine needs none of it.
"""

import asyncio
import contextlib
import hashlib
import os
import signal
import tempfile
import warnings
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from evidence.types import BuildInstance, Counter, Environment, Planning, Sha256
from measure.driver import probe
from measure.errors import DriverError, MeasureError, RemoteError, ToolMissingError
from measure.host import check, facts
from measure.timing import trials
from measure.timing.attempts import Attempt, RunFolder, read
from measure.timing.plan import Operation

if TYPE_CHECKING:
    from distributed import Worker

ROOT = Path(__file__).resolve().parents[2]
HELP = "measure on one core for a campaign that another machine runs"
CONNECT_TIMEOUT_S = 30.0
CLOSE_TIMEOUT_S = 10.0
# Its own work would disturb what is measured beside it.
QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.disk": False,
    "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.comm.timeouts.connect": CONNECT_TIMEOUT_S,
    "logging": {"distributed": "critical", "distributed.client": "critical", "distributed.gc": "critical"},
}


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """What all orders of a campaign share."""

    planning: Planning
    versions: facts.Tools  # of the programs that built the libraries
    driver: bytes
    driver_sha256: Sha256


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker needs to time one instance."""

    rules: Rules
    built: BuildInstance
    library: bytes


class Introduction(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker is: what decides on whether it may measure, or why it cannot."""

    programs: dict[str, str]
    cpu: int | None = None
    environment: Environment | None = None
    counter: Counter | None = None
    problems: tuple[str, ...] = ()
    error: str | None = None


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt, and what it was an attempt at."""

    operation: Operation
    number: int | Literal["calibration"]
    attempt: Attempt


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """All attempts of one instance, by the worker with this address; or why there are none."""

    worker: str
    entries: tuple[Entry, ...] = ()
    error: str | None = None


class Place(NamedTuple):
    """Where this process measures, and where it may run itself."""

    cpu: int
    usable_cpus: frozenset[int]
    scratch: Path  # removed at the end


_places: list[Place] = []  # one, once this process is a worker


def need_distributed() -> None:
    """Set up ``distributed`` for measuring.

    Raises:
        ToolMissingError: when it is not installed.
    """
    try:
        import dask  # noqa: PLC0415 - measuring on one machine does without

        dask.config.set(QUIET)
        import distributed  # noqa: PLC0415

        # Both ends are asked for their versions, and refused in one line.
        warnings.simplefilter("ignore", distributed.versions.VersionMismatchWarning)
    except ImportError:
        raise ToolMissingError(
            "distributed is not installed; for many machines install the extra: pip install -e '.[cluster]'"
        ) from None


def programs() -> dict[str, str]:
    """Return the versions of what both ends must have alike; of katalog, with a digest of what measures."""
    digest = hashlib.sha256()
    for file in sorted(file for name in ("measure", "evidence") for file in (ROOT / name).rglob("*.py")):
        digest.update(file.read_bytes())
    versions = {name: metadata.version(name) for name in ("katalog", "distributed")}
    return versions | {"katalog's programs": digest.hexdigest()[:16]}


def serve(scheduler: str, cpu: int, say: Callable[[str], None]) -> None:
    """Be a worker until the scheduler ends, or until SIGTERM or SIGINT.

    Raises:
        ToolMissingError: when ``distributed`` is not installed.
        RemoteError: when the scheduler cannot be reached.
    """
    need_distributed()
    usable = frozenset(os.sched_getaffinity(0))
    # All threads inherit it; drivers go to the measuring core by themselves.
    os.sched_setaffinity(0, usable - {cpu} or usable)
    with tempfile.TemporaryDirectory(prefix="katalog-worker-", ignore_cleanup_errors=True) as scratch:
        # Where root measures, programs run as another user.
        Path(scratch).chmod(0o755)
        _places[:] = [Place(cpu, usable, Path(scratch).resolve())]
        try:
            asyncio.run(_serve(scheduler, _places[0], say))
        except (OSError, ValueError, RuntimeError) as error:
            raise RemoteError(unreachable(scheduler, error)) from error


def unreachable(scheduler: str, error: BaseException) -> str:
    """Return one line about a scheduler that does not answer."""
    while error.__cause__:
        error = error.__cause__
    words = (isinstance(error, OSError) and error.strerror) or " ".join(str(error).split())
    said = words or f"no answer within {CONNECT_TIMEOUT_S:.0f} s"
    return f"--scheduler {scheduler}: cannot be reached: {said:.200}; start one with `dask scheduler`"


async def _serve(scheduler: str, place: Place, say: Callable[[str], None]) -> None:
    from distributed import Worker  # noqa: PLC0415

    worker = Worker(
        scheduler, nthreads=1, memory_limit=0, local_directory=str(place.scratch), death_timeout=CONNECT_TIMEOUT_S
    )
    loop = asyncio.get_running_loop()
    closing: list[asyncio.Task[None]] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, lambda: closing.append(asyncio.ensure_future(_close(worker))))
    async with worker:
        say(f"measuring on core {place.cpu} for {scheduler}; ends with it, or with Ctrl-C")
        await worker.finished()


async def _close(worker: "Worker") -> None:
    """Leave; what is under way here is handed out again, and not suspected for it."""
    with contextlib.suppress(OSError):
        leave = worker.scheduler.retire_workers(workers=[worker.address], close_workers=False, remove=True)
        await asyncio.wait_for(leave, CLOSE_TIMEOUT_S)
    await worker.close(timeout=CLOSE_TIMEOUT_S, executor_wait=False)


async def grant(resource: str, amount: float, dask_worker: "Worker") -> None:
    """Let a worker take jobs of a campaign (1), or no longer (0). Runs on the worker."""
    await dask_worker.set_resources(**{resource: amount})


def introduce(rules: bytes) -> bytes:
    """Say what this worker is. Runs on the worker."""
    try:
        return msgspec.json.encode(_introduction(msgspec.msgpack.decode(rules, type=Rules)))
    except (MeasureError, OSError) as error:
        return msgspec.json.encode(Introduction(programs=programs(), error=str(error)))


def _introduction(rules: Rules) -> Introduction:
    with _rig(rules) as rig:
        probed = probe.probe(rig.driver, rig.cpu)
        with _unbound():
            seen = probe.seen(rig.driver, rig.cpu, probed)
        return Introduction(
            programs=programs(),
            cpu=rig.cpu,
            environment=rig.environment(),
            counter=probed.counter,
            problems=tuple(map(str, check.problems(seen))),
        )


@contextlib.contextmanager
def _unbound() -> Iterator[None]:
    """Let this thread run on all cores of the process's start, so that a check sees those that it may use."""
    own = os.sched_getaffinity(0)
    os.sched_setaffinity(0, _places[0].usable_cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, own)


def measure(order: bytes) -> bytes:
    """Time one instance, all its operations on this core. Runs on the worker."""
    from distributed import get_worker  # noqa: PLC0415

    worker = get_worker()
    try:
        entries = _measured(msgspec.msgpack.decode(order, type=Order), worker)
    except (MeasureError, OSError) as error:
        return msgspec.json.encode(Answer(worker=worker.address, error=str(error)))
    return msgspec.json.encode(Answer(worker=worker.address, entries=entries))


def _measured(order: Order, worker: "Worker") -> tuple[Entry, ...]:
    key, built = worker.get_current_task(), order.built

    def tell(_amount: float, _text: str) -> None:
        task = worker.state.tasks.get(key)
        if task is None or task.state != "executing":
            raise RemoteError("nobody waits for this any more")

    with _rig(order.rules) as rig:
        _arrived(rig.folder.path / (built.library or ""), order.library, built.library_sha256)
        trials.learn(rig, [built])
        trials.calibrate(rig, [built], tell)
        trials.run_trials(rig, [built], tell)
        return tuple(_entries(rig, built))


def _entries(rig: trials.Rig, built: BuildInstance) -> Iterator[Entry]:
    numbers: list[int | Literal["calibration"]] = ["calibration", *range(rig.planning.trials)]
    for operation in trials.operations_of(rig, built):
        for number in numbers:
            attempt = read(rig.folder.attempt_file(operation, number), Attempt)
            if attempt:
                yield Entry(operation=operation, number=number, attempt=attempt)


@contextlib.contextmanager
def _rig(rules: Rules) -> Iterator[trials.Rig]:
    """Lay out a run folder that goes when its work is done."""
    if not _places:
        raise RemoteError("is no worker of `python -m measure worker`")
    place = _places[0]
    with tempfile.TemporaryDirectory(prefix="run-", dir=place.scratch, ignore_cleanup_errors=True) as name:
        folder = RunFolder(Path(name))
        folder.path.chmod(0o755)
        driver = folder.path / "driver"
        _arrived(driver, rules.driver, rules.driver_sha256)
        driver.chmod(0o755)
        yield trials.Rig(folder, driver, rules.driver_sha256, place.cpu, rules.versions, rules.planning)


def _arrived(file: Path, content: bytes, sha256: str | None) -> None:
    """Write what was sent, if it is what was meant.

    Raises:
        DriverError: when it has another digest.
        StorageError: when it cannot be written.
    """
    if hashlib.sha256(content).hexdigest() != sha256:
        raise DriverError(f"{file.name}: arrived with another digest than it was sent with")
    RunFolder(file.parent).write_bytes(file, content)
