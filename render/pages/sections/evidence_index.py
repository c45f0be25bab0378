"""Section 7, Raw evidence index: the file behind every figure."""

from collections.abc import Iterator
from typing import NamedTuple

from evidence.catalog import Harness
from render.facts.rows import InstanceRow, operation_text
from render.facts.subject import CandidateSubject
from render.look.table import Column, Content, Piece, Table, table


class Item(NamedTuple):
    """One evidence file of one instance."""

    label: str
    what: Content
    file: str


class EvidenceIndex(NamedTuple):
    """The files, and the programs that made them."""

    table: Table
    campaign_href: str
    build_href: str
    harness: Harness | None
    katalog_version: str | None


def view(subject: CandidateSubject) -> EvidenceIndex:
    """Return every evidence file of the candidate, each with a link to it."""
    columns = (
        Column[Item]("instance", lambda item: Piece(item.label, code=True)),
        Column[Item]("item", lambda item: item.what),
        Column[Item]("file", lambda item: Piece(item.file, href=subject.evidence_href(item.file), code=True)),
    )
    items = [item for instance in subject.instances for item in _items(subject, instance)]
    system = subject.system
    return EvidenceIndex(
        table("evidence", f"Evidence of {subject.candidate} on {system.system_id}", columns, items),
        subject.evidence_href("campaign.json"),
        subject.evidence_href("build.json"),
        system.entry.harness if system.entry else None,
        system.campaign.katalog_version,
    )


def _items(subject: CandidateSubject, instance: InstanceRow) -> Iterator[Item]:
    label = instance.label
    if instance.kat_log:
        yield Item(label, _kat_log(instance), instance.kat_log)
    for record in subject.records:
        if record.label == label:
            yield Item(label, f"timing {operation_text(record.operation, record.input_bytes)}", record.file)
    for profile in subject.profiles:
        if profile.label == label:
            yield Item(label, f"hash profile {operation_text(profile.operation, profile.input_bytes)}", profile.file)


def _kat_log(instance: InstanceRow) -> Content:
    if not instance.kat_log_sha256:
        return "KAT log"
    return (Piece("KAT log (sha256 "), Piece(f"{instance.kat_log_sha256[:16]}…", code=True), Piece(")"))
