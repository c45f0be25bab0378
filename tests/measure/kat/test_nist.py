"""The NIST text, against a model in plain Python that shares nothing with the C random sources."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measure.build.library import build
from measure.kat import nist
from measure.kat.gate import run_kat
from measure.kat.library import KemLibrary

RCON = (1, 2, 4, 8, 16, 32, 64)


def _times(a: int, b: int) -> int:
    product = 0
    while b:
        product ^= a if b & 1 else 0
        a = (a << 1) ^ (0x11B if a & 0x80 else 0)
        b >>= 1
    return product


def _substitute(x: int) -> int:
    inverse = next((y for y in range(256) if _times(x, y) == 1), 0)
    turned = [(inverse << n | inverse >> 8 - n) & 255 for n in range(5)]
    return turned[0] ^ turned[1] ^ turned[2] ^ turned[3] ^ turned[4] ^ 0x63


SBOX = bytes(map(_substitute, range(256)))
DOUBLE = bytes(_times(x, 2) for x in range(256))


def _round_keys(key: bytes) -> list[bytes]:
    words = [key[at : at + 4] for at in range(0, 32, 4)]
    for number in range(8, 60):
        word = words[-1]
        if number % 8 == 0:
            word = bytes(SBOX[x] for x in word[1:] + word[:1])
            word = bytes((word[0] ^ RCON[number // 8 - 1],)) + word[1:]
        elif number % 8 == 4:
            word = bytes(SBOX[x] for x in word)
        words.append(bytes(a ^ b for a, b in zip(words[-8], word, strict=True)))
    return [b"".join(words[at : at + 4]) for at in range(0, 60, 4)]


def _mix(column: bytes) -> bytes:
    every = column[0] ^ column[1] ^ column[2] ^ column[3]
    return bytes(column[i] ^ every ^ DOUBLE[column[i] ^ column[(i + 1) % 4]] for i in range(4))


def encrypt(round_keys: list[bytes], block: bytes) -> bytes:
    """Encrypt one block of 16 bytes."""
    state = bytes(a ^ b for a, b in zip(block, round_keys[0], strict=True))
    for number, key in enumerate(round_keys[1:], start=1):
        state = bytes(SBOX[state[(i + 4 * (i % 4)) % 16]] for i in range(16))
        if number < 14:
            state = b"".join(_mix(state[at : at + 4]) for at in range(0, 16, 4))
        state = bytes(a ^ b for a, b in zip(state, key, strict=True))
    return state


class NistDrbg:
    """SP 800-90A CTR_DRBG, AES-256, no derivation function, no reseeding."""

    def __init__(self, entropy: bytes) -> None:
        self._keys, self._counter = _round_keys(bytes(32)), 0
        self._update(entropy)

    def random(self, size: int) -> bytes:
        """Answer one request."""
        out = self._blocks(-(-size // 16))[:size]
        self._update(bytes(48))
        return out

    def _blocks(self, count: int) -> bytes:
        out = b""
        for _ in range(count):
            self._counter = (self._counter + 1) % 2**128
            out += encrypt(self._keys, self._counter.to_bytes(16, "big"))
        return out

    def _update(self, data: bytes) -> None:
        state = bytes(a ^ b for a, b in zip(self._blocks(3), data, strict=True))
        self._keys, self._counter = _round_keys(state[:32]), int.from_bytes(state[32:], "big")


class ToyKem:
    """What toy/kem.c does, over a random source that is a class called with the entropy."""

    def __init__(self, source) -> None:
        self._source = source

    def seed(self, entropy):
        self._drbg = self._source(entropy)

    def random(self, size_bytes):
        return self._drbg.random(size_bytes)

    def keygen(self):
        key = self.random(16)
        return nist.KeyPair(key, key)

    def enc(self, pk):
        ct = self.random(16)
        return nist.Encapsulated(ct, self.dec(pk, ct))

    def dec(self, sk, ct):
        return bytes(a ^ b for a, b in zip(sk, ct, strict=True))


class ToySign(ToyKem):
    """Signature, then message; the signature is the key's own bytes."""

    def sign_attached(self, message, sk):
        return sk + message

    def open_attached(self, signed, pk):
        return signed[len(pk) :]


class Hqc:
    """HQC's known-answer source: SHAKE-256 over entropy and a 1 byte, squeezed on without gaps."""

    def __init__(self, entropy):
        self._shake, self._used = hashlib.shake_256(entropy + b"\x01"), 0

    def random(self, size):
        self._used += size
        return self._shake.digest(self._used)[-size:]


def test_model_encrypts_the_vector_of_the_standard():
    block = encrypt(_round_keys(bytes(range(32))), bytes.fromhex("00112233445566778899aabbccddeeff"))
    assert block.hex() == "8ea2b7ca516745bfeafc49904b496089"


def test_first_seed_is_the_one_that_every_nist_response_file_begins_with():
    lines = list(nist.kem_lines(ToyKem(NistDrbg)))
    assert lines[:2] == [
        "count = 0\n",
        "seed = 061550234D158C5EC95595FE04EF7A25767F2E24CC2BC479D09D86DC9ABCFDE7056A8C266F9EF97ED08541DBD2E1FFA1\n",
    ]


def test_kem_text_has_its_lines_in_order():
    names = [line.split(" = ")[0] for line in nist.kem_lines(ToyKem(NistDrbg))]
    assert names == ["count", "seed", "pk", "sk", "ct", "ss"]


def test_signature_text_has_its_lines_in_order_and_decimal_lengths():
    lines = dict(line.rstrip("\n").split(" = ") for line in nist.sign_lines(ToySign(NistDrbg)))
    assert list(lines) == ["count", "seed", "mlen", "msg", "pk", "sk", "smlen", "sm"]
    assert (lines["mlen"], lines["smlen"]) == ("33", "49")
    assert lines["msg"].startswith("D81C4D8D734FCBFBEADE3D3F8A039FAA2A2C9957E835AD55B22E75BF57BB556AC8")
    assert lines["sm"] == lines["sk"] + lines["msg"]


@pytest.mark.parametrize(("rng", "model"), [("nist-aes256-ctr-drbg", NistDrbg), ("hqc-shake", Hqc)])
def test_a_library_gives_the_text_that_the_model_gives(toy, rng, model):
    job = toy(kat={"format": "nist", "sha256": "0" * 64, "rng": rng})
    assert run_kat(job, build(job)).text == nist.text(nist.kem_lines(ToyKem(model)))


@pytest.mark.parametrize(("rng", "model"), [("nist-aes256-ctr-drbg", NistDrbg), ("hqc-shake", Hqc)])
def test_random_sources_answer_requests_of_every_length_as_the_model_does(toy, rng, model):
    job = toy(kat={"format": "nist", "sha256": "0" * 64, "rng": rng})
    library = KemLibrary(job.out / build(job).library)
    entropy = bytes(range(100, 148))
    library.seed(entropy)
    expected = model(entropy)
    for size in [*range(1, 50), 136, 137, 1000]:
        assert library.random(size) == expected.random(size), size


def test_two_secrets_or_messages_that_differ_are_a_failure():
    class Forgetful(ToySign):
        def dec(self, sk, ct):
            return bytes(15)

        def open_attached(self, signed, pk):
            return b""

    with pytest.raises(nist.OperationFailedError, match="opening returns another message"):
        nist.text(nist.sign_lines(Forgetful(NistDrbg)))
    forgetful = Forgetful(NistDrbg)
    forgetful.enc = lambda pk: nist.Encapsulated(bytes(16), bytes(16))
    with pytest.raises(nist.OperationFailedError, match="another secret"):
        nist.text(nist.kem_lines(forgetful))


@given(st.binary(max_size=200))
def test_a_line_is_upper_case_hex_and_gives_the_bytes_back(value):
    line = nist.line("ct", value)
    assert line.endswith("\n")
    name, _, digits = line[:-1].partition(" = ")
    assert name == "ct"
    assert set(digits) <= set("0123456789ABCDEF")
    assert bytes.fromhex(digits) == (value or b"\0")


def test_an_empty_value_prints_as_zeros():
    assert nist.line("sm", b"") == "sm = 00\n"
