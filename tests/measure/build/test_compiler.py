"""Objects are kept where nothing changed, and never where anything did; other languages, libraries and tools."""

import ctypes
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from evidence.catalog import Candidate, Instance, Source
from evidence.types import FlagSet
from measure.build import compiler
from measure.build.flags import cxx_flags
from measure.build.library import BuildJob, build, build_with
from measure.confine import sandbox
from measure.source.fetch import Fetched

REPOSITORY = Path(__file__).resolve().parents[3]
HASH = """
#include "%s"
int CryptHash(int bits, const unsigned char *m, unsigned long long n, unsigned char *d) { (void)m, (void)n; d[0] = %s;
return bits != DIGEST_BIT_LENGTH; }
"""


@pytest.fixture
def compiled(monkeypatch):
    """Note what is compiled; return a function that tells, and forgets."""
    seen: list[str] = []
    run = sandbox.run

    def noting(words, *rest, **options):
        if "-c" in words:
            seen.append(Path(words[words.index("-c") + 1]).name)
        return run(words, *rest, **options)

    monkeypatch.setattr(sandbox, "run", noting)

    def tell() -> list[str]:
        names = sorted(seen)
        seen.clear()
        return names

    return tell


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
                # Long ago, as files of a download are.
                os.utime(file, (1_000_000_000, 1_000_000_000))
        instance = msgspec.convert({"label": "toy", "dir": "Übung"} | recipe, Instance)
        candidate = Candidate(id="hash-toy", algorithm="Toy", source=Source(path="x"), instances=(instance,))
        fetched = Fetched(root, "path: x", None)
        return BuildJob(candidate, instance, fetched, REPOSITORY / "csrc", tmp_path / "out", objects=tmp_path / "kept")

    return make


@pytest.fixture(autouse=True)
def no_clock_tick(monkeypatch):
    """Files that a test has just written are taken for settled."""
    monkeypatch.setattr(compiler, "CLOCK_TICK_NS", 0)


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


def test_a_second_build_compiles_nothing_and_gives_the_same_library(submission, compiled):
    job = submission(FILES)
    first = build(job)
    assert first.library, first.reason
    assert {"h.c", "more.c", "drng.c", "random_iccs.c", "metadata.c"} == set(compiled())
    assert build(job).library_sha256 == first.library_sha256
    assert compiled() == []
    assert build(job._replace(objects=None)).library_sha256 == first.library_sha256
    assert len(compiled()) == 5
    assert "kept object" in (job.out / build(job).log).read_text()


def test_only_what_changed_is_compiled_again(submission, compiled):
    assert digest_of(submission(FILES)) == 1
    compiled()
    assert digest_of(submission(FILES | {"h.c": HASH % ("Renamed-128.h", "2")})) == 2
    assert compiled() == ["h.c"]
    build(submission(FILES | {"Renamed-128.h": FILES["Renamed-128.h"] + "extern int new;\n"}))
    assert compiled() == ["h.c"]


def test_other_defines_flags_and_variants_are_other_objects(submission, compiled):
    build(submission(FILES))
    compiled()
    build(submission(FILES, defines=("A=1",)))
    assert compiled() == ["h.c", "more.c"]
    build(submission(FILES, variant="performance"))
    assert len(compiled()) == 5
    build_with(submission(FILES), FlagSet.HARNESS_DEFAULT)
    assert len(compiled()) == 5


@pytest.mark.parametrize(
    "reader",
    [
        'extern const unsigned char blob[]; __asm__(".data\\nblob: .inc" "bin \\"blob.bin\\"\\n.text\\n");\n',
        "#define JOIN(a, b) a##b\nextern const unsigned char blob[];\n"
        'JOIN(as, m)(".data\\nblob: .incbin \\"blob.bin\\"\\n.text\\n");\n',
    ],
)
def test_an_object_that_reads_files_behind_the_preprocessors_back_follows_them(submission, compiled, reader):
    source = "typedef int x;\n" + reader + HASH % ("Renamed-128.h", "blob[0]")
    changed = FILES | {"h.c": source, "blob.bin": "\x05"}
    flags = {"defines": ("asm=__asm__",)}
    assert digest_of(submission(changed, **flags)) == 5
    assert digest_of(submission(changed | {"blob.bin": "\x06"}, **flags)) == 6


def test_assembly_that_includes_files_follows_them(submission):
    text = '.globl value\n.data\nvalue: .include "value.txt"\n.section .note.GNU-stack,"",@progbits\n'
    source = "extern const unsigned char value;\n" + HASH % ("Renamed-128.h", "value")
    for ending in ("s", "S"):
        files = FILES | {"h.c": source, f"v.{ending}": text, "value.txt": ".byte 7\n"}
        other = {} if ending == "s" else {"exclude": ("Übung/v.s",)}
        assert digest_of(submission(files, **other)) == 7
        assert digest_of(submission(files | {"value.txt": ".byte 8\n"}, **other)) == 8


def test_a_new_header_that_comes_first_is_noticed(submission):
    files = FILES | {"include/value.h": "#define V 3\n", "h.c": '#include "value.h"\n' + HASH % ("Renamed-128.h", "V")}
    assert digest_of(submission(files)) == 3
    assert digest_of(submission(files | {"value.h": "#define V 4\n"})) == 4


def test_a_damaged_object_is_compiled_anew(submission, compiled, tmp_path):
    first = build(submission(FILES))
    compiled()
    for number, file in enumerate(sorted((tmp_path / "kept").iterdir())):
        content = file.read_bytes()
        file.write_bytes(content[:-9] if number % 2 else content[:-1] + bytes((content[-1] ^ 1,)))
    assert build(submission(FILES)).library_sha256 == first.library_sha256
    assert len(compiled()) == 5


def test_a_file_that_changes_while_it_is_compiled_is_not_kept(submission, compiled, monkeypatch):
    monkeypatch.setattr(compiler, "CLOCK_TICK_NS", 10**18)
    build(submission(FILES))
    build(submission(FILES))
    assert len(compiled()) == 10


def test_a_store_that_cannot_be_written_costs_time_only(submission, tmp_path):
    (tmp_path / "kept").write_text("a file")
    assert digest_of(submission(FILES)) == 1


@pytest.mark.slow
def test_a_hundred_instances_build_on_all_cores_and_a_second_time_nothing_is_compiled(submission, compiled):
    first = submission(
        FILES | {f"part{n}.c": f"int part{n}(int x);\nint part{n}(int x) {{ return x + {n}; }}\n" for n in range(8)}
    )
    jobs = []
    for number in range(100):
        folder = first.fetched.folder / f"X-{number}"
        shutil.copytree(first.fetched.folder / "Übung", folder)
        (folder / "params.h").write_text(f"#define N {number}\n")
        source = '#include "params.h"\n' + HASH % ("Renamed-128.h", "N")
        (folder / "h.c").write_text(source)
        instance = msgspec.structs.replace(first.instance, label=f"X-{number}", dir=f"X-{number}")
        jobs.append(first._replace(instance=instance))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        cold = [built.library_sha256 for built in pool.map(build, jobs)]
        names = compiled()
        # Copies of one file are one object, though two builds may come to the first of them at once.
        assert names.count("h.c") == names.count("metadata.c") == 100
        assert len(names) <= 2 * 100 + 11 * (os.cpu_count() or 1)
        assert [built.library_sha256 for built in pool.map(build, jobs)] == cold
    assert compiled() == []
    assert len(set(cold)) == 100
    (first.fetched.folder / "X-7/params.h").write_text("#define N 777\n")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        warm = [built.library_sha256 for built in pool.map(build, jobs)]
    assert compiled() == ["h.c"]
    assert [number for number in range(100) if warm[number] != cold[number]] == [7]


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
    from_kept = build(submission(files)).sources_sha256
    only = build(submission(files, sources=("Übung/h.c", "Übung/primality_test.c"))).sources_sha256
    assert from_kept == only


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
