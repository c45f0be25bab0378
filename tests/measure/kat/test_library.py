"""Buffers notice what a library does to their surroundings, and calls say what failed."""

import pytest
from cffi import FFI
from hypothesis import given
from hypothesis import strategies as st

from measure.build.library import build
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


@given(size=st.integers(1, 100), offset=st.integers(0, GUARD_BYTES - 1), past=st.booleans(), bit=st.integers(0, 7))
def test_one_flipped_bit_in_either_guard_is_found_and_placed(size, offset, past, bit):
    buffer = Buffer(FFI(), "ct", size)
    buffer.check("call")
    position = size + offset if past else -1 - offset
    buffer.pointer[position] ^= 1 << bit
    side = "past" if past else "before"
    with pytest.raises(OverflowedError, match=rf"^call wrote {side} ct \({size} bytes\), byte {offset + 1} off it$"):
        buffer.check("call")


def test_a_buffer_of_no_bytes_takes_one_and_no_more():
    buffer = Buffer(FFI(), "sta", 0)
    buffer.pointer[0] = 7
    buffer.check("call")
    assert buffer.value("call") == b""
    buffer.pointer[1] ^= 1
    with pytest.raises(OverflowedError, match=r"wrote past sta \(0 bytes\), byte 1 off it"):
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


SIGN = """
unsigned long long sig_get_pk_len_bytes(void) { return 4; }
unsigned long long sig_get_sk_len_bytes(void) { return 4; }
unsigned long long sig_get_sn_len_bytes(void) { return 2; }
int katalog_sign_attached(unsigned char *sm, unsigned long long *sm_bytes, const unsigned char *m,
                          unsigned long long m_bytes, const unsigned char *sk)
{
    if (*sm_bytes != m_bytes + 2) return -3;
    for (unsigned long long i = 0; i < m_bytes; i++) sm[i] = m[i];
    sm[m_bytes] = sk[0];
    sm[m_bytes + 1 + (m[0] == 'x')] = sk[1];
    *sm_bytes = m_bytes + 2 + (m[0] == 'y');
    return 0;
}
int katalog_open_attached(unsigned char *m, unsigned long long *m_bytes, const unsigned char *sm,
                          unsigned long long sm_bytes, const unsigned char *pk)
{
    for (unsigned long long i = 0; i + 2 < sm_bytes; i++) m[i] = sm[i];
    *m_bytes = sm_bytes - 2;
    return sm[sm_bytes - 1] == pk[1] ? 0 : -1;
}
"""


@pytest.fixture
def sign(toy) -> SignLibrary:
    """Load a toy whose signature is the first two bytes of the key, behind the message."""
    job = toy(folder="sign", sources=("sign.c",))
    (job.fetched.folder / "sign.c").write_text(SIGN)
    return SignLibrary(job.out / build(job).library)


def test_attached_signatures_are_made_and_opened_in_buffers_of_their_size(sign):
    assert sign.sign_attached(b"message", b"key.") == b"messageke"
    assert sign.open_attached(b"messageke", b"key.") == b"message"
    assert sign.sizes_bytes() == {"pk_bytes": 4, "sk_bytes": 4, "signature_bytes": 2}


def test_attached_signatures_past_their_buffer_or_refused_are_noticed(sign):
    with pytest.raises(OverflowedError, match=r"katalog_sign_attached wrote past sm \(4 bytes\), byte 1 off it"):
        sign.sign_attached(b"xx", b"key.")
    with pytest.raises(OverflowedError, match="katalog_sign_attached returned length 5 for sm"):
        sign.sign_attached(b"yy", b"key.")
    with pytest.raises(OperationFailedError, match="katalog_open_attached returned -1"):
        sign.open_attached(b"message??", b"key.")
