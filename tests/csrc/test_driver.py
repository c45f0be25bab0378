"""The driver from end to end, on toy libraries whose calls are known one by one."""

import os
import struct
import subprocess
from pathlib import Path

import msgspec
import pytest

from evidence.types import Counter, Sizes, Trial

SETUP_CALLS = 3  # one of each operation
CPU = str(min(os.sched_getaffinity(0)))
SIZES = {"pk_bytes": 16, "sk_bytes": 24, "ct_bytes": 32, "ss_bytes": 8}
RETURNED = {f"returned_{name}": size for name, size in SIZES.items()}
MIB = 1 << 20


def failed(ended) -> tuple[int, str, str]:
    """Return exit status, kind and message of a failure, after checking that stderr says the same."""
    error = ended.document["error"]
    assert ended.document["driver"] == 1
    assert ended.stderr.decode().splitlines()[-1] == f"driver: {error['message']}"
    return ended.status, error["kind"], error["message"]


def observed(ended) -> dict:
    """Return the document of a run that went well."""
    assert (ended.status, ended.document["driver"]) == (0, 1)
    return ended.document


@pytest.mark.parametrize("operation", ["keygen", "enc", "dec"])
def test_an_honest_mechanism(timed, operation):
    document = observed(timed("kem_honest", operation, iterations=1000, warmups=5))
    assert (document["family"], document["operation"], document["instance"]) == ("kem", operation, 'Toy-"1"')
    assert document["warmups"] == 5
    assert document["trial"]["measurements"] == 1000
    assert document["return_codes"] == {"0": SETUP_CALLS + 5 + 1000}
    assert document["sizes"] == SIZES | RETURNED
    assert document["setup_verify_failed"] == 0


@pytest.mark.parametrize("operation", ["keygen", "sign", "verify"])
def test_an_honest_signature(timed, operation):
    document = observed(timed("sign_honest", operation, iterations=50, warmups=2))
    assert document["return_codes"] == {"0": SETUP_CALLS + 2 + 50}
    assert document["sizes"] == {
        "pk_bytes": 16, "sk_bytes": 16, "signature_bytes": 16,
        "returned_pk_bytes": 16, "returned_sk_bytes": 16, "returned_signature_bytes": 16,
    }  # fmt: skip
    for name in ("sign_failures_retried", "message_tweaks", "setup_verify_failed", "signature_length_excess"):
        assert document[name] == 0
    assert document["verify_rejections"] == 0


def test_the_document_fits_the_evidence(timed):
    document = observed(timed("kem_slow", "keygen"))
    trial = msgspec.convert(document["trial"], Trial)
    counter = msgspec.convert(document["counter"], Counter)
    sizes = msgspec.convert(document["sizes"], Sizes)
    assert trial.quantiles
    assert (trial.quantiles.samples, trial.quantiles.batch_calls) == (20, 1)
    assert counter.name
    assert sizes.returned_ct_bytes == 32


def test_long_calls_are_counted_alone(timed):
    document = observed(timed("kem_slow", "keygen", "--counter", "clock", iterations=200))
    quantiles, seconds = document["trial"]["quantiles"], document["trial"]["seconds"]
    assert (quantiles["samples"], quantiles["batch_calls"]) == (200, 1)
    ordered = [quantiles[name] for name in ("min", "p01", "p05", "p25", "p50", "p75", "p95", "p99", "max")]
    assert ordered == sorted(ordered)
    assert 200 * quantiles["min"] <= seconds * 1e9 <= 200 * (quantiles["max"] + document["counter"]["overhead"] + 1000)


def test_short_calls_are_counted_in_batches(timed):
    document = observed(timed("kem_honest", "dec", "--counter", "clock", iterations=10_007))
    quantiles = document["trial"]["quantiles"]
    assert quantiles["batch_calls"] > 1
    assert quantiles["samples"] == 10_007 // quantiles["batch_calls"]
    assert 0 < quantiles["p50"] < 1000  # nanoseconds of one call, not of a batch


def test_the_clock_gives_neither_cycles_nor_ticks(timed):
    document = observed(timed("kem_slow", "keygen", "--counter", "clock"))
    assert set(document["trial"]) == {"measurements", "seconds", "quantiles"}
    assert set(document["counter"]) == {"name", "unit", "overhead", "user_only"}
    assert (document["counter"]["name"], document["counter"]["unit"]) == ("clock", "ns")


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the time stamp counter of x86-64")
def test_ticks_over_the_loop_agree_with_the_wall_clock(timed):
    ended = timed("kem_slow", "keygen", "--counter", "tsc", iterations=500)
    if ended.status == 11:
        pytest.skip(ended.document["error"]["message"])
    document = observed(ended)
    assert document["trial"]["ticks"] / document["trial"]["seconds"] == pytest.approx(
        document["counter"]["hz"], rel=0.01
    )
    assert "cycles" not in document["trial"]


def quantile(values: list[int], q: float) -> float:
    ordered = sorted(values)
    at = q * (len(ordered) - 1)
    below = int(at)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (at - below) * (ordered[above] - ordered[below])


def test_the_samples_are_the_readings_behind_the_quantiles(timed):
    ended = timed("kem_slow", "keygen", iterations=101, samples=True)
    document = observed(ended)
    readings = struct.unpack(f"<{len(ended.samples) // 8}Q", ended.samples)
    cleared = [reading - document["counter"]["overhead"] for reading in readings]
    assert len(readings) == 101
    for name, part in (("min", 0), ("p05", 0.05), ("p50", 0.5), ("p99", 0.99), ("max", 1)):
        assert document["trial"]["quantiles"][name] == pytest.approx(quantile(cleared, part), rel=1e-9)


def test_seconds_have_nine_decimals(driver, toy, tmp_path, timed):
    timed("kem_slow", "keygen")
    text = (tmp_path / "result.json").read_text()
    seconds = text.partition('"seconds":')[2].partition(",")[0]
    assert len(seconds.partition(".")[2]) == 9


def test_a_single_call_without_warm_ups(timed):
    document = observed(timed("kem_slow", "keygen", iterations=1, warmups=0))
    assert (document["warmups"], document["trial"]["measurements"]) == (0, 1)
    assert document["return_codes"] == {"0": SETUP_CALLS + 1}
    assert document["trial"]["quantiles"]["samples"] == 1


def test_one_byte_past_a_buffer(timed):
    assert failed(timed("kem_past_end", "enc")) == (
        13, "overflow", "the library wrote past the buffer ct of 32 bytes (at byte 32)",
    )  # fmt: skip


def test_one_byte_before_a_buffer(timed):
    assert failed(timed("kem_before_begin", "dec")) == (
        13, "overflow", "the library wrote before the buffer sk (1 bytes before its begin)",
    )  # fmt: skip


def test_an_overflow_goes_before_any_other_failure(timed):
    assert failed(timed("kem_past_end_fails", "dec")) == (
        13, "overflow", "the library wrote past the buffer ct of 32 bytes (at byte 33)",
    )  # fmt: skip


def test_another_secret_is_data_and_timing_goes_on(timed):
    document = observed(timed("kem_wrong_secret", "dec"))
    assert document["setup_verify_failed"] == 1
    assert document["return_codes"] == {"0": SETUP_CALLS + 3 + 20}


def test_a_library_calls_its_own_function_of_a_name_that_libc_has(timed):
    assert observed(timed("kem_own_getrandom", "dec"))["setup_verify_failed"] == 0


@pytest.mark.parametrize("operation", ["keygen", "enc"])
def test_a_failing_setup_is_data_where_there_is_something_to_time(timed, operation):
    document = observed(timed("kem_enc_fails", operation))
    calls = {"keygen": {"0": 1 + 23, "-5": 1}, "enc": {"0": 1, "-5": 1 + 23}}
    assert document["setup_verify_failed"] == 1
    assert document["return_codes"] == calls[operation]


def test_a_failing_setup_that_leaves_no_input_is_a_failure(timed):
    assert failed(timed("kem_enc_fails", "dec")) == (
        14,
        "operation",
        "enc returns -5 in the setup, so dec has no input",
    )


def test_failing_signatures_are_retried_and_counted_exactly(timed):
    # Of 1 + 3 + 20 signatures, a failure comes before every second one but the first.
    document = observed(timed("sign_third_fails", "sign"))
    assert document["sign_failures_retried"] == 11
    assert document["return_codes"] == {"0": 1 + 24 + 1, "-6": 11}
    assert (document["message_tweaks"], document["setup_verify_failed"]) == (0, 0)


def test_retries_are_not_bounded_over_all_signatures(timed):
    document = observed(timed("sign_third_fails", "sign", iterations=5000))
    assert document["sign_failures_retried"] == (5000 + 3 + 1 - 1) // 2


def test_a_message_that_cannot_be_signed_is_changed_after_sixteen_retries(timed):
    document = observed(timed("sign_not_this", "verify"))
    assert (document["sign_failures_retried"], document["message_tweaks"]) == (17, 1)
    assert (document["setup_verify_failed"], document["verify_rejections"]) == (0, 0)


def test_signing_that_never_works_is_given_up(timed):
    assert failed(timed("sign_never", "sign")) == (14, "operation", "signing failed more than 1000 times in a row")


def test_key_generation_is_timed_even_if_signing_never_works(timed):
    document = observed(timed("sign_never", "keygen"))
    assert document["setup_verify_failed"] == 1
    assert document["return_codes"] == {"0": 1 + 23, "-6": 1001}


def test_rejections_are_counted_and_timed_all_the_same(timed):
    document = observed(timed("sign_rejects", "verify", iterations=30, warmups=4))
    assert document["setup_verify_failed"] == 1
    assert document["verify_rejections"] == 34
    assert document["return_codes"] == {"0": 2, "-1": 1 + 34}
    assert document["trial"]["measurements"] == 30


def test_at_most_sixteen_return_codes_are_told_apart(timed):
    document = observed(timed("sign_many_codes", "verify", iterations=36, warmups=3))
    codes = document["return_codes"]
    assert codes == {"0": 2 + 2} | {str(-code): 2 for code in range(1, 16)} | {"other": 4 * 2}


def test_a_signature_longer_than_stated_is_counted(timed):
    document = observed(timed("sign_too_long", "sign"))
    assert document["signature_length_excess"] == 1 + 3 + 20
    assert document["sizes"]["returned_signature_bytes"] == 20
    assert document["setup_verify_failed"] == 0  # no more is handed on than the buffer holds


def test_lengths_are_set_before_each_call_and_handed_on_as_returned(timed):
    for operation in ("keygen", "enc", "dec"):
        document = observed(timed("kem_reads_lengths", operation))
        assert document["return_codes"] == {"0": SETUP_CALLS + 23}
        assert document["sizes"]["returned_ct_bytes"] == 29
        assert document["sizes"]["ct_bytes"] == 32


def test_the_library_is_seeded_with_the_agreed_bytes(timed):
    assert observed(timed("kem_seeded", "keygen"))["return_codes"] == {"0": SETUP_CALLS + 23}


def test_megabytes_on_stdout_leave_the_document_alone(timed):
    ended = timed("kem_prints", "keygen")
    assert observed(ended)["trial"]["measurements"] == 20
    assert ended.stdout.count(b"\n") == 24 * 10_000
    assert len(ended.stdout) > 5_000_000


def test_a_library_that_ends_the_process_leaves_no_document(timed):
    ended = timed("kem_exits", "dec")
    assert (ended.status, ended.document) == (0, None)


def test_a_missing_function(timed):
    assert failed(timed("kem_no_dec", "keygen")) == (10, "library", "the library does not export kem_dec")


def test_a_missing_library(driver, toy, words):
    status, kind, message = failed(driver(*words(Path("kem_absent.so"), "keygen", 1, 0)))
    assert (status, kind) == (10, "library")
    assert message.startswith("cannot load the library: ./kem_absent.so")


def test_an_absurd_length(timed):
    status, kind, message = failed(timed("kem_huge", "keygen"))
    assert (status, kind) == (10, "library")
    assert message == "length of sk: the library states 9223372036854775808 bytes, allowed are at most 1073741824"


def test_unknown_names_list_the_known_ones(driver, timed, toy, words):
    assert failed(timed("kem_honest", "sign")) == (
        2, "usage", "unknown operation 'sign' of family kem; known: keygen, enc, dec",
    )  # fmt: skip
    library = toy("kem_honest")
    assert failed(driver("sizes", "--library", str(library), "--family", "mac"))[2] == (
        "unknown family 'mac'; known: kem, sign, kex, hash"
    )
    status, kind, message = failed(timed("kem_honest", "keygen", "--counter", "sundial"))
    assert (status, kind) == (11, "counter")
    assert message.startswith("no usable counter: sundial: unknown counter; known here: perf-")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "first word must be one of time, probe, clock, sizes, profile"),
        (["run"], "first word must be one of time, probe, clock, sizes, profile"),
        (["probe"], "--cpu is missing"),
        (["probe", "--cpu", "1x"], "--cpu wants a whole number from 0 to 2147483647, got '1x'"),
        (["probe", "--speed", "3"], "unknown option '--speed'"),
        (
            ["time", "--cpu", "0", "--iterations", "0"],
            "--iterations wants a whole number from 1 to 1000000000, got '0'",
        ),
    ],
)
def test_usage(driver, words, message):
    ended = driver(*words)
    assert failed(ended) == (2, "usage", message)


def test_an_option_without_its_value(built):
    done = subprocess.run([built / "driver", "probe", "--cpu"], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (2, b"driver: --cpu wants a value\n")


def test_a_result_descriptor_that_is_not_open(built):
    done = subprocess.run(
        [built / "driver", "probe", "--cpu", "0", "--result-fd", "77"], capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (2, b"driver: --result-fd 77 is not open\n")


def test_a_cpu_that_is_not_there(driver):
    status, kind, message = failed(driver("probe", "--cpu", "9999"))
    assert (status, kind) == (15, "system")
    assert message.startswith("cannot run on CPU 9999: ")


def test_a_clock_that_cannot_be_fails_a_trial_in_cycles_only(timed):
    ended = timed("kem_slow", "keygen", "--counter", "clock", "--clock-hz", "1")
    assert ended.status == 0


def test_the_probe_names_the_counter_and_what_it_refused(driver):
    document = observed(driver("probe", "--cpu", CPU))
    counter = msgspec.convert(document["counter"], Counter)
    assert (counter.hz is not None) == (counter.unit == "ticks")
    assert counter.user_only == (counter.unit == "cycles")
    assert all(set(refusal) == {"name", "reason"} and refusal["reason"] for refusal in document["refused"])
    assert counter.name not in [refusal["name"] for refusal in document["refused"]]


def test_the_sizes_command_asks_the_getters_only(driver, toy):
    document = observed(driver("sizes", "--library", str(toy("kem_exits")), "--family", "kem"))
    assert document == {
        "driver": 1, "family": "kem", "candidate": "kem-toy", "instance": 'Toy-"1"', "build_flags": "-O2",
        "sizes": SIZES,
    }  # fmt: skip


def test_the_driver_itself_is_small(timed):
    document = observed(timed("kem_honest", "keygen"))
    assert document["peak_rss_reset"] is True
    assert document["baseline_rss_bytes"] <= document["peak_rss_bytes"] < 4 * MIB


def test_the_peak_is_what_the_operation_touches(timed):
    document = observed(timed("kem_allocates", "dec"))
    assert 5 * MIB < document["peak_rss_bytes"] - document["baseline_rss_bytes"] < 7 * MIB
    assert document["minor_page_faults"] >= 20  # at least one a call, however large a page is


def test_the_peak_of_another_operation_is_not_its_own(timed):
    document = observed(timed("kem_allocates", "enc"))
    assert document["peak_rss_bytes"] - document["baseline_rss_bytes"] < MIB


@pytest.mark.slow
def test_the_aarch64_driver_times_under_the_emulator(aarch64_timed):
    document = observed(aarch64_timed("kem_slow", "keygen", "--counter", "cntvct", iterations=50))
    assert (document["counter"]["name"], document["counter"]["unit"]) == ("cntvct", "ticks")
    assert document["return_codes"] == {"0": SETUP_CALLS + 3 + 50}
    assert document["trial"]["ticks"] / document["trial"]["seconds"] == pytest.approx(
        document["counter"]["hz"], rel=0.02
    )
    assert document["sizes"] == SIZES | RETURNED


@pytest.mark.slow
def test_the_aarch64_driver_sees_an_overflow(aarch64_timed):
    assert failed(aarch64_timed("kem_past_end", "enc"))[:2] == (13, "overflow")


@pytest.mark.slow
def test_the_aarch64_driver_tries_its_own_counters_in_order(aarch64_driver):
    ended = aarch64_driver("probe", "--cpu", CPU, "--counter", "sundial")
    assert failed(ended)[2] == (
        "no usable counter: sundial: unknown counter; known here: perf-pmccntr, perf-read, cntvct, clock"
    )
