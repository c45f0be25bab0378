"""The bundled candidates: known answers by C and model, helper calls in closed form, honest and dishonest inputs."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.csrc.model import kat, library, ring, winternitz
from tests.csrc.model.helpers import Drng
from tests.csrc.model.library import CANDIDATES, CSRC, DATA, STRICT_C99, Out, Recipe, State, WrongCodeError

RECIPES = {recipe.name: recipe for recipe in library.recipes()}
ANSWERS = library.stored_answers()
QUICK = [(name, kind) for name, recipe in RECIPES.items() for kind in kat.TEXTS[recipe.family] if kind != "KAT_Loop"]
UNITS = Path(__file__).resolve().parent / "units"
COUNTED = ("get_random_number", "pseudoXOF", "pseudohash", "sm3hash")
# Under load, and while the first example compiles, no deadline would hold.
PATIENT = settings(deadline=None)
FEW = settings(deadline=None, max_examples=30)
SEEDS = st.binary(min_size=64, max_size=64)
MESSAGES = st.binary(max_size=200)
SETS = {bits: f"sign-winternitz/Winternitz-W{1 << bits}" for bits in (2, 4, 8)}
Schemes = Callable[[str], Any]


def of_family(family: str) -> list[str]:
    return [name for name, recipe in RECIPES.items() if recipe.family == family]


@pytest.fixture(scope="session")
def c_scheme(tmp_path_factory: pytest.TempPathFactory) -> Schemes:
    """Build and open a bundled instance by its name, once."""
    folder, opened = tmp_path_factory.mktemp("candidates"), {}

    def make(name: str) -> Any:
        if name not in opened:
            opened[name] = library.scheme(RECIPES[name], library.build(RECIPES[name], folder))
        return opened[name]

    return make


# -------------------------------------------------------------------------------------------------- known answers


def stored(name: str, kind: str) -> dict[str, Any]:
    return next(entry for entry in ANSWERS[name]["kat"] if entry["file"].startswith(kind))


def test_every_bundled_instance_has_its_answers():
    for name, recipe in RECIPES.items():
        kinds = kat.TEXTS[recipe.family]
        entries = [stored(name, kind) for kind in kinds]
        assert ANSWERS[name] == library.described(recipe, entries)
        assert [entry["file"] for entry in entries] == [f"{kind}_{recipe.instance}.txt" for kind in kinds]
    assert set(ANSWERS) == set(RECIPES)


@pytest.mark.parametrize(("name", "kind"), QUICK)
def test_the_library_gives_the_stored_answer(c_scheme, name, kind):
    text = kat.TEXTS[RECIPES[name].family][kind](c_scheme(name))
    assert library.answer(kind, RECIPES[name], text) == stored(name, kind)


@pytest.mark.parametrize(("name", "kind"), QUICK)
def test_the_model_gives_the_stored_answer(name, kind):
    recipe = RECIPES[name]
    text = kat.TEXTS[recipe.family][kind](recipe.model)
    assert library.answer(kind, recipe, text) == stored(name, kind)


@pytest.mark.parametrize("name", of_family("hash"))
def test_the_loop_goes_the_same_way_in_library_and_model(c_scheme, name):
    assert kat.hash_loop_text(c_scheme(name), 100) == kat.hash_loop_text(RECIPES[name].model, 100)


@pytest.mark.slow
def test_the_library_gives_the_stored_answer_of_a_whole_loop(c_scheme):
    name = "hash-iccs/sm3hash-256"
    text = kat.hash_loop_text(c_scheme(name))
    assert library.answer("KAT_Loop", RECIPES[name], text) == stored(name, "KAT_Loop")


@pytest.mark.parametrize("name", [SETS[4], "kem-ring/Ring-128", "kex-ephemeral/Ephemeral-128"])
def test_one_flipped_bit_changes_the_digest(name):
    recipe = RECIPES[name]
    ((kind, text_of),) = kat.TEXTS[recipe.family].items()
    text = text_of(recipe.model)
    digit = text.rindex("\n\n") - 1
    flipped = text[:digit] + f"{int(text[digit], 16) ^ 1:X}" + text[digit + 1 :]
    assert kat.canonical_sha256(flipped) != stored(name, kind)["canonical_sha256"]


# --------------------------------------------------------------------------------------- the form of a submission


@pytest.mark.parametrize("name", RECIPES)
def test_a_header_names_its_instance(tmp_path, name):
    recipe = RECIPES[name]
    macros = macros_of(CANDIDATES / recipe.header, recipe)
    expanded = re.sub(r'"\s*"', "", macros["ALGORITHM_INSTANCE"])
    assert expanded == f'"{recipe.instance}"'
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", recipe.instance)
    assert macros["OUTPUT_BLANK_TEST_VECTORS"] == "0"
    assert macros.get("DIGEST_BIT_LENGTH") == (recipe.instance.split("-")[1] if recipe.family == "hash" else None)


def macros_of(header: Path, recipe: Recipe) -> dict[str, str]:
    """Return the macros of section 2.5 as the preprocessor expands them."""
    names = ("ALGORITHM_INSTANCE", "OUTPUT_BLANK_TEST_VECTORS", "DIGEST_BIT_LENGTH")
    text = f'#include "{header}"\n' + "".join(f"#ifdef {name}\nMACRO_{name[:3]} {name}\n#endif\n" for name in names)
    words = ["gcc", *(f"-D{define}" for define in recipe.defines), "-E", "-P", "-"]
    done = subprocess.run(words, input=text, check=True, capture_output=True, text=True)
    lines = dict(line.split(" ", 1) for line in done.stdout.splitlines() if line.startswith("MACRO_"))
    return {name: lines[f"MACRO_{name[:3]}"] for name in names if f"MACRO_{name[:3]}" in lines}


INTERFACES = {"sign": "iccs_sig.h", "kem": "iccs_kem.h", "kex": "iccs_kex.h", "hash": "iccs_hash.h"}


@pytest.mark.parametrize("family", INTERFACES)
def test_a_header_declares_what_the_interface_declares(tmp_path, family):
    """Two declarations of one function in one file must agree."""
    recipe = RECIPES[of_family(family)[0]]
    source = tmp_path / "both.c"
    headers = (CANDIDATES / recipe.header, CSRC / "iccs" / INTERFACES[family])
    source.write_text("".join(f'#include "{header}"\n' for header in headers), encoding="utf-8")
    options = [f"-D{define}" for define in recipe.defines]
    subprocess.run(["gcc", *STRICT_C99, *options, "-c", source, "-o", tmp_path / "both.o"], check=True)


@pytest.mark.parametrize("family", INTERFACES)
def test_no_parameter_set_is_taken_by_default(family):
    recipe = RECIPES[of_family(family)[0]]
    words = ["gcc", "-fsyntax-only", CANDIDATES / recipe.header]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    assert done.returncode != 0
    assert "error: #error" in done.stderr
    assert "-D" in done.stderr


@pytest.mark.parametrize("family", INTERFACES)
@pytest.mark.parametrize("flags", ["-O3 -march=x86-64 -mavx2 -flto", "-Os -flto", "-O2 -Wshadow"])
def test_no_warning_with_any_flags(tmp_path, family, flags):
    if "march" in flags and os.uname().machine != "x86_64":
        pytest.skip("flags of another architecture")
    library.build(RECIPES[of_family(family)[0]], tmp_path, *flags.split())


SANITIZED = """
import sys
from tests.csrc.model import kat, library
recipe = next(recipe for recipe in library.recipes() if recipe.name == sys.argv[1])
(kind, text_of), *_ = kat.TEXTS[recipe.family].items()
print(kat.canonical_sha256(text_of(library.scheme(recipe, sys.argv[2]))))
"""
OVERFLOWING = """
import sys
from tests.csrc.model import library
ffi, lib = library.opened(sys.argv[2])
lib.katalog_random(ffi.new("unsigned char[64]"), 65)
"""


def run_sanitized(script: str, name: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a script with a sanitized library, in a process whose allocator shows the borders of every object."""
    built = library.build(RECIPES[name], folder, "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    found = subprocess.run(["gcc", "-print-file-name=libasan.so"], check=True, capture_output=True, text=True)
    # Leaks at the end are the interpreter's.
    env = {**os.environ, "LD_PRELOAD": found.stdout.strip(), "ASAN_OPTIONS": "detect_leaks=0", "PYTHONMALLOC": "malloc"}
    words = [sys.executable, "-c", script, name, str(built)]
    return subprocess.run(words, env=env, cwd=library.ROOT, check=False, capture_output=True, text=True)


def test_the_sanitizer_sees_one_byte_too_many(tmp_path):
    done = run_sanitized(OVERFLOWING, SETS[2], tmp_path)
    assert done.returncode != 0
    assert "AddressSanitizer: heap-buffer-overflow" in done.stderr


@pytest.mark.parametrize(
    "name", [SETS[2], "kem-ring/Ring-256", "kex-ephemeral/Ephemeral-256", "hash-iccs/pseudohash-1024"]
)
def test_candidates_are_clean_under_sanitizers(tmp_path, name):
    done = run_sanitized(SANITIZED, name, tmp_path)
    assert done.stderr == ""
    assert done.stdout.strip() == ANSWERS[name]["kat"][0]["canonical_sha256"]


# -------------------------------------------------------------------------------------------- calls in closed form


class Counting:
    """A bundled instance whose helper calls are counted."""

    def __init__(self, recipe: Recipe, folder: Path):
        wrapped = "-Wl," + ",".join(f"--wrap={name}" for name in COUNTED)
        path = library.build(recipe, folder, wrapped, extra=[UNITS / "count_helpers.c"])
        self.scheme = library.FAMILIES[recipe.family](
            path, "".join(f"extern unsigned long long {n}_calls;" for n in COUNTED)
        )
        self.before = self.totals()

    def totals(self) -> dict[str, int]:
        return {name: getattr(self.scheme.lib, f"{name}_calls") for name in COUNTED}

    def since(self) -> dict[str, int]:
        """Return the calls since the last question."""
        before, self.before = self.before, self.totals()
        return {name: self.before[name] - before[name] for name in COUNTED}


@pytest.fixture(scope="session")
def counting(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Counting]:
    folder, opened = tmp_path_factory.mktemp("counting"), {}

    def make(name: str) -> Counting:
        if name not in opened:
            opened[name] = Counting(RECIPES[name], folder)
        return opened[name]

    return make


@pytest.mark.parametrize("digit_bits", SETS)
@given(seed=SEEDS, m=MESSAGES)
@FEW
def test_winternitz_calls_equal_the_closed_form(counting, digit_bits, seed, m):
    counted, model = counting(SETS[digit_bits]), winternitz.Winternitz(digit_bits)
    scheme, observed = counted.scheme, {}
    scheme.seed(seed)
    counted.since()
    pk, sk = scheme.keygen()
    observed["keygen"] = counted.since()
    sn = scheme.sign(sk, m)
    observed["sign"] = counted.since()
    assert scheme.verify_code(pk, sn, m) == 0
    observed["verify"] = counted.since()
    expected = winternitz.calls(model, model.digits(model.digest(sn[:32], pk[:32], m)))
    assert observed == expected
    assert observed["sign"]["pseudoXOF"] + observed["verify"]["pseudoXOF"] == observed["keygen"]["pseudoXOF"]


@pytest.mark.parametrize("digit_bits", SETS)
def test_the_header_states_the_parameters(digit_bits):
    header = (CANDIDATES / "winternitz" / "SIG_AlgorithmInstance.h").read_text(encoding="utf-8")
    scheme = winternitz.Winternitz(digit_bits)
    digits, checksum_digits = 512 // digit_bits, winternitz.CHECKSUM_DIGITS[digit_bits]
    row = [digit_bits, scheme.w, digits, checksum_digits, scheme.chains, scheme.chains * (scheme.w - 1)]
    assert re.search(r"\* +" + " +".join(map(str, row)) + "\n", header)
    assert scheme.w ** (checksum_digits - 1) <= digits * (scheme.w - 1) < scheme.w**checksum_digits


@given(digest=st.one_of(st.binary(min_size=64, max_size=64), st.sampled_from([bytes(64), b"\xff" * 64])))
@PATIENT
def test_digits_sum_to_what_the_header_says(digest):
    for digit_bits in SETS:
        scheme = winternitz.Winternitz(digit_bits)
        digits, count = scheme.digits(digest), 512 // digit_bits
        total = checksum = sum(digits[:count])
        checksum = count * (scheme.w - 1) - checksum
        while checksum:
            total, checksum = total + checksum % scheme.w, checksum // scheme.w
        assert sum(digits) == total


def row(*numbers: int) -> dict[str, int]:
    return dict(zip(COUNTED, numbers, strict=True))


def calls_table(header: Path) -> dict[str, dict[str, int]]:
    """Read the table of calls in a header: a name and a number for each helper."""
    pattern = re.compile(r"^ \* {5}(\w[\w ]*?) {2,}(\d+) +(\d+) +(\d+) +(\d+)$", re.MULTILINE)
    return {name: row(*map(int, numbers)) for name, *numbers in pattern.findall(header.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("name", of_family("kem"))
def test_kem_calls_equal_the_header(counting, name):
    counted = counting(name)
    scheme, observed = counted.scheme, {}
    scheme.seed(b"calls")
    counted.since()
    pk, sk = scheme.keygen()
    observed["keygen"] = counted.since()
    _, ct = scheme.enc(pk)
    observed["enc"] = counted.since()
    scheme.dec(sk, ct)
    observed["dec"] = counted.since()
    assert observed == calls_table(CANDIDATES / "ephemeral" / "ring_kem.h")


@pytest.mark.parametrize("name", of_family("kex"))
def test_kex_calls_equal_the_header(counting, name):
    counted = counting(name)
    counted.scheme.seed(b"calls")
    counted.since()
    *_, sta = counted.scheme.init("a")
    observed = {"init_a": counted.since()}
    *_, stb = counted.scheme.init("b")
    observed["init_b"] = counted.since()
    _, sta, m1 = counted.scheme.generate(1, NO_KEYS, b"", sta)
    observed["pass 1"] = counted.since()
    _, stb, m2 = counted.scheme.generate(2, NO_KEYS, m1, stb)
    observed["pass 2"] = counted.since()
    counted.scheme.derive("a", NO_KEYS, m2, sta)
    observed["derive_a"] = counted.since()
    counted.scheme.derive("b", NO_KEYS, m1, stb)
    observed["derive_b"] = counted.since()
    observed["together"] = {name: sum(step[name] for step in observed.values()) for name in COUNTED}
    assert observed == calls_table(CANDIDATES / "ephemeral" / "KEX_AlgorithmInstance.h")


# ------------------------------------------------------------------------------------------------------ signatures


def flipped(data: bytes, bit: int) -> bytes:
    at = bit % (8 * len(data))
    return data[: at // 8] + bytes([data[at // 8] ^ 0x80 >> at % 8]) + data[at // 8 + 1 :]


@pytest.mark.parametrize("digit_bits", SETS)
@given(seed=SEEDS, m=st.binary(min_size=1, max_size=100), bit=st.integers(0, 10**6))
@FEW
def test_only_the_honest_signature_is_valid(c_scheme, digit_bits, seed, m, bit):
    scheme = c_scheme(SETS[digit_bits])
    scheme.seed(seed)
    pk, sk = scheme.keygen()
    sn = scheme.sign(sk, m)
    assert scheme.verify_code(pk, sn, m) == 0
    assert scheme.verify_code(pk, flipped(sn, bit), m) == -1
    assert scheme.verify_code(pk, sn, flipped(m, bit)) == -1
    assert scheme.verify_code(flipped(pk, bit), sn, m) == -1
    assert winternitz.Winternitz(digit_bits).verify(pk, sn, m)


@given(m=MESSAGES)
@FEW
def test_any_message_length_is_signed(c_scheme, m):
    scheme = c_scheme(SETS[4])
    scheme.seed(b"any")
    pk, sk = scheme.keygen()
    assert scheme.verify_code(pk, scheme.sign(sk, m), m) == 0


def test_wrong_lengths_are_refused(c_scheme):
    scheme = c_scheme(SETS[4])
    scheme.seed(b"lengths")
    pk, sk = scheme.keygen()
    sn = scheme.sign(sk, b"m")
    assert scheme.verify_code(pk, sn[:-1], b"m") == -1
    assert scheme.verify_code(pk[:-1], sn, b"m") == -3
    assert scheme.call("sig_sign", sk[:-1], b"m", scheme.size("sig_get_sn"))[0] == -3


# --------------------------------------------------------------------------------- key encapsulation and exchange


@pytest.mark.parametrize("name", of_family("kem"))
@given(seed=SEEDS, bit=st.integers(0, 10**6))
@PATIENT
def test_both_secrets_are_equal_and_a_wrong_ciphertext_gives_another(c_scheme, name, seed, bit):
    scheme, model = c_scheme(name), RECIPES[name].model
    scheme.seed(seed)
    pk, sk = scheme.keygen()
    ss, ct = scheme.enc(pk)
    assert scheme.dec(sk, ct) == ss
    wrong = flipped(ct, bit)
    assert scheme.dec(sk, wrong) == model.dec(sk, wrong) != ss


@pytest.mark.parametrize("n", [128, 256])
def test_the_encapsulation_cannot_fail(n):
    """The error is e r + e2 - e1 s of coefficients from -1 to 1; a bit flips from a quarter of the modulus on."""
    assert n + 1 + n < ring.Q // 4


def test_kem_refuses_wrong_lengths(c_scheme):
    scheme = c_scheme("kem-ring/Ring-128")
    scheme.seed(b"lengths")
    pk, sk = scheme.keygen()
    ss, ct = scheme.size("kem_get_ss"), scheme.size("kem_get_ct")
    assert scheme.call("kem_enc", pk[:-1], ss, ct)[0] == -2
    assert scheme.call("kem_dec", sk, bytes(ct.size - 1), ss)[0] == -2
    assert scheme.call("kem_dec", sk[:-1], bytes(ct.size), ss)[0] == -2


NO_KEYS = (b"", b"")


@pytest.mark.parametrize("name", of_family("kex"))
@given(seed=SEEDS)
@PATIENT
def test_the_exchange_gives_both_sides_the_model_s_secret(c_scheme, name, seed):
    scheme, model = c_scheme(name), RECIPES[name].model
    scheme.seed(seed)
    model.seed(seed)
    lines = [list(kat.exchange(one)) for one in (scheme, model)]
    assert lines[0] == lines[1]


def run_passes(scheme: Any) -> dict[str, bytes]:
    """Return the states after init and after the last pass, and both messages."""
    scheme.seed(b"passes")
    start_a, start_b = scheme.init("a")[2], scheme.init("b")[2]
    code1, sta, m1 = scheme.generate(1, NO_KEYS, b"", start_a)
    code2, stb, m2 = scheme.generate(2, NO_KEYS, m1, start_b)
    assert (code1, code2) == (0, 1)
    return {"start_a": start_a, "start_b": start_b, "a": sta, "b": stb, "m1": m1, "m2": m2}


@pytest.mark.parametrize("name", of_family("kex"))
def test_states_change_and_sizes_are_those_of_the_getters(c_scheme, name):
    scheme = c_scheme(name)
    seen = run_passes(scheme)
    assert len(seen["start_a"]) < len(seen["a"]) == scheme.size("kex_get_sta").size
    assert len(seen["start_b"]) < len(seen["b"]) == scheme.size("kex_get_stb").size
    assert not seen["b"].startswith(seen["start_b"])
    assert len(seen["m1"]) + len(seen["m2"]) == scheme.size("kex_get_total_msg").size


@given(bit=st.integers(0, 10**6))
@PATIENT
def test_a_tampered_answer_is_refused(c_scheme, bit):
    scheme = c_scheme("kex-ephemeral/Ephemeral-128")
    seen = run_passes(scheme)
    with pytest.raises(WrongCodeError, match=r"-1$"):
        scheme.derive("a", NO_KEYS, flipped(seen["m2"], bit), seen["a"])


@given(bit=st.integers(0, 10**6))
@PATIENT
def test_a_tampered_first_message_is_noticed(c_scheme, bit):
    scheme = c_scheme("kex-ephemeral/Ephemeral-128")
    seen = run_passes(scheme)
    tampered = scheme.generate(2, NO_KEYS, flipped(seen["m1"], bit), seen["start_b"])
    with pytest.raises(WrongCodeError, match=r"-1$"):
        scheme.derive("a", NO_KEYS, tampered.message, seen["a"])


def test_kex_refuses_a_wrong_length(c_scheme):
    scheme = c_scheme("kex-ephemeral/Ephemeral-128")
    seen = run_passes(scheme)
    state = State(seen["start_a"][:-1], scheme.size("kex_get_sta").size)
    assert scheme.call("kex_generate_pass1_msg_a", b"", b"", state, Out(len(seen["m1"])))[0] == -2
    assert scheme.generate(2, NO_KEYS, seen["m1"][:-1], seen["start_b"]).code == -2
    for side, message in (("a", seen["m2"][:-1]), ("b", seen["m1"][:-1])):
        with pytest.raises(WrongCodeError, match=r"-2$"):
            scheme.derive(side, NO_KEYS, message, seen[side])


# ------------------------------------------------------------------------------------------------------ the helpers


@pytest.mark.parametrize("name", of_family("hash"))
def test_a_hash_has_one_length_only(c_scheme, name):
    scheme = c_scheme(name)
    assert scheme.lib.CryptHash(scheme.digest_bits + 8, b"", 0, scheme.digest) == -4


def test_the_answers_name_their_origin_and_their_files():
    text = (DATA / "answers.json").read_text(encoding="utf-8")
    assert '"origin"' in text
    for entry in ANSWERS.values():
        for source in entry["sources"]:
            assert (CANDIDATES / source).is_file()


def test_the_first_record_s_seed_is_that_of_every_candidate():
    assert Drng.seeded(b"seed" * 16).get(512).hex().upper().startswith("927F06B594798A4DDFAA4F03F92AAAF0")
