"""Schema 2: what contradicts itself is refused with its place, and conversion loses and invents nothing."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evidence import store
from evidence.cli import main
from evidence.faults import FaultyError

RECORD = "x86_1/records/sign-16/Octarine-128__sign.json"
PROFILE = "x86_1/profile/sign-16/Octarine-128__sign.json"


def change(file: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    document = json.loads(file.read_bytes())
    edit(document)
    file.write_text(json.dumps(document))


def faults_of(folder: Path, system_id: str = "x86_1") -> list[str]:
    with pytest.raises(FaultyError) as caught:
        store.load_system(folder, system_id)
    return [str(fault) for fault in caught.value.faults]


CONTRADICTIONS: list[tuple[str, Callable[[dict[str, Any]], object], str]] = [
    (RECORD, lambda d: d.update(mean_seconds=d["mean_seconds"] * (1 + 1e-8)), "$.mean_seconds: is 0.00099902"),
    (RECORD, lambda d: d.update(mean_cycles=1.0), "$.mean_cycles: is 1.0, the trials give 2091245.663"),
    (RECORD, lambda d: d.update(measurements=3191), "$.measurements: is 3191, the trials give 3190"),
    (RECORD, lambda d: d["trials"].pop(), "$.trials: differ from the trials of the processes"),
    (RECORD, lambda d: d.update(peak_rss_bytes=1), "$.peak_rss_bytes: is 1, the trials give 1921024"),
    (RECORD, lambda d: d.update(guide_100_measurements_met=False), "$.guide_100_measurements_met: is False"),
    (RECORD, lambda d: d.update(kat_not_passed=True), "$.kat_not_passed: is True, kat is PASS"),
    (RECORD, lambda d: d["processes"][2]["meta"].update(id="sign-17"), "$.processes[2].meta.id: differs"),
    (RECORD, lambda d: d["processes"][1]["meta"].update(pk_bytes="1"), "$.processes[1].meta: sizes differ"),
    (RECORD, lambda d: d["processes"][0]["meta"].update(warmups=3), "$.processes[0].meta.warmups: must be a decimal"),
    (RECORD, lambda d: d["processes"][0]["meta"].update(new="1"), "$.processes[0].meta.new: unknown key 'new'"),
    (RECORD, lambda d: d["environment"].update(cpufreq_max_khz="fast"), "$.environment.cpufreq_max_khz: must be"),
    (RECORD, lambda d: d.update(surprise=1), "$.surprise: unknown key 'surprise'"),
    (RECORD, lambda d: d.update(schema=4), "$.schema: schema 4 is newer than this program, which reads 2 and 3"),
    (RECORD, lambda d: d.update(schema=1), "$.schema: schema 1 is not read"),
    (RECORD, lambda d: d.update(kat="FINE"), "$.kat: Invalid enum value 'FINE'"),
    (RECORD, lambda d: d.update(label="Octarine-999"), "the file that holds this is named otherwise"),
    (PROFILE, lambda d: d["share"].update(drng=0.5), "$.share.drng: is 0.5, the calls give 0.00293"),
    (PROFILE, lambda d: d.update(hash_share=0.1), "$.hash_share: is 0.1, the calls give 0.5184"),
    (PROFILE, lambda d: d["meta"].update(tick_hz="x"), "$.meta.tick_hz: must be a decimal number in quotes"),
    ("x86_1/campaign.json", lambda d: d.update(system_id="x86_2"), "$.system_id: is 'x86_2' in folder 'x86_1'"),
]


@pytest.mark.parametrize(("path", "edit", "expected"), CONTRADICTIONS, ids=[c[2][:40] for c in CONTRADICTIONS])
def test_contradiction_is_named_with_file_and_path(
    copy2: Path, path: str, edit: Callable[[dict[str, Any]], object], expected: str
) -> None:
    change(copy2 / path, edit)
    assert any(expected in fault for fault in faults_of(copy2))
    assert any(path.partition("/")[2] in fault or "Octarine-999" in fault for fault in faults_of(copy2))


def test_all_faults_of_all_files_are_listed(copy2: Path) -> None:
    change(copy2 / RECORD, lambda d: (d.update(mean_seconds=1.0), d.update(measurements=7)))
    change(copy2 / PROFILE, lambda d: d.update(hash_share=0.1))
    (copy2 / "x86_1/records/sign-16/Octarine-256__sign.json").write_text("{")
    (copy2 / "x86_1/kat/sign-16/Octarine-512.log").unlink()
    found = "\n".join(faults_of(copy2))
    for expected in ("$.mean_seconds", "$.measurements", "$.hash_share", "Octarine-256__sign.json: not JSON"):
        assert expected in found


def test_conversion_gives_the_committed_evidence(published: Path, tmp_path: Path, capsys: Any) -> None:
    assert main(["convert", str(published), str(tmp_path / "data")]) == 0
    assert "data/x86_1: 9 records, 9 profiles" in capsys.readouterr().out
    committed = Path(__file__).resolve().parents[2] / "data"
    compared = 0
    for file in sorted((tmp_path / "data").rglob("*.*")):
        path = file.relative_to(tmp_path / "data")
        if file.is_file() and path.parts[1] in ("records", "profile", "kat", "campaign.json"):
            assert file.read_bytes() == (committed / path).read_bytes(), path
            compared += 1
    assert compared == 2 + 42 + 30 + 14


def test_conversion_leaves_existing_evidence_alone(published: Path, copy: Path, capsys: Any) -> None:
    before = (copy / "arm_1" / "build.json").read_bytes()
    assert main(["convert", str(published), str(copy)]) == 2
    assert "exists already; remove it to convert again" in capsys.readouterr().err
    assert (copy / "arm_1" / "build.json").read_bytes() == before


def test_conversion_invents_nothing(published: Path) -> None:
    for record in store.load_system(published, "x86_1").records:
        assert all(process.counter and process.counter.name is None for process in record.processes)
        assert all(trial.quantiles is None for process in record.processes for trial in process.trials)
        assert record.sources_sha256 is None
        assert record.environment.machine is None
        assert all(process.minor_page_faults is None for process in record.processes)


def test_sizes_that_are_no_object_are_a_fault(copy2: Path) -> None:
    file = copy2 / "x86_1" / "records" / "sign-16" / "Octarine-128__sign.json"
    document = json.loads(file.read_bytes())
    file.write_text(json.dumps({**document, "sizes": 1}))
    with pytest.raises(FaultyError) as caught:
        store.load_system(copy2, "x86_1")
    assert [str(fault) for fault in caught.value.faults if "sizes" in str(fault)] == [
        "x86_1/records/sign-16/Octarine-128__sign.json: $.sizes: must be an object, got 1"
    ]
