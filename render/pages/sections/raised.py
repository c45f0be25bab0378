"""Below section 4: the notes that the evidence itself raises about this page's rows."""

from itertools import groupby
from typing import NamedTuple

from render.facts.marks.rules import RULES
from render.facts.marks.scene import Raised
from render.facts.rows import operation_text
from render.facts.subject import CandidateSubject


class Mention(NamedTuple):
    """Rows of one instance that share their counters; ``operations`` is empty where it is the whole instance."""

    label: str
    operations: str
    counters: str


class Kind(NamedTuple):
    """One kind of note with all rows that it speaks of."""

    kind: str
    title: str
    mentions: list[Mention]


def view(subject: CandidateSubject) -> list[Kind]:
    """Return the notes kind by kind, in the order of the table of rules."""
    of_kind: dict[str, list[Raised]] = {}
    for note in subject.notes:
        of_kind.setdefault(note.kind, []).append(note)
    return [Kind(rule.kind, rule.title, _mentions(of_kind[rule.kind])) for rule in RULES if rule.kind in of_kind]


def _mentions(notes: list[Raised]) -> list[Mention]:
    grouped = groupby(notes, key=lambda note: (note.label, note.counters))
    return [
        Mention(label, ", ".join(operation_text(n.operation, n.input_bytes) for n in together if n.operation), counters)
        for (label, counters), together in grouped
    ]
