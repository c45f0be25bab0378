"""The bundled key encapsulation and the key exchange over it, from their headers, over the model of the helpers."""

from typing import NamedTuple

import numpy as np

from tests.csrc.model import helpers
from tests.csrc.model.helpers import Drawing, whole

Q = 3329


def xof(output_bytes: int, text: bytes) -> bytes:
    return helpers.pseudoxof(8 * output_bytes, [whole(text)])[0]


def sm3(text: bytes) -> bytes:
    return helpers.sm3([whole(text)])[0]


def split_digest(text: bytes) -> tuple[bytes, bytes]:
    """Return the halves of the 512-bit pseudohash."""
    digest = helpers.pseudohash(512, [whole(text)])[0]
    return digest[:32], digest[32:]


class Ring(Drawing):
    """The ring of N coefficients, and the encapsulation over it."""

    def __init__(self, n: int):
        self.n, self.poly_bytes = n, n * 12 // 8

    def multiply(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Multiply as integers and fold: x^N is -1."""
        product = np.convolve(a, b)
        product[: self.n - 1] -= product[self.n :]
        return product[: self.n]

    def uniform(self, seed: bytes) -> np.ndarray:
        return np.frombuffer(xof(4 * self.n, seed), dtype=">u4").astype(np.int64) % Q

    def noises(self, count: int, seed: bytes) -> np.ndarray:
        bits = np.unpackbits(np.frombuffer(xof(count * self.n // 4, seed), dtype=np.uint8)).astype(np.int64)
        return (bits[::2] - bits[1::2]).reshape(count, self.n)

    def packed(self, poly: np.ndarray) -> bytes:
        return bytes.fromhex("".join(f"{value:03x}" for value in (poly % Q).tolist()))

    def unpacked(self, text: bytes) -> np.ndarray:
        digits = text.hex()
        return np.array([int(digits[at : at + 3], 16) for at in range(0, len(digits), 3)], dtype=np.int64)

    def keygen(self) -> tuple[bytes, bytes]:
        seeds = self.drng.get(768)
        s, e = self.noises(2, seeds[32:64])
        pk = seeds[:32] + self.packed(self.multiply(self.uniform(seeds[:32]), s) + e)
        return pk, seeds[32:] + pk

    def encrypted(self, m: bytes, pk: bytes) -> tuple[bytes, bytes]:
        """Return secret and ciphertext of a message."""
        ss, coins = split_digest(m + sm3(pk))
        r, e1, e2 = self.noises(3, coins)
        bits = np.unpackbits(np.frombuffer(m, dtype=np.uint8)).astype(np.int64)
        u = self.multiply(self.uniform(pk[:32]), r) + e1
        v = self.multiply(self.unpacked(pk[32:]), r) + e2 + bits * ((Q + 1) // 2)
        return ss, self.packed(u) + self.packed(v)

    def enc(self, pk: bytes) -> tuple[bytes, bytes]:
        return self.encrypted(self.drng.get(self.n), pk)

    def decrypted(self, sk: bytes, ct: bytes) -> bytes:
        u, v = self.unpacked(ct[: self.poly_bytes]), self.unpacked(ct[self.poly_bytes :])
        values = (v - self.multiply(u, self.noises(1, sk[:32])[0])) % Q
        return np.packbits((4 * values > Q) & (4 * values < 3 * Q)).tobytes()

    def dec(self, sk: bytes, ct: bytes) -> bytes:
        ss, again = self.encrypted(self.decrypted(sk, ct), sk[64:])
        return ss if again == ct else sm3(sk[32:64] + ct)


class Step(NamedTuple):
    """What one step leaves: code, state, message."""

    code: int
    state: bytes
    message: bytes = b""


class Ephemeral(Drawing):
    """The key exchange in two passes; keys are empty."""

    def __init__(self, n: int):
        self.kem = Ring(n)
        self.passes = 2

    def seed(self, seed: bytes) -> None:
        """Both sides draw from one source, that of the encapsulation."""
        super().seed(seed)
        self.kem.drng = self.drng

    def init(self, side: str) -> tuple[bytes, bytes, bytes]:
        return b"", b"", self.drng.get(256)

    def transcript(self, m1: bytes, m2: bytes) -> bytes:
        return sm3(m1 + m2[: 32 + 2 * self.kem.poly_bytes])

    def generate(self, number: int, keys: tuple[bytes, bytes], message: bytes, state: bytes) -> Step:
        if number == 1:
            pk, sk = self.kem.keygen()
            return Step(0, state + sk, state + pk)
        ss, ct = self.kem.enc(message[32:])
        state_b = ss + self.transcript(message, state + ct)
        return Step(1, state_b, state + ct + split_digest(state_b)[1])

    def derive(self, side: str, keys: tuple[bytes, bytes], message: bytes, state: bytes) -> bytes:
        if side == "b":
            return split_digest(state)[0]
        nonce, sk = state[:32], state[32:]
        ss = self.kem.dec(sk, message[32:-32])
        key, tag = split_digest(ss + self.transcript(nonce + sk[64:], message))
        if tag != message[-32:]:
            raise ValueError("the tag is wrong")
        return key
