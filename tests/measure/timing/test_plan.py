"""The plan: figures worked out by hand, and properties that hold for every cost of a call."""

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.plans import FULL, QUICK
from evidence.types import Planning
from measure.timing.plan import (
    Operation,
    calibration_is_measurement,
    estimated_s,
    interleave,
    plan_operation,
    profile_operations,
    warmup_calls,
)

costs = st.floats(min_value=1e-9, max_value=1e5, allow_nan=False)
plannings = st.sampled_from([QUICK, FULL])


@pytest.mark.parametrize(
    ("single_call_s", "planning", "trials", "iterations", "warmups"),
    [
        (1e-6, FULL, 5, 20_000, 3),  # the maximum bounds it
        (0.001, FULL, 5, 1000, 3),  # the target
        (0.0011, FULL, 5, 910, 3),  # rounded up
        (0.2, FULL, 5, 20, 1),  # at least 100 in all
        (9.0, FULL, 5, 20, 0),  # 900 s, just within the budget
        (10.0, FULL, 5, 18, 0),  # what fits
        (200.0, FULL, 4, 1, 0),  # not even one per trial: fewer trials
        (899.0, FULL, 1, 1, 0),
        (2000.0, FULL, 1, 1, 0),  # the calibrating call is the measurement
        (0.001, QUICK, 5, 100, 3),
        (0.2, QUICK, 5, 10, 1),
    ],
)
def test_plan_by_hand(single_call_s: float, planning: Planning, trials: int, iterations: int, warmups: int) -> None:
    plan = plan_operation(single_call_s, planning)
    assert (plan.trials, plan.iterations_per_trial, plan.warmups) == (trials, iterations, warmups)
    assert plan.estimated_s == pytest.approx(trials * (iterations + warmups) * single_call_s)
    assert plan.timeout_per_process_s == pytest.approx(300 + 3 * (iterations + warmups) * single_call_s)


@pytest.mark.parametrize(("single_call_s", "calls"), [(0.0499, 3), (0.05, 1), (4.99, 1), (5.0, 0), (1e4, 0)])
def test_warmups_at_their_bounds(single_call_s: float, calls: int) -> None:
    assert warmup_calls(single_call_s) == calls


@pytest.mark.parametrize(("single_call_s", "expected"), [(900.0, False), (900.1, True), (1.0, False)])
def test_calibration_is_the_measurement_beyond_the_budget(single_call_s: float, expected: bool) -> None:
    assert calibration_is_measurement(single_call_s, FULL) is expected


@given(costs, plannings)
def test_work_is_bounded_by_counts_and_budget(single_call_s: float, planning: Planning) -> None:
    plan = plan_operation(single_call_s, planning)
    calls = plan.trials * plan.iterations_per_trial
    assert 1 <= plan.trials <= planning.trials
    assert 1 <= plan.iterations_per_trial <= planning.max_iters_per_trial
    assert calls * single_call_s <= planning.op_budget_s * (1 + 1e-9) or calls == 1


@given(costs, plannings)
def test_the_guides_hundred_measurements_are_met_where_the_budget_allows(
    single_call_s: float, planning: Planning
) -> None:
    plan = plan_operation(single_call_s, planning)
    if single_call_s * planning.trials * math.ceil(100 / planning.trials) <= planning.op_budget_s:
        assert plan.trials * plan.iterations_per_trial >= 100


def test_trials_go_round_by_round_and_cheapest_first() -> None:
    cheap, dear = Operation("kem-a", "A", "enc"), Operation("kem-a", "A", "keygen")
    rare = Operation("sign-b", "B", "sign")
    steps = interleave(
        {dear: plan_operation(0.1, FULL), cheap: plan_operation(0.001, FULL), rare: plan_operation(400.0, FULL)}
    )
    assert [(step.operation, step.number) for step in steps] == [
        (cheap, 0), (dear, 0), (rare, 0),
        (cheap, 1), (dear, 1), (rare, 1),
        (cheap, 2), (dear, 2),
        (cheap, 3), (dear, 3),
        (cheap, 4), (dear, 4),
    ]  # fmt: skip


@given(st.dictionaries(st.builds(Operation, st.just("kem-x"), st.text("AB", min_size=1), st.text("cd")), costs))
def test_every_trial_stands_exactly_once_in_the_order(single: dict[Operation, float]) -> None:
    plans = {operation: plan_operation(cost, QUICK) for operation, cost in single.items()}
    steps = interleave(plans)
    assert Counter((step.operation, step.number) for step in steps) == Counter(
        (operation, number) for operation, plan in plans.items() for number in range(plan.trials)
    )
    assert sum(map(estimated_s, steps)) == pytest.approx(sum(plan.estimated_s for plan in plans.values()))


@pytest.mark.parametrize(
    ("single_call_s", "planning", "operations"),
    [
        (1e-6, FULL, 1000),  # no more than that
        (0.01, FULL, 100),  # the target
        (0.1, FULL, 20),  # no less than that
        (20.0, FULL, 9),  # a fifth of the budget
        (500.0, FULL, 1),
        (0.01, QUICK, 20),
    ],
)
def test_how_much_a_profile_counts(single_call_s: float, planning: Planning, operations: int) -> None:
    assert profile_operations(single_call_s, planning) == operations


def test_a_hash_function_is_named_with_the_size_of_its_message() -> None:
    assert str(Operation("hash-a", "A-256", "hash", 1024)) == "hash-a/A-256 hash 1024 B"
    assert str(Operation("kex-a", "A", "pass1")) == "kex-a/A pass1"
