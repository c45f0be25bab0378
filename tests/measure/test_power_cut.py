"""A power cut leaves files of no, half or wrong content: the next start makes again what these stood for, no more."""

import itertools
import json
import os
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from evidence import plans, store
from evidence.cli import main as verify_evidence
from measure.source.fetch import file_sha256
from measure.timing.attempts import Attempt
from tests.measure.interrupted.lives import final_files
from tests.measure.test_campaign import TOY, Place, instance

ROOT = Path(__file__).resolve().parents[2]
Damage = Callable[[Path], None]


def empty(file: Path) -> None:
    os.truncate(file, 0)


def halve(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def blank_tail(file: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2] + bytes(len(content) - len(content) // 2))


DAMAGES = pytest.mark.parametrize("damage", [empty, halve, blank_tail])


class Archived(Place):
    """A campaign whose sources come from an archive."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.runs = folder / "runs"
        self.archive = folder / "toy.tar.gz"

    def pack(self) -> None:
        with tarfile.open(self.archive, "w:gz") as tar:
            tar.add(ROOT / TOY, "toy")

    def candidate(self, *instances: dict[str, object], footnotes: tuple[dict[str, str], ...] = ()) -> None:
        source = {"archive": str(self.archive), "sha256": file_sha256(self.archive)}
        document = {"id": "kem-toy", "algorithm": "Toy", "source": source, "instances": instances}
        (self.data / "catalog" / "candidates" / "kem-toy.yaml").write_text(json.dumps(document))

    @property
    def tree(self) -> Path:
        return self.runs / "sources" / file_sha256(self.archive) / "toy"

    def attempts(self) -> dict[str, bytes]:
        folder = self.run / "attempts" / "kem-toy"
        return {str(file.relative_to(folder)): file.read_bytes() for file in final_files(folder)}

    def whole(self) -> bool:
        """Return whether the next start ends well, and its evidence with it."""
        return self.measure("run") == 0 == verify_evidence(["verify", "--data", str(self.data)])


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Archived:
    """A campaign that came to its end. Its few calls are planned by their number alone."""
    made = Archived(tmp_path_factory.mktemp("finished"))
    made.pack()
    made.candidate(instance("A"))
    with pytest.MonkeyPatch.context() as patch:
        few_calls(patch)
        assert made.whole()
    return made


def few_calls(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(plans, "QUICK", msgspec.structs.replace(plans.QUICK, min_total=0, max_iters_per_trial=100))


@pytest.fixture
def place(finished: Archived, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Archived:
    """A copy of the finished campaign, with the same driver."""
    few_calls(monkeypatch)
    shutil.copytree(finished.folder, tmp_path / "copy", ignore=shutil.ignore_patterns("driver"))
    made = Archived.__new__(Archived)
    made.folder, made.data, made.runs = tmp_path / "copy", tmp_path / "copy" / "data", tmp_path / "copy" / "runs"
    made.run, made.archive = made.runs / "local" / "quick", finished.archive
    (made.runs / "driver").symlink_to(finished.runs / "driver")
    return made


TRIAL = "attempts/kem-toy/A__enc/trial-3.json"
CALIBRATION = "attempts/kem-toy/A__dec/calibration.json"
PROFILED = "kem-toy/profile/libA.so"
REPAIRED = (
    "plan.json", "campaign.json", "build/kem-toy/A.json", "result/kem-toy/A.json", TRIAL, CALIBRATION,
    "profiled/kem-toy/A.json", "profile/kem-toy/A__keygen.json", "kat/kem-toy/A.log", "kem-toy/lib/libA.so",
    PROFILED,
)  # fmt: skip


def made_again(place: Archived, before: dict[str, bytes]) -> set[str]:
    """Return the attempts whose files are others than before."""
    after = place.attempts()
    assert after.keys() == before.keys()
    return {name for name in after if after[name] != before[name]}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "damage"), list(zip(REPAIRED, itertools.cycle((empty, halve, blank_tail)))))
def test_the_next_start_makes_one_file_again(place: Archived, name: str, damage: Damage) -> None:
    before, file = place.attempts(), place.run / name
    content = file.read_bytes()
    damage(file)
    assert file.read_bytes() != content
    assert place.whole()
    assert made_again(place, before) == (
        {name.removeprefix("attempts/kem-toy/")} if name in {TRIAL, CALIBRATION} else set()
    )
    if file.suffix == ".json":
        msgspec.json.decode(file.read_bytes())
    elif name == PROFILED:  # in a copy it differs: its compiler was told another path
        assert file_sha256(file) in (place.run / "profiled/kem-toy/A.json").read_text()
    else:
        assert file.read_bytes() == content


@pytest.mark.slow
@DAMAGES
def test_the_next_start_makes_everything_again_that_was_damaged_at_once(place: Archived, damage: Damage) -> None:
    before = place.attempts()
    for name in REPAIRED:
        damage(place.run / name)
    damage(place.tree / "kem.c")
    assert place.whole()
    assert made_again(place, before) == {"A__enc/trial-3.json", "A__dec/calibration.json"}
    assert (place.tree / "kem.c").read_bytes() == (ROOT / TOY / "kem.c").read_bytes()


@pytest.mark.slow
def test_a_lost_campaign_file_is_made_again_and_says_so(place: Archived) -> None:
    empty(place.run / "campaign.json")
    assert place.whole()
    campaign = store.load_system(place.data, "local").campaign
    attempts = [msgspec.json.decode(content, type=Attempt) for content in place.attempts().values()]
    assert campaign.started_utc == min(attempt.started_utc for attempt in attempts)
    assert campaign.history_note
    assert campaign.history_note.startswith("The campaign's own file was lost or damaged and made again on ")
    assert [check.phase for check in campaign.host_checks] == ["time", "profile"]


@pytest.mark.slow
def test_a_tree_that_lacks_a_file_is_unpacked_again(place: Archived) -> None:
    (place.tree / "kem.c").unlink()
    assert place.measure("build") == 0
    assert (place.tree / "kem.c").read_bytes() == (ROOT / TOY / "kem.c").read_bytes()


@pytest.mark.slow
def test_what_was_under_way_is_removed_and_never_published(place: Archived) -> None:
    strays = [
        place.run / ".plan.json.abcdefgh",
        place.run / "attempts" / "kem-toy" / "A__enc" / ".trial-3.json.abcdefgh",
        place.run / "kat" / "kem-toy" / ".A.log.abcdefgh",
        place.run / "kem-toy" / ".build-A-abcdefgh" / "000-kem.o",
        place.run / ".kat-abcdefgh" / "KAT_KEM.txt",
        place.runs / "sources" / ".fetch-abcdefgh" / "toy.tar.gz",
        place.data / ".publish-local-abcdefgh" / "local" / "campaign.json",
    ]
    for stray in strays:
        stray.parent.mkdir(parents=True, exist_ok=True)
        stray.write_bytes(b"{")
    others = place.data / ".publish-local-two-abcdefgh"
    others.mkdir()
    hidden = place.tree / ".hidden"
    assert place.whole()
    assert [stray for stray in strays if stray.exists()] == []
    assert [file for file in place.data.rglob(".*") if file != others] == []
    assert others.is_dir()
    assert not hidden.exists()


@pytest.mark.slow
def test_evidence_that_was_taken_away_is_put_back_before_anything_else(place: Archived) -> None:
    aside = place.data / ".publish-local-abcdefgh"
    aside.mkdir()
    published = {file.name: file.read_bytes() for file in (place.data / "local").iterdir() if file.is_file()}
    (place.data / "local").rename(aside / "replaced")
    (place.run / "attempts" / "kem-toy" / "A__enc" / "trial-3.json").write_bytes(b"")
    assert place.measure("publish") == 10  # this comes first: there is nothing to publish
    (place.data / "catalog" / "systems.yaml").write_text("{}")
    assert place.whole()
    assert set(published) == {file.name for file in (place.data / "local").iterdir() if file.is_file()}


@pytest.mark.slow
@DAMAGES
def test_no_damaged_result_goes_missing_when_only_publishing(
    place: Archived, damage: Damage, capsys: pytest.CaptureFixture[str]
) -> None:
    (place.run / "result/kem-toy/B.json").write_bytes((place.run / "result/kem-toy/A.json").read_bytes())
    for name in ("result/kem-toy/B.json", "profile/kem-toy/A__keygen.json", CALIBRATION):
        file = place.run / name
        content = file.read_bytes()
        damage(file)
        assert place.measure("publish") == 10
        assert f"1 file(s) damaged, first {file}: run all phases again" in capsys.readouterr().err
        file.write_bytes(content)
    (place.run / "result/kem-toy/B.json").unlink()
    assert place.measure("publish") == 0


@pytest.mark.slow
def test_a_damaged_library_is_not_timed(place: Archived, capsys: pytest.CaptureFixture[str]) -> None:
    halve(place.run / "kem-toy" / "lib" / "libA.so")
    assert place.measure("time") == 8
    assert "kem-toy/A: its library is gone or damaged: run the build and kat phases again" in capsys.readouterr().err


@pytest.mark.slow
@DAMAGES
def test_verify_names_a_damaged_file_and_publishing_replaces_all(
    place: Archived, damage: Damage, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = place.data / "local"
    names = ["campaign.json", "build.json", "records/kem-toy/A__enc.json", "profile/kem-toy/A__enc.json"]
    names += ["kat/kem-toy/A.log", store.MANIFEST]
    for name in names:
        content = (folder / name).read_bytes()
        damage(folder / name)
        assert verify_evidence(["verify", "--data", str(place.data)]) != 0
        said = capsys.readouterr()
        assert f"local/{name}" in said.out + said.err or name == store.MANIFEST
        (folder / name).write_bytes(content)
    for name in names:
        damage(folder / name)
    assert place.measure("publish") == 0
    assert verify_evidence(["verify", "--data", str(place.data)]) == 0


@pytest.mark.slow
@DAMAGES
def test_a_damaged_driver_is_built_again_to_the_same_bytes(finished: Archived, damage: Damage) -> None:
    """In the very place: its build tree knows where it is."""
    before, driver = finished.attempts(), finished.runs / "driver" / "driver"
    content = driver.read_bytes()
    damage(driver)
    for file in sorted((finished.runs / "driver").rglob("*.o"))[:3]:
        damage(file)
    with pytest.MonkeyPatch.context() as patch:
        few_calls(patch)
        assert finished.whole()
    assert driver.read_bytes() == content
    assert made_again(finished, before) == set()
