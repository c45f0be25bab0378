"""Below section 4: how the cost of single calls is distributed, as figures and as a picture per operation."""

from collections.abc import Callable
from typing import NamedTuple

from evidence.derive import CallQuantiles
from render.charts import strip
from render.facts import counters
from render.facts.counters import Kind
from render.facts.rows import RecordRow, operation_text
from render.facts.subject import CandidateSubject
from render.look import formats
from render.look.table import Column, Piece, Table, table


class Calls(NamedTuple):
    """One operation with the quantiles of its single calls; ``mean`` is in their unit."""

    record: RecordRow
    quantiles: CallQuantiles
    mean: float | None


def view(subject: CandidateSubject) -> list[Table]:
    """Return a table for each unit in which the evidence holds quantiles; none where it holds none."""
    found = [calls for record in subject.records if (calls := _calls(record))]
    kinds = sorted({counters.kind_of(calls.record) for calls in found}, key=lambda kind: kind or Kind("~", ""))
    return [_table(kind, [calls for calls in found if counters.kind_of(calls.record) == kind]) for kind in kinds]


def _calls(record: RecordRow) -> Calls | None:
    values = [getattr(record, f"call_{name}") for name in CallQuantiles._fields[1:]]
    if None in values:
        return None
    mean = record.mean_count
    if counters.kind_of(record) is None:
        mean = None if record.mean_seconds is None else record.mean_seconds * 1e9
    return Calls(record, CallQuantiles(record.calls, *values), mean)


def _table(kind: Kind | None, found: list[Calls]) -> Table:
    show = formats.count if kind else formats.nanoseconds

    def figure(title: str, pick: Callable[[Calls], float | None]) -> Column[Calls]:
        return Column(title, lambda calls: show(pick(calls)), numeric=True)

    columns = (
        Column[Calls]("instance", lambda c: Piece(c.record.label, code=True)),
        Column[Calls]("operation", lambda c: _operation(c.record)),
        figure("least", lambda c: c.quantiles.min),
        Column[Calls]("least to greatest", lambda c: Piece(_picture(c, show))),
        figure("greatest", lambda c: c.quantiles.max),
        figure("5 %", lambda c: c.quantiles.p05),
        figure("median", lambda c: c.quantiles.p50),
        figure("mean", lambda c: c.mean),
        figure("95 %", lambda c: c.quantiles.p95),
    )
    return table("distribution", f"Single calls in {kind.title('') if kind else 'time'}", columns, found)


def _operation(record: RecordRow) -> str:
    return operation_text(record.operation, record.input_bytes)


def _picture(calls: Calls, show: Callable[[float], str]) -> str:
    name = f"{calls.record.label} {_operation(calls.record)}"
    return strip.picture(name, calls.quantiles, calls.record.trial_mean_counts, show)
