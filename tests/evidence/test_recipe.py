"""Build recipes: both KAT formats, their faults by line and nearest key, and what contradicts itself."""

from pathlib import Path

import pytest

from evidence import catalog
from evidence.catalog import IccsKat, NistKat
from evidence.faults import FaultyError

HEAD = "id: {id}\nalgorithm: X\nsource: {{path: x}}\ninstances:\n- label: A\n  dir: a\n"
DIGEST = "0" * 64


def load(folder: Path, tail: str, candidate: str = "sign-1") -> catalog.Instance:
    (folder / "candidates").mkdir(exist_ok=True)
    (folder / "systems.yaml").write_text("m_1: {architecture: x86_64, description: a machine}\n")
    (folder / "candidates" / f"{candidate}.yaml").write_text(HEAD.format(id=candidate) + tail)
    return catalog.load(folder).candidates[candidate].instances[0]


def faults(folder: Path, tail: str, candidate: str = "sign-1") -> list[str]:
    with pytest.raises(FaultyError) as caught:
        load(folder, tail, candidate)
    return [str(fault).removeprefix(f"{folder}/candidates/{candidate}.yaml:") for fault in caught.value.faults]


def test_a_label_and_a_folder_are_enough(tmp_path: Path) -> None:
    instance = load(tmp_path, "")
    assert (instance.sources, instance.include, instance.libraries) == ((), (), ())
    assert instance.kat == IccsKat()
    assert instance.kat.known == ()


def test_the_short_form_names_one_file(tmp_path: Path) -> None:
    instance = load(
        tmp_path, f"  kat: {{format: iccs, file: KAT_SIG_A.txt, canonical_sha256: '{DIGEST}', mode: 'nolen:3'}}\n"
    )
    (file,) = instance.kat.known
    assert (file.file, file.kind, file.canonical_sha256, file.records) == ("KAT_SIG_A.txt", "SIG", DIGEST, 3)


def test_a_hash_function_names_several(tmp_path: Path) -> None:
    files = ", ".join(f"{{file: KAT_{kind}_A.txt, canonical_sha256: '{DIGEST}'}}" for kind in ("2_12", "2_23", "Loop"))
    instance = load(
        tmp_path, f"  libraries: [gmp]\n  digest_bits: 256\n  kat: {{format: iccs, files: [{files}]}}\n", "hash-1"
    )
    assert [file.kind for file in instance.kat.known] == ["2_12", "2_23", "Loop"]
    assert {file.records for file in instance.kat.known} == {None}


def test_the_nist_format_is_as_before(tmp_path: Path) -> None:
    instance = load(tmp_path, f"  kat: {{format: nist, sha256: '{DIGEST}', rng: hqc-shake}}\n")
    assert instance.kat == NistKat(sha256=DIGEST, rng="hqc-shake")
    assert instance.kat.format == "nist"


@pytest.mark.parametrize(
    ("tail", "expected"),
    [
        ("  kat: {format: iccs, fille: x}\n", "7: instances[0].kat.fille: unknown key 'fille'; did you mean 'file'?"),
        ("  kat: {formt: iccs}\n", "7: instances[0].kat: required key 'format' is missing; it is 'nist' or 'iccs'"),
        ("  kat:\n    format: isccs\n", "8: instances[0].kat.format: expected 'nist' or 'iccs', got 'isccs'"),
        ("  kat: iccs\n", "7: instances[0].kat: Expected `object`, got `str`, got 'iccs'"),
        ("  kat: {format: nist, rng: hqc-shake}\n", "7: instances[0].kat: required key 'sha256' is missing"),
        ("  kat:\n    format: iccs\n    mode: strict:0\n", "9: instances[0].kat.mode: Expected `str` matching regex"),
        (
            "  kat: {format: iccs, files: [{file: ../KAT}]}\n",
            "7: instances[0].kat.files[0].file: Expected `str` matching",
        ),
        ("  libraries: ['-evil']\n", "7: instances[0].libraries[0]: Expected `str` matching regex"),
        ("  libaries: [gmp]\n", "7: instances[0].libaries: unknown key 'libaries'; did you mean 'libraries'?"),
    ],
)
def test_a_fault_has_its_line_and_the_nearest_key(tmp_path: Path, tail: str, expected: str) -> None:
    assert faults(tmp_path, tail)[0].startswith(expected)


@pytest.mark.parametrize(
    ("candidate", "kat", "expected"),
    [
        ("sign-1", "{format: iccs, file: KAT_KEM_A.txt}", "KAT_KEM_A.txt: is no file of a sign"),
        ("sign-1", "{format: iccs, mode: strict, submitted: x}", "canonical_sha256 and submitted need the name"),
        (
            "sign-1",
            "{format: iccs, file: KAT_SIG_A.txt, mode: 'strict:2', records: 3}",
            "mode strict:2 contradicts records: 3",
        ),
        ("hash-1", "{format: iccs, file: KAT_2_12_A.txt, mode: 'nolen:2'}", "have no Count to cut at"),
        ("hash-1", "{format: iccs, files: [{file: KAT_Loop_A.txt}, {file: KAT_Loop_B.txt}]}", "two files of kind Loop"),
        ("kex-1", f"{{format: nist, rng: hqc-shake, sha256: '{DIGEST}'}}", "format nist has no text for a kex"),
    ],
)
def test_a_contradiction_is_named(tmp_path: Path, candidate: str, kat: str, expected: str) -> None:
    (found,) = faults(tmp_path, f"  kat: {kat}\n", candidate)
    assert found.startswith("1: instances: A: kat: ")
    assert expected in found
