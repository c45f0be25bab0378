"""The exact bootstrap of medians: against all samples counted out, and against drawing."""

import itertools
import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.bootstrap import median_distribution, median_interval, ratio_interval


@pytest.mark.parametrize(
    "values", [[3.0], [1.0, 2.0], [5.0, 1.0, 3.0], [1.0, 4.0, 2.0, 8.0], [2.0, 9.0, 4.0, 7.0, 1.0]]
)
def test_distribution_equals_all_samples_counted_out(values: list[float]) -> None:
    samples = [statistics.median_low(sample) for sample in itertools.product(values, repeat=len(values))]
    for value, weight in median_distribution(values):
        assert weight == pytest.approx(samples.count(value) / len(samples), abs=1e-12)


def test_interval_agrees_with_drawing() -> None:
    values = [10.0, 11.0, 12.5, 13.0, 20.0, 21.0, 22.0]
    drawn = random.Random(1)
    medians = sorted(statistics.median(drawn.choices(values, k=7)) for _ in range(20_000))
    low, high = median_interval(values, 0.9)
    assert (low, high) == (medians[1000], medians[19000])


def test_ratio_of_two_constants_is_sure() -> None:
    assert ratio_interval([3.0] * 5, [2.0] * 5) == (1.5, 1.5)


@given(st.lists(st.floats(min_value=1e-6, max_value=1e6), min_size=1, max_size=30))
def test_the_interval_holds_the_median_and_weights_sum_to_one(values: list[float]) -> None:
    assert sum(weight for _, weight in median_distribution(values)) == pytest.approx(1)
    low, high = median_interval(values)
    assert low <= statistics.median_low(values) <= high


def test_no_values_are_refused() -> None:
    with pytest.raises(ValueError, match="no values"):
        median_distribution([])
