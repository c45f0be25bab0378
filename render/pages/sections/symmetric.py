"""The section Symmetric primitives: how much of each operation runs in hash functions and in the DRNG."""

from collections.abc import Callable
from typing import NamedTuple

from evidence.derive import DRNG_FUNCTIONS
from evidence.operations import Family, operation_rank
from render.facts.rows import ProfileRow, natural
from render.facts.subject import CandidateSubject
from render.look import formats
from render.look.table import Column, Content, Piece, Table, table

ICCS_FUNCTIONS = {"pseudohash", "pseudoXOF", "sm3hash"}
NOT_MEASURED = "not measured"
NOT_MEASURABLE = "not measurable"


class Use(NamedTuple):
    """One operation and its profile; None where it was not profiled."""

    label: str
    operation: str
    profile: ProfileRow | None


class Symmetric(NamedTuple):
    """Survey verdict and shares. ``own_functions`` names functions that are not those of the ICCS."""

    verdict: str
    note: str
    table: Table
    own_functions: bool
    wrapper_cost: str
    not_measurable: list[tuple[str, str, str]]


def view(subject: CandidateSubject) -> Symmetric | None:
    """Return the survey's verdict and the shares; None where there is neither, and for hash functions."""
    survey = subject.entry.survey if subject.entry else None
    if subject.family is Family.HASH or not (survey or subject.profiles):
        return None
    uses = _uses(subject)
    functions = {fn for profile in subject.profiles for fn in profile.hash_functions}
    sources = {fn for profile in subject.profiles for fn in profile.drng_functions}
    own = not functions <= ICCS_FUNCTIONS
    header = ", ".join(sorted(functions)) if own else "pseudohash/XOF/sm3"
    drng = "DRNG" if sources <= DRNG_FUNCTIONS else ", ".join(sorted(sources))
    unmeasurable = [use for use in uses if use.profile and use.profile.status != "complete"]
    return Symmetric(
        survey.verdict if survey else "",
        (survey.note or "") if survey else "",
        table("symmetric", "Share of symmetric primitives", _columns(header, drng), uses),
        own,
        _wrapper_cost(subject),
        [(use.label, use.operation, (use.profile and use.profile.reason) or "no reason given") for use in unmeasurable],
    )


def _wrapper_cost(subject: CandidateSubject) -> str:
    """Return what a call of a wrapper costs by itself, as far as the profiles say: ``44 – 52 ticks of rdtsc``."""
    told = [(p.wrapper_cost_ticks, p.tick_source or "the clock") for p in subject.profiles if p.wrapper_cost_ticks]
    if not told:
        return ""
    low, high = (formats.general(cost) for cost in (min(told)[0], max(told)[0]))
    sources = " and ".join(sorted({source for _, source in told}))
    return f"{low if low == high else f'{low} – {high}'} ticks of {sources}"


def _columns(functions: str, drng: str) -> tuple[Column[Use], ...]:
    return (
        Column("instance", lambda use: Piece(use.label, code=True)),
        Column("operation", lambda use: use.operation),
        Column(functions, _measured(lambda p: formats.share(p.hash_share)), numeric=True),
        Column(drng, _measured(lambda p: formats.share(p.drng_share)), numeric=True),
        Column("calls per operation", calls_text),
    )


def _measured(show: Callable[[ProfileRow], str]) -> Callable[[Use], Content]:
    """Let a column say that a share was not measured, or could not be; that is never 0 %."""

    def content(use: Use) -> Content:
        if use.profile is None:
            return NOT_MEASURED
        return show(use.profile) if use.profile.status == "complete" else Piece(NOT_MEASURABLE, alert=True)

    return content


def calls_text(use: Use) -> str:
    """Return calls per operation by function: ``drng 1, pseudoXOF 452``."""
    if use.profile is None or use.profile.status != "complete":
        return formats.ABSENT
    calls = use.profile.calls_per_operation.items()
    return ", ".join(f"{fn} {formats.general(each)}" for fn, each in calls) or formats.ABSENT


def _uses(subject: CandidateSubject) -> list[Use]:
    """Return every operation that was timed or profiled, in page order."""
    profiles = {(profile.label, profile.operation): profile for profile in subject.profiles}
    keys = {(record.label, record.operation) for record in subject.records} | profiles.keys()
    ordered = sorted(keys, key=lambda key: (natural(key[0]), key[0], operation_rank(subject.family, key[1])))
    return [Use(label, operation, profiles.get((label, operation))) for label, operation in ordered]
