"""The catalog: what people write is checked with file, line and the nearest known key."""

from pathlib import Path

import pytest

from evidence import catalog
from evidence.faults import FaultyError

ROOT = Path(__file__).resolve().parents[2]


def faults_of(folder: Path, text: str, name: str = "sign-1") -> list[str]:
    (folder / "candidates").mkdir(exist_ok=True)
    (folder / "systems.yaml").write_text("m_1: {architecture: x86_64, description: a machine}\n")
    (folder / "candidates" / f"{name}.yaml").write_text(text)
    with pytest.raises(FaultyError) as caught:
        catalog.load(folder)
    return [str(fault).removeprefix(f"{folder}/candidates/") for fault in caught.value.faults]


def test_the_committed_catalog_loads() -> None:
    people = catalog.load(ROOT / "data" / "catalog")
    assert list(people.systems)[:2] == ["x86_1", "arm_1"]
    assert {"sign-16", "sign-18", "sign-20", "sign-29"} <= set(people.candidates)
    assert sum(len(candidate.instances) for candidate in people.candidates.values()) == 33 + 9 + 7


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id: sign-1\nalgoritm: X\n", "sign-1.yaml:2: algoritm: unknown key 'algoritm'; did you mean 'algorithm'?"),
        ("id: sign-1\nalgoritm: X\n", "sign-1.yaml:1: required key 'algorithm' is missing"),
        ("id: sign-1\nalgorithm: 7\n", "sign-1.yaml:2: algorithm: Expected `str`, got `int`, got 7"),
        ("id: sign-2\nalgorithm: X\n", "sign-1.yaml:1: id 'sign-2' must be the file's name"),
        ("id: sign-1\nalgorithm: X\nlinks:\n  submission: javascript:alert(1)\n", "sign-1.yaml:4: links.submission:"),
        ("id: sign-1\nalgorithm: X\nid: sign-1\n", "sign-1.yaml:3: key 'id' stands twice"),
        ("id: sign-1\nalgorithm: [X\n", "sign-1.yaml:3: not YAML:"),
        ("", "sign-1.yaml:1: Expected `object`, got `null`"),
        (
            "id: sign-1\nalgorithm: X\nfootnotes:\n- instances: '('\n  action: measure\n  text: t\n",
            "sign-1.yaml:1: footnotes: '(' is no regular expression",
        ),
        (
            "id: sign-1\nalgorithm: X\nfootnotes:\n- instances: a\n  action: hide\n  text: t\n",
            "sign-1.yaml:5: footnotes[0].action: Invalid enum value 'hide'",
        ),
        ("id: sign-1\nalgorithm: X\nsource: {pypi: a==1}\n", "source: a pypi or archive source needs its sha256"),
        ("id: sign-1\nalgorithm: X\nsource: {pypi: a==1, path: b}\n", "source: give exactly one of path, pypi"),
    ],
)
def test_fault_is_named_with_its_line(tmp_path: Path, text: str, expected: str) -> None:
    assert any(expected in fault for fault in faults_of(tmp_path, text)), faults_of(tmp_path, text)


def test_all_faults_are_listed(tmp_path: Path) -> None:
    found = faults_of(tmp_path, "id: sign-1\nalgorithm: X\nlink: {}\nsurvey: {note: n}\nsizes: {A: {basis: odd}}\n")
    assert [fault.split(":")[1] for fault in found] == ["3", "4", "5"]


def test_yaml_tags_construct_nothing(tmp_path: Path) -> None:
    found = faults_of(tmp_path, "id: sign-1\nalgorithm: !!python/object/apply:os.system ['true']\n")
    assert "not YAML: could not determine a constructor" in found[0]


def test_missing_systems_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(FaultyError, match=r"systems.yaml: cannot be read"):
        catalog.load(tmp_path)
