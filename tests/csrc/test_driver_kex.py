"""Key exchanges: toy protocols that check every length, state and message that they are given."""

import msgspec
import pytest

from evidence.types import Kex

STEPS = ("init_a", "init_b", "derive_a", "derive_b")
PROTOCOLS = {"kex_none": 0, "kex_one": 1, "kex_two": 2, "kex_four": 4, "kex_sixteen": 16}
STATE_A, STATE_B, TOTAL = 17, 18, 136


def observed(ended) -> dict:
    assert (ended.status, ended.document["driver"]) == (0, 1), ended.document
    return ended.document


def failed(ended) -> tuple[int, str, str]:
    return ended.status, ended.document["error"]["kind"], ended.document["error"]["message"]


def codes(passes: int, runs: int) -> dict[str, int]:
    """Return the codes of complete runs: of the passes the last returns 1, every other call 0."""
    return {"0": runs * (4 + max(passes - 1, 0))} | ({"1": runs} if passes else {})


@pytest.mark.parametrize(("name", "passes"), PROTOCOLS.items())
def test_a_whole_exchange(timed, name, passes):
    document = observed(timed(name, "exchange", iterations=20, warmups=3))
    assert document["return_codes"] == codes(passes, 1 + 3 + 20)
    assert document["setup_verify_failed"] == 0
    assert "runs_seconds" not in document["trial"]
    assert document["sizes"] == {
        "pk_bytes": 0, "sk_bytes": 0, "ss_bytes": 16,
        "returned_pk_bytes": 0, "returned_sk_bytes": 0, "returned_ss_bytes": 16,
    }  # fmt: skip


@pytest.mark.parametrize(("name", "passes"), PROTOCOLS.items())
def test_messages_and_states_are_recorded(timed, name, passes):
    kex = msgspec.convert(observed(timed(name, "exchange"))["kex"], Kex)
    lengths = [0 if k == 4 and passes == 4 else k for k in range(1, passes + 1)]
    assert kex == Kex(
        passes=passes,
        declared_messages_bytes=TOTAL,
        declared_state_a_bytes=STATE_A,
        declared_state_b_bytes=STATE_B,
        message_bytes=tuple(lengths),
        state_a_bytes=tuple(range(8, 9 + (passes + 1) // 2)),
        state_b_bytes=tuple(range(8, 9 + passes // 2)),
    )


@pytest.mark.parametrize(("name", "passes"), PROTOCOLS.items())
def test_every_step_is_timed_inside_complete_runs(timed, name, passes):
    for step in (*STEPS, *(f"pass{k}" for k in range(1, passes + 1))):
        document = observed(timed(name, step, iterations=4, warmups=3))
        trial = document["trial"]
        assert trial["measurements"] == 4
        assert trial["quantiles"]["samples"] * trial["quantiles"]["batch_calls"] == 4
        assert 0 < trial["seconds"] < trial["runs_seconds"]
        assert document["setup_verify_failed"] == 0
        # The setup, the warm-ups and each reading are complete runs; further calls of a batch come on top.
        runs = 1 + 3 + trial["quantiles"]["samples"]
        extra = 4 - trial["quantiles"]["samples"]
        last = "1" if step == f"pass{passes}" else "0"
        expected = codes(passes, runs)
        assert document["return_codes"] == expected | {last: expected[last] + extra}


def test_short_steps_are_called_on_copies_of_the_state(timed):
    document = observed(timed("kex_four", "pass3", "--counter", "clock", iterations=1000))
    quantiles = document["trial"]["quantiles"]
    assert 1 < quantiles["batch_calls"] <= 64
    assert quantiles["samples"] == 1000 // quantiles["batch_calls"]
    assert document["setup_verify_failed"] == 0
    assert set(document["return_codes"]) == {"0", "1"}


def test_a_step_is_not_called_without_end(timed):
    assert failed(timed("kex_two", "pass1", iterations=20_001)) == (
        2, "usage", "--iterations of a step are at most 20000",
    )  # fmt: skip


BROKEN = "so the protocol does not run: of {} passes the last returns 1, each other one 0"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("kex_returns_two", "pass2 returns 2, " + BROKEN.format(3)),
        ("kex_ends_early", "pass1 returns 1, " + BROKEN.format(2)),
        ("kex_never_ends", "pass2 returns 0, " + BROKEN.format(2)),
        ("kex_fails", "pass2 returns -7, " + BROKEN.format(2)),
    ],
)
@pytest.mark.parametrize("operation", ["exchange", "init_a", "derive_b"])
def test_a_pass_that_returns_another_code_ends_everything(timed, name, message, operation):
    assert failed(timed(name, operation)) == (14, "operation", message)


def test_passes_beyond_the_claimed_ones_are_not_asked_for(timed):
    assert failed(timed("kex_two", "pass3"))[2] == (
        "unknown operation 'pass3' of family kex; known: exchange, init_a, init_b, pass1, pass2, derive_a, derive_b"
    )


def test_a_claimed_pass_that_is_missing(timed):
    assert failed(timed("kex_lacks_pass", "exchange")) == (
        10, "library", "the library does not export kex_generate_pass2_msg_b",
    )  # fmt: skip


def test_more_passes_than_are_handled(timed):
    assert failed(timed("kex_seventeen", "exchange")) == (
        10, "library", "kex_get_passes_num: the library states 17 passes, allowed are at most 16",
    )  # fmt: skip


@pytest.mark.parametrize("operation", ["exchange", "pass1", "derive_b"])
def test_secrets_that_differ_are_data(timed, operation):
    assert observed(timed("kex_other_secret", operation))["setup_verify_failed"] == 1


@pytest.mark.parametrize("operation", ["exchange", "init_a", "derive_a", "derive_b"])
def test_a_failing_derive_is_data(timed, operation):
    document = observed(timed("kex_derive_fails", operation))
    assert document["setup_verify_failed"] == 1
    assert document["return_codes"]["-4"] >= 24 - 20


@pytest.mark.parametrize("operation", ["exchange", "init_a", "pass2"])
def test_one_byte_past_a_state(timed, operation):
    status, kind, message = failed(timed("kex_past_state", operation))
    assert (status, kind) == (13, "overflow")
    assert message.endswith("state of b of 18 bytes (at byte 18)")


def test_the_sizes_command_tells_the_number_of_passes(driver, toy):
    document = observed(driver("sizes", "--library", str(toy("kex_four")), "--family", "kex"))
    assert document["kex"] == {
        "passes": 4,
        "declared_messages_bytes": TOTAL,
        "declared_state_a_bytes": STATE_A,
        "declared_state_b_bytes": STATE_B,
    }


@pytest.mark.slow
def test_the_aarch64_driver_runs_a_key_exchange_under_the_emulator(aarch64_timed):
    document = observed(aarch64_timed("kex_four", "pass2", "--counter", "cntvct", iterations=1000))
    assert document["emulated"] is True
    assert document["kex"]["message_bytes"] == [1, 2, 3, 0]
