"""What an outsider kills, such as the kernel for want of memory, is run again, and blamed on no candidate."""

import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from evidence import plans, store
from evidence.types import FlagSet, KatStatus
from measure.confine import process
from measure.confine.process import Finished, Output
from measure.timing.attempts import BuildState, KatState, RunFolder, read
from tests.measure.test_campaign import Place, instance

NOTHING = Output(b"", cut=False)
KILLED = Finished((), None, signal.SIGKILL, False, NOTHING, NOTHING, NOTHING, 0, "none")
# The compiler's driver outlives what it starts, and says so.
PART_KILLED = KILLED._replace(
    exit_code=1, signal=None,
    stderr=Output(b"gcc: fatal error: Killed signal terminated program cc1\ncompilation terminated.\n", cut=False),
)  # fmt: skip

Outsider = Callable[..., None]


@pytest.fixture
def outsider(monkeypatch: pytest.MonkeyPatch) -> Outsider:
    """Kill the first so many programs whose command line holds a word; they are not even started."""
    once = process._run_once
    monkeypatch.setattr(process, "PAUSES_S", (0.0, 0.0))

    def kills(word: str, times: int, ended: Finished = KILLED) -> None:
        left = [ended] * times

        def killing(argv: Sequence[str], *others: Any) -> Finished:
            return left.pop() if left and word in argv else once(argv, *others)

        monkeypatch.setattr(process, "_run_once", killing)

    return kills


@pytest.fixture
def place(tmp_path: Path, driver_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setattr(plans, "QUICK", msgspec.structs.replace(plans.QUICK, min_total=0, max_iters_per_trial=100))
    made = Place(tmp_path)
    made.candidate(instance("A"))
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "driver").symlink_to(driver_cache)
    return made


@pytest.fixture(scope="module")
def driver_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("driver")


def build_of(place: Place) -> BuildState:
    state = read(RunFolder(place.run).build_file("kem-toy", "A"), BuildState)
    assert state
    return state


def kat_of(place: Place) -> KatState:
    state = read(RunFolder(place.run).result_file("kem-toy", "A"), KatState)
    assert state
    return state


@pytest.mark.parametrize("ended", [KILLED, PART_KILLED])
def test_a_killed_compiler_is_run_again(place: Place, outsider: Outsider, ended: Finished) -> None:
    outsider("-c", 2, ended)
    assert place.measure("build") == 0
    assert (build_of(place).built.flags, build_of(place).built.reason) == (FlagSet.GUIDE, None)


@pytest.mark.parametrize("ended", [KILLED, PART_KILLED])
def test_a_compiler_killed_each_time_is_no_refusal_of_the_guides_flags(
    place: Place, outsider: Outsider, ended: Finished
) -> None:
    outsider("-c", 3, ended)
    assert place.measure("build") == 0
    failed = build_of(place).built
    assert (failed.flags, failed.library, failed.killed) == (FlagSet.GUIDE, None, True)
    assert failed.reason
    assert "illed" in failed.reason or "SIGKILL, 3 times in a row" in failed.reason
    assert place.measure("kat") == 0
    assert kat_of(place).result.kat is KatStatus.BUILDFAIL
    assert place.measure("build") == 0
    assert place.measure("kat") == 0
    assert build_of(place).built.flags is kat_of(place).result.flags is FlagSet.GUIDE
    assert (kat_of(place).result.kat, kat_of(place).result.reason) == (KatStatus.PASS, None)


@pytest.mark.parametrize(("times", "status"), [(1, KatStatus.PASS), (2, KatStatus.PASS), (3, KatStatus.CRASH)])
def test_a_killed_test_is_run_again_with_the_same_library(
    place: Place, outsider: Outsider, times: int, status: KatStatus
) -> None:
    assert place.measure("build") == 0
    outsider("measure.kat.worker", times)
    assert place.measure("kat") == 0
    result = kat_of(place).result
    assert (result.kat, result.flags, result.library_sha256) == (
        status,
        FlagSet.GUIDE,
        build_of(place).built.library_sha256,
    )
    assert f"killed_retries  = {min(times, 2)}\n" in (place.run / "kat" / "kem-toy" / "A.log").read_text()
    if status is KatStatus.CRASH:
        assert result.reason == "ended by SIGKILL, 3 times in a row"


@pytest.mark.slow
def test_a_killed_driver_is_run_again_and_three_times_are_data(
    place: Place, outsider: Outsider, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert place.measure("build") == place.measure("kat") == 0
    outsider("enc", 2)  # the calibration
    assert place.measure("time") == 0
    calibration = place.run / "attempts" / "kem-toy" / "A__enc" / "calibration.json"
    assert b'"killed_retries": 2' in calibration.read_bytes()
    (place.run / "attempts" / "kem-toy" / "A__dec" / "trial-3.json").unlink()
    outsider("dec", 3)
    assert place.measure("time") == 0
    outsider("keygen", 1)  # its profile
    assert place.measure("profile") == place.measure("publish") == 0
    records = place.records()
    assert records["A dec"].reason == "crash: ended by SIGKILL, 3 times in a row"
    assert [one.killed_retries for one in records["A dec"].processes if one.status != "complete"] == [2]
    assert {record.status for name, record in records.items() if name != "A dec"} == {"complete"}
    profiles = {one.operation: one for one in store.load_system(place.data, "local").profiles}
    assert (profiles["keygen"].status, profiles["keygen"].killed_retries) == ("complete", 1)
    assert profiles["enc"].killed_retries is None
