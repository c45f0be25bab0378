"""The contract between measuring and rendering is the evidence: the packages import no other way."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FORBIDDEN = {"evidence": {"measure", "render"}, "measure": {"render"}, "render": {"measure"}}


def imported(file: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module.partition(".")[0])
    return names


@pytest.mark.parametrize("package", FORBIDDEN)
def test_package_imports_no_forbidden_one(package: str) -> None:
    files = sorted((ROOT / package).rglob("*.py"))
    assert len(files) > 3
    wrong = {str(file): bad for file in files if (bad := imported(file) & FORBIDDEN[package])}
    assert wrong == {}


def test_reader_notices_an_import(tmp_path: Path) -> None:
    file = tmp_path / "x.py"
    file.write_text("from render.cli import main\nimport measure.timing.plan\n")
    assert imported(file) == {"render", "measure"}


def test_evidence_needs_only_the_base_dependencies() -> None:
    for file in (ROOT / "evidence").rglob("*.py"):
        assert imported(file) <= sys.stdlib_module_names | {"evidence", "msgspec", "yaml"}, file
