"""Verification is quick enough to run always: five thousand files in five seconds, and no more than linear."""

import hashlib
import json
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from evidence import catalog, store
from evidence.verify import verify

ROOT = Path(__file__).resolve().parents[2]
CLONED = "sign-16"


def clone(data: Path, candidates: int) -> int:
    """Make a system of many candidates from one published candidate; return its number of files."""
    source, folder = ROOT / "data" / "x86_1", data / "x86_1"
    folder.mkdir(parents=True)
    shutil.copyfile(source / "campaign.json", folder / "campaign.json")
    instances: dict[str, Any] = json.loads((source / "build.json").read_bytes())["instances"]
    made = {}
    for number in range(candidates):
        name = f"sign-{1000 + number}"
        for kind in ("records", "profile", "kat"):
            (folder / kind / name).mkdir(parents=True)
            for file in (source / kind / CLONED).iterdir():
                (folder / kind / name / file.name).write_text(file.read_text().replace(CLONED, name))
        for built in json.loads(json.dumps(instances).replace(CLONED, name)).values():
            log = (folder / built["kat_log"]).read_bytes()
            made[f"{name}/{built['label']}"] = built | {"kat_log_sha256": hashlib.sha256(log).hexdigest()}
        for file in (folder / "records" / name).iterdir():
            record = json.loads(file.read_bytes())
            record["kat_log_sha256"] = made[f"{name}/{record['label']}"]["kat_log_sha256"]
            file.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n")
    (folder / "build.json").write_text(json.dumps({"schema": 3, "instances": made}))
    (folder / store.MANIFEST).write_bytes(store.manifest(folder))
    return sum(1 for file in folder.rglob("*") if file.is_file())


def verified_s(data: Path, people: catalog.Catalog) -> float:
    """Return the processor time of one verification that finds no fault."""
    begin = time.process_time()
    result = verify(data, people)
    assert result.faults == ()
    return time.process_time() - begin


@pytest.mark.slow
def test_five_thousand_files_take_less_than_five_seconds(tmp_path: Path) -> None:
    people = catalog.load(ROOT / "data" / "catalog")
    few, many = tmp_path / "few", tmp_path / "many"
    assert clone(few, 60) == 60 * 21 + 3
    assert clone(many, 240) == 5043
    few_s, many_s = (min(verified_s(data, people) for _ in range(2)) for data in (few, many))
    assert many_s < 5
    assert many_s < 4 * few_s * 1.5
