"""Schema 2, the format of the published campaigns, into the types of schema 3.

Nothing is lost and nothing is invented: a value that stands twice must agree with itself, a stored statistic
must agree with the trials, an unknown key is a fault, and what the source lacks stays absent. Values of
``processes[].meta`` and some of ``environment`` are decimal strings in this schema; they become numbers.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from evidence import derive
from evidence.faults import PathFault, convert
from evidence.types import Build, Campaign, CounterUnit, Profile, Record, Trial

SCHEMA = 2
RELATIVE_TOLERANCE = 1e-9

ENVIRONMENT_NUMBERS = frozenset(
    {
        "perf_event_paranoid",
        "cpufreq_min_khz",
        "cpufreq_max_khz",
        "cpufreq_avg_khz",
        "intel_pstate_no_turbo",
        "cpufreq_boost",
    }
)
SIZE_KEYS = ("input_bytes", "pk_bytes", "sk_bytes", "ct_bytes", "ss_bytes", "signature_bytes", "digest_bytes")
PROCESS_NUMBERS = (
    "baseline_rss_bytes",
    "peak_rss_bytes",
    "warmups",
    "sign_failures_retried",
    "message_tweaks",
    "setup_verify_failed",
    "signature_length_excess",
    "verify_rejections",
)
STATISTICS: dict[str, Callable[[Record], float | None]] = {
    "measurements": derive.measurements,
    "mean_seconds": derive.mean_seconds,
    "median_trial_seconds": derive.median_trial_seconds,
    "min_trial_seconds": lambda record: min(derive.trial_mean_seconds(record), default=None),
    "max_trial_seconds": lambda record: max(derive.trial_mean_seconds(record), default=None),
    "mean_cycles": derive.mean_count,
    "median_trial_cycles": derive.median_trial_count,
    "operations_per_second": derive.operations_per_second,
    "throughput_MB_per_second": derive.megabytes_per_second,
    "baseline_rss_bytes": derive.baseline_rss_bytes,
    "peak_rss_bytes": derive.peak_rss_bytes,
}


def convert_document(value: dict[str, Any], to: type[Any]) -> Any:
    """Return a schema-2 document as ``to`` (Record, Profile, Build or Campaign), or a list of its faults."""
    try:
        return READERS[to](value)
    except _UnreadableError as error:
        return [error.fault]


class _UnreadableError(Exception):
    def __init__(self, path: str, message: str) -> None:
        self.fault = PathFault(path, message)
        super().__init__(message)


def _record(value: dict[str, Any]) -> Record | list[PathFault]:
    rest = dict(value)
    rest["schema"] = 3
    stored = {name: rest.pop(name) for name in STATISTICS if name in rest}
    stored_trials = rest.pop("trials", None)
    hundred = rest.pop("guide_100_measurements_met", None)
    not_passed = rest.pop("kat_not_passed", None)
    rest["environment"] = _environment(rest.get("environment"), "$.environment")
    rest["processes"] = [_process(process, rest, f"$.processes[{i}]") for i, process in enumerate(_list(rest))]
    record = convert(rest, Record)
    if isinstance(record, list):
        return record
    faults = list(_statistics(record, stored))
    if stored_trials is not None and [_plain(trial) for trial in derive.trials(record)] != stored_trials:
        faults.append(PathFault("$.trials", "differ from the trials of the processes"))
    if hundred is not None and hundred != (derive.measurements(record) >= 100):
        faults.append(PathFault("$.guide_100_measurements_met", f"is {hundred}, the trials say otherwise"))
    if not_passed is not None and not_passed != (record.kat != "PASS"):
        faults.append(PathFault("$.kat_not_passed", f"is {not_passed}, kat is {record.kat}"))
    return faults or record


def _list(record: Mapping[str, Any]) -> list[Any]:
    processes = record.get("processes")
    if not isinstance(processes, list):
        raise _UnreadableError("$.processes", "must be a list")
    return processes


def _plain(trial: Trial) -> dict[str, Any]:
    return {"measurements": trial.measurements, "seconds": trial.seconds, "cycles": trial.cycles}


def _process(process: Any, record: Mapping[str, Any], path: str) -> dict[str, Any]:
    """Return a schema-2 process as plain schema-3 data; ``meta`` must agree with the record around it."""
    rest = dict(_mapping(process, path))
    meta = dict(_mapping(rest.pop("meta", None), f"{path}.meta"))
    repeated = {
        "id": record.get("candidate"),
        "instance": record.get("instance"),
        "operation": record.get("operation"),
        "build_flags": record.get("build_flags"),
        "timing_scope": record.get("timing_scope"),
    }
    for key, expected in repeated.items():
        if key in meta and meta.pop(key) != expected:
            raise _UnreadableError(f"{path}.meta.{key}", f"differs from the record's {expected!r}")
    rest.update({key: _number(meta.pop(key), f"{path}.meta.{key}") for key in PROCESS_NUMBERS if key in meta})
    sizes = {key: _number(meta.pop(key), f"{path}.meta.{key}") for key in SIZE_KEYS if key in meta}
    stated = _mapping(record.get("sizes") or {}, "$.sizes")
    if sizes != {key: stated.get(key) for key in sizes}:
        raise _UnreadableError(f"{path}.meta", "sizes differ from the record's")
    available = meta.pop("cpu_cycles_available", None)
    if available not in ("yes", "no"):
        raise _UnreadableError(f"{path}.meta.cpu_cycles_available", f"must be yes or no, got {available!r}")
    rest["counter"] = {"unit": (CounterUnit.CYCLES if available == "yes" else CounterUnit.NANOSECONDS).value}
    for key in meta:
        raise _UnreadableError(f"{path}.meta.{key}", f"unknown key {key!r}")
    return rest


def _environment(value: Any, path: str) -> dict[str, Any]:
    environment = dict(_mapping(value, path))
    for key in ENVIRONMENT_NUMBERS & environment.keys():
        if environment[key] is not None:
            environment[key] = _number(environment[key], f"{path}.{key}")
    return environment


def _mapping(value: Any, path: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _UnreadableError(path, f"must be an object, got {value!r:.60}")
    return value


def _number(value: Any, path: str) -> int:
    if not isinstance(value, str) or not value.isascii() or not value.removeprefix("-").isdigit() or len(value) > 19:
        raise _UnreadableError(path, f"must be a decimal number in quotes, got {value!r:.60}")
    return int(value)


def _statistics(record: Record, stored: Mapping[str, Any]) -> Iterator[PathFault]:
    for name, value in stored.items():
        derived = STATISTICS[name](record)
        if not _agree(value, derived):
            yield PathFault(f"$.{name}", f"is {value!r}, the trials give {derived!r}")


def _agree(stored: Any, derived: float | None) -> bool:
    if stored is None or derived is None:
        return stored is None and derived is None
    return isinstance(stored, int | float) and math.isclose(stored, derived, rel_tol=RELATIVE_TOLERANCE)


def _profile(value: dict[str, Any]) -> Profile | list[PathFault]:
    rest = dict(value)
    rest["schema"] = 3
    shares = _mapping(rest.pop("share", {}), "$.share")
    hash_share = rest.pop("hash_share", None)
    meta = dict(_mapping(rest.get("meta"), "$.meta"))
    for key in ("tick_hz", "warmups"):
        if key in meta:
            meta[key] = _number(meta[key], f"$.meta.{key}")
    rest["meta"] = meta
    profile = convert(rest, Profile)
    if isinstance(profile, list):
        return profile
    derived = derive.function_shares(profile)
    faults = [
        PathFault(f"$.share.{fn}", f"is {shares.get(fn)!r}, the calls give {derived.get(fn)!r}")
        for fn in sorted(shares.keys() | derived.keys())
        if not _agree(shares.get(fn), derived.get(fn))
    ]
    if not _agree(hash_share, derive.hash_share(profile)):
        faults.append(PathFault("$.hash_share", f"is {hash_share!r}, the calls give {derive.hash_share(profile)!r}"))
    return faults or profile


def _build(value: dict[str, Any]) -> Build | list[PathFault]:
    return convert({**value, "schema": 3}, Build)


def _campaign(value: dict[str, Any]) -> Campaign | list[PathFault]:
    rest = {**value, "schema": 3}
    for key in ("environment_at_start", "environment_at_end"):
        if key in rest:
            rest[key] = _environment(rest[key], f"$.{key}")
    return convert(rest, Campaign)


READERS: dict[Any, Callable[[dict[str, Any]], Any]] = {
    Record: _record,
    Profile: _profile,
    Build: _build,
    Campaign: _campaign,
}
