"""Hash functions: a toy that checks the message and the lengths that it is given."""

import pytest

from evidence.operations import HASH_INPUT_BYTES


def observed(ended) -> dict:
    assert (ended.status, ended.document["driver"]) == (0, 1), ended.document
    return ended.document


def failed(ended) -> tuple[int, str, str]:
    return ended.status, ended.document["error"]["kind"], ended.document["error"]["message"]


def words(input_bytes: int) -> tuple[str, ...]:
    return "--input-bytes", str(input_bytes), "--digest-bits", "264"


@pytest.mark.parametrize("input_bytes", [0, 1, *HASH_INPUT_BYTES])
def test_a_hash_of_every_size(timed, input_bytes):
    document = observed(timed("hash_honest", "hash", *words(input_bytes), iterations=20, warmups=3))
    assert document["return_codes"] == {"0": 1 + 3 + 20}
    assert document["sizes"] == {"input_bytes": input_bytes, "digest_bytes": 33}
    assert document["emulated"] is False


def test_the_sizes_of_the_guide():
    assert HASH_INPUT_BYTES == (32, 128, 512, 1024, 4096, 8192, 16384, 65536)


def test_an_error_code_of_any_sign_leaves_nothing_to_time(timed):
    assert observed(timed("hash_refuses_long", "hash", *words(512)))
    assert failed(timed("hash_refuses_long", "hash", *words(1024))) == (
        14, "operation", "CryptHash returns 2 for a digest of 264 bits of 1024 bytes",
    )  # fmt: skip


def test_one_byte_past_a_digest(timed):
    assert failed(timed("hash_past_end", "hash", *words(32))) == (
        13, "overflow", "the library wrote past the buffer digest of 33 bytes (at byte 33)",
    )  # fmt: skip


def test_the_input_must_be_given(timed):
    assert failed(timed("hash_honest", "hash", "--digest-bits", "264")) == (2, "usage", "--input-bytes is missing")


def test_the_digest_length_comes_from_the_library_or_the_command_line(timed):
    assert failed(timed("hash_honest", "hash", "--input-bytes", "32")) == (
        2, "usage", "--digest-bits is missing: the library does not state its digest's length",
    )  # fmt: skip
    assert failed(timed("hash_honest", "hash", "--input-bytes", "32", "--digest-bits", "256"))[2] == (
        "CryptHash returns 1 for a digest of 256 bits of 32 bytes"
    )


@pytest.mark.slow
def test_the_aarch64_driver_hashes_under_the_emulator(aarch64_timed):
    document = observed(aarch64_timed("hash_honest", "hash", "--counter", "cntvct", *words(4096)))
    assert (document["emulated"], document["sizes"]["digest_bytes"]) == (True, 33)
