"""The walls: packages meet in the evidence alone, and the rooms of a package use only those below them."""

import ast
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FORBIDDEN = {"evidence": {"measure", "render"}, "measure": {"render"}, "render": {"measure"}}
# From the top down; rooms on one line do not know each other.
MEASURE = (
    ("__main__",),
    ("cli",),
    ("phases", "timephase", "campaign", "publish"),
    ("cluster",),
    ("submission",),
    ("share",),
    ("timing",),
    ("driver",),
    ("kat",),
    ("build",),
    ("host",),
    ("source",),
    ("confine",),
    ("progress",),
    ("errors",),
)
RENDER = (
    ("__main__",),
    ("cli",),
    ("site",),
    ("pages",),
    ("charts",),
    ("downloads",),
    ("facts",),
    ("look",),
    ("output",),
)
ABOVE_ALL = {"phases", "timephase", "campaign", "publish"}  # of one floor, whose order the circle test holds


def imported(file: Path) -> set[str]:
    """Return the modules that a file names in its imports, and what it takes from packages as modules of them."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def packages(file: Path) -> set[str]:
    return {name.partition(".")[0] for name in imported(file)}


def rooms(package: str, file: Path) -> set[str]:
    """Return the rooms, or modules at the top, of a package that a file uses."""
    inside = (name.split(".") for name in imported(file))
    return {parts[1] for parts in inside if parts[0] == package and len(parts) > 1}


def room_of(package: str, file: Path) -> str:
    return file.relative_to(ROOT / package).parts[0].removesuffix(".py")


@pytest.mark.parametrize("package", FORBIDDEN)
def test_package_imports_no_forbidden_one(package: str) -> None:
    files = sorted((ROOT / package).rglob("*.py"))
    assert len(files) > 3
    wrong = {str(file): bad for file in files if (bad := packages(file) & FORBIDDEN[package])}
    assert wrong == {}


@pytest.mark.parametrize(("package", "floors"), [("measure", MEASURE), ("render", RENDER)])
def test_rooms_use_only_those_below(package: str, floors: tuple[tuple[str, ...], ...]) -> None:
    floor = {room: height for height, names in enumerate(floors) for room in names}
    wrong = []
    for file in sorted((ROOT / package).rglob("*.py")):
        if (room := room_of(package, file)) == "__init__":
            continue
        assert room in floor, f"{file}: a room that the street does not have"
        others = rooms(package, file) & floor.keys() - {room}
        above = {used for used in others if floor[used] <= floor[room] and not {used, room} <= ABOVE_ALL}
        wrong += [f"{file.relative_to(ROOT)} uses {used}" for used in sorted(above)]
    assert wrong == []


@pytest.mark.parametrize("package", FORBIDDEN)
def test_no_modules_import_in_a_circle(package: str) -> None:
    files = {
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file
        for file in (ROOT / package).rglob("*.py")
    }
    graph = {name: (imported(file) & files.keys()) - {name} for name, file in files.items()}
    # A package's own file is read with each of its modules, and may name them.
    graph = {name: {one for one in uses if not one.startswith(f"{name}.")} for name, uses in graph.items()}
    assert list(TopologicalSorter(graph).static_order())


def test_no_module_is_longer_than_a_reader_keeps_in_mind() -> None:
    files = [file for package in FORBIDDEN for file in (ROOT / package).rglob("*.py")]
    assert {str(file) for file in files if len(file.read_text(encoding="utf-8").splitlines()) > 400} <= {
        str(ROOT / "evidence" / "types.py")
    }


def test_reader_notices_an_import(tmp_path: Path) -> None:
    file = tmp_path / "x.py"
    file.write_text("from render.cli import main\nimport measure.timing.plan\nfrom measure import errors\n")
    assert packages(file) == {"render", "measure"}
    assert rooms("measure", file) == {"timing", "errors"}


def test_evidence_needs_only_the_base_dependencies() -> None:
    for file in (ROOT / "evidence").rglob("*.py"):
        assert packages(file) <= sys.stdlib_module_names | {"evidence", "msgspec", "yaml"}, file
