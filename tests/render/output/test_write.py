"""The writer: changed files only, all or nothing, and nothing that is not its own."""

import errno
from pathlib import Path

import pytest

from evidence import store
from render.output.write import LEDGER, Counts, Writer


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


def _offer_copy(out: Path, source: Path) -> Counts:
    with Writer(out) as writer:
        writer.offer_copy("data/source.json", source)
        return writer.commit()


@pytest.fixture(params=["link", "copy"])
def source(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an evidence file on a file system that allows a second name, and on one that does not."""
    if request.param == "copy":
        monkeypatch.setattr("os.link", _refuse)
    file = tmp_path / "source.json"
    store.write_atomically(file, b"one")
    return file


def _refuse(*_: object, **__: object) -> None:
    raise OSError(errno.EXDEV, "Invalid cross-device link")


def test_evidence_is_offered_again_only_when_it_was_replaced(source: Path, tmp_path: Path) -> None:
    served = tmp_path / "out" / "data" / "source.json"
    assert _offer_copy(tmp_path / "out", source) == Counts(1, 0, 0)
    assert _offer_copy(tmp_path / "out", source) == Counts(0, 1, 0)
    store.write_atomically(source, b"two")
    assert served.read_text() == "one"
    assert _offer_copy(tmp_path / "out", source) == Counts(1, 0, 0)
    assert served.read_text() == "two"


def test_removing_what_is_stale_leaves_the_evidence(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    _offer_copy(out, source)
    assert _run(out, {"a.md": "1"})[0] == Counts(1, 0, 1)
    assert not (out / "data").exists()
    assert source.read_text() == "one"


def test_a_page_that_takes_the_place_of_evidence_does_not_write_into_it(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    _offer_copy(out, source)
    assert _run(out, {"data/source.json": "a page"})[0] == Counts(1, 0, 0)
    assert source.read_text() == "one"


def test_a_second_name_is_given_where_the_file_system_allows_it(tmp_path: Path) -> None:
    source = tmp_path / "source.json"
    store.write_atomically(source, b"one")
    _offer_copy(tmp_path / "out", source)
    assert (tmp_path / "out" / "data" / "source.json").samefile(source)


def test_a_link_is_followed_and_never_offered_as_one(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text("one")
    source = tmp_path / "source.json"
    source.symlink_to("real.json")
    _offer_copy(tmp_path / "out", source)
    served = tmp_path / "out" / "data" / "source.json"
    assert (served.is_symlink(), served.read_text()) == (False, "one")
