"""The ranking of one system at one strength: every metric ranked by itself, overall by the mean rank."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from evidence.operations import FAMILIES, Family
from render.charts import bars, plans
from render.charts.draw import Drawer, Figure
from render.facts import counters, environment, measures
from render.facts.counters import Kind
from render.facts.entry import Entry, facets, shown_kind
from render.facts.measures import Metric
from render.facts.ranking import Group, Left, Place
from render.facts.rows import natural
from render.facts.strength import RULE
from render.facts.subject import SystemSubject
from render.look import formats, templating
from render.look.table import Column, Content, Piece, Table, table
from render.pages.sections import kat


class Shown(NamedTuple):
    """One family at one strength, as the page shows it."""

    family: Family
    title: str
    table: Table
    left: Table | None
    figures: list[Figure]


def path(system: SystemSubject, level: int) -> str:
    """Return where the page lies below the output folder."""
    return f"{system.system_id}/ranking-{level}/index.md"


def view(
    system: SystemSubject, level: int, entries: Sequence[Entry], rankings: Mapping[int, Sequence[Group]], drawer: Drawer
) -> dict[str, Any]:
    """Return the view model of the page about one strength."""
    records = [record for entry in entries for record in entry.records.values()]
    kind = shown_kind(records)
    return {
        "system": system,
        "level": level,
        "levels": list(rankings),
        "title": f"Ranking at {level} bits on {system.system_id}",
        "cautions": environment.cautions(system.environment, system.campaign, records),
        "groups": [_shown(group, kind, drawer) for group in rankings[level]],
        "cost": kind.title("mean ") if kind else "mean time",
        "level_rule": RULE,
        "unknown": sum(entry.level is None for entry in entries),
    }


def pages(
    system: SystemSubject, entries: Sequence[Entry], rankings: Mapping[int, Sequence[Group]], drawer: Drawer
) -> Iterator[tuple[str, str]]:
    """Yield every ranking page of a system as Markdown that holds HTML, and the data of its charts beside it."""
    for level in rankings:
        shown = view(system, level, entries, rankings, drawer)
        yield path(system, level), templating.render("ranking.md.j2", shown)
        for figure in (figure for each in shown["groups"] for figure in each.figures):
            yield path(system, level).replace("index.md", f"{figure.name}.csv"), figure.csv


def _shown(group: Group, kind: Kind | None, drawer: Drawer) -> Shown:
    family = group.family
    table, left = _table(family, group.places, kind), _left_table(family, group.left)
    return Shown(family, FAMILIES[family].title, table, left, _figures(family, group.charted, kind, drawer))


def _figures(family: Family, entries: Sequence[Entry], kind: Kind | None, drawer: Drawer) -> list[Figure]:
    planned = plans.size_against_cost(family, entries, kind)
    if family is Family.HASH:
        planned += filter(None, [plans.cost_per_byte(entries, kind)])
    drawn = [drawer.figure(plan) for plan in planned]
    return [*drawn, *filter(None, [bars.figure(family, plans.shares(family, entries))])]


def _table(family: Family, places: Sequence[Place], kind: Kind | None) -> Table:
    columns = [
        Column[Place]("candidate", lambda p: _candidate(p.entry)),
        Column[Place]("parameter set", lambda p: Piece(p.entry.instance.label, code=True)),
        Column[Place]("KAT", lambda p: kat.status(p.entry.instance)),
        Column[Place]("rank", lambda p: rank_text(p.placed.rank), numeric=True, order=lambda p: p.placed.rank),
        Column[Place](
            "mean rank",
            lambda p: formats.one_decimal(p.placed.mean_rank),
            numeric=True,
            order=lambda p: p.placed.mean_rank,
        ),
        *(_metric_column(metric, kind) for metric in measures.METRICS[family]),
    ]
    caption = f"{FAMILIES[family].title}: figures, and in brackets the rank by each of them"
    return table("ranking", caption, columns, places, lambda p: facets(p.entry))


def _metric_column(metric: Metric, kind: Kind | None) -> Column[Place]:
    def content(place: Place) -> Content:
        figure = metric.figure(place.entry, kind)
        shown = counters.cost_text(figure, kind) if metric.operation else f"{figure:.0f} B"
        return (Piece(shown), Piece(f" ({rank_text(place.placed.ranks[metric.title])})", quiet=True))

    return Column(metric.title, content, numeric=True, order=lambda place: metric.figure(place.entry, kind))


def rank_text(rank: float) -> str:
    """Return a rank; a shared one may lie between two places: ``3``, ``3.5``."""
    return f"{rank:g}"


def _left_table(family: Family, left: Sequence[Left]) -> Table | None:
    columns = (
        Column[Left]("candidate", lambda each: _candidate(each.entry)),
        Column[Left]("parameter set", lambda each: Piece(each.entry.instance.label, code=True)),
        Column[Left]("why", lambda each: each.reason),
    )
    ordered = sorted(
        left, key=lambda each: (natural(each.entry.candidate.candidate), natural(each.entry.instance.label))
    )
    return table("left", f"{FAMILIES[family].title} without a place of their own", columns, ordered) if left else None


def _candidate(entry: Entry) -> Piece:
    return Piece(entry.candidate.name, href=f"../{entry.candidate.candidate}/")
