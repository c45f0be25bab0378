"""Hash functions beside the baseline: pseudoXOF of the same width over messages of the same length."""

from collections.abc import Sequence

from render.facts.counters import Kind
from render.facts.entry import Entry, Operation, facets
from render.facts.ranking import BASELINE_CANDIDATE
from render.facts.rows import RecordRow
from render.look import formats
from render.look.table import Column, Piece, Table, table

LABEL = "pseudoXOF-{}"
Baseline = dict[tuple[str, Operation], RecordRow]


def table_of(entries: Sequence[Entry], kind: Kind | None) -> Table | None:
    """Return the cost of every instance as a multiple of the baseline's; None where that was not measured."""
    baseline = {
        (entry.instance.label, operation): record
        for entry in entries
        if _is_baseline(entry)
        for operation, record in entry.records.items()
    }
    shown = [entry for entry in entries if not _is_baseline(entry)]
    if not baseline or not shown:
        return None
    lengths = sorted({operation for entry in shown for operation in entry.records}, key=lambda o: o.message_bytes)
    columns = [
        Column[Entry]("candidate", lambda e: Piece(e.candidate.name, href=f"{e.candidate.candidate}/")),
        Column[Entry]("instance", lambda e: Piece(e.instance.label, code=True)),
        Column[Entry]("baseline", lambda e: _label(e) or formats.ABSENT),
        *(_ratio_column(operation, baseline, kind) for operation in lengths),
    ]
    what = kind.plural if kind else "time"
    caption = f"Hash functions: {what} of one call as a multiple of pseudoXOF of the same width and message length"
    return table("summary", caption, columns, shown, facets)


def _is_baseline(entry: Entry) -> bool:
    return entry.candidate.candidate == BASELINE_CANDIDATE and entry.instance.label.startswith(LABEL.format(""))


def _label(entry: Entry) -> str:
    """Return the baseline's label for the width of the instance; empty where the width is not known."""
    digest_bytes = next((r.digest_bytes for r in entry.records.values() if r.digest_bytes), None)
    return LABEL.format(8 * digest_bytes) if digest_bytes else ""


def _ratio_column(operation: Operation, baseline: Baseline, kind: Kind | None) -> Column[Entry]:
    def ratio(entry: Entry) -> float | None:
        ours, theirs = entry.records.get(operation), baseline.get((_label(entry), operation))
        return _ratio(ours, theirs, kind) if ours and theirs else None

    return Column(f"{operation.message_bytes} B", lambda entry: formats.ratio(ratio(entry)), numeric=True, order=ratio)


def _ratio(ours: RecordRow, theirs: RecordRow, kind: Kind | None) -> float | None:
    """Return the quotient of counts where all records share a counter, else of times."""
    above, below = (r.mean_count if kind else r.mean_seconds for r in (ours, theirs))
    return above / below if above is not None and below else None
