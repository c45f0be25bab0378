"""Derived figures of single calls, helper roles, key-exchange messages and returned lengths, worked out by hand."""

from typing import Any

import msgspec
import pytest

from evidence import derive
from evidence.types import (
    Counter,
    CounterUnit,
    Kex,
    Process,
    Profile,
    ProfileCall,
    ProfileTotal,
    Quantiles,
    Record,
    Sizes,
    Trial,
)


def _quantiles(base: float, greatest: float) -> Quantiles:
    steps = {"min": 0, "p01": 1, "p05": 2, "p25": 5, "p50": 10, "p75": 15, "p95": 22, "p99": 30}
    return Quantiles(samples=50, batch_calls=1, max=greatest, **{name: base + step for name, step in steps.items()})


def _process(trial: Trial, unit: CounterUnit = CounterUnit.TICKS, **changes: Any) -> Process:
    process = Process(
        status="complete", exit_code=0, trials=(trial,), wall_s=9.0, disturbed_retries=0, counter=Counter(unit=unit)
    )
    return msgspec.structs.replace(process, **changes)


@pytest.fixture
def record(local: Any) -> Record:
    """Return a record whose three trials cost 100, 104 and 110 ticks a call, with quantiles."""
    local.kem()
    trials = [
        Trial(measurements=50, seconds=1.0, ticks=50 * cost, quantiles=_quantiles(cost - 10, greatest))
        for cost, greatest in ((100, 300), (104, 900), (110, 200))
    ]
    made: Record = msgspec.structs.replace(local.records[0], processes=tuple(map(_process, trials)))
    return made


def test_calls_of_all_trials(record: Record) -> None:
    found = derive.call_quantiles(record)
    assert found == (150, 90.0, 96.0, 99.0, 104.0, 109.0, 116.0, 900.0)
    assert found is not None
    # The quartiles are wider than 20 / 3.29; the slowest call counts as if it cost twice the median.
    assert found.standard_deviation == pytest.approx(((10 / 1.349) ** 2 + 104**2 / 150) ** 0.5)
    assert derive.call_spread(record) == (99.0, 104.0, 109.0)


def test_calls_are_unknown_where_one_trial_lacks_them(record: Record) -> None:
    bare = _process(Trial(measurements=1, seconds=1.0, ticks=1))
    assert derive.call_quantiles(msgspec.structs.replace(record, processes=(*record.processes, bare))) is None


def test_trial_means_are_in_the_unit_of_the_counter(record: Record) -> None:
    assert derive.trial_mean_counts(record) == (100.0, 104.0, 110.0)
    of_clock = tuple(
        _process(Trial(measurements=4, seconds=seconds), CounterUnit.NANOSECONDS) for seconds in (4e-6, 8e-6)
    )
    assert derive.trial_mean_counts(msgspec.structs.replace(record, processes=of_clock)) == pytest.approx((1e3, 2e3))
    without = (*record.processes, _process(Trial(measurements=4, seconds=1.0)))
    assert derive.trial_mean_counts(msgspec.structs.replace(record, processes=without)) == ()


def _profile(local: Any, **changes: Any) -> Profile:
    calls = (ProfileCall(fn="shake256", calls=20, ticks=400), ProfileCall(fn="randombytes", calls=10, ticks=100))
    local.profile("kem-kyber", "Kyber512", "enc", *calls, total=ProfileTotal(operations=10, ticks=1000), **changes)
    made: Profile = local.profiles[-1]
    return made


def test_roles_say_which_functions_are_random_sources(local: Any) -> None:
    profile = _profile(local, roles={"shake256": "hash", "randombytes": "drng"})
    assert (derive.hash_share(profile), derive.drng_share(profile)) == (0.4, 0.1)
    by_name = _profile(local)
    assert (derive.hash_share(by_name), derive.drng_share(by_name)) == (0.5, 0.0)
    assert [derive.role_of(by_name, fn) for fn in ("drng", "pseudoXOF")] == ["drng", "hash"]


def test_a_profile_without_figures_has_no_shares(local: Any) -> None:
    profile = _profile(local, status="not measurable", reason="calls escape")
    bare = msgspec.structs.replace(profile, calls=None, total=None, meta=None)
    assert (derive.hash_share(bare), derive.drng_share(bare)) == (None, None)
    assert derive.function_shares(bare) == derive.calls_per_operation(bare) == {}


def test_messages_are_the_longest_of_each_pass(record: Record) -> None:
    seen = tuple(Kex(passes=2, message_bytes=each, declared_messages_bytes=30) for each in ((10, 20), (12, 18)))
    processes = tuple(msgspec.structs.replace(record.processes[0], kex=kex) for kex in seen)
    assert derive.kex_messages(msgspec.structs.replace(record, processes=processes)) == (2, (12, 20), 30)
    assert derive.kex_messages(msgspec.structs.replace(record, kex=Kex(passes=3))) == (3, None, None)
    assert derive.kex_messages(msgspec.structs.replace(record, kex=Kex())) is None
    assert derive.kex_messages(record) is None


def test_returned_lengths_are_the_longest_of_all_processes(record: Record) -> None:
    sizes = [Sizes(returned_signature_bytes=n) for n in (650, 655, 652)]
    processes = [msgspec.structs.replace(p, sizes=s) for p, s in zip(record.processes, sizes, strict=True)]
    made = msgspec.structs.replace(record, processes=tuple(processes))
    assert derive.returned_bytes(made, "signature_bytes") == 655
    assert derive.returned_bytes(made, "pk_bytes") is None
