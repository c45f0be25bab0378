"""The bundled candidates in C: built as measured libraries are, and driven with the same methods as the models."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import cffi

from tests.csrc.model import kat, ring, winternitz
from tests.csrc.model.helpers import Bits, Drawing, Helper

ROOT = Path(__file__).resolve().parents[3]
CSRC = ROOT / "csrc"
DATA = ROOT / "tests" / "data" / "iccs"
CANDIDATES = CSRC / "candidates"
HELPERS = [CSRC / "iccs" / "auxfunc.c", CSRC / "iccs" / "drng.c"]
STRICT_C99 = ("-std=c99", "-Wpedantic", "-Wall", "-Wextra", "-Werror", "-O2", "-fPIC")
HASHES = [
    ("sm3hash", 256),
    *(("pseudohash", bits) for bits in (512, 768, 1024)),
    *(("pseudoXOF", bits) for bits in (256, 384, 512, 768, 1024)),
]
SLACK_BYTES = 64
FILL = b"\xa5"


def prototypes() -> str:
    """Return what libraries may export, from the shapes IN (bytes, length) and OUT (bytes, pointer to length)."""
    shapes = {"i": "unsigned char *, unsigned long long", "o": "unsigned char *, unsigned long long *"}
    functions = {
        "sig_keygen": "oo", "sig_sign": "iio", "sig_verify": "iii",
        "kem_keygen": "oo", "kem_enc": "ioo", "kem_dec": "iio",
        "kex_init_a": "ooo", "kex_init_b": "ooo", "kex_derive_ss_a": "iiiio", "kex_derive_ss_b": "iiiio",
        "kex_generate_pass1_msg_a": "iioo", "kex_generate_pass2_msg_b": "iiioo",
    }  # fmt: skip
    getters = {
        "sig": ("pk_len_bytes", "sk_len_bytes", "sn_len_bytes"),
        "kem": ("pk_len_bytes", "sk_len_bytes", "ss_len_bytes", "ct_len_bytes"),
        "kex": ("pk_len_bytes", "sk_len_bytes", "sta_len_bytes", "stb_len_bytes", "ss_len_bytes",
                "total_msg_len_bytes", "passes_num"),
    }  # fmt: skip
    lines = [f"int {name}({', '.join(shapes[s] for s in signature)});" for name, signature in functions.items()]
    lines += [f"unsigned long long {family}_get_{name}(void);" for family, names in getters.items() for name in names]
    return "\n".join(lines)


HELPER_PROTOTYPES = """
typedef struct { unsigned char V[55], C[55], reseed_counter[55]; } DRNG_ctx;
int init_random_number(DRNG_ctx *, const unsigned char *, unsigned long long);
int get_random_number(DRNG_ctx *, unsigned char *, unsigned long long);
int sm3hash(int, const unsigned char *, unsigned long long, unsigned char *);
int pseudohash(int, const unsigned char *, unsigned long long, unsigned char *);
int pseudoXOF(unsigned long long, const unsigned char *, unsigned long long, unsigned char *);
int CryptHash(int, const unsigned char *, unsigned long long, unsigned char *);
void katalog_seed(const unsigned char *, unsigned long long);
void katalog_random(unsigned char *, unsigned long long);
extern DRNG_ctx drng_algorithm;
"""


class WrongCodeError(Exception):
    """A function returned another code than success."""


class Recipe(NamedTuple):
    """What it takes to build one bundled instance."""

    candidate: str
    family: str
    instance: str
    header: str
    sources: list[str]
    include: list[str]
    defines: list[str]
    model: Drawing

    @property
    def name(self) -> str:
        return f"{self.candidate}/{self.instance}"


def recipes() -> list[Recipe]:
    """List all bundled instances."""
    found = []
    for digit_bits in (2, 4, 8):
        build = ("winternitz/SIG_AlgorithmInstance.h", ["winternitz/SIG_AlgorithmInstance.c"], ["winternitz"])
        scheme = winternitz.Winternitz(digit_bits)
        defines = [f"WINTERNITZ_DIGIT_BITS={digit_bits}"]
        found.append(Recipe("sign-winternitz", "sign", f"Winternitz-W{scheme.w}", *build, defines, scheme))
    for n in (128, 256):
        sources = ["ring/KEM_AlgorithmInstance.c", "ephemeral/ring_kem.c"]
        build = ("ring/KEM_AlgorithmInstance.h", sources, ["ring", "ephemeral"])
        found.append(Recipe("kem-ring", "kem", f"Ring-{n}", *build, [f"RING_N={n}"], ring.Ring(n)))
        sources = ["ephemeral/KEX_AlgorithmInstance.c", "ephemeral/ring_kem.c"]
        build = ("ephemeral/KEX_AlgorithmInstance.h", sources, ["ephemeral"])
        found.append(Recipe("kex-ephemeral", "kex", f"Ephemeral-{n}", *build, [f"RING_N={n}"], ring.Ephemeral(n)))
    for helper, bits in HASHES:
        build = ("helpers/CryptHash_AlgorithmInstance.h", ["helpers/CryptHash_AlgorithmInstance.c"], ["helpers"])
        defines = [f"HELPER={helper}", f"HELPER_BITS={bits}"]
        found.append(Recipe("hash-iccs", "hash", f"{helper}-{bits}", *build, defines, Helper(helper, bits)))
    return found


def compiled(output: Path, sources: Sequence[Path], *words: str) -> Path:
    """Compile a shared library from sources and our include folders; warnings are errors."""
    folders = (f"-I{CSRC / 'iccs'}",)
    subprocess.run(["gcc", "-shared", *STRICT_C99, *words, *folders, *sources, "-o", output], check=True)
    return output


def build(recipe: Recipe, folder: Path, *words: str, extra: Sequence[Path] = ()) -> Path:
    """Build one bundled instance with our helpers and random source."""
    sources = [CANDIDATES / name for name in recipe.sources]
    own = [*HELPERS, CSRC / "shim" / "random_iccs.c", *extra]
    options = [f"-D{define}" for define in recipe.defines] + [f"-I{CANDIDATES / name}" for name in recipe.include]
    return compiled(folder / f"{recipe.instance}.so", [*sources, *own], *options, *words)


def opened(library: Path, more: str = "") -> tuple[cffi.FFI, Any]:
    ffi = cffi.FFI()
    ffi.cdef(prototypes() + HELPER_PROTOTYPES + more)
    return ffi, ffi.dlopen(str(library))


class Out(NamedTuple):
    """A buffer to be written; the length it starts with is its size, as the getter says."""

    size: int


class State(NamedTuple):
    """A buffer that is read and rewritten, together with its length."""

    data: bytes
    size: int


class Buffer:
    """One argument of a call: bytes, a length, and a guard behind them."""

    def __init__(self, ffi: cffi.FFI, argument: bytes | Out | State):
        data = b"" if isinstance(argument, Out) else argument if isinstance(argument, bytes) else argument.data
        self.ffi, self.written = ffi, not isinstance(argument, bytes)
        self.size = len(data) if isinstance(argument, bytes) else argument.size
        self.block = ffi.new("unsigned char[]", data.ljust(self.size + SLACK_BYTES, FILL))
        self.length = ffi.new("unsigned long long *", self.size if isinstance(argument, Out) else len(data))

    def words(self) -> tuple[Any, Any]:
        """Return the two C arguments."""
        return self.block, self.length if self.written else self.length[0]

    def taken(self) -> bytes:
        """Return what is there after the call, and check that nothing is behind it."""
        assert bytes(self.ffi.buffer(self.block + self.size, SLACK_BYTES)) == FILL * SLACK_BYTES
        assert self.length[0] <= self.size
        return bytes(self.ffi.buffer(self.block, self.length[0]))


class Source:
    """A random source of its own in the library's code."""

    def __init__(self, ffi: cffi.FFI, lib: Any, seed: bytes):
        self.ffi, self.lib, self.state = ffi, lib, ffi.new("DRNG_ctx *")
        assert lib.init_random_number(self.state, seed, len(seed)) == 0

    def get(self, bits: int) -> bytes:
        size = (bits + 7) // 8
        out = self.ffi.new("unsigned char[]", size + 1)
        assert self.lib.get_random_number(self.state, out, bits) == 0
        return bytes(self.ffi.buffer(out, size))


class Library:
    """A built library, with the methods of the models."""

    def __init__(self, path: Path, more: str = ""):
        self.ffi, self.lib = opened(path, more)

    def call(self, name: str, *arguments: bytes | Out | State) -> tuple[int, list[bytes]]:
        """Call a function; return its code and what is in the buffers that it may write."""
        buffers = [Buffer(self.ffi, argument) for argument in arguments]
        code = getattr(self.lib, name)(*(word for buffer in buffers for word in buffer.words()))
        taken = [buffer.taken() for buffer in buffers]
        return code, [data for buffer, data in zip(buffers, taken, strict=True) if buffer.written]

    def good(self, name: str, *arguments: bytes | Out | State) -> list[bytes]:
        code, outs = self.call(name, *arguments)
        if code != 0:
            raise WrongCodeError(f"{name} returned {code}")
        return outs

    def size(self, getter: str) -> Out:
        return Out(getattr(self.lib, f"{getter}_len_bytes")())

    def seed(self, seed: bytes) -> None:
        self.lib.katalog_seed(seed, len(seed))

    def random(self, seed: bytes) -> Source:
        return Source(self.ffi, self.lib, seed)


class SignLibrary(Library):
    """A signature scheme in C."""

    def keygen(self) -> tuple[bytes, bytes]:
        pk, sk = self.good("sig_keygen", self.size("sig_get_pk"), self.size("sig_get_sk"))
        return pk, sk

    def sign(self, sk: bytes, m: bytes) -> bytes:
        return self.good("sig_sign", sk, m, self.size("sig_get_sn"))[0]

    def verify_code(self, pk: bytes, sn: bytes, m: bytes) -> int:
        return self.call("sig_verify", pk, sn, m)[0]


class KemLibrary(Library):
    """A key encapsulation in C."""

    def keygen(self) -> tuple[bytes, bytes]:
        pk, sk = self.good("kem_keygen", self.size("kem_get_pk"), self.size("kem_get_sk"))
        return pk, sk

    def enc(self, pk: bytes) -> tuple[bytes, bytes]:
        ss, ct = self.good("kem_enc", pk, self.size("kem_get_ss"), self.size("kem_get_ct"))
        return ss, ct

    def dec(self, sk: bytes, ct: bytes) -> bytes:
        return self.good("kem_dec", sk, ct, self.size("kem_get_ss"))[0]


class KexLibrary(Library):
    """A key exchange in C. Message buffers have the total's size and start with length 0, as in the official driver."""

    @property
    def passes(self) -> int:
        return self.lib.kex_get_passes_num()

    def init(self, side: str) -> tuple[bytes, bytes, bytes]:
        state = self.size(f"kex_get_st{side}")
        pk, sk, st = self.good(f"kex_init_{side}", self.size("kex_get_pk"), self.size("kex_get_sk"), state)
        return pk, sk, st

    def generate(self, number: int, keys: tuple[bytes, bytes], message: bytes, state: bytes) -> ring.Step:
        side = "ba"[number % 2]
        received = [message] if number > 1 else []
        outs = (State(state, *self.size(f"kex_get_st{side}")), State(b"", *self.size("kex_get_total_msg")))
        code, (new_state, new_message) = self.call(f"kex_generate_pass{number}_msg_{side}", *keys, *received, *outs)
        return ring.Step(code, new_state, new_message)

    def derive(self, side: str, keys: tuple[bytes, bytes], message: bytes, state: bytes) -> bytes:
        return self.good(f"kex_derive_ss_{side}", *keys, message, state, self.size("kex_get_ss"))[0]


class HashLibrary(Library):
    """A hash function in C."""

    def __init__(self, path: Path, digest_bits: int):
        super().__init__(path)
        self.digest_bits = digest_bits
        self.digest = self.ffi.new("unsigned char[]", digest_bits // 8 + SLACK_BYTES)

    def hash(self, messages: Sequence[Bits]) -> list[bytes]:
        return [self.hash_one(message) for message in messages]

    def hash_one(self, message: Bits) -> bytes:
        code = self.lib.CryptHash(self.digest_bits, message.data, message.count, self.digest)
        if code != 0:
            raise WrongCodeError(f"CryptHash returned {code}")
        return bytes(self.ffi.buffer(self.digest, self.digest_bits // 8))


FAMILIES = {"sign": SignLibrary, "kem": KemLibrary, "kex": KexLibrary}


def scheme(recipe: Recipe, library: Path) -> Any:
    """Open a built instance by its family."""
    if isinstance(recipe.model, Helper):
        return HashLibrary(library, recipe.model.digest_bits)
    return FAMILIES[recipe.family](library)


def stored_answers() -> dict[str, dict[str, Any]]:
    """Return the stored known answers by candidate/instance."""
    entries = json.loads((DATA / "answers.json").read_text(encoding="utf-8"))["instances"]
    return {f"{entry['candidate']}/{entry['instance']}": entry for entry in entries}


def described(recipe: Recipe, files: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what the answer file says of an instance."""
    build_words = {"sources": recipe.sources, "include": recipe.include, "defines": recipe.defines}
    return {
        "candidate": recipe.candidate,
        "instance": recipe.instance,
        "family": recipe.family,
        **build_words,
        "kat": files,
    }


def record_count(text: str) -> int:
    return sum(line.startswith(("Count = ", "Msg_Len = ")) for line in text.split("\n"))


def answer(kind: str, recipe: Recipe, text: str) -> dict[str, Any]:
    digest = kat.canonical_sha256(text)
    file = f"{kind}_{recipe.instance}.txt"
    return {"file": file, "mode": "strict", "records": record_count(text), "canonical_sha256": digest}
