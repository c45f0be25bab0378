"""Sources are what the catalog pinned, stay in their folder, and are fetched once."""

import hashlib
import io
import tarfile
import threading
from pathlib import Path

import pytest

from evidence.catalog import Source
from measure.errors import SourceError
from measure.source import fetch as sources
from measure.source.fetch import fetch, file_sha256, sources_sha256, unpack


def make_archive(file: Path, *members: tuple[str, bytes] | tarfile.TarInfo) -> str:
    """Write a tar.gz of files and special members; return its SHA-256."""
    with tarfile.open(file, "w:gz") as tar:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                tar.addfile(member)
            else:
                info = tarfile.TarInfo(member[0])
                info.size = len(member[1])
                tar.addfile(info, io.BytesIO(member[1]))
    return file_sha256(file)


def special(name: str, kind: bytes, linkname: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, linkname
    return info


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A package index of one project, as files; returns the digest of its sdist."""
    page = tmp_path / "simple" / "demo"
    page.mkdir(parents=True)
    digest = make_archive(page / "demo-1.2.tar.gz", ("demo-1.2/setup.py", b"raise SystemExit('never run')"))
    (page / "index.html").write_text('<a href="demo-1.2.tar.gz">demo-1.2.tar.gz</a>')
    monkeypatch.setenv("PIP_INDEX_URL", (tmp_path / "simple").as_uri())
    return digest


def test_an_sdist_is_unpacked_and_its_top_folder_returned(tmp_path, index):
    fetched = fetch(Source(pypi="demo==1.2", sha256=index), tmp_path / "cache", tmp_path)
    assert fetched == (tmp_path / "cache" / index / "demo-1.2", "pypi: demo==1.2", index)
    assert (fetched.folder / "setup.py").read_bytes().startswith(b"raise")


def test_a_second_fetch_needs_no_index(tmp_path, index, monkeypatch):
    source = Source(pypi="demo==1.2", sha256=index)
    first = fetch(source, tmp_path / "cache", tmp_path)
    monkeypatch.setenv("PIP_INDEX_URL", "https://127.0.0.1:1/simple")
    assert fetch(source, tmp_path / "cache", tmp_path) == first


def test_another_digest_is_refused_with_both_digests_the_place_and_the_remedy(tmp_path, index):
    with pytest.raises(SourceError) as refused:
        fetch(Source(pypi="demo==1.2", sha256="0" * 64), tmp_path / "cache", tmp_path)
    message = str(refused.value)
    assert "\n" not in message
    for part in ("0" * 64, index, "demo-1.2.tar.gz", "nothing was unpacked", "catalog"):
        assert part in message
    assert list((tmp_path / "cache").iterdir()) == []


def test_an_unknown_version_says_which_index_was_asked(tmp_path, index):
    with pytest.raises(SourceError, match=r"no sdist demo==9 on file://.*simple; check the network"):
        fetch(Source(pypi="demo==9", sha256=index), tmp_path / "cache", tmp_path)


def test_an_index_that_is_away_is_a_source_error(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", "https://127.0.0.1:1/simple")
    with pytest.raises(SourceError, match=r"127\.0\.0\.1"):
        fetch(Source(pypi="demo==1.2", sha256="0" * 64), tmp_path / "cache", tmp_path)


def test_a_requirement_that_pins_no_version_is_refused(tmp_path):
    with pytest.raises(SourceError, match="name==version"):
        fetch(Source(pypi="demo>=1", sha256="0" * 64), tmp_path / "cache", tmp_path)


def test_a_source_without_a_digest_is_refused(tmp_path):
    with pytest.raises(SourceError, match="no sha256 in the catalog"):
        fetch(Source(pypi="demo==1"), tmp_path / "cache", tmp_path)


def test_an_archive_file_is_found_relative_to_the_base(tmp_path):
    digest = make_archive(tmp_path / "two.tar.gz", ("a.c", b"1"), ("b/c.c", b"2"))
    fetched = fetch(Source(archive="two.tar.gz", sha256=digest), tmp_path / "cache", tmp_path)
    assert fetched == (tmp_path / "cache" / digest, "archive: two.tar.gz", digest)
    assert (fetched.folder / "b/c.c").read_bytes() == b"2"


def test_an_address_that_does_not_answer_is_a_source_error_without_password(tmp_path):
    source = Source(archive="http://me:secret@127.0.0.1:1/x.tar.gz", sha256="0" * 64)
    with pytest.raises(SourceError, match="cannot be fetched") as refused:
        fetch(source, tmp_path / "cache", tmp_path)
    assert "secret" not in str(refused.value)


def test_a_local_folder_has_no_digest_and_no_absolute_path_in_its_origin(tmp_path):
    (tmp_path / "mine").mkdir()
    assert fetch(Source(path="mine"), tmp_path / "cache", tmp_path) == (tmp_path / "mine", "path: mine", None)
    absolute = fetch(Source(path=str(tmp_path / "mine")), tmp_path / "cache", tmp_path)
    assert absolute.origin == "path: mine"


def test_a_missing_local_folder_or_file_is_named(tmp_path):
    with pytest.raises(SourceError, match="path: nowhere: no such folder"):
        fetch(Source(path="nowhere"), tmp_path / "cache", tmp_path)
    with pytest.raises(SourceError, match=r"archive: none\.tar: no such file"):
        fetch(Source(archive="none.tar", sha256="0" * 64), tmp_path / "cache", tmp_path)


@pytest.mark.parametrize(
    ("member", "fault"),
    [
        (("../out", b""), "outside its folder"),
        (("a/../../out", b""), "outside its folder"),
        (("/tmp/out", b""), "outside its folder"),
        (special("link", tarfile.SYMTYPE, "/etc/passwd"), "links to '/etc/passwd'"),
        (special("a/link", tarfile.SYMTYPE, "../../out"), r"links to '\.\./\.\./out'"),
        (special("link", tarfile.SYMTYPE, "a/../../out"), "links to"),
        (special("link", tarfile.LNKTYPE, "../out"), "links to"),
        (special("device", tarfile.CHRTYPE), "no file, folder or link"),
        (special("pipe", tarfile.FIFOTYPE), "no file, folder or link"),
    ],
)
def test_members_that_leave_their_folder_are_refused_and_nothing_is_kept(tmp_path, member, fault):
    digest = make_archive(tmp_path / "evil.tar.gz", ("good.c", b"1"), member)
    with pytest.raises(SourceError, match=fault):
        fetch(Source(archive="evil.tar.gz", sha256=digest), tmp_path / "cache", tmp_path)
    assert list((tmp_path / "cache").iterdir()) == []
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["a", "a/b"])
def test_a_member_written_through_a_link_is_refused(tmp_path, name):
    make_archive(tmp_path / "evil.tar.gz", special("a", tarfile.SYMTYPE, "c"), (name, b"1"))
    with pytest.raises(SourceError, match="through a link"):
        unpack(tmp_path / "evil.tar.gz", tmp_path / "out")


def test_links_inside_the_folder_are_kept(tmp_path):
    archive = tmp_path / "good.tar.gz"
    make_archive(
        archive, ("c/d", b"1"), special("a/b", tarfile.SYMTYPE, "../c/d"), special("e", tarfile.LNKTYPE, "c/d")
    )
    unpack(archive, tmp_path / "out")
    assert (tmp_path / "out/a/b").read_bytes() == (tmp_path / "out/e").read_bytes() == b"1"


def test_more_members_or_bytes_than_any_submission_has_are_refused(tmp_path, monkeypatch):
    make_archive(tmp_path / "big.tar.gz", ("a", b"123"), ("b", b"456"))
    monkeypatch.setattr(sources, "MEMBER_LIMIT", 1)
    with pytest.raises(SourceError, match="more than 1 members or too large"):
        unpack(tmp_path / "big.tar.gz", tmp_path / "one")
    monkeypatch.setattr(sources, "MEMBER_LIMIT", 9)
    monkeypatch.setattr(sources, "UNPACKED_LIMIT_BYTES", 5)
    with pytest.raises(SourceError, match="too large"):
        unpack(tmp_path / "big.tar.gz", tmp_path / "two")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no tar", b"\x1f\x8b\x08\x00cut"])
def test_what_is_no_tar_archive_is_refused_by_name(tmp_path, content):
    (tmp_path / "x.zip").write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    with pytest.raises(SourceError, match=r"x\.zip: cannot be unpacked"):
        fetch(Source(archive="x.zip", sha256=digest), tmp_path / "cache", tmp_path)


def test_fetches_at_the_same_time_agree(tmp_path):
    digest = make_archive(tmp_path / "many.tar.gz", *((f"top/{number}.c", b"x" * 100) for number in range(200)))
    source, results = Source(archive="many.tar.gz", sha256=digest), []
    threads = [
        threading.Thread(target=lambda: results.append(fetch(source, tmp_path / "cache", tmp_path))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8
    assert len(set(results)) == 1
    assert sorted(entry.name for entry in (tmp_path / "cache").iterdir()) == [digest, f"{digest}.tree"]
    assert len(list(results[0].folder.iterdir())) == 200


def test_digest_of_files_is_that_of_the_sorted_list(tmp_path):
    (tmp_path / "b c.c").write_bytes(b"two")
    (tmp_path / "a").mkdir()
    (tmp_path / "a/a.c").write_bytes(b"one")
    one, two = hashlib.sha256(b"one").hexdigest(), hashlib.sha256(b"two").hexdigest()
    lines = sorted([f"{one}  a/a.c\n", f"{two}  b c.c\n"])
    expected = hashlib.sha256("".join(lines).encode()).hexdigest()
    assert sources_sha256([tmp_path / "b c.c", tmp_path / "a/a.c"], tmp_path) == expected
