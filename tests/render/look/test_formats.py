"""Number formats of the report page: its own examples, the boundaries, and what holds for every number."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from render.look import formats

POSITIVE = st.floats(min_value=1e-9, max_value=1e15, allow_nan=False)
COUNT_SCALE = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9}
TIME_SCALE = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1_380_000_000, "1.38 G"),
        (816_330_000, "816.33 M"),
        (767_900, "767.9 k"),
        (3862, "3862"),
        (1e9, "1.00 G"),
        (999_999_999, "1000.00 M"),
        (1e6, "1.00 M"),
        (999_999, "1000.0 k"),
        (1e4, "10.0 k"),
        (9999, "9999"),
        (9999.4, "9999"),
        (0, "0"),
        (None, "–"),
    ],
)
def test_count(value: float | None, text: str) -> None:
    assert formats.count(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (4.5, "4.5 s"),
        (0.303, "303 ms"),
        (877e-6, "877 µs"),
        (22.8e-9, "22.8 ns"),
        (1.0, "1 s"),
        (0.9994, "999 ms"),
        (1e-3, "1 ms"),
        (1e-6, "1 µs"),
        (0.5e-9, "0.5 ns"),
        (1234.0, "1.23e+03 s"),
        (0, "0 ns"),
        (None, "–"),
    ],
)
def test_duration(seconds: float | None, text: str) -> None:
    assert formats.duration(seconds) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(1140, "1.14e+03"), (3.3, "3.3"), (0.222, "0.222"), (349, "349"), (999.4, "999"), (1001, "1e+03"), (None, "–")],
)
def test_general(value: float | None, text: str) -> None:
    assert formats.general(value) == text


@pytest.mark.parametrize(
    ("fraction", "text"),
    [
        (0.97, "97%"),
        (0.0951, "10%"),
        (0.095, "10%"),
        (0.0949, "9.5%"),
        (0.016, "1.6%"),
        (0.0, "0.0%"),
        (1.0, "100%"),
        (None, "–"),
    ],
)
def test_share(fraction: float | None, text: str) -> None:
    assert formats.share(fraction) == text


def test_sizes_are_cut_not_rounded() -> None:
    assert formats.kib(3456 * 1024 + 1023) == "3456 KiB"
    assert formats.mib(31295756) == "30562 MiB"
    assert formats.whole(0) == "0"
    assert formats.one_decimal(120.66) == "120.7"


def test_times_lose_their_fraction_and_zone() -> None:
    assert formats.to_the_second("2026-09-28T15:05:46.790099+00:00") == "2026-09-28T15:05:46"


@pytest.mark.parametrize("show", [formats.whole, formats.kib, formats.mib, formats.gigahertz, formats.to_the_second])
def test_absence_is_an_en_dash(show: object) -> None:
    assert show(None) == "–"  # type: ignore[operator]


@given(POSITIVE)
def test_a_count_says_its_value_to_the_digits_shown(value: float) -> None:
    number, _, unit = formats.count(value).partition(" ")
    decimals = len(number.partition(".")[2])
    assert abs(float(number) * COUNT_SCALE[unit] - value) <= 0.5001 * 10**-decimals * COUNT_SCALE[unit]


@given(POSITIVE)
def test_a_duration_says_its_value_to_three_digits(seconds: float) -> None:
    number, _, unit = formats.duration(seconds).partition(" ")
    assert float(number) * TIME_SCALE[unit] == pytest.approx(seconds, rel=0.0051)
    assert float(number) >= 0.999 or unit == "ns"


@given(st.floats(min_value=0, max_value=1))
def test_a_share_has_a_decimal_only_below_ten_percent(fraction: float) -> None:
    assert re.fullmatch(r"\d\.\d%|\d\d%|100%", formats.share(fraction))


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.984, "0.98×"), (9.994, "9.99×"), (9.996, "10.0×"), (99.94, "99.9×"), (99.96, "100×"), (None, "–")],
)
def test_ratio(value: float | None, text: str) -> None:
    assert formats.ratio(value) == text


def test_nanoseconds() -> None:
    assert [formats.nanoseconds(value) for value in (1500.0, 22.8, None)] == ["1.5 µs", "22.8 ns", "–"]
