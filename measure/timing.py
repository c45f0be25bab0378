"""The timed part of a campaign: calibrate, plan, run the trials round by round. Finished attempts are kept."""

import datetime as dt
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from evidence.operations import FAMILIES, family_of
from evidence.types import BuildInstance, CounterUnit, Environment, Plan, Planning, Process
from measure import host
from measure.driver import DriverJob, read_process, time_argv
from measure.errors import DriverError
from measure.plan import Operation, Step, calibration_is_measurement, estimated_s, interleave, plan_operation
from measure.process import Limits, run
from measure.sources import file_sha256
from measure.state import Attempt, RunFolder, read

CALIBRATION_TIMEOUT_S = 4 * 3600.0
DISTURBED_BELOW = 0.95  # of the fixed clock
DISTURBED_RETRIES = 2
ADDRESS_SPACE_BYTES = 8 << 30
FILE_SIZE_BYTES = 1 << 20
DRIVER_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}


class Rig(NamedTuple):
    """What all driver processes of a run share. ``versions`` are those of the tools that built the libraries."""

    folder: RunFolder
    driver: Path
    driver_sha256: str
    cpu: int
    versions: host.Tools
    planning: Planning

    def environment(self) -> Environment:
        """Return the state of the machine now."""
        return host.environment(self.cpu, self.versions)


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
    return Rig(folder, driver.resolve(), file_sha256(driver), cpu, host.tools(), planning)


def operations(instances: Sequence[BuildInstance]) -> dict[Operation, BuildInstance]:
    """Return all operations of the instances, in table order, with the build that each belongs to."""
    return {
        Operation(built.candidate, built.label, name): built
        for built in instances
        for name in FAMILIES[family_of(built.candidate)].operations
    }


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
    for operation, built in operations(instances).items():
        task = calibration_task(built, operation)
        if finished_attempt(rig, task) is None:
            rig.folder.write(rig.folder.attempt_file(operation, "calibration"), perform(rig, task, 0))
        tell(1, str(operation))


def plans(rig: Rig, instances: Sequence[BuildInstance]) -> dict[Operation, Plan]:
    """Return the plan of every operation whose calibrating call went well."""
    found = {}
    for operation, built in operations(instances).items():
        calibration = finished_attempt(rig, calibration_task(built, operation))
        if calibration and calibration.process.status == "complete":
            found[operation] = plan_operation(calibration.process.trials[0].seconds, rig.planning)
    return found


def remaining(rig: Rig, instances: Sequence[BuildInstance]) -> list[tuple[Step, Task]]:
    """Return the trials still to be run, in the order to run them.

    None are left for an operation one of whose trials failed, or whose calibrating call used up its budget.
    """
    built_of = operations(instances)
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
    return calibration is not None and calibration_is_measurement(calibration.process.trials[0].seconds, rig.planning)


def run_trials(rig: Rig, instances: Sequence[BuildInstance], tell: Tell) -> None:
    """Run the remaining trials; after a failed one the rest of its operation is left out."""
    failed: set[Operation] = set()
    for step, task in remaining(rig, instances):
        if step.operation not in failed:
            attempt = _undisturbed(rig, task)
            rig.folder.write(rig.folder.attempt_file(step.operation, step.number), attempt)
            if attempt.process.status != "complete":
                failed.add(step.operation)
        tell(estimated_s(step), f"{step.operation} trial {step.number + 1} of {step.plan.trials}")


def _undisturbed(rig: Rig, task: Task) -> Attempt:
    """Run one trial, and again, at most twice, while its clock rate shows that it was disturbed."""
    for retries in range(DISTURBED_RETRIES + 1):
        attempt = perform(rig, task, retries)
        if not disturbed(attempt.process, host.fixed_clock_hz(attempt.environment)):
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
    built = task.built
    if built.library is None or built.library_sha256 is None or not (rig.folder.path / built.library).is_file():
        raise DriverError(f"{task.operation}: its library is gone; run the build phase again")
    environment = rig.environment()
    job = DriverJob(
        library=built.library,
        family=family_of(built.candidate),
        operation=task.operation.operation,
        iterations=task.iterations,
        warmups=task.warmups,
        cpu=rig.cpu,
        clock_hz=host.fixed_clock_hz(environment),
    )
    limits = Limits(task.timeout_s, address_space_bytes=ADDRESS_SPACE_BYTES, file_size_bytes=FILE_SIZE_BYTES)
    started = utc_now()
    finished = run(
        time_argv(rig.driver, job), limits, cwd=rig.folder.path, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"}
    )
    return Attempt(
        library_sha256=built.library_sha256,
        driver_sha256=rig.driver_sha256,
        iterations=task.iterations,
        warmups=task.warmups,
        started_utc=started,
        ended_utc=utc_now(),
        environment=environment,
        process=read_process(finished, job, disturbed_retries),
    )


def utc_now() -> str:
    """Return the time now as evidence writes it, to the microsecond."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="microseconds")
