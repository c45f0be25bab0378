"""What a rule sees, and what it answers with."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from evidence.types import Record


class Scene(NamedTuple):
    """The records of one system in page order, and what surrounds them.

    ``kat`` is the known-answer status by system and by ``<candidate>/<label>``, of all systems with evidence.
    """

    system_id: str
    records: Sequence[Record]
    shown_cpu: int | None
    planned_trials: int
    kat: Mapping[str, Mapping[str, str]]


class Raised(NamedTuple):
    """One note: its kind, the row that it speaks of, and the raw counters behind it.

    ``operation`` is empty where the note speaks of the whole instance; that of a hash function is told apart by
    ``input_bytes``.
    """

    kind: str
    candidate: str
    label: str
    operation: str
    input_bytes: int | None
    counters: str


Found = tuple[str, str, str, int | None, str]
Find = Callable[[Scene], Iterator[Found]]
Check = Callable[[Record, Scene], str]


def each_record(check: Check) -> Find:
    """Let a rule look at one record after the other; what it answers are the counters, or nothing."""

    def find(scene: Scene) -> Iterator[Found]:
        for record in scene.records:
            if counters := check(record, scene):
                yield record.candidate, record.label, record.operation, record.input_bytes, counters

    return find
