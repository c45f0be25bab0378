"""Loading schema 3 and writing: every fault with file and JSON path, files whole or not at all."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from evidence import store
from evidence.faults import FaultyError


def test_the_committed_evidence_loads(copy: Path) -> None:
    x86, arm = store.load_system(copy, "x86_1"), store.load_system(copy, "arm_1")
    assert (len(x86.records), len(x86.profiles), len(x86.build)) == (9, 9, 3)
    assert (len(arm.records), len(arm.profiles), len(arm.build)) == (33, 33, 11)
    assert store.systems(copy) == ["arm_1", "x86_1"]


def test_all_faults_of_one_file_are_listed_with_their_paths(copy: Path) -> None:
    file = copy / "x86_1/records/sign-16/Octarine-128__sign.json"
    document: dict[str, Any] = json.loads(file.read_bytes())
    document["processes"][3]["trials"][0]["seconds"] = -1
    document["processes"][4]["wall_s"] = "long"
    document["plann"] = document.pop("plan")
    document["library_sha256"] = "abc"
    del document["kat"]
    file.write_text(json.dumps(document))
    with pytest.raises(FaultyError) as caught:
        store.load_system(copy, "x86_1")
    shown = "x86_1/records/sign-16/Octarine-128__sign.json"
    lines = str(caught.value).splitlines()
    assert all(line.startswith(f"{shown}: ") for line in lines)
    assert f"{shown}: $.plann: unknown key 'plann'; did you mean 'plan'?" in lines
    assert f"{shown}: $: required key 'kat' is missing" in lines
    for path in ("$.processes[3].trials[0].seconds", "$.processes[4].wall_s", "$.library_sha256"):
        assert any(line.startswith(f"{shown}: {path}: ") for line in lines), path
    assert len(lines) == 5


def test_missing_campaign_or_kat_log_is_a_fault(copy: Path) -> None:
    (copy / "arm_1/kat/sign-29/Tins128.log").unlink()
    with pytest.raises(FaultyError, match=r"Tins128\.kat_log: kat/sign-29/Tins128.log is missing"):
        store.load_system(copy, "arm_1")
    (copy / "arm_1/build.json").unlink()
    with pytest.raises(FaultyError, match=r"arm_1/build.json: cannot be read: No such file"):
        store.load_system(copy, "arm_1")


def test_a_record_without_build_is_a_fault(copy: Path) -> None:
    file = copy / "x86_1/build.json"
    document = json.loads(file.read_bytes())
    del document["instances"]["sign-16/Octarine-128"]
    file.write_text(json.dumps(document))
    with pytest.raises(FaultyError, match=r"build\.json has no instance sign-16/Octarine-128"):
        store.load_system(copy, "x86_1")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("candidate", "sign-16/../../x"),
        ("candidate", "Sign-16"),
        ("label", "../x"),
        ("label", "a b"),
        ("library", "/etc/passwd"),
        ("library", "a/../../b"),
        ("kat_log", "kat\\x"),
        ("started_utc", "yesterday"),
    ],
)
def test_names_that_could_leave_the_folder_are_refused(copy: Path, key: str, value: str) -> None:
    file = copy / "x86_1/records/sign-16/Octarine-128__sign.json"
    document = json.loads(file.read_bytes())
    document[key] = value
    file.write_text(json.dumps(document))
    with pytest.raises(FaultyError, match=rf"\$\.{key}: "):
        store.load_system(copy, "x86_1")


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "folder" / "x.json"
    store.write_atomically(file, b"old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        store.write_atomically(file, b"new")
    assert file.read_bytes() == b"old"
    assert [entry.name for entry in file.parent.iterdir()] == ["x.json"]


def test_encoding_is_stable_and_leaves_out_what_is_absent(copy: Path) -> None:
    record = store.load_system(copy, "arm_1").records[0]
    text = store.encode(record)
    assert text == store.encode(record) == (copy / "arm_1" / store.record_path(record)).read_bytes()
    assert b"null" not in text
    assert b"reason" not in text


def test_manifest_lists_every_other_file(copy: Path) -> None:
    stated = (copy / "x86_1" / store.MANIFEST).read_bytes()
    assert stated == store.manifest(copy / "x86_1")
    assert len(stated.splitlines()) == 9 + 9 + 3 + 2
