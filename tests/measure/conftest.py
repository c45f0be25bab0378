"""Real sources and toy libraries for the tests of building and checking."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from evidence.catalog import Candidate, Catalog, Instance, Source, load
from measure.build.library import BuildJob
from measure.errors import SourceError
from measure.source.fetch import Fetched, fetch

REPOSITORY = Path(__file__).resolve().parents[2]
TOY = Path(__file__).resolve().parent / "toy"

Toy = Callable[..., BuildJob]


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return load(REPOSITORY / "data/catalog")


@pytest.fixture(scope="session")
def pypqc(catalog: Catalog, request: pytest.FixtureRequest) -> Fetched:
    """The sdist, fetched once into KATALOG_TEST_CACHE or pytest's own cache; without network the test is skipped."""
    place = os.environ.get("KATALOG_TEST_CACHE")
    cache = Path(place) if place else request.config.cache.mkdir("sources")
    source = catalog.candidates["kem-kyber"].source
    assert source
    try:
        return fetch(source, cache, REPOSITORY)
    except SourceError as error:
        pytest.skip(f"needs the sdist: {error}")


@pytest.fixture
def real(catalog: Catalog, pypqc: Fetched, tmp_path: Path) -> Callable[[str, str], BuildJob]:
    """Make the build job of a catalog instance from its candidate id and label."""

    def make(candidate_id: str, label: str) -> BuildJob:
        candidate = catalog.candidates[candidate_id]
        instance = next(instance for instance in candidate.instances if instance.label == label)
        return BuildJob(candidate, instance, pypqc, REPOSITORY / "csrc", tmp_path / "out")

    return make


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    """Make the build job of a toy KEM; ``fault`` names what goes wrong in its encapsulation."""

    def make(
        fault: str = "none", *, sha256: str = "0" * 64, folder: str = "toy sources", **changes: object
    ) -> BuildJob:
        root = tmp_path / folder
        if not root.exists():
            shutil.copytree(TOY, root)
        recipe: dict[str, object] = {
            "label": "toy",
            "dir": ".",
            "sources": ("*.c",),
            "defines": (f"TOY_FAULT={fault}",),
            "kat": {"format": "nist", "sha256": sha256, "rng": "nist-aes256-ctr-drbg"},
        }
        instance = msgspec.convert(recipe | changes, Instance)
        candidate = Candidate(id="kem-toy", algorithm="Toy", source=Source(path=folder), instances=(instance,))
        return BuildJob(
            candidate, instance, Fetched(root, f"path: {folder}", None), REPOSITORY / "csrc", tmp_path / "out"
        )

    return make
