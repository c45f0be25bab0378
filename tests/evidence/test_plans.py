"""Plans with other limits: what asks for them, and whether a full one was shortened."""

import msgspec
import pytest

from evidence.plans import FULL, QUICK, is_shortened, options, with_limits
from evidence.types import Planning


@pytest.mark.parametrize(
    ("planning", "words", "shortened"),
    [
        (QUICK, "", False),
        (FULL, "--full", False),
        (with_limits(QUICK, 0.002, None), "--target 0.002", False),
        (with_limits(FULL, 0.3, 30.0), "--full --target 0.3 --budget 30", True),
        (with_limits(FULL, None, 300.0), "--full --budget 300", True),
        (with_limits(FULL, 2.0, None), "--full --target 2", False),
        (msgspec.structs.replace(FULL, name=None, trial_target_s=0.5), "--full --target 0.5", False),
    ],
)
def test_options_give_the_plan_back(planning: Planning, words: str, shortened: bool) -> None:
    assert options(planning) == words
    assert is_shortened(planning) == shortened


def test_limits_that_are_not_given_stay() -> None:
    assert with_limits(FULL, None, None) == FULL
    assert with_limits(FULL, 0.25, None).op_budget_s == 900.0
