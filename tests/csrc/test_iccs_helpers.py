"""Our ICCS helpers: the vectors, the model, any bit length, the exported names, sanitizers and other targets."""

import hashlib
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import cffi
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.csrc.model import helpers, kat
from tests.csrc.model.helpers import Bits, Drng, whole
from tests.csrc.model.library import CSRC, DATA, HELPERS, STRICT_C99, Library, compiled, opened

UNITS = Path(__file__).resolve().parent / "units"
VECTORS = json.loads((DATA / "vectors.json").read_text(encoding="utf-8"))
HASHES = ("sm3hash", "pseudohash", "pseudoXOF")
SHIM = CSRC / "shim" / "random_iccs.c"
GUARD = 16
PATIENT = settings(deadline=None)  # a loaded machine keeps none


def data_of(spec: dict[str, Any]) -> bytes:
    if "hex" in spec:
        return bytes.fromhex(spec["hex"])
    return bytes((7 * i + spec["pattern"]) & 0xFF for i in range(spec["pattern"]))


HASH_VECTORS = [(name, vector) for name in HASHES for vector in VECTORS[name]]
HASH_IDS = [f"{name}: {vector['name']}" for name, vector in HASH_VECTORS]
DRNG_IDS = [vector["name"] for vector in VECTORS["drng"]]


class Helpers:
    """The helpers in C."""

    def __init__(self, path: Path):
        self.ffi, self.lib = opened(path)

    def hash(self, name: str, output_bits: int, message: Bits) -> tuple[int, bytes]:
        """Return code and output; the message has just the bytes it needs, and what is behind the output stays."""
        size = (output_bits + 7) // 8
        out = self.ffi.new("unsigned char[]", b"\x5a" * (size + GUARD))
        text = self.ffi.from_buffer("unsigned char[]", message.data)
        code = getattr(self.lib, name)(output_bits, text, message.count, out)
        written = bytes(self.ffi.buffer(out, size + GUARD))
        assert written[size:] == b"\x5a" * GUARD
        return code, written[:size]

    def state(self, data: bytes = b"") -> Any:
        state = self.ffi.new("DRNG_ctx *")
        self.ffi.memmove(state, data, len(data))
        return state

    def state_bytes(self, state: Any) -> bytes:
        return bytes(self.ffi.buffer(state))

    def draw(self, state: Any, bits: int) -> bytes:
        size = (bits + 7) // 8
        out = self.ffi.new("unsigned char[]", b"\x5a" * (size + GUARD))
        assert self.lib.get_random_number(state, out, bits) == 0
        assert bytes(out)[size : size + GUARD] == b"\x5a" * GUARD
        return bytes(out)[:size]


@pytest.fixture(scope="session")
def iccs(tmp_path_factory: pytest.TempPathFactory) -> Helpers:
    return Helpers(compiled(tmp_path_factory.mktemp("iccs") / "iccs.so", [*HELPERS, SHIM]))


# ------------------------------------------------------------------------------------------------------- vectors


def test_there_are_315_vectors():
    schedule = VECTORS["kat_schedule"]
    count = len(HASH_VECTORS) + sum(1 + len(vector["calls"]) for vector in VECTORS["drng"])
    count += len(schedule["pkc_seeds_hex"]) + len(schedule["sig_messages_hex"])
    assert count + sum(len(item["messages_hex"]) for item in schedule["hash_messages"]) == 315


@pytest.mark.parametrize(("name", "vector"), HASH_VECTORS, ids=HASH_IDS)
def test_hash_vectors(iccs, name, vector):
    message = Bits(data_of(vector["msg"]), vector["msg_len_bits"])
    code, output = iccs.hash(name, vector["output_len_bits"], message)
    assert code == vector["rc"]
    if code == 0:
        assert output.hex() == vector["output_hex"]
        assert helpers.FUNCTIONS[name](vector["output_len_bits"], [message]) == [output]
    else:
        assert set(output) <= {0x5A}


@pytest.mark.parametrize("vector", VECTORS["drng"], ids=DRNG_IDS)
def test_random_source_vectors(iccs, vector):
    if "seed" in vector:
        seed = data_of(vector["seed"])
        state, model = iccs.state(), Drng.seeded(seed)
        assert iccs.lib.init_random_number(state, seed, len(seed)) == 0
        assert iccs.state_bytes(state).hex() == model.state().hex() == vector["state_after_init_hex"]
    else:
        start = bytes.fromhex(vector["state_hex"])
        state, model = iccs.state(start), Drng.restored(start)
    for call in vector["calls"]:
        assert iccs.draw(state, call["bits"]).hex() == model.get(call["bits"]).hex() == call["output_hex"]
        expected = call.get("state_after_hex", model.state().hex())
        assert iccs.state_bytes(state).hex() == model.state().hex() == expected


def drawn(iccs: Helpers, seed: bytes, lengths_bits: list[int]) -> list[bytes]:
    """Draw from C and model, which must agree."""
    state, model = iccs.state(), Drng.seeded(seed)
    iccs.lib.init_random_number(state, seed, len(seed))
    values = [iccs.draw(state, bits) for bits in lengths_bits]
    assert values == [model.get(bits) for bits in lengths_bits]
    return values


def test_known_answer_seeds_and_messages(iccs):
    schedule = VECTORS["kat_schedule"]
    seeds = drawn(iccs, b"seed" * 16, [512] * 10)
    messages = drawn(iccs, b"msg" * 21 + b"m", [8 * (56 + 8 * i) for i in range(10)])
    assert [seed.hex() for seed in seeds] == schedule["pkc_seeds_hex"]
    assert [message.hex() for message in messages] == schedule["sig_messages_hex"]


@pytest.mark.parametrize("item", VECTORS["kat_schedule"]["hash_messages"], ids=lambda item: item["kind"])
def test_known_answer_hash_messages(iccs, item):
    messages = drawn(iccs, item["kind"].encode() * 8, item["lengths_bits"])
    if item.get("edges_only"):
        messages = [message[:8] + message[-8:] for message in messages]
    assert [message.hex() for message in messages] == item["messages_hex"]


# ------------------------------------------------------------------------------------------------- any bit length


@st.composite
def bit_strings(draw) -> Bits:
    """Bit strings with rubbish in their spare bits."""
    count = draw(st.integers(0, 1100))
    size = (count + 7) // 8
    return Bits(draw(st.binary(min_size=size, max_size=size)), count)


@given(bit_strings())
@PATIENT
def test_sm3hash_equals_the_model(iccs, message):
    assert iccs.hash("sm3hash", 256, message) == (0, helpers.sm3_in_lanes([message])[0])


@given(bit_strings(), st.sampled_from([512, 768, 1024]))
@PATIENT
def test_pseudohash_equals_the_model(iccs, message, bits):
    assert iccs.hash("pseudohash", bits, message) == (0, helpers.pseudohash(bits, [message])[0])


@given(bit_strings(), st.integers(0, 1100))
@PATIENT
def test_pseudoxof_equals_the_model(iccs, message, bits):
    assert iccs.hash("pseudoXOF", bits, message) == (0, helpers.pseudoxof(bits, [message])[0])


@given(bit_strings(), st.sampled_from([("sm3hash", 256), ("pseudohash", 1024), ("pseudoXOF", 300)]))
@PATIENT
def test_spare_bits_do_not_count(iccs, message, function):
    name, bits = function
    clean = Bits(helpers.clip(message), message.count)
    assert iccs.hash(name, bits, message) == iccs.hash(name, bits, clean)


def test_every_length_around_two_blocks(iccs):
    text = bytes(range(256))
    messages = [Bits(text, count) for count in range(1025)]
    assert [iccs.hash("sm3hash", 256, message)[1] for message in messages] == helpers.sm3_in_lanes(messages)


@given(st.binary(max_size=150), st.lists(st.integers(0, 1100), max_size=6))
@PATIENT
def test_the_random_source_equals_the_model(iccs, seed, lengths_bits):
    drawn(iccs, seed, lengths_bits)


@given(st.binary(min_size=165, max_size=165), st.integers(0, 600))
@PATIENT
def test_the_random_source_goes_on_from_any_state(iccs, start, bits):
    state, model = iccs.state(start), Drng.restored(start)
    assert iccs.draw(state, bits) == model.get(bits)
    assert iccs.state_bytes(state) == model.state()


@given(st.binary(max_size=200))
@PATIENT
def test_the_model_agrees_with_openssl(text):
    if not helpers.HAVE_OPENSSL_SM3:
        pytest.skip("this Python's OpenSSL has no SM3")
    assert helpers.sm3_in_lanes([whole(text)]) == [hashlib.new("sm3", text).digest()]


# ---------------------------------------------------------------------------------------------------- details


@pytest.mark.parametrize(("name", "bits"), [("sm3hash", 256), ("pseudohash", 1024), ("pseudoXOF", 1021)])
def test_the_output_may_overlap_the_message(iccs, name, bits):
    text = bytes(range(200))
    buffer = iccs.ffi.new("unsigned char[]", text)
    assert getattr(iccs.lib, name)(bits, buffer, 1599, buffer) == 0
    size = (bits + 7) // 8
    assert bytes(buffer)[:size] == iccs.hash(name, bits, Bits(text, 1599))[1]
    assert bytes(buffer)[size:200] == text[size:]


@pytest.mark.parametrize(
    ("name", "bits"), [("sm3hash", 512), ("sm3hash", -256), ("pseudohash", 256), ("pseudohash", 0)]
)
def test_a_refused_length_writes_nothing_and_says_so(iccs, capfd, name, bits):
    out = iccs.ffi.new("unsigned char[]", b"\x5a" * 128)
    assert getattr(iccs.lib, name)(bits, b"abc", 24, out) == -4
    assert bytes(out)[:128] == b"\x5a" * 128
    printed = capfd.readouterr()
    assert printed.err.startswith("ERROR: ")
    assert printed.err.count("\n") == 1
    assert printed.out == ""


def test_an_output_without_memory_is_an_error(iccs, capfd):
    out = iccs.ffi.new("unsigned char[]", b"\x5a" * 32)
    assert iccs.lib.pseudoXOF(1 << 63, b"abc", 24, out) == -2
    assert bytes(out)[:32] == b"\x5a" * 32
    assert capfd.readouterr().err.startswith("ERROR: ")


LENGTHS_BYTES = [2**29 - 1, 2**29, 2**29 + 64, 2**30, 2**37 - 1, 2**38 - 1, 2**38, 2**60 + 2**29 + 5]


@pytest.mark.parametrize("total_bytes", LENGTHS_BYTES)
@pytest.mark.parametrize("tail_bits", [0, 3])
def test_long_messages_lose_nine_bits_of_their_length(tmp_path, total_bytes, tail_bits):
    """Nothing is absorbed, only the length is set, so the last block is the whole input of the compression."""
    ffi = cffi.FFI()
    ffi.cdef("void hook_finish(unsigned long long, unsigned char, unsigned int, unsigned char *);")
    hook = ffi.dlopen(str(compiled(tmp_path / "hook.so", [UNITS / "sm3_hook.c"])))
    digest = ffi.new("unsigned char[32]")
    hook.hook_finish(total_bytes, 0xA0 if tail_bits else 0, tail_bits, digest)
    first = bytes([0xB0 if tail_bits else 0x80])
    encoded = (8 * total_bytes + tail_bits) & 0xFFFFFE00FFFFFFFF
    block = first + bytes(55) + encoded.to_bytes(8, "big")
    initial = helpers.np.array(helpers.INITIAL, dtype=helpers.np.uint32).reshape(8, 1)
    assert bytes(digest) == helpers.compressed(initial, [block])[:, 0].astype(">u4").tobytes()


@pytest.mark.slow
def test_standard_sm3_ends_at_512_mebibytes(iccs):
    if not helpers.HAVE_OPENSSL_SM3:
        pytest.skip("this Python's OpenSSL has no SM3")
    text = bytes(2**29)
    for size, is_standard in ((2**29 - 1, True), (2**29, False)):
        ours = iccs.hash("sm3hash", 256, Bits(text, 8 * size))[1]
        assert (ours == hashlib.new("sm3", memoryview(text)[:size]).digest()) == is_standard


# ------------------------------------------------------------------------------------------------- what is exported


def exported(file: Path) -> set[str]:
    listed = subprocess.run(["nm", "-g", "--defined-only", file], check=True, capture_output=True, text=True).stdout
    return {line.split()[-1] for line in listed.splitlines() if line}


def object_of(source: Path, folder: Path, *words: str) -> Path:
    output = folder / f"{source.stem}.o"
    subprocess.run(["gcc", *STRICT_C99, *words, "-c", source, "-o", output], check=True)
    return output


def test_each_object_exports_its_own_functions_only(tmp_path):
    auxfunc, drng = (object_of(source, tmp_path) for source in HELPERS)
    assert exported(auxfunc) == {"sm3hash", "pseudohash", "pseudoXOF"}
    assert exported(drng) == {"init_random_number", "get_random_number"}
    assert exported(object_of(SHIM, tmp_path)) == {"drng_algorithm", "katalog_seed", "katalog_random"}


@pytest.mark.parametrize("source", [*HELPERS, SHIM], ids=lambda source: source.name)
@pytest.mark.parametrize("flags", ["-Wshadow -Wconversion -Wstrict-prototypes", "-O3 -mtune=native -flto", "-Os -flto"])
def test_no_warning_with_any_flags(tmp_path, source, flags):
    object_of(source, tmp_path, *flags.split())


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_headers_serve_cpp(tmp_path):
    use = "int use(DRNG_ctx *d) { return get_random_number(d, 0, 0) + sm3hash(0, 0, 0, 0); }"
    text = f'#include "auxfunc.h"\n#include "drng.h"\n{use}\n'
    source = tmp_path / "use.cpp"
    source.write_text(text, encoding="utf-8")
    words = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{CSRC / 'iccs'}"]
    output = compiled_cpp(tmp_path / "use.o", source, *words)
    assert {"get_random_number", "sm3hash"} <= undefined(output)


def compiled_cpp(output: Path, source: Path, *words: str) -> Path:
    subprocess.run(["g++", *words, "-c", source, "-o", output], check=True)
    return output


def undefined(file: Path) -> set[str]:
    listed = subprocess.run(["nm", "-u", file], check=True, capture_output=True, text=True).stdout
    return {line.split()[-1] for line in listed.splitlines() if line}


# ------------------------------------------------------------------------------------------------------- the shim


def test_the_shim_seeds_and_draws_from_drng_algorithm(iccs):
    assert iccs.ffi.sizeof("DRNG_ctx") == 165
    seed = bytes(range(48))
    out = iccs.ffi.new("unsigned char[100]")
    iccs.lib.katalog_seed(seed, len(seed))
    model = Drng.seeded(seed)
    assert iccs.state_bytes(iccs.ffi.addressof(iccs.lib, "drng_algorithm")) == model.state()
    iccs.lib.katalog_random(out, 100)
    assert bytes(out) == model.get(800)
    iccs.lib.get_random_number(iccs.ffi.addressof(iccs.lib, "drng_algorithm"), out, 13)
    assert bytes(out)[:2] == model.get(13)


def test_libraries_in_one_process_keep_their_own_state(tmp_path):
    """All export the same names; each must be bound to its own."""
    first, second = (Library(compiled(tmp_path / f"{name}.so", [*HELPERS, SHIM])) for name in ("first", "second"))
    first.seed(b"one")
    second.seed(b"two")
    for library, seed in ((first, b"one"), (second, b"two")):
        out = library.ffi.new("unsigned char[32]")
        library.lib.katalog_random(out, 32)
        assert bytes(out) == Drng.seeded(seed).get(256)


OWN_DRNG = """
#include "drng.h"
int init_random_number(DRNG_ctx *drng, const unsigned char *seed, unsigned long long seed_len_bytes)
{
	(void)seed;
	drng->V[0] = (unsigned char)seed_len_bytes;
	return 0;
}
int get_random_number(DRNG_ctx *drng, unsigned char *random_number, unsigned long long random_number_len_bits)
{
	for (unsigned long long i = 0; i < random_number_len_bits / 8; i++)
		random_number[i] = drng->V[0];
	return 0;
}
"""


def test_a_submission_may_bring_its_own_random_source(tmp_path):
    own = tmp_path / "drng.c"
    own.write_text(OWN_DRNG, encoding="utf-8")
    library = Library(compiled(tmp_path / "own.so", [HELPERS[0], own, SHIM]))
    out = library.ffi.new("unsigned char[8]")
    library.seed(b"seven b")
    library.lib.katalog_random(out, 8)
    assert bytes(out) == b"\x07" * 8


# ------------------------------------------------------------------------------------------ sanitizers, other targets


class Target(NamedTuple):
    """How the helpers are compiled into a program, and what runs it."""

    name: str
    compiler: str
    flags: str
    runner: tuple[str, ...] = ()


SANITIZE = "-g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
TARGETS = [
    Target("sanitizers", "gcc", SANITIZE),
    Target("performance", "gcc", "-O3 -mtune=native -flto -fomit-frame-pointer"),
    Target("resource", "gcc", "-Os -flto -fomit-frame-pointer"),
    Target("aarch64", "aarch64-linux-gnu-gcc", "-O2 -static", ("qemu-aarch64-static",)),
]


def requests() -> Iterator[tuple[str, str]]:
    """Yield all vectors as lines for the program, and what it must answer."""
    words = {"sm3hash": "hash", "pseudohash": "mac", "pseudoXOF": "xof"}
    for name, vector in HASH_VECTORS:
        line = (
            f"{words[name]} {vector['output_len_bits']} {vector['msg_len_bits']} {data_of(vector['msg']).hex() or '-'}"
        )
        yield line, f"{vector['rc']} {vector['output_hex']}"
    for vector in VECTORS["drng"]:
        if "seed" in vector:
            model = Drng.seeded(data_of(vector["seed"]))
            yield f"init {data_of(vector['seed']).hex() or '-'}", f"0 {vector['state_after_init_hex']}"
        else:
            model = Drng.restored(bytes.fromhex(vector["state_hex"]))
            yield f"load {vector['state_hex']}", f"0 {vector['state_hex']}"
        for call in vector["calls"]:
            model.get(call["bits"])
            yield f"draw {call['bits']}", f"0 {call['output_hex']}{model.state().hex()}"


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_the_vectors_as_a_program(tmp_path, target):
    for tool in (target.compiler, *target.runner):
        if shutil.which(tool) is None:
            pytest.skip(f"needs {tool}")
    program = tmp_path / "helper_stream"
    sources = [UNITS / "helper_stream.c", *HELPERS]
    words = ["-std=c99", "-Wpedantic", "-Wall", "-Wextra", "-Werror", *target.flags.split()]
    subprocess.run([target.compiler, *words, *sources, "-o", program], check=True)
    lines, answers = zip(*requests(), strict=True)
    done = subprocess.run(
        [*target.runner, program], input="\n".join(lines), capture_output=True, text=True, check=False
    )
    assert "ERROR: Addr" not in done.stderr
    assert "runtime error" not in done.stderr
    assert done.returncode == 0
    assert [line.rstrip() for line in done.stdout.splitlines()] == [line.rstrip() for line in answers]


# ----------------------------------------------------------------------------------------------- the checker itself


def test_the_canonical_text_is_that_of_the_description():
    assert kat.canonical("a = 1\r\n\n  \nMsg = \nlast \t") == "a = 1\nMsg =\nlast\n"
    assert kat.canonical_sha256("Msg = \n") == hashlib.sha256(b"Msg =\n").hexdigest()
