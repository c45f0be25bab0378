"""Calls of helpers that no wrapper sees, in small libraries that have them in every way we know of."""

import shutil
import subprocess
from pathlib import Path

import pytest

from measure.errors import BuildError
from measure.share.escapes import COMPILE_FLAGS, LINK_FLAGS, escapes

CROSS = "aarch64-linux-gnu-gcc"
HELPERS = ("sm3hash", "pseudohash")
DECLARED = "int sm3hash(int); int pseudohash(int);\n"
SM3HASH = "int sm3hash(int n) { return n * n + 1; }\n"
PSEUDOHASH = "int pseudohash(int n) { return sm3hash(n) + sm3hash(n + 1); }\n"
WRAPPERS = """
int __real_sm3hash(int) __attribute__((weak));
int __real_pseudohash(int) __attribute__((weak));
int __wrap_sm3hash(int n) { return __real_sm3hash(n); }
int __wrap_pseudohash(int n) { return __real_pseudohash(n); }
"""
CALLER = DECLARED + "int sig_sign(int n) { return sm3hash(n) + pseudohash(n); }\n"

CASES = {
    "helpers in a file of their own": ((CALLER, DECLARED + SM3HASH + PSEUDOHASH), []),
    "each helper in its own file": ((CALLER, DECLARED + SM3HASH, DECLARED + PSEUDOHASH), []),
    "all in one file": (
        (CALLER + SM3HASH + PSEUDOHASH,),
        ["sig_sign calls pseudohash", "sig_sign calls sm3hash"],
    ),
    "one of two in the caller's file": (
        (CALLER + SM3HASH, DECLARED + PSEUDOHASH),
        ["sig_sign calls sm3hash"],
    ),
    "by way of a static function": (
        (DECLARED + SM3HASH + "static __attribute__((noinline)) int deep(int n) { return sm3hash(n) ^ n; }\n"
         "int sig_sign(int n) { return deep(n) + deep(n + 1); }\n",),
        ["deep calls sm3hash"],
    ),
    "by way of another file": (
        ("int deep(int);\nint sig_sign(int n) { return deep(n); }\n",
         DECLARED + SM3HASH + "int deep(int n) { return sm3hash(n) ^ n; }\n"),
        ["deep calls sm3hash"],
    ),
    "a helper's own inner function": (
        (CALLER, DECLARED + SM3HASH + "int inner(int n) { return sm3hash(n) + 1; }\n"
         "int pseudohash(int n) { return inner(n) + inner(n + 1); }\n"),
        [],
    ),
    "from what the interface never reaches": (
        (CALLER, DECLARED + SM3HASH + PSEUDOHASH + "int self_test(void) { return sm3hash(3); }\n"),
        [],
    ),
    "a static copy": (
        ("static __attribute__((noinline)) int sm3hash(int n) { return n * n; }\n"
         "int sig_sign(int n) { return sm3hash(n) + 1; }\n",),
        ["sig_sign calls sm3hash"],
    ),
    "a static copy that the compiler inlines": (
        ("static int sm3hash(int n) { return n * n; }\nint sig_sign(int n) { return sm3hash(n) + 1; }\n",),
        ["sig_sign has inlined sm3hash"],
    ),
    "by a table of functions": (
        (DECLARED + SM3HASH + "int (*table[2])(int) = {sm3hash};\n"
         "int sig_sign(int n) { return table[n & 1](n); }\n",),
        ["a table of functions holds sm3hash"],
    ),
    "through a table of callers": (
        (DECLARED + SM3HASH + "static int deep(int n) { return sm3hash(n) ^ n; }\nint (*table[])(int) = {deep};\n"
         "int sig_sign(int n) { return table[n & 0](n); }\n",),
        ["deep calls sm3hash"],
    ),
    "no helper at all": (("int sig_sign(int n) { return n; }\n",), []),
}  # fmt: skip


def linked(folder: Path, sources: tuple[str, ...], compiler: str, level: str) -> Path:
    files = []
    for number, text in enumerate((*sources, WRAPPERS)):
        files.append(folder / f"{number}.c")
        files[-1].write_text(text)
    wrap = [f"-Wl,--wrap={name}" for name in HELPERS]
    library = folder / "library.so"
    words = [level, "-fPIC", *COMPILE_FLAGS, "-shared", *LINK_FLAGS, *wrap, "-Wl,--no-undefined"]
    subprocess.run([compiler, *words, *files, "-o", library], check=True)
    return library


@pytest.mark.parametrize("compiler", ["gcc", CROSS])
@pytest.mark.parametrize("level", ["-O2", "-O3"])
@pytest.mark.parametrize("case", CASES)
def test_what_escapes(tmp_path: Path, case: str, level: str, compiler: str) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"needs {compiler}")
    sources, expected = CASES[case]
    found = escapes(linked(tmp_path, sources, compiler, level), HELPERS)
    assert sorted(str(escape) for escape in found) == expected


def test_the_compilers_clones_of_a_helper_are_the_helper(tmp_path: Path) -> None:
    text = (
        DECLARED
        + "int state;\n__attribute__((noinline, noipa)) int deep(int n) { return n; }\n"
        + 'int sm3hash(int n) { return deep(n); }\nextern int clone(int) __asm__("sm3hash.constprop.0");\n'
        + "int clone(int n) { return deep(n + 1); }\nint sig_sign(int n) { return clone(n); }\n"
    )
    found = escapes(linked(tmp_path, (text,), "gcc", "-O2"), HELPERS)
    assert [str(escape) for escape in found] == ["sig_sign calls sm3hash.constprop.0"]


def test_what_is_no_library(tmp_path: Path) -> None:
    file = tmp_path / "library.so"
    file.write_bytes(b"no ELF")
    with pytest.raises(BuildError, match=r"library\.so: not a readable ELF library"):
        escapes(file, HELPERS)
