"""A compact picture of single calls: a strip with their quantiles, and the means of the trials below it.

The axis holds 5 % to 95 % and all trial means, with a third of that on either side; where the least or the greatest
call lies further out, the strip ends in an arrow, so that one slow call in a thousand does not hide all others. The
axis is linear where its end is below three times its start, else logarithmic; each picture has its own.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from markupsafe import Markup

from evidence.derive import CallQuantiles
from render.look import templating

WIDTH = 180
MARGIN = 4
BESIDE = 1 / 3
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


class Axis(NamedTuple):
    """What a picture spans, and whether calls lie below or above that."""

    start: float
    end: float
    below: bool
    above: bool

    @property
    def logarithmic(self) -> bool:
        """Return whether the axis is logarithmic."""
        return 0 < self.start * LOGARITHMIC_FROM <= self.end

    def x(self, value: float) -> float:
        """Return where a value stands; one outside stands at the edge."""
        scale = math.log if self.logarithmic else float
        start, end = scale(self.start), scale(self.end)
        within = scale(min(max(value, self.start), self.end)) - start
        return MARGIN + (WIDTH - 2 * MARGIN) * (within / (end - start) if end > start else 0.5)


class Strip(NamedTuple):
    """A picture: its words, its axis and marks, the width of its box, and where the trial means stand."""

    name: str
    told: str
    axis: Axis
    marks: Marks
    box: str
    means: tuple[str, ...]


def picture(name: str, calls: CallQuantiles, means: Sequence[float], show: Callable[[float], str]) -> Markup:
    """Return the picture as inline SVG that says in words what it shows."""
    return templating.fragment("strip.svg.j2", {"strip": place(name, calls, means, show)})


def place(name: str, calls: CallQuantiles, means: Sequence[float], show: Callable[[float], str]) -> Strip:
    """Return where the marks stand, and the words."""
    axis = span(calls, means)
    kind = "logarithmic" if axis.logarithmic else "linear"
    return Strip(
        f"{name}, {kind} axis from {show(axis.start)} to {show(axis.end)}",
        f"{show(calls.min)} to {show(calls.max)}, half of all {show(calls.p25)} to {show(calls.p75)}, "
        f"median {show(calls.p50)}; trial means {', '.join(map(show, means))}",
        axis,
        Marks._make(_number(axis.x(quantile)) for quantile in calls[1:]),
        _number(max(axis.x(calls.p75) - axis.x(calls.p25), 1)),
        tuple(_number(axis.x(mean)) for mean in means),
    )


def span(calls: CallQuantiles, means: Sequence[float]) -> Axis:
    """Return the axis that holds most calls and all trial means."""
    least, greatest = min(calls.min, *means), max(calls.max, *means)
    low, high = min(calls.p05, *means), max(calls.p95, *means)
    beside = BESIDE * (high - low)
    start, end = max(least, low - beside), min(greatest, high + beside)
    return Axis(start, end, below=calls.min < start, above=calls.max > end)


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
