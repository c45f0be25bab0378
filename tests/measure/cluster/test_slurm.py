"""The job script for Slurm: what it says, that nothing is submitted, and that its tasks make one campaign."""

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from evidence import store
from measure.cli import main
from measure.cluster import slurm
from measure.host.facts import usable_cpus
from tests.measure.cluster.test_scheduler import DEADLINE_S, ROOT, Place, kill

PROGRAMS = ("sbatch", "srun", "salloc", "scancel")


def command(folder: Path, name: str, text: str) -> None:
    """Write a program of this name."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


def test_the_script_says_what_was_asked_for_and_nothing_is_submitted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in PROGRAMS:
        command(tmp_path / "bin", name, f"echo {name} >> {tmp_path / 'called'}")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    words = ["--full", "--system", "arm_2", "--cpu", "9998,9999", "--only", "^kem-kyber/|it's", "--runs", "my runs"]
    assert main(["slurm", "--workers", "8", "--", *words]) == 0
    text = capsys.readouterr().out
    lines = text.splitlines()
    assert lines[0] == "#!/bin/bash"
    assert {line for line in lines if line.startswith("#SBATCH")} == {
        "#SBATCH --job-name=katalog-arm_2", "#SBATCH --array=0-8", "#SBATCH --nodes=1", "#SBATCH --ntasks=1",
        "#SBATCH --exclusive", "#SBATCH --hint=nomultithread", "#SBATCH --output=katalog-arm_2-%A_%a.log",
    }  # fmt: skip
    assert f"cd -- {tmp_path}" in lines
    assert f"""    exec {sys.executable} -m measure worker --scheduler "$(cat -- "$place")" --cpu 9998""" in lines
    assert lines[-1] == (
        f"""{sys.executable} -m measure run --scheduler "tcp://$host:8786" --full --system arm_2 --cpu 9998,9999 """
        """--only '^kem-kyber/|it'"'"'s' --runs 'my runs'"""
    )
    subprocess.run(["bash", "-n"], input=text, text=True, check=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bin"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--workers", "0"], "--workers 0: at least 1"),
        (["--workers", "1", "--", "--system", "../x"], "--system '../x': lower-case letters"),
        (["--workers", "1", "--", "--scheduler", "tcp://x:1"], "--scheduler tcp://x:1: the script starts one of its"),
    ],
)
def test_a_users_mistake_gets_one_line(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["slurm", *words]) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""


@pytest.mark.slow
def test_the_tasks_of_an_array_make_one_campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        monkeypatch.setattr(slurm, "PORT", free.getsockname()[1])
    driver = tmp_path / "driver"
    driver.mkdir()
    place = Place(tmp_path, driver, {"A": "none"})
    command(tmp_path / "bin", "hostname", "echo 127.0.0.1")
    cpu = str(usable_cpus()[0])
    words = place.words("run", "--cpu", cpu)[1:]
    array = slurm.Array(1, str(tmp_path), sys.executable, "local", str(place.runs), cpu, words)
    assert shutil.which("bash")
    (tmp_path / "campaign.sbatch").write_text(slurm.script(array))
    environment = {
        **os.environ,
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "SLURM_ARRAY_JOB_ID": "7",
    }
    tasks = [
        subprocess.Popen(
            ["bash", str(tmp_path / "campaign.sbatch")],
            env={**environment, "SLURM_ARRAY_TASK_ID": str(number)},
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        for number in (1, 0)
    ]
    try:
        said = [task.communicate(timeout=DEADLINE_S)[1] for task in tasks]
    finally:
        for task in tasks:
            kill(task)
    assert [task.returncode for task in tasks] == [0, 0], said
    assert f"measuring on core {cpu} for tcp://127.0.0.1:{slurm.PORT}" in said[0]
    assert {record.shard for record in store.load_system(place.data, "local").records} == {"worker-1"}
    assert not list(place.runs.glob("slurm-*"))
