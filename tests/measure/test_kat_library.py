"""Buffers notice what a library does to their surroundings, and calls say what failed."""

import pytest
from cffi import FFI
from hypothesis import given
from hypothesis import strategies as st

from measure.build import build
from measure.kat.library import GUARD_BYTES, Buffer, InterfaceError, KemLibrary, OverflowedError, SignLibrary
from measure.kat.nist import OperationFailedError

ENTROPY = bytes(48)


@pytest.fixture
def load(toy):
    """Load a toy library with a fault that this process survives."""

    def make(fault: str = "none") -> KemLibrary:
        job = toy(fault)
        library = KemLibrary(job.out / build(job).library)
        library.seed(ENTROPY)
        return library

    return make


@given(size=st.integers(0, 100), offset=st.integers(0, GUARD_BYTES - 1), past=st.booleans(), bit=st.integers(0, 7))
def test_one_flipped_bit_in_either_guard_is_found_and_placed(size, offset, past, bit):
    buffer = Buffer(FFI(), "ct", size)
    buffer.check("call")
    position = size + offset if past else -1 - offset
    buffer.pointer[position] ^= 1 << bit
    side = "past" if past else "before"
    with pytest.raises(OverflowedError, match=rf"^call wrote {side} ct \({size} bytes\), byte {offset + 1} off it$"):
        buffer.check("call")


@given(content=st.binary(max_size=60))
def test_a_buffer_holds_its_content_and_its_length(content):
    buffer = Buffer(FFI(), "pk", len(content), content)
    assert buffer.value("call") == content
    buffer.check("call")


def test_a_length_that_the_buffer_does_not_hold_is_an_overflow():
    buffer = Buffer(FFI(), "sig", 8)
    buffer.length[0] = 9
    with pytest.raises(OverflowedError, match=r"call returned length 9 for sig \(8 bytes\)"):
        buffer.value("call")


def test_a_shorter_length_shortens_the_value():
    buffer = Buffer(FFI(), "sig", 4, b"abcd")
    buffer.length[0] = 2
    assert buffer.value("call") == b"ab"


def test_calls_work_and_leave_their_inputs_alone(load):
    library = load()
    pk, sk = library.keygen()
    before = bytes(pk)
    ct, ss = library.enc(pk)
    assert library.dec(sk, ct) == ss
    assert pk == before
    assert library.sizes_bytes() == {"pk_bytes": 16, "sk_bytes": 16, "ct_bytes": 16, "ss_bytes": 16}


@pytest.mark.parametrize(
    ("fault", "error", "message"),
    [
        ("past", OverflowedError, "kem_enc wrote past ct"),
        ("before", OverflowedError, "kem_enc wrote before ct"),
        ("too_long", OverflowedError, "kem_enc returned length 17 for ct"),
        ("returns_error", OperationFailedError, "kem_enc returned -7"),
    ],
)
def test_a_call_that_fails_says_which_and_how(load, fault, error, message):
    library = load(fault)
    with pytest.raises(error, match=message):
        library.enc(library.keygen().pk)


def test_a_file_that_is_no_library_cannot_be_loaded(tmp_path):
    (tmp_path / "x.so").write_bytes(b"text")
    with pytest.raises(InterfaceError, match="cannot be loaded"):
        KemLibrary(tmp_path / "x.so")


def test_a_function_that_is_missing_is_named(toy):
    job = toy()
    library = SignLibrary(job.out / build(job).library)
    with pytest.raises(InterfaceError, match="lacks the function sig_get_pk_len_bytes"):
        library.sizes_bytes()
