"""Section 3, Functional testing (KAT)."""

from typing import NamedTuple

from evidence.types import KatStatus
from render.facts import footnotes
from render.facts.footnotes import Note
from render.facts.rows import InstanceRow
from render.facts.subject import CandidateSubject
from render.look import formats
from render.look.table import Column, Content, Piece, Table, table


class Kat(NamedTuple):
    """The table, the catalog's footnotes, and what the build says about single instances.

    It is unremarkable where all pass and nobody remarks anything.
    """

    table: Table
    footnotes: tuple[Note, ...]
    remarks: list[tuple[str, str]]
    unremarkable: bool


def view(subject: CandidateSubject) -> Kat:
    """Return build flags and KAT status of every instance."""
    listed = subject.entry.footnotes if subject.entry else ()
    found = footnotes.number(listed, [instance.label for instance in subject.instances])

    def kat(instance: InstanceRow) -> Content:
        return (status(instance), *footnotes.marks(found, instance.label))

    columns = (
        Column[InstanceRow]("instance", lambda i: Piece(i.label, code=True)),
        Column[InstanceRow]("build flags", lambda i: i.flags or formats.ABSENT),
        Column[InstanceRow]("KAT", kat),
    )
    remarks = [(i.label, text) for i in subject.instances for text in _remarks(i)]
    passed = all(instance.kat == KatStatus.PASS for instance in subject.instances)
    shown = table("kat", "Known-answer tests", columns, subject.instances)
    return Kat(shown, found.notes, remarks, passed and not remarks and not found.notes)


def status(instance: InstanceRow) -> Piece:
    """Return the KAT status; any but PASS stands out."""
    return Piece(instance.kat, alert=instance.kat != KatStatus.PASS)


def _remarks(instance: InstanceRow) -> list[str]:
    tried = f"with the guide's flags the result was {instance.guide_result}"
    return [*([tried] if instance.guide_result else []), *([instance.reason] if instance.reason else [])]
