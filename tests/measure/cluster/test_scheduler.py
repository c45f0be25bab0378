"""Campaigns over several workers of one scheduler, all on this machine: what is kept, who is refused, who is lost."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from evidence import store
from evidence.types import Campaign, Record
from measure.cli import main
from measure.host.facts import usable_cpus

ROOT = Path(__file__).resolve().parents[3]
TOY = "tests/measure/toy"
DEADLINE_S = 120.0  # of what takes a second, on a busy machine
OTHER_KERNEL = """
import msgspec, measure.host.facts as facts
real = facts.environment
facts.environment = lambda *words, **named: msgspec.structs.replace(real(*words, **named), kernel="5.0-other")
"""


def until(seen: Callable[[], object], what: str) -> None:
    """Wait for an event that can only be looked for."""
    deadline = time.monotonic() + DEADLINE_S
    while not seen():
        assert time.monotonic() < deadline, f"did not happen: {what}"
        time.sleep(0.02)


class Cluster:
    """A scheduler and workers, each a process of its own with a folder for what it writes while it works."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen[str]] = []
        folder.mkdir()

    def start_scheduler(self, **settings: str) -> None:
        """Start a scheduler on a free port, and wait for its address."""
        file = self.folder / f"scheduler-{len(self.processes)}.json"
        words = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--dashboard-address", "127.0.0.1:0"]
        command = [sys.executable, "-m", "distributed.cli.dask_scheduler", *words, "--scheduler-file", str(file)]
        self.scheduler = self.start(command, stderr=subprocess.DEVNULL, env=settings)
        until(lambda: file.exists() and file.read_text().endswith("}"), "a scheduler")
        self.address = json.loads(file.read_text())["address"]

    def start(self, command: list[str], **more: Any) -> "subprocess.Popen[str]":
        """Start a process in a group of its own."""
        environment = {**os.environ, "PYTHONPATH": str(ROOT), **more.pop("env", {})}
        started = subprocess.Popen(command, cwd=ROOT, text=True, start_new_session=True, env=environment, **more)
        self.processes.append(started)
        return started

    def worker(self, cpu: int, before: str = "") -> "subprocess.Popen[str]":
        """Start a worker; ``before`` is run in it first."""
        place = self.folder / f"worker-{len(self.processes)}"
        place.mkdir()
        words = ["worker", "--scheduler", self.address, "--cpu", str(cpu)]
        started = self.start(python(before, words), stderr=subprocess.PIPE, env={"TMPDIR": str(place)})
        assert started.stderr
        assert started.stderr.readline().startswith(f"measuring on core {cpu} for {self.address}")
        return started

    def under_way(self, worker: "subprocess.Popen[str]") -> bool:
        """Return whether a worker has finished a trial of an instance, and not the instance."""
        return any(self.place(worker).rglob("trial-1.json"))

    def at_work(self, worker: "subprocess.Popen[str]") -> bool:
        """Return whether a worker has an instance laid out."""
        return any(self.place(worker).rglob("run-*"))

    def place(self, worker: "subprocess.Popen[str]") -> Path:
        """Return where a worker keeps what it works on."""
        return self.folder / f"worker-{self.processes.index(worker)}"

    def end(self) -> None:
        """Kill whatever is left."""
        for process in self.processes:
            kill(process)
            if process.stderr:
                process.stderr.close()


def kill(process: "subprocess.Popen[str]") -> None:
    """Kill a process and its group."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def python(before: str, words: list[str]) -> list[str]:
    """Return the command line of ``python -m measure``, with other code first."""
    return [sys.executable, "-c", f"{before}\nimport sys, measure.cli\nsys.exit(measure.cli.main({words!r}))"]


class Place:
    """A data folder and a runs folder of one's own, with a candidate of some instances."""

    def __init__(self, folder: Path, driver: Path, instances: dict[str, str]) -> None:
        self.data, self.runs = folder / "data", folder / "runs"
        (self.data / "catalog" / "candidates").mkdir(parents=True)
        (self.data / "catalog" / "systems.yaml").write_text("x_1: {architecture: x86_64, description: other}\n")
        self.runs.mkdir()
        (self.runs / "driver").symlink_to(driver)
        kat = {"format": "nist", "sha256": "0" * 64, "rng": "hqc-shake"}
        recipes = [
            {"label": label, "dir": ".", "sources": ["kem.c"], "defines": [f"TOY_FAULT={fault}"], "kat": kat}
            for label, fault in instances.items()
        ]
        document = {
            "id": "kem-toy",
            "algorithm": "Toy",
            "source": {"path": TOY},
            "instances": recipes,
            "footnotes": [{"instances": ".", "action": "measure", "text": "Its known answers are other tests'."}],
        }
        (self.data / "catalog" / "candidates" / "kem-toy.yaml").write_text(json.dumps(document))

    def words(self, command: str, *more: str) -> list[str]:
        return [command, "--only", "kem-toy", "--data", str(self.data), "--runs", str(self.runs), *more]

    def measure(self, phase: str) -> int:
        return main(self.words(phase))

    def attempts(self) -> dict[Path, bytes]:
        files = (self.runs / "local" / "quick" / "attempts").rglob("[!.]*.json")
        return {file: file.read_bytes() for file in files}

    def records(self) -> dict[str, Record]:
        loaded = store.load_system(self.data, "local")
        return {f"{record.candidate}/{record.label} {record.operation}": record for record in loaded.records}

    def campaign(self) -> Campaign:
        return store.load_system(self.data, "local").campaign


def outline(records: dict[str, Record]) -> dict[str, tuple[object, ...]]:
    """Return of each record what does not depend on how long anything took."""
    return {
        name: (record.status, record.reason, len(record.processes), record.plan and record.plan.trials, record.kat)
        for name, record in records.items()
    }


@pytest.fixture(scope="session")
def driver_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which the driver is built once for all campaigns."""
    return tmp_path_factory.mktemp("driver")


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path / "cluster")
    made.start_scheduler()
    yield made
    made.end()


def lines_until(process: "subprocess.Popen[str]", text: str) -> list[str]:
    assert process.stderr
    seen = []
    for line in process.stderr:
        seen.append(line)
        if text in line:
            return seen
    pytest.fail(f"ended without saying {text!r}: {''.join(seen)}")


def cores(count: int) -> list[int]:
    """Return a core for each worker; a machine with fewer cores has some of them twice."""
    usable = usable_cpus()
    return [usable[number % len(usable)] for number in range(count)]


@pytest.mark.slow
def test_a_lost_worker_changes_nothing_in_the_set_of_records(
    tmp_path: Path, driver_cache: Path, cluster: Cluster
) -> None:
    instances = {"A": "none", "B": "none", "C": "late_abort", "D": "none"}
    single = Place(tmp_path / "single", driver_cache, instances)
    many = Place(tmp_path / "many", driver_cache, instances)
    assert [single.measure(phase) for phase in ("build", "kat", "time", "publish")] == [0, 0, 0, 0]
    assert [many.measure(phase) for phase in ("build", "kat")] == [0, 0]
    workers = [cluster.worker(cpu) for cpu in cores(3)]
    campaign = cluster.start(python("", many.words("time", "--scheduler", cluster.address)), stderr=subprocess.PIPE)
    lines_until(campaign, " by worker-")
    until(lambda: any(map(cluster.under_way, workers)), "a job under way")
    kill(next(filter(cluster.under_way, workers)))
    assert campaign.stderr
    said = campaign.stderr.read()
    assert campaign.wait(DEADLINE_S) == 0
    assert "is lost; what it had under way is handed out again" in said
    assert "Traceback" not in said
    assert many.measure("publish") == 0
    found = many.records()
    assert outline(found) == outline(single.records())
    assert found["kem-toy/C dec"].reason == "crash: ended by SIGABRT"
    by_label: dict[str, set[object]] = {}
    for record in found.values():
        by_label.setdefault(record.label, set()).add((record.shard, record.environment.cpu_number))
    assert {label: len(places) for label, places in by_label.items()} == dict.fromkeys("ABCD", 1)
    on_record = many.campaign()
    assert on_record.shard_cpus is not None
    assert sorted(on_record.shard_cpus) == ["worker-1", "worker-2", "worker-3"]
    assert sorted(on_record.shard_cpus.values()) == sorted(cores(3))
    assert set().union(*by_label.values()) <= set(on_record.shard_cpus.items())
    assert {check.shard for check in on_record.host_checks} == {None, *on_record.shard_cpus}


@pytest.mark.slow
def test_who_comes_late_is_asked_first(tmp_path: Path, driver_cache: Path, cluster: Cluster) -> None:
    place = Place(tmp_path / "place", driver_cache, {"A": "none", "B": "none"})
    campaign = cluster.start(python("", place.words("run", "--scheduler", cluster.address)), stderr=subprocess.PIPE)
    lines_until(campaign, "2 instance(s) for the workers of tcp://127.0.0.1:")
    other = cluster.worker(cores(1)[0], OTHER_KERNEL)
    refused = lines_until(campaign, "is refused: ")[-1]
    assert "kernel is '5.0-other', wanted " in refused
    cluster.worker(cores(1)[0])
    lines_until(campaign, "published to")
    assert campaign.wait(DEADLINE_S) == 0
    assert other.poll() is None
    assert {record.shard for record in place.records().values()} == {"worker-1"}
    assert place.campaign().shard_cpus == {"worker-1": cores(1)[0]}
    assert "5.0-other" not in {record.environment.kernel for record in place.records().values()}


@pytest.mark.slow
def test_without_a_fit_worker_the_campaign_ends(tmp_path: Path, driver_cache: Path, cluster: Cluster) -> None:
    place = Place(tmp_path / "place", driver_cache, {"A": "none"})
    hasty = "import measure.cluster.scheduler as s\ns.NO_WORKER_S = s.ALL_REFUSED_S = 1.0"
    command = python(hasty, place.words("run", "--scheduler", cluster.address))
    nobody = cluster.start(command, stderr=subprocess.PIPE)
    assert nobody.stderr
    assert "no worker for 1 s; start some with `python -m measure worker" in nobody.stderr.read().splitlines()[-1]
    assert nobody.wait(DEADLINE_S) == 13
    cluster.worker(cores(1)[0], OTHER_KERNEL)
    refused = cluster.start(command, stderr=subprocess.PIPE)
    assert refused.stderr
    last = refused.stderr.read().splitlines()[-1]
    assert last.startswith("measure: no worker may measure; the last was refused: kernel is '5.0-other', wanted ")
    assert refused.wait(DEADLINE_S) == 7


@pytest.mark.slow
def test_a_lost_scheduler_costs_what_was_under_way(tmp_path: Path, driver_cache: Path, cluster: Cluster) -> None:
    place = Place(tmp_path / "place", driver_cache, {"A": "none", "B": "none"})
    assert [place.measure(phase) for phase in ("build", "kat")] == [0, 0]
    worker = cluster.worker(cores(1)[0])
    campaign = cluster.start(python("", place.words("time", "--scheduler", cluster.address)), stderr=subprocess.PIPE)
    lines_until(campaign, "kem-toy/A by worker-1, 18 processes")
    until(lambda: cluster.under_way(worker), "a job under way")
    kill(cluster.scheduler)
    assert campaign.stderr
    said = campaign.stderr.read().splitlines()
    assert campaign.wait(DEADLINE_S) == 13
    assert said[-1].startswith(f"measure: --scheduler {cluster.address}: the connection was lost")
    assert said[-1].endswith("what was finished is kept, the same command goes on from there")
    assert not [line for line in said if "Traceback" in line]
    assert worker.wait(DEADLINE_S) == 0
    kept = place.attempts()
    assert len(kept) == 18
    cluster.start_scheduler()
    cluster.worker(cores(1)[0])
    again = cluster.start(python("", place.words("time", "--scheduler", cluster.address)), stderr=subprocess.PIPE)
    lines_until(again, "time: 1 instance(s) for the workers of ")
    lines_until(again, "kem-toy/B by worker-2, 18 processes")
    assert again.wait(DEADLINE_S) == 0
    assert place.measure("publish") == 0
    assert kept.items() <= place.attempts().items()
    assert {name: record.shard for name, record in place.records().items()} == {
        f"kem-toy/{label} {operation}": shard
        for label, shard in (("A", "worker-1"), ("B", "worker-2"))
        for operation in ("dec", "enc", "keygen")
    }


@pytest.mark.slow
def test_an_instance_that_costs_too_many_workers_is_named(tmp_path: Path, driver_cache: Path, cluster: Cluster) -> None:
    place = Place(tmp_path / "place", driver_cache, {"A": "none", "B": "none"})
    assert [place.measure(phase) for phase in ("build", "kat")] == [0, 0]
    kill(cluster.scheduler)
    cluster.start_scheduler(DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0")
    worker = cluster.worker(cores(1)[0])
    campaign = cluster.start(python("", place.words("time", "--scheduler", cluster.address)), stderr=subprocess.PIPE)
    until(lambda: cluster.under_way(worker), "a job under way")
    kill(worker)
    cluster.worker(cores(1)[0])
    assert campaign.stderr
    said = campaign.stderr.read()
    assert campaign.wait(DEADLINE_S) == 13
    assert "kem-toy/B by worker-2, 18 processes" in said
    lost = "kem-toy/A: 1 workers were lost while they measured it"
    assert said.splitlines()[-1].startswith(f"measure: 1 instance(s) not measured, first {lost}; what was finished is")
    assert "Traceback" not in said


@pytest.mark.slow
def test_an_interrupted_campaign_frees_its_workers(tmp_path: Path, driver_cache: Path, cluster: Cluster) -> None:
    place = Place(tmp_path / "place", driver_cache, {"A": "none", "B": "none"})
    worker = cluster.worker(cores(1)[0])
    campaign = cluster.start(python("", place.words("run", "--scheduler", cluster.address)), stderr=subprocess.PIPE)
    lines_until(campaign, "worker-1: tcp://127.0.0.1:")
    until(lambda: cluster.under_way(worker), "a job under way")
    campaign.send_signal(signal.SIGINT)
    assert campaign.stderr
    said = campaign.stderr.read()
    assert campaign.wait(DEADLINE_S) == 130
    assert said.endswith("interrupted; what was finished is kept, the same command goes on from here\n")
    assert "Traceback" not in said
    until(lambda: not cluster.at_work(worker), "the end of the job")
    assert worker.poll() is None
    assert place.attempts() == {}


@pytest.mark.slow
def test_another_distributed_at_the_scheduler_is_one_line(tmp_path: Path, driver_cache: Path, cluster: Cluster) -> None:
    place = Place(tmp_path / "place", driver_cache, {"A": "none"})
    older = "import measure.cluster.scheduler\nmeasure.cluster.scheduler.programs = lambda: {'distributed': '1.0'}"
    done = subprocess.run(
        python(older, place.words("run", "--scheduler", cluster.address)),
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 13
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"measure: --scheduler {cluster.address}: distributed is ")
    assert last.endswith(", wanted 1.0; install one on all")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_worker_leaves_when_it_is_told_to(cluster: Cluster, number: signal.Signals) -> None:
    worker = cluster.worker(cores(1)[0])
    worker.send_signal(number)
    assert worker.wait(DEADLINE_S) == 0
    assert worker.stderr
    assert worker.stderr.read() == ""
    assert list(cluster.place(worker).iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("address", "why"), [("tcp://127.0.0.1:1", "no answer within 1 s"), ("nowhere", "missing port number")]
)
def test_an_unreachable_scheduler_is_one_line(address: str, why: str) -> None:
    hasty = "import measure.cluster.worker\nmeasure.cluster.worker.CONNECT_TIMEOUT_S = 1.0"
    done = subprocess.run(
        python(hasty, ["worker", "--scheduler", address]), cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 13
    assert done.stderr.startswith(f"measure: --scheduler {address}: cannot be reached: {why}")
    assert done.stderr.count("\n") == 1


def test_measuring_on_one_machine_imports_nothing_of_it() -> None:
    look = "import sys, measure.cli\nprint(sorted({'dask', 'distributed'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", look], cwd=ROOT, capture_output=True, check=True).stdout == b"[]\n"


def test_a_worker_has_one_core(capsys: pytest.CaptureFixture[str]) -> None:
    usable = usable_cpus()
    if len(usable) < 2:
        pytest.skip("needs two cores")
    assert main(["worker", "--scheduler", "tcp://127.0.0.1:1", "--cpu", f"{usable[0]},{usable[1]}"]) == 2
    assert capsys.readouterr().err.endswith("a worker has one core; start one worker for each\n")


@pytest.mark.parametrize("command", ["run", "worker"])
def test_without_distributed_one_line_says_what_to_install(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert main([command, "--scheduler", "tcp://127.0.0.1:1"]) == 3
    error = capsys.readouterr().err
    assert "distributed is not installed; for many machines install the extra: pip install -e '.[cluster]'" in error
    assert error.count("\n") == 1
