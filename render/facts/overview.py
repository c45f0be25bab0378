"""What pages about all systems say of one; it outlives the system's evidence, so it is small."""

from collections.abc import Sequence
from typing import NamedTuple

from render.facts import environment
from render.facts.subject import CandidateSubject, SystemSubject
from render.look import formats


class Result(NamedTuple):
    """How many instances of a candidate a system built and how many passed their KAT."""

    instances: int
    passed: int


class Overview(NamedTuple):
    """One system in short."""

    system_id: str
    registered: bool
    description: str
    architecture: str
    measured: str
    names: dict[str, str]
    results: dict[str, Result]
    operations: int
    notes: int


def of_system(system: SystemSubject, reports: Sequence[CandidateSubject]) -> Overview:
    """Return what such pages say of one system."""
    return Overview(
        system.system_id,
        system.entry is not None,
        system.entry.description if system.entry else environment.processor_text(system.environment),
        system.architecture_text,
        formats.to_the_second(system.campaign.started_utc).partition("T")[0],
        {report.candidate: report.name for report in reports},
        {report.candidate: _result(report) for report in reports},
        len(system.frames.records),
        len(system.notes),
    )


def _result(report: CandidateSubject) -> Result:
    return Result(len(report.instances), sum(instance.kat == "PASS" for instance in report.instances))
