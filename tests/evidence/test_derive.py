"""Derived figures: worked out by hand on small records, and against the statistics stored in published files."""

import json
import math
from pathlib import Path

import msgspec
import pytest

from evidence import derive, store
from evidence.types import Counter, CounterUnit, Process, Profile, Quantiles, Record, Trial

STORED = {
    "mean_seconds": derive.mean_seconds,
    "median_trial_seconds": derive.median_trial_seconds,
    "mean_cycles": derive.mean_count,
    "median_trial_cycles": derive.median_trial_count,
    "operations_per_second": derive.operations_per_second,
    "measurements": derive.measurements,
    "peak_rss_bytes": derive.peak_rss_bytes,
    "baseline_rss_bytes": derive.baseline_rss_bytes,
}


def quantiles(p25: float, p50: float, p75: float) -> Quantiles:
    return Quantiles(samples=9, batch_calls=1, min=1, p01=1, p05=2, p25=p25, p50=p50, p75=p75, p95=90, p99=95, max=99)


def with_trials(record: Record, *trials: Trial, **changes: object) -> Record:
    processes = tuple(
        Process(
            status="complete",
            exit_code=0,
            trials=(trial,),
            wall_s=1.0,
            disturbed_retries=0,
            peak_rss_bytes=1000 + number,
            baseline_rss_bytes=500 - number,
            counter=Counter(unit=CounterUnit.TICKS, name="tsc"),
        )
        for number, trial in enumerate(trials)
    )
    return msgspec.structs.replace(record, processes=processes, **changes)


@pytest.fixture(scope="module")
def record() -> Record:
    return store.load_system(Path(__file__).resolve().parents[2] / "data", "x86_1").records[0]


def test_means_weight_trials_by_their_calls(record: Record) -> None:
    mixed = with_trials(
        record,
        Trial(measurements=10, seconds=1.0, cycles=1000),
        Trial(measurements=30, seconds=1.5, cycles=9000),
        Trial(measurements=60, seconds=1.5, cycles=10000),
    )
    assert derive.mean_seconds(mixed) == 4.0 / 100
    assert derive.mean_count(mixed) == 200.0
    assert derive.median_trial_seconds(mixed) == 0.05
    assert derive.median_trial_count(mixed) == pytest.approx(10000 / 60)
    assert derive.operations_per_second(mixed) == 25.0
    assert derive.peak_rss_bytes(mixed) == 1002
    assert derive.baseline_rss_bytes(mixed) == 500


def test_throughput_of_a_hash_is_in_millions_of_bytes(record: Record) -> None:
    trial = Trial(measurements=1000, seconds=0.5, cycles=1)
    assert derive.megabytes_per_second(with_trials(record, trial, input_bytes=4096)) == pytest.approx(8.192)
    assert derive.megabytes_per_second(with_trials(record, trial, input_bytes=0)) is None


def test_a_count_that_one_trial_lacks_is_absent(record: Record) -> None:
    mixed = with_trials(record, Trial(measurements=1, seconds=1.0, ticks=5), Trial(measurements=1, seconds=1.0))
    assert derive.mean_count(mixed) is None
    assert derive.median_trial_count(mixed) is None
    assert derive.mean_seconds(mixed) == 1.0


def test_a_record_without_complete_process_has_no_figures(record: Record) -> None:
    failed = msgspec.structs.replace(record, processes=())
    assert derive.mean_seconds(failed) is None
    assert derive.mean_count(failed) is None
    assert derive.operations_per_second(failed) is None
    assert derive.peak_rss_bytes(failed) is None
    assert derive.measurements(failed) == 0


def test_spread_is_the_median_over_trials_of_each_quantile(record: Record) -> None:
    each = [
        Trial(measurements=9, seconds=1.0, ticks=9, quantiles=quantiles(p25, p25 + 10, p25 + 20))
        for p25 in (7.0, 3.0, 5.0)
    ]
    assert derive.call_spread(with_trials(record, *each)) == (5.0, 15.0, 25.0)
    assert derive.call_spread(with_trials(record, *each, Trial(measurements=9, seconds=1.0, ticks=9))) is None


def test_ticks_are_not_core_cycles(record: Record) -> None:
    assert derive.counts_core_cycles(record)
    assert not derive.counts_core_cycles(with_trials(record, Trial(measurements=1, seconds=1.0, ticks=5)))


def test_every_stored_statistic_of_the_published_files_is_derived_again(published: Path) -> None:
    compared = 0
    for system_id in store.systems(published):
        for record in store.load_system(published, system_id).records:
            stored = json.loads((published / system_id / store.record_path(record)).read_bytes())
            for name, function in STORED.items():
                derived = function(record)
                assert derived is not None
                assert math.isclose(stored[name], derived, rel_tol=1e-12), (name, record.label)
                compared += 1
    assert compared == 42 * len(STORED)


def test_every_stored_share_of_the_published_profiles_is_derived_again(published: Path) -> None:
    compared = 0
    for system_id in store.systems(published):
        for profile in store.load_system(published, system_id).profiles:
            stored = json.loads((published / system_id / store.profile_path(profile)).read_bytes())
            assert derive.function_shares(profile) == pytest.approx(stored["share"], rel=1e-12)
            assert derive.hash_share(profile) == pytest.approx(stored["hash_share"], rel=1e-12)
            compared += 1
    assert compared == 30


def test_calls_per_operation_leave_out_what_was_never_called() -> None:
    profile = msgspec.convert(
        {
            "schema": 3, "candidate": "sign-1", "label": "A", "operation": "sign", "status": "complete",
            "meta": {"tick_source": "rdtsc", "tick_hz": 1, "warmups": 0},
            "total": {"operations": 4, "ticks": 1000},
            "calls": [
                {"fn": "pseudoXOF", "in_bits": 8, "out_bits": 8, "calls": 6, "ticks": 100},
                {"fn": "drng", "calls": 4, "ticks": 50},
                {"fn": "pseudoXOF", "in_bits": 16, "out_bits": 8, "calls": 4, "ticks": 200},
                {"fn": "sm3hash", "calls": 0, "ticks": 0},
            ],
        },
        Profile,
    )  # fmt: skip
    assert derive.calls_per_operation(profile) == {"drng": 1.0, "pseudoXOF": 2.5}
    assert derive.hash_share(profile) == pytest.approx(0.3)
    assert derive.drng_share(profile) == pytest.approx(0.05)
