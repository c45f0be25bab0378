"""A campaign that is started again and again, and what can be killed of it and when."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
POLL_S = 0.004
LONGEST_S = 60.0


class Ended(NamedTuple):
    """How one life of a campaign ended; ``left`` are processes that outlived it."""

    status: int
    left: list[str]


class Life:
    """A run under way, in a session of its own."""

    def __init__(self, server: "subprocess.Popen[str]", arguments: list[str]) -> None:
        assert server.stdin
        assert server.stdout
        self._answers = server.stdout
        server.stdin.write(json.dumps(arguments) + "\n")
        server.stdin.flush()
        self.pid = int(self._answers.readline())
        # Opened before anybody reaps it: a number is not enough to kill by.
        self._handle = os.pidfd_open(self.pid)

    def alive(self) -> bool:
        return state_of(self.pid) not in {None, "Z"}

    def below(self) -> list[int]:
        """Return all processes that descend from the run."""
        found, wanted = [], [self.pid]
        while wanted:
            children = children_of(wanted.pop())
            found += children
            wanted += children
        return found

    def kill(self) -> None:
        signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def kill_below(self, choose: random.Random) -> bool:
        """Kill one process below the run; return whether there was one."""
        there = self.below()
        return bool(there) and self._kill_if_below(choose.choice(there))

    def kill_all(self, choose: random.Random) -> None:
        """Kill the run and all below it, in any order."""
        victims = [self.pid, *self.below()]
        choose.shuffle(victims)
        for pid in victims:
            if pid == self.pid:
                self.kill()
            else:
                self._kill_if_below(pid)

    def _kill_if_below(self, pid: int) -> bool:
        """Kill a process unless its number has passed to a stranger."""
        with contextlib.suppress(ProcessLookupError):
            handle = os.pidfd_open(pid)
            try:
                if pid in self.below():
                    signal.pidfd_send_signal(handle, signal.SIGKILL)
                    return True
            finally:
                os.close(handle)
        return False

    def ended(self) -> Ended:
        """Wait for the end."""
        answer = json.loads(self._answers.readline())
        os.close(self._handle)
        return Ended(answer["status"], answer["left"])


class Server:
    """Starts runs."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "log"
        self._counted = folder / "driver-runs"
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        words = [sys.executable, str(HERE / "prepared.py"), str(folder)]
        self._process = subprocess.Popen(
            words, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def start(self, arguments: list[str]) -> Life:
        return Life(self._process, arguments)

    def driver_runs(self) -> int:
        """Return how often the driver was started to time something."""
        return len(self._counted.read_text().splitlines()) if self._counted.is_file() else 0

    def close(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.wait(timeout=LONGEST_S)
        self._process.stdout.close()


@contextlib.contextmanager
def server(folder: Path) -> Iterator[Server]:
    made = Server(folder)
    try:
        yield made
    finally:
        made.close()


def state_of(pid: int) -> str | None:
    """Return the letter of a process's state, None where there is no such process."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return None


def name_of(pid: int) -> str | None:
    """Return the name of a process's program, None where there is no such process."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/comm").read_text()
    return None


def children_of(pid: int) -> list[int]:
    """Return the children that any thread of a process has started."""
    found: list[int] = []
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return found


def final_files(folder: Path) -> set[Path]:
    """Return the files below a run folder that have their final names."""
    found: set[Path] = set()
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found.update(Path(place, name) for name in names if not name.startswith("."))
    return found


def wait_for_files(life: Life, folder: Path, count: int) -> None:
    """Wait until so many files are new in a folder, or the run has ended."""
    before, deadline = final_files(folder), time.monotonic() + LONGEST_S
    while life.alive() and len(final_files(folder) - before) < count and time.monotonic() < deadline:
        time.sleep(POLL_S)


def wait_for_child(life: Life, count: int) -> None:
    """Wait until so many processes were seen below the run, or it has ended."""
    seen, deadline = set(life.below()), time.monotonic() + LONGEST_S
    wanted = len(seen) + count
    while life.alive() and len(seen) < wanted and time.monotonic() < deadline:
        seen.update(life.below())
        time.sleep(POLL_S / 4)


def wait_a_while(life: Life, seconds: float) -> None:
    """Wait, at most until the run has ended."""
    deadline = time.monotonic() + seconds
    while life.alive() and time.monotonic() < deadline:
        time.sleep(POLL_S)
