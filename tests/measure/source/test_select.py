"""What belongs to an instance: all its sources but the drivers, whatever files and folders are called."""

import pytest

from evidence.catalog import Instance
from measure.errors import BuildError
from measure.source.select import NO_CODE, main_depth, select


@pytest.fixture
def chosen(tmp_path):
    """Write files (content by path) below an instance folder and return the names that are chosen and doubtful."""

    def make(files: dict[str, str], **recipe: object) -> tuple[list[str], list[str]]:
        folder = tmp_path / "Übung 1/X-128"
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(content)
        found = select(Instance(label="x", dir="Übung 1/X-128", **recipe), tmp_path)
        named = [[file.relative_to(folder).as_posix() for file in files] for files in (found.sources, found.doubtful)]
        make.include = [path.relative_to(folder).as_posix() for path in found.include]
        return named[0], named[1]

    return make


def test_every_language_is_taken_from_every_folder_with_any_name(chosen):
    names = ["a.c", "b b.cc", "c/ü.cpp", "d/e.cxx", "asm/k.S", "asm/l.s"]
    sources, doubtful = chosen(dict.fromkeys(names, "") | {"h.h": "", "readme.txt": "", "x.py": "", "c/i/j.hpp": ""})
    assert (sorted(sources), doubtful) == (sorted(names), [])
    assert chosen.include == [".", "c/i"]


@pytest.mark.parametrize(
    "text",
    [
        "int main(void)\n{ return 0; }",
        "int\nmain(int argc, char **argv) {",
        "main()\n{",
        "/* int f(void) { */ int main(int argc, char *argv[]) /* go */ {",
        "int main(argc, argv)\nint argc; char **argv;\n{",
    ],
)
def test_a_file_with_a_main_is_a_driver_under_any_name(chosen, text):
    assert chosen({"lib.c": "int f;", "run.c": text}) == (["lib.c"], [])


@pytest.mark.parametrize(
    "text",
    [
        "int main(void);",
        "// int main(void) {\nint f;",
        'char *s = "int main(void) {";',
        "static void domain(int x) { }",
        "int mainloop(void) { return main_loop(3); }",
    ],
)
def test_what_only_looks_like_a_main_is_none(text):
    assert main_depth(NO_CODE.sub(" ", text)) is None


def test_a_main_under_a_condition_and_a_drivers_name_leave_it_to_the_compiler(chosen):
    files = {
        "sign.c": "int s;",
        "self.c": "int t;\n#ifdef SELF_TEST\nint main(void) { return 0; }\n#endif\n",
        "primality_test.c": "int p;",
        "bench/cycles.c": "int b;",
        "speedTest.c": "int v;",
        "main.c": "int w;",
        "latest.c": "int l;",
        "polyspeed.c": "int y;",
    }
    sources, doubtful = chosen(files)
    assert sources == ["latest.c", "polyspeed.c", "sign.c"]
    assert doubtful == ["bench/cycles.c", "main.c", "primality_test.c", "self.c", "speedTest.c"]


def test_official_drivers_go_by_their_name(chosen):
    assert chosen({"s.c": "", "KAT_SIG.c": "int x;", "KAT_CryptHash.c": "", "PQCgenKAT_sign.c": ""}) == (["s.c"], [])


def test_a_source_that_another_includes_is_not_compiled_twice(chosen):
    files = {
        "all.c": '#include "part.c"\n#  include "sub/more.c"',
        "part.c": "",
        "sub/more.c": "",
        "x.h": '#include "t.c"',
    }
    assert chosen(files | {"t.c": "", "own.c": ""}) == (["all.c", "own.c"], [])


def test_hidden_files_and_links_elsewhere_are_not_looked_at(chosen, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other/o.c").write_text("")
    folder = tmp_path / "Übung 1/X-128"
    folder.mkdir(parents=True)
    (folder / "link.c").symlink_to(tmp_path / "other/o.c")
    (folder / "linked").symlink_to(tmp_path / "other")
    assert chosen({"a.c": "", ".git/b.c": "", ".c.c": ""}) == (["a.c"], [])


def test_lists_override_and_excluding_applies_to_both(chosen):
    files = {"a.c": "", "b.c": "", "KAT_a.c": "int main(void) {"}
    assert chosen(files, exclude=("Übung 1/*/b.c",)) == (["a.c"], [])
    assert chosen(files, sources=("Übung 1/*/[KA]*.c",)) == (["KAT_a.c"], [])


def test_headers_are_searched_where_the_recipe_says_or_where_they_lie(chosen):
    files = {"a.c": "", "include/x.h": "", "include/deep/y.h": "", "src/b.c": ""}
    chosen(files)
    assert chosen.include == [".", "include", "include/deep"]
    chosen(files, include=("Übung 1/X-128/src",))
    assert chosen.include == [".", "src"]


def test_a_folder_of_drivers_only_is_a_fault_of_the_recipe(chosen):
    with pytest.raises(BuildError, match="x: dir: 'Übung 1/X-128' holds no C, C\\+\\+ or assembly file but drivers"):
        chosen({"KAT_SIG.c": "int main(void) {"})
