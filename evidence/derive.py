"""Statistics from trials. Everything here is computed when evidence is read, and nothing of it is stored.

All functions are pure; a figure whose observations are absent is ``None``, never a default.
"""

import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from evidence.types import Counter, CounterUnit, Process, Profile, ProfileCall, Quantiles, Record, Trial

DRNG_FUNCTIONS = frozenset({"drng"})


def trials(record: Record) -> tuple[Trial, ...]:
    """Return the trials of all complete processes, in order."""
    return tuple(trial for process in complete(record) for trial in process.trials)


def complete(record: Record) -> tuple[Process, ...]:
    """Return the processes that ended well."""
    return tuple(process for process in record.processes if process.status == "complete")


def measurements(record: Record) -> int:
    """Return the number of timed calls over all trials."""
    return sum(trial.measurements for trial in trials(record))


def total_seconds(record: Record) -> float | None:
    """Return the timed seconds over all trials."""
    return sum(trial.seconds for trial in trials(record)) or None


def mean_seconds(record: Record) -> float | None:
    """Return total time over all trials divided by the number of calls."""
    seconds = total_seconds(record)
    return None if seconds is None else seconds / measurements(record)


def trial_mean_seconds(record: Record) -> tuple[float, ...]:
    """Return each trial's mean time of one call, in seconds."""
    return tuple(trial.seconds / trial.measurements for trial in trials(record))


def median_trial_seconds(record: Record) -> float | None:
    """Return the median over trials of the trial's mean time, in seconds."""
    means = trial_mean_seconds(record)
    return statistics.median(means) if means else None


def operations_per_second(record: Record) -> float | None:
    """Return calls divided by total seconds."""
    seconds = total_seconds(record)
    return None if seconds is None else measurements(record) / seconds


def megabytes_per_second(record: Record) -> float | None:
    """Return 10^6 message bytes hashed per second; None where the operation has no input."""
    seconds = total_seconds(record)
    if seconds is None or not record.input_bytes:
        return None
    return record.input_bytes * measurements(record) / seconds / 1e6


def count_of(trial: Trial) -> int | None:
    """Return what the counter counted over the trial's loop, be it cycles or ticks."""
    return trial.cycles if trial.cycles is not None else trial.ticks


def mean_count(record: Record) -> float | None:
    """Return the counter's total over all trials divided by the number of calls; None if any trial lacks it."""
    counts = [count_of(trial) for trial in trials(record)]
    present = [count for count in counts if count is not None]
    return sum(present) / measurements(record) if present and len(present) == len(counts) else None


def median_trial_count(record: Record) -> float | None:
    """Return the median over trials of the trial's mean count; None if any trial lacks it."""
    means = [count / trial.measurements for trial in trials(record) if (count := count_of(trial)) is not None]
    return statistics.median(means) if means and len(means) == len(trials(record)) else None


def counter_of(record: Record) -> Counter | None:
    """Return the counter of the record's processes; None where they used different ones or none is known."""
    counters = {
        (process.counter.unit, process.counter.name): process.counter for process in record.processes if process.counter
    }
    return next(iter(counters.values())) if len(counters) == 1 else None


def counts_core_cycles(record: Record) -> bool:
    """Return whether the record's counter counts core cycles."""
    counter = counter_of(record)
    return counter is not None and counter.unit is CounterUnit.CYCLES


class Spread(NamedTuple):
    """Median and quartiles of the cost of one call, each the median over trials of that trial's quantile."""

    p25: float
    p50: float
    p75: float


def call_spread(record: Record) -> Spread | None:
    """Return median and quartiles of single calls, in the counter's unit, where every trial holds quantiles."""
    found = [trial.quantiles for trial in trials(record) if trial.quantiles is not None]
    if not found or len(found) != len(trials(record)):
        return None

    def middle(pick: Callable[[Quantiles], float]) -> float:
        return statistics.median(pick(quantiles) for quantiles in found)

    return Spread(middle(lambda q: q.p25), middle(lambda q: q.p50), middle(lambda q: q.p75))


def largest(values: Iterable[int | None]) -> int | None:
    """Return the largest of the values that are present."""
    return max((value for value in values if value is not None), default=None)


def baseline_rss_bytes(record: Record) -> int | None:
    """Return the largest baseline RSS over the trial processes."""
    return largest(process.baseline_rss_bytes for process in complete(record))


def peak_rss_bytes(record: Record) -> int | None:
    """Return the largest peak RSS over the trial processes."""
    return largest(process.peak_rss_bytes for process in complete(record))


def sign_failures_retried(record: Record) -> int:
    """Return the failed signing attempts that were retried, over all processes."""
    return sum(process.sign_failures_retried or 0 for process in record.processes)


def iterations_text_numbers(record: Record) -> tuple[int, int, int] | None:
    """Return (all calls, trials, calls per trial); None unless every trial made the same number of calls."""
    each = {trial.measurements for trial in trials(record)}
    return (measurements(record), len(trials(record)), each.pop()) if len(each) == 1 else None


def function_shares(profile: Profile) -> dict[str, float]:
    """Return each helper function's share of the profiled ticks, functions in order of name."""
    return {fn: sum(call.ticks for call in calls) / profile.total.ticks for fn, calls in _by_function(profile)}


def hash_share(profile: Profile) -> float:
    """Return the share of all helper functions but the DRNG."""
    return sum(share for fn, share in function_shares(profile).items() if fn not in DRNG_FUNCTIONS)


def drng_share(profile: Profile) -> float:
    """Return the share of the DRNG."""
    return sum(share for fn, share in function_shares(profile).items() if fn in DRNG_FUNCTIONS)


def calls_per_operation(profile: Profile) -> dict[str, float]:
    """Return calls per operation of each helper function, by name; functions that were never called are left out."""
    totals = {fn: sum(call.calls for call in calls) for fn, calls in _by_function(profile)}
    return {fn: total / profile.total.operations for fn, total in totals.items() if total}


def _by_function(profile: Profile) -> Sequence[tuple[str, list[ProfileCall]]]:
    names = sorted({call.fn for call in profile.calls})
    return [(name, [call for call in profile.calls if call.fn == name]) for name in names]
