"""What does a campaign cost beside its timed work, and what do two cores bring?

Ten fast instances, full plan: first on one core, then on two.

    python tests/bench/campaign_bench.py [CPU,CPU]        default: the first two usable cores

Exits with 1 when less than 85 % of the measuring time was timed work on one core, when two cores take more than 0.6 of
the time of one, or when the medians over single calls differ between both ways by 1 % or more. The last is judged by
the operation in the middle; larger differences are printed, too, since a virtual machine changes its speed.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from evidence import derive, store
from evidence.types import TimedWork

ROOT = Path(__file__).resolve().parents[2]
TEN = "^(kem-kyber|kem-ring|sign-dilithium)/|^sign-winternitz/Winternitz-W(4|16)$"
TIMED_WANTED, RATIO_ALLOWED, APART_ALLOWED = 0.85, 0.6, 0.01


class Way(NamedTuple):
    """What one way of measuring took and gave."""

    seconds: float
    work: TimedWork
    medians: dict[str, float]  # record -> median of single calls, in the counter's unit


def main(folder: Path, cores: Sequence[int]) -> int:
    """Measure both ways, print the table, and return the exit status."""
    one = measure(folder, "one", cores[:1])
    two = measure(folder, "two", cores)
    if one.medians.keys() != two.medians.keys():
        raise SystemExit("the two ways measured different operations")
    apart = sorted(abs(two.medians[name] / one.medians[name] - 1) for name in one.medians)
    share, ratio, middle = one.work.timed_s / one.work.wall_s, two.seconds / one.seconds, statistics.median(apart)
    print(f"{len(one.medians)} operations: {one.seconds:.1f} s on one core, {two.seconds:.1f} s on two")
    held = [
        verdict("timed work of the measuring time, one core", share, TIMED_WANTED, held=share >= TIMED_WANTED),
        verdict("time on two cores, of that on one", ratio, RATIO_ALLOWED, held=ratio <= RATIO_ALLOWED),
        verdict("medians apart, the operation in the middle", middle, APART_ALLOWED, held=middle < APART_ALLOWED),
    ]
    nine_of_ten = apart[len(apart) * 9 // 10]
    print(f"        medians apart, nine of ten operations within {nine_of_ten:.2%}, all within {apart[-1]:.2%}")
    print(f"        timed work on two cores {two.work.timed_s / two.work.wall_s:.1%}")
    return 0 if all(held) else 1


def verdict(name: str, value: float, target: float, *, held: bool) -> bool:
    """Print one figure with its target."""
    print(f"{'met' if held else 'MISSED':7} {name:44} {value:7.2%}  target {target:.0%}")
    return held


def measure(folder: Path, system: str, cores: Sequence[int]) -> Way:
    """Run a campaign; what is timed is the time phase, with the start of its program."""
    words = ["--full", "--allow-unfixed-host", "--only", TEN, "--system", system, "--cpu", ",".join(map(str, cores))]
    words += ["--runs", str(folder / "runs"), "--data", str(folder / "data"), "--catalog", str(ROOT / "data/catalog")]
    run("build", words)
    run("kat", words)
    begun = time.monotonic()
    run("time", words)
    seconds = time.monotonic() - begun
    run("publish", words)
    loaded = store.load_system(folder / "data", system)
    medians = {
        store.record_path(record): quantiles.p50
        for record in loaded.records
        if (quantiles := derive.call_quantiles(record))
    }
    if loaded.campaign.timed_work is None or not medians:
        raise SystemExit("the campaign measured nothing")
    return Way(seconds, loaded.campaign.timed_work, medians)


def run(phase: str, words: Sequence[str]) -> None:
    """Run one phase; what it says is shown when it fails."""
    done = subprocess.run(
        [sys.executable, "-m", "measure", phase, *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"measure {phase} ended with {done.returncode}:\n{done.stderr[-2000:]}")


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1].split(",")] if sys.argv[1:] else sorted(os.sched_getaffinity(0))[:2]
    with tempfile.TemporaryDirectory(prefix="campaign-bench-") as scratch:
        raise SystemExit(main(Path(scratch), given))
