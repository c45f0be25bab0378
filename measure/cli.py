"""``python -m measure``: one command line, a subcommand per phase."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from rich.console import Console

from evidence import catalog, plans
from evidence.faults import FaultyError
from evidence.types import CandidateId, Planning, SystemId
from measure import campaign, phases, timephase
from measure.campaign import Run, Settings
from measure.cluster import slurm, worker
from measure.confine import disk, sandbox
from measure.driver import probe
from measure.errors import HostError, MeasureError, StorageError, UsageError
from measure.host import check, facts
from measure.progress import Teller
from measure.submission import manifest
from measure.timing.attempts import opened

ROOT = Path(__file__).resolve().parents[1]
INIT = "init"
WORKER = "worker"
SLURM = "slurm"
CATALOG_FAULTS = 11
INTERRUPTED = 130
LONGEST_BUDGET_S = 86_400.0
FOLDERS = (
    ("--runs", Path("runs"), "work in progress"),
    ("--data", Path("data"), "published evidence"),
    ("--catalog", None, "what people wrote"),
)


class Command(NamedTuple):
    """A subcommand: its help and what it does."""

    help: str
    act: Callable[[Run], None]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand; print one line and return the status of its own for everything that a user can mend."""
    options = _parser().parse_args(arguments)
    console = Console(stderr=True)
    try:
        if options.command in OTHERS:
            return OTHERS[options.command](options)
        people = catalog.load(options.catalog or options.data / "catalog")
        settings = _settings(options)
        with opened(campaign.run_folder(settings), settings.planning) as folder:
            sandbox.end_orphans(folder.path.resolve())
            teller = Teller(console, folder.log_file())
            COMMANDS[options.command].act(Run(settings, folder, people, teller))
    except FaultyError as error:
        print(error, file=sys.stderr)
        return CATALOG_FAULTS
    except MeasureError as error:
        print(f"measure: {error}", file=sys.stderr)
        return error.exit_status
    except OSError as error:
        if not disk.is_out(error):
            raise
        print(f"measure: {disk.full(error.filename or options.runs)}", file=sys.stderr)
        return StorageError.exit_status
    except KeyboardInterrupt:
        print("measure: interrupted; what was finished is kept, the same command goes on from here", file=sys.stderr)
        return INTERRUPTED
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m measure",
        description="Builds candidates, checks them against known answers, times them and publishes the evidence.",
        epilog="Every phase keeps what is finished: the same command after an interruption goes on from there.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        _add_options(commands.add_parser(name, help=command.help, description=command.help))
    commands.choices["check"].add_argument("--json", action="store_true", help="everything that was seen, as JSON")
    for name in ("time", "run"):
        commands.choices[name].add_argument(
            "--scheduler", metavar="ADDRESS", help="Dask scheduler whose workers time the instances (tcp:// or tls://)"
        )
    _add_init(commands.add_parser(INIT, help=manifest.HELP, description=manifest.HELP))
    _add_worker(commands.add_parser(WORKER, help=worker.HELP, description=worker.HELP))
    _add_slurm(commands.add_parser(SLURM, help=slurm.HELP, description=slurm.HELP))
    return parser


def _add_init(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="a submission, unpacked; nothing in it is run")
    parser.add_argument("--id", metavar="ID", help="id of the candidate, such as sign-18 (default: from the folder)")
    parser.add_argument("--write", action="store_true", help="into the catalog, never over a file (default: to stdout)")
    parser.add_argument("--data", type=Path, default=Path("data"), metavar="DIR", help=argparse.SUPPRESS)
    parser.add_argument("--catalog", type=Path, metavar="DIR", help="what people wrote (default: data/catalog)")


def _add_worker(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--scheduler", required=True, metavar="ADDRESS", help="Dask scheduler to join")
    parser.add_argument("--cpu", metavar="N", help="core to measure on (default: the last usable one)")


def _worker(options: argparse.Namespace) -> int:
    """Measure for another machine."""
    cores = _cores(options.cpu)
    if len(cores) > 1:
        raise UsageError(f"--cpu {options.cpu}: a worker has one core; start one worker for each")
    worker.serve(options.scheduler, cores[0], lambda text: print(text, file=sys.stderr))
    return 0


def _add_slurm(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--workers", type=int, required=True, metavar="N", help="nodes that measure, besides the first")
    parser.add_argument("words", nargs="*", metavar="OPTION", help="after --: options of `run`")


def _slurm(options: argparse.Namespace) -> int:
    """Print a job script."""
    if options.workers < 1:
        raise UsageError(f"--workers {options.workers}: at least 1")
    wanted = _parser().parse_args(["run", *options.words])
    cpu, wanted.cpu = wanted.cpu, None  # a core of the nodes, which this machine may lack
    settings = _settings(wanted)
    if settings.scheduler:
        raise UsageError(f"--scheduler {settings.scheduler}: the script starts one of its own")
    array = slurm.Array(
        workers=options.workers,
        folder=str(Path.cwd()),
        python=sys.executable,
        system_id=settings.system_id,
        runs=str(settings.runs),
        cpu=cpu,
        words=options.words,
    )
    print(slurm.script(array), end="")
    return 0


def _init(options: argparse.Namespace) -> int:
    """Print or write a first manifest of a submission."""
    try:
        candidate_id = msgspec.convert(options.id, CandidateId | None)
    except msgspec.ValidationError:
        raise UsageError(f"--id {options.id!r}: sign-, kem-, kex- or hash-, then a-z, 0-9, - and _ only") from None
    found = manifest.survey(options.folder, candidate_id, ROOT)
    if options.write:
        print(f"wrote {manifest.write(found, options.catalog or options.data / 'catalog')}", file=sys.stderr)
    else:
        print(manifest.manifest(found), end="")
    return 0


def _add_options(parser: argparse.ArgumentParser) -> None:
    plans = parser.add_mutually_exclusive_group()
    plans.add_argument("--quick", action="store_true", help="0.1 s a trial; runs anywhere and says so (default)")
    plans.add_argument("--full", action="store_true", help="1 s a trial, up to 15 min an operation; wants a fit host")
    parser.add_argument("--target", type=float, metavar="SECONDS", help="another aim of one trial than the plan's")
    parser.add_argument("--budget", type=float, metavar="SECONDS", help="another limit of an operation than the plan's")
    parser.add_argument(
        "--only", metavar="REGEX", help="instances whose candidate/label matches (quick default: first of each)"
    )
    parser.add_argument("--defer", metavar="REGEX", help="instances that are timed after all others")
    parser.add_argument("--system", default="local", metavar="ID", help="name of this machine (default: local)")
    parser.add_argument("--cpu", metavar="N[,N]", help="core or cores to measure on (default: the last usable one)")
    parser.add_argument(
        "--runs", type=Path, default=Path("runs"), metavar="DIR", help="work in progress (default: runs)"
    )
    parser.add_argument(
        "--data", type=Path, default=Path("data"), metavar="DIR", help="published evidence (default: data)"
    )
    parser.add_argument("--catalog", type=Path, metavar="DIR", help="what people wrote (default: DATA/catalog)")
    parser.add_argument(
        "--allow-unfixed-host", action="store_true", help="full plan on an unfit host; every page then says so"
    )
    parser.add_argument("--sign", type=Path, metavar="KEY", help="sign what is published with this OpenSSH key")


def _settings(options: argparse.Namespace) -> Settings:
    try:
        system_id = msgspec.convert(options.system, SystemId)
    except msgspec.ValidationError:
        raise UsageError(f"--system {options.system!r}: lower-case letters, digits, - and _ only") from None
    scheduler = getattr(options, "scheduler", None)
    if scheduler:
        worker.need_distributed()
    return Settings(
        root=ROOT,
        runs=options.runs,
        data=options.data,
        system_id=system_id,
        cpus=_cores(options.cpu),
        planning=_planning(options),
        only=options.only,
        defer=options.defer if options.defer is None else campaign.expression("--defer", options.defer),
        allow_unfixed_host=options.allow_unfixed_host,
        signing_key=options.sign,
        scheduler=scheduler,
        as_json=getattr(options, "json", False),
    )


def _planning(options: argparse.Namespace) -> Planning:
    """Return the plan's settings, with another target and budget where these are given; both are on record."""
    chosen = plans.FULL if options.full else plans.QUICK
    for option, value in (("--target", options.target), ("--budget", options.budget)):
        if value is not None and not 0 < value <= LONGEST_BUDGET_S:
            raise UsageError(f"{option} {value:g}: a number of seconds above 0, up to a day")
    return plans.with_limits(chosen, options.target, options.budget)


def _cores(words: str | None) -> tuple[int, ...]:
    """Return the cores to measure on, in the order given."""
    usable = facts.usable_cpus()
    if words is None:
        return (usable[-1],)
    named = words.split(",")
    if len(set(named)) < len(named) or not all(word.isdecimal() and int(word) in usable for word in named):
        raise UsageError(f"--cpu {words}: this process may use cores {', '.join(map(str, usable))}")
    return tuple(int(word) for word in named)


def _chosen(run: Run) -> list[campaign.Chosen]:
    return campaign.choose(run.people, run.settings.only, run.settings.planning)


def _check(run: Run) -> None:
    """Print what is and what is not fixed on the measuring cores, with the commands that fix it and undo that."""
    settings = run.settings
    driver = campaign.driver_program(settings)
    probes = {cpu: probe.probe(driver, cpu) for cpu in settings.cpus}
    looks = {cpu: probe.seen(driver, cpu, probed) for cpu, probed in probes.items()}
    found = {cpu: check.findings(seen) for cpu, seen in looks.items()}
    if settings.as_json:
        cores = [check.document(looks[cpu], found[cpu], probes[cpu].refusals) for cpu in settings.cpus]
        print(json.dumps({"cores": cores, "sandbox": sandbox.of_this_host().kind}, indent=1))
    else:
        print(f"candidates run confined by: {sandbox.of_this_host().kind} (best: bubblewrap)")
        for cpu in settings.cpus:
            print(f"core {cpu}\n{check.table(found[cpu])}")
            print("".join(f"{'':11}{name} is not used: {why}\n" for name, why in probes[cpu].refusals.items()), end="")
    count = sum(not one.ready for items in found.values() for one in items)
    if count:
        raise HostError(f"{count} thing(s) keep this host from a full plan; the quick plan runs all the same")


def _plan(run: Run) -> None:
    """Print what the time phase will do."""
    print("\n".join(timephase.plan_phase(run, _chosen(run))))


def _profile(run: Run) -> None:
    phases.profile_phase(run, _chosen(run))


def _run(run: Run) -> None:
    """Do all phases in order."""
    phases.build_phase(run, _chosen(run))
    phases.kat_phase(run, _chosen(run))
    timephase.time_phase(run, _chosen(run))
    phases.profile_phase(run, _chosen(run))
    _publish(run)


def _publish(run: Run) -> None:
    target = phases.publish_phase(run)
    run.teller.say(f"published to {target}")
    told = timephase.timed_work_text(campaign.begin(run))
    if told:
        run.teller.say(told)


COMMANDS = {
    "check": Command("say what on this host is not fixed, with the command that fixes it", _check),
    "plan": Command("calibrate, and say how long the time phase will take", _plan),
    "build": Command("fetch sources and build the libraries", lambda run: phases.build_phase(run, _chosen(run))),
    "kat": Command("check the libraries against known answers", lambda run: phases.kat_phase(run, _chosen(run))),
    "time": Command("calibrate and time every operation", lambda run: timephase.time_phase(run, _chosen(run))),
    "profile": Command(
        "count the calls of hash and random functions, and their share",
        lambda run: phases.profile_phase(run, _chosen(run)),
    ),
    "publish": Command("copy the finished campaign into the data folder", _publish),
    "run": Command("do all phases: build, kat, time, profile, publish", _run),
}
# What needs no run folder.
OTHERS = {INIT: _init, WORKER: _worker, SLURM: _slurm}
