"""Handing out instances, against a scheduler that answers at once: what is refused, failed, given up, kept."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from distributed.scheduler import KilledWorker

from evidence.plans import QUICK
from evidence.types import (
    BuildInstance,
    Counter,
    CounterUnit,
    Environment,
    HostCheck,
    KatStatus,
    Planning,
    Process,
    Trial,
)
from measure.cluster import returned, worker
from measure.cluster import scheduler as handing_out
from measure.cluster.worker import Answer, Entry, Introduction
from measure.errors import HostError, RemoteError
from measure.host.facts import Tools
from measure.timing import trials
from measure.timing.attempts import Attempt, RunFolder
from measure.timing.plan import Operation
from measure.timing.trials import Rig

NOW = "2026-11-30T10:00:00.000000+00:00"
MACHINE = Environment(architecture="x86_64", cpu_model="A", kernel="6.1", memory_total_kib=1000000, cpu_number=1)
TSC = Counter(unit=CounterUnit.TICKS, name="tsc", hz=2_600_000_000)
FIT = Introduction(programs=worker.programs(), cpu=3, environment=MACHINE, counter=TSC, problems=("turbo is on",))
RULES = worker.Rules(planning=QUICK, versions=Tools("gcc 13", None), driver=b"driver", driver_sha256="d" * 64)
TERMS = handing_out.Terms("tcp://here:1", RULES, MACHINE, TSC, refuses_problems=False)
ONE, OTHER, THIRD = "tcp://one:1", "tcp://other:1", "tcp://third:1"


def built(label: str) -> BuildInstance:
    return BuildInstance(
        candidate="kem-toy",
        label=label,
        instance=label,
        variant="reference",
        kat=KatStatus.PASS,
        library=f"lib{label}.so",
        library_sha256="a" * 64,
    )


def entries(label: str, **changes: Any) -> tuple[Entry, ...]:
    """Return the calibration of each operation, which failed: nothing more is to be measured."""
    process = Process(status="crash", exit_code=1, trials=(), wall_s=1.0, disturbed_retries=0)
    attempt = Attempt(
        library_sha256="a" * 64,
        driver_sha256="d" * 64,
        iterations=1,
        warmups=0,
        started_utc=NOW,
        ended_utc=NOW,
        environment=MACHINE,
        process=process,
    )
    attempt = msgspec.structs.replace(attempt, **changes)
    names = ("keygen", "enc", "dec")
    return tuple(
        Entry(operation=Operation("kem-toy", label, name), number="calibration", attempt=attempt) for name in names
    )


class Future:
    """A job that has ended."""

    def __init__(self, key: str, outcome: bytes | Exception) -> None:
        self.key, self.outcome = key, outcome

    def add_done_callback(self, call: Callable[["Future"], None]) -> None:
        call(self)

    @property
    def status(self) -> str:
        return "error" if isinstance(self.outcome, Exception) else "finished"

    def cancelled(self) -> bool:
        return False

    def release(self) -> None:
        """Nothing holds it."""

    def cancel(self) -> None:
        """It has ended."""

    def result(self, timeout: float) -> bytes:
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


class Scheduler:
    """Workers by address, each with what it says of itself; jobs go to one that was granted their resource."""

    def __init__(self, *rounds: dict[str, Introduction]) -> None:
        self.rounds = list(rounds)
        self.granted: dict[str, int] = {}
        self.answers: list[Callable[[str, str], bytes | Exception]] = []
        self.jobs: list[tuple[str, str]] = []

    def nthreads(self) -> dict[str, int]:
        self.present = self.rounds.pop(0) if len(self.rounds) > 1 else self.rounds[0]
        return dict.fromkeys(self.present, 1)

    def run(self, call: object, resource: str, amount: int, workers: list[str]) -> None:
        assert call is worker.grant
        self.resource = resource
        self.granted[workers[0]] = amount

    def submit(self, work: object, content: bytes, *, pure: bool, **where: Any) -> Future:
        key = f"job-{len(self.jobs)}-{len(self.answers)}"
        if work is worker.introduce:
            (address,) = where["workers"]
            return Future(f"introduce {address}", msgspec.json.encode(self.present[address]))
        assert where["resources"] == {self.resource: 1}
        label = msgspec.msgpack.decode(content, type=worker.Order).built.label
        address = next(address for address, amount in self.granted.items() if amount and address in self.present)
        self.jobs.append((label, address))
        answer = self.answers.pop(0) if self.answers else good
        return Future(key, answer(label, address))


def good(label: str, address: str) -> bytes:
    return msgspec.json.encode(Answer(worker=address, entries=entries(label)))


def failing(label: str, address: str) -> bytes:
    return msgspec.json.encode(Answer(worker=address, error="no space left"))


class Desk:
    """The side that hands out, and what it was told."""

    def __init__(self, folder: Path, scheduler: Scheduler, terms: handing_out.Terms = TERMS) -> None:
        self.scheduler, self.said, self.done = scheduler, [], []  # type: tuple[Scheduler, list[str], list[str]]
        self.rig = Rig(RunFolder(folder), folder / "driver", "d" * 64, 1, Tools(None, None), QUICK)
        self.checks: list[HostCheck] = []
        hooks = handing_out.Hooks(self.said.append, self.note, lambda _, text: self.done.append(text))
        client: Any = scheduler
        self.handout = handing_out.Handout(client, self.rig, terms, hooks)
        for label in "AB":
            (folder / f"lib{label}.so").write_bytes(b"library")

    def note(self, check: HostCheck) -> str:
        self.checks.append(check)
        return f"worker-{len(self.checks)}"

    def finished(self) -> list[str]:
        return [label for label in "AB" if trials.is_finished(self.rig, built(label))]


@pytest.fixture(autouse=True)
def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handing_out, "POLL_S", 0.001)
    monkeypatch.setattr(handing_out, "NO_WORKER_S", 0.0)
    monkeypatch.setattr(handing_out, "ALL_REFUSED_S", 0.0)


def test_answers_are_kept_under_the_name_of_their_worker(tmp_path: Path) -> None:
    desk = Desk(tmp_path, Scheduler({ONE: FIT}))
    desk.handout.run([built("A"), built("B")])
    assert desk.finished() == ["A", "B"]
    assert desk.done == ["kem-toy/A by worker-1, 3 processes", "kem-toy/B by worker-1, 3 processes"]
    assert [(check.cpu, check.problems) for check in desk.checks] == [(3, ("turbo is on",))]
    file = tmp_path / "attempts" / "kem-toy" / "A__enc" / "calibration.json"
    assert msgspec.json.decode(file.read_bytes(), type=Attempt).shard == "worker-1"
    assert not list((tmp_path / "returned").rglob("*.json"))


def test_a_worker_of_another_kind_gets_no_work(tmp_path: Path) -> None:
    other = msgspec.structs.replace(FIT, environment=msgspec.structs.replace(MACHINE, cpu_model="B"))
    desk = Desk(tmp_path, Scheduler({OTHER: other, ONE: FIT}))
    desk.handout.run([built("A"), built("B")])
    assert f"worker {OTHER} is refused: cpu_model is 'B', wanted 'A' (start it again once that is mended)" in desk.said
    assert desk.scheduler.granted == {OTHER: 0, ONE: 1}
    assert {address for _, address in desk.scheduler.jobs} == {ONE}


def test_what_one_worker_fails_at_another_is_given(tmp_path: Path) -> None:
    desk = Desk(tmp_path, Scheduler({ONE: FIT, OTHER: FIT}))
    desk.scheduler.answers = [failing]
    desk.handout.run([built("A")])
    (_, first), (_, second) = desk.scheduler.jobs
    assert {first, second} == {ONE, OTHER}
    assert f"worker {first} is refused: worker-" in desk.said[-1]
    assert ": no space left (start it again once that is mended)" in desk.said[-1]
    assert desk.finished() == ["A"]


def test_what_two_workers_fail_at_is_given_up_and_the_others_go_on(tmp_path: Path) -> None:
    desk = Desk(tmp_path, Scheduler({ONE: FIT, OTHER: FIT, THIRD: FIT}))
    desk.scheduler.answers = [failing, good, failing]
    with pytest.raises(
        RemoteError, match=r"^1 instance\(s\) not measured, first kem-toy/A: worker-\d: no space left; "
    ):
        desk.handout.run([built("A"), built("B")])
    assert desk.finished() == ["B"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (RecursionError("too deep"), "RecursionError: too deep"),
        (RuntimeError("a\nb"), "RuntimeError: a b"),
        (b"{}", "RemoteError: a worker's answer is not as agreed: "),
    ],
)
def test_whatever_a_job_raises_costs_its_instance_alone(tmp_path: Path, answer: bytes | Exception, reason: str) -> None:
    desk = Desk(tmp_path, Scheduler({ONE: FIT}))
    desk.scheduler.answers = [lambda *_: answer]
    desk.handout.run([built("A"), built("B")])
    assert desk.finished() == ["A", "B"]
    assert any(line.startswith(f"kem-toy/A: {reason}") for line in desk.said)
    assert [label for label, _ in desk.scheduler.jobs].count("A") == 2


def test_an_answer_that_lacks_operations_does_not_count(tmp_path: Path) -> None:
    desk = Desk(tmp_path, Scheduler({ONE: FIT, OTHER: FIT}))
    part = msgspec.json.encode(Answer(worker=ONE, entries=entries("A")[:2]))
    desk.scheduler.answers = [lambda *_: part]
    desk.handout.run([built("A")])
    assert desk.finished() == ["A"]
    assert any("its answer is not complete" in line for line in desk.said)


def test_a_worker_that_does_not_hear_gets_no_work(tmp_path: Path) -> None:
    desk = Desk(tmp_path, Scheduler({ONE: FIT, OTHER: FIT}))
    granting = desk.scheduler.run

    def run(call: object, resource: str, amount: int, workers: list[str]) -> None:
        if workers == [ONE]:
            raise OSError("gone")
        granting(call, resource, amount, workers)

    desk.scheduler.run = run  # type: ignore[method-assign]
    desk.handout.run([built("A")])
    assert {address for _, address in desk.scheduler.jobs} == {OTHER}


def test_an_instance_that_costs_workers_is_given_up_and_the_others_go_on(tmp_path: Path) -> None:
    desk = Desk(tmp_path, Scheduler({ONE: FIT}))
    desk.scheduler.answers = [lambda *_: KilledWorker("key", None, 3)]  # type: ignore[arg-type]
    with pytest.raises(RemoteError, match=r"1 instance\(s\) not measured, first kem-toy/A: 4 workers were lost while"):
        desk.handout.run([built("A"), built("B")])
    assert desk.finished() == ["B"]


def test_an_answer_that_is_lost_before_it_is_fetched_is_asked_for_again(tmp_path: Path) -> None:
    desk = Desk(tmp_path, Scheduler({ONE: FIT}))
    desk.scheduler.answers = [lambda *_: TimeoutError()]
    desk.handout.run([built("A")])
    assert desk.scheduler.jobs == [("A", ONE), ("A", ONE)]
    assert desk.finished() == ["A"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"library_sha256": "b" * 64}, "kem-toy/A keygen: is not what was asked for"),
        ({"driver_sha256": "b" * 64}, "kem-toy/A keygen: is not what was asked for"),
        ({"environment": msgspec.structs.replace(MACHINE, kernel="6.2")}, "kernel is '6.2', wanted '6.1'"),
    ],
)
def test_what_was_measured_otherwise_is_not_kept(tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    desk = Desk(tmp_path, Scheduler({ONE: FIT}))
    wrong = msgspec.json.encode(Answer(worker=ONE, entries=entries("A", **changes)))
    desk.scheduler.answers = [lambda *_: wrong]
    with pytest.raises(HostError, match=reason):
        desk.handout.run([built("A")])
    assert desk.finished() == []


def test_a_worker_that_comes_back_from_nowhere_is_no_shard(tmp_path: Path) -> None:
    desk = Desk(tmp_path, Scheduler({ONE: FIT}))
    stranger = msgspec.json.encode(Answer(worker=OTHER, entries=entries("A")))
    desk.scheduler.answers = [lambda *_: stranger]
    desk.handout.run([built("A")])
    assert desk.scheduler.jobs == [("A", ONE), ("A", ONE)]


def test_nobody_there_and_nobody_fit_are_two_errors(tmp_path: Path) -> None:
    with pytest.raises(RemoteError, match="no worker for 0 s; start some with `python -m measure worker"):
        Desk(tmp_path, Scheduler({})).handout.run([built("A")])
    silent = Introduction(programs=worker.programs(), error="is no worker of `python -m measure worker`")
    with pytest.raises(HostError, match="the last was refused: is no worker of `python -m measure worker`"):
        Desk(tmp_path, Scheduler({ONE: silent})).handout.run([built("A")])


@pytest.mark.parametrize(
    ("changes", "reasons"),
    [
        ({}, []),
        (
            {"programs": worker.programs() | {"katalog": "0.0", "katalog's programs": "0" * 16}},
            ["katalog is 0.0, wanted", "katalog's programs is 0000000000000000, wanted"],
        ),
        ({"programs": {}}, ["katalog is None", "distributed is None", "katalog's programs is None"]),
        ({"counter": Counter(unit=CounterUnit.CYCLES, name="perf-rdpmc")}, ["counter is perf-rdpmc, wanted tsc"]),
        ({"environment": msgspec.structs.replace(MACHINE, memory_total_kib=1005000)}, []),
        ({"environment": msgspec.structs.replace(MACHINE, memory_total_kib=1020000)}, ["memory_total_kib is 1020000"]),
        ({"environment": msgspec.structs.replace(MACHINE, cpu_number=7, compiler=None)}, []),
    ],
)
def test_refusals_name_setting_found_and_wanted(changes: dict[str, Any], reasons: list[str]) -> None:
    found = handing_out.refusals(msgspec.structs.replace(FIT, **changes), TERMS)
    assert len(found) == len(reasons)
    assert all(one.startswith(reason) for one, reason in zip(found, reasons, strict=True))


def test_a_full_plan_refuses_an_unfit_worker() -> None:
    assert handing_out.refusals(FIT, TERMS._replace(refuses_problems=True)) == ["turbo is on"]


def test_another_campaign_has_another_resource(tmp_path: Path) -> None:
    assert len({Desk(tmp_path, Scheduler({})).handout.resource for _ in range(3)}) == 3


def test_an_answer_replaces_all_earlier_attempts_of_its_instance(tmp_path: Path) -> None:
    rig = Desk(tmp_path, Scheduler({})).rig
    folder = rig.folder
    trial = Trial(measurements=1, seconds=1.0)
    old = entries("A")[0].attempt
    old = msgspec.structs.replace(old, process=msgspec.structs.replace(old.process, trials=(trial,)))
    for number in ("calibration", 0, 1):
        folder.write(folder.attempt_file(Operation("kem-toy", "A", "enc"), number), old)
    folder.write(folder.attempt_file(Operation("kem-toy", "AB", "enc"), 0), old)
    returned.keep(rig, built("A"), Answer(worker=ONE, entries=entries("A")), {ONE: "worker-1"})
    files = sorted(str(file.relative_to(tmp_path / "attempts")) for file in tmp_path.rglob("attempts/**/*.json"))
    assert files == [
        "kem-toy/AB__enc/trial-0.json",
        "kem-toy/A__dec/calibration.json",
        "kem-toy/A__enc/calibration.json",
        "kem-toy/A__keygen/calibration.json",
    ]


def test_a_kill_between_keeping_and_spreading_loses_nothing(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    whole = Answer(worker="worker-1", entries=entries("A"))
    folder.write(folder.returned_file("kem-toy", "A"), whole)
    folder.write(folder.attempt_file(whole.entries[0].operation, "calibration"), whole.entries[0].attempt)
    returned.take_in(folder)
    assert len(list((tmp_path / "attempts").rglob("calibration.json"))) == 3
    assert list((tmp_path / "returned").rglob("*.json")) == []


def test_what_is_no_answer_is_one_line() -> None:
    with pytest.raises(RemoteError, match="a worker's answer is not as agreed: "):
        returned.decode(b"{}")


def test_what_arrives_damaged_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = worker.Place(0, frozenset({0}), tmp_path)
    monkeypatch.setattr(worker, "_places", [place])
    planning = Planning(trials=1, trial_target_s=1.0, min_total=1, max_iters_per_trial=1, op_budget_s=1.0)
    rules = worker.Rules(planning=planning, versions=Tools(None, None), driver=b"x", driver_sha256="0" * 64)
    found = msgspec.json.decode(worker.introduce(msgspec.msgpack.encode(rules)), type=Introduction)
    assert found.error == "driver: arrived with another digest than it was sent with"
    assert list(tmp_path.iterdir()) == []


def test_a_worker_of_another_program_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_places", [])
    found = msgspec.json.decode(worker.introduce(msgspec.msgpack.encode(RULES)), type=Introduction)
    assert found.error == "is no worker of `python -m measure worker`"
