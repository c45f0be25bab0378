"""Ranks by hand: shared ones, the set that stands for its candidate, and the order overall."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from render.facts.ranking import Contender, rank, representatives, shared_ranks

CYCLES = ("sign", "verify")


def _set(candidate: str, label: str, sign: float, verify: float, size: float, **more: bool) -> Contender:
    return Contender(candidate, label, {"sign": sign, "verify": verify, "size": size}, CYCLES, **more)


@pytest.mark.parametrize(
    ("values", "ranks"),
    [
        ({}, {}),
        ({"a": 7}, {"a": 1}),
        ({"a": 30, "b": 10, "c": 20}, {"a": 3, "b": 1, "c": 2}),
        ({"a": 10, "b": 10, "c": 20}, {"a": 1.5, "b": 1.5, "c": 3}),
        ({"a": 5, "b": 9, "c": 9, "d": 9, "e": 12}, {"a": 1, "b": 3, "c": 3, "d": 3, "e": 5}),
    ],
)
def test_equal_values_share_the_average_place(values: dict[str, float], ranks: dict[str, float]) -> None:
    assert shared_ranks(values) == ranks


@given(st.dictionaries(st.integers(), st.integers(0, 5), max_size=20))
def test_ranks_add_up_and_keep_the_order(values: dict[int, float]) -> None:
    ranks = shared_ranks(values)
    assert sum(ranks.values()) == len(values) * (len(values) + 1) / 2
    assert all((values[a] < values[b]) == (ranks[a] < ranks[b]) for a in values for b in values)


def test_the_order_by_hand() -> None:
    """Three candidates, one set each.

    sign 10 20 30 -> 1 2 3; verify 6 4 5 -> 3 1 2; size 100 100 50 -> 2.5 2.5 1.
    Means: a 6.5 / 3, b 5.5 / 3, c 6 / 3.
    """
    outcome = rank([_set("a", "A", 10, 6, 100), _set("b", "B", 20, 4, 100), _set("c", "C", 30, 5, 50)])
    assert [(p.contender.candidate, p.rank) for p in outcome.placed] == [("b", 1), ("c", 2), ("a", 3)]
    assert [p.mean_rank for p in outcome.placed] == pytest.approx([5.5 / 3, 2, 6.5 / 3])
    assert outcome.placed[2].ranks == {"sign": 1, "verify": 3, "size": 2.5}
    assert outcome.represented == []


def test_equal_means_share_a_rank_and_keep_the_given_order() -> None:
    outcome = rank([_set("a", "A", 1, 2, 5), _set("b", "B", 2, 1, 5), _set("c", "C", 3, 3, 9)])
    assert [(p.contender.candidate, p.rank) for p in outcome.placed] == [("a", 1.5), ("b", 1.5), ("c", 3)]


def test_the_fastest_set_stands_for_its_candidate() -> None:
    """Among all four sets: sign 40 10 20 30 -> 4 1 2 3, verify 1 4 2 3 -> means a1 2.5, a2 2.5, b1 2, b2 3."""
    sets = [_set("a", "A1", 40, 1, 5), _set("a", "A2", 10, 4, 5), _set("b", "B1", 20, 2, 9), _set("b", "B2", 30, 3, 1)]
    assert {name: each.label for name, each in representatives(sets).items()} == {"a": "A1", "b": "B1"}
    outcome = rank(sets)
    assert [(left.label, by.label) for left, by in outcome.represented] == [("A2", "A1"), ("B2", "B1")]
    assert len(outcome.placed) == 2


def test_a_recommended_set_goes_before_a_faster_one() -> None:
    sets = [_set("a", "slow", 40, 40, 5, recommended=True), _set("a", "fast", 10, 10, 5)]
    assert representatives(sets)["a"].label == "slow"


def test_nobody_to_rank() -> None:
    assert rank([]) == ([], [])
