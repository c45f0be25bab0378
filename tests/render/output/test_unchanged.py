"""A run after which nothing changed is not repeated; one after which anything did, is."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from render import site
from render.cli import main


def _run(folder: Path, *more: str) -> int:
    places = ["--data", str(folder / "data"), "--out", str(folder / "out"), "--cache", str(folder / "cache")]
    return main(["pages", *places, *more])


@pytest.fixture
def rendered(committed: Path, tmp_path: Path) -> Path:
    """Return a folder with data, and with pages that were just made from it."""
    shutil.copytree(committed, tmp_path / "data")
    assert _run(tmp_path) == 0
    return tmp_path


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Return a list that grows with every run that reads evidence."""
    made: list[bool] = []
    render = site.render

    def counted(*places: Path, check: bool, cache: Path | None = None) -> site.Result:
        made.append(check)
        return render(*places, check=check, cache=cache)

    monkeypatch.setattr(site, "render", counted)
    return made


def test_nothing_is_read_when_nothing_changed(rendered: Path, runs: list[bool], capsys: Any) -> None:
    assert _run(rendered) == 0
    assert runs == []
    made = len((rendered / "out" / ".generated").read_text().splitlines())
    assert capsys.readouterr().out.endswith(f": 0 written, {made} unchanged, 0 removed\n")


def _touch(file: Path) -> None:
    os.utime(file, ns=(1, file.stat().st_mtime_ns + 1))


CHANGES: dict[str, Callable[[Path], object]] = {
    "evidence": lambda folder: _touch(folder / "data" / "arm_1" / "campaign.json"),
    "catalog": lambda folder: _touch(folder / "data" / "catalog" / "systems.yaml"),
    "a new file": lambda folder: (folder / "data" / "arm_1" / "new.txt").write_text("new"),
    "a page": lambda folder: (folder / "out" / "index.md").write_text("changed"),
    "a page that is gone": lambda folder: (folder / "out" / "index.md").unlink(),
    "no cache": lambda folder: shutil.rmtree(folder / "cache"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_any_change_is_seen(rendered: Path, runs: list[bool], change: str) -> None:
    CHANGES[change](rendered)
    _run(rendered)
    assert runs == [False]


def test_a_check_compares_contents(rendered: Path, runs: list[bool]) -> None:
    assert _run(rendered, "--check") == 0
    assert runs == [True]


def test_another_output_folder_is_not_known(rendered: Path, runs: list[bool]) -> None:
    assert _run(rendered, "--out", str(rendered / "other")) == 0
    assert runs == [False]
    assert (rendered / "other" / "index.md").is_file()
