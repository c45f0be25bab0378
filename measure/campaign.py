"""What the phases of a campaign share: what was asked for, where it lies, the host, the instances that may be timed."""

import hashlib
import os
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import msgspec

from evidence.catalog import Candidate, Catalog, Instance
from evidence.types import BuildInstance, Campaign, HostCheck, Planning
from measure import progress, publish
from measure.build import compiler, flags, library
from measure.driver import build as driver_build
from measure.driver import probe
from measure.errors import DriverError, HostError, ToolMissingError, UsageError
from measure.host import check, facts
from measure.timing import trials
from measure.timing.attempts import KatState, RunFolder, read, recovered


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
    defer: re.Pattern[str] | None
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
        environment = facts.environment(run.settings.cpu, facts.tools())
        begun = Campaign(
            schema=3,
            system_id=run.settings.system_id,
            started_utc=trials.utc_now(),
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
    problems = check.problems(probe.seen(driver, cpu, probe.probe(driver, cpu)))
    return HostCheck(phase=phase, cpu=cpu, utc=trials.utc_now(), problems=tuple(map(str, problems)))


def driver_program(settings: Settings) -> Path:
    """Build the driver with cmake, where it is not up to date, and return its path.

    Raises:
        ToolMissingError: when cmake or the compiler is not installed.
        BuildError: when it does not build.
        StorageError: when its folder cannot be written.
    """
    out = (settings.runs / "driver").resolve()
    compiler.compiler_version("gcc")
    if facts.tools().cmake is None:
        raise ToolMissingError("cmake is not installed; install it, for example with: apt install cmake")
    return driver_build.program(settings.root / "csrc", out)


def own_driver(run: Run) -> Path:
    """Return the driver as a copy in the run folder: another start may build a new one while this one measures.

    Raises:
        ToolMissingError, BuildError, StorageError: as ``driver_program`` does.
    """
    content = driver_program(run.settings).read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    kept = run.folder.path.resolve() / "driver" / digest / "driver"
    if not kept.is_file() or kept.read_bytes() != content:
        run.folder.write_bytes(kept, content)
    # Where root measures, it is run as another user.
    kept.chmod(0o755)
    return kept


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


def prepared(run: Run, chosen: Sequence[Chosen], phase: str) -> tuple[trials.Rig, list[BuildInstance]]:
    """Check the host; return what driver runs share, and the instances that may be timed."""
    driver = own_driver(run)
    check_host(run, phase, driver)
    rig = trials.rig(run.folder, driver, run.settings.cpu, run.settings.planning)
    timed = timed_instances(run, chosen)
    trials.learn(rig, timed)
    return rig, timed


def on_all_cores(
    run: Run, name: str, jobs: Sequence[library.BuildJob], work: Callable[[library.BuildJob], str]
) -> None:
    """Run a phase whose steps are independent and not timed, as many at once as there are cores."""
    with progress.phase(run.teller, name, len(jobs)) as shown, ThreadPoolExecutor(os.cpu_count()) as pool:
        try:
            for text in pool.map(work, jobs):
                shown.step(1, text)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
