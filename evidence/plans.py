"""The plans that a campaign may follow (measurement.md, Plan), and the words that ask for one."""

import msgspec

from evidence.types import Planning

QUICK = Planning(
    name="quick", trials=5, trial_target_s=0.1, min_total=100, max_iters_per_trial=20_000, op_budget_s=10.0
)
FULL = Planning(name="full", trials=5, trial_target_s=1.0, min_total=100, max_iters_per_trial=20_000, op_budget_s=900.0)


def with_limits(planning: Planning, target_s: float | None, budget_s: float | None) -> Planning:
    """Return a plan with another aim of one trial and another limit of an operation, where these are given."""
    return msgspec.structs.replace(
        planning,
        trial_target_s=planning.trial_target_s if target_s is None else target_s,
        op_budget_s=planning.op_budget_s if budget_s is None else budget_s,
    )


def options(planning: Planning) -> str:
    """Return the options of ``python -m measure`` that give a plan's target and budget."""
    standard = QUICK if planning.name == QUICK.name else FULL
    words = [] if standard is QUICK else ["--full"]
    if planning.trial_target_s != standard.trial_target_s:
        words.append(f"--target {planning.trial_target_s:g}")
    if planning.op_budget_s != standard.op_budget_s:
        words.append(f"--budget {planning.op_budget_s:g}")
    return " ".join(words)


def is_shortened(planning: Planning) -> bool:
    """Return whether a full plan was given less time than it has by itself."""
    less = planning.trial_target_s < FULL.trial_target_s or planning.op_budget_s < FULL.op_budget_s
    return planning.name == FULL.name and less
