"""Two campaigns of one system: changes are told from noise, by practical size and by interval."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from evidence import store
from evidence.bootstrap import Interval, ratio_interval
from evidence.cli import main
from evidence.compare import compare, judge

RECORD = "records/sign-16/Octarine-128__sign.json"


@pytest.fixture
def pair(copy: Path) -> tuple[Path, Path]:
    """Return the folder of a system and a copy of it that tests change."""
    other = copy.parent / "other" / "x86_1"
    other.parent.mkdir()
    (copy / "x86_1").rename(other)
    store_copy = copy / "x86_1"
    for file in other.rglob("*"):
        if file.is_file():
            target = store_copy / file.relative_to(other)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.read_bytes())
    return store_copy, other


def scale(file: Path, factors: list[float]) -> None:
    document: dict[str, Any] = json.loads(file.read_bytes())
    for process, factor in zip(document["processes"], factors, strict=True):
        process["trials"][0]["seconds"] *= factor
        process["wall_s"] *= 4
    file.write_text(json.dumps(document))


@pytest.mark.parametrize(
    ("factors", "verdict", "code"),
    [
        ([1.05] * 5, "slower", 1),
        ([0.9] * 5, "faster", 1),
        ([1.015] * 5, "within noise", 0),  # sure, but too small to matter
        ([0.9, 1.2, 1.05, 0.8, 1.3], "within noise", 0),  # large, but not sure
        ([1.0, 1.0, 1.0, 1.0, 3.0], "within noise", 0),  # one disturbed trial
    ],
)
def test_a_change_is_sure_and_large_enough(
    pair: tuple[Path, Path], capsys: Any, factors: list[float], verdict: str, code: int
) -> None:
    before, after = pair
    scale(after / RECORD, factors)
    rows = compare(store.load_system(before.parent, "x86_1"), store.load_system(after.parent, "x86_1")).rows
    row = next(row for row in rows if row.label == "Octarine-128" and row.operation == "sign")
    assert row.verdict == verdict
    assert [other.verdict for other in rows if other is not row] == ["within noise"] * 8
    assert main(["compare", str(before), str(after)]) == code
    out = capsys.readouterr().out
    assert f"{8 if code else 9} of 9 operations are within noise" in out


def test_the_ratio_is_that_of_the_medians(pair: tuple[Path, Path], capsys: Any) -> None:
    before, after = pair
    scale(after / RECORD, [1.1] * 5)
    assert main(["compare", "--json", str(before), str(after)]) == 1
    rows = json.loads(capsys.readouterr().out)["rows"]
    changed = [row for row in rows if row["verdict"] == "slower"]
    assert [row["operation"] for row in changed] == ["sign"]
    assert changed[0]["ratio"] == pytest.approx(1.1)
    assert changed[0]["before_s"] == 0.00099906429153605
    assert changed[0]["interval"]["low"] < 1.1 < changed[0]["interval"]["high"]


def test_removed_added_and_failed_rows_and_facts(pair: tuple[Path, Path], capsys: Any) -> None:
    before, after = pair
    (after / RECORD).unlink()
    (before / "records/sign-16/Octarine-256__sign.json").unlink()
    file = after / "records/sign-16/Octarine-512__sign.json"
    document = json.loads(file.read_bytes())
    document |= {"status": "failed", "reason": "crash: ended by SIGSEGV"}
    document["processes"] = []
    file.write_text(json.dumps(document))
    build = json.loads((after / "build.json").read_bytes())
    build["instances"]["sign-16/Octarine-128"]["elf_load_bytes"] = 1
    (after / "build.json").write_text(json.dumps(build))
    assert main(["compare", str(before), str(after)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:3] for line in lines[:3]] == [
        ["removed", "sign-16/Octarine-128", "sign"],
        ["added", "sign-16/Octarine-256", "sign"],
        ["failed", "sign-16/Octarine-512", "sign"],
    ]
    assert "6 of 9 operations are within noise" in lines[3]
    assert "sign-16/Octarine-128: elf_load_bytes: 54217 -> 1" in lines


def test_equal_campaigns_give_status_zero(pair: tuple[Path, Path], capsys: Any) -> None:
    assert main(["compare", str(pair[0]), str(pair[1])]) == 0
    assert capsys.readouterr().out == "9 of 9 operations are within noise\n"


def test_pure_noise_is_rarely_called_a_change() -> None:
    drawn = random.Random(7)
    wrong = 0
    for _ in range(400):
        a, b = ([drawn.gauss(1, 0.03) for _ in range(5)] for _ in range(2))
        ratio = sorted(a)[2] / sorted(b)[2]
        wrong += judge(ratio, ratio_interval(a, b)) != "within noise"
    assert wrong <= 20  # 5 %


@pytest.mark.parametrize(
    ("ratio", "interval", "verdict"),
    [
        (1.03, Interval(1.001, 1.05), "slower"),
        (1.03, Interval(0.999, 1.05), "within noise"),
        (1.019, Interval(1.01, 1.02), "within noise"),
        (0.97, Interval(0.95, 0.999), "faster"),
        (0.985, Interval(0.98, 0.99), "within noise"),
    ],
)
def test_verdicts_at_their_bounds(ratio: float, interval: Interval, verdict: str) -> None:
    assert judge(ratio, interval) == verdict
