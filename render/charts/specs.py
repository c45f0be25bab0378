"""What the charts look like, as Altair specifications without data, each made once.

Colours are variables of the style sheet, so that a chart follows the light and the dark scheme and print; each series
has a shape of its own too. Texts are measured with a font that vl-convert carries, and shown in that of the page.
"""

import math
from collections.abc import Iterable
from functools import cache
from typing import Any

import altair as alt

TEXT = "var(--md-default-fg-color)"
QUIET = "var(--figure-quiet)"
RULE = "var(--figure-rule--light)"
NOTHING = alt.InlineData(values=[])
COLOURS = [f"var(--chart-{number})" for number in range(1, 9)]
SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left"]
LENGTHS = (32, 128, 512, 1024, 4096, 8192, 16384, 65536)
LENGTH_TEXT = "datum.value < 1024 ? datum.value + ' B' : datum.value / 1024 + ' KiB'"
FRONT = ("front", "others")
LINES_HEIGHT = 280


@cache
def size_against_cost(size_title: str, cost_title: str) -> dict[str, Any]:
    """Return two logarithmic axes; the sets on the front are full circles with names, the others open diamonds."""
    front = alt.Scale(domain=[*FRONT])
    points = (
        alt.Chart()
        .mark_point(size=60, strokeWidth=1.5)
        .encode(
            x=alt.X("bytes:Q", title=size_title, axis=_axis("~s"), scale=_log()),
            y=alt.Y("cost:Q", title=cost_title, axis=_axis("~s"), scale=_log()),
            shape=_merged(alt.Shape, "front", front, ["circle", "diamond"]),
            color=_merged(alt.Color, "front", front, COLOURS[:2]),
            fill=_merged(alt.Fill, "front", front, [COLOURS[0], "transparent"]),
        )
    )
    names = (
        alt.Chart()
        .mark_text(align="left", dx=7, dy=-4, fontSize=10, color=TEXT)
        .encode(x="bytes:Q", y="cost:Q", text="name:N")
        .transform_filter(f"datum.front == '{FRONT[0]}'")
    )
    return _spec(alt.layer(points, names, data=NOTHING).properties(width=320, height=250))


@cache
def cost_per_byte(cost_title: str) -> dict[str, Any]:
    """Return a line with points of its own shape for each hash function, over the length of the message."""
    lengths = alt.Axis(values=[*LENGTHS], labelExpr=LENGTH_TEXT, labelOverlap=True)
    base = alt.Chart().encode(
        x=alt.X("message_bytes:Q", title="length of the message", axis=lengths, scale=_log()),
        y=alt.Y("cost_per_byte:Q", title=cost_title, axis=_axis("~g"), scale=_log()),
        color=alt.Color("name:N", legend=None, sort=None, scale=alt.Scale(range=COLOURS)),
    )
    shape = alt.Shape("name:N", legend=None, sort=None, scale=alt.Scale(range=SHAPES))
    lines = base.mark_line(strokeWidth=1.5)
    points = base.mark_point(size=45, filled=True, opacity=1).encode(shape=shape)
    names = (
        base.mark_text(align="left", dx=9, fontSize=10)
        .encode(y="name_at:Q", text="name:N", color=alt.value(TEXT))
        .transform_filter(f"datum.message_bytes == {LENGTHS[-1]}")
    )
    return _spec(alt.layer(lines, points, names, data=NOTHING).properties(width=520, height=LINES_HEIGHT))


def ticks(values: Iterable[float]) -> list[float]:
    """Return where a logarithmic axis has its lines: at powers of ten, and more over short spans."""
    known = [value for value in values if value > 0]
    low, high = (math.log10(bound(known)) for bound in (min, max))
    powers = range(math.floor(low), math.ceil(high) + 1)
    steps = (1,) if high - low >= 2 else (1, 2, 5)
    return [float(f"{step}e{power}") for power in powers for step in steps]


def _merged(channel: Any, field: str, scale: alt.Scale, values: list[str]) -> Any:
    return channel(f"{field}:N", legend=None, scale=alt.Scale(domain=scale.domain, range=values))


def _axis(form: str) -> alt.Axis:
    return alt.Axis(format=form)


def _log() -> alt.Scale:
    return alt.Scale(type="log", nice=False, padding=16)


def _spec(chart: alt.TopLevelMixin) -> dict[str, Any]:
    looks = alt.Config(
        aria=False,
        background="transparent",
        font="Roboto",
        view=alt.ViewConfig(stroke=RULE),
        axis=alt.AxisConfig(
            gridColor=RULE,
            domainColor=QUIET,
            tickColor=QUIET,
            labelColor=TEXT,
            titleColor=TEXT,
            titleFontWeight="normal",
        ),
    )
    return dict(chart.properties(config=looks).to_dict(validate=False))
