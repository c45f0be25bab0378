"""Zensical builds the same site from the same files."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def other(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the site that Zensical builds from the files of the one that MkDocs built."""
    folder = built.parent
    text = (folder / "mkdocs.yml").read_text(encoding="utf-8").replace(str(built), str(folder / "zensical"))
    # Zensical takes these two as places beside its configuration.
    text = text.replace(str(folder / "docs"), "docs").replace(
        "site_dir: " + str(folder / "zensical"), "site_dir: zensical"
    )
    (folder / "zensical.yml").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--clean", "--config-file", "zensical.yml"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "zensical"


def _pages(folder: Path) -> dict[str, Path]:
    return {file.relative_to(folder).as_posix(): file for file in folder.rglob("*.html") if file.name != "404.html"}


def test_both_build_the_same_pages(built: Path, other: Path) -> None:
    assert _pages(other).keys() == _pages(built).keys()
    assert (other / "404.html").is_file()


def test_both_show_the_same_tables(built: Path, other: Path, parse: Callable[[str], Any]) -> None:
    ours, theirs = _pages(built), _pages(other)
    tables = 0
    for path, file in ours.items():
        one, two = (parse(each.read_text(encoding="utf-8")) for each in (file, theirs[path]))
        assert list(one.sections) == list(two.sections), path
        for title, section in one.sections.items():
            assert section.tables == two.sections[title].tables, (path, title)
            tables += len(section.tables)
    assert tables > 100


def test_both_serve_the_same_files(built: Path, other: Path) -> None:
    for file in (built / "performance").rglob("*"):
        if file.is_file() and file.suffix != ".html":
            assert (other / file.relative_to(built)).read_bytes() == file.read_bytes()


def test_both_load_nothing_from_elsewhere(other: Path) -> None:
    for file in _pages(other).values():
        loaded = re.findall(
            r'<(?:script|link|img)[^>]* (?:src|href)="?(https?://[^" >]+)', file.read_text(encoding="utf-8")
        )
        assert [address for address in loaded if not address.startswith("https://example")] == [], file
