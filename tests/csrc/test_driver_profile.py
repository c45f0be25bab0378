"""The command that counts helper calls, on the bundled one-time signature with its wrappers linked in."""

import subprocess
from pathlib import Path

import pytest

from measure.build import helpers

CSRC = Path(__file__).resolve().parents[2] / "csrc"
NAMES = ('-DKATALOG_CANDIDATE="sign-toy"', '-DKATALOG_INSTANCE="Toy"', '-DKATALOG_BUILD_FLAGS="-O2"')
SOURCES = (
    "candidates/winternitz/SIG_AlgorithmInstance.c",
    "iccs/auxfunc.c",
    "iccs/drng.c",
    "shim/random_iccs.c",
    "shim/metadata.c",
    "profile/profile.c",
)
KEYGEN = {"drng": 1, "pseudoXOF": 1 + 1965, "pseudohash": 1}  # the closed form for digits of four bits


def observed(ended) -> dict:
    assert (ended.status, ended.document["driver"]) == (0, 1), ended.document
    return ended.document


def failed(ended) -> tuple[int, str, str]:
    return ended.status, ended.document["error"]["kind"], ended.document["error"]["message"]


def profiled(folder: Path, compiler: str = "gcc") -> Path:
    """Compile the signature with wrappers around the helpers."""
    wanted = helpers.load_sets(CSRC)["iccs"]
    (folder / "wrappers.c").write_text(helpers.wrappers(wanted))
    flags = ("-std=c99", "-O2", "-fPIC", "-D_GNU_SOURCE", "-DWINTERNITZ_DIGIT_BITS=4", *NAMES)
    include = [f"-I{CSRC / name}" for name in ("iccs", "shim", "profile")]
    files = [*(CSRC / name for name in SOURCES), folder / "wrappers.c"]
    library = folder / "sign_profiled.so"
    words = [*flags, *include, "-shared", *helpers.link_flags(wanted), "-Wl,--no-undefined"]
    subprocess.run([compiler, *words, *files, "-o", library], check=True)
    return library


def profile_words(words, library: Path, operation: str, iterations: int, *more: str) -> list[str]:
    return ["profile", *words(library, operation, iterations, 1, *more)[1:]]


def calls(document: dict) -> dict[str, float]:
    sums: dict[str, float] = {}
    for row in document["calls"]:
        sums[row["fn"]] = sums.get(row["fn"], 0) + row["calls"] / document["operations"]
    return sums


@pytest.mark.parametrize("source", [None, "clock"])
def test_calls_and_ticks_are_counted_by_shape(driver, words, tmp_path, source):
    more = ("--counter", source) if source else ()
    document = observed(driver(*profile_words(words, profiled(tmp_path), "keygen", 5, *more)))
    assert calls(document) == KEYGEN
    assert (document["operations"], document["warmups"], document["merged_calls"]) == (5, 1, 0)
    assert document["tick_source"] in ({source} if source else {"tsc", "cntvct", "clock"})
    assert source is None or document["tick_hz"] == 10**9
    assert 0 < sum(row["ticks"] for row in document["calls"]) <= document["ticks"]
    assert 0 < document["wrapper_inside_ticks"] <= document["wrapper_cost_ticks"]
    shapes = {(row["fn"], row.get("in_bits"), row["out_bits"]) for row in document["calls"]}
    assert {("drng", None, 512), ("pseudoXOF", 536, 256), ("pseudoXOF", 256, 131 * 256)} <= shapes


def test_a_counter_that_the_wrappers_cannot_read(driver, words, tmp_path):
    ended = driver(*profile_words(words, profiled(tmp_path), "keygen", 1, "--counter", "perf-read"))
    if ended.document["error"]["message"].startswith("no usable counter"):
        pytest.skip("needs perf events")
    assert failed(ended) == (11, "counter", "the library's wrappers have no clock perf-read")


def test_a_library_without_wrappers(driver, words, toy):
    assert failed(driver(*profile_words(words, toy("sign_honest"), "sign", 1))) == (
        10, "library", "the library does not export katalog_profile_use",
    )  # fmt: skip


@pytest.mark.slow
def test_the_aarch64_driver_profiles_under_the_emulator(aarch64_driver, words, tmp_path):
    library = profiled(tmp_path, "aarch64-linux-gnu-gcc")
    document = observed(aarch64_driver(*profile_words(words, library, "keygen", 3)))
    assert calls(document) == KEYGEN
    assert document["emulated"] is True
    assert document["tick_source"] in {"cntvct", "clock"}  # an emulator's counter is not always steady
