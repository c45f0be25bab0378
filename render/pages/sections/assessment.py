"""Section 2, Assessment environment."""

from typing import NamedTuple

from render.facts import environment
from render.facts.subject import CandidateSubject
from render.look.table import Column, Piece, Table, table


class Assessment(NamedTuple):
    """The table, what weakens the figures, and the instances that other cores measured."""

    table: Table
    cautions: list[str]
    shown_cpu: int | None
    other_cores: list[tuple[str, str]]


COLUMNS = (
    Column[tuple[str, str]]("item", lambda item: item[0]),
    Column[tuple[str, str]]("value", lambda item: Piece(item[1])),
)


def view(subject: CandidateSubject) -> Assessment:
    """Return the campaign's environment, with what this page's own records say otherwise."""
    system = subject.system
    return Assessment(
        table(
            "environment",
            f"The machine {system.system_id}",
            COLUMNS,
            environment.items(system.environment, system.campaign),
        ),
        environment.cautions(system.environment, system.campaign, subject.records),
        system.environment.cpu_number,
        environment.other_cores(system.environment, subject.records),
    )
