"""The NIST response text, first record, from an object that offers the scheme's calls. Pure: no library, no file."""

from collections.abc import Iterable, Iterator
from typing import Protocol

from measure.kat.scheme import Encapsulated, KeyPair, OperationFailedError

ENTROPY = bytes(range(48))
SEED_BYTES = 48
MESSAGE_BYTES = 33


class Scheme(Protocol):
    """What both families offer. Every call raises OperationFailedError when the scheme reports a failure."""

    def seed(self, entropy: bytes) -> None:
        """Start the random source from 48 bytes."""

    def random(self, size_bytes: int) -> bytes:
        """Take bytes from the random source in one request."""

    def keygen(self) -> KeyPair:
        """Make a key pair."""


class Kem(Scheme, Protocol):
    """A key encapsulation mechanism."""

    def enc(self, pk: bytes) -> Encapsulated:
        """Encapsulate."""

    def dec(self, sk: bytes, ct: bytes) -> bytes:
        """Return the shared secret of a ciphertext."""


class Sign(Scheme, Protocol):
    """A signature scheme, in the attached form of the scheme's own."""

    def sign_attached(self, message: bytes, sk: bytes) -> bytes:
        """Return the signed message."""

    def open_attached(self, signed: bytes, pk: bytes) -> bytes:
        """Return the message of a signed message."""


def line(name: str, value: bytes) -> str:
    """Return one line of the text: upper-case hex, ``00`` for an empty value."""
    return f"{name} = {value.hex().upper() or '00'}\n"


def text(lines: Iterable[str]) -> str:
    """Return the lines of a record as the text that is hashed."""
    return "".join(lines)


def kem_lines(kem: Kem) -> Iterator[str]:
    """Yield the lines of the first record of a KEM.

    Raises:
        OperationFailedError: also when decapsulation returns another secret.
    """
    seed = _first_seed(kem)
    yield from _head(seed)
    kem.seed(seed)
    keys = kem.keygen()
    yield from _key_lines(keys)
    ct, ss = kem.enc(keys.pk)
    yield line("ct", ct)
    yield line("ss", ss)
    if kem.dec(keys.sk, ct) != ss:
        raise OperationFailedError("decapsulation returns another secret than encapsulation")


def sign_lines(sign: Sign) -> Iterator[str]:
    """Yield the lines of the first record of a signature scheme.

    Raises:
        OperationFailedError: also when opening returns another message.
    """
    seed = _first_seed(sign)
    message = sign.random(MESSAGE_BYTES)
    yield from _head(seed)
    yield f"mlen = {len(message)}\n"
    yield line("msg", message)
    sign.seed(seed)
    keys = sign.keygen()
    yield from _key_lines(keys)
    signed = sign.sign_attached(message, keys.sk)
    yield f"smlen = {len(signed)}\n"
    yield line("sm", signed)
    if sign.open_attached(signed, keys.pk) != message:
        raise OperationFailedError("opening returns another message than was signed")


def _first_seed(scheme: Scheme) -> bytes:
    scheme.seed(ENTROPY)
    return scheme.random(SEED_BYTES)


def _head(seed: bytes) -> Iterator[str]:
    yield "count = 0\n"
    yield line("seed", seed)


def _key_lines(keys: KeyPair) -> Iterator[str]:
    yield line("pk", keys.pk)
    yield line("sk", keys.sk)
