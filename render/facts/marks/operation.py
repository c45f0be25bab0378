"""Rules about one operation of one instance. Each answers with the raw counters, or with nothing."""

from collections.abc import Iterator

from evidence import derive
from evidence.types import CounterUnit, Process, Record, Sizes
from render.facts.marks.scene import Look, Scene
from render.look import formats

LEAST_CALLS = 100
SPREAD = 0.05
GAP = 0.10
STANDARD_ERRORS = 5
ACTIVE = 0.999
RETURNED = ("pk_bytes", "sk_bytes", "ct_bytes", "ss_bytes", "signature_bytes")
# Codes that mean success: a pass of a key exchange answers 1 when it was the last.
SUCCESS = {"pass": {"0", "1"}, "exch": {"0", "1"}}


def all_rejected(look: Look, _: Scene) -> str:
    """Every call of a verification, warm-ups included, rejected an honest signature."""
    rejected, calls = _rejections(look)
    return _rejections_text(look) if 0 < calls <= rejected else ""


def some_rejected(look: Look, _: Scene) -> str:
    """Some calls of a verification, not all, rejected an honest signature."""
    rejected, calls = _rejections(look)
    return _rejections_text(look) if 0 < rejected < calls else ""


def setup_failed(look: Look, _: Scene) -> str:
    """The honest case did not work when it was tried before timing."""
    failed = _total(look.record, "setup_verify_failed")
    return f"setup_verify_failed {failed} in {_processes(look.record)}" if failed else ""


def return_codes(look: Look, _: Scene) -> str:
    """Calls returned something else than success, beyond the rejections and retries that have notes of their own."""
    codes: dict[str, int] = {}
    for process in look.record.processes:
        for code, times in (process.return_codes or {}).items():
            codes[code] = codes.get(code, 0) + times
    others = {code: n for code, n in codes.items() if code not in SUCCESS.get(look.record.operation[:4], {"0"}) and n}
    explained = (
        derive.sign_failures_retried(look.record) + _rejections(look)[0] + _total(look.record, "setup_verify_failed")
    )
    if sum(others.values()) <= explained:
        return ""
    return "return_codes " + ", ".join(f"{code}: {n}" for code, n in sorted(codes.items()))


def returned_longer(look: Look, _: Scene) -> str:
    """A call returned a length above the one that the interface declares."""
    excess = _total(look.record, "signature_length_excess")
    told = [f"signature_length_excess {excess}"] if excess else []
    return ", ".join([*told, *_longer(look.record)])


def signing_retried(look: Look, _: Scene) -> str:
    """Signing failed and was tried again, inside the timed work or while a signature was prepared."""
    failed, tweaked = derive.sign_failures_retried(look.record), _total(look.record, "message_tweaks")
    told = [f"sign_failures_retried {failed} beside {look.calls} timed calls"] if failed else []
    return ", ".join([*told, *([f"message_tweaks {tweaked}"] if tweaked else [])])


def few_calls(look: Look, _: Scene) -> str:
    """The figures rest on fewer calls than the guide asks for."""
    calls, trials = look.calls, len(look.trials)
    return f"measurements {calls} in {_plural(trials, 'trial')}" if 0 < calls < LEAST_CALLS else ""


def few_trials(look: Look, scene: Scene) -> str:
    """Fewer processes were measured than the campaign plans for an operation."""
    trials = len(look.trials)
    return f"{trials} of {scene.planned_trials} trials" if 0 < trials < scene.planned_trials else ""


def repeated(look: Look, _: Scene) -> str:
    """A trial was thrown away and repeated because the machine was disturbed."""
    retries = _total(look.record, "disturbed_retries")
    return f"disturbed_retries {retries} in {_processes(look.record)}" if retries else ""


def killed(look: Look, _: Scene) -> str:
    """A trial was run again because something outside had killed it."""
    retries = _total(look.record, "killed_retries")
    return f"killed_retries {retries} in {_processes(look.record)}" if retries else ""


def not_active(look: Look, _: Scene) -> str:
    """The counter did not count for the whole of a trial."""
    pairs = [(t.time_running_ns, t.time_enabled_ns) for t in look.trials]
    short = [(ran, on) for ran, on in pairs if ran is not None and on and ran < ACTIVE * on]
    if not short:
        return ""
    ran, on = min(short, key=lambda pair: pair[0] / pair[1])
    return f"time_running_ns {ran} of time_enabled_ns {on} at worst, in {len(short)} of {_plural(len(pairs), 'trial')}"


def zero_count(look: Look, _: Scene) -> str:
    """A counter was used, and a trial has no count of it, or a single call cost nothing."""
    counter, trials = derive.counter_of(look.record), look.trials
    if counter is None or counter.unit is CounterUnit.NANOSECONDS:
        return ""
    without = sum(derive.count_of(trial) is None for trial in trials)
    zero = sum(trial.quantiles is not None and trial.quantiles.min <= 0 for trial in trials)
    told = [f"no count in {without} of {_plural(len(trials), 'trial')}"] if without else []
    return ", ".join([*told, *([f"quantiles.min 0 in {zero} of {_plural(len(trials), 'trial')}"] if zero else [])])


def trials_apart(look: Look, _: Scene) -> str:
    """The means of the trials lie further apart than the calls within a trial explain."""
    if len(look.trials) < 3:
        return ""
    means = [trial.seconds / trial.measurements for trial in look.trials]
    apart = (max(means) - min(means)) * look.calls / sum(trial.seconds for trial in look.trials)
    if apart <= max(SPREAD, STANDARD_ERRORS * _standard_error(look)):
        return ""
    least, greatest = formats.duration(min(means)), formats.duration(max(means))
    return f"means of {len(means)} trials from {least} to {greatest}, {formats.share(apart)} of their mean apart"


def median_apart(look: Look, _: Scene) -> str:
    """Mean and median of a single call differ by more than chance allows."""
    quantiles, means = look.quantiles, derive.trial_mean_counts(look.record)
    if quantiles is None or not means or quantiles.p50 <= 0:
        return ""
    weights = [trial.measurements for trial in look.trials]
    mean = sum(m * n for m, n in zip(means, weights, strict=True)) / sum(weights)
    chance = STANDARD_ERRORS * 1.253 * quantiles.standard_deviation / quantiles.samples**0.5 / quantiles.p50
    gap = mean / quantiles.p50 - 1
    if abs(gap) <= max(GAP, chance):
        return ""
    side = "above" if gap > 0 else "below"
    return f"mean {formats.count(mean)}, {formats.share(abs(gap))} {side} the median {formats.count(quantiles.p50)}"


def _standard_error(look: Look) -> float:
    """Return the relative standard error of a trial's mean; 0 where single calls were not recorded."""
    quantiles = look.quantiles
    if quantiles is None or quantiles.p50 <= 0:
        return 0.0
    per_trial = quantiles.samples / len(look.trials)
    return quantiles.standard_deviation / quantiles.p50 / float(per_trial**0.5)


def _rejections(look: Look) -> tuple[int, int]:
    """Return rejections of honest signatures, and the calls that could reject one."""
    if look.record.operation != "verify":
        return 0, 0
    calls = look.calls + sum(process.warmups or 0 for process in derive.complete(look.record))
    return _total(look.record, "verify_rejections"), calls


def _rejections_text(look: Look) -> str:
    rejected, calls = _rejections(look)
    timed = look.calls
    return f"verify_rejections {rejected} of {calls} calls ({timed} timed, {_plural(calls - timed, 'warm-up')})"


def _longer(record: Record) -> Iterator[str]:
    """Yield the lengths that exceed the declared one, the longest of each."""
    for name in RETURNED:
        over = [pair for process in record.processes if (pair := _over(process, record.sizes, name))]
        if over:
            returned, declared = max(over)
            yield f"returned_{name} {returned} above {name} {declared}"


def _over(process: Process, stated: Sizes, name: str) -> tuple[int, int] | None:
    returned = getattr(process.sizes, f"returned_{name}") if process.sizes else None
    declared = getattr(process.sizes, name) if process.sizes else None
    declared = getattr(stated, name) if declared is None else declared
    return (returned, declared) if returned is not None and declared is not None and returned > declared else None


def _total(record: Record, name: str) -> int:
    return sum(getattr(process, name) or 0 for process in record.processes)


def _processes(record: Record) -> str:
    return _plural(len(record.processes), "process", "processes")


def _plural(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
