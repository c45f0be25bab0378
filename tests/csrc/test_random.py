"""The random sources of the shim against published values and independent models."""

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

SEED = bytes(range(48))
FIRST_NIST_SEED = "061550234D158C5EC95595FE04EF7A25767F2E24CC2BC479D09D86DC9ABCFDE7056A8C266F9EF97ED08541DBD2E1FFA1"


def multiply(a: int, b: int) -> int:
    """Multiply in the field of AES, bit by bit."""
    product = 0
    while b:
        product ^= a * (b & 1)
        a, b = (a << 1) ^ (0x11B if a & 0x80 else 0), b >> 1
    return product


def sbox_of(x: int) -> int:
    inverse = next((y for y in range(256) if multiply(x, y) == 1), 0)
    bits = [(inverse >> i) & 1 for i in range(8)]
    mapped = [bits[i] ^ bits[(i + 4) % 8] ^ bits[(i + 5) % 8] ^ bits[(i + 6) % 8] ^ bits[(i + 7) % 8] for i in range(8)]
    return sum(bit << i for i, bit in enumerate(mapped)) ^ 0x63


SBOX = [sbox_of(x) for x in range(256)]


def round_keys(key: bytes) -> list[bytes]:
    words = [key[i : i + 4] for i in range(0, 32, 4)]
    constant = 1
    for i in range(8, 60):
        word = words[-1]
        if i % 8 == 0:
            word = bytes(SBOX[b] for b in word[1:] + word[:1])
            word, constant = bytes([word[0] ^ constant]) + word[1:], multiply(constant, 2)
        elif i % 8 == 4:
            word = bytes(SBOX[b] for b in word)
        words.append(xor(words[-8], word))
    return [b"".join(words[i : i + 4]) for i in range(0, 60, 4)]


def xor(a: bytes, b: bytes) -> bytes:
    return bytes(x ^ y for x, y in zip(a, b, strict=True))


def mix(column: bytes) -> bytes:
    return bytes(
        multiply(column[i], 2) ^ multiply(column[(i + 1) % 4], 3) ^ column[(i + 2) % 4] ^ column[(i + 3) % 4]
        for i in range(4)
    )


def aes256(key: bytes, block: bytes) -> bytes:
    """Encrypt a block by the letter of FIPS 197: bytes and columns, no tables but the S-box."""
    keys = round_keys(key)
    state = xor(block, keys[0])
    for number, round_key in enumerate(keys[1:], 1):
        state = bytes(SBOX[state[(i + 4 * (i % 4)) % 16]] for i in range(16))
        if number < 14:
            state = b"".join(mix(state[i : i + 4]) for i in range(0, 16, 4))
        state = xor(state, round_key)
    return state


class CtrDrbg:
    """CTR_DRBG with AES-256 and no derivation function, by SP 800-90A."""

    def __init__(self, entropy: bytes):
        self.key, self.v = bytes(32), 0
        self.update(entropy)

    def block(self) -> bytes:
        self.v = (self.v + 1) % 2**128
        return aes256(self.key, self.v.to_bytes(16, "big"))

    def update(self, data: bytes = bytes(48)) -> None:
        new = xor(b"".join(self.block() for _ in range(3)), data)
        self.key, self.v = new[:32], int.from_bytes(new[32:], "big")

    def request(self, count: int) -> bytes:
        out = b"".join(self.block() for _ in range((count + 15) // 16))[:count]
        self.update()
        return out


def draw(source, seed: bytes, counts: list[int]) -> list[bytes]:
    """Return what a source gives for a sequence of requests."""
    ffi, lib = source
    lib.katalog_seed(seed, len(seed))
    outputs = []
    for count in counts:
        out = ffi.new("unsigned char[]", count + 1)
        out[count] = 0xEE
        lib.katalog_random(out, count)
        assert out[count] == 0xEE
        outputs.append(bytes(out)[:count])
    return outputs


KEY, PLAIN = bytes(range(32)), bytes.fromhex("00112233445566778899aabbccddeeff")
FIPS_197_C3 = bytes.fromhex("8ea2b7ca516745bfeafc49904b496089")


def c_aes256(hooks, key: bytes, block: bytes) -> bytes:
    out = hooks.ffi.new("unsigned char[16]")
    hooks.lib.hook_aes256(key, block, out)
    return bytes(out)


def test_the_block_cipher_gives_the_value_of_fips_197(hooks):
    assert c_aes256(hooks, KEY, PLAIN) == FIPS_197_C3
    assert aes256(KEY, PLAIN) == FIPS_197_C3  # the model is checked by the same value


@settings(deadline=None)  # the machine is shared
@given(st.binary(min_size=32, max_size=32), st.binary(min_size=16, max_size=16))
def test_the_block_cipher_equals_the_model(hooks, key, block):
    assert c_aes256(hooks, key, block) == aes256(key, block)


def test_the_first_seed_of_the_nist_files(random_source):
    assert draw(random_source("random_nist_aes"), SEED, [48])[0].hex().upper() == FIRST_NIST_SEED


@settings(deadline=None)  # the machine is shared
@given(st.binary(min_size=48, max_size=48), st.lists(st.integers(0, 70), max_size=5))
def test_the_nist_source_equals_the_model_over_any_requests(random_source, seed, counts):
    model = CtrDrbg(seed)
    assert draw(random_source("random_nist_aes"), seed, counts) == [model.request(count) for count in counts]


def test_the_counter_carries_through_all_its_bytes(random_source):
    # 4096 blocks of one request carry at least from the last byte into the one before it.
    assert draw(random_source("random_nist_aes"), SEED, [16 * 600])[0] == CtrDrbg(SEED).request(16 * 600)


def test_two_requests_differ_from_one(random_source):
    halves = draw(random_source("random_nist_aes"), SEED, [16, 16])
    whole = draw(random_source("random_nist_aes"), SEED, [32])[0]
    assert halves[0] == whole[:16]
    assert halves[1] != whole[16:]


@pytest.mark.parametrize("length", [0, 5, 47])
def test_a_short_seed_is_filled_up_with_zeros(random_source, length):
    source = random_source("random_nist_aes")
    assert draw(source, SEED[:length], [40]) == draw(source, SEED[:length].ljust(48, b"\0"), [40])


@settings(deadline=None)  # the machine is shared
@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=5))
def test_the_hqc_source_is_shake256_of_seed_and_01_without_gaps(random_source, seed, counts):
    expected = hashlib.shake_256(seed + b"\x01").digest(sum(counts))
    assert b"".join(draw(random_source("random_hqc_shake"), seed, counts)) == expected


@pytest.mark.parametrize("length", [134, 135, 136, 271, 272])
def test_the_hqc_source_pads_at_the_border_of_a_block(random_source, length):
    expected = hashlib.shake_256(bytes(length) + b"\x01").digest(64)
    assert draw(random_source("random_hqc_shake"), bytes(length), [64]) == [expected]
