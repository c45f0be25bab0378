"""Sections of a candidate's page from evidence made to measure: counters, failures, sizes, shares, index."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from evidence.catalog import Candidate, ExternalSizes, Footnote, Survey
from evidence.types import Counter, CounterUnit, KatStatus, Kex, ProfileCall, Quantiles, Sizes, Trial
from render.facts.subject import CandidateSubject
from render.look.table import Table
from render.pages.sections import (
    assessment,
    basic,
    distribution,
    evidence_index,
    kat,
    performance,
    resources,
    sizes,
    symmetric,
)

Make = Callable[..., CandidateSubject]


def _titles(table: Table) -> list[str]:
    return [head.title for head in table.heads]


def _cells(table: Table) -> list[list[str]]:
    return [["".join(p.text for p in c.pieces) for c in (row.header, *row.cells)] for row in table.rows]


def _column(table: Table, title: str) -> list[str]:
    index = _titles(table).index(title)
    return [row[index] for row in _cells(table)]


def _counted(local: Any, unit: CounterUnit, name: str | None, **trial: Any) -> Any:
    """Return a process with one trial of ten calls, counted by the given counter."""
    one = Trial(measurements=10, seconds=0.001, **trial)
    return local.process(one, counter=Counter(unit=unit, name=name))


@pytest.mark.parametrize(
    ("counter", "trial", "title", "mean"),
    [
        (Counter(unit=CounterUnit.CYCLES, name="perf-rdpmc"), {"cycles": 2_600_000}, "mean cycles", "260.0 k"),
        (Counter(unit=CounterUnit.TICKS, name="tsc"), {"ticks": 2_600_000}, "mean reference cycles (TSC)", "260.0 k"),
        (Counter(unit=CounterUnit.TICKS, name="cntvct"), {"ticks": 19200}, "mean reference ticks (cntvct)", "1920"),
        (Counter(unit=CounterUnit.NANOSECONDS, name="clock"), {}, "mean cycles", "–"),
    ],
)
def test_a_count_is_named_for_what_it_counts(  # noqa: PLR0917
    local: Any, subject: Make, counter: Counter, trial: Any, title: str, mean: str
) -> None:
    processes = (local.process(Trial(measurements=10, seconds=0.001, **trial), counter=counter),) * 5
    local.instance("kem-kyber", "K").record("kem-kyber", "K", "enc", processes=processes)
    table = performance.view(subject(local)).table
    assert _titles(table) == [
        "instance", "operation", title, "mean time", "ops/s", "median trial", "n (trials × iters)"
    ]  # fmt: skip
    assert _cells(table) == [["K", "enc", mean, "100 µs", "1e+04", "100 µs", "50 (5 × 10)"]]


def test_counters_that_differ_have_columns_of_their_own(local: Any, subject: Make) -> None:
    core = (_counted(local, CounterUnit.CYCLES, "perf-rdpmc", cycles=1_000_000),)
    ticks = (_counted(local, CounterUnit.TICKS, "tsc", ticks=2_600_000),)
    local.instance("kem-kyber", "K").record("kem-kyber", "K", "keygen", processes=core)
    local.record("kem-kyber", "K", "enc", processes=ticks).record("kem-kyber", "K", "dec", processes=core + ticks)
    table = performance.view(subject(local)).table
    assert _column(table, "mean cycles") == ["100.0 k", "–", "–"]
    assert _column(table, "mean reference cycles (TSC)") == ["–", "260.0 k", "–"]


def test_quantiles_give_a_column_of_medians(local: Any, subject: Make) -> None:
    view = performance.view(subject(local.kem()))
    assert _column(view.table, "median reference cycles, quartiles (TSC)") == ["100 (95 – 110)"] * 3
    assert view.has_spread


def test_quantiles_of_the_clock_are_times(local: Any, subject: Make) -> None:
    quantiles = Quantiles(
        samples=9, batch_calls=1,
        min=1.0, p01=1.0, p05=1.0, p25=1500.0, p50=2000.0, p75=2500.0, p95=1.0, p99=1.0, max=1.0,
    )  # fmt: skip
    processes = (_counted(local, CounterUnit.NANOSECONDS, "clock", quantiles=quantiles),)
    local.instance("kem-kyber", "K").record("kem-kyber", "K", "enc", processes=processes)
    table = performance.view(subject(local)).table
    assert _column(table, "median time, quartiles") == ["2 µs (1.5 µs – 2.5 µs)"]


def test_a_failed_record_says_so_and_why(local: Any, subject: Make) -> None:
    failed = (local.process(status="timeout", trials=(), baseline_rss_bytes=None, peak_rss_bytes=None),)
    local.instance("kem-kyber", "K").record(
        "kem-kyber", "K", "enc", status="failed", reason="no answer in 300 s", processes=failed, plan=None
    )
    made = subject(local)
    view = performance.view(made)
    assert _cells(view.table) == [["K", "enc", *["failed"] * 4, "–"]]
    assert [(each.operation, each.reason) for each in view.failures] == [("enc", "no answer in 300 s")]
    assert view.table.rows[0].cells[1].pieces[0].href == f"#{view.failures[0].anchor}"
    assert _cells(resources.view(made)) == [["K", "enc", "12345", "failed", "failed"]]


def test_retries_and_uneven_trials_stand_with_the_calls(local: Any, subject: Make) -> None:
    uneven = (local.process(Trial(measurements=3, seconds=1.0)), local.process(Trial(measurements=4, seconds=1.0)))
    retried = (local.process(sign_failures_retried=2), local.process(sign_failures_retried=3))
    local.instance("sign-x", "X").record("sign-x", "X", "keygen", processes=uneven)
    local.record("sign-x", "X", "sign", processes=retried)
    table = performance.view(subject(local, "sign-x")).table
    assert _column(table, "n (trials × iters)") == ["7 (2 trials)", "20 (2 × 10); 5 failed signing attempts retried"]


def test_a_hash_function_is_shown_by_message(local: Any, subject: Make) -> None:
    local.instance("hash-x", "X-512")
    for length in (1024, 32):
        local.record("hash-x", "X-512", "hash", input_bytes=length, sizes=Sizes(digest_bytes=64))
    made = subject(local, "hash-x")
    table = performance.view(made).table
    assert _titles(table)[:6] == [
        "instance", "message", "mean reference cycles (TSC)", "reference cycles/byte (TSC)", "mean time", "MB/s"
    ]  # fmt: skip
    assert [row[:6] for row in _cells(table)] == [
        ["X-512", "32 B", "260.0 k", "8125.0", "100 µs", "0.3"],
        ["X-512", "1024 B", "260.0 k", "253.9", "100 µs", "10.2"],
    ]
    assert sizes.view(made) is None
    assert symmetric.view(made) is None
    items = _column(evidence_index.view(made).table, "item")
    assert items[1:] == ["timing hash 32 B", "timing hash 1024 B"]


def test_sizes_of_a_kem_come_from_the_catalog_where_it_has_them(local: Any, subject: Make) -> None:
    stated = ExternalSizes(ciphertext_bytes=700, basis="nominal-variable")
    entry = Candidate(id="kem-kyber", algorithm="Kyber", sizes={"Kyber512": stated})
    table = sizes.view(subject(local.kem(), entry=entry))
    assert table is not None
    assert _titles(table) == ["instance", "public key", "secret key", "ciphertext", "shared secret"]
    assert _cells(table) == [["Kyber512", "800", "1632", "≈700", "32"]]


@pytest.mark.parametrize(
    ("basis", "text"),
    [("encoded", "9"), ("fixed", "9"), ("maximum-variable", "9 (maximum)"), ("nominal-variable", "≈9")],
)
def test_the_basis_marks_the_signature_and_not_the_key(local: Any, subject: Make, basis: Any, text: str) -> None:
    entry = Candidate(
        id="sign-x", algorithm="X", sizes={"X": ExternalSizes(public_key_bytes=8, signature_bytes=9, basis=basis)}
    )
    local.instance("sign-x", "X").record("sign-x", "X", "sign")
    table = sizes.view(subject(local, "sign-x", entry))
    assert table is not None
    assert _cells(table) == [["X", "8", "1632", text]]


def test_a_failed_build_has_a_status_and_a_reason_and_no_rows_elsewhere(local: Any, subject: Make) -> None:
    absent = {"flags": None, "kat_log": None, "kat_log_sha256": None}
    local.kem().instance("kem-kyber", "Broken", kat=KatStatus.BUILDFAIL, reason="no such header", **absent)
    made = subject(local)
    view = kat.view(made)
    assert _cells(view.table) == [["Broken", "–", "BUILDFAIL"], ["Kyber512", "guide", "PASS"]]
    assert view.remarks == [("Broken", "no such header")]
    assert "Broken" not in str(performance.view(made)) + str(evidence_index.view(made).table)


def test_footnote_marks_stand_behind_the_status(local: Any, subject: Make) -> None:
    notes = (Footnote(instances="Kyber", action="exclude", text="why"),)
    made = subject(local.kem(), entry=Candidate(id="kem-kyber", algorithm="Kyber", footnotes=notes))
    assert _column(kat.view(made).table, "KAT") == ["PASS [1] (not timed)"]


def test_shares_are_never_zero_for_want_of_a_profile(local: Any, subject: Make) -> None:
    local.kem()
    local.profile("kem-kyber", "Kyber512", "keygen", ProfileCall(fn="pseudoXOF", calls=20, ticks=600))
    local.profile("kem-kyber", "Kyber512", "enc", status="failed", reason="calls escape the wrappers")
    view = symmetric.view(subject(local))
    assert view is not None
    assert _titles(view.table)[2] == "pseudohash/XOF/sm3"
    assert [row[1:] for row in _cells(view.table)] == [
        ["keygen", "60%", "0.0%", "pseudoXOF 2"],
        ["enc", "not measurable", "not measurable", "–"],
        ["dec", "not measured", "not measured", "–"],
    ]
    assert view.not_measurable == [("Kyber512", "enc", "calls escape the wrappers")]


def test_other_symmetric_functions_are_named(local: Any, subject: Make) -> None:
    calls = (ProfileCall(fn="shake128", calls=10, ticks=100), ProfileCall(fn="drng", calls=10, ticks=20))
    view = symmetric.view(subject(local.kem().profile("kem-kyber", "Kyber512", "enc", *calls)))
    assert view is not None
    assert _titles(view.table)[2] == "shake128"
    assert view.own_functions


def test_the_section_is_there_for_a_verdict_alone_and_absent_without_either(local: Any, subject: Make) -> None:
    entry = Candidate(id="kem-kyber", algorithm="Kyber", survey=Survey(verdict="FIPS 202", note="own code"))
    view = symmetric.view(subject(local.kem(), entry=entry))
    assert view is not None
    assert (view.verdict, view.note) == ("FIPS 202", "own code")
    assert symmetric.view(subject(local)) is None


def test_links_that_the_catalog_lacks_have_no_line(local: Any, subject: Make) -> None:
    labels = [line.label for line in basic.view(subject(local.kem()))]
    assert labels == ["Category", "Implementation versions measured", "Parameter sets", "Measurement method"]


def test_the_index_names_katalog_or_the_harness_or_says_that_nothing_is_known(local: Any, subject: Make) -> None:
    assert evidence_index.view(subject(local.kem())).katalog_version == "0.1.0"
    local.campaign = msgspec.structs.replace(local.campaign, katalog_version=None)
    view = evidence_index.view(subject(local))
    assert (view.katalog_version, view.harness) == (None, None)


def test_the_machine_row_is_left_out_where_it_is_not_known(local: Any, subject: Make) -> None:
    items = _column(assessment.view(subject(local.kem())).table, "item")
    assert items == [
        "processor", "clock", "memory", "OS / kernel", "compiler / build tool", "campaign start / end (UTC)"
    ]  # fmt: skip


def test_a_key_exchange_has_its_steps_in_order_and_its_messages(local: Any, subject: Make) -> None:
    made = subject(local.kex(), "kex-triple")
    table = performance.view(made).table
    assert _column(table, "operation") == [
        "exchange", "init_a", "init_b", "pass1", "pass2", "pass3", "derive_a", "derive_b"
    ]  # fmt: skip
    assert _column(table, "mean reference cycles (TSC)")[:4] == ["812.0 k", "91.3 k", "92.1 k", "118.0 k"]
    assert basic.view(made)[0].pieces[0].text == "public-key algorithm; function: key exchange"
    section = sizes.view(made)
    assert section is not None
    assert _titles(section) == ["instance", "passes", "messages (bytes)", "total", "long-term pk / sk", "shared secret"]
    assert _cells(section) == [["Triple-256", "3", "768 / 784 / 16", "1568", "1184 / 2400", "32"]]


@pytest.mark.parametrize(
    ("kex", "cells"),
    [
        (Kex(passes=0, message_bytes=()), ["0", "–", "0", "0 / 0"]),
        (Kex(passes=2, declared_messages_bytes=99), ["2", "–", "99", "0 / 0"]),
        (None, ["–", "–", "–", "0 / 0"]),
    ],
)
def test_messages_that_are_not_known_are_a_dash(local: Any, subject: Make, kex: Any, cells: list[str]) -> None:
    local.instance("kex-x", "X").record("kex-x", "X", "exchange", kex=kex, sizes=Sizes(pk_bytes=0, sk_bytes=0))
    section = sizes.view(subject(local, "kex-x"))
    assert section is not None
    assert _cells(section) == [["X", *cells, "–"]]


def test_each_row_leads_to_its_record(local: Any, subject: Make) -> None:
    rows = performance.view(subject(local.kem())).table.rows
    assert rows[1].cells[0].pieces[0].href == "../../data/local/records/kem-kyber/Kyber512__enc.json"
    hashed = performance.view(subject(local.hash_function(), "hash-x")).table.rows
    assert hashed[7].cells[0].pieces[0] == (
        "65536 B",
        "../../data/local/records/hash-x/X-256__hash_65536.json",
        *hashed[7].cells[0].pieces[0][2:],
    )
    assert [row.cells[0].pieces[0].text for row in hashed] == [
        "32 B", "128 B", "512 B", "1024 B", "4096 B", "8192 B", "16384 B", "65536 B"
    ]  # fmt: skip


def test_single_calls_have_a_table_for_each_unit(local: Any, subject: Make) -> None:
    assert distribution.view(subject(local.instance("kem-x", "X"), "kem-x")) == []
    local.sign("sign-x", "X")
    clock = Counter(unit=CounterUnit.NANOSECONDS, name="clock")
    local.records[0] = msgspec.structs.replace(local.records[0], processes=local.timed(5000, counter=clock))
    ticks, times = distribution.view(subject(local, "sign-x"))
    assert (ticks.caption, times.caption) == ("Single calls in reference cycles (TSC)", "Single calls in time")
    assert _titles(ticks) == [
        "instance", "operation", "least", "least to greatest", "greatest", "5 %", "median", "mean", "95 %"
    ]  # fmt: skip
    shown = [[cell for cell in row if "<svg" not in cell] for row in _cells(ticks)]
    assert shown[0] == ["X", "sign", "1.32 M", "3.22 M", "1.33 M", "1.34 M", "1.34 M", "1.37 M"]
    assert [cell for cell in _cells(times)[0] if "<svg" not in cell][2:] == [
        "4.92 µs", "12 µs", "4.95 µs", "4.99 µs", "1.92 µs", "5.1 µs"
    ]  # fmt: skip


def test_functions_are_told_apart_by_their_roles(local: Any, subject: Make) -> None:
    calls = [ProfileCall(fn=fn, calls=10, ticks=100) for fn in ("shake256", "shake128", "randombytes")]
    roles = {"shake128": "hash", "shake256": "hash", "randombytes": "drng"}
    view = symmetric.view(subject(local.kem().profile("kem-kyber", "Kyber512", "enc", *calls, roles=roles)))
    assert view is not None
    assert _titles(view.table)[2:4] == ["shake128, shake256", "randombytes"]
    assert _cells(view.table)[1][2:] == ["20%", "10%", "randombytes 1, shake128 1, shake256 1"]


def test_a_profile_that_could_not_be_measured_has_its_reason(local: Any, subject: Make) -> None:
    local.kem().profile(
        "kem-kyber",
        "Kyber512",
        "enc",
        status="not measurable",
        reason="calls escape",
        calls=None,
        total=None,
        meta=None,
    )
    view = symmetric.view(subject(local))
    assert view is not None
    assert _cells(view.table)[1][2:] == ["not measurable", "not measurable", "–"]
    assert view.not_measurable == [("Kyber512", "enc", "calls escape")]


def test_an_emulated_system_says_so_first(local: Any, subject: Make) -> None:
    local.kem()
    emulated = msgspec.structs.replace(local.records[0].environment, emulated=True, virtualized=False)
    local.records = [msgspec.structs.replace(record, environment=emulated) for record in local.records]
    assert assessment.view(subject(local)).cautions[0].startswith("This system is emulated")


def test_the_cost_of_a_wrapper_is_stated_where_it_is_known(local: Any, subject: Make) -> None:
    local.kem().profile("kem-kyber", "Kyber512", "enc", ProfileCall(fn="shake128", calls=1, ticks=9))
    view = symmetric.view(subject(local))
    assert view is not None
    assert view.wrapper_cost == ""
    local.profiles = [msgspec.structs.replace(local.profiles[0], wrapper_cost_ticks=44.2)]
    local.profile("kem-kyber", "Kyber512", "dec", ProfileCall(fn="shake128", calls=1, ticks=9), wrapper_cost_ticks=52.0)
    view = symmetric.view(subject(local))
    assert view is not None
    assert view.wrapper_cost == "44.2 – 52 ticks of rdtsc"
