"""The ranking of one system at one strength: every metric ranked by itself, overall by the mean rank."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from evidence.operations import Family
from evidence.types import KatStatus
from render import environment, figures, hash_baseline, measures, ranking, templating
from render.charts import bars, plans
from render.charts.draw import Drawer, Figure
from render.counters import Kind
from render.entry import Entry, facets, shown_kind
from render.frames import natural
from render.levels import RULE
from render.measures import Metric
from render.pages.summary import TITLES, cost_text
from render.ranking import Contender, Placed
from render.sections import kat
from render.subject import SystemSubject
from render.table import Column, Content, Piece, Table, table

REFERENCE = "reference"
BASELINE = "the baseline of hash functions, no candidate"


class Left(NamedTuple):
    """A set that has no place of its own, and why."""

    entry: Entry
    reason: str


class Place(NamedTuple):
    """A ranked set and its ranks."""

    entry: Entry
    placed: Placed


class Group(NamedTuple):
    """The sets of one family at one strength: those ranked, and those left out."""

    family: Family
    title: str
    table: Table
    left: Table | None
    figures: list[Figure]
    places: list[Place]


def path(system: SystemSubject, level: int) -> str:
    """Return where the page lies below the output folder."""
    return f"{system.system_id}/ranking-{level}/index.md"


def levels(entries: Iterable[Entry]) -> list[int]:
    """Return the strengths at which any set was built, the least first."""
    return sorted({entry.level for entry in entries if entry.level is not None})


def groups(entries: Sequence[Entry], drawer: Drawer) -> dict[int, list[Group]]:
    """Return the rankings of a system by strength, each family apart."""
    kind = shown_kind([record for entry in entries for record in entry.records.values()])
    return {level: list(_at(level, entries, kind, drawer)) for level in levels(entries)}


def _at(level: int, entries: Sequence[Entry], kind: Kind | None, drawer: Drawer) -> Iterator[Group]:
    for family in Family:
        here = [entry for entry in entries if entry.level == level and entry.family is family]
        if here:
            yield group(family, here, kind, drawer)


def view(
    system: SystemSubject, level: int, entries: Sequence[Entry], rankings: Mapping[int, Sequence[Group]]
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
        "groups": rankings[level],
        "cost": kind.title("mean ") if kind else "mean time",
        "level_rule": RULE,
        "unknown": sum(entry.level is None for entry in entries),
    }


def pages(
    system: SystemSubject, entries: Sequence[Entry], rankings: Mapping[int, Sequence[Group]]
) -> Iterator[tuple[str, str]]:
    """Yield every ranking page of a system as Markdown that holds HTML, and the data of its charts beside it."""
    for level, found in rankings.items():
        yield path(system, level), templating.render("ranking.md.j2", view(system, level, entries, rankings))
        for figure in (figure for each in found for figure in each.figures):
            yield path(system, level).replace("index.md", f"{figure.name}.csv"), figure.csv


def group(family: Family, entries: Sequence[Entry], kind: Kind | None, drawer: Drawer) -> Group:
    """Return the ranking of the sets of one family at one strength."""
    entry_of = {(entry.candidate.candidate, entry.instance.label): entry for entry in entries}
    reasons = {key: reason for key, entry in entry_of.items() if (reason := why_not(entry, kind))}
    outcome = ranking.rank([_contender(entry, kind) for key, entry in entry_of.items() if key not in reasons])
    places = [Place(entry_of[each.contender.candidate, each.contender.label], each) for each in outcome.placed]
    left = [Left(entry_of[key], reason) for key, reason in reasons.items()]
    left += [Left(entry_of[c.candidate, c.label], f"{by.label} stands for it") for c, by in outcome.represented]
    charted = [entry for key, entry in entry_of.items() if reasons.get(key, BASELINE) == BASELINE]
    drawn = _figures(family, charted, kind, drawer)
    return Group(family, TITLES[family], _table(family, places, kind), _left_table(family, left), drawn, places)


def _figures(family: Family, entries: Sequence[Entry], kind: Kind | None, drawer: Drawer) -> list[Figure]:
    """Return the charts of all sets that can be ranked, also of those for which another stands."""
    planned = plans.size_against_cost(family, entries, kind)
    if family is Family.HASH:
        planned += filter(None, [plans.cost_per_byte(entries, kind)])
    drawn = [drawer.figure(plan) for plan in planned]
    return [*drawn, *filter(None, [bars.figure(family, plans.shares(family, entries))])]


def why_not(entry: Entry, kind: Kind | None) -> str:
    """Return why a set cannot be ranked; nothing if it can."""
    instance = entry.instance
    noted = [f for f in (entry.candidate.entry.footnotes if entry.candidate.entry else ()) if f.matches(instance.label)]
    if entry.candidate.candidate == hash_baseline.CANDIDATE:
        return BASELINE
    if instance.variant != REFERENCE:
        return f"{instance.variant}: only reference implementations are ranked"
    if any(footnote.action == "exclude" for footnote in noted):
        return "a footnote excludes it from timing"
    if instance.kat != KatStatus.PASS and not noted:
        return f"KAT {instance.kat}, and no footnote lets it be timed all the same"
    missing = [metric.title for metric in measures.METRICS[entry.family] if metric.figure(entry, kind) is None]
    return f"no figure for {', '.join(missing)}" if missing else ""


def _contender(entry: Entry, kind: Kind | None) -> Contender:
    metrics = measures.METRICS[entry.family]
    figures_of = {metric.title: metric.figure(entry, kind) for metric in metrics}
    recommended = entry.candidate.entry.recommended if entry.candidate.entry else ()
    return Contender(
        entry.candidate.candidate,
        entry.instance.label,
        {title: figure for title, figure in figures_of.items() if figure is not None},
        tuple(metric.title for metric in metrics if metric.operation),
        entry.instance.label in recommended,
    )


def _table(family: Family, places: Sequence[Place], kind: Kind | None) -> Table:
    columns = [
        Column[Place]("candidate", lambda p: _candidate(p.entry)),
        Column[Place]("parameter set", lambda p: Piece(p.entry.instance.label, code=True)),
        Column[Place]("KAT", lambda p: kat.status(p.entry.instance)),
        Column[Place]("rank", lambda p: rank_text(p.placed.rank), numeric=True, order=lambda p: p.placed.rank),
        Column[Place](
            "mean rank",
            lambda p: figures.one_decimal(p.placed.mean_rank),
            numeric=True,
            order=lambda p: p.placed.mean_rank,
        ),
        *(_metric_column(metric, kind) for metric in measures.METRICS[family]),
    ]
    caption = f"{TITLES[family]}: figures, and in brackets the rank by each of them"
    return table("ranking", caption, columns, places, lambda p: facets(p.entry))


def _metric_column(metric: Metric, kind: Kind | None) -> Column[Place]:
    def content(place: Place) -> Content:
        figure = metric.figure(place.entry, kind)
        shown = cost_text(figure, kind) if metric.operation else f"{figure:.0f} B"
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
    return table("left", f"{TITLES[family]} without a place of their own", columns, ordered) if left else None


def _candidate(entry: Entry) -> Piece:
    return Piece(entry.candidate.name, href=f"../{entry.candidate.candidate}/")
