"""A library behind the official interface, as the objects that the official texts are made from.

As in the official programs, buffers are allocated once at the getters' sizes, zero at first, and neither cleared nor
copied between calls; lengths are set once and then stay as each call leaves them, those of key-exchange messages
from 0. A string of calls is thus the same as there, whatever a library does to its inputs.
"""

from pathlib import Path
from typing import Any

from measure.kat.iccs import EDGE_BYTES, LOOP_MESSAGE_BITS, Fill, Long, Party, Pass, message_bytes
from measure.kat.library import KEM, SIGN, Buffer, In, Library, Out
from measure.kat.scheme import Encapsulated, KeyPair, OperationFailedError
from measure.kat.trusted import Trusted

SMALLEST_MESSAGE_BUFFER_BYTES = 128
SHORT_BUFFER_BYTES = LOOP_MESSAGE_BITS // 8
MOST_PASSES = 16
STUB_PASSES = 3  # that the official program calls where a scheme claims none but has the functions
KEX_GETTERS = ("pk", "sk", "sta", "stb", "ss", "total_msg")
HASH = """
int katalog_digest_bits(void);
int CryptHash(int, const unsigned char *, unsigned long long, unsigned char *);
"""


class SignScheme:
    """A signature scheme; ``records`` bounds the longest message."""

    def __init__(self, path: Path, records: int) -> None:
        self._library = Library(path, SIGN + _declaration("sig_sign", "IIO") + _declaration("sig_verify", "III"))
        self.seed = self._library.seed
        size, buffer = self._library.size, self._library.buffer
        self._pk = buffer("pk", size("sig_get_pk_len_bytes"))
        self._sk = buffer("sk", size("sig_get_sk_len_bytes"))
        self._sn = buffer("sn", size("sig_get_sn_len_bytes"))
        self._m = buffer("m", max(SMALLEST_MESSAGE_BUFFER_BYTES, message_bytes(records - 1)))

    def sizes(self) -> dict[str, int]:
        """Return the declared sizes in bytes."""
        return {"pk_bytes": self._pk.size, "sk_bytes": self._sk.size, "signature_bytes": self._sn.size}

    def keygen(self) -> KeyPair:
        """Make the key pair."""
        self._library.succeed("sig_keygen", Out(self._pk), Out(self._sk))
        return KeyPair(self._pk.value("sig_keygen"), self._sk.value("sig_keygen"))

    def sign(self, message: bytes) -> bytes:
        """Return the signature of a message."""
        self._m.fill(message)
        self._m.length[0] = len(message)
        self._library.succeed("sig_sign", In(self._sk), In(self._m), Out(self._sn))
        return self._sn.value("sig_sign")

    def verify(self) -> None:
        """Verify the last signature."""
        self._library.succeed("sig_verify", In(self._pk), In(self._sn), In(self._m))


class KemScheme:
    """A key encapsulation mechanism. Both secrets share one length variable, as in the official program."""

    def __init__(self, path: Path) -> None:
        self._library = Library(path, KEM)
        self.seed = self._library.seed
        names = ("pk", "sk", "ct", "ss")
        sizes = {name: self._library.size(f"kem_get_{name}_len_bytes") for name in names}
        self._pk, self._sk, self._ct, self._ss = (self._library.buffer(name, sizes[name]) for name in names)
        self._decapsulated = self._library.buffer("ss", sizes["ss"])
        self._decapsulated.length = self._ss.length

    def sizes(self) -> dict[str, int]:
        """Return the declared sizes in bytes."""
        return {f"{one.name}_bytes": one.size for one in (self._pk, self._sk, self._ct, self._ss)}

    def keygen(self) -> KeyPair:
        """Make the key pair."""
        self._library.succeed("kem_keygen", Out(self._pk), Out(self._sk))
        return KeyPair(self._pk.value("kem_keygen"), self._sk.value("kem_keygen"))

    def enc(self) -> Encapsulated:
        """Encapsulate."""
        self._library.succeed("kem_enc", In(self._pk), Out(self._ss), Out(self._ct))
        return Encapsulated(self._ct.value("kem_enc"), self._ss.value("kem_enc"))

    def dec(self) -> bytes:
        """Return the secret of the last ciphertext."""
        self._library.succeed("kem_dec", In(self._sk), In(self._ct), Out(self._decapsulated))
        return self._decapsulated.value("kem_dec")


class _Side:
    """Buffers of one side of a key exchange."""

    def __init__(self, library: Library, side: str, sizes: dict[str, int]) -> None:
        self.pk = library.buffer(f"pk{side}", sizes["pk"])
        self.sk = library.buffer(f"sk{side}", sizes["sk"])
        self.state = library.buffer(f"st{side}", sizes[f"st{side}"])
        self.secret = library.buffer(f"ss{side}", sizes["ss"])
        self.last_message: Buffer | None = None


class KexScheme:
    """A key exchange. Functions of passes beyond the claimed number are never looked for."""

    def __init__(self, path: Path) -> None:
        self._library = Library(path, _kex_declarations())
        self.seed = self._library.seed
        self._sizes = {name: self._library.size(f"kex_get_{name}_len_bytes") for name in KEX_GETTERS}
        self._passes = int(self._library.function("kex_get_passes_num")())
        if self._passes > MOST_PASSES:
            raise OperationFailedError(f"kex_get_passes_num returned {self._passes}, more than {MOST_PASSES}")
        self._sides = {side: _Side(self._library, side, self._sizes) for side in "ab"}
        self._messages = {
            number: self._library.buffer(f"m{number}", self._sizes["total_msg"])
            for number in range(1, self.passes_run() + 1)
        }
        for message in self._messages.values():
            message.length[0] = 0

    def sizes(self) -> dict[str, int]:
        """Return the declared sizes in bytes, and the number of passes."""
        return {f"{name}_bytes": size for name, size in self._sizes.items()} | {"passes": self._passes}

    def passes(self) -> int:
        """Return the number of passes that the scheme claims."""
        return self._passes

    def passes_run(self) -> int:
        """Return how many passes there are to call: where none is claimed, the stubs that the interface asks for."""
        if self._passes or not self._library.has(_pass_name(1)):
            return self._passes
        return next((number - 1 for number in (2, 3) if not self._library.has(_pass_name(number))), STUB_PASSES)

    def init(self, side: str) -> Party:
        """Initialise a side."""
        own, call = self._sides[side], f"kex_init_{side}"
        own.last_message = None
        self._library.succeed(call, Out(own.pk), Out(own.sk), Out(own.state))
        return Party(own.pk.value(call), own.sk.value(call), own.state.value(call))

    def send(self, number: int) -> Pass:
        """Make a pass, counted from 1."""
        sender, receiver = ("a", "b") if number % 2 else ("b", "a")
        own, peer, message = self._sides[sender], self._sides[receiver], self._messages[number]
        received = [In(peer.last_message)] if number > 1 else []
        call = _pass_name(number)
        code = self._library.call(call, In(own.sk), In(peer.pk), *received, Out(own.state), Out(message))
        if code not in {0, 1}:
            meaning = "" if code < 0 else ", neither 0 (not finished) nor 1 (the last message)"
            raise OperationFailedError(f"{call} returned {code}{meaning}")
        own.last_message = message
        return Pass(own.state.value(call), message.value(call), code == 1)

    def derive(self, side: str) -> bytes:
        """Return a side's secret."""
        own, peer, call = self._sides[side], self._sides["ba"["ab".index(side)]], f"kex_derive_ss_{side}"
        words = (In(own.sk), In(peer.pk), In(peer.last_message), In(own.state), Out(own.secret))
        self._library.succeed(call, *words)
        return own.secret.value(call)


class HashScheme:
    """A hash function. Long messages are made in place, in one buffer."""

    def __init__(self, path: Path, trusted: Trusted) -> None:
        self._library = Library(path, HASH)
        self._trusted = trusted
        self._bits = int(self._library.function("katalog_digest_bits")())
        if not 8 <= self._bits <= LOOP_MESSAGE_BITS:
            raise OperationFailedError(f"a digest of {self._bits} bits has no KAT: 8 to {LOOP_MESSAGE_BITS} do")
        self._digest = self._library.buffer("digest", self._bits // 8)
        self._short = self._library.buffer("msg", SHORT_BUFFER_BYTES)
        self._long: Buffer | None = None

    def sizes(self) -> dict[str, int]:
        """Return the digest's size in bits."""
        return {"digest_bits": self._bits}

    def digest_bits(self) -> int:
        """Return the digest's length."""
        return self._bits

    def hash(self, message: bytes, bits: int) -> bytes:
        """Return the digest of the first ``bits`` of a message."""
        self._short.fill(message.ljust(SHORT_BUFFER_BYTES, b"\0"))
        return self._hashed(self._short, bits)

    def hash_long(self, fill: Fill, bits: int, seed: bytes) -> Long:
        """Hash a message that is made in place; a random one comes from a source started with ``seed``."""
        size = bits // 8
        if self._long is None or self._long.size != size:
            self._long = self._library.buffer("msg", size)
        if fill is Fill.RANDOM:
            self._trusted.start(seed).get_into(self._address(self._long.pointer), bits)
        else:
            self._long.fill_with(0xFF if fill is Fill.ONES else 0)
        first, last = self._long.part(0, EDGE_BYTES), self._long.part(size - EDGE_BYTES, size)
        return Long(first, last, self._hashed(self._long, bits))

    def loop(self, message: bytes, rounds: int) -> bytes:
        """Hash a message and then, ``rounds`` times, the message rotated and mixed with the last digest."""
        self.hash(message, 8 * len(message))
        function: Any = self._library.function("CryptHash")
        address, *pointers = map(self._address, (function, self._short.pointer, self._digest.pointer))
        self._trusted.loop(address, self._bits, pointers, rounds)
        return self._checked()

    def _address(self, pointer: Any) -> int:
        return int(self._library.ffi.cast("uintptr_t", pointer))

    def _hashed(self, message: Buffer, bits: int) -> bytes:
        code = self._library.function("CryptHash")(self._bits, message.pointer, bits, self._digest.pointer)
        message.check("CryptHash")
        digest = self._checked()
        if code != 0:
            raise OperationFailedError(f"CryptHash returned {code} for a message of {bits} bits")
        return digest

    def _checked(self) -> bytes:
        self._short.check("CryptHash")
        self._digest.check("CryptHash")
        return self._digest.part(0, self._digest.size)


def _pass_name(number: int) -> str:
    return f"kex_generate_pass{number}_msg_{'ba'[number % 2]}"


def _declaration(name: str, shape: str) -> str:
    """Declare a function by the shapes of its argument pairs: I has its length by value, O by address."""
    pairs = ("unsigned char *, unsigned long long" + (" *" if kind == "O" else "") for kind in shape)
    return f"int {name}({', '.join(pairs)});\n"


def _kex_declarations() -> str:
    lines = [f"unsigned long long kex_get_{name}_len_bytes(void);" for name in KEX_GETTERS]
    lines.append("unsigned long long kex_get_passes_num(void);")
    lines += [_declaration(f"kex_init_{side}", "OOO") for side in "ab"]
    lines += [_declaration(_pass_name(1), "IIOO")]
    lines += [_declaration(_pass_name(number), "IIIOO") for number in range(2, MOST_PASSES + 1)]
    lines += [_declaration(f"kex_derive_ss_{side}", "IIIIO") for side in "ab"]
    return "\n".join(lines)
