"""Notes that the evidence raises: each rule on both sides of its bound, the published evidence, and quiet rows."""

import random
import statistics
from collections import Counter as Tally
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from evidence import store
from evidence.catalog import Catalog
from evidence.types import Counter, CounterUnit, Process, Quantiles, Record, Sizes, Trial
from render import site
from render.facts.marks import rules
from render.facts.marks.rules import RULES
from render.facts.marks.scene import Look, Raised, Scene
from render.facts.subject import CandidateSubject
from render.pages import notes as notes_page
from render.pages.sections import raised

JUDGING = {rule.kind for rule in RULES if rule.judges}
Find = Callable[..., dict[str, str]]


@pytest.fixture
def record(local: Any) -> Record:
    """Return a record about which nothing is odd: five trials of 200 calls."""
    local.sign()
    made: Record = local.records[1]
    return made


@pytest.fixture
def found() -> Find:
    """Return a function that gives the notes on one record, by kind."""

    def find(record: Record, **changes: Any) -> dict[str, str]:
        scene = Scene("local", (Look.of(msgspec.structs.replace(record, **changes)),), 1, 5, {})
        return {note.kind: note.counters for note in rules.find(scene)}

    return find


def _each(record: Record, **changes: Any) -> tuple[Process, ...]:
    return tuple(msgspec.structs.replace(process, **changes) for process in record.processes)


def _trials(record: Record, **changes: Any) -> tuple[Process, ...]:
    """Return the processes with their one trial changed."""
    return tuple(
        msgspec.structs.replace(p, trials=(msgspec.structs.replace(p.trials[0], **changes),)) for p in record.processes
    )


def test_a_quiet_record_raises_nothing(record: Record, found: Find) -> None:
    assert found(record) == {}


@pytest.mark.parametrize(
    ("rejections", "kind", "counters"),
    [
        (203, "all-rejected", "verify_rejections 1015 of 1015 calls (1000 timed, 15 warm-ups)"),
        (202, "some-rejected", "verify_rejections 1010 of 1015 calls (1000 timed, 15 warm-ups)"),
        (1, "some-rejected", "verify_rejections 5 of 1015 calls (1000 timed, 15 warm-ups)"),
        (0, "", ""),
    ],
)
def test_rejected_signatures(record: Record, found: Find, rejections: int, kind: str, counters: str) -> None:
    processes = _each(record, verify_rejections=rejections, warmups=3)
    assert found(record, operation="verify", processes=processes) == ({kind: counters} if kind else {})


@pytest.mark.parametrize(
    ("changes", "kind", "counters"),
    [
        ({"setup_verify_failed": 1}, "setup-failed", "setup_verify_failed 5 in 5 processes"),
        ({"return_codes": {"0": 198, "-5": 2}}, "return-codes", "return_codes -5: 10, 0: 990"),
        ({"sign_failures_retried": 2}, "retried", "sign_failures_retried 10 beside 1000 timed calls"),
        ({"message_tweaks": 1}, "retried", "message_tweaks 5"),
        ({"disturbed_retries": 1}, "repeated", "disturbed_retries 5 in 5 processes"),
        ({"killed_retries": 2}, "killed", "killed_retries 10 in 5 processes"),
        ({"signature_length_excess": 3}, "returned-longer", "signature_length_excess 15"),
        (
            {"sizes": Sizes(pk_bytes=1312, returned_pk_bytes=1313)},
            "returned-longer",
            "returned_pk_bytes 1313 above pk_bytes 1312",
        ),
    ],
)
def test_counters_of_processes(record: Record, found: Find, changes: Any, kind: str, counters: str) -> None:
    assert found(record, processes=_each(record, **changes)) == {kind: counters}


@pytest.mark.parametrize(
    "changes",
    [
        {"sign_failures_retried": 0, "message_tweaks": 0, "setup_verify_failed": 0, "return_codes": {"0": 203}},
        {"sizes": Sizes(signature_bytes=2420, returned_signature_bytes=2400)},
    ],
)
def test_counters_of_zero_and_shorter_signatures_say_nothing(record: Record, found: Find, changes: Any) -> None:
    assert found(record, processes=_each(record, **changes)) == {}


def test_codes_of_retried_signings_and_of_a_last_pass_are_explained(record: Record, found: Find) -> None:
    retried = _each(record, sign_failures_retried=2, return_codes={"0": 200, "-1": 2})
    assert set(found(record, processes=retried)) == {"retried"}
    last = _each(record, return_codes={"1": 203})
    assert found(record, operation="pass3", processes=last) == {}
    assert set(found(record, operation="keygen", processes=last)) == {"return-codes"}


@pytest.mark.parametrize(("calls", "raised"), [(19, True), (20, False)])
def test_fewer_than_a_hundred_calls(record: Record, found: Find, calls: int, raised: bool) -> None:
    processes = _trials(record, measurements=calls, ticks=calls * 10**6, seconds=calls / 2600, quantiles=None)
    assert found(record, processes=processes) == ({"few-calls": "measurements 95 in 5 trials"} if raised else {})


def test_fewer_trials_than_planned(record: Record, found: Find) -> None:
    assert found(record, processes=record.processes[:4]) == {"few-trials": "4 of 5 trials"}
    failed = msgspec.structs.replace(record.processes[0], status="timeout", trials=())
    assert found(record, processes=(*record.processes[:4], failed)) == {"few-trials": "4 of 5 trials"}


@pytest.mark.parametrize(("running", "raised"), [(998, True), (999, False), (1000, False)])
def test_a_counter_that_was_not_active(record: Record, found: Find, running: int, raised: bool) -> None:
    processes = (*record.processes[1:], _trials(record, time_enabled_ns=1000, time_running_ns=running)[0])
    text = f"time_running_ns {running} of time_enabled_ns 1000 at worst, in 1 of 5 trials"
    assert found(record, processes=processes) == ({"not-active": text} if raised else {})


def test_a_count_that_is_missing_or_zero(record: Record, found: Find) -> None:
    missing = (*record.processes[1:], _trials(record, ticks=None)[0])
    assert found(record, processes=missing)["zero-count"] == "no count in 1 of 5 trials"
    quantiles = record.processes[0].trials[0].quantiles
    assert quantiles is not None
    zero = _trials(record, quantiles=msgspec.structs.replace(quantiles, min=0.0))
    assert found(record, processes=zero)["zero-count"] == "quantiles.min 0 in 5 of 5 trials"
    clock = tuple(
        msgspec.structs.replace(p, counter=Counter(unit=CounterUnit.NANOSECONDS, name="clock")) for p in missing
    )
    assert "zero-count" not in found(record, processes=clock)


@pytest.mark.parametrize(("apart", "raised"), [(0.049, False), (0.051, True)])
def test_trials_that_lie_apart(record: Record, found: Find, apart: float, raised: bool) -> None:
    low, high = 1 - apart / 2, 1 + apart / 2
    means = (low, high, 1.0, 1.0, 1.0)
    processes = tuple(
        Process(
            status="complete", exit_code=0, wall_s=9.0, disturbed_retries=0,
            trials=(Trial(measurements=100, seconds=100 * mean),),
        )
        for mean in means
    )  # fmt: skip
    text = "means of 5 trials from 974 ms to 1.03 s, 5.1% of their mean apart"
    assert found(record, processes=processes) == ({"trials-apart": text} if raised else {})
    assert "trials-apart" not in found(record, processes=(processes[0], processes[1]))


@pytest.mark.parametrize(("p50", "counters"), [
    (1_200_000, "mean 1.34 M, 12% above the median 1.20 M"),
    (1_230_000, ""),
    (1_600_000, "mean 1.34 M, 16% below the median 1.60 M"),
])  # fmt: skip
def test_a_mean_far_from_the_median(record: Record, found: Find, p50: float, counters: str) -> None:
    quantiles = record.processes[0].trials[0].quantiles
    assert quantiles is not None
    processes = _trials(record, quantiles=msgspec.structs.replace(quantiles, p50=p50))
    assert found(record, processes=processes) == ({"median-apart": counters} if counters else {})


def test_a_difference_that_chance_explains_raises_nothing(record: Record, found: Find) -> None:
    """Few calls that vary by half: a gap of 12 % and trials 20 % apart are to be expected."""
    wide = Quantiles(
        samples=20, batch_calls=1, min=1, p01=2, p05=30, p25=50, p50=100, p75=150, p95=200, p99=250, max=300
    )
    means = (100, 110, 112, 115, 123)
    trials = [Trial(measurements=20, seconds=1e-8 * m, ticks=20 * m, quantiles=wide) for m in means]
    processes = tuple(msgspec.structs.replace(record.processes[0], trials=(trial,)) for trial in trials)
    assert found(record, processes=processes) == {}


def _scene(
    records: Iterable[Record], kat: dict[str, dict[str, str]] | None = None, cpu: int | None = 1
) -> list[Raised]:
    return list(rules.find(Scene("local", [Look.of(record) for record in records], cpu, 5, kat or {})))


def test_another_core_is_said_once_for_an_instance(local: Any) -> None:
    records = local.sign("sign-x", "X").sign("sign-x", "Y").records
    for index, cpu in ((0, 7), (1, 3)):
        moved = msgspec.structs.replace(records[index].environment, cpu_number=cpu)
        records[index] = msgspec.structs.replace(records[index], environment=moved)
    assert [(n.kind, n.label, n.operation, n.counters) for n in _scene(records)] == [
        ("other-core", "X", "", "cpu_number 3, 7; section 2 shows CPU 1")
    ]


def test_a_known_answer_test_that_ends_otherwise_elsewhere() -> None:
    kat = {
        "x86_1": {"sign-x/X": "PASS", "sign-x/Y": "PASS"},
        "local": {"sign-x/X": "MISMATCH", "sign-x/Y": "PASS", "sign-x/Z": "CRASH"},
        "arm_1": {"sign-x/X": "CRASH"},
    }
    assert _scene((), kat) == [
        Raised("kat-differs", "sign-x", "X", "", None, "MISMATCH here, PASS on x86_1, CRASH on arm_1")
    ]


@pytest.mark.parametrize(("factor", "raised"), [(1.04, False), (1.06, True), (0.5, False)])
def test_an_optimised_version_that_is_slower(local: Any, factor: float, raised: bool) -> None:
    local.sign("sign-x", "X").instance("sign-x", "X-avx2", variant="optimized (AVX2)")
    reference = local.records[0]
    fast = {"instance": "X", "variant": "optimized (AVX2)", "processes": local.timed(210_000 * factor)}
    optimised = msgspec.structs.replace(reference, label="X-avx2", **fast)
    notes = [(n.kind, n.label, n.operation, n.counters) for n in _scene((reference, optimised))]
    text = "mean 85.6 µs, reference version X 80.8 µs"
    assert notes == ([("optimised-slower", "X-avx2", "keygen", text)] if raised else [])


# --- the published evidence ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def published(committed: Path, people: Catalog) -> dict[str, tuple[list[Record], tuple[Raised, ...]]]:
    """Return the records of the two published systems, and the notes that they raise."""
    data = {name: store.load_system(committed, name) for name in ("x86_1", "arm_1")}
    kat = {name: {key: built.kat.value for key, built in each.build.items()} for name, each in data.items()}
    return {name: (list(each.records), site.system_subject(each, people, kat).notes) for name, each in data.items()}


def test_what_the_published_evidence_says_of_itself(published: Any) -> None:
    assert published["x86_1"][1] == ()
    notes = published["arm_1"][1]
    assert Tally(note.kind for note in notes) == {
        "other-core": 7, "few-calls": 5, "retried": 3, "all-rejected": 2, "trials-apart": 1
    }  # fmt: skip
    told = {(note.kind, note.label, note.operation): note.counters for note in notes}
    assert told["all-rejected", "Tins128", "verify"] == ("verify_rejections 105 of 105 calls (100 timed, 5 warm-ups)")
    assert told["all-rejected", "Tins512", "verify"] == "verify_rejections 55 of 55 calls (55 timed, 0 warm-ups)"
    assert {key[1:] for key in told if key[0] == "few-calls"} == {
        ("Origami-128", "sign"), ("Origami-512", "sign"), ("Origami-512", "verify"), ("Tins512", "sign"),
        ("Tins512", "verify"),
    }  # fmt: skip
    assert told["retried", "Origami-128", "sign"] == "sign_failures_retried 10 beside 80 timed calls"
    assert {label: told["other-core", label, ""][:12] for label in ("Origami-128", "Origami-512")} == {
        "Origami-128": "cpu_number 7", "Origami-512": "cpu_number 3"
    }  # fmt: skip


def _quiet(records: Iterable[Record], notes: Iterable[Raised]) -> list[Record]:
    """Return the quiet rows: those about which no rule that states a plain count has anything to say.

    The core is left aside: where a row was measured does not make it noisy.
    """
    loud = {(n.label, n.operation) for n in notes if n.kind not in JUDGING | {"other-core", "kat-differs"}}
    return [record for record in records if (record.label, record.operation) not in loud and record.kat == "PASS"]


def test_no_rule_that_judges_speaks_of_more_than_one_quiet_row_in_twenty(published: Any) -> None:
    quiet = [record for records, notes in published.values() for record in _quiet(records, notes)]
    assert len(quiet) == 32
    rows = {(record.label, record.operation) for record in quiet}
    raised = Tally(
        note.kind for _, notes in published.values() for note in notes if (note.label, note.operation) in rows
    )
    assert all(raised[kind] <= 0.05 * len(quiet) for kind in JUDGING)


def _simulated(local: Any, draw: Callable[[], float], calls: int) -> tuple[Process, ...]:
    """Return five processes whose single calls were drawn from a distribution."""
    return tuple(local.process(_drawn([draw() for _ in range(calls)])) for _ in range(5))


def _drawn(costs: list[float]) -> Trial:
    at = statistics.quantiles(costs, n=100, method="inclusive")
    values = {f"p{percent:02}": at[percent - 1] for percent in (1, 5, 25, 50, 75, 95, 99)}
    quantiles = Quantiles(samples=len(costs), batch_calls=1, min=min(costs), max=max(costs), **values)
    total = sum(costs)
    return Trial(measurements=len(costs), seconds=total / 2.6e9, ticks=round(total), quantiles=quantiles)


@pytest.mark.parametrize("calls", [20, 200])
def test_rules_that_judge_are_silent_on_simulated_quiet_rows(local: Any, record: Record, calls: int) -> None:
    """A steady operation that varies by 3 %, and one call in a hundred that costs half as much more."""
    chance = random.Random(20261130)

    def cost() -> float:
        return 1e6 * chance.gauss(1, 0.03) * (1.5 if chance.random() < 0.01 else 1)

    rows = [msgspec.structs.replace(record, processes=_simulated(local, cost, calls)) for _ in range(200)]
    raised = Tally(note.kind for note in _scene(rows))
    assert all(raised[kind] <= 0.05 * len(rows) for kind in JUDGING), raised


def test_trials_of_a_scheme_that_draws_until_it_accepts_are_not_called_apart(local: Any, record: Record) -> None:
    """The number of attempts is geometric: trials of 20 calls differ by a third, and mean and median by as much."""
    chance = random.Random(20261130)

    def cost() -> float:
        attempts = 1
        while chance.random() > 0.25:
            attempts += 1
        return 1e6 * attempts

    rows = [msgspec.structs.replace(record, processes=_simulated(local, cost, 20)) for _ in range(200)]
    assert Tally(note.kind for note in _scene(rows))["trials-apart"] <= 10
    long = [msgspec.structs.replace(record, processes=_simulated(local, cost, 1000)) for _ in range(20)]
    assert Tally(note.kind for note in _scene(long))["median-apart"] == 20


# --- on pages -----------------------------------------------------------------------------------------------------


def test_a_page_groups_rows_by_kind_and_counters(local: Any, subject: Callable[..., CandidateSubject]) -> None:
    local.instance("sign-x", "X")
    few = (Trial(measurements=10, seconds=0.01, ticks=100),)
    for operation in ("keygen", "sign", "verify"):
        local.record("sign-x", "X", operation, processes=(local.process(*few),) * 5)
    kinds = raised.view(subject(local, "sign-x"))
    assert [(kind.kind, kind.mentions) for kind in kinds] == [
        ("few-calls", [("X", "keygen, sign, verify", "measurements 50 in 5 trials")])
    ]


def test_the_reference_page_has_every_rule_with_bound_and_reason() -> None:
    text = notes_page.render()
    assert all(f'id="{rule.kind}"' in text for rule in RULES)
    assert text.count("<tr ") == len(RULES) == len({rule.kind for rule in RULES})
    for bound in ("below 100", "5 %", "10 %", "99.9 %", "5 standard errors"):
        assert bound in text
    assert all(len(rule.reason) > 40 and rule.threshold for rule in RULES)
