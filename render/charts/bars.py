"""Bars of the share of symmetric functions: a small picture that a template draws, not the plotting library."""

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from evidence.operations import Family
from render.charts.draw import Figure
from render.charts.plans import Share
from render.downloads import csvtext
from render.look import formats, templating

LEGEND = "The first part of a bar are hash functions, the second the random number generator; the figure is the first."
WIDTH = 200
ROW = 18


class Bar(NamedTuple):
    """One bar in units of the picture, and its share in words."""

    top: int
    left: int
    hash_width: str
    drng_width: str
    text: str


def figure(family: Family, bars: Sequence[Share]) -> Figure | None:
    """Return the figure; None where nothing was profiled."""
    if not bars:
        return None
    names = list(dict.fromkeys(bar.name for bar in bars))
    operations = list(dict.fromkeys(bar.operation for bar in bars))
    title = f"Share of symmetric functions: {', '.join(operations)}"
    told = "Share of hash functions by parameter set. " + "; ".join(
        f"{bar.name} {bar.operation} {formats.share(bar.hash_share)}" for bar in bars
    )
    view = {
        "title": title,
        "told": f"{told}.",
        "names": names,
        "operations": operations,
        "bars": [_bar(bar, names.index(bar.name), operations.index(bar.operation)) for bar in bars],
        "row": ROW,
        "width": WIDTH,
    }
    svg = Markup(templating.render("shares.svg.j2", view))  # noqa: S704 - the template escapes
    return Figure(f"{family}-shares", title, LEGEND, svg, csvtext.of_rows([bar._asdict() for bar in bars]))


def _bar(bar: Share, row: int, column: int) -> Bar:
    shown = [f"{share * WIDTH:.1f}" for share in (bar.hash_share, bar.drng_share)]
    return Bar(row * ROW, column * (WIDTH + 60), shown[0], shown[1], formats.share(bar.hash_share))
