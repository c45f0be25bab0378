"""One row of a summary: a parameter set with all that was measured of it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from evidence.operations import Family
from render.facts import counters, sizes
from render.facts.counters import Kind
from render.facts.rows import InstanceRow, ProfileRow, RecordRow
from render.facts.sizes import Sized
from render.facts.strength import level_of
from render.facts.subject import CandidateSubject
from render.look import formats


class Operation(NamedTuple):
    """An operation; that of a hash function with the length of its message."""

    name: str
    message_bytes: int


class Entry(NamedTuple):
    """One instance of one candidate: its strength in bits, and records and profiles by operation."""

    candidate: CandidateSubject
    instance: InstanceRow
    records: Mapping[Operation, RecordRow]
    sized: Sized | None
    notes: int
    level: int | None = None
    profiles: Mapping[Operation, ProfileRow] = {}

    @property
    def family(self) -> Family:
        """Return the family of the candidate."""
        return self.candidate.family


def of_report(report: CandidateSubject) -> list[Entry]:
    """Return an entry for every instance of a candidate, in page order."""
    sized = {each.label: each for each in sizes.of_instances(report)}
    records: dict[str, dict[Operation, RecordRow]] = {}
    for record in report.records:
        records.setdefault(record.label, {})[operation_of(record)] = record
    profiles: dict[str, dict[Operation, ProfileRow]] = {}
    for profile in report.profiles:
        profiles.setdefault(profile.label, {})[operation_of(profile)] = profile
    notes = Counter(note.label for note in report.notes)
    return [
        Entry(
            report,
            instance,
            records.get(instance.label, {}),
            sized.get(instance.label),
            notes[instance.label],
            _level(report, instance.label, records.get(instance.label, {})),
            profiles.get(instance.label, {}),
        )
        for instance in report.instances
    ]


def operation_of(row: RecordRow | ProfileRow) -> Operation:
    """Return the operation of a record or a profile."""
    return Operation(row.operation, (row.input_bytes or 0) if row.operation == "hash" else 0)


def facets(entry: Entry) -> dict[str, str]:
    """Return what a reader can filter rows by."""
    instance = entry.instance
    return {
        "strength": strength(entry),
        "kat": instance.kat,
        "implementation": instance.variant,
        "notes": str(entry.notes),
    }


def strength(entry: Entry) -> str:
    """Return the strength in bits: ``128``."""
    return formats.whole(entry.level)


def shown_kind(records: Sequence[RecordRow]) -> Kind | None:
    """Return the kind of count that all records share; None where they do not, and times are shown."""
    found = {counters.kind_of(record) for record in records if record.status == "complete"}
    return found.pop() if len(found) == 1 else None


def _level(report: CandidateSubject, label: str, records: Mapping[Operation, RecordRow]) -> int | None:
    digest_bytes = next((record.digest_bytes for record in records.values() if record.digest_bytes), None)
    return level_of(report.candidate, report.entry, label, digest_bytes)
