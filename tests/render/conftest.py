"""Rendered pages of the committed evidence, and short ways to render evidence made to measure."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evidence import catalog, store
from evidence.catalog import Candidate, Catalog
from render import site
from render.facts.subject import CandidateSubject

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "data"


@pytest.fixture(scope="session")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data folder with the catalog and the two published systems, whatever else this machine measured."""
    data = tmp_path_factory.mktemp("committed")
    for name in ("catalog", "x86_1", "arm_1"):
        shutil.copytree(DATA / name, data / name)
    return data


@pytest.fixture(scope="session")
def pages(committed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the pages of the committed evidence."""
    out = tmp_path_factory.mktemp("pages")
    site.render(committed, committed / "catalog", out, check=False)
    return out


@pytest.fixture
def empty_catalog(tmp_path: Path) -> Path:
    """Return a catalog folder without systems and candidates."""
    folder = tmp_path / "catalog"
    (folder / "candidates").mkdir(parents=True)
    (folder / "systems.yaml").write_text("{}\n")
    return folder


@pytest.fixture
def subject() -> Callable[..., CandidateSubject]:
    """Return a function that makes the subject of a candidate's page from built evidence."""

    def make(builder: Any, candidate: str = "kem-kyber", entry: Candidate | None = None) -> CandidateSubject:
        loaded = store.load_system(builder.write(), builder.campaign.system_id)
        present = {loaded.system_id: {key: built.kat.value for key, built in loaded.build.items()}}
        people = Catalog({}, {candidate: entry} if entry else {})
        system = site.system_subject(loaded, people, present)
        return next(s for s in site.subjects(system, people, present) if s.candidate == candidate)

    return make


@pytest.fixture(scope="session")
def people() -> catalog.Catalog:
    """Return the committed catalog."""
    return catalog.load(DATA / "catalog")
