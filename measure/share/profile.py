"""The share of helper functions: a second library of the same sources, whose calls of helpers go through wrappers."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from evidence.operations import Family, family_of
from evidence.types import BuildInstance, FlagSet, Profile
from measure.build import helpers
from measure.build.library import BuildJob, Built, build_with
from measure.confine.process import Limits
from measure.driver.dialogue import DriverJob, profile_argv, read_profile
from measure.errors import BuildError, DriverError, StorageError
from measure.share import escapes
from measure.source.fetch import sources_sha256
from measure.timing import trials
from measure.timing.attempts import Profiled, ProfileState, RunFolder, read
from measure.timing.plan import TIMEOUT_EXTRA_S, TIMEOUT_FACTOR, Operation, profile_operations, warmup_calls

LIB = "profile"  # folder of the profiled libraries, below the candidate's
COMPLETE, NOT_MEASURABLE, FAILED = "complete", "not measurable", "failed"


class Work(NamedTuple):
    """One instance to profile: its result so far, and the build that its timed library came from."""

    built: BuildInstance
    job: BuildJob


def concerns(built: BuildInstance) -> bool:
    """Return whether a profile says anything about an instance: a hash function is a primitive itself."""
    return family_of(built.candidate) is not Family.HASH


def make_library(folder: RunFolder, work: Work) -> Profiled:
    """Return the profiled library of an instance, built where it is not at hand, with what escapes its wrappers."""
    file = folder.profiled_file(work.built.candidate, work.built.label)
    key = library_key(work)
    known = read(file, Profiled)
    if known and known.key == key and not known.built.killed and folder.holds(known.built):
        return known
    built = build_with(profiled_job(folder, work), work.built.flags or FlagSet.GUIDE)
    made = Profiled(key=key, built=built, **_judged(folder, work, built))
    folder.write(file, made)
    return made


def library_key(work: Work) -> str:
    """Return a digest of all that a profiled library depends on: the timed one, our C files and table, this module."""
    csrc = work.job.csrc / "profile"
    ours = sources_sha256(sorted(csrc.iterdir()), csrc)
    return _digest(work.built.library_sha256 or "", ours, helpers.set_of(work.job.instance), *escapes.COMPILE_FLAGS)


def profiled_job(folder: RunFolder, work: Work) -> BuildJob:
    """Return the build of the profiled library: without link-time optimisation, the wrappers linked in."""
    job, name = work.job, helpers.set_of(work.job.instance)
    wanted = helpers.load_sets(job.csrc)[name]
    wrappers = (folder.path / "wrappers" / f"{name}.c").resolve()
    content = helpers.wrappers(wanted).encode()
    if not wrappers.is_file() or wrappers.read_bytes() != content:
        folder.write_bytes(wrappers, content)
    return job._replace(
        extra_sources=((job.csrc / "profile" / "profile.c").resolve(), wrappers),
        compile_flags=escapes.COMPILE_FLAGS,
        link_flags=(*escapes.LINK_FLAGS, *helpers.link_flags(wanted)),
        lib=LIB,
    )


def _judged(folder: RunFolder, work: Work, built: Built) -> dict[str, str]:
    """Say whether a profiled library can serve."""
    if built.library is None:
        return {"status": FAILED, "reason": f"the library with wrappers does not build: {built.reason}"}
    symbols = [one.symbol for one in helpers.load_sets(work.job.csrc)[helpers.set_of(work.job.instance)]]
    try:
        found = escapes.escapes(folder.path / built.library, symbols)
    except BuildError as error:
        return {"status": FAILED, "reason": str(error)}
    if not found:
        return {"status": COMPLETE}
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    return {"status": NOT_MEASURABLE, "reason": f"calls escape the wrappers: {found[0]} in the same object file{more}"}


class Task(NamedTuple):
    """One operation to profile; the cost of a call is that of its calibration."""

    work: Work
    profiled: Profiled
    operation: Operation
    call_s: float

    def operations(self, rig: trials.Rig) -> int:
        """Return how many operations to count."""
        return profile_operations(self.call_s, rig.planning)


def tasks(rig: trials.Rig, made: Sequence[tuple[Work, Profiled]]) -> list[Task]:
    """Return the operations to profile: those whose calibrating call went well."""
    found = []
    for work, profiled in made:
        for operation in trials.operations_of(rig, work.built):
            calibration = trials.finished_attempt(rig, trials.calibration_task(work.built, operation))
            if calibration and calibration.process.status == "complete":
                found.append(Task(work, profiled, operation, trials.call_seconds(calibration)))
    return found


def run_all(rig: trials.Rig, wanted: Sequence[Task], tell: trials.Tell) -> None:
    """Profile what has no result yet."""
    for task in wanted:
        key = task_key(rig, task)
        known = read(rig.folder.profile_file(task.operation), ProfileState)
        if known is None or known.key != key:
            state = ProfileState(key=key, timed_sha256=task.work.built.library_sha256 or "", profile=perform(rig, task))
            rig.folder.write(rig.folder.profile_file(task.operation), state)
        tell(task.call_s * task.operations(rig), str(task.operation))


def task_key(rig: trials.Rig, task: Task) -> str:
    """Return a digest of what a profile depends on."""
    return _digest(
        task.profiled.key, task.profiled.built.library_sha256 or "", rig.driver_sha256, str(task.operations(rig))
    )


def perform(rig: trials.Rig, task: Task) -> Profile:
    """Run the driver over a profiled library, or say why that is to no purpose."""
    operation, profiled = task.operation, task.profiled
    known = Profile(
        schema=3,
        candidate=operation.candidate,
        label=operation.label,
        operation=operation.operation,
        input_bytes=operation.input_bytes,
        status=profiled.status,
        reason=profiled.reason,
        library_sha256=profiled.built.library_sha256,
    )
    if profiled.status != COMPLETE or profiled.built.library is None:
        return known
    return _observed(rig, task, known, profiled.built.library)


def _observed(rig: trials.Rig, task: Task, known: Profile, library: str) -> Profile:
    if not (rig.folder.path / library).is_file():
        raise StorageError(f"{task.operation}: its profiled library is gone; run the profile phase again")
    job = DriverJob(
        library=library,
        family=family_of(task.operation.candidate),
        operation=task.operation.operation,
        iterations=task.operations(rig),
        warmups=warmup_calls(task.call_s),
        cpu=rig.cpu,
        clock_hz=None,
        input_bytes=task.operation.input_bytes,
    )
    timeout_s = TIMEOUT_FACTOR * (job.iterations + job.warmups) * task.call_s + TIMEOUT_EXTRA_S
    limits = Limits(timeout_s, trials.ADDRESS_SPACE_BYTES, trials.FILE_SIZE_BYTES)
    environment, started = rig.environment(), trials.utc_now()
    finished = trials.drive(rig, profile_argv(rig.driver, job), limits, library)
    observed = read_profile(finished, job)
    facts = {
        "driver_sha256": rig.driver_sha256,
        "started_utc": started,
        "environment": trials.marked(environment, finished),
        "roles": _roles(task.work.job, observed),
    }
    try:
        return msgspec.convert(msgspec.to_builtins(known) | msgspec.to_builtins(facts) | observed, Profile)
    except msgspec.ValidationError as error:
        raise DriverError(f"{task.operation}: the driver's profile is not as agreed: {error}") from error


def _roles(job: BuildJob, observed: Mapping[str, Any]) -> dict[str, str] | None:
    """Return the roles of the functions that were called; None where none was."""
    known = helpers.roles(helpers.load_sets(job.csrc)[helpers.set_of(job.instance)])
    called = {call["fn"] for call in observed.get("calls", ())}
    return {fn: role for fn, role in known.items() if fn in called} or None


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
