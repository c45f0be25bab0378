"""The official KAT texts of all four families, from objects that offer a scheme's calls. Pure: no library, no file.

Values are taken right after the call that made them, and calls come in the order of the official programs: all
randomness of a record comes from one stream. Every generator yields whole lines; an empty line ends a record.
"""

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

from measure.kat.scheme import Encapsulated, KeyPair, OperationFailedError

SEED_BITS = 512
PKC_SEED = b"seed" * 16
MESSAGE_SEED = b"msg" * 21 + b"m"
FIRST_MESSAGE_BYTES = 56
MESSAGE_STEP_BYTES = 8
SHORT_BITS = 4096
LOOP_MESSAGE_BITS = 8192
LOOP_ROUNDS = 1_000_000
EDGE_BYTES = 8
LONG_BITS = {"2_23": 1 << 23, "2_33": 1 << 33}


class Drng(Protocol):
    """A random source of the harness."""

    def get(self, bits: int) -> bytes:
        """Answer one request."""


Start = Callable[[bytes], Drng]


class Seeded(Protocol):
    """A scheme with a random source of its own. Calls raise OperationFailedError when the scheme reports a failure."""

    def seed(self, entropy: bytes) -> None:
        """Start the scheme's random source."""


class Sign(Seeded, Protocol):
    """A signature scheme. Keys stay inside, as each call leaves them."""

    def keygen(self) -> KeyPair:
        """Make the key pair."""

    def sign(self, message: bytes) -> bytes:
        """Return the signature of a message."""

    def verify(self) -> None:
        """Verify the last signature."""


class Kem(Seeded, Protocol):
    """A key encapsulation mechanism. Keys and ciphertext stay inside."""

    def keygen(self) -> KeyPair:
        """Make the key pair."""

    def enc(self) -> Encapsulated:
        """Encapsulate."""

    def dec(self) -> bytes:
        """Return the secret of the last ciphertext."""


class Party(NamedTuple):
    """What initialising one side of a key exchange gives."""

    pk: bytes
    sk: bytes
    state: bytes


class Pass(NamedTuple):
    """What one pass gives: the sender's new state, the message, and whether it says to be the last."""

    state: bytes
    message: bytes
    last: bool


class Kex(Seeded, Protocol):
    """A key exchange between ``a``, who makes the odd passes, and ``b``. All values stay inside."""

    def passes(self) -> int:
        """Return the number of passes that the scheme claims."""

    def passes_run(self) -> int:
        """Return how many passes there are to call."""

    def init(self, side: str) -> Party:
        """Initialise a side."""

    def send(self, number: int) -> Pass:
        """Make a pass, counted from 1."""

    def derive(self, side: str) -> bytes:
        """Return a side's secret."""


class Fill(StrEnum):
    """What a long message consists of."""

    ZEROS = "zeros"
    ONES = "ones"
    RANDOM = "random"


class Long(NamedTuple):
    """First and last eight bytes of a long message, and its digest."""

    first: bytes
    last: bytes
    digest: bytes


class Hash(Protocol):
    """A hash function. Messages may be too long to pass through here."""

    def digest_bits(self) -> int:
        """Return the digest's length."""

    def hash(self, message: bytes, bits: int) -> bytes:
        """Return the digest of the first ``bits`` of a message."""

    def hash_long(self, fill: Fill, bits: int, seed: bytes) -> Long:
        """Hash a message that is made in place; a random one comes from a source started with ``seed``."""

    def loop(self, message: bytes, rounds: int) -> bytes:
        """Hash a message and then, ``rounds`` times, the message rotated and mixed with the last digest."""


def sign_lines(sign: Sign, start: Start, records: int) -> Iterator[str]:
    """Yield the lines of ``KAT_SIG``."""
    messages = start(MESSAGE_SEED)
    for count, seed in enumerate(_seeds(start, records)):
        message = messages.get(8 * message_bytes(count))
        yield from _head(count, seed)
        sign.seed(seed)
        yield from _keys(sign.keygen())
        yield from _item("M", message)
        yield from _item("Sn", sign.sign(message))
        sign.verify()
        yield "\n"


def kem_lines(kem: Kem, start: Start, records: int) -> Iterator[str]:
    """Yield the lines of ``KAT_KEM``.

    Raises:
        OperationFailedError: also when the two secrets differ in length or content.
    """
    for count, seed in enumerate(_seeds(start, records)):
        yield from _head(count, seed)
        kem.seed(seed)
        yield from _keys(kem.keygen())
        ct, ss = kem.enc()
        yield from _item("CT", ct)
        yield from _item("SS", ss)
        _require_same(ss, kem.dec(), "kem_enc", "kem_dec")
        yield "\n"


def kex_lines(kex: Kex, start: Start, records: int) -> Iterator[str]:
    """Yield the lines of ``KAT_KEX``.

    Raises:
        OperationFailedError: also when the two secrets differ, or a pass says too early to be the last.
    """
    for count, seed in enumerate(_seeds(start, records)):
        yield from _head(count, seed)
        yield f"Pass_Num = {kex.passes()}\n"
        kex.seed(seed)
        for side in "ab":
            party = kex.init(side)
            yield from _item(f"PK{side}", party.pk)
            yield from _item(f"SK{side}", party.sk)
            yield from _item(f"Init_St{side}", party.state)
        yield from _pass_lines(kex)
        secret = kex.derive("a")
        yield from _item("SS", secret)
        _require_same(secret, kex.derive("b"), "kex_derive_ss_a", "kex_derive_ss_b")
        yield "\n"


def short_lines(scheme: Hash, start: Start, _records: int) -> Iterator[str]:
    """Yield the lines of ``KAT_2_12``: all messages of 0 to 4096 bits."""
    messages = start(_hash_seed("2_12"))
    for bits in range(SHORT_BITS + 1):
        message = messages.get(bits)
        yield from _message(bits, message)
        yield from _digest(scheme, scheme.hash(message, bits))


def long_lines(scheme: Hash, kind: str) -> Iterator[str]:
    """Yield the lines of ``KAT_2_23`` or ``KAT_2_33``: zeros, ones, and a random message."""
    seed, bits = _hash_seed(kind), LONG_BITS[kind]
    for fill in Fill:
        found = scheme.hash_long(fill, bits, seed)
        yield f"Msg_Len = {bits}\n"
        yield f"Msg_Seed = {_hex(seed) if fill is Fill.RANDOM else ''}\n"
        yield f"Msg_Exp = {_hex(found.first)} .... {_hex(found.last)}\n"
        yield from _digest(scheme, found.digest)


def loop_lines(scheme: Hash, start: Start, _records: int) -> Iterator[str]:
    """Yield the lines of ``KAT_Loop``: a million and one dependent calls."""
    message = start(_hash_seed("Loop")).get(LOOP_MESSAGE_BITS)
    yield from _message(LOOP_MESSAGE_BITS, message)
    yield from _digest(scheme, scheme.loop(message, LOOP_ROUNDS))


LINES: dict[str, Callable[[Any, Start, int], Iterator[str]]] = {
    "SIG": sign_lines,
    "KEM": kem_lines,
    "KEX": kex_lines,
    "2_12": short_lines,
    "2_23": lambda scheme, _start, _records: long_lines(scheme, "2_23"),
    "2_33": lambda scheme, _start, _records: long_lines(scheme, "2_33"),
    "Loop": loop_lines,
}


def message_bytes(count: int) -> int:
    """Return the length of the message of record ``count`` of a signature's file."""
    return FIRST_MESSAGE_BYTES + MESSAGE_STEP_BYTES * count


def _pass_lines(kex: Kex) -> Iterator[str]:
    claimed = kex.passes()
    for number in range(1, kex.passes_run() + 1):
        state, message, last = kex.send(number)
        yield from _item(f"Pass{number}_St{'ba'[number % 2]}", state)
        yield from _item(f"M{number}", message)
        if last and number != claimed:
            raise OperationFailedError(f"pass {number} says to be the last, but kex_get_passes_num returns {claimed}")
        if last:
            return


def _seeds(start: Start, records: int) -> Iterator[bytes]:
    seeds = start(PKC_SEED)
    return (seeds.get(SEED_BITS) for _ in range(records))


def _hash_seed(kind: str) -> bytes:
    return f"KAT_{kind}".encode() * 8


def _head(count: int, seed: bytes) -> Iterator[str]:
    yield f"Count = {count}\n"
    yield from _item("Seed", seed)


def _keys(keys: KeyPair) -> Iterator[str]:
    yield from _item("PK", keys.pk)
    yield from _item("SK", keys.sk)


def _item(name: str, value: bytes) -> Iterator[str]:
    yield f"{name}_Len = {len(value)}\n"
    yield f"{name} = {_hex(value)}\n"


def _message(bits: int, message: bytes) -> Iterator[str]:
    yield f"Msg_Len = {bits}\n"
    yield f"Msg = {_hex(message)}\n"


def _digest(scheme: Hash, digest: bytes) -> Iterator[str]:
    yield f"Dst_Len = {scheme.digest_bits()}\n"
    yield f"Dst = {_hex(digest)}\n"
    yield "\n"


def _hex(value: bytes) -> str:
    return value.hex().upper()


def _require_same(first: bytes, second: bytes, one: str, other: str) -> None:
    if len(first) != len(second):
        raise OperationFailedError(f"{one} returns a secret of {len(first)} bytes, {other} one of {len(second)}")
    if first != second:
        raise OperationFailedError(f"{one} and {other} return different secrets")
