"""The driver's parts one by one: quantiles, JSON, guards, batches, rates."""

import json
import math
import struct
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

PARTS = {
    "min": "0", "p01": "0.01", "p05": "0.05", "p25": "0.25", "p50": "0.5",
    "p75": "0.75", "p95": "0.95", "p99": "0.99", "max": "1",
}  # fmt: skip
COUNTER, COUNT, OVERFLOW, LIBRARY = 2, 3, 4, 1


def quantiles(units, readings: list[int], overhead: int = 0, batch_calls: int = 1) -> dict[str, float]:
    out = units.ffi.new("struct quantiles *")
    units.lib.quantiles_of(units.ffi.new("uint64_t[]", readings), len(readings), overhead, batch_calls, out)
    return {name: getattr(out, name) for name in PARTS}


def exact_quantile(values: list[int], q: Fraction) -> Fraction:
    """Interpolate between order statistics in exact arithmetic."""
    ordered = sorted(values)
    at = q * (len(ordered) - 1)
    below = math.floor(at)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (at - below) * (ordered[above] - ordered[below])


@settings(deadline=None)  # the machine is shared
@given(
    st.lists(st.integers(0, 2**52), min_size=1, max_size=200),
    st.integers(0, 1000),
    st.integers(1, 1000),
)
def test_quantiles_equal_an_exact_computation(units, readings, overhead, batch_calls):
    cleared = [max(0, reading - overhead) for reading in readings]
    got = quantiles(units, readings, overhead, batch_calls)
    for name, part in PARTS.items():
        expected = float(exact_quantile(cleared, Fraction(part)) / batch_calls)
        assert got[name] == pytest.approx(expected, rel=1e-12, abs=1e-6)


def test_quantiles_of_a_known_set(units):
    got = quantiles(units, list(range(100, -1, -1)))
    assert [round(value, 9) for value in got.values()] == [0, 1, 5, 25, 50, 75, 95, 99, 100]


def test_one_reading_is_all_its_quantiles(units):
    assert set(quantiles(units, [1030], 30, 10).values()) == {100.0}


class Writer:
    """A JSON document under construction."""

    def __init__(self, units, capacity: int = 4096):
        self.ffi, self.lib = units
        self.memory = self.ffi.new("char[]", capacity)
        self.json = self.ffi.new("struct json *")
        self.lib.json_begin(self.json, self.memory, capacity)

    def text(self) -> str:
        return self.ffi.string(self.memory).decode("ascii")

    def complete(self) -> bool:
        return bool(self.lib.json_complete(self.json))


def written(units, value: bytes) -> str:
    writer = Writer(units, 16384)
    writer.lib.json_string(writer.json, writer.ffi.NULL, value)
    assert writer.complete()
    return json.loads(writer.ffi.string(writer.memory))


@settings(deadline=None)  # the machine is shared
@given(st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=500))
def test_any_text_comes_back_as_it_was(units, text):
    assert written(units, text.encode()) == text


@settings(deadline=None)  # the machine is shared
@given(st.binary(max_size=200).map(lambda data: data.replace(b"\0", b"")))
def test_bytes_that_are_no_utf8_still_give_a_valid_document(units, data):
    value = written(units, data)
    assert value.replace("\ufffd", "") == data.decode("utf-8", "ignore").replace("\ufffd", "")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b'a"b\\c/\n\x01\x7f', '"a\\"b\\\\c/\\u000a\\u0001\\u007f"'),
        (b"\xff", '"\\ufffd"'),
        (b"\xc0\xaf", '"\\ufffd\\ufffd"'),  # overlong
        (b"\xed\xa0\x80", '"\\ufffd\\ufffd\\ufffd"'),  # surrogate
        (b"\xe2\x82", '"\\ufffd\\ufffd"'),  # cut short
    ],
)
def test_escapes(units, data, text):
    writer = Writer(units)
    writer.lib.json_string(writer.json, writer.ffi.NULL, data)
    assert writer.text() == text


def test_a_whole_document(units):
    writer = Writer(units)
    lib, doc = writer.lib, writer.json
    lib.json_open_object(doc, writer.ffi.NULL)
    lib.json_count(doc, b"largest", 2**64 - 1)
    lib.json_bool(doc, b"yes", True)
    lib.json_open_array(doc, b"list")
    lib.json_number(doc, writer.ffi.NULL, 0.5)
    lib.json_seconds(doc, writer.ffi.NULL, 12_000_000_034)
    lib.json_close_array(doc)
    assert not writer.complete()
    lib.json_close_object(doc)
    assert writer.complete()
    assert writer.text() == '{"largest":18446744073709551615,"yes":true,"list":[0.5,12.000000034]}'


@settings(deadline=None)  # the machine is shared
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_reads_back_as_the_same(units, value):
    writer = Writer(units)
    writer.lib.json_number(writer.json, writer.ffi.NULL, value)
    assert struct.pack("d", float(writer.text())) == struct.pack("d", value)


def test_a_number_takes_no_more_digits_than_it_needs(units):
    writer = Writer(units)
    writer.lib.json_number(writer.json, writer.ffi.NULL, 0.1)
    assert writer.text() == "0.1"


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_no_number_is_a_fault(units, value):
    writer = Writer(units)
    writer.lib.json_number(writer.json, writer.ffi.NULL, value)
    assert not writer.complete()


def test_a_document_that_does_not_fit_is_not_complete(units):
    exact, short = Writer(units, 9), Writer(units, 8)
    for writer in (exact, short):
        writer.lib.json_string(writer.json, writer.ffi.NULL, b"123456")
    assert (exact.complete(), exact.text(), short.complete()) == (True, '"123456"', False)


def test_too_many_levels_are_a_fault(units):
    writer = Writer(units)
    for _ in range(9):
        writer.lib.json_open_array(writer.json, writer.ffi.NULL)
    for _ in range(9):
        writer.lib.json_close_array(writer.json)
    assert not writer.complete()


def guarded(units, capacity: int):
    octets, failure = units.ffi.new("struct octets *"), units.ffi.new("struct failure *")
    name = units.ffi.new("char[]", b"pk")
    error = units.lib.octets_make(octets, name, capacity, failure)
    return octets, failure, error, name


@pytest.mark.parametrize(
    ("at", "message"),
    [
        (10, "past the buffer pk of 10 bytes (at byte 10)"),
        (10 + 4095, "past the buffer pk of 10 bytes (at byte 4105)"),
        (-1, "before the buffer pk (1 bytes before its begin)"),
        (-64, "before the buffer pk (64 bytes before its begin)"),
    ],
)
def test_any_write_into_a_guard_zone_is_seen(units, at, message):
    octets, failure, error, _name = guarded(units, 10)
    assert (error, units.lib.octets_check_guards(octets, failure)) == (0, 0)
    octets.bytes[at] ^= 1
    assert units.lib.octets_check_guards(octets, failure) == -1
    assert (failure.kind, units.ffi.string(failure.message).decode()) == (OVERFLOW, f"the library wrote {message}")
    units.lib.octets_free(octets)


@pytest.mark.parametrize("capacity", [0, 1, 64, 1000])
def test_all_of_a_buffer_may_be_written(units, capacity):
    octets, failure, error, _name = guarded(units, capacity)
    units.ffi.memmove(octets.bytes, b"\xa5" * capacity, capacity)
    assert (error, units.lib.octets_check_guards(octets, failure)) == (0, 0)
    assert int(units.ffi.cast("uintptr_t", octets.bytes)) % 64 == 0
    units.lib.octets_free(octets)


def test_no_buffer_of_an_absurd_length_is_made(units):
    _, failure, error, _name = guarded(units, 2**63)
    assert (error, failure.kind) == (-1, LIBRARY)


@pytest.mark.parametrize(
    ("iterations", "count", "wall_ns", "batch_calls"),
    [
        (1000, 400, 10_000, 1),  # 20 overheads: alone
        (1000, 399, 10_000, 6),  # just below: 100 overheads together are 2000
        (1000, 1, 10_000, 1000),  # never more than there are calls
        (10**6, 1, 10_000, 2000),
        (1000, 10_000, 199, 6),  # long by count, short by the wall clock
        (1000, 0, 0, 1000),
        (50_000, 10_000, 10_000, 3),  # at most 20 000 readings
        (20_000, 10_000, 10_000, 1),
        (1, 0, 0, 1),
    ],
)
def test_a_reading_is_long_against_its_overhead(units, iterations, count, wall_ns, batch_calls):
    call = units.ffi.new("struct cost *", (count, wall_ns))
    overhead = units.ffi.new("struct counter_overhead *", (20, 10))
    assert units.lib.choose_batch(iterations, call, overhead) == batch_calls


def test_a_slow_clock_without_overhead_still_has_its_resolution(units):
    call, overhead = units.ffi.new("struct cost *", (2, 10_000)), units.ffi.new("struct counter_overhead *", (0, 10))
    assert units.lib.choose_batch(1000, call, overhead) == 50


@pytest.mark.parametrize(
    ("unit", "counter_hz", "clock_hz", "count", "spent_ns", "good"),
    [
        ("cycles", 0, 2_000_000_000, 2_000_000, 1_000_000, True),
        ("cycles", 0, 2_000_000_000, 1_000_000, 1_000_000, True),
        ("cycles", 0, 2_000_000_000, 999_999, 1_000_000, False),
        ("cycles", 0, 2_000_000_000, 4_000_001, 1_000_000, False),
        ("cycles", 0, 0, 100_000, 1_000_000, True),
        ("cycles", 0, 0, 99_999, 1_000_000, False),
        ("cycles", 0, 0, 10_000_001, 1_000_000, False),
        ("ticks", 24_000_000, 2_000_000_000, 24_000, 1_000_000, True),
        ("ticks", 24_000_000, 0, 11_999, 1_000_000, False),
        ("ns", 0, 2_000_000_000, 1_000_000, 1_000_000, True),
        ("cycles", 0, 0, 1, 19_999, True),  # too short for a rate
        ("cycles", 0, 0, 1, 20_000, False),
        ("ticks", 24_000_000, 0, 0, 10, False),  # zero never passes
    ],
)
def test_a_count_must_be_possible(units, unit, counter_hz, clock_hz, count, spent_ns, good):  # noqa: PLR0917
    failure = units.ffi.new("struct failure *")
    error = units.lib.check_rate(unit.encode(), counter_hz, clock_hz, count, spent_ns, failure)
    assert error == (0 if good else -1)
    assert good or failure.kind == COUNT


def test_each_kind_of_failure_has_its_exit_status(units):
    kinds = {
        units.ffi.string(units.lib.failure_kind_name(i)).decode(): units.lib.failure_exit_status(i) for i in range(7)
    }
    assert kinds == {
        "usage": 2, "library": 10, "counter": 11, "count": 12, "overflow": 13, "operation": 14, "system": 15,
    }  # fmt: skip
