"""Intervals for medians of few values, from the exact bootstrap distribution: no random numbers, no seed.

Of all samples of size n drawn with replacement from n sorted values, the share whose (lower) median is at most the
k-th value is a binomial tail. So the distribution that a bootstrap would approach by drawing is known in full.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple


class Interval(NamedTuple):
    """An interval that holds ``level`` of the distribution, ends included."""

    low: float
    high: float


class Weighted(NamedTuple):
    """A value and its probability."""

    value: float
    weight: float


def median_distribution(values: Sequence[float]) -> list[Weighted]:
    """Return the bootstrap distribution of the median of ``values``, ascending.

    Raises:
        ValueError: when there are no values.
    """
    ordered = sorted(values)
    n = len(ordered)
    if n == 0:
        raise ValueError("no values")
    middle = (n + 1) // 2  # the lower median is the middle-th smallest

    def at_most(k: int) -> float:
        share = k / n
        return sum(math.comb(n, j) * share**j * (1 - share) ** (n - j) for j in range(middle, n + 1))

    return [Weighted(value, at_most(k) - at_most(k - 1)) for k, value in enumerate(ordered, 1)]


def median_interval(values: Sequence[float], level: float = 0.95) -> Interval:
    """Return the bootstrap interval of the median of ``values``."""
    return _interval(median_distribution(values), level)


def ratio_interval(after: Sequence[float], before: Sequence[float], level: float = 0.95) -> Interval:
    """Return the bootstrap interval of the ratio of two independent medians, ``after`` over ``before``."""
    ratios = [
        Weighted(a.value / b.value, a.weight * b.weight)
        for a in median_distribution(after)
        for b in median_distribution(before)
    ]
    return _interval(sorted(ratios), level)


def _interval(distribution: Sequence[Weighted], level: float) -> Interval:
    tail = (1 - level) / 2
    return Interval(_quantile(distribution, tail), _quantile(distribution, 1 - tail))


def _quantile(distribution: Sequence[Weighted], share: float) -> float:
    below = 0.0
    for value, weight in distribution:
        below += weight
        if below >= share:
            return value
    return distribution[-1].value
