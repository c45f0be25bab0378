"""The bundled one-time signature, from its header's description, over the model of the helpers."""

from tests.csrc.model import helpers
from tests.csrc.model.helpers import Drawing, whole

CHECKSUM_DIGITS = {2: 5, 4: 3, 8: 2}


def pieces(text: bytes, size: int = 32) -> list[bytes]:
    return [text[at : at + size] for at in range(0, len(text), size)]


class Winternitz(Drawing):
    """The scheme with digits of 2, 4 or 8 bits."""

    def __init__(self, digit_bits: int):
        self.digit_bits, self.w = digit_bits, 1 << digit_bits
        self.chains = 512 // digit_bits + CHECKSUM_DIGITS[digit_bits]

    def digits(self, digest: bytes) -> list[int]:
        """Cut a digest into digits and append those of the checksum."""
        value = int.from_bytes(digest, "big")
        digits = [value >> shift & self.w - 1 for shift in range(512 - self.digit_bits, -1, -self.digit_bits)]
        checksum = sum(self.w - 1 - digit for digit in digits)
        tail = range(self.chains - len(digits) - 1, -1, -1)
        return digits + [checksum >> self.digit_bits * place & self.w - 1 for place in tail]

    def digest(self, salt: bytes, public_seed: bytes, m: bytes) -> bytes:
        return helpers.pseudohash(512, [whole(salt + public_seed + m)])[0]

    def starts(self, secret_seed: bytes) -> list[bytes]:
        return pieces(helpers.pseudoxof(256 * self.chains, [whole(secret_seed)])[0])

    def walked(self, values: list[bytes], public_seed: bytes, begins: list[int], ends: list[int]) -> list[bytes]:
        """Walk all chains side by side, position by position."""
        values = list(values)
        for position in range(self.w - 1):
            moving = [i for i in range(self.chains) if begins[i] <= position < ends[i]]
            texts = [public_seed + i.to_bytes(2, "big") + bytes([position]) + values[i] for i in moving]
            for i, value in zip(moving, helpers.pseudoxof(256, [whole(text) for text in texts]), strict=True):
                values[i] = value
        return values

    def root(self, ends: list[bytes]) -> bytes:
        return helpers.pseudohash(512, [whole(b"".join(ends))])[0]

    def keygen(self) -> tuple[bytes, bytes]:
        sk = self.drng.get(512)
        none, full = [0] * self.chains, [self.w - 1] * self.chains
        return sk[32:] + self.root(self.walked(self.starts(sk[:32]), sk[32:], none, full)), sk

    def sign(self, sk: bytes, m: bytes) -> bytes:
        salt = self.drng.get(256)
        digits = self.digits(self.digest(salt, sk[32:], m))
        return salt + b"".join(self.walked(self.starts(sk[:32]), sk[32:], [0] * self.chains, digits))

    def verify(self, pk: bytes, sn: bytes, m: bytes) -> bool:
        digits = self.digits(self.digest(sn[:32], pk[:32], m))
        full = [self.w - 1] * self.chains
        return self.root(self.walked(pieces(sn[32:]), pk[:32], digits, full)) == pk[32:]


def calls(scheme: Winternitz, digits: list[int]) -> dict[str, dict[str, int]]:
    """Return the calls of each helper per operation, by the header's closed form."""
    steps, signed = scheme.chains * (scheme.w - 1), sum(digits)
    return {
        "keygen": {"get_random_number": 1, "pseudoXOF": 1 + steps, "pseudohash": 1, "sm3hash": 0},
        "sign": {"get_random_number": 1, "pseudoXOF": 1 + signed, "pseudohash": 1, "sm3hash": 0},
        "verify": {"get_random_number": 0, "pseudoXOF": steps - signed, "pseudohash": 2, "sm3hash": 0},
    }
