"""One row of a summary: an instance with all that was measured of it."""

from typing import NamedTuple

from render.frames import InstanceRow, RecordRow
from render.sections.sizes import Sized
from render.subject import CandidateSubject


class Operation(NamedTuple):
    """An operation; that of a hash function with the length of its message."""

    name: str
    message_bytes: int


class Entry(NamedTuple):
    """One instance of one candidate, with its records by operation and message length."""

    candidate: CandidateSubject
    instance: InstanceRow
    records: dict[Operation, RecordRow]
    sized: Sized | None
    notes: int
