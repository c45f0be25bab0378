"""The survey of symmetric primitives: every candidate's verdict, and the share of its operations on each system."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from evidence.catalog import Candidate, Catalog
from evidence.operations import FAMILIES, Family, family_of, operation_rank
from render.facts import environment
from render.facts.rows import ProfileRow, natural
from render.facts.subject import CandidateSubject
from render.look import formats, templating
from render.look.table import Column, Content, Piece, Table, table
from render.pages.sections.symmetric import NOT_MEASURABLE

PATH = "symmetric-survey/index.md"
UNREAL = ("emulated", "virtual")  # kinds of machines
SURVEYED = tuple(family for family in Family if family is not Family.HASH)


class Use(NamedTuple):
    """What one system says of one candidate: the share of each operation, in words, over all its instances."""

    candidate: str
    system_id: str
    machine: str  # its kind
    shares: dict[str, str]


class Row(NamedTuple):
    """One row of the page: a candidate, and what one system says of it; no system where none was profiled."""

    candidate: str
    name: str
    verdict: str
    note: str
    use: Use | None


class Group(NamedTuple):
    """All candidates of one family."""

    title: str
    table: Table


def of_report(report: CandidateSubject) -> Use:
    """Return the shares of one candidate on one system."""
    by_operation: dict[str, list[ProfileRow]] = {}
    for profile in report.profiles:
        by_operation.setdefault(profile.operation, []).append(profile)
    shares = {operation: _range(found) for operation, found in by_operation.items()}
    system = report.system
    return Use(report.candidate, system.system_id, environment.machine_kind(system.environment), shares)


def view(uses: Sequence[Use], catalog: Catalog) -> dict[str, Any]:
    """Return the page's view model."""
    return {
        "title": "Survey of symmetric primitives",
        "groups": [group for family in SURVEYED if (group := _group(family, uses, catalog)).table.rows],
    }


def tables(uses: Sequence[Use], catalog: Catalog) -> list[Table]:
    """Return the tables of the page."""
    return [group.table for group in view(uses, catalog)["groups"]]


def render(uses: Sequence[Use], catalog: Catalog) -> str:
    """Return the page as Markdown that holds HTML."""
    return templating.render("symmetric_survey.md.j2", view(uses, catalog))


def _range(profiles: Iterable[ProfileRow]) -> str:
    """Return the share of the hash functions over all instances: ``81% – 97%``."""
    shares = [p.hash_share for p in profiles if p.status == "complete" and p.hash_share is not None]
    if not shares:
        return NOT_MEASURABLE
    low, high = formats.share(min(shares)), formats.share(max(shares))
    return low if low == high else f"{low} – {high}"


def _group(family: Family, uses: Sequence[Use], catalog: Catalog) -> Group:
    of_candidate: dict[str, list[Use]] = {name: [] for name in catalog.candidates if family_of(name) is family}
    for use in uses:
        if family_of(use.candidate) is family:
            of_candidate.setdefault(use.candidate, []).append(use)
    rows = [
        _row(name, catalog.candidates.get(name), use)
        for name in sorted(of_candidate, key=natural)
        for use in _shown(of_candidate[name])
    ]
    found = {operation for row in rows if row.use for operation in row.use.shares} | set(FAMILIES[family].operations)
    operations = sorted(found, key=lambda operation: operation_rank(family, operation))
    caption = "Verdict of the survey, and share of each operation that runs in symmetric functions"
    title = FAMILIES[family].title
    return Group(title, table("survey", f"{title}: {caption}", _columns(operations), rows))


def _shown(uses: Sequence[Use]) -> Sequence[Use | None]:
    """Return the systems that profiled a candidate; else the first that measured it; else none."""
    return [use for use in uses if use.shares] or uses[:1] or [None]


def _row(name: str, entry: Candidate | None, use: Use | None) -> Row:
    survey = entry.survey if entry else None
    shown = f"{name} {entry.algorithm}" if entry else name
    return Row(name, shown, survey.verdict if survey else "", (survey.note or "") if survey else "", use)


def _columns(operations: Sequence[str]) -> list[Column[Row]]:
    return [
        Column("candidate", _candidate),
        Column("verdict", lambda row: row.verdict or formats.ABSENT),
        Column("note", lambda row: Piece(row.note or formats.ABSENT)),
        Column("system", _system),
        *(_share(operation) for operation in operations),
    ]


def _candidate(row: Row) -> Content:
    return Piece(row.name, f"../{row.use.system_id}/{row.candidate}/") if row.use else row.name


def _system(row: Row) -> str:
    """Return the system that profiled, with the kind of machine where it is no real one."""
    if row.use is None or not row.use.shares:
        return formats.ABSENT
    return f"{row.use.system_id} ({row.use.machine})" if row.use.machine in UNREAL else row.use.system_id


def _share(operation: str) -> Column[Row]:
    def content(row: Row) -> Content:
        share = row.use.shares.get(operation) if row.use else None
        return Piece(share or formats.ABSENT, alert=share == NOT_MEASURABLE)

    return Column(operation, content, numeric=True)
