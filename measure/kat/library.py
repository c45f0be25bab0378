"""A candidate's library as Python objects: guarded buffers, lengths set before each call and checked after it.

Only the known-answer worker uses this, in a process of its own: a call into a candidate may do anything.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cffi import FFI

from measure.kat.nist import Encapsulated, KeyPair, OperationFailedError

GUARD_BYTES = 4096
# Position-dependent, so that no value that a candidate writes is the right one everywhere.
GUARD = bytes((151 * index + 90) % 256 for index in range(GUARD_BYTES))
BUFFER_LIMIT_BYTES = 256 * 1024 * 1024

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
    """Bytes between two guard zones. ``pointer`` is handed to the library, ``length`` where it may set one."""

    def __init__(self, ffi: FFI, name: str, size: int, content: bytes = b"") -> None:
        self.name = name
        self.size = size
        self._all = ffi.new("unsigned char[]", GUARD_BYTES + size + GUARD_BYTES)
        self._view = ffi.buffer(self._all)
        self._view[:GUARD_BYTES] = GUARD
        self._view[GUARD_BYTES + size :] = GUARD
        self._view[GUARD_BYTES : GUARD_BYTES + len(content)] = content
        self.pointer = self._all + GUARD_BYTES
        self.length = ffi.new("unsigned long long *", size)

    def check(self, call: str) -> None:
        """Raise OverflowedError when a guard zone is damaged."""
        before = _damage(self._view[:GUARD_BYTES][::-1], GUARD[::-1])
        after = _damage(self._view[GUARD_BYTES + self.size :], GUARD)
        for damage, side in ((before, "before"), (after, "past")):
            if damage is not None:
                raise OverflowedError(f"{call} wrote {side} {self.name} ({self.size} bytes), byte {damage + 1} off it")

    def value(self, call: str) -> bytes:
        """Return as many bytes as the call said that it wrote; more than fit raise OverflowedError."""
        length = int(self.length[0])
        if length > self.size:
            raise OverflowedError(f"{call} returned length {length} for {self.name} ({self.size} bytes)")
        return bytes(self._view[GUARD_BYTES : GUARD_BYTES + length])


class _Library:
    """Loading, getters and the random source, which both families share."""

    def __init__(self, path: Path, declarations: str) -> None:
        self._ffi = FFI()
        self._ffi.cdef(SHARED + declarations)
        try:
            self._lib: Any = self._ffi.dlopen(str(path), os.RTLD_NOW | os.RTLD_LOCAL)
        except OSError as error:
            raise InterfaceError(f"cannot be loaded: {error}") from error

    def seed(self, entropy: bytes) -> None:
        """Start the library's random source."""
        self._function("katalog_seed")(entropy, len(entropy))

    def random(self, size_bytes: int) -> bytes:
        """Take bytes from the library's random source in one request."""
        out = self._buffer("random", size_bytes)
        self._function("katalog_random")(out.pointer, size_bytes)
        out.check("katalog_random")
        return out.value("katalog_random")

    def _function(self, name: str) -> Callable[..., int]:
        try:
            function: Callable[..., int] = getattr(self._lib, name)
        except AttributeError as error:
            raise InterfaceError(f"lacks the function {name}") from error
        return function

    def _size(self, getter: str) -> int:
        size = int(self._function(getter)())
        if size > BUFFER_LIMIT_BYTES:
            raise OperationFailedError(f"{getter} returned {size}, more than any key or message may be")
        return size

    def _buffer(self, name: str, size: int, content: bytes = b"") -> Buffer:
        return Buffer(self._ffi, name, size, content)

    def _input(self, name: str, content: bytes) -> Buffer:
        # A copy: inputs are not const in the interface, and the caller's value must stay.
        return self._buffer(name, len(content), content)

    def _call(self, name: str, *words: Buffer | tuple[Buffer, ...]) -> None:
        """Call a function. A tuple is an output (pointer, address of its length), a Buffer an input (pointer, length).

        Raises:
            OperationFailedError: when the function does not return 0.
            OverflowedError: when a guard zone is damaged.
        """
        arguments: list[Any] = []
        for word in words:
            arguments += [word[0].pointer, word[0].length] if isinstance(word, tuple) else [word.pointer, word.size]
        self._checked(name, arguments, [word[0] if isinstance(word, tuple) else word for word in words])

    def _checked(self, name: str, arguments: list[Any], buffers: list[Buffer]) -> None:
        code = self._function(name)(*arguments)
        for buffer in buffers:
            buffer.check(name)
        if code != 0:
            raise OperationFailedError(f"{name} returned {code}")

    def _key_pair(self, prefix: str) -> KeyPair:
        call = f"{prefix}_keygen"
        pk = self._buffer("pk", self._size(f"{prefix}_get_pk_len_bytes"))
        sk = self._buffer("sk", self._size(f"{prefix}_get_sk_len_bytes"))
        self._call(call, (pk,), (sk,))
        return KeyPair(pk.value(call), sk.value(call))


class KemLibrary(_Library):
    """A key encapsulation mechanism behind the ICCS interface."""

    getters = ("pk", "sk", "ct", "ss")

    def __init__(self, path: Path) -> None:
        super().__init__(path, KEM)

    def sizes_bytes(self) -> dict[str, int]:
        """Return the declared sizes, by the names of ``evidence.types.Sizes``."""
        return {f"{name}_bytes": self._size(f"kem_get_{name}_len_bytes") for name in self.getters}

    def keygen(self) -> KeyPair:
        """Make a key pair."""
        return self._key_pair("kem")

    def enc(self, pk: bytes) -> Encapsulated:
        """Encapsulate."""
        ss = self._buffer("ss", self._size("kem_get_ss_len_bytes"))
        ct = self._buffer("ct", self._size("kem_get_ct_len_bytes"))
        self._call("kem_enc", self._input("pk", pk), (ss,), (ct,))
        return Encapsulated(ct.value("kem_enc"), ss.value("kem_enc"))

    def dec(self, sk: bytes, ct: bytes) -> bytes:
        """Return the shared secret of a ciphertext."""
        ss = self._buffer("ss", self._size("kem_get_ss_len_bytes"))
        self._call("kem_dec", self._input("sk", sk), self._input("ct", ct), (ss,))
        return ss.value("kem_dec")


class SignLibrary(_Library):
    """A signature scheme behind the ICCS interface, with the attached form that NIST texts show."""

    getters = ("pk", "sk", "sn")

    def __init__(self, path: Path) -> None:
        super().__init__(path, SIGN)

    def sizes_bytes(self) -> dict[str, int]:
        """Return the declared sizes, by the names of ``evidence.types.Sizes``."""
        pk, sk, signature = (self._size(f"sig_get_{name}_len_bytes") for name in self.getters)
        return {"pk_bytes": pk, "sk_bytes": sk, "signature_bytes": signature}

    def keygen(self) -> KeyPair:
        """Make a key pair."""
        return self._key_pair("sig")

    def sign_attached(self, message: bytes, sk: bytes) -> bytes:
        """Return the signed message."""
        signed = self._buffer("sm", self._size("sig_get_sn_len_bytes") + len(message))
        self._attached("katalog_sign_attached", signed, self._input("m", message), self._input("sk", sk))
        return signed.value("katalog_sign_attached")

    def open_attached(self, signed: bytes, pk: bytes) -> bytes:
        """Return the message of a signed message."""
        message = self._buffer("m", len(signed))
        self._attached("katalog_open_attached", message, self._input("sm", signed), self._input("pk", pk))
        return message.value("katalog_open_attached")

    def _attached(self, name: str, out: Buffer, given: Buffer, key: Buffer) -> None:
        self._checked(name, [out.pointer, out.length, given.pointer, given.size, key.pointer], [out, given, key])


def _damage(found: bytes, expected: bytes) -> int | None:
    """Return the first position that differs, None where none does."""
    if found == expected:
        return None
    return next(index for index, pair in enumerate(zip(found, expected, strict=True)) if pair[0] != pair[1])
