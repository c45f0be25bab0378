"""The table of helper functions, and the wrappers made from it."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cffi
import pytest

from measure.build.helpers import Helper, link_flags, load_sets, roles, wrappers
from measure.errors import BuildError

CSRC = Path(__file__).resolve().parents[3] / "csrc"
STRICT_C99 = ("-std=c99", "-Wpedantic", "-Wall", "-Wextra", "-Werror", "-O2", "-fPIC", "-D_GNU_SOURCE")
SHAPES, UNKNOWN = 512, 2**64 - 1
PROFILE = """
struct katalog_profile_row { const char *fn; unsigned long long in_bits, out_bits, calls, ticks; };
int katalog_profile_use(const char *tick_source);
void katalog_profile_start(void);
void katalog_profile_stop(void);
void katalog_profile_reset(void);
unsigned long katalog_profile_rows(const struct katalog_profile_row **rows);
unsigned long long katalog_profile_merged_calls(void);
void katalog_profile_call_empty(unsigned long calls, int wrapped);
int outer(int in_bits, int out_bits);
int inner(int in_bits);
int call_outer(int in_bits, int out_bits);
int call_inner(int in_bits);
"""
HELPERS = (
    Helper(call="int outer(int a0, int a1)", role="hash", in_bits="a0", out_bits="8 * a1"),
    Helper(call="int inner(int a0)", fn="random", role="drng", in_bits="a0"),
    Helper(call="void absent(void *a0, size_t a1)", role="hash"),
)
CALLERS = """
int outer(int, int);
int inner(int);
int call_outer(int, int);
int call_inner(int);
int call_outer(int in_bits, int out_bits) { return outer(in_bits, out_bits); }
int call_inner(int in_bits) { return inner(in_bits); }
"""
BODIES = {
    "outer": "int inner(int);\nint outer(int, int);\nint outer(int a, int b) { return inner(a) + inner(b); }\n",
    "inner": "int inner(int);\nint inner(int a) { return a + 1; }\n",
}


class Profile:
    """A small profiled library."""

    def __init__(self, library: Path) -> None:
        self.ffi = cffi.FFI()
        self.ffi.cdef(PROFILE)
        self.lib: Any = self.ffi.dlopen(str(library))

    def rows(self) -> dict[tuple[str, int, int], int]:
        """Return the calls by function and shape."""
        rows = self.ffi.new("const struct katalog_profile_row **")
        count = self.lib.katalog_profile_rows(rows)
        return {
            (self.ffi.string(row.fn).decode(), row.in_bits, row.out_bits): row.calls
            for row in (rows[0][i] for i in range(count))
        }


@pytest.fixture
def profile(tmp_path: Path) -> Iterator[Profile]:
    texts = {**BODIES, "callers": CALLERS, "wrappers": wrappers(HELPERS)}
    for name, text in texts.items():
        (tmp_path / f"{name}.c").write_text(text)
    files = [*(tmp_path / f"{name}.c" for name in texts), CSRC / "profile" / "profile.c"]
    library = tmp_path / "profiled.so"
    words = (*STRICT_C99, f"-I{CSRC / 'profile'}", "-shared", *link_flags(HELPERS), "-Wl,--no-undefined")
    subprocess.run(["gcc", *words, *files, "-o", library], check=True)
    made = Profile(library)
    assert made.lib.katalog_profile_use(b"clock") == 0
    yield made
    made.lib.katalog_profile_reset()


def test_only_what_happens_between_start_and_stop_counts(profile: Profile) -> None:
    profile.lib.call_inner(3)
    profile.lib.katalog_profile_start()
    profile.lib.call_inner(3)
    profile.lib.call_inner(5)
    profile.lib.call_inner(3)
    profile.lib.katalog_profile_stop()
    profile.lib.call_inner(3)
    assert profile.rows() == {("random", 3, UNKNOWN): 2, ("random", 5, UNKNOWN): 1}


def test_nested_calls_count_once_as_the_outermost(profile: Profile) -> None:
    profile.lib.katalog_profile_start()
    assert profile.lib.call_outer(7, 2) == 7 + 1 + 2 + 1
    profile.lib.call_inner(7)
    profile.lib.katalog_profile_stop()
    assert profile.rows() == {("outer", 7, 16): 1, ("random", 7, UNKNOWN): 1}


def test_a_full_table_loses_no_call_and_says_so(profile: Profile) -> None:
    profile.lib.katalog_profile_start()
    for bits in range(SHAPES + 100):
        profile.lib.call_outer(bits, 0)
    for _ in range(3):
        profile.lib.call_inner(1)
    profile.lib.call_outer(0, 0)
    profile.lib.katalog_profile_stop()
    rows = profile.rows()
    assert profile.lib.katalog_profile_merged_calls() == 103
    assert rows["outer", UNKNOWN, UNKNOWN] == 100
    assert rows["random", UNKNOWN, UNKNOWN] == 3
    assert rows["outer", 0, 0] == 2
    assert len(rows) == SHAPES + 2
    assert sum(rows.values()) == SHAPES + 100 + 3 + 1


def test_the_empty_function_counts_when_wrapped(profile: Profile) -> None:
    profile.lib.katalog_profile_start()
    profile.lib.katalog_profile_call_empty(10, 0)
    assert profile.rows() == {}
    profile.lib.katalog_profile_call_empty(10, 1)
    assert profile.rows() == {("empty", 0, 0): 10}


def test_a_clock_that_there_is_not(profile: Profile) -> None:
    assert profile.lib.katalog_profile_use(b"sundial") == -1


@pytest.mark.parametrize("name", ["iccs", "pqclean"])
def test_every_set_gives_strict_c(name: str, tmp_path: Path) -> None:
    source = tmp_path / "wrappers.c"
    source.write_text(wrappers(load_sets(CSRC)[name]))
    subprocess.run(["gcc", *STRICT_C99, f"-I{CSRC / 'profile'}", "-c", source, "-o", tmp_path / "out.o"], check=True)


def test_the_random_source_is_shown_as_drng() -> None:
    known = roles(load_sets(CSRC)["iccs"])
    assert known == {"sm3hash": "hash", "pseudohash": "hash", "pseudoXOF": "hash", "drng": "drng"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("iccs: [{call: sm3hash, role: hash}]", "'sm3hash' is no prototype such as"),
        ("iccs: [{call: 'int f(int a0)', role: cipher}]", "Invalid enum value 'cipher'"),
        ("iccs: [{call: 'int f(int a0)', role: hash, bits: 3}]", "unknown field `bits`"),
        ("iccs: {", "helpers.yaml: "),
    ],
)
def test_a_faulty_table_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "profile").mkdir()
    (tmp_path / "profile" / "helpers.yaml").write_text(text)
    with pytest.raises(BuildError, match=message):
        load_sets(tmp_path)
