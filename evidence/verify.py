"""Proof of a data folder: what can be recomputed agrees, and every digest is that of its file."""

import hashlib
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from evidence import schema, store
from evidence.catalog import Catalog
from evidence.faults import Fault, FaultyError
from evidence.types import BuildInstance, Environment, Process, Record

# The slash comes first, then what may not stand before it: so the search leaps from slash to slash.
ABSOLUTE_PATH = re.compile(rb"/(?<![\w.:/<]/)(?:home|root|Users|tmp|opt|usr|var|mnt|srv|work|data|build)/[\w.-]+")
# Settings that must stay the same over a campaign and its machines; the core may change, it is named per record.
FIXED_SETTINGS = (
    "architecture",
    "cpu_model",
    "memory_total_kib",
    "os",
    "kernel",
    "libc",
    "compiler",
    "cpufreq_governor",
    "cpufreq_min_khz",
    "cpufreq_max_khz",
    "intel_pstate_no_turbo",
    "cpufreq_boost",
    "smt_control",
    "virtualized",
)
# What kernel and firmware keep for themselves differs a little between machines of one kind, and from start to start.
MEMORY_WITHIN = 0.01


class Verified(NamedTuple):
    """What a verification looked at, and the faults that it found."""

    checked: dict[str, int]
    faults: tuple[Fault, ...]


def verify(data: Path, catalog: Catalog) -> Verified:
    """Check every system below ``data``, one at a time, and the schemas; all faults listed."""
    checked: dict[str, int] = {}
    faults = list(_schemas(data, checked))
    for system_id in store.systems(data):
        try:
            loaded = store.load_system(data, system_id)
        except FaultyError as error:
            faults.extend(error.faults)
            continue
        faults.extend(system_faults(loaded, catalog, checked))
    return Verified(checked, tuple(faults))


def system_faults(
    loaded: store.SystemEvidence, catalog: Catalog, checked: dict[str, int] | None = None
) -> Iterator[Fault]:
    """Yield the faults of one system's loaded evidence; ``checked`` gathers how much was looked at."""
    for name, check in CHECKS.items():
        for count, found in check(loaded, catalog):
            if checked is not None:
                checked[name] = checked.get(name, 0) + count
            for path, where, message in found:
                yield Fault(f"{loaded.system_id}/{path}", where, message)


def _schemas(data: Path, checked: dict[str, int]) -> Iterator[Fault]:
    """Yield committed schemas that are not those of the types; a folder without schemas claims nothing."""
    for name, text in schema.documents().items():
        file = data / "schema" / name
        if (data / "schema").is_dir():
            checked["schemas"] = checked.get("schemas", 0) + 1
            if not file.is_file() or file.read_bytes() != text:
                yield Fault(f"schema/{name}", "", "is not that of the types: run `python -m evidence schema`")


Checked = Iterator[tuple[int, list[Fault]]]


def _records_against_build(loaded: store.SystemEvidence, _: Catalog) -> Checked:
    """Records name the library, KAT log and KAT status that build.json states."""
    for record in loaded.records:
        built = loaded.build[f"{record.candidate}/{record.label}"]
        yield 1, list(_differences(record, built))


def _differences(record: Record, built: BuildInstance) -> Iterator[Fault]:
    for name in ("library_sha256", "kat_log_sha256", "kat", "flags", "variant", "instance", "sources_sha256"):
        ours, theirs = getattr(record, name), getattr(built, name)
        if ours != theirs:
            yield Fault(store.record_path(record), f"$.{name}", f"is {ours}, build.json says {theirs}")


def _kat_logs(loaded: store.SystemEvidence, _: Catalog) -> Checked:
    """KAT logs have the digest that build.json states."""
    for key, built in loaded.build.items():
        if built.kat_log and built.kat_log_sha256:
            digest = hashlib.sha256((loaded.folder / built.kat_log).read_bytes()).hexdigest()
            wrong = digest != built.kat_log_sha256
            yield 1, [Fault(built.kat_log, "", f"has SHA-256 {digest}, build.json {key} another")] if wrong else []


def _kat_results(loaded: store.SystemEvidence, _: Catalog) -> Checked:
    """The last line of each KAT log is the result that build.json states, for the very instance."""
    for built in loaded.build.values():
        if built.kat_log:
            text = (loaded.folder / built.kat_log).read_text(encoding="utf-8", errors="replace").rstrip()
            last = text.rpartition("\n")[2]
            expected = f"RESULT {built.candidate} {built.label} {built.kat.value}"
            wrong = last != expected and not last.startswith(f"{expected} ")
            yield 1, [Fault(built.kat_log, "", f"ends with {last!r:.80}, not with {expected!r}")] if wrong else []


def _records_within(loaded: store.SystemEvidence, _: Catalog) -> Checked:
    """No record contradicts itself: calls against plan, order of times, of memory and of quantiles."""
    for record in loaded.records:
        path = store.record_path(record)
        yield 1, [Fault(path, where, message) for where, message in contradictions(record)]


def contradictions(record: Record) -> Iterator[tuple[str, str]]:
    """Yield JSON path and description of what in a record cannot be together."""
    if record.ended_utc < record.started_utc:
        yield "$.ended_utc", "lies before the start"
    complete = sum(process.status == "complete" for process in record.processes)
    if record.status == "complete" and complete != len(record.processes):
        yield "$.status", f"is complete, {len(record.processes) - complete} of its processes are not"
    if record.plan and record.status == "complete" and complete != record.plan.trials:
        yield "$.processes", f"are {complete}, the plan says {record.plan.trials}"
    for number, process in enumerate(record.processes):
        for where, message in _process_contradictions(process, record):
            yield f"$.processes[{number}]{where}", message


def _process_contradictions(process: Process, record: Record) -> Iterator[tuple[str, str]]:
    if (process.baseline_rss_bytes or 0) > (process.peak_rss_bytes or sys.maxsize):
        yield ".peak_rss_bytes", "is below the baseline"
    if sum(trial.seconds for trial in process.trials) > process.wall_s:
        yield ".wall_s", "is less than the timed loops took"
    for number, trial in enumerate(process.trials):
        where = f".trials[{number}]"
        if record.plan and trial.measurements != record.plan.iterations_per_trial:
            message = f"are {trial.measurements}, the plan says {record.plan.iterations_per_trial}"
            yield f"{where}.measurements", message
        if (trial.time_running_ns or 0) > (trial.time_enabled_ns or sys.maxsize):
            yield f"{where}.time_running_ns", "is above time_enabled_ns"
        if trial.quantiles and list(trial.quantiles.values()) != sorted(trial.quantiles.values()):
            yield f"{where}.quantiles", "do not ascend"


def _profiles_within(loaded: store.SystemEvidence, _: Catalog) -> Checked:
    """Helper functions take no more ticks than the operations that call them."""
    for profile in loaded.profiles:
        ticks = sum(call.ticks for call in profile.calls or ())
        wrong = profile.total is not None and ticks > profile.total.ticks
        message = "fewer ticks in total than in the helper functions"
        yield 1, [Fault(store.profile_path(profile), "$.total.ticks", message)] if wrong else []


def _settings(loaded: store.SystemEvidence, _: Catalog) -> Checked:
    """All records were made under the same fixed settings."""
    for record in loaded.records:
        first = loaded.records[0].environment
        changed = changed_settings(record.environment, first)
        path = store.record_path(record)
        yield 1, [Fault(path, f"$.environment.{name}", "differs from the campaign's first record") for name in changed]


def changed_settings(found: Environment, wanted: Environment) -> list[str]:
    """Return the names of the fixed settings that differ; memory may by one part in a hundred."""
    changed = [name for name in FIXED_SETTINGS if getattr(found, name) != getattr(wanted, name)]
    have_kib, want_kib = found.memory_total_kib, wanted.memory_total_kib
    if have_kib is not None and want_kib is not None and abs(have_kib - want_kib) <= MEMORY_WITHIN * want_kib:
        changed = [name for name in changed if name != "memory_total_kib"]
    return changed


def _manifest(loaded: store.SystemEvidence, _: Catalog) -> Checked:
    """MANIFEST.sha256 lists every file with its digest; evidence in schema 2 has none."""
    file = loaded.folder / store.MANIFEST
    if not file.is_file():
        yield 0, []
        return
    stated = set(file.read_bytes().splitlines())
    actual = set(store.manifest(loaded.folder).splitlines())
    paths = sorted({line[66:].decode(errors="replace") for line in stated ^ actual})
    yield len(actual), [Fault(path, "", f"is not as {store.MANIFEST} states") for path in paths]


def _change_log(loaded: store.SystemEvidence, _: Catalog) -> Checked:
    """The change log is in order of time, and its last entry speaks of what is there."""
    if loaded.changes:
        last = loaded.changes[-1]
        stated, actual = (last.instances, last.records), (len(loaded.build), len(loaded.records))
        times = [entry.published_utc for entry in loaded.changes]
        found = []
        if stated != actual:
            message = (
                f"the last has {stated[0]} instances and {stated[1]} records, the folder {actual[0]} and {actual[1]}"
            )
            found.append(Fault(store.CHANGES, "$.entries", message))
        if times != sorted(times):
            found.append(Fault(store.CHANGES, "$.entries", "are not in order of time"))
        yield len(times), found


def _private_words(loaded: store.SystemEvidence, catalog: Catalog) -> Checked:
    """No file holds an absolute path or a host name that the catalog does not allow."""
    system = catalog.systems.get(loaded.system_id)
    allowed = system.hostnames if system else ()
    for path in loaded.files:
        match = ABSOLUTE_PATH.search((loaded.folder / path).read_bytes())
        yield 1, [Fault(path, "", f"holds an absolute path: {match[0].decode()}")] if match else []
    for record in loaded.records:
        name = record.environment.hostname
        wrong = name is not None and name not in allowed
        where = "$.environment.hostname"
        yield 0, [Fault(store.record_path(record), where, f"{name!r} is not allowed by the catalog")] if wrong else []


CHECKS: dict[str, Callable[[store.SystemEvidence, Catalog], Checked]] = {
    "records against build.json": _records_against_build,
    "KAT log digests": _kat_logs,
    "KAT results": _kat_results,
    "records free of contradiction": _records_within,
    "profiles free of contradiction": _profiles_within,
    "records with the campaign's settings": _settings,
    "manifest entries": _manifest,
    "entries of change logs": _change_log,
    "files free of private words": _private_words,
}
