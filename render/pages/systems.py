"""The page of all systems: the machines, and which candidate was measured on which of them."""

from collections.abc import Sequence
from typing import Any

from evidence.catalog import Catalog
from evidence.operations import FAMILIES, Family, family_of
from render.facts.overview import Overview
from render.facts.rows import natural
from render.look import formats, templating
from render.look.table import Column, Content, Piece, Table, table


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


def _systems(overviews: Sequence[Overview]) -> Table:
    columns = (
        Column[Overview]("system", _system_name),
        Column[Overview]("architecture", lambda o: o.architecture),
        Column[Overview]("machine", lambda o: o.description),
        Column[Overview]("measured from", lambda o: o.measured),
        Column[Overview]("candidates", lambda o: formats.whole(len(o.results)), numeric=True),
        Column[Overview](
            "instances", lambda o: formats.whole(sum(r.instances for r in o.results.values())), numeric=True
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
            return formats.ABSENT
        return Piece(f"{found.passed} of {found.instances}", href=f"{each.system_id}/{candidate}/")

    return Column(each.system_id, result, numeric=True)
