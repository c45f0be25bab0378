"""The method of one system: machine and settings, cores, host checks, plan, flags, and what a figure means."""

from typing import Any, NamedTuple

from evidence.store import SystemEvidence
from evidence.types import Campaign, Change, Counter, CounterUnit, Environment, HostCheck, KatStatus
from render.facts import counters, environment
from render.facts.changes import change_text
from render.facts.rows import RecordRow, rows
from render.facts.subject import SystemSubject
from render.look import formats, templating
from render.look.table import Column, Line, Piece, Table, line, table

STATUSES = {
    KatStatus.PASS: "the library reproduces the known answers",
    KatStatus.MISMATCH: "it runs, and its output is another",
    KatStatus.CRYPTOFAIL: "an operation of the test fails",
    KatStatus.NOKAT: "the submission has no known answers",
    KatStatus.PARTIAL: "the known answers cover a part of the test",
    KatStatus.TIMEOUT: "the test did not end in time",
    KatStatus.OVERFLOW: "the library wrote past a buffer",
    KatStatus.CRASH: "the library was ended by a signal, or ended its process itself",
    KatStatus.BUILDFAIL: "the library could not be built",
}
COUNTER_UNITS = {
    CounterUnit.CYCLES: "core cycles",
    CounterUnit.TICKS: "reference ticks of a clock of fixed rate",
    CounterUnit.NANOSECONDS: "nanoseconds; there was no cycle counter",
}


class Setting(NamedTuple):
    """One setting of the machine, at the start, while timing, and at the end of the campaign."""

    name: str
    values: tuple[str, str, str]


class Core(NamedTuple):
    """One core and what ran on it."""

    cpu_number: int
    records: int
    instances: int


def path(system: SystemSubject) -> str:
    """Return where the page lies below the output folder."""
    return f"{system.system_id}/method/index.md"


def view(system: SystemSubject, loaded: SystemEvidence) -> dict[str, Any]:
    """Return the page's view model."""
    campaign = system.campaign
    records = rows(system.frames.records, RecordRow)
    return {
        "system": system,
        "title": f"Method on {system.system_id}",
        "guide": environment.guide_text(system.architecture),
        "campaign": campaign,
        "cautions": environment.cautions(system.environment, campaign, records),
        "settings": _settings(system),
        "cores": _cores(system),
        "counters": _counters(loaded),
        "checks": _host_checks(campaign),
        "changes": _changes(loaded),
        "plan": _plan(campaign),
        "statuses": [line(status.value, text) for status, text in STATUSES.items()],
        "flags": _flags(campaign),
    }


def render(system: SystemSubject, loaded: SystemEvidence) -> str:
    """Return the page as Markdown that holds HTML."""
    return templating.render("method.md.j2", view(system, loaded))


def _settings(system: SystemSubject) -> Table:
    """Return all settings that the evidence states, under the names that they have there."""
    campaign = system.campaign
    states = (campaign.environment_at_start, system.environment, campaign.environment_at_end)
    columns = (
        Column[Setting]("setting", lambda s: Piece(s.name, code=True)),
        Column[Setting]("campaign start", lambda s: s.values[0]),
        Column[Setting]("while timing", lambda s: s.values[1]),
        Column[Setting]("campaign end", lambda s: s.values[2]),
    )
    names = [
        name
        for name in Environment.__struct_fields__
        if any(getattr(state, name, None) is not None for state in states)
    ]
    settings = [Setting(name, (*(_value(state, name) for state in states),)) for name in names]  # type: ignore[arg-type]
    return table("settings", "Settings of the machine, as the evidence names them", columns, settings)


def _value(state: Environment | None, name: str) -> str:
    value = getattr(state, name, None)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return formats.ABSENT if value is None else str(value)


def _cores(system: SystemSubject) -> Table:
    """Return how many operations and instances each core measured."""
    columns = (
        Column[Core]("core", lambda c: f"CPU {c.cpu_number}"),
        Column[Core]("timed operations", lambda c: formats.whole(c.records), numeric=True),
        Column[Core]("instances", lambda c: formats.whole(c.instances), numeric=True),
    )
    placed = system.frames.records.dropna(subset=["cpu_number"])
    cores = [
        Core(int(str(cpu)), len(part), len(part[["candidate", "label"]].drop_duplicates()))
        for cpu, part in placed.groupby("cpu_number")
    ]
    return table("cores", "Cores that timed operations", columns, cores)


def _counters(loaded: SystemEvidence) -> list[str]:
    """Return the counters that the records name, in words."""
    processes = (process for record in loaded.records for process in record.processes)
    return sorted({_counter_text(process.counter) for process in processes if process.counter})


def _counter_text(counter: Counter) -> str:
    name = counter.name or "a counter that the evidence does not name"
    rate = f", {counters.rate_text(counter.hz)}" if counter.hz else ""
    mode = {True: ", user mode only", False: ", kernel mode included", None: ""}[counter.user_only]
    return f"{name}: {COUNTER_UNITS[counter.unit]}{rate}{mode}"


def _host_checks(campaign: Campaign) -> Table:
    columns = (
        Column[HostCheck]("phase", lambda c: c.phase),
        Column[HostCheck]("core", lambda c: f"CPU {c.cpu}", numeric=True),
        Column[HostCheck]("time (UTC)", lambda c: formats.to_the_second(c.utc)),
        Column[HostCheck]("problems found", lambda c: "; ".join(c.problems) or "none"),
    )
    return table("checks", "Checks of the host at the start of each phase", columns, campaign.host_checks)


def _changes(loaded: SystemEvidence) -> Table:
    """Return what was published when, the latest first."""
    columns = (
        Column[Change]("published (UTC)", lambda c: formats.to_the_second(c.published_utc)),
        Column[Change]("instances", lambda c: formats.whole(c.instances), numeric=True),
        Column[Change]("timed operations", lambda c: formats.whole(c.records), numeric=True),
        Column[Change]("changed by it", change_text),
    )
    return table("changes", "Publications of this system", columns, loaded.changes[::-1])


def _plan(campaign: Campaign) -> list[Line]:
    planning = campaign.planning
    return [
        *([line("Plan", planning.name)] if planning.name else []),
        line("Trials per operation", str(planning.trials)),
        line("Aim of one trial", f"{planning.trial_target_s:g} s"),
        line("Calls per operation", f"at least {planning.min_total}, where the budget allows"),
        line("Calls per trial", f"at most {planning.max_iters_per_trial}"),
        line("Budget per operation", f"{planning.op_budget_s:g} s"),
        *_timed_work(campaign),
        *_parallel_control(campaign),
    ]


def _timed_work(campaign: Campaign) -> list[Line]:
    work = campaign.timed_work
    if work is None or work.wall_s == 0:
        return []
    text = f"{work.timed_s / work.wall_s:.1%} of {work.wall_s:.0f} s of measuring was inside timed loops"
    return [line("Timed work", text)]


def _parallel_control(campaign: Campaign) -> list[Line]:
    control = campaign.parallel_control
    if control is None:
        return []
    change = control.together_s / control.alone_s - 1
    cores = ", ".join(map(str, control.cpus))
    longer = f"{abs(change):.2%} {'longer' if change >= 0 else 'less'} than alone"
    text = f"a call of {control.operation} took {longer} while cores {cores} all measured it"
    return [line("Several cores", text)]


def _flags(campaign: Campaign) -> list[Line]:
    flags = [
        ("guide, reference", campaign.arch_config.reference),
        ("guide, performance-optimised", campaign.arch_config.performance),
        ("added to both", campaign.harness_additions),
        ("harness-default", campaign.harness_default),
    ]
    return [line(label, Piece(text, code=True)) for label, text in flags if text]
