"""Pages about all systems: the survey of symmetric primitives and the size audit."""

from collections.abc import Callable
from typing import Any

import msgspec

from evidence.catalog import Candidate, Catalog, ExternalSizes, Survey
from evidence.types import Kex, ProfileCall, Sizes
from render.facts.subject import CandidateSubject
from render.look.table import Table
from render.pages import size_audit, symmetric_survey

Make = Callable[..., CandidateSubject]


def _cells(table: Table) -> list[list[str]]:
    return [["".join(p.text for p in c.pieces) for c in (row.header, *row.cells)] for row in table.rows]


def _on(report: CandidateSubject, system_id: str) -> CandidateSubject:
    """Return the same candidate as another system would have measured it."""
    return report._replace(system=report.system._replace(system_id=system_id))


def test_the_survey_gives_the_range_over_instances_and_a_row_for_each_system(local: Any, subject: Make) -> None:
    for label, ticks in (("A", 810), ("B", 972)):
        local.sign("sign-x", label)
        local.profile("sign-x", label, "sign", ProfileCall(fn="pseudoXOF", calls=1, ticks=ticks))
        local.profile("sign-x", label, "verify", status="not measurable", reason="why", calls=None, total=None)
    report = subject(local, "sign-x")
    real = msgspec.structs.replace(report.system.environment, virtualized=False)
    other = report._replace(system=report.system._replace(system_id="other", environment=real))
    uses = [symmetric_survey.of_report(each) for each in (report, other)]
    people = Catalog(
        {},
        {
            "sign-x": Candidate(id="sign-x", algorithm="X", survey=Survey(verdict="ICCS-only", note="by reading")),
            "kem-later": Candidate(id="kem-later", algorithm="Later"),
            "hash-x": Candidate(id="hash-x", algorithm="H"),
        },
    )
    signatures, kems = symmetric_survey.view(uses, people)["groups"]
    assert [head.title for head in signatures.table.heads] == [
        "candidate", "verdict", "note", "system", "keygen", "sign", "verify"
    ]  # fmt: skip
    assert _cells(signatures.table) == [
        ["sign-x X", "ICCS-only", "by reading", name, "–", "81% – 97%", "not measurable"]
        for name in ("local (virtual)", "other")
    ]
    assert _cells(kems.table) == [["kem-later Later", "–", "–", "–", "–", "–", "–"]]


def test_a_candidate_that_no_system_profiled_has_one_row(local: Any, subject: Make) -> None:
    report = subject(local.kem())
    uses = [symmetric_survey.of_report(each) for each in (report, _on(report, "other"))]
    (group,) = symmetric_survey.view(uses, Catalog({}, {}))["groups"]
    assert _cells(group.table) == [["kem-kyber", "–", "–", "–", "–", "–", "–"]]
    assert group.table.rows[0].header.pieces[0].href == "../local/kem-kyber/"


def _returning(local: Any, **returned: int) -> Any:
    return tuple(msgspec.structs.replace(p, sizes=Sizes(**returned)) for p in local.timed(1e6))


def test_the_audit_lists_what_disagrees_with_all_figures_and_counts_the_rest(local: Any, subject: Make) -> None:
    sizes = Sizes(pk_bytes=100, sk_bytes=200, signature_bytes=300)
    seen = _returning(local, returned_pk_bytes=100, returned_sk_bytes=199, returned_signature_bytes=290)
    local.instance("sign-x", "X").record("sign-x", "X", "sign", sizes=sizes, processes=seen)
    stated = ExternalSizes(public_key_bytes=90, signature_bytes=280, basis="maximum-variable")
    report = subject(local, "sign-x", Candidate(id="sign-x", algorithm="X", sizes={"X": stated}))
    view = size_audit.view([*size_audit.of_report(report), *size_audit.of_report(_on(report, "other"))])
    assert _cells(view["table"]) == [
        ["sign-x", "X", "public key", "90", "100", "100", "local, other"],
        ["sign-x", "X", "secret key", "–", "200", "199", "local, other"],
        ["sign-x", "X", "signature", "280 (maximum)", "300", "290", "local, other"],
    ]
    # public key: catalog and interface; secret key: interface and returned; signature: catalog with both others.
    assert (view["compared"], view["agreed"]) == (6, 2)


def test_figures_that_differ_between_systems_have_rows_of_their_own(local: Any, subject: Make) -> None:
    local.instance("kem-x", "X")
    local.record("kem-x", "X", "enc", processes=_returning(local, returned_ct_bytes=700))
    first = size_audit.of_report(subject(local, "kem-x"))
    local.records[0] = msgspec.structs.replace(local.records[0], processes=_returning(local, returned_ct_bytes=701))
    second = size_audit.of_report(_on(subject(local, "kem-x"), "other"))
    cells = _cells(size_audit.view([*first, *second])["table"])
    assert [row[2:] for row in cells] == [
        ["ciphertext", "–", "768", "700", "local"],
        ["ciphertext", "–", "768", "701", "other"],
    ]


def test_messages_of_a_key_exchange_are_audited_together(local: Any, subject: Make) -> None:
    local.kex()
    assert size_audit.view(size_audit.of_report(subject(local, "kex-triple")))["agreed"] == 1
    wrong = Kex(passes=3, declared_messages_bytes=1600, message_bytes=(768, 784, 16))
    local.records = [msgspec.structs.replace(record, kex=wrong) for record in local.records]
    view = size_audit.view(size_audit.of_report(subject(local, "kex-triple")))
    assert _cells(view["table"]) == [["kex-triple", "Triple-256", "all messages", "–", "1600", "1568", "local"]]


def test_the_published_sizes_agree(pages: Any) -> None:
    text = (pages / "size-audit" / "index.md").read_text()
    assert "<b>28</b> of 28 comparisons agree; 0 do not." in text
    assert "Disagreements" not in text
