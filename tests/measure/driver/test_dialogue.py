"""Both sides of a driver run: its command line, and what becomes of its document."""

import json
from typing import Any

import pytest

from evidence.operations import Family
from evidence.types import CounterUnit
from measure.confine.process import Finished, Output
from measure.driver.dialogue import (
    DriverJob,
    is_emulated,
    profile_argv,
    read_passes,
    read_probe,
    read_process,
    read_profile,
    sizes_argv,
    time_argv,
)
from measure.errors import DriverError

JOB = DriverJob("kem-a/lib/libA.so", Family.KEM, "enc", iterations=20, warmups=3, cpu=1, clock_hz=None)
DOCUMENT = {
    "driver": 1,
    "family": "kem",
    "operation": "enc",
    "instance": "A",
    "counter": {"name": "tsc", "unit": "ticks", "hz": 2_000_000_000, "overhead": 30, "user_only": False},
    "warmups": 3,
    "trial": {"measurements": 20, "seconds": 0.000100000, "ticks": 200_000},
    "baseline_rss_bytes": 1_400_000,
    "peak_rss_bytes": 1_500_000,
    "peak_rss_reset": True,
    "sign_failures_retried": 0,
    "message_tweaks": 0,
    "setup_verify_failed": 0,
    "signature_length_excess": 0,
    "verify_rejections": 0,
    "return_codes": {"0": 23},
    "sizes": {"pk_bytes": 800, "ct_bytes": 768, "returned_ct_bytes": 768},
    "minor_page_faults": 4,
    "major_page_faults": 0,
    "voluntary_context_switches": 0,
    "involuntary_context_switches": 1,
}


def finished(
    document: Any = None,
    exit_code: int | None = 0,
    signal: int | None = None,
    timed_out: bool = False,
    stderr: str = "",
) -> Finished:
    data = b"" if document is None else json.dumps(document).encode()
    empty = Output(b"", cut=False)
    return Finished(
        ("driver",),
        exit_code,
        signal,
        timed_out,
        empty,
        Output(stderr.encode(), cut=False),
        Output(data, cut=False),
        10**9,
    )


def test_argument_list_is_as_agreed() -> None:
    assert time_argv("driver", JOB, "1") == [
        "driver", "time", "--library", "kem-a/lib/libA.so", "--family", "kem", "--operation", "enc",
        "--iterations", "20", "--warmups", "3", "--cpu", "1", "--result-fd", "1",
    ]  # fmt: skip
    with_clock = time_argv("driver", JOB._replace(clock_hz=2_100_000_000))
    assert with_clock[-4:] == ["--clock-hz", "2100000000", "--result-fd", "{result_fd}"]


def test_a_complete_document_becomes_a_process() -> None:
    process = read_process(finished(DOCUMENT), JOB, disturbed_retries=1)
    assert process.status == "complete"
    assert process.trials[0].ticks == 200_000
    assert process.trials[0].cycles is None
    assert process.trials[0].seconds == 0.0001
    assert process.counter
    assert process.counter.unit is CounterUnit.TICKS
    assert process.sizes
    assert process.sizes.returned_ct_bytes == 768
    assert process.disturbed_retries == 1
    assert process.return_codes == {"0": 23}
    assert process.command == ("driver", *time_argv("driver", JOB, "1")[1:])
    assert process.output is None


@pytest.mark.parametrize(
    ("ended", "status", "reason"),
    [
        ({"exit_code": 13, "document": {"error": {"kind": "overflow", "message": "ct: 1 byte past"}}}, "overflow",
         "ct: 1 byte past"),
        ({"exit_code": 12, "document": {"error": {"kind": "count", "message": "a count of zero"}}}, "count",
         "a count of zero"),
        ({"exit_code": None, "signal": 11}, "crash", "ended by SIGSEGV"),
        ({"exit_code": None, "timed_out": True}, "timeout", "killed after 1 s"),
        ({"exit_code": 3, "stderr": "line 1\nlast line\n"}, "crash", "exit status 3: last line"),
        ({"exit_code": 0}, "crash", "the library ended the process before the driver was done"),
    ],
)  # fmt: skip
def test_every_failure_is_data(ended: dict[str, Any], status: str, reason: str) -> None:
    process = read_process(finished(**ended), JOB, 0)
    assert process.status == status
    assert process.reason
    assert process.reason.startswith(reason)
    assert process.trials == ()
    assert process.peak_rss_bytes is None


@pytest.mark.parametrize(
    "change",
    [
        {"operation": "dec"},
        {"trial": {"measurements": 0, "seconds": 1.0}},
        {"trial": {"measurements": 20, "seconds": 0}},
        {"trial": {"measurements": 20, "seconds": 1.0, "cycles": 0}},
        {"peak_rss_bytes": -1},
        {"counter": {"unit": "furlongs"}},
        {"trial": None},
    ],
)
def test_a_document_that_is_not_as_agreed_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(DriverError):
        read_process(finished({**DOCUMENT, **change}), JOB, 0)


def test_output_is_kept_without_absolute_paths() -> None:
    process = read_process(finished(DOCUMENT, stderr="opened /home/someone/secret/x\x1b[1m"), JOB, 0)
    assert process.output == "opened [...]/x\\x1b[1m"


def test_probe_names_counter_and_refusals() -> None:
    answer = {"counter": DOCUMENT["counter"], "refused": [{"name": "perf-rdpmc", "reason": "no such event"}]}
    probed = read_probe(finished(answer))
    assert probed.counter.name == "tsc"
    assert probed.refusals == {"perf-rdpmc": "no such event"}


def test_probe_without_counter_is_an_error() -> None:
    answer = {"error": {"kind": "counter", "message": "none works"}}
    with pytest.raises(DriverError, match="no usable counter: none works"):
        read_probe(finished(answer, exit_code=11))


def test_the_other_argument_lists_are_as_agreed() -> None:
    hashing = JOB._replace(family=Family.HASH, operation="hash", input_bytes=1024)
    assert time_argv("driver", hashing, "1")[-4:] == ["--input-bytes", "1024", "--result-fd", "1"]
    assert profile_argv("driver", JOB, "1") == [
        "driver", "profile", "--library", "kem-a/lib/libA.so", "--family", "kem", "--operation", "enc",
        "--iterations", "20", "--warmups", "3", "--cpu", "1", "--result-fd", "1",
    ]  # fmt: skip
    assert sizes_argv("driver", "kex-a/lib/libA.so", Family.KEX) == [
        "driver", "sizes", "--library", "kex-a/lib/libA.so", "--family", "kex", "--result-fd", "{result_fd}",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("document", "passes"),
    [
        ({"kex": {"passes": 3}}, 3),
        ({"kex": {"passes": 0}}, 0),
        ({"kex": {"passes": "3"}}, None),
        ({}, None),
        (None, None),
    ],
)
def test_the_passes_that_a_getter_states(document: Any, passes: int | None) -> None:
    assert read_passes(finished(document)) == passes


@pytest.mark.parametrize(
    ("document", "emulated"), [({"emulated": True}, True), ({"emulated": False}, False), ({}, False)]
)
def test_an_emulated_run_is_known(document: Any, emulated: bool) -> None:
    assert is_emulated(finished(document)) is emulated
    assert is_emulated(finished(None)) is False


PROFILE = {
    "driver": 1,
    "family": "kem",
    "operation": "enc",
    "tick_source": "tsc",
    "tick_hz": 2_000_000_000,
    "warmups": 3,
    "operations": 20,
    "ticks": 4000,
    "wrapper_cost_ticks": 110.5,
    "wrapper_inside_ticks": 55.25,
    "calls": [{"fn": "sm3hash", "in_bits": 256, "out_bits": 256, "calls": 20, "ticks": 1000}],
    "merged_calls": 0,
}


def test_a_profile_document_becomes_evidence() -> None:
    assert read_profile(finished(PROFILE), JOB) == {
        "command": ("driver", *profile_argv("driver", JOB, "1")[1:]),
        "status": "complete",
        "meta": {"tick_source": "tsc", "tick_hz": 2_000_000_000, "warmups": 3},
        "total": {"operations": 20, "ticks": 4000},
        "calls": PROFILE["calls"],
        "merged_calls": 0,
        "wrapper_cost_ticks": 110.5,
        "wrapper_inside_ticks": 55.25,
    }


@pytest.mark.parametrize("key", ["tick_hz", "ticks", "calls", "merged_calls"])
def test_an_incomplete_profile_is_an_error(key: str) -> None:
    document = {name: value for name, value in PROFILE.items() if name != key}
    with pytest.raises(DriverError, match=f"the driver's profile lacks '{key}'"):
        read_profile(finished(document), JOB)


def test_a_profile_of_another_job_is_an_error() -> None:
    with pytest.raises(DriverError, match="the driver's profile is not of kem dec"):
        read_profile(finished(PROFILE), JOB._replace(operation="dec"))


def test_a_failed_profile_has_its_reason() -> None:
    ended = finished({"error": {"kind": "library", "message": "no symbol"}}, exit_code=10)
    observed = read_profile(ended, JOB)
    assert (observed["status"], observed["reason"]) == ("failed", "library: no symbol")
    assert set(observed) == {"status", "reason", "command"}


KEX_TRIAL = {"measurements": 20, "seconds": 0.0001, "ticks": 200_000, "runs_seconds": 0.01}


def test_a_key_exchange_brings_its_messages() -> None:
    kex = {"passes": 2, "message_bytes": [16, 0], "state_a_bytes": [8, 9], "state_b_bytes": [8, 9]}
    document = {**DOCUMENT, "family": "kex", "operation": "pass1", "trial": KEX_TRIAL, "kex": kex}
    process = read_process(finished(document), JOB._replace(family=Family.KEX, operation="pass1"), 0)
    assert process.kex
    assert process.kex.message_bytes == (16, 0)
    assert process.trials[0].runs_seconds == 0.01
