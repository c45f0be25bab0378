"""The harness's own random source and hash loop, in a library of ours: a submission's may be other ones."""

from pathlib import Path
from typing import Any

from cffi import FFI

DECLARATIONS = """
typedef struct { unsigned char state[165]; } DRNG_ctx;
int init_random_number(DRNG_ctx *, const unsigned char *, unsigned long long);
int get_random_number(DRNG_ctx *, unsigned char *, unsigned long long);
typedef int katalog_hash(int, const unsigned char *, unsigned long long, unsigned char *);
void katalog_kat_loop(katalog_hash *, int, unsigned char *, unsigned char *, unsigned long long);
"""


class TrustedDrng:
    """One random source; each request steps it."""

    def __init__(self, ffi: FFI, library: Any, seed: bytes) -> None:
        self._ffi, self._library = ffi, library
        self._state = ffi.new("DRNG_ctx *")
        library.init_random_number(self._state, seed, len(seed))

    def get(self, bits: int) -> bytes:
        """Answer one request."""
        size = (bits + 7) // 8
        out = self._ffi.new("unsigned char[]", max(size, 1))
        self._library.get_random_number(self._state, out, bits)
        return bytes(self._ffi.buffer(out, size))

    def get_into(self, address: int, bits: int) -> None:
        """Answer one request into memory that the caller owns."""
        self._library.get_random_number(self._state, self._ffi.cast("unsigned char *", address), bits)


class Trusted:
    """The library of ``measure.kat.helper``, loaded."""

    def __init__(self, path: Path) -> None:
        self._ffi = FFI()
        self._ffi.cdef(DECLARATIONS)
        self._library: Any = self._ffi.dlopen(str(path))

    def start(self, seed: bytes) -> TrustedDrng:
        """Start a random source."""
        return TrustedDrng(self._ffi, self._library, seed)

    def loop(self, function: int, digest_bits: int, message_and_digest: list[int], rounds: int) -> None:
        """Run the loop of KAT_Loop over a hash function and buffers that are given by their addresses."""
        hash_function = self._ffi.cast("katalog_hash *", function)
        message, digest = (self._ffi.cast("unsigned char *", address) for address in message_and_digest)
        self._library.katalog_kat_loop(hash_function, digest_bits, message, digest, rounds)
