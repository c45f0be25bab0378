"""One file to one object, the same bytes every time; other languages, libraries and tools."""

import ctypes
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from evidence.catalog import Candidate, Instance, Source
from evidence.types import FlagSet
from measure.build.flags import cxx_flags
from measure.build.library import BuildJob, build
from measure.source.fetch import Fetched

REPOSITORY = Path(__file__).resolve().parents[3]
HASH = """
#include "%s"
int CryptHash(int bits, const unsigned char *m, unsigned long long n, unsigned char *d) { (void)m, (void)n; d[0] = %s;
return bits != DIGEST_BIT_LENGTH; }
"""


@pytest.fixture
def submission(tmp_path):
    """Write a hash function's folder (content by path) and make its build job."""

    def make(files: dict[str, str], **recipe: object) -> BuildJob:
        root = tmp_path / "sub mission"
        for name, content in files.items():
            file = root / "Übung" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            if not file.exists() or file.read_text() != content:
                file.write_text(content)
        instance = msgspec.convert({"label": "toy", "dir": "Übung"} | recipe, Instance)
        candidate = Candidate(id="hash-toy", algorithm="Toy", source=Source(path="x"), instances=(instance,))
        fetched = Fetched(root, "path: x", None)
        return BuildJob(candidate, instance, fetched, REPOSITORY / "csrc", tmp_path / "out")

    return make


FILES = {
    "Renamed-128.h": "#define DIGEST_BIT_LENGTH (32*8)\n#include <stdio.h>\n",
    "h.c": HASH % ("Renamed-128.h", "1"),
    "more.c": "int more;\n",
}


def digest_of(job: BuildJob) -> int:
    built = build(job)
    assert built.library, built.reason
    out = ctypes.create_string_buffer(64)
    # Under a name of its own: a loader takes a path that it knows for the same library.
    copy = job.out / f"{built.library_sha256}.so"
    if not copy.exists():
        shutil.copy(job.out / built.library, copy)
    library = ctypes.CDLL(str(copy))
    assert library.CryptHash(library.katalog_digest_bits(), b"", ctypes.c_ulonglong(0), out) == 0
    return out.raw[0]


def test_a_second_build_gives_the_same_library_byte_for_byte(submission, tmp_path):
    job = submission(FILES)
    first = build(job)
    assert first.library, first.reason
    again = build(job._replace(out=tmp_path / "elsewhere"))
    assert (tmp_path / "elsewhere" / again.library).read_bytes() == (job.out / first.library).read_bytes()


def test_what_changed_is_in_the_library(submission):
    assert digest_of(submission(FILES)) == 1
    assert digest_of(submission(FILES | {"h.c": HASH % ("Renamed-128.h", "2")})) == 2
    files = FILES | {"include/value.h": "#define V 3\n", "h.c": '#include "value.h"\n' + HASH % ("Renamed-128.h", "V")}
    assert digest_of(submission(files)) == 3
    assert digest_of(submission(files | {"value.h": "#define V 4\n"})) == 4


@pytest.mark.slow
def test_a_hundred_instances_build_on_all_cores_as_one_by_one(submission):
    first = submission(FILES)
    jobs = []
    for number in range(100):
        folder = first.fetched.folder / f"X-{number}"
        shutil.copytree(first.fetched.folder / "Übung", folder)
        (folder / "params.h").write_text(f"#define N {number}\n")
        (folder / "h.c").write_text('#include "params.h"\n' + HASH % ("Renamed-128.h", "N"))
        instance = msgspec.structs.replace(first.instance, label=f"X-{number}", dir=f"X-{number}")
        jobs.append(first._replace(instance=instance))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        together = [built.library_sha256 for built in pool.map(build, jobs)]
    assert len(set(together)) == 100
    assert [build(job).library_sha256 for job in jobs[::25]] == together[::25]


CXX = """
#include <vector>
#include "Renamed-128.h"
extern "C" int half(int);
extern "C" int CryptHash(int bits, const unsigned char *, unsigned long long, unsigned char *d) {
	std::vector<unsigned char> v{static_cast<unsigned char>(half(18))}; auto f = [&] { return v.at(0); };
	d[0] = f(); return bits != DIGEST_BIT_LENGTH; }
"""


def test_cxx_and_c_and_assembly_make_one_library_and_the_record_says_how(submission):
    files = {
        "Renamed-128.h": FILES["Renamed-128.h"],
        "hash.cpp": CXX,
        "half.c": "int half(int);\nint half(int x) { for (int i = 0; i < 1; i++) x /= 2; return x; }\n",
        "nothing.S": '#ifdef __ELF__\n.section .note.GNU-stack,"",%progbits\n#endif\n',
    }
    for variant in ("reference", "performance"):
        job = submission(files, variant=variant)
        assert digest_of(job) == 9
        built = build(job)
        assert built.flags is FlagSet.GUIDE, built.reason
        assert "; C++ files: -std=c++17 in place of -std=c99" in built.build_flags
        assert "warning: command-line option" not in (job.out / built.log).read_text()


def test_flags_of_cxx_have_no_word_that_only_c_has():
    assert cxx_flags("-std=c99 -O2 -Wno-error=implicit-int -fPIC") == ("-std=c++17", "-O2", "-fPIC")
    assert cxx_flags("-std=gnu11 -O2")[0] == "-std=gnu++17"


def test_a_missing_cxx_compiler_is_that_instances_failure(submission, tmp_path, monkeypatch):
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("gcc", "prlimit", "as", "ld"):
        (tools / name).symlink_to(shutil.which(name))
    monkeypatch.setenv("PATH", str(tools))
    built = build(submission({"Renamed-128.h": FILES["Renamed-128.h"], "hash.cpp": CXX}))
    assert built.library is None
    assert built.reason == "Übung/hash.cpp: needs g++, which is not installed on this machine"


def test_libraries_of_the_system_are_linked_and_missing_ones_named(submission):
    files = FILES | {"z.c": "double cosh(double);\ndouble z(double);\ndouble z(double x) { return cosh(x); }\n"}
    assert digest_of(submission(files, libraries=("m",))) == 1
    reason = build(submission(files, libraries=("nowhere",))).reason
    assert reason.startswith("link: needs the library nowhere, which this machine does not have")


def test_a_missing_header_is_named(submission):
    reason = build(submission(FILES | {"g.c": "#include <nowhere/gmp.h>\n"})).reason
    assert "nowhere/gmp.h: No such file or directory" in reason
    assert reason.endswith("needs nowhere/gmp.h, which is neither in the submission nor on this machine")


def test_doubtful_files_are_linked_where_something_in_them_is_needed_and_drivers_never(submission):
    files = {
        "Renamed-128.h": FILES["Renamed-128.h"],
        "h.c": "int probable(void);\n" + HASH % ("Renamed-128.h", "(unsigned char)probable()"),
        "primality_test.c": "int probable(void);\nint probable(void) { return 21; }\n",
        "speed_print.c": "int CryptHash2;\n",
        "test_broken.c": "#error for another machine\n",
        "self.c": "int self;\n#ifndef LIBRARY\nint main(void) { return 0; }\n#endif\n",
        "KAT_CryptHash.c": "#error never looked at\n",
    }
    job = submission(files)
    assert digest_of(job) == 21
    log = (job.out / build(job).log).read_text()
    assert "== Übung/speed_print.c: left out: nothing in it is needed" in log
    assert "== Übung/test_broken.c: left out: " in log
    assert "== Übung/self.c: left out: defines main" in log
    assert "KAT_CryptHash" not in log
    doubtful = build(submission(files)).sources_sha256
    only = build(submission(files, sources=("Übung/h.c", "Übung/primality_test.c"))).sources_sha256
    assert doubtful == only


def test_a_file_named_like_an_option_is_a_file(submission):
    files = FILES | {"-fplugin=evil.c": "int option;\n", "@more.c": "int at;\n"}
    assert digest_of(submission(files)) == 1


def test_a_digest_length_is_read_where_the_function_is_or_from_the_recipe(submission):
    none = {"x.h": "", "h.c": (HASH % ("x.h", "1")).replace("DIGEST_BIT_LENGTH", "384")}
    assert build(submission(none)).reason == (
        "DIGEST_BIT_LENGTH is not defined where CryptHash is: give digest_bits in the recipe"
    )
    assert digest_of(submission(none, digest_bits=384)) == 1


def test_helpers_that_a_submission_lacks_are_ours_and_only_where_they_are_called(submission):
    files = FILES | {"h.c": '#include "auxfunc.h"\n' + HASH % ("Renamed-128.h", "1; sm3hash(256, m, n, d); d[0] = 1")}
    job = submission(files)
    assert "csrc/iccs/auxfunc.c" not in (job.out / build(submission(FILES)).log).read_text()
    assert digest_of(submission(files)) == 1
    assert "csrc/iccs/auxfunc.c" in (job.out / build(job).log).read_text()
    own = "int sm3hash(int a, const unsigned char *b, unsigned long long c, unsigned char *d)\n"
    own += "{ (void)a, (void)b, (void)c, (void)d; return 0; }\n"
    build(submission(files | {"own.c": '#include "auxfunc.h"\n' + own}))
    assert "csrc/iccs/auxfunc.c" not in (job.out / build(job).log).read_text()
