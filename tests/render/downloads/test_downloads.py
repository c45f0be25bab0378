"""Downloads: the same bytes from the same evidence, figures unrounded, an index that tells the truth."""

import csv
import gzip
import hashlib
import io
import json
import os
import shutil
import tarfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pandas as pd
import pyarrow.parquet as pq
import pytest

from evidence.types import Change, ChangedFigure
from render import site
from render.downloads import archive, csvtext, feed, index
from render.downloads.index import SystemFiles
from render.look.table import Column, Piece, table

ATOM = "{http://www.w3.org/2005/Atom}"


def _csv(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


def test_the_index_lists_every_file_with_its_digest(pages: Path) -> None:
    downloads = pages / "downloads"
    told = json.loads((downloads / "index.json").read_text(encoding="utf-8"))
    files = [*told["files"], *(file for system in told["systems"] for file in system["files"])]
    assert {file["path"] for file in files} == {
        path.relative_to(downloads).as_posix()
        for path in downloads.rglob("*")
        if path.is_file() and path.name not in {"index.json", "index.md"}
    }
    for file in files:
        content = (downloads / file["path"]).read_bytes()
        assert (file["size_bytes"], file["sha256"]) == (len(content), hashlib.sha256(content).hexdigest())
        if file["format"] == "CSV":
            assert len(_csv(downloads / file["path"])) == file["rows"]
        if file["format"] == "JSON" and file["table"] != "sets":
            assert len(json.loads(content)) == file["rows"]


def test_every_kind_of_table_is_explained(pages: Path) -> None:
    told = json.loads((pages / "downloads" / "index.json").read_text(encoding="utf-8"))
    kinds = {file["table"] for system in told["systems"] for file in system["files"]} | {
        f["table"] for f in told["files"]
    }
    assert kinds == set(index.WHAT)


def test_csv_json_and_parquet_hold_the_same(pages: Path) -> None:
    folder = pages / "downloads" / "arm_1"
    as_csv = _csv(folder / "everything.csv")
    as_json = json.loads((folder / "everything.json").read_text(encoding="utf-8"))
    as_parquet = pq.read_table(folder / "everything.parquet").to_pylist()
    assert len(as_csv) == len(as_json) == len(as_parquet) == 33
    for one, two, three in zip(as_csv, as_json, as_parquet, strict=True):
        assert list(one) == list(two) == list(three)
        assert two == {key: value if value != [] or two[key] == [] else two[key] for key, value in three.items()}
        assert {key: value or None for key, value in one.items()} == {
            key: None
            if value in (None, [], "")
            else " ".join(map(str, value))
            if isinstance(value, list)
            else str(value)
            for key, value in two.items()
        }


def test_figures_are_unrounded_and_units_are_in_their_names(pages: Path) -> None:
    frame = pd.read_csv(pages / "downloads" / "arm_1" / "everything.csv")
    row = frame[(frame.label == "Origami-128") & (frame.operation == "sign")].iloc[0]
    assert row.mean_count == pytest.approx(816329094.8125, rel=1e-15)
    assert (row.strength_bits, row.counter_unit, row.kat) == (128, "cycles", "PASS")
    assert (row.public_key_bytes, row.signature_bytes) == (2996, 116)
    assert pd.isna(row.ciphertext_bytes)


def test_a_table_without_rows_has_its_head(pages: Path) -> None:
    text = (pages / "downloads" / "x86_1" / "notes.csv").read_text(encoding="utf-8")
    assert text == "kind,candidate,label,operation,input_bytes,counters\n"
    assert (pages / "downloads" / "x86_1" / "notes.json").read_text(encoding="utf-8") == "[]\n"


def test_a_ranking_has_a_row_for_each_metric(pages: Path) -> None:
    rows = _csv(pages / "downloads" / "arm_1" / "ranking.csv")
    ours = [row for row in rows if (row["strength_bits"], row["label"]) == ("128", "QingLuan-128")]
    assert [(row["metric"], row["metric_rank"]) for row in ours] == [
        ("sign", "1.0"),
        ("verify", "1.0"),
        ("public key", "2.0"),
        ("signature", "3.0"),
    ]
    assert {row["mean_rank"] for row in ours} == {"1.75"}


def test_the_archive_holds_the_evidence(pages: Path, committed: Path) -> None:
    with tarfile.open(pages / "downloads" / "arm_1" / "evidence.tar.gz") as packed:
        names = packed.getnames()
        assert names == sorted(names)
        for name in ("campaign.json", "MANIFEST.sha256", "records/sign-29/Tins128__verify.json"):
            content = packed.extractfile(f"arm_1/{name}")
            assert content is not None
            assert content.read() == (committed / "arm_1" / name).read_bytes()
    assert len(names) == sum(file.is_file() for file in (committed / "arm_1").rglob("*"))


def test_an_archive_depends_on_contents_alone(tmp_path: Path) -> None:
    made = []
    for number in (1, 2):
        folder = tmp_path / str(number)
        (folder / "deep").mkdir(parents=True)
        for name in ("b.json", "deep/a.log"):
            (folder / name).write_text(name)
            os.utime(folder / name, (number, number))
            (folder / name).chmod(0o600 + 4 * number)
        made.append(archive.make(folder, ["deep/a.log", "b.json"], "s", tmp_path / f"kept{number}").read_bytes())
    assert made[0] == made[1]
    assert gzip.decompress(made[0])


def test_an_archive_is_kept_until_a_file_changes(tmp_path: Path) -> None:
    folder, kept = tmp_path / "data", tmp_path / "kept"
    folder.mkdir()
    (folder / "a").write_text("one")
    first = archive.make(folder, ["a"], "s", kept)
    written = first.stat().st_mtime_ns
    assert archive.make(folder, ["a"], "s", kept).stat().st_mtime_ns == written
    (folder / "a").write_text("three")
    assert archive.make(folder, ["a"], "s", kept) != first
    assert len(list(kept.iterdir())) == 1


def test_a_page_s_table_gives_numbers_where_it_sorts_by_them() -> None:
    columns = (
        Column[float]("a name", lambda value: (Piece("set "), Piece(f"{value}", code=True))),
        Column[float]("cost", lambda value: f"{value:.0f} k", numeric=True, order=lambda value: value * 1000),
    )
    assert csvtext.rows_of_table(table("t", "", columns, [1.5])) == [{"a_name": "set 1.5", "cost": 1500}]


def test_rows_with_different_names_share_a_table() -> None:
    rows: list[dict[str, Any]] = [{"a": 1, "b": (1, 2)}, {"a": None, "c": 'x, "y"'}]
    assert csvtext.of_rows(rows) == 'a,b,c\n1,1 2,\n,,"x, ""y"""\n'
    assert json.loads(csvtext.json_of_rows(rows)) == [{"a": 1, "b": [1, 2]}, {"a": None, "c": 'x, "y"'}]


def test_the_feed_is_atom_and_dated_by_the_campaigns(pages: Path) -> None:
    root = ET.fromstring((pages / feed.PATH).read_text(encoding="utf-8"))
    entries = root.findall(f"{ATOM}entry")
    assert [entry.findtext(f"{ATOM}updated") for entry in entries] == ["2026-09-29T08:43:52Z", "2026-09-28T10:51:21Z"]
    assert root.findtext(f"{ATOM}updated") == "2026-09-29T08:43:52Z"
    ids = [entry.findtext(f"{ATOM}id") for entry in entries]
    assert len(set(ids)) == 2
    for element in (root, *entries):
        assert element.findtext(f"{ATOM}title")
        assert element.find(f"{ATOM}link") is not None


def test_changed_figures_are_a_new_entry_of_the_feed(committed: Path, pages: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(committed, data)
    (data / "arm_1" / "MANIFEST.sha256").unlink()
    record = data / "arm_1" / "records" / "sign-20" / "QingLuan-128__sign.json"
    text = record.read_text(encoding="utf-8")
    seconds = json.loads(text)["processes"][0]["trials"][0]["seconds"]
    record.write_text(text.replace(f'"seconds": {seconds}', f'"seconds": {seconds + 0.001}'), encoding="utf-8")
    site.render(data, data / "catalog", tmp_path / "out", check=False)
    before, after = ((folder / feed.PATH).read_text(encoding="utf-8") for folder in (pages, tmp_path / "out"))
    assert before != after
    assert before.count("urn:katalog:x86_1") == after.count("urn:katalog:x86_1") == 1


def _logged(*changed: ChangedFigure, replaced: str | None = "0" * 64, note: str | None = None) -> Change:
    return Change(
        published_utc="2026-11-30T12:00:00.5+00:00",
        katalog_version="0.1.0",
        instances=2,
        records=6,
        replaced_sha256=replaced,
        changed=changed,
        note=note,
    )


@pytest.mark.parametrize(
    ("change", "title", "summary"),
    [
        (_logged(replaced=None), "x_1: first publication", "2 parameter sets, 6 timed operations on x86-64."),
        (_logged(), "x_1: no figure beyond noise", "2 parameter sets, 6 timed operations on x86-64."),
        (_logged(note="could not be read"), "x_1: could not be read", "6 timed operations on x86-64."),
        (
            _logged(
                ChangedFigure(operation="kem-a/A enc", verdict="slower", ratio=1.1),
                ChangedFigure(operation="kem-a/A dec", verdict="faster", ratio=0.5),
                ChangedFigure(operation="kem-a/B dec", verdict="added"),
            ),
            "x_1: 1 added, 1 faster, 1 slower",
            "Changed: kem-a/A dec faster (0.50×), kem-a/A enc slower (1.10×), kem-a/B dec added.",
        ),
    ],
)
def test_publications_of_a_change_log_are_entries(change: Change, title: str, summary: str) -> None:
    files = SystemFiles("x_1", True, "x86-64", "A & B", "2026-11-01T00:00:00+00:00", None, [])
    root = ET.fromstring(feed.render([files], {"x_1": [change]}))
    (entry,) = root.findall(f"{ATOM}entry")
    assert entry.findtext(f"{ATOM}title") == title
    assert (entry.findtext(f"{ATOM}summary") or "").startswith("A & B. ")
    assert (entry.findtext(f"{ATOM}summary") or "").endswith(summary)
    assert entry.findtext(f"{ATOM}updated") == "2026-11-30T12:00:00Z"


def test_the_feed_names_the_figures_that_changed_most() -> None:
    changed = [ChangedFigure(operation=f"kem-a/{i} enc", verdict="slower", ratio=1 + i / 10) for i in range(1, 31)]
    files = SystemFiles("x_1", True, "x86-64", "A", "2026-11-01T00:00:00+00:00", None, [])
    text = feed.render([files], {"x_1": [_logged(*changed)]})
    assert "Changed: kem-a/30 enc slower (4.00×), kem-a/29 enc" in text
    assert "kem-a/11 enc slower (2.10×), and 10 more." in text
    assert "kem-a/10 enc" not in text
