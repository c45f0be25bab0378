"""Whole campaigns over toy libraries: what is published, and what interruptions and users' mistakes cost."""

import fcntl
import hashlib
import json
import math
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evidence import store
from evidence.cli import main as verify_evidence
from evidence.types import CounterUnit, KatStatus, Record
from measure.cli import main

ROOT = Path(__file__).resolve().parents[2]
TOY = "tests/measure/toy"
OPERATIONS = ("keygen", "enc", "dec")


def toy_digest() -> str:
    """Return the digest of the toy's response text, from hashlib alone: ss = ct xor pk, all drawn from SHAKE-256."""
    seed = hashlib.shake_256(bytes(range(48)) + b"\x01").digest(48)
    drawn = hashlib.shake_256(seed + b"\x01").digest(32)
    pk, ct = drawn[:16], drawn[16:]
    ss = bytes(a ^ b for a, b in zip(pk, ct, strict=True))
    values = {"seed": seed, "pk": pk, "sk": pk, "ct": ct, "ss": ss}
    text = "count = 0\n" + "".join(f"{name} = {value.hex().upper()}\n" for name, value in values.items())
    return hashlib.sha256(text.encode()).hexdigest()


def instance(label: str, fault: str = "none", sha256: str | None = None) -> dict[str, Any]:
    return {
        "label": label,
        "dir": ".",
        "sources": ["kem.c"],
        "defines": [f"TOY_FAULT={fault}"],
        "kat": {"format": "nist", "sha256": sha256 or toy_digest(), "rng": "hqc-shake"},
    }


class Place:
    """A data folder and a runs folder of one's own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.run = folder / "runs" / "local" / "quick"
        (self.data / "catalog" / "candidates").mkdir(parents=True)
        (self.data / "catalog" / "systems.yaml").write_text("x_1: {architecture: x86_64, description: other}\n")

    def candidate(self, *instances: dict[str, Any], footnotes: tuple[dict[str, str], ...] = ()) -> None:
        """Write the toy candidate's catalog file."""
        # JSON is YAML, too.
        document = {"id": "kem-toy", "algorithm": "Toy", "source": {"path": TOY}, "instances": instances}
        file = self.data / "catalog" / "candidates" / "kem-toy.yaml"
        file.write_text(json.dumps({**document, "footnotes": footnotes}))

    def arguments(self, *words: str) -> list[str]:
        return [*words, "--data", str(self.data), "--runs", str(self.folder / "runs")]

    def measure(self, *words: str) -> int:
        return main(self.arguments(*words))

    def records(self) -> dict[str, Record]:
        loaded = store.load_system(self.data, "local")
        return {f"{record.label} {record.operation}": record for record in loaded.records}


@pytest.fixture
def place(tmp_path: Path, driver_cache: Path) -> Place:
    made = Place(tmp_path)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "driver").symlink_to(driver_cache)
    return made


@pytest.fixture(scope="session")
def driver_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which the driver is built once for all campaigns."""
    return tmp_path_factory.mktemp("driver")


def test_a_campaign_publishes_what_it_observed(place: Place) -> None:
    place.candidate(instance("A"))
    assert place.measure("run") == 0
    records = place.records()
    assert list(records) == ["A dec", "A enc", "A keygen"]
    for record in records.values():
        assert record.status == "complete"
        assert record.kat is KatStatus.PASS
        assert record.plan
        assert [process.trials[0].measurements for process in record.processes] == [
            record.plan.iterations_per_trial
        ] * 5
        for process in record.processes:
            assert process.counter
            assert process.counter.name
            trial = process.trials[0]
            assert (trial.cycles is not None) == (process.counter.unit is CounterUnit.CYCLES)
            assert trial.quantiles
            assert trial.quantiles.min <= trial.quantiles.p50 <= trial.quantiles.max
            assert process.peak_rss_bytes
            assert process.baseline_rss_bytes
            assert process.baseline_rss_bytes <= process.peak_rss_bytes < 4 << 20
        assert record.sizes.pk_bytes == record.sizes.returned_ct_bytes == 16
    build = store.load_system(place.data, "local").build["kem-toy/A"]
    assert build.kat_sha256 == toy_digest()
    assert build.elf_load_bytes
    assert build.text_bytes
    assert (place.data / "local" / store.MANIFEST).read_bytes() == store.manifest(place.data / "local")


def test_a_second_run_repeats_nothing(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.candidate(instance("A"))
    assert place.measure("run") == 0
    first = {file: file.stat().st_mtime_ns for file in (place.run / "attempts").rglob("*.json")}
    assert len(first) == 3 * 6
    assert place.measure("run") == 0
    assert {file: file.stat().st_mtime_ns for file in (place.run / "attempts").rglob("*.json")} == first
    assert "time: 0 trials" in capsys.readouterr().err


def test_a_changed_recipe_is_built_and_timed_again(place: Place) -> None:
    place.candidate(instance("A"))
    assert place.measure("run") == 0
    before = place.records()["A enc"]
    place.candidate({**instance("A"), "defines": ["TOY_FAULT=none", "ANOTHER=1"], "name": "Renamed"})
    assert place.measure("run") == 0
    after = place.records()["A enc"]
    assert after.instance == "Renamed"
    assert after.library_sha256 != before.library_sha256
    assert after.started_utc > before.started_utc


def test_one_failing_instance_costs_only_itself(place: Place) -> None:
    place.candidate(
        instance("A"), instance("B", "late_abort"), instance("C", sha256="0" * 64), instance("D", "abort_itself")
    )
    assert place.measure("run", "--only", "kem-toy") == 0
    records = place.records()
    assert {name: record.status for name, record in records.items()} == {
        "A keygen": "complete", "A enc": "complete", "A dec": "complete",
        "B keygen": "complete", "B enc": "complete", "B dec": "failed",
    }  # fmt: skip
    assert records["B dec"].reason == "crash: ended by SIGABRT"
    build = store.load_system(place.data, "local").build
    assert {key: built.kat.value for key, built in build.items()} == {
        "kem-toy/A": "PASS", "kem-toy/B": "PASS", "kem-toy/C": "MISMATCH", "kem-toy/D": "CRASH",
    }  # fmt: skip
    log = (place.data / "local" / "kat" / "kem-toy" / "D.log").read_text()
    assert log.splitlines()[-1] == "RESULT kem-toy D CRASH ended by SIGABRT"


def test_a_footnote_lets_a_mismatch_be_timed(place: Place) -> None:
    note = {"instances": "^C$", "action": "measure", "text": "Known."}
    place.candidate(instance("A"), instance("C", sha256="0" * 64), footnotes=(note,))
    assert place.measure("run", "--only", "/C$") == 0
    assert {name: record.kat for name, record in place.records().items()} == dict.fromkeys(
        ("C keygen", "C enc", "C dec"), KatStatus.MISMATCH
    )


def test_an_excluding_footnote_keeps_an_instance_untimed(place: Place) -> None:
    place.candidate(instance("C", sha256="0" * 64), footnotes=({"instances": "C", "action": "exclude", "text": "x"},))
    assert place.measure("run") == 0
    assert place.records() == {}
    assert store.load_system(place.data, "local").build["kem-toy/C"].kat is KatStatus.MISMATCH


def lines_until(process: "subprocess.Popen[str]", text: str) -> Iterator[str]:
    assert process.stderr
    for line in process.stderr:
        yield line
        if text in line:
            return
    pytest.fail(f"the run ended without saying {text!r}")


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGKILL, -9), (signal.SIGINT, 130)])
@pytest.mark.parametrize("at", ["build: kem-toy/B", "calibrate: kem-toy/B enc", "A enc trial 2", "B dec trial 5"])
def test_an_interrupted_run_goes_on_with_the_same_evidence(
    place: Place, number: signal.Signals, code: int, at: str
) -> None:
    place.candidate(instance("A"), instance("B"))
    command = [sys.executable, "-m", "measure", *place.arguments("run", "--only", "kem-toy")]
    with subprocess.Popen(
        command, cwd=ROOT, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    ) as process:
        list(lines_until(process, at))
        process.send_signal(number)
        rest = process.stderr.read() if process.stderr else ""
    if process.returncode != 0:  # else the signal came after the end
        assert process.returncode == code
        assert number != signal.SIGINT or "the same command goes on from here" in rest
        assert "Traceback" not in rest
    kept = {file: file.read_bytes() for file in (place.run / "attempts").rglob("[!.]*.json")}
    assert place.measure("run", "--only", "kem-toy") == 0
    records = place.records()
    assert {f"{label} {operation}" for label in "AB" for operation in ("keygen", "enc", "dec")} == set(records)
    assert all(len(record.processes) == 5 for record in records.values())
    assert all(file.read_bytes() == content for file, content in kept.items())


def test_broken_state_files_are_repaired(place: Place) -> None:
    place.candidate(instance("A"))
    assert place.measure("run") == 0
    torn = place.run / "attempts" / "kem-toy" / "A__enc" / "trial-3.json"
    torn.write_bytes(torn.read_bytes()[:100])
    (place.run / "kem-toy" / "lib" / "libA.so").write_bytes(b"")
    (place.run / "campaign.json").write_bytes(b"")
    assert place.measure("run") == 0
    assert len(place.records()["A enc"].processes) == 5


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (
            ["run", "--only", "nothing"],
            2,
            "--only 'nothing' matches no candidate/label; candidates that can be",
        ),
        (["run", "--only", "("], 2, "--only '(' is no regular expression"),
        (["run", "--system", "../x"], 2, "--system '../x': lower-case letters, digits, - and _ only"),
        (["run", "--cpu", "9999"], 2, "--cpu 9999: this process may use cores"),
        (["kat"], 2, "kem-toy/A: is not built yet: run `python -m measure build` first"),
        (["time"], 2, "kem-toy/A: has no KAT result yet: run `python -m measure kat` first"),
        (["publish"], 2, "holds no KAT result: run `python -m measure run` first"),
    ],
)
def test_a_users_mistake_gets_one_line(
    place: Place, capsys: pytest.CaptureFixture[str], words: list[str], code: int, message: str
) -> None:
    place.candidate(instance("A"))
    assert place.measure(*words) == code
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert error.startswith("measure: ")


def test_a_faulty_catalog_lists_all_faults(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.candidate(instance("A"))
    file = place.data / "catalog" / "candidates" / "kem-toy.yaml"
    file.write_text("id: kem-toy\nalgoritm: Toy\nsauce: {path: x}\n")
    assert place.measure("run") == 11
    error = capsys.readouterr().err
    assert "kem-toy.yaml:2: algoritm: unknown key 'algoritm'; did you mean 'algorithm'?" in error
    assert "kem-toy.yaml:3: sauce: unknown key 'sauce'; did you mean 'source'?" in error


def test_missing_compiler_and_cmake_say_what_to_install(
    place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    place.candidate(instance("A"))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert place.measure("run") == 3
    assert "gcc is not installed; install it, for example with: apt install gcc" in capsys.readouterr().err


def test_a_full_plan_wants_a_fit_host(
    place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    place.candidate(instance("A"))
    monkeypatch.setattr("measure.host.check.problems", lambda *_: ["turbo is enabled: echo 1 > no_turbo"])
    assert place.measure("run", "--full") == 7
    assert "the host is not fit for a full plan: turbo is enabled: echo 1 > no_turbo" in capsys.readouterr().err
    assert not (place.data / "local").exists()


def test_two_runs_do_not_share_a_folder(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.candidate(instance("A"))
    place.run.mkdir(parents=True)
    with (place.run / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert place.measure("run") == 9
    assert "another run is using this folder" in capsys.readouterr().err


def test_an_unwritable_folder_is_one_line(place: Place, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    place.candidate(instance("A"))
    (tmp_path / "file").write_text("")
    assert main(["run", "--data", str(place.data), "--runs", str(tmp_path / "file")]) == 9
    error = capsys.readouterr().err
    assert "cannot be written: Not a directory; choose another --runs folder" in error
    assert error.count("\n") == 1


def test_unfinished_operations_are_not_published(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.candidate(instance("A"))
    for phase in ("build", "kat", "time"):
        assert place.measure(phase) == 0
    (place.run / "attempts" / "kem-toy" / "A__enc" / "trial-3.json").unlink()
    assert place.measure("publish") == 10
    assert "1 operation(s) unfinished, first kem-toy/A enc: run the time phase again" in capsys.readouterr().err
    assert not (place.data / "local").exists()


def test_operations_that_were_never_called_are_not_left_out_silently(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    place.candidate(instance("A"), instance("B"))
    for phase in ("build", "kat"):
        assert place.measure(phase, "--only", "kem-toy") == 0
    assert place.measure("time", "--only", "/A$", "--target", "0.1") == 0
    assert place.measure("publish") == 10
    assert "3 operation(s) unfinished, first kem-toy/B dec: run the time phase again" in capsys.readouterr().err


def test_two_cores_share_one_campaign(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    usable = sorted(os.sched_getaffinity(0))
    if len(usable) < 2:
        pytest.skip("needs two cores")
    place.candidate(instance("A"), instance("B"))
    cores = f"{usable[0]},{usable[1]}"
    assert place.measure("run", "--only", "kem-toy", "--cpu", cores) == 0
    assert "beside 1 other core(s) a call takes " in capsys.readouterr().err
    records = place.records()
    assert len(records) == 6
    assert all(len(record.processes) == 5 for record in records.values())
    used = {label: {r.environment.cpu_number for r in records.values() if r.label == label} for label in "AB"}
    assert [len(cpus) for cpus in used.values()] == [1, 1]
    assert used["A"] | used["B"] == {usable[0], usable[1]}
    control = store.load_system(place.data, "local").campaign.parallel_control
    assert control
    assert control.cpus == (usable[0], usable[1])
    assert 0 < control.alone_s < 1
    assert place.measure("run", "--only", "kem-toy", "--cpu", cores) == 0
    assert "time: 0 trials" in capsys.readouterr().err


def test_a_published_manifest_is_signed(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    key = place.folder / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    (place.folder / "trusted").write_text("operator@example.org " + key.with_suffix(".pub").read_text())
    place.candidate(instance("A"))
    assert place.measure("run", "--sign", str(key)) == 0
    trusted = ["--trusted", str(place.folder / "trusted")]
    assert verify_evidence(["verify", "--data", str(place.data), *trusted]) == 0
    assert "      1 signatures" in capsys.readouterr().out
    before = (place.data / "local" / store.SIGNATURE).read_bytes()
    assert place.measure("publish", "--sign", str(place.folder / "absent")) == 10
    assert "cannot sign" in capsys.readouterr().err
    assert (place.data / "local" / store.SIGNATURE).read_bytes() == before


def order_of_trials(place: Place) -> list[str]:
    """Return the operations of the trials in the order in which the log says that they ended."""
    lines = (place.run / "campaign.log").read_text().splitlines()
    return [match[1] for line in lines if (match := re.search(r" time: kem-toy/(\S+ \S+) trial", line))]


def test_deferred_instances_come_after_all_others(place: Place) -> None:
    place.candidate(instance("A"), instance("B"))
    words = ("--only", "kem-toy", "--defer", "/A$", "--target", "0.001")
    assert place.measure("run", *words) == 0
    assert [name.split()[0] for name in order_of_trials(place)] == ["B"] * 15 + ["A"] * 15
    assert len(place.records()) == 6


def test_trials_go_round_by_round(place: Place) -> None:
    place.candidate(instance("A"), instance("B"))
    assert place.measure("run", "--only", "kem-toy", "--target", "0.001") == 0
    order = order_of_trials(place)
    assert [sorted(set(order[start : start + 6])) for start in range(0, 30, 6)] == [
        ["A dec", "A enc", "A keygen", "B dec", "B enc", "B keygen"]
    ] * 5


def test_a_plan_is_told_before_any_trial_runs(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.candidate(instance("A"), instance("B", "late_abort"))
    for phase in ("build", "kat"):
        assert place.measure(phase, "--only", "kem-toy") == 0
    capsys.readouterr()
    assert place.measure("plan", "--only", "kem-toy") == 0
    lines = capsys.readouterr().out.splitlines()
    calibrations = {name: place.run / "attempts/kem-toy" / f"A__{name}" / "calibration.json" for name in OPERATIONS}
    trials = 0
    for name, file in calibrations.items():
        call_s = json.loads(file.read_text())["process"]["trials"][0]["seconds"]
        iterations = min(max(math.ceil(0.1 / call_s), 20), 20_000)
        assert any(line.endswith(f"5 × {iterations}  kem-toy/A {name}") for line in lines), (name, lines)
        trials += 5
    assert re.fullmatch(rf"time: {2 * trials} trials left, about .*, ends \d\d:\d\d", lines[-1])
    assert not list((place.run / "attempts").rglob("trial-*.json"))


def test_what_share_was_timed_work_is_said_and_published(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.candidate(instance("A"))
    assert place.measure("run") == 0
    work = store.load_system(place.data, "local").campaign.timed_work
    assert work
    attempts = [json.loads(file.read_text()) for file in (place.run / "attempts").rglob("*.json")]
    timed_s = sum(trial["seconds"] for attempt in attempts for trial in attempt["process"]["trials"])
    assert work.timed_s == pytest.approx(timed_s)
    assert work.wall_s > work.timed_s
    said = f"{work.timed_s / work.wall_s:.1%} of {round(work.wall_s)} s of measuring was timed work"
    assert capsys.readouterr().err.splitlines()[-1] == said
    assert place.measure("run") == 0
    again = store.load_system(place.data, "local").campaign.timed_work
    assert again
    assert again.timed_s == pytest.approx(timed_s)
    assert again.wall_s > work.wall_s


def test_another_target_and_budget_are_on_record(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.candidate(instance("A"))
    assert place.measure("run", "--target", "0.002", "--budget", "5") == 0
    planning = store.load_system(place.data, "local").campaign.planning
    assert (planning.name, planning.trial_target_s, planning.op_budget_s) == ("quick", 0.002, 5.0)
    capsys.readouterr()
    assert place.measure("run") == 2
    assert "begun under another plan (--target 0.002 --budget 5); finish it or choose" in capsys.readouterr().err
    for words in (["--target", "0"], ["--budget", "-1"], ["--target", "nan"], ["--budget", "1e9"]):
        assert place.measure("run", *words) == 2
        assert f"{words[0]} {float(words[1]):g}: a number of seconds above 0" in capsys.readouterr().err
    assert place.measure("run", "--defer", "(") == 2


def test_each_publication_that_changes_something_is_logged(place: Place) -> None:
    place.candidate(instance("A"))
    assert place.measure("run", "--target", "0.001") == 0
    (first,) = store.load_system(place.data, "local").changes
    assert (first.instances, first.records, first.replaced_sha256, first.changed) == (1, 3, None, ())
    assert place.measure("publish", "--target", "0.001") == 0
    assert store.load_system(place.data, "local").changes == (first,)
    manifest = hashlib.sha256((place.data / "local" / store.MANIFEST).read_bytes()).hexdigest()
    place.candidate(instance("A"), instance("B"))
    assert place.measure("run", "--target", "0.001", "--only", "kem-toy") == 0
    _, second = store.load_system(place.data, "local").changes
    assert (second.instances, second.records, second.replaced_sha256) == (2, 6, manifest)
    assert [(figure.operation, figure.verdict) for figure in second.changed] == [
        ("kem-toy/B dec", "added"), ("kem-toy/B enc", "added"), ("kem-toy/B keygen", "added"),
    ]  # fmt: skip
    assert verify_evidence(["verify", "--data", str(place.data)]) == 0


def test_a_broken_publication_is_replaced_and_its_log_goes_on(place: Place) -> None:
    place.candidate(instance("A"))
    assert place.measure("run", "--target", "0.001") == 0
    (place.data / "local" / "build.json").write_text("{")
    assert place.measure("publish", "--target", "0.001") == 0
    first, second = store.load_system(place.data, "local").changes
    assert first.note is None
    assert second.note
    assert second.note.startswith("what it replaced could not be read: 1 fault(s), first: local/build.json: ")


def everything_measured(place: Place) -> dict[Path, dict[str, Any]]:
    return {file: json.loads(file.read_text()) for file in (place.run / "attempts").rglob("[!.]*.json")}


@pytest.mark.parametrize("lost", ["trial-3.json", "calibration.json"])
def test_an_instance_that_another_machine_began_is_measured_again(place: Place, lost: str) -> None:
    place.candidate(instance("A"), instance("B"))
    words = ("--only", "kem-toy", "--target", "0.001")
    assert place.measure("run", *words) == 0
    before = everything_measured(place)
    for file, attempt in before.items():
        file.write_text(json.dumps({**attempt, "shard": "worker-1"}))
    timed = store.load_system(place.data, "local").campaign.timed_work
    (place.run / "attempts" / "kem-toy" / "A__enc" / lost).unlink()
    assert place.measure("run", *words) == 0
    after = everything_measured(place)
    assert after.keys() == before.keys()
    again = {file for file in after if after[file]["started_utc"] != before[file]["started_utc"]}
    assert again == {file for file in after if file.parent.name.startswith("A__")}
    again_s = sum(trial["seconds"] for file in again for trial in after[file]["process"]["trials"])
    now = store.load_system(place.data, "local").campaign.timed_work
    assert timed
    assert now
    assert now.timed_s == pytest.approx(timed.timed_s + again_s)
    assert {record.shard for name, record in place.records().items() if name.startswith("A")} == {None}
    assert {record.shard for name, record in place.records().items() if name.startswith("B")} == {"worker-1"}


def test_an_unfinished_instance_is_measured_again_on_another_core(place: Place) -> None:
    usable = sorted(os.sched_getaffinity(0))
    if len(usable) < 2:
        pytest.skip("needs two cores")
    place.candidate(instance("A"), instance("B"))
    words = ("--only", "kem-toy", "--target", "0.001")
    assert place.measure("run", *words, "--cpu", str(usable[0])) == 0
    (place.run / "attempts" / "kem-toy" / "A__enc" / "trial-3.json").unlink()
    assert place.measure("run", *words, "--cpu", str(usable[1])) == 0
    cores = {name: record.environment.cpu_number for name, record in place.records().items()}
    assert cores == {f"{label} {name}": usable["AB".index(label) ^ 1] for label in "AB" for name in OPERATIONS}


def test_the_account_is_of_what_was_measured_with_this_library(place: Place) -> None:
    place.candidate(instance("A"))
    assert place.measure("run", "--target", "0.02") == 0
    first = store.load_system(place.data, "local").campaign.timed_work
    place.candidate({**instance("A"), "name": "Renamed"})
    assert place.measure("run", "--target", "0.02") == 0
    both = store.load_system(place.data, "local").campaign.timed_work
    assert first
    assert both
    attempts = everything_measured(place).values()
    second_s = sum(trial["seconds"] for attempt in attempts for trial in attempt["process"]["trials"])
    assert both.timed_s == pytest.approx(first.timed_s + second_s)


def test_a_campaign_measures_with_a_driver_of_its_own(place: Place, driver_cache: Path) -> None:
    place.candidate(instance("A"))
    assert place.measure("run", "--target", "0.001") == 0
    (kept,) = (place.run / "driver").glob("*/driver")
    assert kept.read_bytes() == (driver_cache / "driver").read_bytes()
    digest = hashlib.sha256(kept.read_bytes()).hexdigest()
    assert kept.parent.name == digest
    assert {record.driver_sha256 for record in place.records().values()} == {digest}


def test_folders_may_be_given_from_where_one_stands(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.candidate(instance("A"))
    monkeypatch.chdir(place.folder)
    assert main(["run", "--target", "0.001", "--data", "data", "--runs", "runs"]) == 0
    assert len(place.records()) == 3
