"""The phases of a campaign around its timing: build, kat, profile, publish. Each keeps what is finished."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import msgspec

from evidence import store
from evidence.types import BuildInstance
from measure import progress, publish
from measure.build import compiler, library
from measure.campaign import Chosen, Run, begin, on_all_cores, own_driver, prepared
from measure.errors import BuildError, UsageError
from measure.kat import gate
from measure.share import profile
from measure.source import fetch as sources
from measure.timing import trials
from measure.timing.attempts import BuildState, KatState, Profiled, RunFolder, read


def build_phase(run: Run, chosen: Sequence[Chosen]) -> None:
    """Fetch sources and build the libraries that are not there yet, on all cores."""
    begin(run)
    fetched = fetch(run, chosen)
    jobs = [build_job(run, one, fetched[one.candidate.id]) for one in chosen]
    # An archive's digest stands for what was unpacked from it.
    trees = {name: one.archive_sha256 or compiler.tree_sha256(one.folder) for name, one in fetched.items()}
    on_all_cores(run, "build", jobs, lambda job: _build_one(run, job, trees[job.candidate.id]))


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


def build_job(run: Run, one: Chosen, fetched: sources.Fetched) -> library.BuildJob:
    """Return the build of one instance."""
    csrc = (run.settings.root / "csrc").resolve()
    return library.BuildJob(one.candidate, one.instance, fetched, csrc, run.folder.path.resolve())


def _build_one(run: Run, job: library.BuildJob, tree_sha256: str) -> str:
    file = run.folder.build_file(job.candidate.id, job.instance.label)
    key = build_key(job, tree_sha256)
    state = read(file, BuildState)
    # A failed build is tried again: what it lacked may be installed by now.
    if state and state.key == key and state.built.library and _is_kept(run, job, state):
        return f"{job.candidate.id}/{job.instance.label}: kept"
    built = library.build(job)
    run.folder.write(file, BuildState(key=key, built=built))
    return f"{job.candidate.id}/{job.instance.label}: {built.flags.value if built.library else built.reason}"


def build_key(job: library.BuildJob, tree_sha256: str) -> str:
    """Return a digest of all that a build depends on: recipe, sources, our C files, compiler, architecture."""
    ours = sorted(file for folder in ("iccs", "shim", "adapters") for file in (job.csrc / folder).glob("*.[ch]"))
    parts = (
        msgspec.json.encode(job.instance, order="sorted"),
        tree_sha256.encode(),
        sources.sources_sha256(ours, job.csrc).encode(),
        compiler.compiler_version(job.compiler).encode(),
        job.architecture.encode(),
    )
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def _is_kept(run: Run, job: library.BuildJob, state: BuildState) -> bool:
    """Return whether a library is there as it was built, or as the known-answer test left it with other flags."""
    tested = read(run.folder.result_file(job.candidate.id, job.instance.label), KatState)
    return run.folder.holds(state.built) or bool(
        tested and tested.key == state.key and tested.result.library and run.folder.holds(tested.result)
    )


def kat_phase(run: Run, chosen: Sequence[Chosen]) -> None:
    """Run the known-answer tests that have no result yet, on all cores; rebuild tolerantly where one fails."""
    begin(run)
    on_all_cores(run, "kat", jobs_of(run, chosen), lambda job: _kat_one(run, job))


def jobs_of(run: Run, chosen: Sequence[Chosen]) -> list[library.BuildJob]:
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


def _kat_one(run: Run, job: library.BuildJob) -> str:
    name = f"{job.candidate.id}/{job.instance.label}"
    state = read(run.folder.build_file(job.candidate.id, job.instance.label), BuildState)
    if state is None:
        raise UsageError(f"{name}: is not built yet: run `python -m measure build` first")
    file = run.folder.result_file(job.candidate.id, job.instance.label)
    done = read(file, KatState)
    if done and done.key == state.key and _still_holds(run.folder, done.result, state.built):
        return f"{name}: {done.result.kat.value} (kept)"
    # The library there may be one of other flags, or damaged.
    checked = gate.check(job, state.built if run.folder.holds(state.built) else library.build(job))
    log = store.kat_log_path(job.candidate.id, job.instance.label) if checked.kat else None
    if checked.kat and log:
        run.folder.write_bytes(run.folder.path / log, checked.kat.log.encode())
    result = gate.record(job, checked, log)
    run.folder.write(file, KatState(key=state.key, result=result))
    return f"{name}: {result.kat.value}"


def _still_holds(folder: RunFolder, result: BuildInstance, built: library.Built) -> bool:
    """Return whether a known-answer test need not be run again: not where there was no library then."""
    tested = result.library is not None and built.library is not None
    return tested and folder.holds(result) and folder.holds_log(result)


def profile_phase(run: Run, chosen: Sequence[Chosen]) -> None:
    """Count the helper calls of all instances that were timed, on libraries of their own."""
    rig, timed = prepared(run, chosen, "profile")
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

    def make(job: library.BuildJob) -> str:
        name = f"{job.candidate.id}/{job.instance.label}"
        made[name] = profile.make_library(run.folder, by_name[name])
        return f"{name}: {made[name].reason or made[name].status}"

    by_name = {f"{work.built.candidate}/{work.built.label}": work for work in works}
    on_all_cores(run, "wrap", [work.job for work in works], make)
    return [(work, made[name]) for name, work in by_name.items()]


def publish_phase(run: Run) -> Path:
    """Copy everything that the run folder holds into the data folder; return the system's folder there."""
    driver = own_driver(run)
    rig = trials.rig(run.folder, driver, run.settings.cpu, run.settings.planning)
    results = run.folder.results()
    if not results:
        raise UsageError(f"{run.folder.path}: holds no KAT result: run `python -m measure run` first")
    timed = [built for built in results if publish.may_be_timed(built, run.people)]
    target = publish.Target(run.settings.data, run.people, run.settings.signing_key)
    return publish.publish(rig, publish.Results(results, timed), target)
