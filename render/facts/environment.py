"""Section 2 in words: which environment a page shows, its clock, and how far the machine can be trusted."""

import re
from collections.abc import Iterable, Sequence

from evidence import plans
from evidence.types import Campaign, Environment, Record
from render.facts import counters
from render.facts.rows import RecordRow
from render.look import formats

ARCHITECTURES = {"x86_64": "x86-64", "aarch64": "AArch64"}
GUIDES = {"x86_64": "x86 guide", "aarch64": "ARM guide"}
SMT = {"on": "on", "off": "off", "forceoff": "off", "notsupported": "none", "notimplemented": "none"}
# Published pages show this core where a campaign used several.
SHOWN_CPU = 2
FIGURE = re.compile(r"\d[\d.]*")


def campaign_environment(records: Sequence[Record], campaign: Campaign) -> Environment:
    """Return the environment that pages show: that of CPU 2 where records used several cores, else the first."""
    if not records:
        return campaign.environment_at_end or campaign.environment_at_start
    several = len({record.environment.cpu_number for record in records}) > 1
    on_shown = [record for record in records if several and record.environment.cpu_number == SHOWN_CPU]
    return (on_shown or records)[0].environment


def architecture_text(architecture: str | None) -> str:
    """Return how titles name an architecture."""
    return ARCHITECTURES.get(architecture or "", architecture or "unknown architecture")


def guide_text(architecture: str | None) -> str:
    """Return which edition of the guide holds for an architecture."""
    return GUIDES.get(architecture or "", "guide")


def processor_text(environment: Environment) -> str:
    """Return the processor's model and core: ``Qualcomm Oryon (CPU 2, one core)``."""
    model = environment.cpu_model or "unknown model"
    return model if environment.cpu_number is None else f"{model} (CPU {environment.cpu_number}, one core)"


def clock_text(environment: Environment) -> str:
    """Return how the clock was set, as far as the machine tells."""
    smt = [f"SMT {SMT.get(environment.smt_control, environment.smt_control)}"] if environment.smt_control else []
    if environment.cpufreq_max_khz is None:
        measured = environment.core_clock_hz
        head = f"measured {formats.gigahertz(measured)}" if measured else "rate not known"
        return ", ".join([f"{head}; no frequency control, the firmware sets it", *smt])
    rate = formats.gigahertz(environment.cpufreq_max_khz * 1000)
    governor = [f"governor {environment.cpufreq_governor}"] if environment.cpufreq_governor else []
    if environment.architecture == "aarch64" and environment.cpufreq_min_khz == environment.cpufreq_max_khz:
        inner = ", ".join([*governor, "minimum = maximum"])
        return ", ".join([f"fixed {rate} ({inner})", *_boost(environment), *smt])
    return ", ".join([f"max {rate}", *governor, *_boost(environment), *smt])


def _boost(environment: Environment) -> list[str]:
    if environment.intel_pstate_no_turbo is not None:
        return ["turbo off" if environment.intel_pstate_no_turbo else "turbo on"]
    if environment.cpufreq_boost is not None:
        return ["boost on" if environment.cpufreq_boost else "boost off"]
    return []


def items(environment: Environment, campaign: Campaign) -> list[tuple[str, str]]:
    """Return section 2's rows: item and value. The machine is left out where it is not known."""
    return [
        ("processor", processor_text(environment)),
        *([("machine", environment.machine)] if environment.machine else []),
        ("clock", clock_text(environment)),
        ("memory", formats.mib(environment.memory_total_kib)),
        ("OS / kernel", _joined(environment.os, environment.kernel)),
        ("compiler / build tool", _joined(environment.compiler, environment.cmake)),
        (
            "campaign start / end (UTC)",
            _joined(*map(formats.to_the_second, (campaign.started_utc, campaign.ended_utc))),
        ),
    ]


def _joined(*parts: str | None) -> str:
    return " / ".join(part or formats.ABSENT for part in parts)


def cautions(environment: Environment, campaign: Campaign, records: Iterable[RecordRow]) -> list[str]:
    """Return in plain words what weakens the figures: machine, counter, host checks, plan."""
    told = list(counters.sentences(records))
    if environment.emulated:
        told.insert(0, "This system is emulated: its counts and times say nothing of a real processor.")
    if environment.virtualized:
        kind = f" ({environment.hypervisor})" if environment.hypervisor not in {None, "unknown"} else ""
        told.insert(0, f"This system is a virtual machine{kind}: others share its processor, and times move with them.")
    if campaign.host_problems:
        told.append(f"The host failed its checks: {'; '.join(distinct(campaign.host_problems))}.")
    if campaign.planning.name == "quick":
        told.append(
            f"These figures come from the quick plan ({campaign.planning.trials} trials that aim at "
            f"{campaign.planning.trial_target_s:g} s each, at most {campaign.planning.op_budget_s:g} s per operation). "
            "They show the order of magnitude; a full campaign is needed for a comparison."
        )
    if plans.is_shortened(campaign.planning):
        told.append(
            f"The full plan was shortened: trials aim at {campaign.planning.trial_target_s:g} s, at most "
            f"{campaign.planning.op_budget_s:g} s per operation; by itself it has {plans.FULL.trial_target_s:g} s and "
            f"{plans.FULL.op_budget_s:g} s."
        )
    return told


def machine_kind(environment: Environment) -> str:
    """Return in few words whether a machine is a real one, as far as its evidence says."""
    if environment.emulated:
        return "emulated"
    return {True: "virtual", False: "real", None: "not stated"}[environment.virtualized]


def distinct(problems: Iterable[str]) -> list[str]:
    """Return problems of the host with those that differ in their figures alone put together."""
    groups: dict[str, list[str]] = {}
    for problem in problems:
        groups.setdefault(FIGURE.sub("#", problem), []).append(problem)
    return [one if not more else f"{one} (and {len(more)} like it)" for one, *more in groups.values()]


def other_cores(environment: Environment, records: Iterable[RecordRow]) -> list[tuple[str, str]]:
    """Return label and cores of the instances that were measured on other cores than the one shown."""
    cores: dict[str, set[int]] = {}
    for record in records:
        if record.cpu_number is not None and record.cpu_number != environment.cpu_number:
            cores.setdefault(record.label, set()).add(record.cpu_number)
    return [(label, ", ".join(f"CPU {cpu}" for cpu in sorted(cpus))) for label, cpus in cores.items()]
