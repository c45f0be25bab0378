"""The page of all systems: the machines, and which candidate was measured on which of them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from evidence.catalog import Catalog
from evidence.operations import FAMILIES, Family, family_of
from render import environment, figures, templating
from render.frames import natural
from render.subject import CandidateSubject, SystemSubject
from render.table import Column, Content, Piece, Table, table


class Result(NamedTuple):
    """How many instances of a candidate a system built and how many passed their KAT."""

    instances: int
    passed: int


class Overview(NamedTuple):
    """What this page says of one system; it outlives the system's evidence, so it is small."""

    system_id: str
    registered: bool
    description: str
    architecture: str
    measured: str
    names: dict[str, str]
    results: dict[str, Result]
    operations: int
    notes: int


def overview(system: SystemSubject, reports: Sequence[CandidateSubject]) -> Overview:
    """Return what the page of all systems says of one."""
    return Overview(
        system.system_id,
        system.entry is not None,
        system.entry.description if system.entry else environment.processor_text(system.environment),
        system.architecture_text,
        figures.to_the_second(system.campaign.started_utc).partition("T")[0],
        {report.candidate: report.name for report in reports},
        {report.candidate: _result(report) for report in reports},
        len(system.frames.records),
        len(system.notes),
    )


def view(overviews: Sequence[Overview], catalog: Catalog) -> dict[str, Any]:
    """Return the page's view model."""
    return {
        "title": "Performance measurements",
        "systems": _systems(overviews),
        "without_evidence": [name for name in catalog.systems if name not in {each.system_id for each in overviews}],
        "candidates": _candidates(overviews),
    }


def render(overviews: Sequence[Overview], catalog: Catalog) -> str:
    """Return the page as Markdown that holds HTML."""
    return templating.render("systems.md.j2", view(overviews, catalog))


def _result(report: CandidateSubject) -> Result:
    return Result(len(report.instances), sum(instance.kat == "PASS" for instance in report.instances))


def _systems(overviews: Sequence[Overview]) -> Table:
    columns = (
        Column[Overview]("system", _system_name),
        Column[Overview]("architecture", lambda o: o.architecture),
        Column[Overview]("machine", lambda o: o.description),
        Column[Overview]("measured from", lambda o: o.measured),
        Column[Overview]("candidates", lambda o: figures.whole(len(o.results)), numeric=True),
        Column[Overview](
            "instances", lambda o: figures.whole(sum(r.instances for r in o.results.values())), numeric=True
        ),
        Column[Overview]("method", lambda o: Piece("method", href=f"{o.system_id}/method/")),
    )
    return table("systems", "Systems with evidence", columns, overviews)


def _system_name(each: Overview) -> Content:
    link = Piece(each.system_id, href=f"{each.system_id}/")
    return link if each.registered else (link, Piece(" (unregistered)"))


def _candidates(overviews: Sequence[Overview]) -> Table:
    """Return every candidate with a link to its page on each system that measured it."""
    names = {candidate: name for each in reversed(overviews) for candidate, name in each.names.items()}
    ordered = sorted(names, key=lambda candidate: (list(Family).index(family_of(candidate)), natural(candidate)))
    columns = [
        Column[str]("candidate", lambda candidate: names[candidate]),
        Column[str]("function", lambda candidate: FAMILIES[family_of(candidate)].function),
        *(_on_system(each) for each in overviews),
    ]
    return table("candidates", "Candidates: instances that pass their known-answer test, of all", columns, ordered)


def _on_system(each: Overview) -> Column[str]:
    def result(candidate: str) -> Content:
        found = each.results.get(candidate)
        if found is None:
            return figures.ABSENT
        return Piece(f"{found.passed} of {found.instances}", href=f"{each.system_id}/{candidate}/")

    return Column(each.system_id, result, numeric=True)
