"""The plan and time phases: calibrate, say how long it will take, time here or through a scheduler, keep account."""

import contextlib
import datetime as dt
import re
import time
from collections.abc import Iterator, Sequence
from functools import partial

import msgspec

from evidence.types import BuildInstance, Campaign, HostCheck, ParallelControl, TimedWork
from measure import progress
from measure.campaign import Chosen, Run, begin, prepared
from measure.cluster import returned, scheduler
from measure.timing import cores as workers
from measure.timing import trials

LONGEST_SHOWN = 15
CONTROLS_TRIED = 20


def plan_phase(run: Run, chosen: Sequence[Chosen]) -> list[str]:
    """Calibrate what is not calibrated yet, and return what the time phase will do, in lines."""
    rig, timed = prepared(run, chosen, "plan")
    with timed_work(run, rig, timed):
        _calibrate(run, rig, timed)
    return estimate(rig, timed, len(run.settings.cpus))


def time_phase(run: Run, chosen: Sequence[Chosen]) -> None:
    """Calibrate, plan and time all instances whose KAT result lets them be timed; deferred ones after all others."""
    rig, timed = prepared(run, chosen, "time")
    returned.take_in(run.folder)
    for part in parts(timed, run.settings.defer):
        if len(part) < len(timed):
            run.teller.say(f"time: {len(part)} of {len(timed)} instances now, --defer splits them")
        if run.settings.scheduler:
            time_remotely(run, rig, part, run.settings.scheduler)
        else:
            _drop_strangers(run, rig, part)
            with timed_work(run, rig, part):
                _time(run, rig, part)


def parts(timed: Sequence[BuildInstance], defer: re.Pattern[str] | None) -> list[list[BuildInstance]]:
    """Return the instances in the parts that are timed one after the other; those that ``defer`` matches are last."""
    later = [built for built in timed if defer and defer.search(workers.name_of(built))]
    return [part for part in ([built for built in timed if built not in later], later) if part]


def _drop_strangers(run: Run, rig: trials.Rig, timed: Sequence[BuildInstance]) -> None:
    for built in trials.drop_strangers(rig, timed, run.settings.cpus):
        run.teller.say(f"time: {workers.name_of(built)} was begun on another core or machine: measured again")


def _time(run: Run, rig: trials.Rig, timed: Sequence[BuildInstance]) -> None:
    cores = run.settings.cpus
    _calibrate(run, rig, timed)
    left = trials.remaining(rig, timed)
    if len(cores) > 1 and left and not _is_controlled(run):
        control = workers.control(rig, cores, [task for _, task in left[:CONTROLS_TRIED]])
        note_control(run, control)
    for line in estimate(rig, timed, len(cores)):
        run.teller.say(line)
    with progress.phase(run.teller, "time", sum(trials.expected_s(rig, step, task) for step, task in left)) as shown:
        workers.share_out(rig, cores, timed, trials.run_trials, shown.step)


def _calibrate(run: Run, rig: trials.Rig, timed: Sequence[BuildInstance]) -> None:
    with progress.phase(run.teller, "calibrate", len(trials.operations(rig, timed))) as shown:
        workers.share_out(rig, run.settings.cpus, timed, trials.calibrate, shown.step)


def estimate(rig: trials.Rig, timed: Sequence[BuildInstance], cores: int) -> list[str]:
    """Return what an operator is told before trials run: the longest operations, and how long all will take."""
    plans, left = trials.plans(rig, timed), trials.remaining(rig, timed)
    longest = sorted(plans.items(), key=lambda item: -item[1].estimated_s)[:LONGEST_SHOWN]
    lines = [
        f"{progress.duration(one.estimated_s):>12}  {f'{one.trials} × {one.iterations_per_trial}':>12}  {operation}"
        for operation, one in longest
    ]
    lines.append(
        f"{progress.duration(sum(one.estimated_s for one in plans.values())):>12}  in all, {len(plans)} operation(s)"
    )
    if failed := len(trials.operations(rig, timed)) - len(plans):
        lines.append(f"{failed} operation(s) failed their first call, and are not planned")
    seconds = sum(trials.expected_s(rig, step, task) for step, task in left) / cores
    end = progress.end_text(seconds, dt.datetime.now().astimezone()) if left else ""
    lines.append(f"time: {len(left)} trials left{f', about {progress.duration(seconds)}, {end}' if left else ''}")
    return lines


@contextlib.contextmanager
def timed_work(run: Run, rig: trials.Rig, timed: Sequence[BuildInstance]) -> Iterator[None]:
    """Add what is measured in a block, and the time that it takes, to the campaign's account."""
    before_s, begun_s = trials.timed_seconds(rig, timed), time.monotonic()
    try:
        yield
    finally:
        wall_s = (time.monotonic() - begun_s) * len(run.settings.cpus)
        account(run, trials.timed_seconds(rig, timed) - before_s, wall_s)


def account(run: Run, timed_s: float, wall_s: float) -> None:
    """Add to what is known of a campaign's timed work."""
    begun = begin(run)
    known = begun.timed_work or TimedWork(timed_s=0, wall_s=0)
    # Attempts may have been removed meanwhile, and clocks of other machines set back.
    now = TimedWork(timed_s=known.timed_s + max(timed_s, 0.0), wall_s=known.wall_s + max(wall_s, 0.0))
    run.folder.write(run.folder.campaign_file(), msgspec.structs.replace(begun, timed_work=now))


def timed_work_text(begun: Campaign) -> str | None:
    """Return how much of the measuring time was timed work; None where nothing was measured."""
    work = begun.timed_work
    if work is None or work.wall_s == 0:
        return None
    return f"{work.timed_s / work.wall_s:.1%} of {progress.duration(work.wall_s)} of measuring was timed work"


def _is_controlled(run: Run) -> bool:
    """Return whether it is known what work on these cores does to a figure."""
    control = begin(run).parallel_control
    return control is not None and set(control.cpus) == set(run.settings.cpus)


def time_remotely(run: Run, rig: trials.Rig, timed: Sequence[BuildInstance], address: str) -> None:
    """Have workers time the instances that are not finished."""
    settings = run.settings
    left = [built for built in timed if not trials.is_finished(rig, built)]
    run.teller.say(f"time: {len(left)} instance(s) for the workers of {address}")
    if not left:
        return
    strict = settings.planning.name == "full" and not settings.allow_unfixed_host
    # Where something is measured already, the rest must be like it.
    begun = next((one.environment for built in timed for one in trials.attempts(rig, built)), None)
    wanted = scheduler.terms(rig, address, begun or rig.environment(), refuses_problems=strict)
    try:
        with progress.phase(run.teller, "time", len(left)) as shown:
            say = partial(_say_time, run)
            scheduler.hand_out(rig, left, wanted, scheduler.Hooks(say, partial(note_worker, run), shown.step))
    finally:
        done = [built for built in left if trials.is_finished(rig, built)]
        account(run, trials.timed_seconds(rig, done), sum(trials.span_seconds(rig, built) for built in done))


def _say_time(run: Run, text: str) -> None:
    run.teller.say(f"time: {text}")


def note_worker(run: Run, check: HostCheck) -> str:
    """Put a worker on record, and return the name that it has there."""
    begun = begin(run)
    shard_cpus = begun.shard_cpus or {}
    name = f"worker-{len(shard_cpus) + 1}"
    now = msgspec.structs.replace(
        begun,
        host_checks=(*begun.host_checks, msgspec.structs.replace(check, shard=name)),
        host_problems=tuple(sorted({*begun.host_problems, *check.problems})),
        shards=len(shard_cpus) + 1,
        shard_cpus={**shard_cpus, name: check.cpu},
    )
    run.folder.write(run.folder.campaign_file(), now)
    return name


def note_control(run: Run, control: ParallelControl | None) -> None:
    """Keep what parallel work does to a figure, and say it."""
    if control is None:
        run.teller.say(
            "time: no operation goes well in a control run: what parallel work does to a figure is not known"
        )
        return
    now = msgspec.structs.replace(begin(run), parallel_control=control, shards=len(control.cpus))
    run.folder.write(run.folder.campaign_file(), now)
    change = control.together_s / control.alone_s - 1
    run.teller.say(f"time: beside {len(control.cpus) - 1} other core(s) a call takes {change:+.2%} of its time more")
