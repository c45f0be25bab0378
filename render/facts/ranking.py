"""Who is ranked, who is not and why; ranks: each metric by itself, overall by the mean rank. Pure functions."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from evidence.operations import Family
from evidence.types import KatStatus
from render.facts import measures
from render.facts.counters import Kind
from render.facts.entry import Entry, shown_kind

K = TypeVar("K", bound=Hashable)
REFERENCE = "reference"
BASELINE_CANDIDATE = "hash-iccs"
BASELINE = "the baseline of hash functions, no candidate"


class Contender(NamedTuple):
    """One parameter set that can be ranked: ``figures`` by metric, the lower the better.

    ``cycles`` names the metrics that are costs in cycles: they choose the set that stands for its candidate.
    """

    candidate: str
    label: str
    figures: Mapping[str, float]
    cycles: tuple[str, ...]
    recommended: bool = False


class Placed(NamedTuple):
    """One ranked set: its rank overall, its mean rank, and its rank by each metric."""

    contender: Contender
    rank: float
    mean_rank: float
    ranks: dict[str, float]


class Outcome(NamedTuple):
    """The ranked sets, best first, and those for which another set of their candidate stands."""

    placed: list[Placed]
    represented: list[tuple[Contender, Contender]]


class Left(NamedTuple):
    """A set that has no place of its own, and why."""

    entry: Entry
    reason: str


class Place(NamedTuple):
    """A ranked set and its ranks."""

    entry: Entry
    placed: Placed


class Group(NamedTuple):
    """The sets of one family at one strength: those ranked, those left out, and those that charts show.

    Charts show all sets that can be ranked, also those for which another stands, and the baseline.
    """

    family: Family
    places: list[Place]
    left: list[Left]
    charted: list[Entry]


def shared_ranks(values: Mapping[K, float]) -> dict[K, float]:
    """Return the rank of each value from 1, the least first; equal values share the average of their places."""
    ordered = sorted(values.values())
    first = {value: place for place, value in reversed(list(enumerate(ordered, 1)))}
    last = {value: place for place, value in enumerate(ordered, 1)}
    return {key: (first[value] + last[value]) / 2 for key, value in values.items()}


def rank(contenders: Sequence[Contender]) -> Outcome:
    """Rank candidates, each by its recommended set or else by its fastest one.

    Fastest is the set with the lowest mean of its ranks by cycles among all contenders; of equals the first given.
    """
    chosen = representatives(contenders)
    standing = list(chosen.values())
    by_metric = _ranks(standing)
    means = {each.candidate: _mean([ranks[each.candidate] for ranks in by_metric.values()]) for each in standing}
    overall = shared_ranks(means)
    placed = [
        Placed(
            each,
            overall[each.candidate],
            means[each.candidate],
            {metric: ranks[each.candidate] for metric, ranks in by_metric.items()},
        )
        for each in standing
    ]
    others = [(each, chosen[each.candidate]) for each in contenders if each is not chosen[each.candidate]]
    return Outcome(sorted(placed, key=lambda p: p.rank), others)


def representatives(contenders: Sequence[Contender]) -> dict[str, Contender]:
    """Return the set that stands for each candidate."""
    speed = _speed(contenders)
    chosen: dict[str, Contender] = {}
    order = sorted(range(len(contenders)), key=lambda i: (not contenders[i].recommended, speed[i]))
    for index in order:
        chosen.setdefault(contenders[index].candidate, contenders[index])
    return {candidate: chosen[candidate] for candidate in dict.fromkeys(each.candidate for each in contenders)}


def _speed(contenders: Sequence[Contender]) -> list[float]:
    """Return each contender's mean rank by cycles, among all of them."""
    metrics = contenders[0].cycles if contenders else ()
    by_metric = [shared_ranks({i: c.figures[metric] for i, c in enumerate(contenders)}) for metric in metrics]
    return [_mean([ranks[i] for ranks in by_metric]) for i in range(len(contenders))]


def _ranks(standing: Sequence[Contender]) -> dict[str, dict[str, float]]:
    metrics = standing[0].figures if standing else {}
    return {metric: shared_ranks({c.candidate: c.figures[metric] for c in standing}) for metric in metrics}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def levels(entries: Iterable[Entry]) -> list[int]:
    """Return the strengths at which any set was built, the least first."""
    return sorted({entry.level for entry in entries if entry.level is not None})


def groups(entries: Sequence[Entry]) -> dict[int, list[Group]]:
    """Return the rankings of a system by strength, each family apart."""
    kind = shown_kind([record for entry in entries for record in entry.records.values()])
    return {level: list(_at(level, entries, kind)) for level in levels(entries)}


def _at(level: int, entries: Sequence[Entry], kind: Kind | None) -> Iterator[Group]:
    for family in Family:
        here = [entry for entry in entries if entry.level == level and entry.family is family]
        if here:
            yield group(family, here, kind)


def group(family: Family, entries: Sequence[Entry], kind: Kind | None) -> Group:
    """Return the ranking of the sets of one family at one strength."""
    entry_of = {(entry.candidate.candidate, entry.instance.label): entry for entry in entries}
    reasons = {key: reason for key, entry in entry_of.items() if (reason := why_not(entry, kind))}
    outcome = rank([_contender(entry, kind) for key, entry in entry_of.items() if key not in reasons])
    places = [Place(entry_of[each.contender.candidate, each.contender.label], each) for each in outcome.placed]
    left = [Left(entry_of[key], reason) for key, reason in reasons.items()]
    left += [Left(entry_of[c.candidate, c.label], f"{by.label} stands for it") for c, by in outcome.represented]
    charted = [entry for key, entry in entry_of.items() if reasons.get(key, BASELINE) == BASELINE]
    return Group(family, places, left, charted)


def why_not(entry: Entry, kind: Kind | None) -> str:
    """Return why a set cannot be ranked; nothing if it can."""
    instance = entry.instance
    noted = [f for f in (entry.candidate.entry.footnotes if entry.candidate.entry else ()) if f.matches(instance.label)]
    if entry.candidate.candidate == BASELINE_CANDIDATE:
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
