"""The summary of one system: every instance with its KAT status, the cost of its operations, and its sizes.

Without JavaScript the page holds plain tables. ``assets/tables.js`` makes them sortable, and filters rows by the facets
that each carries.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from evidence.operations import FAMILIES, Family, operation_rank
from render.facts import counters, environment, measures, sizes
from render.facts.counters import Kind
from render.facts.entry import Entry, Operation, facets, shown_kind, strength
from render.facts.rows import natural
from render.facts.strength import RULE
from render.facts.subject import SystemSubject
from render.look import formats, templating
from render.look.table import Column, Content, Line, Piece, Table, line, table
from render.pages.sections import hash_baseline, kat

PUBLIC_KEY = ("public key", sizes.public_key, "public_key_bytes")
SIZE_COLUMNS = {
    Family.SIGN: (PUBLIC_KEY, ("signature", sizes.signature, "signature_bytes")),
    Family.KEM: (PUBLIC_KEY, ("ciphertext", sizes.ciphertext, "ciphertext_bytes")),
    Family.KEX: (("passes", sizes.passes, "passes"), ("messages", sizes.messages_total, "messages_bytes")),
}


class Group(NamedTuple):
    """All instances of one family; those of hash functions also beside the baseline, where that was measured."""

    family: Family
    title: str
    table: Table
    relative: Table | None
    wants_baseline: bool


class Filter(NamedTuple):
    """A facet that a reader can filter by, and its values."""

    name: str
    title: str
    values: list[tuple[str, str]]


def path(system: SystemSubject) -> str:
    """Return where the page lies below the output folder."""
    return f"{system.system_id}/index.md"


def view(system: SystemSubject, entries: Sequence[Entry], levels: Sequence[int] = ()) -> dict[str, Any]:
    """Return the page's view model; ``levels`` are the strengths that have a ranking."""
    records = [record for entry in entries for record in entry.records.values()]
    groups = _groups(entries, shown_kind(records))
    return {
        "system": system,
        "title": f"Performance on {system.architecture_text} ({system.system_id})",
        "facts": _facts(system),
        "cautions": environment.cautions(system.environment, system.campaign, records),
        "groups": groups,
        "filters": _filters(groups, entries),
        "levels": levels,
        "level_rule": RULE,
    }


def render(system: SystemSubject, entries: Sequence[Entry], levels: Sequence[int] = ()) -> str:
    """Return the page as Markdown that holds HTML."""
    return templating.render("summary.md.j2", view(system, entries, levels))


def _filters(groups: Sequence[Group], entries: Sequence[Entry]) -> list[Filter]:
    """Return the filters, each with the values that occur, in their natural order."""
    families = [(group.family.value, group.title) for group in groups]
    titles = {"strength": "Strength (bits)", "kat": "KAT", "implementation": "Implementation", "notes": "Notes"}
    found = {name: sorted({facets(entry)[name] for entry in entries}, key=natural) for name in titles}
    return [
        Filter("family", "Family", families),
        *(Filter(name, title, [(value, value) for value in found[name]]) for name, title in titles.items()),
    ]


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


def _groups(entries: Sequence[Entry], kind: Kind | None) -> list[Group]:
    groups = []
    for family in Family:
        ours = [entry for entry in entries if entry.family is family]
        if ours:
            is_hash = family is Family.HASH
            relative = hash_baseline.table_of(ours, kind) if is_hash else None
            groups.append(Group(family, FAMILIES[family].title, _table(family, ours, kind), relative, is_hash))
    return groups


def _table(family: Family, entries: Sequence[Entry], kind: Kind | None) -> Table:
    columns = [
        Column[Entry]("candidate", lambda e: Piece(e.candidate.name, href=f"{e.candidate.candidate}/")),
        Column[Entry]("instance", lambda e: Piece(e.instance.label, code=True)),
        Column[Entry]("strength", strength, numeric=True, order=lambda e: e.level),
        Column[Entry]("implementation", lambda e: e.instance.variant),
        Column[Entry]("KAT", lambda e: kat.status(e.instance)),
        *(_operation_column(operation, kind) for operation in _operations(family, entries)),
        *(_size_column(title, size, name) for title, size, name in SIZE_COLUMNS.get(family, ())),
        Column[Entry]("notes", _notes, numeric=True, order=lambda e: e.notes),
    ]
    return table("summary", _caption(family, entries, kind), columns, entries, facets)


def _caption(family: Family, entries: Sequence[Entry], kind: Kind | None) -> str:
    cost = kind.title("mean ") if kind else "mean time"
    shares = any(measures.hash_share(e, operation) is not None for e in entries for operation in e.profiles)
    in_brackets = ", in brackets the share of hash functions where it was measured" if shares else ""
    in_bytes = "; sizes in bytes" if family in SIZE_COLUMNS else ""
    by_length = ", by the length of the message" if family is Family.HASH else ""
    return f"{FAMILIES[family].title}: {cost} of one call{by_length}{in_brackets}{in_bytes}"


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


def _operation_column(operation: Operation, kind: Kind | None) -> Column[Entry]:
    def content(entry: Entry) -> Content:
        record = entry.records.get(operation)
        if record is None:
            return formats.ABSENT
        if record.status == "failed":
            return formats.FAILED
        share = measures.hash_share(entry, operation)
        in_brackets = () if share is None else (Piece(f" ({formats.share(share)})", quiet=True),)
        return (Piece(counters.cost_text(measures.cost(entry, operation, kind), kind)), *in_brackets)

    title = f"{operation.message_bytes} B" if operation.name == "hash" else operation.name
    return Column(title, content, numeric=True, order=lambda entry: measures.cost(entry, operation, kind))


def _size_column(title: str, size: Callable[[sizes.Sized], str], name: str) -> Column[Entry]:
    def content(entry: Entry) -> str:
        return size(entry.sized) if entry.sized else formats.ABSENT

    return Column(title, content, numeric=True, order=lambda entry: measures.size(entry.sized, name))
