"""A compact picture of single calls: a strip from the least to the greatest, its quantiles, and the trial means.

The axis is linear where the greatest cost is below three times the least, else logarithmic; each picture has its own.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from markupsafe import Markup

from evidence.derive import CallQuantiles
from render import templating

WIDTH = 180
MARGIN = 3
LOGARITHMIC_FROM = 3.0


class Marks(NamedTuple):
    """Where the quantiles stand, in units of the picture's width."""

    low: str
    p05: str
    p25: str
    p50: str
    p75: str
    p95: str
    high: str


class Strip(NamedTuple):
    """A picture: its words, its marks, the width of its box, and where the trial means stand."""

    name: str
    axis: str
    told: str
    marks: Marks
    box: str
    means: tuple[str, ...]


def picture(name: str, calls: CallQuantiles, means: Sequence[float], show: Callable[[float], str]) -> Markup:
    """Return the picture as inline SVG that says in words what it shows."""
    return templating.fragment("strip.svg.j2", {"strip": place(name, calls, means, show)})


def place(name: str, calls: CallQuantiles, means: Sequence[float], show: Callable[[float], str]) -> Strip:
    """Return where the marks stand, and the words."""
    low, high = min(calls.min, *means), max(calls.max, *means)
    logarithmic = low > 0 and high >= LOGARITHMIC_FROM * low
    scale = math.log if logarithmic else float
    start, span = scale(low), scale(high) - scale(low)

    def x(value: float) -> float:
        return MARGIN + (WIDTH - 2 * MARGIN) * ((scale(value) - start) / span if span else 0.5)

    return Strip(
        name,
        "logarithmic" if logarithmic else "linear",
        f"{show(calls.min)} to {show(calls.max)}, half of all {show(calls.p25)} to {show(calls.p75)}, "
        f"median {show(calls.p50)}; trial means {', '.join(map(show, means))}",
        Marks._make(_number(x(quantile)) for quantile in calls[1:]),
        _number(max(x(calls.p75) - x(calls.p25), 1)),
        tuple(_number(x(mean)) for mean in means),
    )


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
