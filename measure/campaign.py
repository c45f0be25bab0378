"""The phases of a campaign, in order: build, kat, time, profile, publish. Each keeps what is finished."""

import contextlib
import datetime as dt
import hashlib
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import msgspec

from evidence import store
from evidence.catalog import Candidate, Catalog, Instance
from evidence.types import BuildInstance, Campaign, HostCheck, ParallelControl, Planning, TimedWork
from measure import (
    build,
    driverbuild,
    flags,
    host,
    hostcheck,
    objects,
    probing,
    profile,
    progress,
    publish,
    remote,
    returned,
    sources,
    timing,
    workers,
)
from measure.errors import BuildError, DriverError, HostError, ToolMissingError, UsageError
from measure.kat import gate
from measure.state import BuildState, KatState, Profiled, RunFolder, read, recovered

LONGEST_SHOWN = 15


class Chosen(NamedTuple):
    """One instance that a run is about."""

    candidate: Candidate
    instance: Instance

    def __str__(self) -> str:
        """Return ``candidate/label``."""
        return f"{self.candidate.id}/{self.instance.label}"


class Settings(NamedTuple):
    """What a run was asked for; paths as given."""

    root: Path  # the checkout: csrc/ lies here, and local sources are relative to it
    runs: Path
    data: Path
    system_id: str
    cpus: tuple[int, ...]  # the measuring cores
    planning: Planning
    only: str | None
    defer: str | None
    allow_unfixed_host: bool
    signing_key: Path | None
    scheduler: str | None = None  # hands out the timing to other machines
    as_json: bool = False  # what `check` prints

    @property
    def cpu(self) -> int:
        """Return the core of everything that is not shared out."""
        return self.cpus[0]


class Run(NamedTuple):
    """A run under way: its settings, its folder, the catalog, and where it talks to the operator."""

    settings: Settings
    folder: RunFolder
    people: Catalog
    teller: progress.Teller


def run_folder(settings: Settings) -> Path:
    """Return the folder of a run: one per system and plan, since a folder keeps one plan."""
    return settings.runs / settings.system_id / (settings.planning.name or "plan")


def choose(people: Catalog, only: str | None, planning: Planning) -> list[Chosen]:
    """Return the instances to measure: those that ``only`` (a regular expression over candidate/label) matches.

    Without it, the quick plan takes the first instance of each candidate and the full plan takes all.

    Raises:
        UsageError: when the expression is none, or nothing matches it.
    """
    pattern = expression("--only", only or "")
    candidates = people.candidates.values()
    known = [Chosen(candidate, instance) for candidate in candidates for instance in candidate.instances]
    if only is None and planning.name == "quick":
        return [chosen for chosen in known if chosen.instance is chosen.candidate.instances[0]]
    matching = [chosen for chosen in known if pattern.search(str(chosen))]
    if not matching:
        names = ", ".join(candidate.id for candidate in candidates if candidate.instances)
        raise UsageError(f"--only {only!r} matches no candidate/label; candidates that can be built: {names}")
    return matching


def expression(option: str, text: str) -> re.Pattern[str]:
    """Return an option's regular expression.

    Raises:
        UsageError: when it is none.
    """
    try:
        return re.compile(text)
    except re.error as error:
        raise UsageError(f"{option} {text!r} is no regular expression: {error}") from error


def begin(run: Run) -> Campaign:
    """Return the campaign, noting its start at the very first phase."""
    begun = run.folder.campaign()
    if begun is None:
        environment = host.environment(run.settings.cpu, host.tools())
        begun = Campaign(
            schema=3,
            system_id=run.settings.system_id,
            started_utc=timing.utc_now(),
            environment_at_start=environment,
            arch_config=flags.arch_config(environment.architecture or ""),
            harness_additions=flags.HARNESS_ADDITIONS,
            harness_default=flags.HARNESS_DEFAULT,
            planning=run.settings.planning,
            host_problems=(),
            katalog_version=metadata.version("katalog"),
        )
        begun = recovered(run.folder, begun)
        run.folder.write(run.folder.campaign_file(), begun)
    return begun


def check_host(run: Run, phase: str, driver: Path) -> None:
    """Check the measuring cores at the start of a phase that measures, and keep what was found.

    Raises:
        HostError: when the host is not fit for a full plan, unless that is allowed.
    """
    settings = run.settings
    begun = begin(run)
    checks = [_checked(phase, driver, cpu) for cpu in settings.cpus]
    found = sorted({problem for check in checks for problem in check.problems})
    if found and settings.planning.name == "full" and not settings.allow_unfixed_host:
        raise HostError(
            f"the host is not fit for a full plan: {'; '.join(found)} "
            "(mend it, see `python -m measure check`, or say --allow-unfixed-host to measure and label it so)"
        )
    now = msgspec.structs.replace(
        begun,
        host_checks=(*begun.host_checks, *checks),
        host_problems=tuple(sorted({*begun.host_problems, *found})),
        unfixed_host_allowed=begun.unfixed_host_allowed or settings.allow_unfixed_host or None,
    )
    run.folder.write(run.folder.campaign_file(), now)


def _checked(phase: str, driver: Path, cpu: int) -> HostCheck:
    problems = hostcheck.problems(probing.seen(driver, cpu, probing.probe(driver, cpu)))
    return HostCheck(phase=phase, cpu=cpu, utc=timing.utc_now(), problems=tuple(map(str, problems)))


def build_phase(run: Run, chosen: Sequence[Chosen]) -> None:
    """Fetch sources and build the libraries that are not there yet, on all cores."""
    begin(run)
    fetched = fetch(run, chosen)
    jobs = [build_job(run, one, fetched[one.candidate.id]) for one in chosen]
    # An archive's digest stands for what was unpacked from it.
    trees = {name: one.archive_sha256 or objects.Tree(one.folder).sha256 for name, one in fetched.items()}
    _on_all_cores(run, "build", jobs, lambda job: _build_one(run, job, trees[job.candidate.id]))


def fetch(run: Run, chosen: Sequence[Chosen]) -> dict[str, sources.Fetched]:
    """Return the sources of all candidates, by id.

    Raises:
        BuildError: when a candidate has no source.
        SourceError: when sources are not to be had.
    """
    fetched = {}
    for candidate in {one.candidate.id: one.candidate for one in chosen}.values():
        if candidate.source is None:
            raise BuildError(f"{candidate.id}: has no source in the catalog")
        fetched[candidate.id] = sources.fetch(candidate.source, run.settings.runs / "sources", run.settings.root)
    return fetched


def build_job(run: Run, one: Chosen, fetched: sources.Fetched) -> build.BuildJob:
    """Return the build of one instance."""
    csrc = (run.settings.root / "csrc").resolve()
    kept = run.settings.runs / "objects"
    return build.BuildJob(one.candidate, one.instance, fetched, csrc, run.folder.path.resolve(), objects=kept)


def _build_one(run: Run, job: build.BuildJob, tree_sha256: str) -> str:
    file = run.folder.build_file(job.candidate.id, job.instance.label)
    key = build_key(job, tree_sha256)
    state = read(file, BuildState)
    # A failed build is tried again: what it lacked may be installed by now.
    if state and state.key == key and state.built.library and _is_kept(run, job, state):
        return f"{job.candidate.id}/{job.instance.label}: kept"
    built = build.build(job)
    run.folder.write(file, BuildState(key=key, built=built))
    return f"{job.candidate.id}/{job.instance.label}: {built.flags.value if built.library else built.reason}"


def build_key(job: build.BuildJob, tree_sha256: str) -> str:
    """Return a digest of all that a build depends on: recipe, sources, our C files, compiler, architecture."""
    ours = sorted(file for folder in ("iccs", "shim", "adapters") for file in (job.csrc / folder).glob("*.[ch]"))
    parts = (
        msgspec.json.encode(job.instance, order="sorted"),
        tree_sha256.encode(),
        sources.sources_sha256(ours, job.csrc).encode(),
        objects.compiler_version(job.compiler).encode(),
        job.architecture.encode(),
    )
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def _is_kept(run: Run, job: build.BuildJob, state: BuildState) -> bool:
    """Return whether a library is there as it was built, or as the known-answer test left it with other flags."""
    tested = read(run.folder.result_file(job.candidate.id, job.instance.label), KatState)
    return run.folder.holds(state.built) or bool(
        tested and tested.key == state.key and tested.result.library and run.folder.holds(tested.result)
    )


def kat_phase(run: Run, chosen: Sequence[Chosen]) -> None:
    """Run the known-answer tests that have no result yet, on all cores; rebuild tolerantly where one fails."""
    begin(run)
    _on_all_cores(run, "kat", jobs_of(run, chosen), lambda job: _kat_one(run, job))


def jobs_of(run: Run, chosen: Sequence[Chosen]) -> list[build.BuildJob]:
    """Return the builds of instances that the build phase has been over.

    Raises:
        UsageError: when it has not.
        BuildError: when a candidate has no source.
    """
    for one in chosen:
        if read(run.folder.build_file(one.candidate.id, one.instance.label), BuildState) is None:
            raise UsageError(f"{one}: is not built yet: run `python -m measure build` first")
    fetched = fetch(run, chosen)
    return [build_job(run, one, fetched[one.candidate.id]) for one in chosen]


def _kat_one(run: Run, job: build.BuildJob) -> str:
    name = f"{job.candidate.id}/{job.instance.label}"
    state = read(run.folder.build_file(job.candidate.id, job.instance.label), BuildState)
    if state is None:
        raise UsageError(f"{name}: is not built yet: run `python -m measure build` first")
    file = run.folder.result_file(job.candidate.id, job.instance.label)
    done = read(file, KatState)
    if done and done.key == state.key and _still_holds(run.folder, done.result, state.built):
        return f"{name}: {done.result.kat.value} (kept)"
    # The library there may be one of other flags, or damaged.
    checked = gate.check(job, state.built if run.folder.holds(state.built) else build.build(job))
    log = store.kat_log_path(job.candidate.id, job.instance.label) if checked.kat else None
    if checked.kat and log:
        run.folder.write_bytes(run.folder.path / log, checked.kat.log.encode())
    result = gate.record(job, checked, log)
    run.folder.write(file, KatState(key=state.key, result=result))
    return f"{name}: {result.kat.value}"


def _still_holds(folder: RunFolder, result: BuildInstance, built: build.Built) -> bool:
    """Return whether a known-answer test need not be run again: not where there was no library then."""
    tested = result.library is not None and built.library is not None
    return tested and folder.holds(result) and folder.holds_log(result)


def _on_all_cores(run: Run, name: str, jobs: Sequence[build.BuildJob], work: Callable[[build.BuildJob], str]) -> None:
    """Run a phase whose steps are independent and not timed, as many at once as there are cores."""
    with progress.phase(run.teller, name, len(jobs)) as shown, ThreadPoolExecutor(os.cpu_count()) as pool:
        try:
            for text in pool.map(work, jobs):
                shown.step(1, text)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def driver_program(settings: Settings) -> Path:
    """Build the driver with cmake, where it is not up to date, and return its path.

    Raises:
        ToolMissingError: when cmake or the compiler is not installed.
        BuildError: when it does not build.
        StorageError: when its folder cannot be written.
    """
    out = (settings.runs / "driver").resolve()
    objects.compiler_version("gcc")
    if host.tools().cmake is None:
        raise ToolMissingError("cmake is not installed; install it, for example with: apt install cmake")
    return driverbuild.program(settings.root / "csrc", out)


def plan_phase(run: Run, chosen: Sequence[Chosen]) -> list[str]:
    """Calibrate what is not calibrated yet, and return what the time phase will do, in lines."""
    rig, timed = _prepared(run, chosen, "plan")
    with timed_work(run, rig, timed):
        _calibrate(run, rig, timed)
    return estimate(rig, timed, len(run.settings.cpus))


def time_phase(run: Run, chosen: Sequence[Chosen]) -> None:
    """Calibrate, plan and time all instances whose KAT result lets them be timed; deferred ones after all others."""
    rig, timed = _prepared(run, chosen, "time")
    returned.take_in(run.folder)
    for part in parts(timed, run.settings.defer):
        if run.settings.scheduler:
            time_remotely(run, rig, part, run.settings.scheduler)
        else:
            with timed_work(run, rig, part):
                _time(run, rig, part)


def _prepared(run: Run, chosen: Sequence[Chosen], phase: str) -> tuple[timing.Rig, list[BuildInstance]]:
    """Check the host; return what driver runs share, and the instances that may be timed."""
    driver = driver_program(run.settings)
    check_host(run, phase, driver)
    rig = timing.rig(run.folder, driver, run.settings.cpu, run.settings.planning)
    timed = timed_instances(run, chosen)
    timing.learn(rig, timed)
    return rig, timed


def parts(timed: Sequence[BuildInstance], defer: str | None) -> list[list[BuildInstance]]:
    """Return the instances in the parts that are timed one after the other: those that ``defer`` matches are the last.

    Raises:
        UsageError: when ``defer`` is no regular expression.
    """
    if defer is None:
        return [list(timed)]
    pattern = expression("--defer", defer)
    later = [built for built in timed if pattern.search(workers.name_of(built))]
    return [part for part in ([built for built in timed if built not in later], later) if part]


def _time(run: Run, rig: timing.Rig, timed: Sequence[BuildInstance]) -> None:
    cores = run.settings.cpus
    _calibrate(run, rig, timed)
    left = timing.remaining(rig, timed)
    if len(cores) > 1 and left and not _is_controlled(run):
        note_control(run, workers.control(rig, cores, left[0][1]))
    for line in estimate(rig, timed, len(cores)):
        run.teller.say(line)
    with progress.phase(run.teller, "time", sum(timing.expected_s(rig, step, task) for step, task in left)) as shown:
        workers.share_out(rig, cores, timed, timing.run_trials, shown.step)


def _calibrate(run: Run, rig: timing.Rig, timed: Sequence[BuildInstance]) -> None:
    with progress.phase(run.teller, "calibrate", len(timing.operations(rig, timed))) as shown:
        workers.share_out(rig, run.settings.cpus, timed, timing.calibrate, shown.step)


def estimate(rig: timing.Rig, timed: Sequence[BuildInstance], cores: int) -> list[str]:
    """Return what an operator is told before trials run: the longest operations, and how long all will take."""
    plans, left = timing.plans(rig, timed), timing.remaining(rig, timed)
    longest = sorted(plans.items(), key=lambda item: -item[1].estimated_s)[:LONGEST_SHOWN]
    lines = [
        f"{progress.duration(one.estimated_s):>12}  {f'{one.trials} × {one.iterations_per_trial}':>12}  {operation}"
        for operation, one in longest
    ]
    lines.append(
        f"{progress.duration(sum(one.estimated_s for one in plans.values())):>12}  in all, {len(plans)} operation(s)"
    )
    if failed := len(timing.operations(rig, timed)) - len(plans):
        lines.append(f"{failed} operation(s) failed their first call, and are not planned")
    seconds = sum(timing.expected_s(rig, step, task) for step, task in left) / cores
    end = progress.end_text(seconds, dt.datetime.now().astimezone()) if left else ""
    lines.append(f"time: {len(left)} trials left{f', about {progress.duration(seconds)}, {end}' if left else ''}")
    return lines


@contextlib.contextmanager
def timed_work(run: Run, rig: timing.Rig, timed: Sequence[BuildInstance]) -> Iterator[None]:
    """Add what is measured in a block, and the time that it takes, to the campaign's account."""
    before_s, begun_s = timing.timed_seconds(rig, timed), time.monotonic()
    try:
        yield
    finally:
        wall_s = (time.monotonic() - begun_s) * len(run.settings.cpus)
        account(run, timing.timed_seconds(rig, timed) - before_s, wall_s)


def account(run: Run, timed_s: float, wall_s: float) -> None:
    """Add to what is known of a campaign's timed work."""
    begun = begin(run)
    known = begun.timed_work or TimedWork(timed_s=0, wall_s=0)
    now = TimedWork(timed_s=known.timed_s + timed_s, wall_s=known.wall_s + wall_s)
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


def time_remotely(run: Run, rig: timing.Rig, timed: Sequence[BuildInstance], scheduler: str) -> None:
    """Have workers time the instances that are not finished."""
    settings = run.settings
    left = [built for built in timed if not returned.is_finished(rig, built)]
    run.teller.say(f"time: {len(left)} instance(s) for the workers of {scheduler}")
    if not left:
        return
    strict = settings.planning.name == "full" and not settings.allow_unfixed_host
    wanted = remote.terms(rig, scheduler, begin(run).environment_at_start, refuses_problems=strict)
    try:
        with progress.phase(run.teller, "time", len(left)) as shown:
            say = partial(_say_time, run)
            remote.hand_out(rig, left, wanted, remote.Hooks(say, partial(note_worker, run), shown.step))
    finally:
        done = [built for built in left if returned.is_finished(rig, built)]
        account(run, timing.timed_seconds(rig, done), sum(timing.span_seconds(rig, built) for built in done))


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


def note_control(run: Run, control: ParallelControl) -> None:
    """Keep what parallel work does to a figure, and say it."""
    now = msgspec.structs.replace(begin(run), parallel_control=control, shards=len(control.cpus))
    run.folder.write(run.folder.campaign_file(), now)
    change = control.together_s / control.alone_s - 1
    run.teller.say(f"time: beside {len(control.cpus) - 1} other core(s) a call takes {change:+.2%}")


def profile_phase(run: Run, chosen: Sequence[Chosen]) -> None:
    """Count the helper calls of all instances that were timed, on libraries of their own."""
    rig, timed = _prepared(run, chosen, "profile")
    may_be = {(built.candidate, built.label): built for built in timed}
    works = [
        profile.Work(built, job)
        for job in jobs_of(run, chosen)
        if (built := may_be.get((job.candidate.id, job.instance.label))) and profile.concerns(built)
    ]
    made = _profiled_libraries(run, works)
    wanted = profile.tasks(rig, made)
    total_s = sum(task.call_s * task.operations(rig) for task in wanted)
    with progress.phase(run.teller, "profile", total_s) as shown:
        profile.run_all(rig, wanted, shown.step)


def _profiled_libraries(run: Run, works: Sequence[profile.Work]) -> list[tuple[profile.Work, Profiled]]:
    """Build the profiled libraries on all cores."""
    made: dict[str, Profiled] = {}

    def make(job: build.BuildJob) -> str:
        name = f"{job.candidate.id}/{job.instance.label}"
        made[name] = profile.make_library(run.folder, by_name[name])
        return f"{name}: {made[name].reason or made[name].status}"

    by_name = {f"{work.built.candidate}/{work.built.label}": work for work in works}
    _on_all_cores(run, "wrap", [work.job for work in works], make)
    return [(work, made[name]) for name, work in by_name.items()]


def timed_instances(run: Run, chosen: Sequence[Chosen]) -> list[BuildInstance]:
    """Return the results of the chosen instances that may be timed.

    Raises:
        UsageError: when an instance has no KAT result yet.
        DriverError: when its library is gone or damaged.
    """
    found = []
    for one in chosen:
        state = read(run.folder.result_file(one.candidate.id, one.instance.label), KatState)
        if state is None:
            raise UsageError(f"{one}: has no KAT result yet: run `python -m measure kat` first")
        if publish.may_be_timed(state.result, run.people):
            if not run.folder.holds(state.result):
                raise DriverError(f"{one}: its library is gone or damaged: run the build and kat phases again")
            found.append(state.result)
    return found


def publish_phase(run: Run) -> Path:
    """Copy everything that the run folder holds into the data folder; return the system's folder there."""
    driver = driver_program(run.settings)
    rig = timing.rig(run.folder, driver, run.settings.cpu, run.settings.planning)
    results = run.folder.results()
    if not results:
        raise UsageError(f"{run.folder.path}: holds no KAT result: run `python -m measure run` first")
    timed = [built for built in results if publish.may_be_timed(built, run.people)]
    target = publish.Target(run.settings.data, run.people, run.settings.signing_key)
    return publish.publish(rig, publish.Results(results, timed), target)
