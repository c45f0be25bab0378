"""The writer: changed files only, all or nothing, and nothing that is not its own."""

from pathlib import Path

import pytest

from render.write import LEDGER, Counts, Writer


def _run(out: Path, files: dict[str, str], *, check: bool = False) -> tuple[Counts, list[str]]:
    with Writer(out, check=check) as writer:
        for path, text in files.items():
            writer.offer(path, text)
        return writer.commit(), writer.changed


def _tree(folder: Path) -> dict[str, str]:
    return {f.relative_to(folder).as_posix(): f.read_text() for f in sorted(folder.rglob("*")) if f.is_file()}


def test_only_changed_files_are_written(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    assert _run(out, {"a.md": "1", "b/c.md": "2"})[0] == Counts(2, 0, 0)
    before = (out / "a.md").stat().st_mtime_ns
    assert _run(out, {"a.md": "1", "b/c.md": "3"}) == (Counts(1, 1, 0), ["b/c.md"])
    assert (out / "a.md").stat().st_mtime_ns == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["deep"]


def test_stale_files_go_with_their_folders_and_others_stay(tmp_path: Path) -> None:
    _run(tmp_path, {"a.md": "1", "old/x.md": "2", "mixed/y.md": "3"})
    (tmp_path / "mixed" / "mine.txt").write_text("by hand")
    assert _run(tmp_path, {"a.md": "1"})[0] == Counts(0, 1, 2)
    assert sorted(_tree(tmp_path)) == [LEDGER, "a.md", "mixed/mine.txt"]
    assert not (tmp_path / "old").exists()


def test_a_file_that_others_made_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "index.md").write_text("by hand")
    with pytest.raises(FileExistsError, match="not made by katalog"):
        _run(tmp_path, {"a.md": "1", "index.md": "2"})
    assert _tree(tmp_path) == {"index.md": "by hand"}


def test_a_ledger_that_leads_out_of_the_folder_is_not_believed(tmp_path: Path) -> None:
    out, outside = tmp_path / "out", tmp_path / "precious.txt"
    outside.write_text("keep")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "x.md").write_text("keep")
    out.mkdir()
    (out / "link").symlink_to(tmp_path / "elsewhere")
    (out / LEDGER).write_text(f"../precious.txt\n{outside}\nlink/x.md\n\n.\n")
    _run(out, {"a.md": "1"})
    assert outside.read_text() == "keep"
    assert (tmp_path / "elsewhere" / "x.md").read_text() == "keep"


def test_nothing_is_written_when_the_run_fails(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with Writer(out) as writer:
        writer.offer("a.md", "1")  # and no commit, as when an exception comes between
    assert list(tmp_path.iterdir()) == []


def test_checking_writes_nothing_and_names_what_would_change(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert _run(out, {"a.md": "1"}, check=True)[1] == ["a.md"]
    assert not out.exists()
    _run(out, {"a.md": "1", "b.md": "2"})
    before = _tree(out)
    counts, changed = _run(out, {"a.md": "1"}, check=True)
    assert (counts, changed) == (Counts(0, 1, 1), [])
    assert _tree(out) == before


def test_a_copy_is_made_again_only_when_the_source_changed(tmp_path: Path) -> None:
    source, out = tmp_path / "source.json", tmp_path / "out"
    source.write_text("one")
    for expected in (Counts(1, 0, 0), Counts(0, 1, 0)):
        with Writer(out) as writer:
            writer.offer_copy("data/source.json", source)
            assert writer.commit() == expected
    source.write_text("two")
    with Writer(out) as writer:
        writer.offer_copy("data/source.json", source)
        assert writer.commit() == Counts(1, 0, 0)
    assert (out / "data" / "source.json").read_text() == "two"
