"""Evidence of one system as four tables: instances, records, processes, profiles.

One row per build instance, timing record, driver process and profile, in page order: candidates by id,
labels in natural order, operations in the order of the report's table 4. Columns hold derived figures and raw
counters in the units of their names; ``None`` is what was not observed. Pages take typed rows from them.
"""

import re
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Any, NamedTuple, TypeVar

import pandas as pd

from evidence import derive, store
from evidence.operations import family_of, operation_rank
from evidence.types import Profile, Record

Row = TypeVar("Row", bound=NamedTuple)


class InstanceRow(NamedTuple):
    """One parameter set in one implementation version: how it was built, and its KAT."""

    candidate: str
    label: str
    variant: str
    flags: str | None
    kat: str
    guide_result: str | None
    reason: str | None
    kat_log: str | None
    kat_log_sha256: str | None
    elf_load_bytes: int | None


class RecordRow(NamedTuple):
    """One operation of one instance: derived figures, and where they were taken."""

    candidate: str
    label: str
    operation: str
    input_bytes: int | None
    status: str
    reason: str | None
    counter_name: str | None
    counter_unit: str | None
    counter_hz: int | None
    cpu_number: int | None
    calls: int
    trials: int
    calls_per_trial: int | None  # None where trials differ
    mean_count: float | None
    mean_seconds: float | None
    operations_per_second: float | None
    megabytes_per_second: float | None
    median_trial_seconds: float | None
    call_min: float | None
    call_p05: float | None
    call_p25: float | None
    call_p50: float | None
    call_p75: float | None
    call_p95: float | None
    call_max: float | None
    trial_mean_counts: tuple[float, ...]  # empty where there are no quantiles of calls to set them beside
    sign_failures_retried: int
    baseline_rss_bytes: int | None
    peak_rss_bytes: int | None
    pk_bytes: int | None
    sk_bytes: int | None
    ct_bytes: int | None
    ss_bytes: int | None
    signature_bytes: int | None
    digest_bytes: int | None
    returned_pk_bytes: int | None
    returned_sk_bytes: int | None
    returned_ct_bytes: int | None
    returned_ss_bytes: int | None
    returned_signature_bytes: int | None
    kex_passes: int | None
    kex_message_bytes: tuple[int, ...] | None
    kex_declared_bytes: int | None
    file: str


class ProcessRow(NamedTuple):
    """One run of the driver: what it timed, and what disturbed it."""

    candidate: str
    label: str
    operation: str
    input_bytes: int | None
    number: int
    status: str
    calls: int
    seconds: float
    disturbed_retries: int


class ProfileRow(NamedTuple):
    """Shares of the helper functions in one operation."""

    candidate: str
    label: str
    operation: str
    input_bytes: int | None
    status: str
    reason: str | None
    hash_share: float | None
    drng_share: float | None
    calls_per_operation: dict[str, float]
    hash_functions: tuple[str, ...]
    drng_functions: tuple[str, ...]
    wrapper_cost_ticks: float | None
    tick_source: str | None
    file: str


class Frames(NamedTuple):
    """The four tables of one system."""

    instances: pd.DataFrame
    records: pd.DataFrame
    processes: pd.DataFrame
    profiles: pd.DataFrame


def natural(text: str) -> tuple[tuple[int, str], ...]:
    """Return a sort key that puts ``Tins128`` before ``Tins1024``."""
    parts = re.findall(r"\d+|\D+", text)
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in parts)


def build(loaded: store.SystemEvidence) -> Frames:
    """Return the four tables of one system's evidence."""
    records = in_page_order(loaded.records)
    return Frames(
        _frame(InstanceRow, _instances(loaded)),
        _frame(RecordRow, [_record(record) for record in records]),
        _frame(ProcessRow, [row for record in records for row in _processes(record)]),
        _frame(ProfileRow, [_profile(profile) for profile in sorted(loaded.profiles, key=_page_order)]),
    )


def in_page_order(records: Iterable[Record]) -> list[Record]:
    """Return records by candidate, label in natural order, and operation in the order of table 4."""
    return sorted(records, key=_page_order)


def rows(frame: pd.DataFrame, row: Callable[..., Row]) -> list[Row]:
    """Return the rows of a table, or of a part of it, as the named tuples that it was made from."""
    return [row(*values) for values in frame.to_numpy(dtype=object).tolist()]


def by_candidate(frame: pd.DataFrame, row: Callable[..., Row]) -> dict[str, list[Row]]:
    """Return the rows of each candidate, in page order."""
    every = rows(frame, row)
    return {name: list(part) for name, part in groupby(every, key=lambda each: str(getattr(each, "candidate", "")))}


def operation_text(operation: str, input_bytes: int | None) -> str:
    """Return how pages name an operation; that of a hash is known by its message."""
    return f"hash {input_bytes} B" if operation == "hash" else operation


def _frame(row: Any, values: Iterable[tuple[Any, ...]]) -> pd.DataFrame:
    # Columns of Python objects: None must stay None, and a byte count must not become a float.
    return pd.DataFrame(list(values), columns=list(row._fields), dtype=object)


def _page_order(item: Record | Profile) -> tuple[Any, ...]:
    rank = operation_rank(family_of(item.candidate), item.operation)
    return (item.candidate, natural(item.label), item.label, rank, item.input_bytes or 0)


def _instances(loaded: store.SystemEvidence) -> list[InstanceRow]:
    built = sorted(loaded.build.values(), key=lambda b: (b.candidate, natural(b.label), b.label))
    return [InstanceRow(*(_plain(getattr(each, name)) for name in InstanceRow._fields)) for each in built]


def _plain(value: Any) -> Any:
    """Return the word of an enum, any other value as it is."""
    return getattr(value, "value", value)


def _record(record: Record) -> RecordRow:
    counter = derive.counter_of(record)
    even = derive.iterations_text_numbers(record)
    calls = derive.call_quantiles(record)
    kex = derive.kex_messages(record)
    sizes = record.sizes
    return RecordRow(
        candidate=record.candidate,
        label=record.label,
        operation=record.operation,
        input_bytes=record.input_bytes,
        status=record.status,
        reason=record.reason,
        counter_name=counter.name if counter else None,
        counter_unit=counter.unit.value if counter else None,
        counter_hz=counter.hz if counter else None,
        cpu_number=record.environment.cpu_number,
        calls=derive.measurements(record),
        trials=len(derive.trials(record)),
        calls_per_trial=even[2] if even else None,
        mean_count=derive.mean_count(record) if counter else None,
        mean_seconds=derive.mean_seconds(record),
        operations_per_second=derive.operations_per_second(record),
        megabytes_per_second=derive.megabytes_per_second(record),
        median_trial_seconds=derive.median_trial_seconds(record),
        call_min=calls and calls.min,
        call_p05=calls and calls.p05,
        call_p25=calls and calls.p25,
        call_p50=calls and calls.p50,
        call_p75=calls and calls.p75,
        call_p95=calls and calls.p95,
        call_max=calls and calls.max,
        trial_mean_counts=derive.trial_mean_counts(record) if calls else (),
        sign_failures_retried=derive.sign_failures_retried(record),
        baseline_rss_bytes=derive.baseline_rss_bytes(record),
        peak_rss_bytes=derive.peak_rss_bytes(record),
        pk_bytes=sizes.pk_bytes,
        sk_bytes=sizes.sk_bytes,
        ct_bytes=sizes.ct_bytes,
        ss_bytes=sizes.ss_bytes,
        signature_bytes=sizes.signature_bytes,
        digest_bytes=sizes.digest_bytes,
        returned_pk_bytes=derive.returned_bytes(record, "pk_bytes"),
        returned_sk_bytes=derive.returned_bytes(record, "sk_bytes"),
        returned_ct_bytes=derive.returned_bytes(record, "ct_bytes"),
        returned_ss_bytes=derive.returned_bytes(record, "ss_bytes"),
        returned_signature_bytes=derive.returned_bytes(record, "signature_bytes"),
        kex_passes=kex and kex.passes,
        kex_message_bytes=kex and kex.message_bytes,
        kex_declared_bytes=kex and kex.declared_bytes,
        file=store.record_path(record),
    )


def _processes(record: Record) -> list[ProcessRow]:
    return [
        ProcessRow(
            record.candidate,
            record.label,
            record.operation,
            record.input_bytes,
            number,
            process.status,
            sum(trial.measurements for trial in process.trials),
            sum(trial.seconds for trial in process.trials),
            process.disturbed_retries,
        )
        for number, process in enumerate(record.processes, 1)
    ]


def _profile(profile: Profile) -> ProfileRow:
    roles = {call.fn: derive.role_of(profile, call.fn) for call in profile.calls or ()}
    return ProfileRow(
        candidate=profile.candidate,
        label=profile.label,
        operation=profile.operation,
        input_bytes=profile.input_bytes,
        status=profile.status,
        reason=profile.reason,
        hash_share=derive.hash_share(profile),
        drng_share=derive.drng_share(profile),
        calls_per_operation=derive.calls_per_operation(profile),
        hash_functions=tuple(sorted(fn for fn, role in roles.items() if role == "hash")),
        drng_functions=tuple(sorted(fn for fn, role in roles.items() if role == "drng")),
        wrapper_cost_ticks=profile.wrapper_cost_ticks,
        tick_source=profile.meta.tick_source if profile.meta else None,
        file=store.profile_path(profile),
    )
