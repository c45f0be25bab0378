"""The part of the start page that the evidence fills: numbers, and the latest campaigns. MkDocs takes it in."""

from collections.abc import Sequence

from render.facts.overview import Overview
from render.look import formats, templating
from render.look.table import Column, Content, Line, Piece, Table, line, table

PATH = "assets/start.inc"
LATEST = 5


def render(overviews: Sequence[Overview]) -> str:
    """Return the part as HTML without blank lines, as seen from the top of the site."""
    shown = {"numbers": numbers(overviews), "campaigns": _campaigns(overviews)}
    text = templating.render("start.html.j2", shown)
    return "\n".join(line for line in text.splitlines() if line.strip()) + "\n"


def numbers(overviews: Sequence[Overview]) -> list[Line]:
    """Return how much is measured: a candidate on two systems counts once, its parameter sets on each."""
    candidates = {candidate for each in overviews for candidate in each.results}
    results = [result for each in overviews for result in each.results.values()]
    counted = (
        ("systems", len(overviews)),
        ("candidates", len(candidates)),
        ("parameter sets, on all systems", sum(result.instances for result in results)),
        ("of these pass their known-answer test", sum(result.passed for result in results)),
        ("timed operations", sum(each.operations for each in overviews)),
        ("notes that the evidence raises", sum(each.notes for each in overviews)),
    )
    return [line(label, formats.whole(value)) for label, value in counted]


def _campaigns(overviews: Sequence[Overview]) -> Table:
    latest = sorted(overviews, key=lambda each: (each.measured, each.system_id), reverse=True)[:LATEST]
    columns = (
        Column[Overview]("system", _system),
        Column[Overview]("measured from", lambda each: each.measured),
        Column[Overview]("architecture", lambda each: each.architecture),
        Column[Overview]("machine", lambda each: each.description),
        Column[Overview]("candidates", lambda each: formats.whole(len(each.results)), numeric=True),
        Column[Overview]("notes", lambda each: formats.whole(each.notes), numeric=True),
    )
    return table("systems", "The latest campaigns", columns, latest)


def _system(each: Overview) -> Content:
    link = Piece(each.system_id, href=f"performance/{each.system_id}/")
    return link if each.registered else (link, Piece(" (unregistered)"))
