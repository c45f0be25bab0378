"""Section 2: which environment is shown, its clock in words, and what weakens the figures."""

from typing import Any

import msgspec
import pytest

from evidence import plans, store
from evidence.catalog import Catalog
from evidence.types import Environment
from render.facts import environment, rows
from render.facts.rows import RecordRow


@pytest.mark.parametrize(
    ("state", "text"),
    [
        (
            {"architecture": "aarch64", "cpufreq_min_khz": 2707200, "cpufreq_max_khz": 2707200,
             "cpufreq_governor": "performance", "cpufreq_boost": 0, "smt_control": "notsupported"},
            "fixed 2.71 GHz (governor performance, minimum = maximum), boost off, SMT none",
        ),
        (
            {"architecture": "x86_64", "cpufreq_min_khz": 800000, "cpufreq_max_khz": 2100000,
             "cpufreq_governor": "performance", "intel_pstate_no_turbo": 1, "smt_control": "off"},
            "max 2.10 GHz, governor performance, turbo off, SMT off",
        ),
        (
            {"architecture": "x86_64", "cpufreq_max_khz": 4800000, "cpufreq_governor": "powersave",
             "intel_pstate_no_turbo": 0, "smt_control": "on"},
            "max 4.80 GHz, governor powersave, turbo on, SMT on",
        ),
        (
            {"architecture": "aarch64", "cpufreq_min_khz": 600000, "cpufreq_max_khz": 2707200, "cpufreq_boost": 1},
            "max 2.71 GHz, boost on",
        ),
        ({"core_clock_hz": 3_400_000_000}, "measured 3.40 GHz; no frequency control, the firmware sets it"),
        ({"smt_control": "off"}, "rate not known; no frequency control, the firmware sets it, SMT off"),
    ],
)  # fmt: skip
def test_clock(state: dict[str, Any], text: str) -> None:
    assert environment.clock_text(Environment(**state)) == text


def test_the_core_shown_is_cpu_2_where_several_were_used(local: Any) -> None:
    local.kem()
    first, second, third = local.records
    on = [msgspec.structs.replace(first.environment, cpu_number=cpu) for cpu in (7, 2, 3)]
    moved = [msgspec.structs.replace(r, environment=e) for r, e in zip((first, second, third), on, strict=True)]
    shown = environment.campaign_environment(moved, local.campaign)
    assert shown.cpu_number == 2
    assert environment.campaign_environment(moved[::2], local.campaign).cpu_number == 7
    assert environment.campaign_environment([], local.campaign) == local.campaign.environment_at_end
    local.records = moved
    records = rows.rows(rows.build(store.load_system(local.write(), "local")).records, RecordRow)
    assert environment.other_cores(shown, records) == [("Kyber512", "CPU 3, CPU 7")]


def test_cautions_name_machine_counter_checks_and_plan(local: Any) -> None:
    records = rows.rows(rows.build(store.load_system(local.kem().write(), "local")).records, RecordRow)
    told = environment.cautions(local.campaign.environment_at_start, local.campaign, records)
    assert [text.partition(":")[0][:40] for text in told] == [
        "This system is a virtual machine (kvm)",
        "Counts are reference cycles of the TSC, ",
        "The host failed its checks",
        "These figures come from the quick plan (",
    ]
    assert "2.60 GHz" in told[1]


def test_a_fixed_machine_that_counts_core_cycles_has_no_cautions(committed: Any, people: Catalog) -> None:
    loaded = store.load_system(committed, "x86_1")
    shown = environment.campaign_environment(loaded.records, loaded.campaign)
    records = rows.rows(rows.build(loaded).records, RecordRow)
    assert environment.cautions(shown, loaded.campaign, records) == []


def test_a_shortened_full_plan_is_a_caution(committed: Any) -> None:
    loaded = store.load_system(committed, "x86_1")
    shown = environment.campaign_environment(loaded.records, loaded.campaign)
    planning = plans.with_limits(plans.FULL, 0.3, None)
    campaign = msgspec.structs.replace(loaded.campaign, planning=planning)
    assert environment.cautions(shown, campaign, []) == [
        "The full plan was shortened: trials aim at 0.3 s, at most 900 s per operation; by itself it has 1 s and 900 s."
    ]


def test_problems_that_differ_in_figures_alone_stand_once() -> None:
    problems = [
        "CPU 1 clock is not steady (1.93%)",
        "CPU 1 clock is not steady (72.3%)",
        "load is too high: 2",
        "turbo",
    ]
    assert environment.distinct([*problems, "CPU 2 clock is not steady (5%)"]) == [
        "CPU 1 clock is not steady (1.93%) (and 2 like it)",
        "load is too high: 2",
        "turbo",
    ]


@pytest.mark.parametrize(
    ("state", "text"),
    [
        ({"virtualized": True, "emulated": True}, "emulated"),
        ({"virtualized": True}, "virtual"),
        ({"virtualized": False}, "real"),
        ({}, "not stated"),
    ],
)
def test_kinds_of_machines(state: dict[str, Any], text: str) -> None:
    assert environment.machine_kind(Environment(**state)) == text
