"""A build is a function of its inputs: the same bytes in any folder on any day, and a reason where it fails."""

import ctypes
import json
import platform
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from evidence.types import FlagSet
from measure.build import library as building
from measure.build.flags import build_flags
from measure.build.library import Built, build, build_with
from measure.errors import BuildError, ToolMissingError
from measure.source.fetch import file_sha256, sources_sha256
from measure.source.select import select


def text_of(job, built: Built, function: str) -> str:
    """Call a function without arguments that returns a string."""
    call = getattr(ctypes.CDLL(str(job.out / built.library)), function)
    call.restype = ctypes.c_char_p
    return call().decode()


def test_a_build_states_its_flags_digests_sizes_and_relative_paths(toy):
    job = toy()
    built = build(job)
    library = job.out / "kem-toy/lib/libtoy.so"
    assert built.library == "kem-toy/lib/libtoy.so"
    assert built.library_sha256 == file_sha256(library)
    assert built.sources_sha256 == sources_sha256(job.fetched.folder.glob("*.c"), job.fetched.folder)
    assert (built.flags, built.reason) == (FlagSet.GUIDE, None)
    assert built.build_flags == build_flags(FlagSet.GUIDE, "reference", platform.machine())
    assert built.compiler == f"gcc {subprocess.check_output(['gcc', '-dumpfullversion'], text=True).strip()}"
    assert built.elf_load_bytes > built.text_bytes > 1000
    assert (job.out / built.log).read_text().startswith("compiler = gcc")
    assert not list((job.out / "kem-toy").glob(".build-*"))


def test_a_result_survives_its_way_through_a_file(toy):
    built = build(toy())
    assert msgspec.json.decode(msgspec.json.encode(built), type=Built) == built


def test_a_library_says_which_candidate_instance_and_flags_it_is(toy):
    job = toy(name='Toy "one"')
    built = build(job)
    assert text_of(job, built, "katalog_candidate") == "kem-toy"
    assert text_of(job, built, "katalog_instance") == 'Toy "one"'
    assert text_of(job, built, "katalog_build_flags") == built.build_flags


@pytest.mark.parametrize("variant", ["reference", "performance", "resource"])
def test_folder_and_day_do_not_change_the_library(toy, variant, tmp_path):
    first = toy(folder="one", variant=variant)
    second = toy(folder="a much longer name/two", variant=variant)._replace(out=tmp_path / "elsewhere/out")
    digests = {build(first).library_sha256, build(second).library_sha256, build(first).library_sha256}
    assert len(digests) == 1
    assert None not in digests
    assert text_of(second, build(second), "toy_where") == "where.c"


def test_builds_at_the_same_time_do_not_meet(toy):
    jobs = [toy(label=f"toy{number}", defines=(f"TOY_FAULT={number}",)) for number in range(6)]
    with ThreadPoolExecutor(3) as pool:
        together = list(pool.map(build, jobs))
    assert [built.library_sha256 for built in together] == [build(job).library_sha256 for job in jobs]


def test_old_c_that_only_the_tolerant_flags_accept_is_built_with_them_and_says_why(toy):
    job = toy(folder="old")
    (job.fetched.folder / "old.c").write_text("int old(void);\nint old(void) { typeof(1) asm_ = 1; return asm_; }\n")
    built = build(job)
    assert built.flags is FlagSet.HARNESS_DEFAULT
    assert built.library
    assert built.build_flags.startswith("-std=gnu11 -O2 -fno-strict-aliasing")
    assert built.reason.startswith("the guide's flags do not build: old.c: ")
    assert "error: " in built.reason
    assert "error: " in (job.out / "kem-toy/build/lib-toy-guide.log").read_text()
    assert built.log == "kem-toy/build/lib-toy-harness-default.log"


def test_a_refusal_has_the_first_error_line_and_no_absolute_path(toy):
    job = toy(folder="broken")
    (job.fetched.folder / "bad.c").write_text('#error "not today"\nint x = y;\n')
    built = build(job)
    assert built.library is None
    assert built.reason == 'bad.c: bad.c:1:2: error: #error "not today"'
    log = (job.out / built.log).read_text()
    assert "not today" in log
    assert str(job.out.parent) not in log
    assert not (job.out / "kem-toy/lib/libtoy.so").exists()


def test_a_failed_build_leaves_no_older_library_behind(toy):
    job = toy(folder="changing")
    assert build(job).library
    (job.fetched.folder / "bad.c").write_text("#error\n")
    build(job)
    assert not (job.out / "kem-toy/lib/libtoy.so").exists()


def test_a_missing_function_is_found_when_linking(toy):
    job = toy(folder="unlinked")
    (job.fetched.folder / "u.c").write_text("int nowhere(void);\nint u(void);\nint u(void) { return nowhere(); }\n")
    built = build(job)
    assert built.library is None
    assert built.reason.startswith("link: ")
    assert "undefined reference to `nowhere'" in built.reason
    assert str(job.out.parent) not in built.reason


def test_a_compiler_that_says_too_much_is_cut(toy, monkeypatch):
    monkeypatch.setattr(building, "LOG_LIMIT_CHARACTERS", 500)
    job = toy(folder="loud")
    (job.fetched.folder / "loud.c").write_text("".join(f'#warning "{number}"\n' for number in range(99)) + "int l;")
    log = (job.out / build(job).log).read_text()
    assert len(log) == 511
    assert log.endswith("[cut here]\n")


def test_globs_take_spaces_in_paths_and_leave_out_what_is_excluded(toy):
    folder = toy(folder="globbed").fetched.folder
    (folder / "Reference Implementation").mkdir()
    for name in ("b.c", "a.c", "KAT_main.c", "note.txt"):
        (folder / "Reference Implementation" / name).write_text("")
    instance = toy(
        folder="globbed", sources=("where.c", "Reference Implementation/*.c"), exclude=("*/KAT_*.c",)
    ).instance
    found = [path.relative_to(folder).as_posix() for path in select(instance, folder).sources]
    assert found == ["Reference Implementation/a.c", "Reference Implementation/b.c", "where.c"]


def test_sources_below_a_folder_with_spaces_are_built(toy):
    job = toy(folder="spaced", dir="in here", sources=("in here/*.c",))
    shutil.copytree(job.fetched.folder, job.fetched.folder / "in here")
    assert build(job).library


@pytest.mark.parametrize(("key", "globs"), [("sources", ("*.c", "nothing/*.c")), ("exclude", ("nothing/*.c",))])
def test_a_glob_that_matches_nothing_is_named(toy, key, globs):
    with pytest.raises(BuildError, match=rf"toy: {key}: 'nothing/\*\.c' matches no file"):
        build(toy(**{key: globs}))


def test_a_recipe_that_excludes_everything_is_refused(toy):
    with pytest.raises(BuildError, match="exclude leaves no source file"):
        build(toy(exclude=("*.c",)))


def test_an_unknown_variant_is_refused(toy):
    with pytest.raises(BuildError, match="'fastest' has no flags"):
        build(toy(variant="fastest"))


def test_without_a_compiler_the_message_says_what_to_install(toy, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ToolMissingError, match=r"C compiler gcc is not installed; .*apt install gcc"):
        build(toy())


def test_without_prlimit_the_message_says_what_to_install(toy, monkeypatch, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/gcc").symlink_to(Path(shutil.which("gcc")).resolve())
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(ToolMissingError, match="install util-linux"):
        build(toy())


def test_a_second_library_takes_extra_sources_and_link_flags(toy, tmp_path):
    (tmp_path / "wrap.c").write_text(
        "int __real_kem_keygen(void);\nint __wrap_kem_keygen(void);\nint __wrap_kem_keygen(void) { return 77; }\n"
    )
    (tmp_path / "call.c").write_text(
        "int kem_keygen(void);\nint called(void);\nint called(void) { return kem_keygen(); }\n"
    )
    job = toy()._replace(
        extra_sources=(tmp_path / "wrap.c", tmp_path / "call.c"), link_flags=("-Wl,--wrap=kem_keygen",), lib="profile"
    )
    built = build(job)
    assert built.library == "kem-toy/profile/libtoy.so"
    assert ctypes.CDLL(str(job.out / built.library)).called() == 77


def test_a_reason_given_to_a_rebuild_is_kept(toy):
    assert build_with(toy(), FlagSet.HARNESS_DEFAULT, reason="told so").reason == "told so"


@pytest.mark.parametrize("label", ["Kyber512", "mceliece348864", "SPHINCS+-sha2-128f-simple", "Falcon-512"])
def test_real_sources_build_the_same_twice(catalog, real, label, tmp_path):
    owner = next(c.id for c in catalog.candidates.values() for i in c.instances if i.label == label)
    job = real(owner, label)
    first = build(job)
    second = build(job._replace(out=tmp_path / "again"))
    assert first.library_sha256 == second.library_sha256
    assert json.loads(msgspec.json.encode(first)) == json.loads(msgspec.json.encode(second))
