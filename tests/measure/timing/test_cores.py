"""Sharing out instances over cores: worked out by hand, and properties of every share."""

import multiprocessing
from pathlib import Path
from typing import Never

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.plans import QUICK
from evidence.types import BuildInstance, KatStatus, ParallelControl
from measure.errors import DriverError, UsageError
from measure.host.facts import Tools
from measure.timing import cores as workers
from measure.timing.attempts import RunFolder
from measure.timing.cores import balance
from measure.timing.plan import Operation
from measure.timing.trials import Rig, Task

costs = st.dictionaries(st.text("abcdef", min_size=1, max_size=4), st.floats(min_value=0, max_value=1e6), max_size=30)
cores = st.lists(st.integers(0, 63), min_size=1, max_size=8, unique=True)


def test_the_dearest_goes_first_to_the_core_with_the_least_work() -> None:
    shares = balance({"a": 7.0, "b": 5.0, "c": 4.0, "d": 3.0, "e": 1.0}, [2, 4], {})
    assert shares == {2: ["a", "d"], 4: ["b", "c", "e"]}


def test_what_was_begun_on_a_core_stays_there() -> None:
    shares = balance({"a": 7.0, "b": 5.0, "c": 4.0}, [2, 4], {"b": 2, "c": 9})
    assert shares == {2: ["b", "c"], 4: ["a"]}


def test_without_a_core_nothing_can_be_measured() -> None:
    with pytest.raises(UsageError, match="no core"):
        balance({"a": 1.0}, [], {})


@given(costs, cores)
def test_every_instance_is_on_exactly_one_core(costs_s: dict[str, float], on: list[int]) -> None:
    shares = balance(costs_s, on, {})
    assert sorted(name for names in shares.values() for name in names) == sorted(costs_s)


@given(costs, cores)
def test_no_core_has_more_than_its_fair_share_and_the_dearest(costs_s: dict[str, float], on: list[int]) -> None:
    loads = [sum(costs_s[name] for name in names) for names in balance(costs_s, on, {}).values()]
    fair = sum(costs_s.values()) / len(on)
    assert max(loads) <= fair + max(costs_s.values(), default=0.0) + 1e-6


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(RunFolder(tmp_path), tmp_path / "driver", "d" * 64, 3, Tools(None, None), QUICK)


def task(name: str) -> Task:
    built = BuildInstance(candidate="kem-toy", label="A", instance="A", variant="reference", kat=KatStatus.PASS)
    return Task(built, Operation("kem-toy", "A", name), 0, 1, 0, 1.0)


def test_the_control_takes_the_first_operation_that_goes_well(monkeypatch: pytest.MonkeyPatch, rig: Rig) -> None:
    tried = []

    def call_s(_: Rig, task: Task) -> float:
        tried.append(task.operation.operation)
        if task.operation.operation == "keygen":
            raise DriverError("fails")
        return 1.0 + len(tried) / 10

    monkeypatch.setattr(workers, "_call_s", call_s)
    found = workers.control(rig, [3], [task("keygen"), task("enc"), task("dec")])
    assert found == ParallelControl(operation="kem-toy/A enc", cpus=(3,), alone_s=1.2, together_s=1.3)
    assert tried == ["keygen", "enc", "enc"]
    assert workers.control(rig, [3], [task("keygen")]) is None


def test_a_control_beside_which_nothing_runs_does_not_count(monkeypatch: pytest.MonkeyPatch, rig: Rig) -> None:
    def fails(*_: object) -> Never:
        raise DriverError("fails")

    def call_s(_: Rig, task: Task) -> float:
        for child in multiprocessing.active_children():
            child.join()
        return 1.0

    monkeypatch.setattr(workers, "perform", fails)
    monkeypatch.setattr(workers, "_call_s", call_s)
    assert workers.control(rig, [3, 4], [task("enc")]) is None
