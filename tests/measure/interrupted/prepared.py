"""Starts ``python -m measure`` by forking a process that has everything loaded: a start that costs milliseconds.

Each line on stdin is a list of arguments. The answers are the process's id and, when it has ended, its status (a
signal as a negative number) with the ids of what it started and what has not ended in time.
"""

import ctypes
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from evidence import plans
from measure.cli import main
from measure.confine import process, sandbox
from measure.timing import trials

PR_SET_CHILD_SUBREAPER = 36
LEAVE_S = 30.0
# Many trials, each of them short.
TRIALS, CALLS = 16, 100


def prepare(counted: Path) -> None:
    """Make a plan of many short trials the quick one; find out beforehand what each start would."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    plans.QUICK = msgspec.structs.replace(plans.QUICK, trials=TRIALS, min_total=0, max_iters_per_trial=CALLS)
    process.PAUSES_S = (0.0, 0.0)
    trials.DISTURBED_RETRIES = 0
    sandbox.of_this_host()
    once = process._run_once

    def counting(argv: Sequence[str], *others: Any) -> process.Finished:
        if argv[1:2] == ["time"]:
            with counted.open("a", encoding="utf-8") as file:
                file.write(" ".join(argv[2:]) + "\n")
        return once(argv, *others)

    process._run_once = counting


def run(arguments: Sequence[str], log: Path) -> NoReturn:
    """Be the process that measures."""
    os.setsid()
    said = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(said, 1)
    os.dup2(said, 2)
    status = 70
    try:
        status = main(arguments)
    finally:
        os._exit(status)


def left_over() -> list[str]:
    """Reap what an ended run left to this process; return what has not ended in time, with its state and command."""
    deadline = time.monotonic() + LEAVE_S
    while time.monotonic() < deadline:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.005)
        except ChildProcessError:
            return []
    return [
        said_of(Path("/proc", word)) for word in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    ]


def said_of(process: Path) -> str:
    """Return what tells a process from others."""
    try:
        state = (process / "stat").read_text().rpartition(")")[2].split()[0]
        words = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        return f"{process.name} {state} {(process / 'wchan').read_text()} {words[:600]}"
    except OSError as error:
        return f"{process.name} {error}"


def answer(what: object) -> None:
    """Write one line."""
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def serve(log: Path) -> None:
    """Answer until stdin ends."""
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            run(json.loads(line), log)
        answer(child)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        answer({"status": status, "left": left_over()})


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    prepare(folder / "driver-runs")
    serve(folder / "log")
