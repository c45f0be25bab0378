"""A first manifest: what is found in a submission folder, what is left to a person, and that it loads."""

import hashlib
from pathlib import Path

import pytest

from evidence import catalog
from evidence.types import KatStatus
from measure.build.library import BuildJob
from measure.cli import main
from measure.errors import StorageError, UsageError
from measure.kat.gate import build_and_check, run_kat
from measure.source.fetch import Fetched
from measure.submission.discover import instances, kat_files
from measure.submission.manifest import manifest, survey, write

REPOSITORY = Path(__file__).resolve().parents[3]
TOYS = Path(__file__).resolve().parents[1] / "iccs"
HEADER = '#ifndef SIG_H\n#define SIG_H\n#define ALGORITHM_INSTANCE "{name}"\nint sig_keygen();\n#endif\n'
KAT = "Count = 0\r\nPK_Len = 1\r\nPK = AB\r\nSn_Len = 1 \r\nSn = CD\r\n\r\nCount = 1\nPK = 00\n"
KAT_SHA256 = hashlib.sha256(b"Count = 0\nPK_Len = 1\nPK = AB\nSn_Len = 1\nSn = CD\nCount = 1\nPK = 00\n").hexdigest()
REFERENCE = "Implementations/Reference_Implementation"


@pytest.fixture
def submission(tmp_path):
    """Write a submission (content by path) and return its folder."""

    def make(files: dict[str, str]) -> Path:
        folder = tmp_path / "Größe 1"
        folder.mkdir(exist_ok=True)
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content.encode())
        return folder

    return make


def loaded(folder: Path, text: str) -> catalog.Candidate:
    """Load a manifest as the catalog would."""
    (folder / "candidates").mkdir(parents=True)
    (folder / "systems.yaml").write_text("m_1: {architecture: x86_64, description: a machine}\n")
    name = text.partition("\n")[0].split()[1]
    (folder / "candidates" / f"{name}.yaml").write_text(text)
    return catalog.load(folder).candidates[name]


def text_of(folder: Path, candidate_id: str | None = None) -> str:
    return manifest(survey(folder, candidate_id, REPOSITORY))


def test_an_official_folder_gives_a_manifest_that_loads(submission, tmp_path):
    folder = submission(
        {
            f"{REFERENCE}/Foo-128/SIG_FOO128.h": HEADER.format(name="Foo-128"),
            f"{REFERENCE}/Foo-128/foo ü.c": "int sig_keygen() { return 0; }",
            f"{REFERENCE}/Foo-128/KAT_SIG.c": "int main(void) { sig_keygen(); kem_enc(); }",
            f"{REFERENCE}/Foo-256/src/SIG_FOO256.h": HEADER.format(name="Foo-256") + "#include <gmp.h>\n",
            "Implementations/Optimized_Implementation/Foo-128/sig.h": HEADER.format(name="Foo-128"),
            "Test_Vectors/KAT_SIG_Foo-128.txt": KAT,
            "Test_Vectors/KAT_SIG_Foo-256.txt": KAT.replace("PK_Len = 1", "PK_Len = "),
            "Test_Vectors/KAT_SIG_Bar.txt": KAT,
        }
    )
    text = text_of(folder)
    candidate = loaded(tmp_path / "catalog", text)
    assert (candidate.id, candidate.algorithm) == ("sign-gr-e-1", "Foo")
    assert candidate.source.path == str(folder)
    found = {instance.label: instance for instance in candidate.instances}
    assert list(found) == ["Foo-128", "Foo-256", "Foo-128-performance"]
    optimized = found["Foo-128-performance"]
    assert optimized.dir == "Implementations/Optimized_Implementation/Foo-128"
    assert (optimized.name, optimized.variant) == ("Foo-128", "performance")
    first, second = found["Foo-128"], found["Foo-256"]
    assert (first.name, first.variant, first.level) == (None, "reference", 128)
    assert (first.kat.file, first.kat.canonical_sha256) == ("KAT_SIG_Foo-128.txt", KAT_SHA256)
    assert (first.kat.mode, first.kat.records) == ("strict", 2)
    assert first.kat.submitted == "Test_Vectors/KAT_SIG_Foo-128.txt"
    assert (second.dir, second.libraries, second.kat.mode) == (f"{REFERENCE}/Foo-256", ("gmp",), "nolen")
    assert f"# decide: no instance bears the name of Test_Vectors/KAT_SIG_Bar.txt: {KAT_SHA256} strict" in text
    assert text.count("# decide: ") > 6


@pytest.mark.parametrize(
    ("call", "family"), [("sig_keygen", "sign"), ("kem_enc", "kem"), ("kex_init_a", "kex"), ("CryptHash", "hash")]
)
def test_a_family_is_known_by_its_functions_and_not_by_its_drivers(submission, call, family):
    folder = submission(
        {
            "x/a.c": f"int\n{call}  (int x) {{ return x; }}",
            "x/run.c": "int main(void) { CryptHash(); sig_keygen(); }",
            "x/note.c": '/* CryptHash( */ // sig_keygen(\nchar *s = "kem_enc(";',
        }
    )
    assert [(one.folder, one.family) for one in instances(folder)] == [("x", family)]


def test_a_folder_inside_an_instance_belongs_to_it(submission):
    header = HEADER.format(name="Q")
    folder = submission({"Q/include/q.h": header, "Q/src/q.c": "int sig_keygen();", "Q/api_pkc/SIG.h": header})
    assert [one.folder for one in instances(folder)] == ["Q"]
    assert [one.folder for one in instances(submission({"SIG.h": header}))] == ["."]


def test_names_under_conditions_are_instances_of_one_folder(submission, tmp_path):
    text = (
        '#ifndef SIG_X_H\n#define SIG_X_H\n#if MODE == 1\n#define ALGORITHM_INSTANCE "X-1"\n'
        '#elif MODE == 2\n#define ALGORITHM_INSTANCE "X 2"\n#endif\nint sig_keygen();\n#endif\n'
    )
    shown = text_of(submission({"x/x.h": text}))
    assert "# decide: defines: [...]; the header has this name under: #if MODE == 1" in shown
    assert "under: #elif MODE == 2" in shown
    candidate = loaded(tmp_path / "catalog", shown)
    assert [(one.label, one.name) for one in candidate.instances] == [("X-1", None), ("X-2", "X 2")]
    assert {one.kat.known for one in candidate.instances} == {()}
    assert shown.count("# decide: no KAT file bears this name") == 2


def test_files_of_a_hash_function_are_listed_and_the_largest_is_on_request(submission, tmp_path):
    answer = "Msg_Len = 0\nMsg = \nDst_Len = 8\nDst = AA\n\n"
    files = {f"output/KAT_{kind}_H-512.txt": answer for kind in ("2_12", "2_23", "2_33")}
    blank = answer.replace("AA", "")
    header = '#define ALGORITHM_INSTANCE "H-512"\nint CryptHash(int);\n'
    shown = text_of(submission({"H/h.h": header, "output/KAT_Loop_H-512.txt": blank} | files))
    (instance,) = loaded(tmp_path / "catalog", shown).instances
    assert [file.kind for file in instance.kat.known] == ["2_12", "2_23"]
    assert {file.mode for file in instance.kat.known} == {"strict"}
    assert "        # - file: KAT_2_33_H-512.txt\n" in shown
    assert "# output/KAT_Loop_H-512.txt is a blank template without answers" in shown


def test_several_files_of_one_name_are_for_a_person_to_choose_from(submission):
    other = KAT.replace("CD", "CE")
    folder = submission(
        {"x/x.h": HEADER.format(name="X"), "a/KAT_SIG_X.txt": KAT, "b/KAT_SIG_X.txt": KAT, "c/KAT_SIG_x.rsp": other}
    )
    shown = text_of(folder)
    (digest,) = {one.canonical_sha256 for one in kat_files(folder) if one.path.startswith("c/")}
    assert f"      canonical_sha256: {KAT_SHA256}\n      submitted: a/KAT_SIG_X.txt\n" in shown
    assert shown.count("# decide: or ") == 1
    assert f"# decide: or c/KAT_SIG_x.rsp: {digest} strict" in shown


def test_other_families_get_a_hint_and_the_id_chooses(submission):
    folder = submission({"s/s.h": HEADER.format(name="S"), "k/k.h": "int kem_enc();", "k2/k.h": "int kem_enc();"})
    assert "# decide: s is a sign, for a manifest of its own: --id sign-..." in text_of(folder)
    assert text_of(folder, "sign-7").startswith("id: sign-7 ")
    with pytest.raises(UsageError, match="holds no hash, but kem, sign"):
        survey(folder, "hash-1", REPOSITORY)


def test_names_from_a_submission_stay_names(submission, tmp_path):
    name = 'a: b # "c" {d} - é'
    shown = text_of(submission({f"{name}/x.h": 'int sig_keygen();\n#define ALGORITHM_INSTANCE "- [x]: #1"\n'}))
    (instance,) = loaded(tmp_path / "catalog", shown).instances
    assert (instance.dir, instance.name, instance.label) == (name, "- [x]: #1", "x-1")


def test_a_manifest_is_written_once_and_never_over_another(submission, tmp_path):
    found = survey(submission({"x/x.h": HEADER.format(name="X")}), "sign-9", REPOSITORY)
    file = write(found, tmp_path / "catalog")
    assert file == tmp_path / "catalog/candidates/sign-9.yaml"
    assert file.read_text() == manifest(found)
    with pytest.raises(StorageError, match="is there already and is not overwritten; choose another --id"):
        write(found, tmp_path / "catalog")


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["init", "nowhere"], 2, "nowhere: no such folder"),
        (["init", "."], 2, "no file in it declares sig_keygen, kem_enc, kex_init_a or CryptHash"),
        (["init", ".", "--id", "Sign-1"], 2, "--id 'Sign-1': sign-, kem-, kex- or hash-, then"),
    ],
)
def test_a_users_mistake_gets_one_line(tmp_path, monkeypatch, capsys, *, words, status, message):
    monkeypatch.chdir(tmp_path)
    assert main(words) == status
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_the_command_prints_or_writes(submission, tmp_path, capsys):
    folder = submission({"x/x.h": HEADER.format(name="X")})
    assert main(["init", str(folder), "--id", "sign-3"]) == 0
    shown = capsys.readouterr().out
    assert main(["init", str(folder), "--id", "sign-3", "--write", "--data", str(tmp_path)]) == 0
    assert (tmp_path / "catalog/candidates/sign-3.yaml").read_text() == shown


def test_nothing_in_a_submission_is_run(submission, tmp_path):
    folder = submission({"x/x.h": HEADER.format(name="X"), "Makefile": f"all:\n\ttouch {tmp_path}/ran\n"})
    for name in ("configure", "x/build.sh", "setup.py"):
        (folder / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        (folder / name).chmod(0o755)
    text_of(folder)
    assert not (tmp_path / "ran").exists()


def test_the_manifest_of_a_toy_submission_builds_and_passes_as_it_is(submission, tmp_path):
    """The way of a new user: a folder as downloaded, its manifest, a pass."""
    toy = {file.name: file.read_text() for file in TOYS.iterdir()}
    official = HEADER.format(name="Toy") + '#include "toy.h"\n'
    folder = submission(
        {
            f"{REFERENCE}/Toy/SIG_Toy.h": official,
            f"{REFERENCE}/Toy/toy.h": toy["toy.h"],
            f"{REFERENCE}/Toy/sig.c": toy["sig.c"],
            f"{REFERENCE}/Toy/KAT_SIG.c": '#include "drng.h"\nDRNG_ctx drng_algorithm;\nint main(void) { return 1; }\n',
        }
    )
    candidate = loaded(tmp_path / "one", text_of(folder, "sign-toy"))
    job = BuildJob(
        candidate, candidate.instances[0], Fetched(folder, "path: x", None), REPOSITORY / "csrc", tmp_path / "out"
    )
    checked = build_and_check(job)
    assert checked.kat, checked.built.reason
    assert checked.kat.status is KatStatus.NOKAT
    (folder / "Test_Vectors").mkdir()
    # The submitter's own program would write this file; here the library's own text stands in for it.
    run_kat(job, checked.built, texts=folder / "Test_Vectors")
    candidate = loaded(tmp_path / "two", text_of(folder, "sign-toy"))
    assert (
        build_and_check(job._replace(candidate=candidate, instance=candidate.instances[0])).kat.status is KatStatus.PASS
    )
