"""The documentation says what is so: its reference is what code makes, its commands exist, its program runs."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import evidence.cli
import measure.cli
import render.cli
from render import site
from render.look import formats
from tests.docs import generate

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "site_src" / "docs"
PARSERS = {"measure": measure.cli._parser, "evidence": evidence.cli._parser, "render": render.cli._parser}


@pytest.mark.parametrize("page", generate.PAGES)
def test_the_reference_is_what_the_code_makes(page: str) -> None:
    written = (DOCS / "reference" / page).read_text(encoding="utf-8")
    assert written == generate.PAGES[page](), "run: python tests/docs/generate.py"


def test_every_option_has_a_help_text() -> None:
    text = generate.commands()
    assert not re.findall(r"^\| `[^|]*` \|\s*\|$", text, flags=re.MULTILINE)


def _commands() -> list[tuple[str, str]]:
    found = []
    for file in [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]:
        for package, rest in re.findall(r"python -m (measure|evidence|render)\b([^`\n]*)", file.read_text("utf-8")):
            if rest.strip() and "--help" not in rest:
                found.append((f"{file.name}: python -m {package}{rest}", package + rest))
    return found


@pytest.mark.parametrize(("name", "command"), _commands(), ids=lambda value: value.partition(":")[0])
def test_every_command_of_the_documentation_is_understood(name: str, command: str) -> None:
    package, *words = shlex.split(command)
    known = {text for text, _, _ in generate._subcommands(PARSERS[package]())}
    if words[0] not in known:
        pytest.skip("a sentence, not a command")
    PARSERS[package]().parse_args(words)


def test_the_number_formats_are_those_of_the_pages() -> None:
    """Every example of the table is what the one place of number formats gives for some value."""
    text = (DOCS / "reference" / "formats.md").read_text(encoding="utf-8")
    values: list[tuple[Any, float]] = [
        (formats.count, 1.38e9), (formats.count, 816.33e6), (formats.count, 767_900), (formats.count, 3862),
        (formats.duration, 4.5), (formats.duration, 0.303), (formats.duration, 877e-6), (formats.duration, 22.8e-9),
        (formats.general, 1140), (formats.general, 3.3), (formats.share, 0.97), (formats.share, 0.016),
        (formats.share, 0.0), (formats.one_decimal, 120.7), (formats.kib, 3456 * 1024), (formats.ratio, 1.17),
    ]  # fmt: skip
    for show, value in values:
        assert f"`{show(value)}`" in text, show(value)


def test_the_program_of_the_downloads_page_runs(tmp_path: Path) -> None:
    for name in ("catalog", "x86_1", "arm_1"):
        shutil.copytree(ROOT / "data" / name, tmp_path / "data" / name)
    site.render(tmp_path / "data", tmp_path / "data" / "catalog", tmp_path / "site" / "performance", check=False)
    text = (DOCS / "reference" / "downloads.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONWARNINGS": "error"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"arm_1 +128 +sign-20 +QingLuan-128 +6\.829302e\+06", done.stdout)
