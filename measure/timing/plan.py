"""How often to call each operation: pure, from one calibrated call (measurement.md, Plan)."""

import math
from typing import NamedTuple

from evidence.types import Plan, Planning

TIMEOUT_FACTOR = 3
TIMEOUT_EXTRA_S = 300.0
PROFILE_OPERATIONS_MIN, PROFILE_OPERATIONS_MAX = 20, 1000


class Operation(NamedTuple):
    """One operation of one instance, the unit of measuring."""

    candidate: str
    label: str
    operation: str
    input_bytes: int | None = None  # of a hash function

    def __str__(self) -> str:
        """Return ``candidate/label operation``, of a hash function with the size of its message."""
        size = "" if self.input_bytes is None else f" {self.input_bytes} B"
        return f"{self.candidate}/{self.label} {self.operation}{size}"


class Step(NamedTuple):
    """One driver process still to be run: trial ``number`` (from 0) of an operation."""

    operation: Operation
    number: int
    plan: Plan


def plan_operation(single_call_s: float, planning: Planning) -> Plan:
    """Return the plan of an operation whose single call was seen to take ``single_call_s`` seconds.

    Of a key exchange's step that is the time of the complete run around it.

    Work is bounded by counts: as many calls as fill the target time of a trial, at least enough for the minimal
    total, at most the maximum; less where that would exceed the budget of the operation, down to one call.
    """
    least = math.ceil(planning.min_total / planning.trials)
    wanted = max(math.ceil(planning.trial_target_s / single_call_s), least)
    iterations = min(wanted, planning.max_iters_per_trial)
    trials = planning.trials
    if trials * iterations * single_call_s > planning.op_budget_s:
        affordable = math.floor(planning.op_budget_s / single_call_s)
        trials = max(1, min(trials, affordable))
        iterations = max(1, affordable // trials)
    warmups = warmup_calls(single_call_s)
    process_s = (iterations + warmups) * single_call_s
    return Plan(
        iterations_per_trial=iterations,
        warmups=warmups,
        trials=trials,
        separate_processes=True,
        estimated_s=trials * process_s,
        timeout_per_process_s=TIMEOUT_FACTOR * process_s + TIMEOUT_EXTRA_S,
    )


def profile_operations(single_call_s: float, planning: Planning) -> int:
    """Return how many operations a profile counts: what fills a trial's target, within a fifth of the budget."""
    wanted = min(math.ceil(planning.trial_target_s / single_call_s), PROFILE_OPERATIONS_MAX)
    affordable = math.floor(planning.op_budget_s / 5 / single_call_s)
    return max(1, min(max(wanted, PROFILE_OPERATIONS_MIN), affordable))


def warmup_calls(single_call_s: float) -> int:
    """Return how many untimed calls go first: 3 below 50 ms, 1 below 5 s, else none."""
    if single_call_s < 0.05:
        return 3
    return 1 if single_call_s < 5 else 0


def calibration_is_measurement(single_call_s: float, planning: Planning) -> bool:
    """Return whether not even one more call fits the budget, so that the calibrating call is the one trial."""
    return single_call_s > planning.op_budget_s


def interleave(plans: dict[Operation, Plan]) -> list[Step]:
    """Return all trials in the order to run them: round by round, and the cheapest operation first in each.

    So a slow drift of the machine meets all operations alike. Equal costs are ordered by name.
    """
    cheapest_first = sorted(plans, key=lambda operation: (plans[operation].estimated_s, _by_name(operation)))
    rounds = max((plan.trials for plan in plans.values()), default=0)
    return [
        Step(operation, number, plans[operation])
        for number in range(rounds)
        for operation in cheapest_first
        if number < plans[operation].trials
    ]


def _by_name(operation: Operation) -> tuple[str, str, str, int]:
    """Return a sort key: operations that have no size of a message cannot be compared by it."""
    size = -1 if operation.input_bytes is None else operation.input_bytes
    return operation.candidate, operation.label, operation.operation, size


def estimated_s(step: Step) -> float:
    """Return the seconds that one trial is expected to take."""
    return step.plan.estimated_s / step.plan.trials
