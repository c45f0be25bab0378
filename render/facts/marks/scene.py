"""What a rule sees, and what it answers with."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from evidence import derive
from evidence.derive import CallQuantiles
from evidence.types import Record, Trial


class Look(NamedTuple):
    """One record with what several rules ask of it, derived once."""

    record: Record
    trials: tuple[Trial, ...]
    calls: int
    quantiles: CallQuantiles | None

    @classmethod
    def of(cls, record: Record) -> "Look":
        """Return a record with what is derived of it."""
        trials = derive.trials(record)
        quantiles = derive.call_quantiles(record)
        return cls(record, trials, sum(trial.measurements for trial in trials), quantiles)


class Scene(NamedTuple):
    """The records of one system in page order, and what surrounds them.

    ``kat`` is the known-answer status by system and by ``<candidate>/<label>``, of all systems with evidence.
    """

    system_id: str
    looks: Sequence[Look]
    shown_cpu: int | None
    planned_trials: int
    kat: Mapping[str, Mapping[str, str]]

    @property
    def records(self) -> list[Record]:
        """Return the records."""
        return [look.record for look in self.looks]


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
Check = Callable[[Look, Scene], str]


def each_record(check: Check) -> Find:
    """Let a rule look at one record after the other; what it answers are the counters, or nothing."""

    def find(scene: Scene) -> Iterator[Found]:
        for look in scene.looks:
            if counters := check(look, scene):
                record = look.record
                yield record.candidate, record.label, record.operation, record.input_bytes, counters

    return find
