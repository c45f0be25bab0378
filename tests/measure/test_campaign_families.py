"""Whole campaigns over hash functions and key exchanges: operations, files, profiles; and what an emulator ran."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from evidence import derive, store
from evidence.operations import HASH_INPUT_BYTES
from evidence.types import Process, Profile, Record
from measure.cli import main
from measure.publish import largest_kex
from measure.timing.attempts import Attempt, Interface, RunFolder, read
from measure.timing.plan import Operation

CANDIDATES = "csrc/candidates"
LIBRARIES = "tests/csrc/libraries"
# Their known answers are those of other tests.
MEASURE = ({"instances": ".", "action": "measure", "text": "Not checked here."},)


class Place:
    """A data folder and a runs folder of one's own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.run = RunFolder(folder / "runs" / "local" / "quick")
        (self.data / "catalog" / "candidates").mkdir(parents=True)
        (self.data / "catalog" / "systems.yaml").write_text("x_1: {architecture: x86_64, description: other}\n")

    def candidate(self, candidate_id: str, source: str, **instance: Any) -> None:
        """Write a candidate of one instance."""
        instances = [{"label": "toy", "dir": "."} | instance]
        document = {"id": candidate_id, "algorithm": "Toy", "source": {"path": source}, "instances": instances}
        file = self.data / "catalog" / "candidates" / f"{candidate_id}.yaml"
        file.write_text(json.dumps({**document, "footnotes": MEASURE}))

    def measure(self, *words: str) -> int:
        return main([*words, "--data", str(self.data), "--runs", str(self.folder / "runs")])

    def loaded(self) -> store.SystemEvidence:
        return store.load_system(self.data, "local")

    def records(self) -> dict[str, Record]:
        return {store.record_path(record): record for record in self.loaded().records}

    def profiles(self) -> dict[str, Profile]:
        return {profile.operation: profile for profile in self.loaded().profiles}


@pytest.fixture(scope="module")
def driver_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("driver")


@pytest.fixture
def place(tmp_path: Path, driver_cache: Path) -> Place:
    made = Place(tmp_path)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "driver").symlink_to(driver_cache)
    return made


def test_a_hash_function_has_a_record_per_size(place: Place) -> None:
    place.candidate("hash-toy", CANDIDATES, dir="helpers", defines=["HELPER=pseudoXOF", "HELPER_BITS=384"])
    assert place.measure("run") == 0
    records = place.records()
    assert set(records) == {f"records/hash-toy/toy__hash_{size}.json" for size in HASH_INPUT_BYTES}
    for record in records.values():
        assert (record.operation, record.status, record.timing_scope) == ("hash", "complete", "loop")
        assert record.sizes.input_bytes == record.input_bytes
        assert record.sizes.digest_bytes == 48
        assert derive.megabytes_per_second(record)
        assert all(process.command and str(record.input_bytes) in process.command for process in record.processes)
    assert place.profiles() == {}


def test_a_key_exchange_has_a_record_per_step(place: Place) -> None:
    place.candidate("kex-toy", CANDIDATES, dir="ephemeral", defines=["RING_N=128"])
    assert place.measure("run") == 0
    records = place.records()
    steps = ("exchange", "init_a", "init_b", "pass1", "pass2", "derive_a", "derive_b")
    assert set(records) == {f"records/kex-toy/toy__{step}.json" for step in steps}
    for record in records.values():
        assert record.timing_scope == ("loop" if record.operation == "exchange" else "step")
        assert record.kex
        assert record.kex.passes == 2
        assert record.kex.message_bytes
        assert sum(record.kex.message_bytes) == record.kex.declared_messages_bytes
        assert record.sizes.ss_bytes == record.sizes.returned_ss_bytes
        whole = [process.trials[0].runs_seconds is None for process in record.processes]
        assert set(whole) == {record.operation == "exchange"}
    assert set(place.profiles()) == set(steps)
    assert all(profile.status == "complete" for profile in place.profiles().values())


def test_a_second_run_asks_no_getter_and_profiles_nothing_again(place: Place) -> None:
    place.candidate("kex-toy", CANDIDATES, dir="ephemeral", defines=["RING_N=128"])
    assert place.measure("run") == 0
    folders = [place.run.path / name for name in ("attempts", "interface", "profiled", "profile")]
    first = {file: file.stat().st_mtime_ns for folder in folders for file in folder.rglob("*.json")}
    assert place.measure("run") == 0
    assert {file: file.stat().st_mtime_ns for folder in folders for file in folder.rglob("*.json")} == first


@pytest.mark.parametrize(
    ("toy", "reason"),
    [
        ("kex_returns_two", "operation: pass2 returns 2, so the protocol does not run"),
        ("kex_past_state", "overflow: the library wrote past the buffer"),
    ],
)
def test_a_wrong_key_exchange_fails_step_by_step_and_the_campaign_goes_on(place: Place, toy: str, reason: str) -> None:
    place.candidate("kex-wrong", LIBRARIES, sources=[f"{toy}.c"])
    place.candidate("hash-toy", CANDIDATES, dir="helpers", defines=["HELPER=sm3hash", "HELPER_BITS=256"])
    assert place.measure("run") == 0
    wrong = {path: record for path, record in place.records().items() if record.candidate == "kex-wrong"}
    assert {record.status for record in wrong.values()} == {"failed"}
    assert all(record.reason and record.reason.startswith(reason) for record in wrong.values())
    assert len(place.records()) == len(wrong) + len(HASH_INPUT_BYTES)


def test_a_key_exchange_that_states_no_possible_passes_has_its_exchange_on_record(place: Place) -> None:
    place.candidate("kex-wrong", LIBRARIES, sources=["kex_seventeen.c"])
    assert place.measure("run") == 0
    interface = read(place.run.interface_file("kex-wrong", "toy"), Interface)
    assert interface
    assert interface.passes is None
    assert [(record.operation, record.status) for record in place.records().values()] == [("exchange", "failed")]


def test_a_hash_function_that_writes_past_its_digest_fails(place: Place) -> None:
    place.candidate("hash-wrong", LIBRARIES, sources=["hash_past_end.c"], digest_bits=264)
    assert place.measure("run") == 0
    reasons = {record.reason for record in place.records().values()}
    assert reasons == {"overflow: the library wrote past the buffer digest of 33 bytes (at byte 33)"}


def test_what_an_emulator_ran_is_not_published(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.candidate("hash-toy", CANDIDATES, dir="helpers", defines=["HELPER=sm3hash", "HELPER_BITS=256"])
    for phase in ("build", "kat", "time"):
        assert place.measure(phase) == 0
    file = place.run.attempt_file(Operation("hash-toy", "toy", "hash", 512), 0)
    attempt = read(file, Attempt)
    assert attempt
    assert attempt.environment.emulated is None
    environment = msgspec.structs.replace(attempt.environment, emulated=True)
    place.run.write(file, msgspec.structs.replace(attempt, environment=environment))
    assert place.measure("publish") == 10
    assert (
        "1 result(s) come from an emulator, first records/hash-toy/toy__hash_512.json: such figures say nothing about "
        "a machine; measure on the real one"
    ) in capsys.readouterr().err
    assert not (place.data / "local").exists()


def test_a_profile_of_another_library_is_not_published(place: Place) -> None:
    place.candidate("kex-toy", CANDIDATES, dir="ephemeral", defines=["RING_N=128"])
    assert place.measure("run") == 0
    place.candidate("kex-toy", CANDIDATES, dir="ephemeral", defines=["RING_N=256"])
    for phase in ("build", "kat", "time", "publish"):
        assert place.measure(phase) == 0
    assert place.profiles() == {}


def process(**kex: Any) -> Process:
    document = {"status": "complete", "exit_code": 0, "trials": [], "wall_s": 1.0, "disturbed_retries": 0}
    return msgspec.convert({**document, **({"kex": kex} if kex else {})}, Process)


def test_messages_and_states_are_the_largest_that_any_process_saw() -> None:
    one = process(passes=2, message_bytes=[10, 4], state_a_bytes=[8, 20], state_b_bytes=[8, 9])
    two = process(passes=2, message_bytes=[9, 7], state_a_bytes=[8, 19], state_b_bytes=[8, 12])
    kex = largest_kex([one, two, process()])
    assert kex
    assert (kex.passes, kex.message_bytes, kex.state_a_bytes, kex.state_b_bytes) == (2, (10, 7), (8, 20), (8, 12))
    assert largest_kex([process()]) is None
