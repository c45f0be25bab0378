"""Verification finds what does not agree, and the committed evidence passes it."""

import json
from pathlib import Path
from typing import Any

import pytest

from evidence import catalog, store
from evidence.cli import main
from evidence.types import Environment
from evidence.verify import changed_settings, verify


def remake_manifest(folder: Path) -> None:
    (folder / store.MANIFEST).write_bytes(store.manifest(folder))


def faults_of(data: Path) -> list[str]:
    return [str(fault) for fault in verify(data, catalog.load(data / "catalog")).faults]


def test_the_published_evidence_passes(copy: Path, capsys: Any) -> None:
    assert main(["verify", "--data", str(copy)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "no fault"
    assert "     42 records against build.json" in lines
    assert "     14 KAT log digests" in lines


def test_a_changed_figure_contradicts_the_manifest(copy: Path, capsys: Any) -> None:
    file = copy / "x86_1/records/sign-16/Octarine-128__sign.json"
    file.write_text(file.read_text().replace("1334163191", "1334163192"))
    assert main(["verify", "--data", str(copy)]) == 1
    assert "x86_1/records/sign-16/Octarine-128__sign.json: is not as MANIFEST.sha256 states" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("path", "old", "new", "expected"),
    [
        ("records/sign-16/Octarine-128__sign.json", '"kat": "PASS"', '"kat": "PARTIAL"', "$.kat: is PARTIAL"),
        ("records/sign-16/Octarine-128__sign.json", "13895643", "23895643", "$.library_sha256: is 23895643"),
        ("records/sign-16/Octarine-512__verify.json", '"smt_control": "off"', '"smt_control": "on"', "smt_control"),
        ("records/sign-16/Octarine-512__verify.json", '"cpufreq_min_khz": 800000', '"cpufreq_min_khz": 1', "min_khz"),
        ("records/sign-16/Octarine-512__verify.json", '"blk"', '"secret"', "'secret' is not allowed by the catalog"),
        ("kat/sign-16/Octarine-128.log", "PASS", "pass", "has SHA-256"),
        ("kat/sign-16/Octarine-128.log", "lib/", "/home/someone/lib/", "holds an absolute path: /home/someone"),
    ],
)
def test_disagreement_is_found_behind_a_good_manifest(copy: Path, path: str, old: str, new: str, expected: str) -> None:
    file = copy / "x86_1" / path
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    remake_manifest(copy / "x86_1")
    found = faults_of(copy)
    assert any(expected in fault and fault.startswith(f"x86_1/{path}") for fault in found), found


def test_a_file_beside_the_evidence_is_found(copy: Path) -> None:
    (copy / "x86_1" / "extra.txt").write_text("x")
    assert faults_of(copy) == ["x86_1/extra.txt: is not as MANIFEST.sha256 states"]


def test_committed_schemas_are_those_of_the_types(copy: Path) -> None:
    committed = Path(__file__).resolve().parents[2] / "data" / "schema"
    assert main(["schema", "--data", str(copy)]) == 0
    for name in ("record", "profile", "build", "campaign"):
        made = (copy / "schema" / f"{name}.json").read_bytes()
        assert made == (committed / f"{name}.json").read_bytes(), f"run `python -m evidence schema`: {name}"
        assert json.loads(made)["$defs"]


@pytest.mark.parametrize(
    ("found", "changed"),
    [
        (Environment(kernel="6.1", memory_total_kib=1_000_000, cpu_number=1), []),
        (Environment(kernel="6.1", memory_total_kib=1_010_000, cpu_number=7), []),
        (Environment(kernel="6.1", memory_total_kib=1_010_001), ["memory_total_kib"]),
        (Environment(kernel="6.1"), ["memory_total_kib"]),
        (Environment(kernel="6.2", libc="glibc 2.40", memory_total_kib=1_000_000), ["kernel", "libc"]),
    ],
)
def test_settings_that_differ_are_named(found: Environment, changed: list[str]) -> None:
    wanted = Environment(kernel="6.1", memory_total_kib=1_000_000, cpu_number=2)
    assert changed_settings(found, wanted) == changed
