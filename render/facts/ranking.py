"""Ranks: each metric by itself, overall by the mean rank. Pure functions over plain numbers."""

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple, TypeVar

K = TypeVar("K", bound=Hashable)


class Contender(NamedTuple):
    """One parameter set that can be ranked: ``figures`` by metric, the lower the better.

    ``cycles`` names the metrics that are costs in cycles: they choose the set that stands for its candidate.
    """

    candidate: str
    label: str
    figures: Mapping[str, float]
    cycles: tuple[str, ...]
    recommended: bool = False


class Placed(NamedTuple):
    """One ranked set: its rank overall, its mean rank, and its rank by each metric."""

    contender: Contender
    rank: float
    mean_rank: float
    ranks: dict[str, float]


class Outcome(NamedTuple):
    """The ranked sets, best first, and those for which another set of their candidate stands."""

    placed: list[Placed]
    represented: list[tuple[Contender, Contender]]


def shared_ranks(values: Mapping[K, float]) -> dict[K, float]:
    """Return the rank of each value from 1, the least first; equal values share the average of their places."""
    ordered = sorted(values.values())
    first = {value: place for place, value in reversed(list(enumerate(ordered, 1)))}
    last = {value: place for place, value in enumerate(ordered, 1)}
    return {key: (first[value] + last[value]) / 2 for key, value in values.items()}


def rank(contenders: Sequence[Contender]) -> Outcome:
    """Rank candidates, each by its recommended set or else by its fastest one.

    Fastest is the set with the lowest mean of its ranks by cycles among all contenders; of equals the first given.
    """
    chosen = representatives(contenders)
    standing = list(chosen.values())
    by_metric = _ranks(standing)
    means = {each.candidate: _mean([ranks[each.candidate] for ranks in by_metric.values()]) for each in standing}
    overall = shared_ranks(means)
    placed = [
        Placed(
            each,
            overall[each.candidate],
            means[each.candidate],
            {metric: ranks[each.candidate] for metric, ranks in by_metric.items()},
        )
        for each in standing
    ]
    others = [(each, chosen[each.candidate]) for each in contenders if each is not chosen[each.candidate]]
    return Outcome(sorted(placed, key=lambda p: p.rank), others)


def representatives(contenders: Sequence[Contender]) -> dict[str, Contender]:
    """Return the set that stands for each candidate."""
    speed = _speed(contenders)
    chosen: dict[str, Contender] = {}
    order = sorted(range(len(contenders)), key=lambda i: (not contenders[i].recommended, speed[i]))
    for index in order:
        chosen.setdefault(contenders[index].candidate, contenders[index])
    return {candidate: chosen[candidate] for candidate in dict.fromkeys(each.candidate for each in contenders)}


def _speed(contenders: Sequence[Contender]) -> list[float]:
    """Return each contender's mean rank by cycles, among all of them."""
    metrics = contenders[0].cycles if contenders else ()
    by_metric = [shared_ranks({i: c.figures[metric] for i, c in enumerate(contenders)}) for metric in metrics]
    return [_mean([ranks[i] for ranks in by_metric]) for i in range(len(contenders))]


def _ranks(standing: Sequence[Contender]) -> dict[str, dict[str, float]]:
    metrics = standing[0].figures if standing else {}
    return {metric: shared_ranks({c.candidate: c.figures[metric] for c in standing}) for metric in metrics}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
