"""Kills at random moments: nothing is lost, nothing is left, and the evidence is that of an undisturbed campaign."""

import os
import random
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from evidence import store
from evidence.cli import main as verify_evidence
from evidence.types import FlagSet, KatStatus
from measure.timing.attempts import Attempt, BuildState, KatState, Profiled, ProfileState
from tests.measure.interrupted import lives
from tests.measure.interrupted.prepared import TRIALS
from tests.measure.test_campaign import Place, instance

KILLS = 100
OPERATIONS = ("keygen", "enc", "dec")
# What a run may end with besides success where something that it needs was killed: a build, a test, a probe, a sandbox.
ENDS = {0, 5, 6, 8, 12}
STATES: dict[str, type[msgspec.Struct]] = {
    "build": BuildState, "result": KatState, "attempts": Attempt, "profiled": Profiled, "profile": ProfileState,
}  # fmt: skip


class Watched:
    """One campaign that is killed, and what has been seen of it."""

    def __init__(self, place: Place, server: lives.Server, choose: random.Random, system_id: str) -> None:
        self.place, self.server, self.choose, self.system_id = place, server, choose, system_id
        self.folder = place.folder / "runs" / system_id / "quick"
        self.attempts: dict[Path, bytes] = {}
        self.runs_before = server.driver_runs()
        self.kills = 0
        self.asleep: set[str] = set()

    def live(self, most_kills: int) -> bool:
        """Start the campaign, kill of it what chance picks, and return whether it came to its end."""
        words = self.place.arguments("run", "--only", "kem-toy", "--system", self.system_id)
        life = self.server.start(words)
        fatal = False
        while life.alive() and self.kills < most_kills and not fatal:
            self._wait(life)
            fatal = self._kill(life)
        ended = life.ended()
        # A sandbox that is killed as it starts leaves its inner process asleep: the next start ends that.
        asleep = {each.partition(" ")[0] for each in ended.left if " bwrap " in each}
        assert len(asleep) == len(ended.left), ended.left
        assert not asleep & self.asleep
        self.asleep = asleep
        assert ended.status == -9 if fatal and ended.status < 0 else ended.status in ENDS, self.server.log.read_text()
        self.check()
        return ended.status == 0

    def _wait(self, life: lives.Life) -> None:
        kind = self.choose.randrange(3)
        if kind == 0:
            lives.wait_for_files(life, self.folder, self.choose.randint(1, 4))
        elif kind == 1:
            lives.wait_for_child(life, self.choose.randint(1, 12))
        else:
            lives.wait_a_while(life, self.choose.uniform(0, 1.2))

    def _kill(self, life: lives.Life) -> bool:
        """Kill; return whether that is the end of the run."""
        if not life.alive():
            return False
        kind = self.choose.randrange(3)
        if kind == 0:
            killed = life.kill_below(self.choose)
            self.kills += killed
            # Three kills in a row of one and the same program would be data.
            lives.wait_for_files(life, self.folder, 1)
            return False
        self.kills += 1
        if kind == 1:
            life.kill()
        else:
            life.kill_all(self.choose)
        return True

    def check(self) -> None:
        """Check that all files are whole, and no attempt was lost or changed."""
        for file in lives.final_files(self.folder):
            kind = file.relative_to(self.folder).parts[0]
            if file.suffix == ".json":
                msgspec.json.decode(file.read_bytes(), type=STATES.get(kind, msgspec.Raw))
        now = {file: file.read_bytes() for file in lives.final_files(self.folder / "attempts")}
        assert {file: now.get(file) for file in self.attempts} == self.attempts
        self.attempts = now
        repeated = self.server.driver_runs() - self.runs_before - len(now)
        assert 0 <= repeated <= self.kills

    def check_evidence(self) -> None:
        """Check that the evidence is that of a campaign that nobody disturbed."""
        loaded = store.load_system(self.place.data, self.system_id)
        wanted = {(label, operation) for label in "AB" for operation in OPERATIONS}
        assert {(record.label, record.operation) for record in loaded.records} == wanted
        assert {(profile.label, profile.operation) for profile in loaded.profiles} == wanted
        assert all(profile.status == "complete" for profile in loaded.profiles)
        for built in loaded.build.values():
            assert (built.kat, built.flags, built.reason) == (KatStatus.PASS, FlagSet.GUIDE, None)
        for record in loaded.records:
            assert (record.status, len(record.processes)) == ("complete", TRIALS)
            files = self.folder / "attempts" / "kem-toy" / f"{record.label}__{record.operation}"
            kept = [msgspec.json.decode((files / f"trial-{n}.json").read_bytes(), type=Attempt) for n in range(TRIALS)]
            assert record.processes == tuple(attempt.process for attempt in kept)
        assert not list(self.folder.rglob(".*"))
        assert not list(self.place.data.glob(".publish-*"))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path)
    made.candidate(instance("A"), instance("B"))
    return made


@pytest.fixture
def server(tmp_path: Path) -> Iterator[lives.Server]:
    with lives.server(tmp_path) as made:
        yield made


@pytest.mark.slow
def test_a_hundred_kills_lose_nothing_and_change_nothing(place: Place, server: lives.Server) -> None:
    seed = int(os.environ.get("KATALOG_TEST_SEED") or random.SystemRandom().randrange(10**9))
    sys.stdout.write(f"KATALOG_TEST_SEED={seed}\n")
    choose, kills, campaigns, repeated = random.Random(seed), 0, 0, 0
    while kills < KILLS:
        campaigns += 1
        watched = Watched(place, server, choose, f"campaign-{campaigns}")
        while not watched.live(KILLS - kills):
            pass
        watched.check_evidence()
        assert verify_evidence(["verify", "--data", str(place.data)]) == 0
        kills += watched.kills
        repeated += server.driver_runs() - watched.runs_before - len(watched.attempts)
    assert kills == KILLS
    assert "Traceback" not in server.log.read_text()
    told = f"{kills} kills, {campaigns} campaigns, {server.driver_runs()} driver runs, {repeated} of them repeated\n"
    sys.stdout.write(told)


@pytest.mark.slow
def test_workers_on_several_cores_end_with_the_run_and_one_that_is_killed_ends_it(
    place: Place, server: lives.Server
) -> None:
    usable = sorted(os.sched_getaffinity(0))[:2]
    if len(usable) < 2:
        pytest.skip("needs two cores")
    words = place.arguments("run", "--only", "kem-toy", "--cpu", ",".join(map(str, usable)))
    folder = place.run / "attempts"
    for whole in (True, False, True, False):
        life = server.start(words)
        lives.wait_for_files(life, folder, 8)  # beyond calibrations, in the midst of trials
        workers = [pid for pid in lives.children_of(life.pid) if lives.name_of(pid) == lives.name_of(life.pid)]
        assert life.alive()
        assert len(workers) == 2
        if whole:
            life.kill()
        else:
            os.kill(workers[0], signal.SIGKILL)
        assert life.ended() == lives.Ended(-9 if whole else 1, [])
    assert "a worker ended with status -9; what was finished is kept, start again to go on" in server.log.read_text()
    kept = {file: file.read_bytes() for file in lives.final_files(folder)}
    assert server.start(words).ended() == lives.Ended(0, [])
    assert {file: file.read_bytes() for file in kept} == kept
    assert {len(record.processes) for record in place.records().values()} == {TRIALS}
