"""Full disks: real ones, small, each in a mount name space of its own, so that nothing of it reaches this machine."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "tests/measure/interrupted/full_disk.py"
# An ordinary user mounts in a user name space, in which it stays itself, and then lays that right down.
NAME_SPACES = [] if os.geteuid() == 0 else ["--user", "--map-current-user", "--keep-caps"]
LAID_DOWN = "" if os.geteuid() == 0 else "setpriv --inh-caps=-all --ambient-caps=-all "


def on_a_small_disk(disk: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run a program that sees a disk of 3 MB in a folder."""
    script = f'mount -t tmpfs -o size=3m,mode=0755 none "$0" && exec {LAID_DOWN}"$@"'
    argv = ["unshare", "--mount", *NAME_SPACES, "sh", "-c", script, str(disk), *words]
    environment = {**os.environ, "KATALOG_SMALL_DISK": str(disk), "PYTHONPATH": str(ROOT)}
    return subprocess.run(argv, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=600)


@pytest.mark.slow
def test_a_full_disk_costs_at_most_the_operation_under_way(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    tried = on_a_small_disk(disk, "true")
    if tried.returncode != 0:
        pytest.skip(f"needs a small disk: {tried.stderr.strip()}")
    options = ["-q", "-p", "no:cacheprovider", f"--basetemp={tmp_path / 'scenarios'}"]
    ended = on_a_small_disk(disk, sys.executable, "-m", "pytest", *options, str(SCENARIOS))
    assert ended.returncode == 0, ended.stdout + ended.stderr
