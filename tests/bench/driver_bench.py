"""Does the driver measure what a bare loop measures, and how steady is it?

One key generation on one pinned core, interleaved repeats of the driver and of ``bare_loop``: the same library,
the same counter, nothing around the calls but a loop.

    python tests/bench/driver_bench.py DRIVER BARE_LOOP LIBRARY CPU

Exits with 1 when the medians are more than 0.5 % apart. The lines on spread are judged only on a quiet machine,
so they never fail the script.
"""

import json
import operator
import statistics
import subprocess
import sys
from typing import Any, NamedTuple

REPEATS = 14  # two processes differ by up to 0.5 % in their memory layout alone, so a few pairs would not settle it
SPREAD_OVER = 10  # repeats, those in the middle: what a campaign of a few trials meets
ITERATIONS = 20_000  # 0.7 s each: long enough for what else the machine does to show in a mean
APART_ALLOWED = 0.005
SPREAD_ALLOWED = 0.01
SPREAD_SHARE_ALLOWED = 0.2


class Figures(NamedTuple):
    """What the repeats gave, in order of time, in the counter's unit."""

    counter: str
    driver_medians: list[float]
    bare_medians: list[float]
    bare_means: list[float]


def main(driver: str, bare_loop: str, library: str, cpu: int) -> int:
    """Measure, print the table, and return the exit status."""
    figures = measure(driver, bare_loop, library, cpu)
    apart = abs(statistics.median(map(operator.truediv, figures.driver_medians, figures.bare_medians)) - 1)
    median_spread, mean_spread = spread(figures.driver_medians), spread(figures.bare_means)
    lines = [
        f"counter {figures.counter}, {REPEATS} interleaved repeats of {ITERATIONS} key generations on CPU {cpu}",
        row("driver, median of single calls", figures.driver_medians),
        row("bare loop, median of single calls", figures.bare_medians),
        row("bare loop, plain mean", figures.bare_means),
        verdict("medians apart, pair by pair", apart, APART_ALLOWED),
        verdict("spread of ten driver medians", median_spread, SPREAD_ALLOWED),
        verdict("  as a share of the mean's spread", median_spread / mean_spread, SPREAD_SHARE_ALLOWED),
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    return 0 if apart <= APART_ALLOWED else 1


def measure(driver: str, bare_loop: str, library: str, cpu: int) -> Figures:
    """Run both programs in turn and compare neighbours, so that what the machine does meanwhile meets them alike."""
    documents, bare = [], []
    for _ in range(REPEATS):
        documents.append(run(driver_argv(driver, library, cpu)))
        bare.append(run([bare_loop, library, str(cpu), str(ITERATIONS)]))
    counters = {document["counter"]["name"] for document in documents} | {one["counter"] for one in bare}
    if len(counters) != 1:
        raise SystemExit(f"the programs used different counters: {', '.join(sorted(counters))}")
    return Figures(
        counter=counters.pop(),
        driver_medians=[document["trial"]["quantiles"]["p50"] for document in documents],
        bare_medians=[one["median"] for one in bare],
        bare_means=[one["mean"] for one in bare],
    )


def driver_argv(driver: str, library: str, cpu: int) -> list[str]:
    """Return the command line of one trial; its result goes to stdout, where this library prints nothing."""
    words = [driver, "time", "--library", library, "--family", "kem", "--operation", "keygen"]
    return [*words, "--iterations", str(ITERATIONS), "--warmups", "10", "--cpu", str(cpu), "--result-fd", "1"]


def run(argv: list[str]) -> dict[str, Any]:
    """Run a program and return the JSON that it prints."""
    document: dict[str, Any] = json.loads(subprocess.run(argv, check=True, capture_output=True).stdout)
    return document


def spread(values: list[float]) -> float:
    """Return how far ten repeats in a row lie apart, relative to their centre."""
    begin = (len(values) - SPREAD_OVER) // 2
    ten = values[begin : begin + SPREAD_OVER]
    return (max(ten) - min(ten)) / statistics.median(ten)


def row(title: str, values: list[float]) -> str:
    """Return one line of the table."""
    return f"{title:<36}{statistics.median(values):>14.1f}   spread {spread(values):8.3%}"


def verdict(title: str, value: float, allowed: float) -> str:
    """Return one line that says whether a figure keeps its bound."""
    return f"{title:<36}{value:>14.3%}   {'within' if value <= allowed else 'NOT within'} {allowed:.1%}"


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit("usage: python tests/bench/driver_bench.py DRIVER BARE_LOOP LIBRARY CPU")
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])))
