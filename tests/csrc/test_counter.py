"""The counters: what they count, and that a bad one is refused with its reason."""

import errno
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

PERF_TYPE_SOFTWARE = 1
PERF_COUNT_SW_TASK_CLOCK = 1
TOYS = ("frozen", "backwards", "seven", "failing", "illegal", "unmapped", "bus")
MS_NS = 1_000_000


def select(units, name: str | None, event: Any = None) -> tuple[Any, dict[str, str]]:
    """Return the counter, or None, and the refusals."""
    ffi, lib = units
    out, refusals = ffi.new("struct counter **"), ffi.new("struct counter_refusals *")
    text = ffi.NULL if name is None else ffi.new("char[]", name.encode())
    request = {"name": text, "cpu": min(os.sched_getaffinity(0)), "event": event or ffi.NULL}
    failed = lib.counter_select(out, ffi.new("struct counter_request *", request), refusals)
    reasons = {
        ffi.string(refusals.names[i]).decode(): ffi.string(refusals.reasons[i].text).decode()
        for i in range(refusals.count)
    }
    return (None if failed else out[0]), reasons


def read(units, counter) -> int:
    count = units.ffi.new("uint64_t *")
    assert units.lib.counter_read(counter, count) == 0
    return int(count[0])


def spin(duration_ns: int) -> None:
    end = time.perf_counter_ns() + duration_ns
    while time.perf_counter_ns() < end:
        pass


def software_event(units):
    """Return the choice of an event that needs no hardware, or skip."""
    event = units.ffi.new("struct perf_event_choice *", (PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 0))
    counter, refusals = select(units, "perf-read", event)
    if counter is None:
        pytest.skip(f"this system allows no perf events at all: {refusals['perf-read']}")
    units.lib.counter_close(counter)
    return event


def test_a_perf_event_counts_through_the_same_functions_as_cycles_do(units):
    counter, refusals = select(units, "perf-read", software_event(units))
    assert refusals == {}
    begin, begin_ns = read(units, counter), time.perf_counter_ns()
    spin(20 * MS_NS)
    counted, passed_ns = read(units, counter) - begin, time.perf_counter_ns() - begin_ns
    units.lib.counter_close(counter)
    assert 1 * MS_NS < counted <= passed_ns * 1.05  # nanoseconds on a processor, at most those that passed


def test_a_perf_event_says_how_long_it_was_wanted_and_counted(units):
    counter, _ = select(units, "perf-read", software_event(units))
    enabled_ns, running_ns = units.ffi.new("uint64_t *"), units.ffi.new("uint64_t *")
    spin(2 * MS_NS)
    assert units.lib.counter_times(counter, enabled_ns, running_ns) == 0
    units.lib.counter_close(counter)
    assert enabled_ns[0] == running_ns[0] >= 100_000


def test_other_counters_have_no_such_times(units):
    counter, _ = select(units, "clock")
    enabled_ns, running_ns = units.ffi.new("uint64_t *"), units.ffi.new("uint64_t *")
    assert units.lib.counter_times(counter, enabled_ns, running_ns) == -errno.ENOTSUP
    units.lib.counter_close(counter)


def test_an_event_that_user_mode_may_not_read_is_refused(units):
    event = software_event(units)
    mapped = "perf-rdpmc" if os.uname().machine == "x86_64" else "perf-pmccntr"
    counter, refusals = select(units, mapped, event)
    assert counter is None
    assert "does not let this event be read from user mode" in refusals[mapped]


def test_the_first_that_works_is_taken_and_all_before_it_say_why_not(units):
    known = [name for i in range(8) if (name := known_name(units, i))]
    counter, refusals = select(units, None)
    assert counter is not None
    taken = units.ffi.string(units.lib.counter_name(counter)).decode()
    units.lib.counter_close(counter)
    assert list(refusals) == known[: known.index(taken)]
    assert all(refusals.values())


def known_name(units, index: int) -> str | None:
    if index and known_name(units, index - 1) is None:
        return None
    name = units.lib.counter_known_name(index)
    return units.ffi.string(name).decode() if name else None


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the order of x86-64")
def test_the_order_is_that_of_the_specification(units):
    assert [known_name(units, i) for i in range(5)] == ["perf-rdpmc", "perf-read", "tsc", "clock", None]


def test_an_unknown_name_lists_the_known_ones(units):
    counter, refusals = select(units, "sundial")
    assert counter is None
    assert refusals["sundial"].startswith("unknown counter; known here: perf-")
    assert refusals["sundial"].endswith("clock")


def fixed_rate(units):
    name = "tsc" if os.uname().machine == "x86_64" else "cntvct"
    counter, refusals = select(units, name)
    if counter is None:
        pytest.skip(f"no fixed-rate counter here: {refusals}")
    return counter


def test_ticks_come_at_the_stated_rate(units):
    counter = fixed_rate(units)
    hz = units.lib.counter_hz(counter)
    begin, begin_ns = read(units, counter), time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    spin(50 * MS_NS)
    ticks, passed_ns = read(units, counter) - begin, time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) - begin_ns
    units.lib.counter_close(counter)
    assert 1_000_000 < hz < 10_000_000_000
    assert ticks / (passed_ns / 1e9) == pytest.approx(hz, rel=0.01)


def test_two_estimates_of_the_rate_agree(units):
    rates = []
    for _ in range(2):
        counter = fixed_rate(units)
        rates.append(units.lib.counter_hz(counter))
        units.lib.counter_close(counter)
    assert rates[0] == pytest.approx(rates[1], rel=1e-3)


def test_ticks_are_not_called_cycles(units):
    counter = fixed_rate(units)
    assert units.ffi.string(units.lib.counter_unit(counter)) == b"ticks"
    assert units.lib.counter_user_only(counter) == 0
    units.lib.counter_close(counter)


def test_the_clock_counts_nanoseconds_and_states_no_rate(units):
    counter, _ = select(units, "clock")
    assert units.ffi.string(units.lib.counter_unit(counter)) == b"ns"
    assert units.lib.counter_hz(counter) == 0
    assert read(units, counter) == pytest.approx(time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW), abs=1e9)
    units.lib.counter_close(counter)


@pytest.mark.parametrize(
    ("measured", "stated", "confirmed"), [(10**9, 10**9 + 10**6, 1), (10**9, 10**9 + 10**6 + 1, 0)]
)
def test_a_stated_rate_counts_when_it_is_within_a_thousandth(units, measured, stated, confirmed):
    assert units.lib.fixed_rate_confirms(measured, stated) == confirmed


@pytest.mark.parametrize(
    ("toy", "reason"),
    [
        ("frozen", "stands still at 42"),
        ("backwards", "went back from 1000000 to 999999"),
        ("failing", "cannot be read: Input/output error"),
        ("illegal", "reading it raises SIGILL"),
        ("unmapped", "reading it raises SIGSEGV"),
        ("bus", "reading it raises SIGBUS"),
    ],
)
def test_a_bad_counter_is_refused(hooks, toy, reason):
    why = hooks.ffi.new("struct counter_reason *")
    assert hooks.lib.hook_probe(TOYS.index(toy), why) == -1
    assert hooks.ffi.string(why.text).decode() == reason


def test_the_probe_puts_the_signal_handlers_back(hooks):
    seen = []
    before = signal.signal(signal.SIGILL, lambda number, frame: seen.append(number))
    try:
        hooks.lib.hook_probe(TOYS.index("illegal"), hooks.ffi.new("struct counter_reason *"))
        signal.raise_signal(signal.SIGILL)
    finally:
        signal.signal(signal.SIGILL, before)
    assert seen == [signal.SIGILL]


def test_the_overhead_is_the_distance_of_two_reads(hooks):
    overhead = hooks.ffi.new("struct counter_overhead *")
    assert hooks.lib.hook_overhead(TOYS.index("seven"), overhead) == 0
    assert overhead.count == 7


@pytest.mark.parametrize(
    ("begin", "end", "result"),
    [
        (5, 12, 7),
        (3, 3, 0),
        (0, 2**40, 2**40),
        (0, 2**56, 2**56),
        (12, 5, None),
        (0, 2**56 + 1, None),
        (0, 2**64 - 1, None),
    ],
)
def test_a_difference_that_cannot_be_is_an_error_and_is_never_wrapped(units, begin, end, result):
    difference = units.ffi.new("uint64_t *", 99)
    error = units.lib.counter_difference(begin, end, difference)
    assert (error, difference[0]) == ((0, result) if result is not None else (-errno.ERANGE, 99))


def page_read(hooks, index: int, offset: int, width: int, value: int, readable: int = 1) -> tuple[int, int, int]:  # noqa: PLR0917
    count, asked = hooks.ffi.new("uint64_t *"), hooks.ffi.new("uint32_t *")
    return hooks.lib.hook_page_read(index, offset, width, readable, value, count, asked), count[0], asked[0]


def test_the_register_is_sign_extended_and_added_to_the_offset(hooks):
    assert page_read(hooks, 3, 1000, 48, 2**48 - 10) == (0, 990, 2)
    assert page_read(hooks, 3, 1000, 48, 10) == (0, 1010, 2)
    assert page_read(hooks, 32, 5, 64, 2**40) == (0, 2**40 + 5, 31)


def test_an_event_that_is_not_on_a_register_has_its_offset(hooks):
    assert page_read(hooks, 0, 1234, 48, 77) == (0, 1234, 2**32 - 1)


def test_an_event_that_may_no_longer_be_read_is_an_error(hooks):
    error, _, asked = page_read(hooks, 3, 1000, 48, 10, 0)
    assert (error, asked) == (-errno.EPERM, 2**32 - 1)


@settings(deadline=None)  # the machine is shared
@given(
    st.lists(st.tuples(st.integers(0, 300), st.integers(0, 5)), min_size=1, max_size=8),
    st.integers(0, 320),
    st.sampled_from(["", "\n"]),
)
def test_cpu_lists_are_read_as_the_kernel_writes_them(units, ranges, cpu, end):
    text = ",".join(str(first) if more == 0 else f"{first}-{first + more}" for first, more in ranges) + end
    expected = any(first <= cpu <= first + more for first, more in ranges)
    assert bool(units.lib.perf_cpu_listed(text.encode(), cpu)) == expected


@pytest.fixture
def devices(tmp_path: Path) -> bytes:
    """Return a machine with two kinds of cores, and a PMU that belongs to none."""
    for name, cpus, number in (("cpu_core", "0-7", 4), ("cpu_atom", "8-15", 10), ("uncore_imc", None, 20)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "type").write_text(f"{number}\n")
        if cpus:
            (tmp_path / name / "cpus").write_text(f"{cpus}\n")
    return str(tmp_path).encode()


@pytest.mark.parametrize(("cpu", "number"), [(0, 4), (7, 4), (8, 10), (15, 10), (16, -1)])
def test_a_core_finds_the_pmu_of_its_kind(units, devices, cpu, number):
    assert units.lib.perf_pmu_type(devices, b"cpu_", cpu) == number


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="how x86-64 names the PMU")
@pytest.mark.parametrize(("cpu", "config"), [(3, 4 << 32), (9, 10 << 32), (99, 0)])
def test_on_hybrid_processors_the_event_names_the_pmu(units, devices, cpu, config):
    event = units.lib.perf_core_cycles(devices, cpu)
    assert (event.type, event.config, event.config1) == (0, config, 0)
