"""What a full disk does to a campaign: run by tests/measure/test_full_disk.py where a small disk could be mounted."""

import contextlib
import os
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from evidence import plans
from evidence.catalog import Source
from evidence.cli import main as verify_evidence
from evidence.types import FlagSet, KatStatus
from measure.errors import StorageError
from measure.source.fetch import fetch, file_sha256
from measure.timing.attempts import BuildState, KatState, RunFolder, read
from tests.measure.interrupted.lives import final_files
from tests.measure.test_campaign import TOY, Place, instance

ROOT = Path(__file__).resolve().parents[3]
DISK = Path(os.environ["KATALOG_SMALL_DISK"])
PAGE_BYTES = 4096


class SmallDisk(Place):
    """A campaign whose runs lie on a small disk, and whose driver and evidence do not."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.runs = DISK / "runs"
        self.run = self.runs / "local" / "quick"
        self.filler = DISK / "filler"

    def arguments(self, *words: str) -> list[str]:
        return [*words, "--data", str(self.data), "--runs", str(self.runs)]

    def fill(self, left_bytes: int) -> None:
        """Fill the disk but for some bytes."""
        self.filler.unlink(missing_ok=True)
        with self.filler.open("wb", buffering=0) as file:
            with contextlib.suppress(OSError):
                while file.write(bytes(PAGE_BYTES)):
                    pass
            file.truncate(max(0, file.tell() - left_bytes))

    def free(self) -> None:
        self.filler.unlink()

    def refused(self, capsys: pytest.CaptureFixture[str], *words: str) -> None:
        """Check that a phase ends with one line, and leaves only whole files."""
        capsys.readouterr()
        assert self.measure(*words) == 9
        lines = [line for line in capsys.readouterr().err.replace("\n", " ").split("measure: ")[1:] if line]
        assert len(lines) == 1
        assert "No space left on device" in lines[0]
        assert "Traceback" not in lines[0]
        self.whole()

    def whole(self) -> None:
        assert [str(path) for path in self.run.rglob(".*")] == []
        for file in final_files(self.run):
            if file.suffix == ".json":
                msgspec.json.decode(file.read_bytes())

    def ends_well(self) -> None:
        self.free()
        assert self.measure("run") == 0
        assert verify_evidence(["verify", "--data", str(self.data)]) == 0
        records = self.records()
        assert {name: (record.status, len(record.processes)) for name, record in records.items()} == dict.fromkeys(
            ("A keygen", "A enc", "A dec"), ("complete", 5)
        )


@pytest.fixture(scope="module")
def driver_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("driver")


@pytest.fixture
def place(tmp_path: Path, driver_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallDisk]:
    monkeypatch.setattr(plans, "QUICK", msgspec.structs.replace(plans.QUICK, min_total=0, max_iters_per_trial=100))
    made = SmallDisk(tmp_path)
    made.candidate(instance("A"))
    made.runs.mkdir()
    (made.runs / "driver").symlink_to(driver_cache)
    yield made
    for entry in DISK.iterdir():
        if entry.is_dir():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def test_nothing_can_be_begun_on_a_full_disk(place: SmallDisk, capsys: pytest.CaptureFixture[str]) -> None:
    place.fill(0)
    place.refused(capsys, "run")
    place.ends_well()


@pytest.mark.parametrize("left_kib", [8, 32, 64])
def test_no_build_fails_for_want_of_space(place: SmallDisk, capsys: pytest.CaptureFixture[str], left_kib: int) -> None:
    folder = RunFolder(place.run)
    place.fill(left_kib * 1024)
    if left_kib < 44:  # what a compiler needs is not ours to say: from here on it may suffice
        place.refused(capsys, "build")
        assert read(folder.build_file("kem-toy", "A"), BuildState) is None
    else:
        assert place.measure("build") in {0, 9}
    place.free()
    assert place.measure("build") == place.measure("kat") == 0
    state = read(folder.result_file("kem-toy", "A"), KatState)
    assert state
    assert (state.result.kat, state.result.flags, state.result.reason) == (KatStatus.PASS, FlagSet.GUIDE, None)


def test_a_test_without_space_is_made_later(place: SmallDisk, capsys: pytest.CaptureFixture[str]) -> None:
    assert place.measure("build") == 0
    place.fill(0)
    place.refused(capsys, "kat")
    place.ends_well()


@pytest.mark.parametrize("left_kib", [0, 24])
def test_the_trials_that_found_space_are_kept(
    place: SmallDisk, capsys: pytest.CaptureFixture[str], left_kib: int
) -> None:
    assert place.measure("build") == place.measure("kat") == place.measure("plan") == 0
    calibrations = len(final_files(place.run / "attempts"))
    place.fill(left_kib * 1024)
    place.refused(capsys, "run")
    kept = {file: file.read_bytes() for file in final_files(place.run / "attempts")}
    assert (len(kept) > calibrations) == (left_kib > 0)
    place.ends_well()
    assert {file: file.read_bytes() for file in kept} == kept


def test_old_evidence_stays_whole_where_new_finds_no_space(
    place: SmallDisk, capsys: pytest.CaptureFixture[str]
) -> None:
    data = DISK / "data"
    shutil.copytree(place.data, data)
    place.data = data
    assert place.measure("run") == 0
    before = {file: file.read_bytes() for file in data.rglob("*") if file.is_file()}
    for left_kib in (0, 16, 40):
        place.fill(left_kib * 1024)
        place.refused(capsys, "publish")
        assert {file: file.read_bytes() for file in data.rglob("*") if file.is_file()} == before
        assert list(data.glob(".publish-*")) == []
    place.ends_well()


@pytest.mark.parametrize("left_kib", [0, 4, 8])
def test_sources_that_find_no_space_are_fetched_later(place: SmallDisk, tmp_path: Path, left_kib: int) -> None:
    archive, cache = tmp_path / "toy.tar.gz", DISK / "sources"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(ROOT / TOY, "toy")
    source = Source(archive=str(archive), sha256=file_sha256(archive))
    place.fill(left_kib * 1024)
    with pytest.raises(StorageError, match="No space left on device"):
        fetch(source, cache, tmp_path)
    assert [path.name for path in cache.glob("*") if path.is_dir()] == []
    place.free()
    assert (fetch(source, cache, tmp_path).folder / "kem.c").read_bytes() == (ROOT / TOY / "kem.c").read_bytes()


def test_a_driver_that_finds_no_space_is_built_later(place: SmallDisk, capsys: pytest.CaptureFixture[str]) -> None:
    assert place.measure("build") == place.measure("kat") == 0
    (place.runs / "driver").unlink()
    place.fill(64 * 1024)
    place.refused(capsys, "run")
    place.ends_well()
