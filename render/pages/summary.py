"""The summary of one system: every instance with its KAT status, the cost of its operations, and its sizes."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from evidence.operations import FAMILIES, Family, operation_rank
from render import counters, environment, figures, hash_baseline, templating
from render.counters import Kind
from render.entry import Entry, Operation
from render.frames import RecordRow, operation_text
from render.sections import kat, sizes
from render.subject import CandidateSubject, SystemSubject
from render.table import Column, Content, Line, Piece, Table, line, table

TITLES = {
    Family.SIGN: "Digital signatures",
    Family.KEM: "Key encapsulation",
    Family.KEX: "Key exchange",
    Family.HASH: "Hash functions",
}
SIZE_COLUMNS = {
    Family.SIGN: (("public key", sizes.public_key), ("signature", sizes.signature)),
    Family.KEM: (("public key", sizes.public_key), ("ciphertext", sizes.ciphertext)),
    Family.KEX: (("passes", sizes.passes), ("messages", sizes.messages_total)),
}


class Group(NamedTuple):
    """All instances of one family; those of hash functions also beside the baseline, where that was measured."""

    title: str
    table: Table
    relative: Table | None
    wants_baseline: bool


def path(system: SystemSubject) -> str:
    """Return where the page lies below the output folder."""
    return f"{system.system_id}/index.md"


def view(system: SystemSubject, reports: Sequence[CandidateSubject]) -> dict[str, Any]:
    """Return the page's view model."""
    records = [record for report in reports for record in report.records]
    return {
        "system": system,
        "title": f"Performance on {system.architecture_text} ({system.system_id})",
        "facts": _facts(system),
        "cautions": environment.cautions(system.environment, system.campaign, records),
        "groups": _groups(reports, _shown_kind(records)),
    }


def render(system: SystemSubject, reports: Sequence[CandidateSubject]) -> str:
    """Return the page as Markdown that holds HTML."""
    return templating.render("summary.md.j2", view(system, reports))


def _facts(system: SystemSubject) -> list[Line]:
    """Return the machine in short, and how much was measured on it."""
    frames = system.frames
    passed = int((frames.instances["kat"] == "PASS").sum())
    items = environment.items(system.environment, system.campaign)
    counted = [
        ("candidates", str(frames.instances["candidate"].nunique())),
        ("instances", f"{len(frames.instances)}, of which {passed} pass their KAT"),
        ("timed operations", f"{len(frames.records)} in {len(frames.processes)} processes"),
        ("timed calls", str(int(frames.processes["calls"].sum()))),
    ]
    return [line(label, value) for label, value in (*items, *counted)]


def _shown_kind(records: Sequence[RecordRow]) -> Kind | None:
    """Return the kind of count that all records share; None where they do not, and times are shown."""
    found = {counters.kind_of(record) for record in records if record.status == "complete"}
    return found.pop() if len(found) == 1 else None


def _groups(reports: Sequence[CandidateSubject], kind: Kind | None) -> list[Group]:
    groups = []
    for family in Family:
        entries = [entry for report in reports if report.family is family for entry in _entries(report)]
        if entries:
            is_hash = family is Family.HASH
            relative = hash_baseline.table_of(entries, kind) if is_hash else None
            groups.append(Group(TITLES[family], _table(family, entries, kind), relative, is_hash))
    return groups


def _entries(report: CandidateSubject) -> list[Entry]:
    sized = {each.label: each for each in sizes.of_instances(report)}
    records: dict[str, dict[Operation, RecordRow]] = {}
    for record in report.records:
        records.setdefault(record.label, {})[_operation(record)] = record
    notes = Counter(note.label for note in report.notes)
    return [Entry(report, i, records.get(i.label, {}), sized.get(i.label), notes[i.label]) for i in report.instances]


def _table(family: Family, entries: Sequence[Entry], kind: Kind | None) -> Table:
    columns = [
        Column[Entry]("candidate", lambda e: Piece(e.candidate.name, href=f"{e.candidate.candidate}/")),
        Column[Entry]("instance", lambda e: Piece(e.instance.label, code=True)),
        Column[Entry]("KAT", lambda e: kat.status(e.instance)),
        *(_operation_column(operation, kind) for operation in _operations(family, entries)),
        *(_size_column(title, size) for title, size in SIZE_COLUMNS.get(family, ())),
        Column[Entry]("notes", _notes, numeric=True),
    ]
    cost = kind.title("mean ") if kind else "mean time"
    in_bytes = "; sizes in bytes" if family in SIZE_COLUMNS else ""
    return table("summary", f"{TITLES[family]}: {cost} of one call{in_bytes}", columns, entries)


def _notes(entry: Entry) -> Content:
    """Return how many notes the evidence raises about the instance, with a link to them."""
    if not entry.notes:
        return "0"
    what = f"{entry.notes} {'note' if entry.notes == 1 else 'notes'} on {entry.instance.label}"
    return Piece(str(entry.notes), f"{entry.candidate.candidate}/#notes", name=what)


def _operations(family: Family, entries: Sequence[Entry]) -> list[Operation]:
    """Return the operations that get a column: those of the family, and whatever else was timed."""
    found = {operation for entry in entries for operation in entry.records}
    if family in SIZE_COLUMNS:
        found |= {Operation(name, 0) for name in FAMILIES[family].operations}
    return sorted(found, key=lambda operation: (operation_rank(family, operation.name), operation.message_bytes))


def _operation(record: RecordRow) -> Operation:
    return Operation(record.operation, (record.input_bytes or 0) if record.operation == "hash" else 0)


def _operation_column(operation: Operation, kind: Kind | None) -> Column[Entry]:
    def cost(entry: Entry) -> str:
        record = entry.records.get(operation)
        if record is None:
            return figures.ABSENT
        if record.status == "failed":
            return figures.FAILED
        return figures.count(record.mean_count) if kind else figures.duration(record.mean_seconds)

    return Column(operation_text(operation.name, operation.message_bytes), cost, numeric=True)


def _size_column(title: str, size: Callable[[sizes.Sized], str]) -> Column[Entry]:
    return Column(title, lambda entry: size(entry.sized) if entry.sized else figures.ABSENT, numeric=True)
