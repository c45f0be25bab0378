"""Section 4, Performance: the public-key table and the hash table."""

from collections.abc import Callable
from typing import Any, NamedTuple

from evidence.operations import Family
from evidence.types import CounterUnit
from render.facts import counters
from render.facts.counters import Kind
from render.facts.rows import RecordRow, operation_text
from render.facts.subject import CandidateSubject
from render.look import formats
from render.look.table import Column, Content, Piece, Table, table

Href = Callable[[str], str]


class Failure(NamedTuple):
    """Why an operation has no figures."""

    anchor: str
    label: str
    operation: str
    reason: str


class Performance(NamedTuple):
    """The table, and the reasons of failed measurements."""

    table: Table
    failures: list[Failure]
    has_spread: bool


def view(subject: CandidateSubject) -> Performance:
    """Return the timings of every operation, or of every message of a hash function."""
    records = subject.records
    of_family = hash_columns if subject.family is Family.HASH else operation_columns
    columns = of_family(records, subject.evidence_href)
    caption = f"Timings of {subject.candidate} on {subject.system.system_id}"
    return Performance(
        table("performance", caption, columns, records),
        [_failure(record) for record in records if record.status == "failed"],
        any(record.call_p50 is not None for record in records),
    )


def operation_columns(records: tuple[RecordRow, ...], href: Href) -> list[Column[RecordRow]]:
    """Return the columns for operations with keys; an operation's name leads to its record."""
    return [
        Column("instance", lambda r: Piece(r.label, code=True)),
        Column("operation", lambda r: Piece(r.operation, href(r.file))),
        *(Column(kind.title("mean "), _mean_count(kind), numeric=True) for kind in counters.kinds(records)),
        Column("mean time", _measured(lambda r: formats.duration(r.mean_seconds)), numeric=True),
        Column("ops/s", _measured(lambda r: formats.general(r.operations_per_second)), numeric=True),
        Column("median trial", _measured(lambda r: formats.duration(r.median_trial_seconds)), numeric=True),
        *_spread_columns(records),
        Column("n (trials × iters)", calls_text, numeric=True),
    ]


def hash_columns(records: tuple[RecordRow, ...], href: Href) -> list[Column[RecordRow]]:
    """Return the columns for hash functions; a message's length leads to its record."""
    kinds = counters.kinds(records)
    return [
        Column("instance", lambda r: Piece(r.label, code=True)),
        Column("message", lambda r: Piece(f"{formats.whole(r.input_bytes)} B", href(r.file)), numeric=True),
        *(Column(kind.title("mean "), _mean_count(kind), numeric=True) for kind in kinds),
        *(Column(kind.title("", "/byte"), _count_per_byte(kind), numeric=True) for kind in kinds),
        Column("mean time", _measured(lambda r: formats.duration(r.mean_seconds)), numeric=True),
        Column("MB/s", _measured(lambda r: formats.one_decimal(r.megabytes_per_second)), numeric=True),
        *_spread_columns(records),
        Column("n", calls_text, numeric=True),
    ]


def calls_text(record: RecordRow) -> str:
    """Return the calls behind a figure: ``3525 (5 × 705); 10 failed signing attempts retried``."""
    if not record.calls:
        return formats.ABSENT
    each = f"{record.trials} × {record.calls_per_trial}" if record.calls_per_trial else f"{record.trials} trials"
    retried = record.sign_failures_retried
    return f"{record.calls} ({each})" + (f"; {retried} failed signing attempts retried" if retried else "")


def _measured(show: Callable[[RecordRow], str]) -> Callable[[RecordRow], Content]:
    """Let a column say ``failed``, with a link to the reason, where the measurement failed."""

    def content(record: RecordRow) -> Content:
        failed = record.status == "failed"
        return Piece(formats.FAILED, f"#{_failure(record).anchor}", alert=True) if failed else show(record)

    return content


def _mean_count(kind: Kind) -> Callable[[RecordRow], Content]:
    return _measured(lambda r: formats.count(r.mean_count if counters.kind_of(r) == kind else None))


def _count_per_byte(kind: Kind) -> Callable[[RecordRow], Content]:
    def show(record: RecordRow) -> str:
        mean, length = record.mean_count, record.input_bytes
        if counters.kind_of(record) != kind or mean is None or not length:
            return formats.ABSENT
        return formats.one_decimal(mean / length)

    return _measured(show)


def _spread_columns(records: tuple[RecordRow, ...]) -> list[Column[RecordRow]]:
    """Return the columns of single calls, for each unit in which the evidence holds quantiles."""
    spread = [record for record in records if record.call_p50 is not None]
    columns: list[Column[RecordRow]] = []
    if any(counters.kind_of(record) for record in spread):
        columns += [
            Column(kind.title("median ", ", quartiles"), _spread(kind, formats.count), numeric=True)
            for kind in counters.kinds(spread)
        ]
    if any(record.counter_unit == CounterUnit.NANOSECONDS for record in spread):
        columns.append(Column("median time, quartiles", _spread(None, formats.nanoseconds), numeric=True))
    return columns


def _spread(kind: Kind | None, show: Callable[[float], str]) -> Callable[[RecordRow], Content]:
    def quartiles(record: RecordRow) -> str:
        values: list[Any] = [record.call_p50, record.call_p25, record.call_p75]
        if None in values or counters.kind_of(record) != kind:
            return formats.ABSENT
        middle, low, high = map(show, values)
        return f"{middle} ({low} – {high})"

    return _measured(quartiles)


def _failure(record: RecordRow) -> Failure:
    operation = operation_text(record.operation, record.input_bytes)
    anchor = f"failed-{record.label}-{operation}".replace(" ", "-")
    return Failure(anchor, record.label, operation, record.reason or "the evidence gives no reason")
