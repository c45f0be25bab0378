"""From a run folder to evidence: records are put together from attempts and copied into ``data/<system>/``."""

import contextlib
import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from evidence import changes, signature, store, verify
from evidence.catalog import Catalog
from evidence.faults import Fault, FaultyError
from evidence.operations import Family, family_of
from evidence.types import Build, BuildInstance, Campaign, Change, KatStatus, Kex, Plan, Process, Profile, Record, Sizes
from measure.confine.process import Limits, run
from measure.errors import PublishError, StorageError
from measure.timing.attempts import Attempt, ProfileState, read
from measure.timing.plan import Operation, Step
from measure.timing.trials import (
    Rig,
    calibration_task,
    finished_attempt,
    operations,
    plans,
    remaining,
    trial_task,
    utc_now,
)

SIGNING_LIMITS = Limits(timeout_s=60)
REPLACED = "replaced"  # where old evidence lies for a moment


class Results(NamedTuple):
    """What a run folder holds: all instances, and those whose KAT result lets them be timed."""

    instances: Sequence[BuildInstance]
    timed: Sequence[BuildInstance]


class Target(NamedTuple):
    """Where to publish, what the catalog allows there, and the OpenSSH key that signs, if any."""

    data: Path
    people: Catalog
    signing_key: Path | None


def publish(rig: Rig, results: Results, target: Target) -> Path:
    """Copy a finished campaign into ``data/<system>/``, all or nothing, with its manifest; return that folder.

    Raises:
        PublishError: when operations are unfinished, files damaged, or the evidence would not pass verification.
        StorageError: when the data folder cannot be written.
    """
    if damaged := rig.folder.damaged():
        raise PublishError(
            f"{len(damaged)} file(s) damaged, first {damaged[0]}: run all phases again, or remove what is of no use"
        )
    unfinished = unfinished_operations(rig, results.timed)
    if unfinished:
        raise PublishError(
            f"{len(unfinished)} operation(s) unfinished, first {unfinished[0]}: run the time phase again"
        )
    refuse_emulated(rig, results.timed)
    campaign = rig.folder.campaign()
    if campaign is None:
        raise PublishError(f"{rig.folder.path}: no campaign was begun here: run the build phase first")
    ended = msgspec.structs.replace(campaign, ended_utc=utc_now(), environment_at_end=rig.environment())
    data = target.data
    try:
        data.mkdir(parents=True, exist_ok=True)
        prefix = f".publish-{ended.system_id}-"
        with _alone(data, prefix), tempfile.TemporaryDirectory(prefix=prefix, dir=data) as name:
            folder = Path(name) / ended.system_id
            _write(rig, ended, results, folder)
            _log(Path(name), data, ended)
            _prove(Path(name), target.people)
            if target.signing_key:
                sign(folder, target.signing_key)
            _swap(folder, data / ended.system_id, Path(name) / REPLACED)
    except OSError as error:
        raise StorageError(f"{data}: cannot be written: {error.strerror}; free space or change --data") from error
    rig.folder.write(rig.folder.campaign_file(), ended)
    return data / ended.system_id


def unfinished_operations(rig: Rig, timed: Sequence[BuildInstance]) -> list[str]:
    """Return the operations with trials still to run, and those that were never called, in order of name."""
    left = {str(step.operation) for step, _ in remaining(rig, timed)}
    known = operations(rig, timed).items()
    never = {str(one) for one, built in known if finished_attempt(rig, calibration_task(built, one)) is None}
    return sorted(left | never)


def sign(folder: Path, key: Path) -> None:
    """Sign a folder's manifest with ``ssh-keygen -Y``.

    Raises:
        PublishError: when the key cannot be used.
    """
    finished = run(signature.sign_argv(key.resolve(), folder / store.MANIFEST), SIGNING_LIMITS)
    if finished.exit_code != 0:
        said = " ".join(finished.stderr.text().split())
        raise PublishError(f"--sign {key}: cannot sign: {said or finished.how()}; needs ssh-keygen and a private key")


def refuse_emulated(rig: Rig, timed: Sequence[BuildInstance]) -> None:
    """Refuse what an emulator ran.

    Raises:
        PublishError: naming the first such operation.
    """
    observed = [(store.record_path(one), one.environment) for one in records(rig, timed)]
    observed += [(store.profile_path(one), one.environment) for one in profiles(rig, timed) if one.environment]
    emulated = [path for path, environment in observed if environment.emulated]
    if emulated:
        raise PublishError(
            f"{len(emulated)} result(s) come from an emulator, first {emulated[0]}: such figures say nothing about a "
            "machine; measure on the real one"
        )


def records(rig: Rig, timed: Sequence[BuildInstance]) -> list[Record]:
    """Return the record of every operation that was attempted, in table order."""
    planned = plans(rig, timed)
    found = []
    for operation, built in operations(rig, timed).items():
        plan = planned.get(operation)
        tasks = [trial_task(built, Step(operation, number, plan)) for number in range(plan.trials)] if plan else []
        # The calibrating call is the measurement where it failed or used up the budget.
        for chosen in (tasks, [calibration_task(built, operation)]):
            attempts = [attempt for task in chosen if (attempt := finished_attempt(rig, task))]
            if attempts:
                found.append(record(built, operation, plan, attempts))
                break
    return found


def profiles(rig: Rig, timed: Sequence[BuildInstance]) -> list[Profile]:
    """Return the profiles at hand that are of the library that was timed, in table order."""
    known = [
        (built, state)
        for operation, built in operations(rig, timed).items()
        if (state := read(rig.folder.profile_file(operation), ProfileState))
    ]
    return [state.profile for built, state in known if state.timed_sha256 == built.library_sha256]


def record(built: BuildInstance, operation: Operation, plan: Plan | None, attempts: Sequence[Attempt]) -> Record:
    """Put one record together from its attempts; it is complete when all of them are. Pure."""
    failed = [attempt.process for attempt in attempts if attempt.process.status != "complete"]
    first = attempts[0]
    if not (built.flags and built.library and built.library_sha256 and built.kat_log and built.kat_log_sha256):
        raise PublishError(f"{operation}: measured without a library or KAT log: run the build and kat phases again")
    return Record(
        schema=3,
        status="failed" if failed else "complete",
        reason=f"{failed[0].status}: {failed[0].reason}" if failed else None,
        candidate=built.candidate,
        label=built.label,
        instance=built.instance,
        variant=built.variant,
        flags=built.flags,
        operation=operation.operation,
        input_bytes=operation.input_bytes,
        plan=plan,
        kat=built.kat,
        library=built.library,
        library_sha256=built.library_sha256,
        kat_log=built.kat_log,
        kat_log_sha256=built.kat_log_sha256,
        sources_sha256=built.sources_sha256,
        driver_sha256=first.driver_sha256,
        started_utc=first.started_utc,
        ended_utc=attempts[-1].ended_utc,
        environment=first.environment,
        processes=tuple(attempt.process for attempt in attempts),
        sizes=largest_sizes([attempt.process for attempt in attempts]),
        build_flags=built.build_flags or "",
        timing_scope=timing_scope(operation),
        kex=largest_kex([attempt.process for attempt in attempts]),
        shard=first.shard,
    )


def timing_scope(operation: Operation) -> str:
    """Return what the clock ran over: a loop of calls, or of a key exchange's step the calls inside complete runs."""
    is_step = family_of(operation.candidate) is Family.KEX and operation.operation != "exchange"
    return "step" if is_step else "loop"


def largest_sizes(processes: Sequence[Process]) -> Sizes:
    """Return the largest of each size over the processes; a size that none saw stays absent."""
    seen = [process.sizes for process in processes if process.sizes]
    largest = {
        name: max((value for sizes in seen if (value := getattr(sizes, name)) is not None), default=None)
        for name in Sizes.__struct_fields__
    }
    return Sizes(**largest)


def largest_kex(processes: Sequence[Process]) -> Kex | None:
    """Return the largest messages and states of a key exchange over the processes; None for another family."""
    seen = [process.kex for process in processes if process.kex]
    if not seen:
        return None
    lists = {
        name: tuple(map(max, zip(*found, strict=True)))
        for name in ("message_bytes", "state_a_bytes", "state_b_bytes")
        if (found := [lengths for kex in seen if (lengths := getattr(kex, name)) is not None])
    }
    return msgspec.structs.replace(seen[0], **lists)


def may_be_timed(built: BuildInstance, people: Catalog) -> bool:
    """Return whether an instance is timed: on PASS, or where a footnote of the catalog says to measure."""
    if built.kat is KatStatus.PASS:
        return True
    if built.library is None:
        return False
    candidate = people.candidates.get(built.candidate)
    notes = [note for note in candidate.footnotes if note.matches(built.label)] if candidate else []
    return bool(notes) and all(note.action == "measure" for note in notes)


def _write(rig: Rig, campaign: Campaign, results: Results, folder: Path) -> None:
    store.write_atomically(folder / "campaign.json", store.encode(campaign))
    keyed = {f"{built.candidate}/{built.label}": built for built in results.instances}
    store.write_atomically(folder / "build.json", store.encode(Build(schema=3, instances=keyed)))
    for one in records(rig, results.timed):
        store.write_atomically(folder / store.record_path(one), store.encode(one))
    for profile in profiles(rig, results.timed):
        store.write_atomically(folder / store.profile_path(profile), store.encode(profile))
    for log in sorted(built.kat_log for built in results.instances if built.kat_log):
        store.write_atomically(folder / log, (rig.folder.path / log).read_bytes())


def _log(new: Path, data: Path, campaign: Campaign) -> None:
    """Write the system's change log, and the manifest last."""
    folder = new / campaign.system_id
    try:
        loaded = store.load_system(new, campaign.system_id)
    except FaultyError as error:
        raise _unfit(error.faults) from error
    entry = Change(
        published_utc=utc_now(),
        katalog_version=campaign.katalog_version or "",
        instances=len(loaded.build),
        records=len(loaded.records),
    )
    store.write_atomically(folder / store.CHANGES, store.encode(changes.updated(data, loaded, entry)))
    store.write_atomically(folder / store.MANIFEST, store.manifest(folder))


def _prove(data: Path, people: Catalog) -> None:
    """Load what would be published and verify it like any reader."""
    try:
        faults = verify.verify(data, people).faults
    except FaultyError as error:
        faults = error.faults
    if faults:
        raise _unfit(faults)


def _unfit(faults: Sequence[Fault]) -> PublishError:
    return PublishError(f"the evidence is not fit for publication, {len(faults)} fault(s), first: {faults[0]}")


@contextlib.contextmanager
def _alone(data: Path, prefix: str) -> Iterator[None]:
    """Publish into a folder one at a time, after mending what a kill left of an earlier time."""
    descriptor = os.open(data, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        for stray in data.iterdir():
            if re.fullmatch(re.escape(prefix) + "[a-z0-9_]{8}", stray.name):
                _mend(stray, data / prefix.removeprefix(".publish-").removesuffix("-"))
        yield
    finally:
        os.close(descriptor)


def _mend(stray: Path, target: Path) -> None:
    """Put back the evidence that was to be replaced, where it was taken away in vain, and remove the rest."""
    if (stray / REPLACED).is_dir() and not target.exists():
        (stray / REPLACED).rename(target)
    shutil.rmtree(stray, ignore_errors=True)


def _swap(new: Path, target: Path, aside: Path) -> None:
    """Put new evidence in the place of the old, in one step where the file system can."""
    if not (target.exists() and store.exchange(new, target)):
        if target.exists():
            target.rename(aside)
        try:
            new.rename(target)
        except BaseException:
            if aside.exists():
                aside.rename(target)
            raise
    store.sync_folder(target.parent)
