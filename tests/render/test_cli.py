"""``python -m render pages``: determinism, both schemas, faults, --check, folders that cannot be used."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from render.cli import main

ROOT = Path(__file__).resolve().parents[2]
SCHEMA_2 = ROOT / "tests" / "data" / "published" / "evidence"


def _render(data: Path, out: Path, *more: str, catalog: Path | None = None) -> int:
    places = ["--data", str(data), "--catalog", str(catalog or data / "catalog"), "--out", str(out)]
    return main(["pages", *places, "--cache", str(data.parent / "cache"), *more])


def _pages(folder: Path) -> dict[str, bytes]:
    return {page.relative_to(folder).as_posix(): page.read_bytes() for page in sorted(folder.rglob("*.md"))}


def test_there_is_a_page_for_everything(pages: Path) -> None:
    assert set(_pages(pages)) >= {
        "arm_1/index.md",
        "arm_1/method/index.md",
        "arm_1/sign-18/index.md",
        "arm_1/sign-20/index.md",
        "arm_1/sign-29/index.md",
        "index.md",
        "notes/index.md",
        "size-audit/index.md",
        "symmetric-survey/index.md",
        "x86_1/index.md",
        "x86_1/method/index.md",
        "x86_1/sign-16/index.md",
    }


def test_every_evidence_file_is_copied(pages: Path, committed: Path) -> None:
    for system in ("x86_1", "arm_1"):
        ours = sorted(
            f.relative_to(pages / "data" / system) for f in (pages / "data" / system).rglob("*") if f.is_file()
        )
        theirs = sorted(f.relative_to(committed / system) for f in (committed / system).rglob("*") if f.is_file())
        assert ours == theirs


def test_rendering_again_changes_nothing(committed: Path, tmp_path: Path, pages: Path, capsys: Any) -> None:
    assert _render(committed, tmp_path / "out") == 0
    assert _pages(tmp_path / "out") == _pages(pages)
    assert _render(committed, tmp_path / "out") == 0
    first, again = capsys.readouterr().out.splitlines()
    assert first.endswith(" written, 0 unchanged, 0 removed")
    assert f": 0 written, {first.rpartition(': ')[2].split()[0]} unchanged, 0 removed" in again
    assert _render(committed, tmp_path / "out", "--check") == 0


def test_schema_2_gives_the_same_pages(committed: Path, tmp_path: Path, pages: Path) -> None:
    """The published files as they are, but for the profiles of sign-18, which the test data leaves out."""
    data = tmp_path / "data"
    shutil.copytree(SCHEMA_2, data)
    shutil.copytree(committed / "arm_1" / "profile" / "sign-18", data / "arm_1" / "profile" / "sign-18")
    assert _render(data, tmp_path / "out", catalog=committed / "catalog") == 0
    ours, published = _pages(tmp_path / "out"), _pages(pages)
    for page in (ours, published):
        page.pop("downloads/index.md", None)  # it states the size of the evidence files themselves
    assert ours == published


def test_check_names_the_pages_that_would_change(committed: Path, pages: Path, tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "out"
    shutil.copytree(pages, out)
    page = out / "x86_1" / "sign-16" / "index.md"
    page.write_text(page.read_text().replace("767.9 k", "767.8 k"))
    (out / "data" / "x86_1" / "campaign.json").write_text("{}")
    before = {file: file.read_bytes() for file in out.rglob("*") if file.is_file()}
    assert _render(committed, out, "--check") == 1
    assert capsys.readouterr().out.splitlines() == [
        f"would change: {out}/x86_1/sign-16/index.md",
        f"would change: {out}/data/x86_1/campaign.json",
    ]
    assert {file: file.read_bytes() for file in out.rglob("*") if file.is_file()} == before


def test_all_faults_are_listed_and_nothing_is_written(
    local: Any, empty_catalog: Path, tmp_path: Path, capsys: Any
) -> None:
    data = local.kem().write()
    record = data / "local" / "records" / "kem-kyber" / "Kyber512__enc.json"
    record.write_text(record.read_text().replace('"measurements": 10', '"measurements": "ten"', 1))
    (data / "local" / "records" / "kem-kyber" / "Kyber512__dec.json").write_text("{")
    (empty_catalog / "candidates" / "kem-kyber.yaml").write_text("id: kem-kyber\nalgorithmus: Kyber\n")
    assert _render(data, tmp_path / "out", catalog=empty_catalog) == 1
    told = capsys.readouterr().err
    assert "kem-kyber.yaml:2: algorithmus: unknown key" in told
    assert "Kyber512__enc.json: $.processes[0].trials[0].measurements" in told
    assert "Kyber512__dec.json: not JSON" in told
    assert not (tmp_path / "out").exists()


def test_a_log_that_is_not_what_was_digested_is_a_fault(
    local: Any, empty_catalog: Path, tmp_path: Path, capsys: Any
) -> None:
    data = local.kem().write()
    (data / "local" / "kat" / "kem-kyber" / "Kyber512.log").write_text("RESULT forged\n")
    assert _render(data, tmp_path / "out", catalog=empty_catalog) == 1
    assert "kat/kem-kyber/Kyber512.log" in capsys.readouterr().err


@pytest.mark.parametrize("log", ["kat/kem-kyber/page.md", "other/K.log"])
def test_a_log_that_the_site_would_take_for_something_else_is_a_fault(
    local: Any, empty_catalog: Path, tmp_path: Path, log: str, capsys: Any
) -> None:
    local.kem()
    built = local.built["kem-kyber/Kyber512"]
    source = local.folder / built.kat_log
    (local.folder / log).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, local.folder / log)
    local.instance("kem-kyber", "Other", kat_log=log, kat_log_sha256=built.kat_log_sha256)
    assert _render(local.write(), tmp_path / "out", catalog=empty_catalog) == 1
    assert "must be kat/" in capsys.readouterr().err


def test_a_system_with_a_name_that_the_site_uses_is_a_fault(
    system_builder: Any, empty_catalog: Path, tmp_path: Path, capsys: Any
) -> None:
    data = system_builder(tmp_path / "data", "downloads").kem().write()
    assert _render(data, tmp_path / "out", catalog=empty_catalog) == 1
    assert "downloads: is a name that the site uses otherwise" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_one_clear_line(
    local: Any, empty_catalog: Path, tmp_path: Path, capsys: Any
) -> None:
    (tmp_path / "file").write_text("in the way")
    assert _render(local.kem().write(), tmp_path / "file" / "out", catalog=empty_catalog) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert told.startswith("render: ")


def test_missing_data_is_one_clear_line(tmp_path: Path, empty_catalog: Path, capsys: Any) -> None:
    assert _render(tmp_path / "nowhere", tmp_path / "out", catalog=empty_catalog) == 2
    assert capsys.readouterr().err == f"render: {tmp_path}/nowhere: No such file or directory\n"


def test_a_system_without_catalog_entry_comes_last_and_is_labelled(
    committed: Path, system_builder: Any, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    shutil.copytree(committed, data)
    system_builder(data, "a-local").kem().kem("sign-16", "Octarine-128").write()
    assert _render(data, tmp_path / "out") == 0
    overview = (tmp_path / "out" / "index.md").read_text()
    assert overview.index(">x86_1<") < overview.index(">arm_1<") < overview.index(">a-local</a> (unregistered)")
    page = (tmp_path / "out" / "x86_1" / "sign-16" / "index.md").read_text()
    crumbs = yaml.safe_load(page.split("---\n")[1])["parts"][0]
    assert '<a href="../../a-local/sign-16/">a-local</a> (unregistered)' in crumbs
    assert '<span class="absent">arm_1</span>' in crumbs


def test_a_page_of_a_candidate_that_is_gone_is_removed(local: Any, empty_catalog: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    data = local.kem().kem("kem-other", "Other").write()
    assert _render(data, out, catalog=empty_catalog) == 0
    assert (out / "local" / "kem-other" / "index.md").is_file()
    shutil.rmtree(data)
    local.built.clear()
    local.records.clear()
    assert _render(local.kem().write(), out, catalog=empty_catalog) == 0
    assert not (out / "local" / "kem-other").exists()
    assert not (out / "data" / "local" / "records" / "kem-other").exists()
