"""A campaign over official submissions of which most are wrong: each gets its status, and the next one its turn."""

import json
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from measure.cli import main
from measure.timing.attempts import KatState

TOYS = Path(__file__).resolve().parent / "iccs"
UNKNOWN = "0" * 64


@pytest.fixture
def campaign(tmp_path: Path):
    """Write a candidate, run the build and kat phases over it, and return status and reason by label."""

    def run(*instances: dict[str, Any]) -> dict[str, tuple[str, str | None]]:
        catalog = tmp_path / "data/catalog"
        (catalog / "candidates").mkdir(parents=True, exist_ok=True)
        (catalog / "systems.yaml").write_text("x_1: {architecture: x86_64, description: other}\n")
        sources = tmp_path / "as downloaded"
        if not sources.exists():
            shutil.copytree(TOYS, sources)
        recipe = {"id": "sign-toy", "algorithm": "Toy", "source": {"path": str(sources)}, "instances": instances}
        (catalog / "candidates/sign-toy.yaml").write_text(json.dumps(recipe))
        for phase in ("build", "kat"):
            words = [phase, "--only", "sign-toy", "--data", str(tmp_path / "data"), "--runs", str(tmp_path / "runs")]
            assert main(words) == 0
        files = (tmp_path / "runs/local/quick/result/sign-toy").glob("*.json")
        results = [msgspec.json.decode(file.read_bytes(), type=KatState).result for file in files]
        return {one.label: (one.kat.value, one.reason) for one in results}

    return run


def instance(label: str, fault: str = "none", **more: object) -> dict[str, Any]:
    kat = {"format": "iccs", "file": f"KAT_SIG_{label}.txt", "canonical_sha256": UNKNOWN}
    recipe = {"label": label, "dir": ".", "sources": ["sig.c"], "defines": [f"TOY_FAULT={fault}"], "kat": kat}
    return recipe | more


def digest(campaign: Any, tmp_path: Path) -> str:
    """Return the digest of the faultless toy's text, from the log of a run without one."""
    assert campaign(instance("first", kat={"format": "iccs"}))["first"][0] == "NOKAT"
    log = (tmp_path / "runs/local/quick/kat/sign-toy/first.log").read_text()
    (line,) = (line for line in log.splitlines() if line.startswith("canonical_sha256"))
    return line.rpartition(" ")[2]


def test_wrong_submissions_cost_themselves_only(campaign, tmp_path: Path) -> None:
    right = {"format": "iccs", "file": "KAT_SIG_x.txt", "canonical_sha256": digest(campaign, tmp_path)}
    found = campaign(
        instance("first", kat=right),
        instance("order", "swaps", kat=right),
        instance("exits", "exits"),
        instance("past", "past"),
        instance("long", "too_long"),
        instance("rejects", "rejects"),
        instance("crashes", "crashes"),
        instance("library", libraries=["nowhere"], kat=right),
        instance("other", sources=["kem.c"]),
        instance("loud", "chatters", kat=right),
        instance("last", kat=right),
    )
    assert {label: status for label, (status, _) in found.items()} == {
        "first": "PASS",
        "order": "MISMATCH",
        "exits": "CRASH",
        "past": "OVERFLOW",
        "long": "OVERFLOW",
        "rejects": "CRYPTOFAIL",
        "crashes": "CRASH",
        "library": "BUILDFAIL",
        "other": "BUILDFAIL",
        "loud": "PASS",
        "last": "PASS",
    }
    assert "needs the library nowhere" in (found["library"][1] or "")
    assert found["other"][1] == "lacks the function sig_get_pk_len_bytes"
    for label in set(found) - {"library"}:
        log = (tmp_path / f"runs/local/quick/kat/sign-toy/{label}.log").read_bytes()
        assert log.splitlines()[-1].startswith(f"RESULT sign-toy {label} {found[label][0]}".encode())


def test_a_failed_build_is_tried_again_and_a_good_one_kept(campaign, tmp_path: Path, capsys: Any) -> None:
    good, bad = instance("good"), instance("bad", sources=["sig.c", "later.c"])
    (tmp_path / "as downloaded").mkdir()
    shutil.copytree(TOYS, tmp_path / "as downloaded", dirs_exist_ok=True)
    (tmp_path / "as downloaded/later.c").write_text("#include <nowhere.h>\n")
    assert campaign(good, bad)["bad"][0] == "BUILDFAIL"
    capsys.readouterr()
    campaign(good, bad)
    shown = capsys.readouterr().err
    assert "sign-toy/good: kept" in shown
    assert "sign-toy/bad: kept" not in shown
