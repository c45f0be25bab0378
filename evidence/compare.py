"""What changed between two campaigns of one system, with the noise told apart from the change."""

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from evidence import derive, store
from evidence.bootstrap import Interval, ratio_interval
from evidence.types import BuildInstance, Record

# A change must be larger than this to count, however sure it is: smaller ones have no practical meaning.
PRACTICAL = 0.02

Verdict = Literal["slower", "faster", "within noise", "added", "removed", "failed", "repaired", "not comparable"]
CHANGES: frozenset[Verdict] = frozenset({"slower", "faster", "added", "removed", "failed", "repaired"})


class Row(NamedTuple):
    """One operation in both campaigns. Times are medians over trials of one call's mean time, in seconds."""

    candidate: str
    label: str
    operation: str
    input_bytes: int | None
    before_s: float | None
    after_s: float | None
    ratio: float | None  # after over before
    interval: Interval | None  # of the ratio, 95 %
    verdict: Verdict


class Fact(NamedTuple):
    """Something besides time that is another in both campaigns: a KAT status, flags, sizes, a setting."""

    place: str
    name: str
    before: str
    after: str


class Comparison(NamedTuple):
    """All rows, and the facts that changed."""

    rows: tuple[Row, ...]
    facts: tuple[Fact, ...]

    def changed(self) -> list[Row]:
        """Return the rows that are not within noise."""
        return [row for row in self.rows if row.verdict in CHANGES]


Key = tuple[str, str, str, int]


def compare(before: store.SystemEvidence, after: store.SystemEvidence) -> Comparison:
    """Compare two campaigns, operation by operation."""
    old, new = _keyed(before.records), _keyed(after.records)
    rows = [_row(old.get(key), new.get(key)) for key in sorted(old.keys() | new.keys())]
    return Comparison(tuple(rows), tuple(_facts(before, after)))


def _keyed(records: Iterable[Record]) -> dict[Key, Record]:
    return {(record.candidate, record.label, record.operation, record.input_bytes or 0): record for record in records}


def _row(old: Record | None, new: Record | None) -> Row:
    one = new or old
    if one is None:
        raise ValueError("a row needs a record")
    before_s = derive.median_trial_seconds(old) if old else None
    after_s = derive.median_trial_seconds(new) if new else None
    ratio = after_s / before_s if before_s and after_s else None
    interval = None
    if old and new and ratio is not None:
        interval = ratio_interval(derive.trial_mean_seconds(new), derive.trial_mean_seconds(old))
    return Row(
        candidate=one.candidate,
        label=one.label,
        operation=one.operation,
        input_bytes=one.input_bytes,
        before_s=before_s,
        after_s=after_s,
        ratio=ratio,
        interval=interval,
        verdict=_verdict(old, new, ratio, interval),
    )


def _verdict(old: Record | None, new: Record | None, ratio: float | None, interval: Interval | None) -> Verdict:
    if old is None or new is None:
        return "added" if old is None else "removed"
    if ratio is None or interval is None:
        if old.status == new.status:
            return "not comparable"
        return "failed" if new.status == "failed" else "repaired"
    return judge(ratio, interval)


def judge(ratio: float, interval: Interval) -> Verdict:
    """Say whether a ratio of times is a change: surely not 1, and far enough from 1 to matter."""
    if ratio >= 1 + PRACTICAL and interval.low > 1:
        return "slower"
    if ratio <= 1 / (1 + PRACTICAL) and interval.high < 1:
        return "faster"
    return "within noise"


def _facts(before: store.SystemEvidence, after: store.SystemEvidence) -> Iterator[Fact]:
    for key in sorted(before.build.keys() & after.build.keys()):
        for name in ("kat", "flags", "library_sha256", "sources_sha256", "elf_load_bytes"):
            yield from _fact(key, name, before.build[key], after.build[key])
    old, new = _keyed(before.records), _keyed(after.records)
    for record_key in sorted(old.keys() & new.keys()):
        for name in ("sizes", "counter"):
            place = " ".join(str(part) for part in record_key if part)
            yield from _differs(place, name, _shown(old[record_key], name), _shown(new[record_key], name))
    start, end = before.campaign.environment_at_start, after.campaign.environment_at_start
    for name in start.__struct_fields__:
        if name not in ("load_1min", "temperature_millicelsius", "cpu_number"):
            yield from _differs("campaign start", name, str(getattr(start, name)), str(getattr(end, name)))


def _fact(place: str, name: str, before: BuildInstance, after: BuildInstance) -> Iterator[Fact]:
    yield from _differs(place, name, str(getattr(before, name)), str(getattr(after, name)))


def _shown(record: Record, name: str) -> str:
    if name == "sizes":
        sizes = record.sizes
        return ", ".join(f"{field} {value}" for field in sizes.__struct_fields__ if (value := getattr(sizes, field)))
    counter = derive.counter_of(record)
    return f"{counter.name or counter.unit.value}" if counter else "none"


def _differs(place: str, name: str, before: str, after: str) -> Iterator[Fact]:
    if before != after:
        yield Fact(place, name, before, after)
