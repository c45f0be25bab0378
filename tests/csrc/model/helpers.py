"""The ICCS helpers and random source from their definition, independent of the C code.

Everything works on lists, because many short messages hashed side by side in numpy lanes are what makes Python fast
enough here. Whole bytes go to OpenSSL's SM3 where this Python has it, so two independent SM3 stand against the C code.
"""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

SEED_BYTES = 55
MODULUS = 1 << (8 * SEED_BYTES)
INITIAL = (0x7380166F, 0x4914B2B9, 0x172442D7, 0xDA8A0600, 0xA96F30BC, 0x163138AA, 0xE38DEE4D, 0xB0FB0E4E)
HAVE_OPENSSL_SM3 = "sm3" in hashlib.algorithms_available


class Bits(NamedTuple):
    """A bit string: its first bit is the most significant one of the first byte; spare low bits do not count."""

    data: bytes
    count: int


def whole(data: bytes) -> Bits:
    """Return a bit string of whole bytes."""
    return Bits(data, 8 * len(data))


def clip(bits: Bits) -> bytes:
    """Return the bytes of a bit string with spare bits zero."""
    cut = bits.data[: (bits.count + 7) // 8]
    spare = -bits.count % 8
    return cut[:-1] + bytes([cut[-1] >> spare << spare]) if spare else cut


def join(left: Bits, right: Bits) -> Bits:
    """Join two bit strings without padding."""
    count = left.count + right.count
    if left.count % 8 == 0:
        return Bits(clip(left) + clip(right), count)
    number = int.from_bytes(clip(left), "big") >> (-left.count % 8) << right.count
    number |= int.from_bytes(clip(right), "big") >> (-right.count % 8)
    return Bits((number << (-count % 8)).to_bytes((count + 7) // 8, "big"), count)


def padded(message: Bits) -> bytes:
    """Pad to whole blocks; the length loses its bits 32 to 40, as the helpers lose them."""
    with_one = clip(join(message, Bits(b"\x80", 1)))
    length = message.count % 2**64 & ~(0x1FF << 32)
    return with_one + bytes(-(len(with_one) + 8) % 64) + length.to_bytes(8, "big")


def rotated(x: np.ndarray, bits: int) -> np.ndarray:
    bits %= 32
    return (x << np.uint32(bits)) | (x >> np.uint32(32 - bits)) if bits else x


def expanded(blocks: list[bytes]) -> list[np.ndarray]:
    """Return the 68 schedule words, each for all blocks."""
    w = list(np.frombuffer(b"".join(blocks), dtype=">u4").reshape(-1, 16).T.astype(np.uint32))
    for j in range(16, 68):
        x = w[j - 16] ^ w[j - 9] ^ rotated(w[j - 3], 15)
        w.append(x ^ rotated(x, 15) ^ rotated(x, 23) ^ rotated(w[j - 13], 7) ^ w[j - 6])
    return w


def compressed(state: np.ndarray, blocks: list[bytes]) -> np.ndarray:
    """Compress one block into each column of the state, by the letter of the standard."""
    w = expanded(blocks)
    a, b, c, d, e, f, g, h = state
    for j in range(64):
        constant = np.full_like(a, 0x79CC4519 if j < 16 else 0x7A879D8A)
        ss1 = rotated(rotated(a, 12) + e + rotated(constant, j), 7)
        ff = a ^ b ^ c if j < 16 else (a & b) | (a & c) | (b & c)
        gg = e ^ f ^ g if j < 16 else (e & f) | (~e & g)
        tt1 = ff + d + (ss1 ^ rotated(a, 12)) + (w[j] ^ w[j + 4])
        tt2 = gg + h + ss1 + w[j]
        a, b, c, d = tt1, a, rotated(b, 9), c
        e, f, g, h = tt2 ^ rotated(tt2, 9) ^ rotated(tt2, 17), e, rotated(f, 19), g
    return state ^ np.stack([a, b, c, d, e, f, g, h])


def sm3_in_lanes(messages: Sequence[Bits]) -> list[bytes]:
    """Hash all messages side by side."""
    texts = [padded(message) for message in messages]
    states = np.tile(np.array(INITIAL, dtype=np.uint32).reshape(8, 1), len(texts))
    for at in range(0, max(map(len, texts), default=0), 64):
        lanes = [i for i, text in enumerate(texts) if len(text) > at]
        states[:, lanes] = compressed(states[:, lanes], [texts[i][at : at + 64] for i in lanes])
    return [column.astype(">u4").tobytes() for column in states.T]


def sm3(messages: Sequence[Bits]) -> list[bytes]:
    """Hash all messages, those of whole bytes by OpenSSL where that is at hand."""
    native = [HAVE_OPENSSL_SM3 and message.count % 8 == 0 and message.count < 2**32 for message in messages]
    lanes = iter(sm3_in_lanes([m for m, is_native in zip(messages, native, strict=True) if not is_native]))
    return [
        hashlib.new("sm3", clip(message)).digest() if is_native else next(lanes)
        for message, is_native in zip(messages, native, strict=True)
    ]


def sm3_of_bytes(texts: Sequence[bytes]) -> list[bytes]:
    return sm3([whole(text) for text in texts])


KEY = b"".join(sm3_of_bytes([b"3.14159265358979", b"2.71828182845904"]))


def mac(messages: Sequence[Bits]) -> list[bytes]:
    """HMAC-SM3 of each message under the fixed key."""
    inner = sm3([join(whole(bytes(k ^ 0x36 for k in KEY)), message) for message in messages])
    return sm3_of_bytes([bytes(k ^ 0x5C for k in KEY) + digest for digest in inner])


def glued(*columns: Sequence[bytes]) -> list[bytes]:
    return [b"".join(row) for row in zip(*columns, strict=True)]


def pseudohash(digest_bits: int, messages: Sequence[Bits]) -> list[bytes]:
    """Return the digests of 512, 768 or 1024 bits; the names are those of the definition."""
    tag = whole(digest_bits.to_bytes(2, "big"))
    k1 = mac([join(tag, message) for message in messages])
    h1 = sm3([join(message, tag) for message in messages])
    h2 = sm3_of_bytes(glued(k1, h1))
    if digest_bits == 512:
        return glued(h1, h2)
    h3 = sm3_of_bytes(glued(h2, mac([whole(h) for h in h1])))
    if digest_bits == 768:
        return glued(h1, h2, h3)
    k3, k4 = mac([whole(h) for h in h2]), mac([whole(h) for h in h3])
    return glued(h1, h2, h3, sm3_of_bytes(glued(k3, h3, k4)))


def pseudoxof(output_bits: int, messages: Sequence[Bits]) -> list[bytes]:
    """Return the first bits of SM3(message || 1) || SM3(message || 2) || ... of each message."""
    counters = [whole(i.to_bytes(4, "big")) for i in range(1, -(-output_bits // 256) + 1)]
    digests = iter(sm3([join(message, counter) for message in messages for counter in counters]))
    streams = [b"".join(next(digests) for _ in counters) for _ in messages]
    return [clip(Bits(stream, output_bits)) for stream in streams]


def sm3hash(digest_bits: int, messages: Sequence[Bits]) -> list[bytes]:
    if digest_bits != 256:
        raise ValueError(digest_bits)
    return sm3(messages)


def derived(data: bytes) -> int:
    """Return the 440 bits that the random source derives from a seed."""
    head = (8 * SEED_BYTES).to_bytes(4, "big")
    digests = sm3_of_bytes([bytes([i]) + head + data for i in (1, 2)])
    return int.from_bytes(b"".join(digests)[:SEED_BYTES], "big")


def number(value: int) -> bytes:
    return value.to_bytes(SEED_BYTES, "big")


class Drng:
    """The random source; its state is three numbers."""

    def __init__(self, v: int, c: int, counter: int):
        self.v, self.c, self.counter = v, c, counter

    @classmethod
    def seeded(cls, seed: bytes) -> Self:
        v = derived(seed)
        return cls(v, derived(b"\0" + number(v)), 1)

    @classmethod
    def restored(cls, state: bytes) -> Self:
        return cls(*(int.from_bytes(state[at : at + SEED_BYTES], "big") for at in range(0, len(state), SEED_BYTES)))

    def state(self) -> bytes:
        return number(self.v) + number(self.c) + number(self.counter)

    def get(self, bits: int) -> bytes:
        blocks = [number((self.v + i) % MODULUS) for i in range(-(-bits // 256))]
        stepped = sm3_of_bytes([b"\x03" + number(self.v)])[0]
        self.v = (self.v + int.from_bytes(stepped, "big") + self.c + self.counter) % MODULUS
        self.counter = (self.counter + 1) % MODULUS
        return clip(Bits(b"".join(sm3_of_bytes(blocks)), bits))


class Drawing:
    """A scheme that draws all its randomness from ``drng``."""

    drng = Drng.seeded(b"")

    def seed(self, seed: bytes) -> None:
        self.drng = Drng.seeded(seed)

    def random(self, seed: bytes) -> Drng:
        """Return a source of its own."""
        return Drng.seeded(seed)


class Helper(Drawing):
    """A helper as a hash function."""

    def __init__(self, name: str, digest_bits: int):
        self.function, self.digest_bits = FUNCTIONS[name], digest_bits

    def hash(self, messages: Sequence[Bits]) -> list[bytes]:
        return self.function(self.digest_bits, messages)


FUNCTIONS = {"sm3hash": sm3hash, "pseudohash": pseudohash, "pseudoXOF": pseudoxof}
