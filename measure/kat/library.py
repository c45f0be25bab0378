"""A candidate's library as Python objects: guarded buffers, checked after each call; the schemes of NIST's texts.

Only the known-answer worker uses this, in a process of its own: a call into a candidate may do anything.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from cffi import FFI

from measure.kat.scheme import Encapsulated, KeyPair, OperationFailedError

GUARD_BYTES = 4096
# Position-dependent, so that no value that a candidate writes is the right one everywhere.
GUARD = bytes((151 * index + 90) % 256 for index in range(GUARD_BYTES))
BUFFER_LIMIT_BYTES = 256 * 1024 * 1024
FILL_BYTES = 1024 * 1024
# Names that a library defines are its own, even where this process has something of the same name.
LOAD_FLAGS = os.RTLD_NOW | os.RTLD_LOCAL | getattr(os, "RTLD_DEEPBIND", 0)

SHARED = """
void katalog_seed(const unsigned char *, unsigned long long);
void katalog_random(unsigned char *, unsigned long long);
"""
KEM = """
unsigned long long kem_get_pk_len_bytes(void);
unsigned long long kem_get_sk_len_bytes(void);
unsigned long long kem_get_ss_len_bytes(void);
unsigned long long kem_get_ct_len_bytes(void);
int kem_keygen(unsigned char *, unsigned long long *, unsigned char *, unsigned long long *);
int kem_enc(unsigned char *, unsigned long long,
            unsigned char *, unsigned long long *, unsigned char *, unsigned long long *);
int kem_dec(unsigned char *, unsigned long long, unsigned char *, unsigned long long,
            unsigned char *, unsigned long long *);
"""
SIGN = """
unsigned long long sig_get_pk_len_bytes(void);
unsigned long long sig_get_sk_len_bytes(void);
unsigned long long sig_get_sn_len_bytes(void);
int sig_keygen(unsigned char *, unsigned long long *, unsigned char *, unsigned long long *);
int katalog_sign_attached(unsigned char *, unsigned long long *,
                          const unsigned char *, unsigned long long, const unsigned char *);
int katalog_open_attached(unsigned char *, unsigned long long *,
                          const unsigned char *, unsigned long long, const unsigned char *);
"""


class OverflowedError(Exception):
    """A call wrote past a buffer, or returned a length that its buffer does not hold."""


class InterfaceError(Exception):
    """The library cannot be loaded, or lacks a function of its family's interface."""


class Buffer:
    """Bytes between two guard zones. ``pointer`` is handed to the library, ``length`` where it may set one.

    One byte may be written even where the size is 0: the interface has no other way to say *nothing*.
    """

    def __init__(self, ffi: FFI, name: str, size: int, content: bytes = b"") -> None:
        self.name = name
        self.size = size
        self._past = GUARD_BYTES + max(size, 1)
        self._all = ffi.new("unsigned char[]", self._past + GUARD_BYTES)
        self._view = ffi.buffer(self._all)
        self._view[:GUARD_BYTES] = GUARD
        self._view[self._past :] = GUARD
        self._view[GUARD_BYTES : GUARD_BYTES + len(content)] = content
        self.pointer = self._all + GUARD_BYTES
        self.length = ffi.new("unsigned long long *", size)

    def check(self, call: str) -> None:
        """Raise OverflowedError when a guard zone is damaged."""
        before = _damage(self._view[:GUARD_BYTES][::-1], GUARD[::-1])
        after = _damage(self._view[self._past :], GUARD)
        for damage, side in ((before, "before"), (after, "past")):
            if damage is not None:
                raise OverflowedError(f"{call} wrote {side} {self.name} ({self.size} bytes), byte {damage + 1} off it")

    def value(self, call: str) -> bytes:
        """Return as many bytes as the call said that it wrote; more than fit raise OverflowedError."""
        length = int(self.length[0])
        if length > self.size:
            raise OverflowedError(f"{call} returned length {length} for {self.name} ({self.size} bytes)")
        return self.part(0, length)

    def part(self, begin: int, end: int) -> bytes:
        """Return some of the bytes."""
        return bytes(self._view[GUARD_BYTES + begin : GUARD_BYTES + end])

    def fill(self, content: bytes) -> None:
        """Put bytes at the beginning."""
        self._view[GUARD_BYTES : GUARD_BYTES + len(content)] = content

    def fill_with(self, byte: int) -> None:
        """Set all bytes to one value, a part at a time: the buffer may be large."""
        part = bytes((byte,)) * min(self.size, FILL_BYTES)
        for begin in range(0, self.size, FILL_BYTES):
            end = min(begin + FILL_BYTES, self.size)
            self._view[GUARD_BYTES + begin : GUARD_BYTES + end] = part[: end - begin]


class Out(NamedTuple):
    """An argument pair that a function may write: the buffer, and the address of its length."""

    buffer: Buffer


class In(NamedTuple):
    """An argument pair that a function reads: the buffer and its length; None is ``NULL, 0``."""

    buffer: Buffer | None


class Library:
    """Loading, getters, calls and the random source, which all families share."""

    def __init__(self, path: Path, declarations: str) -> None:
        self.ffi = FFI()
        self.ffi.cdef(SHARED + declarations)
        try:
            self._lib: Any = self.ffi.dlopen(str(path), LOAD_FLAGS)
        except OSError as error:
            raise InterfaceError(f"cannot be loaded: {error}") from error

    def seed(self, entropy: bytes) -> None:
        """Start the library's random source."""
        self.function("katalog_seed")(entropy, len(entropy))

    def random(self, size_bytes: int) -> bytes:
        """Take bytes from the library's random source in one request."""
        out = self.buffer("random", size_bytes)
        self.function("katalog_random")(out.pointer, size_bytes)
        out.check("katalog_random")
        return out.value("katalog_random")

    def function(self, name: str) -> Callable[..., int]:
        """Return a function of the library; InterfaceError says that there is none."""
        try:
            function: Callable[..., int] = getattr(self._lib, name)
        except AttributeError as error:
            raise InterfaceError(f"lacks the function {name}") from error
        return function

    def has(self, name: str) -> bool:
        """Return whether the library has a function."""
        return hasattr(self._lib, name)

    def size(self, getter: str) -> int:
        """Return what a getter says, in bytes."""
        size = int(self.function(getter)())
        if size > BUFFER_LIMIT_BYTES:
            raise OperationFailedError(f"{getter} returned {size}, more than any key or message may be")
        return size

    def buffer(self, name: str, size: int, content: bytes = b"") -> Buffer:
        """Return a new guarded buffer, zero where nothing else is given."""
        return Buffer(self.ffi, name, size, content)

    def copied(self, name: str, content: bytes) -> In:
        """Return an input of its own: inputs are not const in the interface, and the caller's value must stay."""
        return In(self.buffer(name, len(content), content))

    def call(self, name: str, *words: In | Out) -> int:
        """Call a function of the interface; return its code.

        Raises:
            OverflowedError: when a guard zone is damaged, or a returned length is beyond its buffer.
        """
        arguments: list[Any] = []
        for word in words:
            if word.buffer is None:
                arguments += [self.ffi.NULL, 0]
            else:
                length = word.buffer.length
                arguments += [word.buffer.pointer, length if isinstance(word, Out) else int(length[0])]
        code = int(self.function(name)(*arguments))
        for word in words:
            if word.buffer is not None:
                word.buffer.check(name)
        if code >= 0:
            self._check_lengths(name, words)
        return code

    def succeed(self, name: str, *words: In | Out) -> None:
        """Call a function that returns 0 on success.

        Raises:
            OperationFailedError: when it returns anything else.
            OverflowedError: as ``call`` does.
        """
        code = self.call(name, *words)
        if code != 0:
            raise OperationFailedError(f"{name} returned {code}")

    def _check_lengths(self, name: str, words: tuple[In | Out, ...]) -> None:
        for word in words:
            if isinstance(word, Out):
                length = int(word.buffer.length[0])
                if length > word.buffer.size:
                    raise OverflowedError(
                        f"{name} returned length {length} for {word.buffer.name} ({word.buffer.size} bytes)"
                    )


class KemLibrary(Library):
    """A key encapsulation mechanism behind the ICCS interface."""

    getters = ("pk", "sk", "ct", "ss")

    def __init__(self, path: Path) -> None:
        super().__init__(path, KEM)

    def sizes_bytes(self) -> dict[str, int]:
        """Return the declared sizes, by the names of ``evidence.types.Sizes``."""
        return {f"{name}_bytes": self.size(f"kem_get_{name}_len_bytes") for name in self.getters}

    def keygen(self) -> KeyPair:
        """Make a key pair."""
        return key_pair(self, "kem")

    def enc(self, pk: bytes) -> Encapsulated:
        """Encapsulate."""
        ss = self.buffer("ss", self.size("kem_get_ss_len_bytes"))
        ct = self.buffer("ct", self.size("kem_get_ct_len_bytes"))
        self.succeed("kem_enc", self.copied("pk", pk), Out(ss), Out(ct))
        return Encapsulated(ct.value("kem_enc"), ss.value("kem_enc"))

    def dec(self, sk: bytes, ct: bytes) -> bytes:
        """Return the shared secret of a ciphertext."""
        ss = self.buffer("ss", self.size("kem_get_ss_len_bytes"))
        self.succeed("kem_dec", self.copied("sk", sk), self.copied("ct", ct), Out(ss))
        return ss.value("kem_dec")


class SignLibrary(Library):
    """A signature scheme behind the ICCS interface, with the attached form that NIST texts show."""

    getters = ("pk", "sk", "sn")

    def __init__(self, path: Path) -> None:
        super().__init__(path, SIGN)

    def sizes_bytes(self) -> dict[str, int]:
        """Return the declared sizes, by the names of ``evidence.types.Sizes``."""
        pk, sk, signature = (self.size(f"sig_get_{name}_len_bytes") for name in self.getters)
        return {"pk_bytes": pk, "sk_bytes": sk, "signature_bytes": signature}

    def keygen(self) -> KeyPair:
        """Make a key pair."""
        return key_pair(self, "sig")

    def sign_attached(self, message: bytes, sk: bytes) -> bytes:
        """Return the signed message."""
        signed = self.buffer("sm", self.size("sig_get_sn_len_bytes") + len(message))
        self._attached("katalog_sign_attached", signed, self.copied("m", message), self.copied("sk", sk))
        return signed.value("katalog_sign_attached")

    def open_attached(self, signed: bytes, pk: bytes) -> bytes:
        """Return the message of a signed message."""
        message = self.buffer("m", len(signed))
        self._attached("katalog_open_attached", message, self.copied("sm", signed), self.copied("pk", pk))
        return message.value("katalog_open_attached")

    def _attached(self, name: str, out: Buffer, given: In, key: In) -> None:
        buffers = [out, *(word.buffer for word in (given, key) if word.buffer)]
        message, secret = buffers[1:]
        code = self.function(name)(out.pointer, out.length, message.pointer, message.size, secret.pointer)
        for buffer in buffers:
            buffer.check(name)
        if code != 0:
            raise OperationFailedError(f"{name} returned {code}")


def key_pair(library: Library, prefix: str) -> KeyPair:
    """Make a key pair in new buffers; ``prefix`` is ``kem`` or ``sig``."""
    call = f"{prefix}_keygen"
    pk = library.buffer("pk", library.size(f"{prefix}_get_pk_len_bytes"))
    sk = library.buffer("sk", library.size(f"{prefix}_get_sk_len_bytes"))
    library.succeed(call, Out(pk), Out(sk))
    return KeyPair(pk.value(call), sk.value(call))


def _damage(found: bytes, expected: bytes) -> int | None:
    """Return the first position that differs, None where none does."""
    if found == expected:
        return None
    return next(index for index, pair in enumerate(zip(found, expected, strict=True)) if pair[0] != pair[1])
