"""How a number looks on a page: the one place for it (report page, Number formats). Pure functions.

Every function takes ``None`` for what was not observed and answers with an en dash.
"""

from collections.abc import Callable
from typing import TypeVar

ABSENT = "–"
FAILED = "failed"
T = TypeVar("T")

COUNT_STEPS = ((1e9, "{:.2f} G"), (1e6, "{:.2f} M"), (1e4, "{:.1f} k"))
COUNT_UNITS = (1e9, 1e6, 1e3)
TIME_STEPS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


def or_dash(show: Callable[[T], str]) -> Callable[[T | None], str]:
    """Let a format take None, which becomes the en dash."""

    def shown(value: T | None) -> str:
        return ABSENT if value is None else show(value)

    shown.__doc__ = show.__doc__
    return shown


@or_dash
def count(value: float) -> str:
    """Return cycles or ticks: ``1.38 G``, ``816.33 M``, ``767.9 k``, ``3862``."""
    for (least, pattern), unit in zip(COUNT_STEPS, COUNT_UNITS, strict=True):
        if value >= least:
            return pattern.format(value / unit)
    return f"{value:.0f}"


@or_dash
def duration(seconds: float) -> str:
    """Return a time with three significant digits: ``4.5 s``, ``303 ms``, ``877 µs``, ``22.8 ns``."""
    for least, unit in TIME_STEPS:
        if seconds >= least:
            return f"{seconds / least:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


@or_dash
def nanoseconds(value: float) -> str:
    """Return a time that was counted in nanoseconds."""
    return duration(value / 1e9)


@or_dash
def general(value: float) -> str:
    """Return operations per second, or calls per operation: ``1.14e+03``, ``3.3``, ``0.222``."""
    return f"{value:.3g}"


@or_dash
def share(fraction: float) -> str:
    """Return a share: ``97%``, ``10%``, ``1.6%``, ``0.0%``."""
    percent = 100 * fraction
    return f"{percent:.0f}%" if percent >= 9.5 else f"{percent:.1f}%"


@or_dash
def one_decimal(value: float) -> str:
    """Return cycles per byte, or MB per second: ``120.7``."""
    return f"{value:.1f}"


@or_dash
def ratio(value: float) -> str:
    """Return how many times as much: ``0.98×``, ``12.3×``, ``105×``."""
    return f"{value:.0f}×" if value >= 99.95 else f"{value:.1f}×" if value >= 9.995 else f"{value:.2f}×"


@or_dash
def whole(value: int) -> str:
    """Return a number as it is: sizes in bytes, calls."""
    return str(value)


@or_dash
def kib(size_bytes: int) -> str:
    """Return a resident size, cut to whole KiB: ``3456 KiB``."""
    return f"{size_bytes // 1024} KiB"


@or_dash
def mib(size_kib: int) -> str:
    """Return the memory of a machine, cut to whole MiB: ``30562 MiB``."""
    return f"{size_kib // 1024} MiB"


@or_dash
def gigahertz(hertz: float) -> str:
    """Return a clock rate: ``2.71 GHz``."""
    return f"{hertz / 1e9:.2f} GHz"


@or_dash
def to_the_second(utc: str) -> str:
    """Return an ISO time without fraction and zone: ``2026-09-28T15:05:46``."""
    return utc[: len("2026-09-28T15:05:46")]
