"""The timed part of a campaign: calibrate, plan, run the trials round by round. Finished attempts are kept."""

import datetime as dt
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from evidence.operations import FAMILIES, HASH_INPUT_BYTES, Family, family_of, kex_operations
from evidence.types import BuildInstance, CounterUnit, Environment, Plan, Planning, Process, Sha256
from measure.confine.process import Finished, Limits
from measure.confine.sandbox import View, run
from measure.driver.dialogue import DriverJob, is_emulated, read_passes, read_process, sizes_argv, time_argv
from measure.errors import DriverError
from measure.host import facts
from measure.source.fetch import file_sha256
from measure.timing.attempts import Attempt, Interface, RunFolder, read
from measure.timing.plan import Operation, Step, calibration_is_measurement, estimated_s, interleave, plan_operation

CALIBRATION_TIMEOUT_S = 4 * 3600.0
DISTURBED_BELOW = 0.95  # of the fixed clock
DISTURBED_RETRIES = 2
ADDRESS_SPACE_BYTES = 8 << 30
FILE_SIZE_BYTES = 1 << 20
GETTER_LIMITS = Limits(60.0, address_space_bytes=ADDRESS_SPACE_BYTES, file_size_bytes=FILE_SIZE_BYTES)
DRIVER_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}


class Rig(NamedTuple):
    """What all driver processes of a run share. ``versions`` are those of the tools that built the libraries."""

    folder: RunFolder
    driver: Path
    driver_sha256: str
    cpu: int
    versions: facts.Tools
    planning: Planning

    def environment(self) -> Environment:
        """Return the state of the machine now."""
        return facts.environment(self.cpu, self.versions)


class Task(NamedTuple):
    """One driver process: a calibrating call or a trial of an operation."""

    built: BuildInstance
    operation: Operation
    number: int | Literal["calibration"]
    iterations: int
    warmups: int
    timeout_s: float


Tell = Callable[[float, str], None]


def rig(folder: RunFolder, driver: Path, cpu: int, planning: Planning) -> Rig:
    """Return the shared part of all driver runs."""
    return Rig(folder, driver.resolve(), file_sha256(driver), cpu, facts.tools(), planning)


def learn(rig: Rig, instances: Sequence[BuildInstance]) -> None:
    """Ask the getters that decide on operations, where that is not known of this library: key exchanges have passes."""
    for built in instances:
        if family_of(built.candidate) is Family.KEX and _interface(rig, built) is None:
            library, sha256 = _library_of(rig, built)
            argv = sizes_argv(rig.driver, library, Family.KEX)
            finished = drive(rig, argv, GETTER_LIMITS, library)
            found = Interface(library_sha256=sha256, driver_sha256=rig.driver_sha256, passes=read_passes(finished))
            rig.folder.write(rig.folder.interface_file(built.candidate, built.label), found)


def _interface(rig: Rig, built: BuildInstance) -> Interface | None:
    known = read(rig.folder.interface_file(built.candidate, built.label), Interface)
    wanted = (built.library_sha256, rig.driver_sha256)
    return known if known and (known.library_sha256, known.driver_sha256) == wanted else None


def operations(rig: Rig, instances: Sequence[BuildInstance]) -> dict[Operation, BuildInstance]:
    """Return all operations of the instances, in table order, with the build that each belongs to."""
    return {operation: built for built in instances for operation in operations_of(rig, built)}


def operations_of(rig: Rig, built: BuildInstance) -> list[Operation]:
    """Return the operations of one instance: of a hash function one per size of message.

    A key exchange that does not state its passes has the whole exchange, so that its failure is on record.
    """
    family = family_of(built.candidate)
    if family is Family.HASH:
        return [Operation(built.candidate, built.label, "hash", size) for size in HASH_INPUT_BYTES]
    names = FAMILIES[family].operations
    if family is Family.KEX:
        interface = _interface(rig, built)
        passes = interface.passes if interface else None
        names = names[:1] if passes is None else kex_operations(passes)
    return [Operation(built.candidate, built.label, name) for name in names]


def calibration_task(built: BuildInstance, operation: Operation) -> Task:
    """Return the task that calls an operation once, without warm-up."""
    return Task(built, operation, "calibration", 1, 0, CALIBRATION_TIMEOUT_S)


def trial_task(built: BuildInstance, step: Step) -> Task:
    """Return the task of one trial."""
    plan = step.plan
    return Task(built, step.operation, step.number, plan.iterations_per_trial, plan.warmups, plan.timeout_per_process_s)


def finished_attempt(rig: Rig, task: Task) -> Attempt | None:
    """Return a task's stored attempt if it was made with this library, driver and number of calls, else None."""
    attempt = read(rig.folder.attempt_file(task.operation, task.number), Attempt)
    if attempt is None:
        return None
    made_with = (attempt.library_sha256, attempt.driver_sha256, attempt.iterations, attempt.warmups)
    wanted = (task.built.library_sha256, rig.driver_sha256, task.iterations, task.warmups)
    return attempt if made_with == wanted else None


def calibrate(rig: Rig, instances: Sequence[BuildInstance], tell: Tell) -> None:
    """Call every operation once where no valid calibration is at hand."""
    for operation, built in operations(rig, instances).items():
        task = calibration_task(built, operation)
        if finished_attempt(rig, task) is None:
            rig.folder.write(rig.folder.attempt_file(operation, "calibration"), perform(rig, task, 0))
        tell(1, str(operation))


def plans(rig: Rig, instances: Sequence[BuildInstance]) -> dict[Operation, Plan]:
    """Return the plan of every operation whose calibrating call went well."""
    found = {}
    for operation, built in operations(rig, instances).items():
        calibration = finished_attempt(rig, calibration_task(built, operation))
        if calibration and calibration.process.status == "complete":
            found[operation] = plan_operation(call_seconds(calibration), rig.planning)
    return found


def core_of(rig: Rig, operation: Operation, built: BuildInstance) -> int | None:
    """Return the core on which an operation was measured; None where it was not, or only calibrated."""
    calibration = finished_attempt(rig, calibration_task(built, operation))
    if calibration is None:
        return None
    if calibration.process.status != "complete":
        return calibration.environment.cpu_number
    planned = plan_operation(call_seconds(calibration), rig.planning)
    first = finished_attempt(rig, trial_task(built, Step(operation, 0, planned)))
    if first is None and calibration_is_measurement(call_seconds(calibration), rig.planning):
        first = calibration
    return first.environment.cpu_number if first else None


def remaining(rig: Rig, instances: Sequence[BuildInstance]) -> list[tuple[Step, Task]]:
    """Return the trials still to be run, in the order to run them.

    None are left for an operation one of whose trials failed, or whose calibrating call used up its budget.
    """
    built_of = operations(rig, instances)
    left, ended = [], set()
    for step in interleave(plans(rig, instances)):
        task = trial_task(built_of[step.operation], step)
        attempt = finished_attempt(rig, task)
        if (attempt and attempt.process.status != "complete") or (attempt is None and _calibration_suffices(rig, task)):
            ended.add(step.operation)
        elif attempt is None:
            left.append((step, task))
    return [(step, task) for step, task in left if step.operation not in ended]


def _calibration_suffices(rig: Rig, task: Task) -> bool:
    calibration = finished_attempt(rig, calibration_task(task.built, task.operation))
    return calibration is not None and calibration_is_measurement(call_seconds(calibration), rig.planning)


def expected_s(rig: Rig, step: Step, task: Task) -> float:
    """Return the seconds that a trial will take: its calls, and what the calibrating process took beside its call."""
    calibration = finished_attempt(rig, calibration_task(task.built, task.operation))
    beside_s = calibration.process.wall_s - call_seconds(calibration) if calibration else 0.0
    return estimated_s(step) + max(beside_s, 0.0)


def call_seconds(calibration: Attempt) -> float:
    """Return what one more call costs, by a good calibration: with the complete run around it, where there is one."""
    trial = calibration.process.trials[0]
    return trial.runs_seconds or trial.seconds


def timed_seconds(rig: Rig, instances: Sequence[BuildInstance]) -> float:
    """Return the seconds inside the timed loops of all finished attempts; of a key exchange with the runs around it."""
    trials = (trial for built in instances for one in attempts(rig, built) for trial in one.process.trials)
    return sum(trial.runs_seconds or trial.seconds for trial in trials)


def span_seconds(rig: Rig, built: BuildInstance) -> float:
    """Return the seconds from the start of an instance's first attempt to the end of its last."""
    found = attempts(rig, built)
    starts = [dt.datetime.fromisoformat(one.started_utc) for one in found]
    ends = [dt.datetime.fromisoformat(one.ended_utc) for one in found]
    return (max(ends) - min(starts)).total_seconds() if found else 0.0


def attempts(rig: Rig, built: BuildInstance) -> list[Attempt]:
    """Return all attempts of an instance that are there and made with this library and driver."""
    files = (file for operation in operations_of(rig, built) for file in rig.folder.attempt_files(operation))
    found = [attempt for file in files if (attempt := read(file, Attempt))]
    wanted = (built.library_sha256, rig.driver_sha256)
    return [one for one in found if (one.library_sha256, one.driver_sha256) == wanted]


def is_finished(rig: Rig, built: BuildInstance) -> bool:
    """Return whether nothing of an instance is left to measure."""
    calls = [calibration_task(built, operation) for operation in operations_of(rig, built)]
    return all(finished_attempt(rig, call) for call in calls) and not remaining(rig, [built])


def drop_strangers(rig: Rig, instances: Sequence[BuildInstance], cores: Collection[int]) -> list[BuildInstance]:
    """Remove all attempts of unfinished instances that were begun on another core or machine, and return those.

    All operations of an instance are measured on one core, so that it is measured again from its beginning. Where only
    calibrating calls were made, nothing is bound to a core yet.
    """
    dropped = [built for built in instances if _is_strange(rig, built, cores) and not is_finished(rig, built)]
    for built in dropped:
        drop_attempts(rig, built)
    return dropped


def drop_attempts(rig: Rig, built: BuildInstance) -> None:
    """Remove all attempts of an instance.

    Raises:
        StorageError: when they cannot be removed.
    """
    for operation in operations_of(rig, built):
        rig.folder.remove(rig.folder.attempt_files(operation))


def _is_strange(rig: Rig, built: BuildInstance, cores: Collection[int]) -> bool:
    elsewhere = any(one.shard is not None for one in attempts(rig, built))
    used = {core for operation in operations_of(rig, built) if (core := core_of(rig, operation, built)) is not None}
    return elsewhere or len(used) > 1 or not used <= set(cores)


def run_trials(rig: Rig, instances: Sequence[BuildInstance], tell: Tell) -> None:
    """Run the remaining trials; after a failed one the rest of its operation is left out."""
    failed: set[Operation] = set()
    for step, task in remaining(rig, instances):
        seconds = expected_s(rig, step, task)
        if step.operation in failed:
            tell(seconds, f"{step.operation} trial {step.number + 1} of {step.plan.trials}: left out")
        else:
            attempt = _undisturbed(rig, task)
            rig.folder.write(rig.folder.attempt_file(step.operation, step.number), attempt)
            if attempt.process.status != "complete":
                failed.add(step.operation)
            tell(seconds, _told(step, attempt))


def _told(step: Step, attempt: Attempt) -> str:
    process = attempt.process
    failure = "" if process.status == "complete" else f": {process.status}: {process.reason}"
    return f"{step.operation} trial {step.number + 1} of {step.plan.trials}{failure}"


def _undisturbed(rig: Rig, task: Task) -> Attempt:
    """Run one trial, and again, at most twice, while its clock rate shows that it was disturbed."""
    for retries in range(DISTURBED_RETRIES + 1):
        attempt = perform(rig, task, retries)
        if not disturbed(attempt.process, facts.fixed_clock_hz(attempt.environment)):
            break
    return attempt


def disturbed(process: Process, clock_hz: int | None) -> bool:
    """Return whether a trial's core cycles per second fall below 95 % of the fixed clock, where one is fixed."""
    if clock_hz is None or process.counter is None or process.counter.unit is not CounterUnit.CYCLES:
        return False
    return any(
        entry.cycles is not None and entry.cycles / entry.seconds < DISTURBED_BELOW * clock_hz
        for entry in process.trials
    )


def perform(rig: Rig, task: Task, disturbed_retries: int) -> Attempt:
    """Run one driver process and return what it observed.

    Raises:
        DriverError: when the library is gone, or the driver's document is not as agreed.
    """
    library, library_sha256 = _library_of(rig, task.built)
    environment = rig.environment()
    job = DriverJob(
        library=library,
        family=family_of(task.built.candidate),
        operation=task.operation.operation,
        iterations=task.iterations,
        warmups=task.warmups,
        cpu=rig.cpu,
        clock_hz=facts.fixed_clock_hz(environment),
        input_bytes=task.operation.input_bytes,
    )
    limits = Limits(task.timeout_s, address_space_bytes=ADDRESS_SPACE_BYTES, file_size_bytes=FILE_SIZE_BYTES)
    started = utc_now()
    finished = drive(rig, time_argv(rig.driver, job), limits, library)
    return Attempt(
        library_sha256=library_sha256,
        driver_sha256=rig.driver_sha256,
        iterations=task.iterations,
        warmups=task.warmups,
        started_utc=started,
        ended_utc=utc_now(),
        environment=marked(environment, finished),
        process=read_process(finished, job, disturbed_retries),
    )


def drive(rig: Rig, argv: Sequence[str], limits: Limits, library: str) -> Finished:
    """Run the driver confined: of the run's folder it sees one library."""
    folder = rig.folder.path.resolve()
    view = View(folder, read=(rig.driver, folder / library))
    return run(argv, limits, view, env=DRIVER_ENVIRONMENT)


def marked(environment: Environment, finished: Finished) -> Environment:
    """Return the environment of a driver run, with a mark where it was emulated."""
    return msgspec.structs.replace(environment, emulated=True) if is_emulated(finished) else environment


def _library_of(rig: Rig, built: BuildInstance) -> tuple[str, Sha256]:
    """Return an instance's library and its digest.

    Raises:
        DriverError: when it is gone.
    """
    if built.library is None or built.library_sha256 is None or not (rig.folder.path / built.library).is_file():
        raise DriverError(f"{built.candidate}/{built.label}: its library is gone; run the build phase again")
    return built.library, built.library_sha256


def utc_now() -> str:
    """Return the time now as evidence writes it, to the microsecond."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="microseconds")
