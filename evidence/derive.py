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


def trial_mean_counts(record: Record) -> tuple[float, ...]:
    """Return each trial's mean cost of one call in the counter's unit; nothing if any trial lacks it.

    The unit is nanoseconds where there was no counter but the clock.
    """
    if (counter := counter_of(record)) is not None and counter.unit is CounterUnit.NANOSECONDS:
        return tuple(seconds * 1e9 for seconds in trial_mean_seconds(record))
    means = tuple(count / trial.measurements for trial in trials(record) if (count := count_of(trial)) is not None)
    return means if len(means) == len(trials(record)) else ()


class Spread(NamedTuple):
    """Median and quartiles of the cost of one call, each the median over trials of that trial's quantile."""

    p25: float
    p50: float
    p75: float


class CallQuantiles(NamedTuple):
    """Costs of single calls over all trials: the least, the greatest, and medians over trials of the quantiles."""

    samples: int
    min: float
    p05: float
    p25: float
    p50: float
    p75: float
    p95: float
    max: float

    @property
    def standard_deviation(self) -> float:
        """Return the spread of one reading as the quantiles show it.

        The wider of two estimates, each exact for a normal distribution, and with it the slowest call, seen once, as
        far as it costs up to twice the median: one that costs more is a disturbance, not the operation's own.
        """
        inner = max((self.p95 - self.p05) / 3.29, (self.p75 - self.p25) / 1.349)
        slowest = min(self.max - self.p50, self.p50)
        return float((inner**2 + slowest**2 / self.samples) ** 0.5)


def call_quantiles(record: Record) -> CallQuantiles | None:
    """Return the costs of single calls, in the counter's unit, where every trial holds quantiles."""
    found = [trial.quantiles for trial in trials(record) if trial.quantiles is not None]
    if not found or len(found) != len(trials(record)):
        return None

    def middle(pick: Callable[[Quantiles], float]) -> float:
        return statistics.median(pick(quantiles) for quantiles in found)

    return CallQuantiles(
        sum(quantiles.samples for quantiles in found),
        min(quantiles.min for quantiles in found),
        middle(lambda q: q.p05),
        middle(lambda q: q.p25),
        middle(lambda q: q.p50),
        middle(lambda q: q.p75),
        middle(lambda q: q.p95),
        max(quantiles.max for quantiles in found),
    )


def call_spread(record: Record) -> Spread | None:
    """Return median and quartiles of single calls, in the counter's unit, where every trial holds quantiles."""
    quantiles = call_quantiles(record)
    return None if quantiles is None else Spread(quantiles.p25, quantiles.p50, quantiles.p75)


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


def role_of(profile: Profile, fn: str) -> str:
    """Return what a helper function is for, ``hash`` or ``drng``: as the profile says, else by its name."""
    return (profile.roles or {}).get(fn, "drng" if fn in DRNG_FUNCTIONS else "hash")


def function_shares(profile: Profile) -> dict[str, float]:
    """Return each helper function's share of the profiled ticks, by name; nothing where nothing was measured."""
    if profile.total is None:
        return {}
    ticks = profile.total.ticks
    return {fn: sum(call.ticks for call in calls) / ticks for fn, calls in _by_function(profile)}


def hash_share(profile: Profile) -> float | None:
    """Return the share of all helper functions but the DRNG; None where it was not measured."""
    return _share_of_role(profile, "hash")


def drng_share(profile: Profile) -> float | None:
    """Return the share of the DRNG; None where it was not measured."""
    return _share_of_role(profile, "drng")


def _share_of_role(profile: Profile, role: str) -> float | None:
    if profile.total is None:
        return None
    return sum((share for fn, share in function_shares(profile).items() if role_of(profile, fn) == role), 0.0)


def calls_per_operation(profile: Profile) -> dict[str, float]:
    """Return calls per operation of each helper function, by name; functions that were never called are left out."""
    if profile.total is None:
        return {}
    totals = {fn: sum(call.calls for call in calls) for fn, calls in _by_function(profile)}
    return {fn: total / profile.total.operations for fn, total in totals.items() if total}


def _by_function(profile: Profile) -> Sequence[tuple[str, list[ProfileCall]]]:
    calls = profile.calls or ()
    return [(name, [call for call in calls if call.fn == name]) for name in sorted({call.fn for call in calls})]


class KexMessages(NamedTuple):
    """The messages of a key exchange in bytes, by pass, and what the interface declares for all together."""

    passes: int | None
    message_bytes: tuple[int, ...] | None
    declared_bytes: int | None


def kex_messages(record: Record) -> KexMessages | None:
    """Return the messages of a key exchange: of each pass the longest that any process saw; None if none is known."""
    known = [kex for kex in (record.kex, *(process.kex for process in record.processes)) if kex is not None]
    seen = [kex.message_bytes for kex in known if kex.message_bytes is not None]
    passes = largest(kex.passes for kex in known)
    if passes is None and not seen:
        return None
    longest = tuple(map(max, zip(*seen, strict=True))) if len({len(each) for each in seen}) == 1 else None
    return KexMessages(passes, longest, largest(kex.declared_messages_bytes for kex in known))


def returned_bytes(record: Record, name: str) -> int | None:
    """Return the longest that calls returned under a name such as ``pk_bytes``, over all processes."""
    stated = [process.sizes for process in record.processes if process.sizes is not None]
    return largest(getattr(sizes, f"returned_{name}") for sizes in (record.sizes, *stated))
