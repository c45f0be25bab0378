"""The published evidence in its own schema 2, and copies of it to break."""

import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "data"
PUBLISHED = ROOT / "tests" / "data" / "published" / "evidence"


@pytest.fixture
def published() -> Path:
    """Return the folder of published evidence, schema 2, as it was published."""
    return PUBLISHED


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a data folder of one's own with the catalog and the two published systems in schema 3."""
    for name in ("catalog", "x86_1", "arm_1"):
        shutil.copytree(DATA / name, tmp_path / "data" / name)
    return tmp_path / "data"


@pytest.fixture
def copy2(tmp_path: Path) -> Path:
    """Return a folder of one's own with the published evidence in schema 2."""
    shutil.copytree(PUBLISHED, tmp_path / "published")
    return tmp_path / "published"
