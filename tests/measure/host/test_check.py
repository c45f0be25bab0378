"""Five kinds of machines, as they came and after the commands that the check names: exactly these items, each time."""

import json
import re
from pathlib import Path

import pytest

from evidence.types import Counter, CounterUnit
from measure.host import check
from measure.host.check import Finding, Seen, document, findings, problems, table
from measure.host.facts import Tools, cpu_numbers, environment

HOSTS = Path(__file__).resolve().parent / "machines"
CYCLES = Counter(unit=CounterUnit.CYCLES, name="perf-rdpmc", overhead=40)
TICKS = Counter(unit=CounterUnit.TICKS, name="tsc", hz=2_600_000_000, overhead=40)
CPUS = "/sys/devices/system/cpu"
STEADY = tuple(2_100_000_000 + 1_000_000 * (number % 3) for number in range(25))
UNSTEADY = tuple(2_100_000_000 + 1_000_000 * (number % 25) for number in range(25))


def unpack(name: str, root: Path) -> None:
    parts = re.split(r"^==> /(.+) <==\n", (HOSTS / f"{name}.tree").read_text(), flags=re.MULTILINE)
    for path, content in zip(parts[1::2], parts[2::2], strict=True):
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content.removesuffix("\n"))


def machine(root: Path, name: str, cpu: int, counter: Counter, *, fixed: bool, **more: object) -> Seen:
    unpack(name, root)
    if fixed:
        unpack(f"{name}.fixed", root)
    return Seen(env=environment(cpu, Tools(None, None), root), counter=counter, root=root, **more)


def items(seen: Seen) -> dict[str, tuple[str, str, str]]:
    """Return what is not ready: item -> found, fix, undo."""
    return {one.item: (one.found, one.fix, one.undo) for one in problems(seen)}


def names(seen: Seen) -> list[str]:
    return [one.item for one in findings(seen)]


def test_a_hybrid_desktop_as_it_came(tmp_path: Path) -> None:
    seen = machine(tmp_path, "intel-hybrid", 2, TICKS, fixed=False)
    assert items(seen) == {
        "counter": (
            "hardware cycle counter unavailable",
            "sysctl kernel.perf_event_paranoid=2",
            "sysctl kernel.perf_event_paranoid=3",
        ),
        "turbo": (
            "turbo is enabled",
            f"echo 1 > {CPUS}/intel_pstate/no_turbo",
            f"echo 0 > {CPUS}/intel_pstate/no_turbo",
        ),
        "governor": (
            "CPU 2 governor is powersave, not performance",
            f"echo performance > {CPUS}/cpu2/cpufreq/scaling_governor",
            f"echo powersave > {CPUS}/cpu2/cpufreq/scaling_governor",
        ),
        "siblings": (
            "CPU 2 shares its core with CPUs 2-3 (SMT on)",
            f"echo off > {CPUS}/smt/control",
            f"echo on > {CPUS}/smt/control",
        ),
        "load": ("load is too high: 4 other processes running", "", ""),
        "heat": ("near its thermal limit (97 °C, slowed down from 100 °C)", "", ""),
    }


def test_a_hybrid_desktop_fixed(tmp_path: Path) -> None:
    seen = machine(tmp_path, "intel-hybrid", 2, CYCLES, fixed=True, clocks_hz=(STEADY,))
    assert names(seen) == [
        "virtual machine", "emulation", "usable core", "core type", "counter", "turbo", "governor", "honoured clock",
        "steady clock", "siblings", "load", "heat",
    ]  # fmt: skip
    assert items(seen) == {}


def test_an_efficiency_core_is_the_wrong_one(tmp_path: Path) -> None:
    seen = machine(tmp_path, "intel-hybrid", 17, CYCLES, fixed=True)
    assert items(seen)["core type"] == ("CPU 17 is no performance core", "python -m measure check --cpu 15", "")


def test_a_server_as_it_came(tmp_path: Path) -> None:
    seen = machine(tmp_path, "amd-server", 63, TICKS, fixed=False)
    assert items(seen) == {
        "counter": (
            "hardware cycle counter unavailable",
            "sysctl kernel.perf_event_paranoid=2",
            "sysctl kernel.perf_event_paranoid=4",
        ),
        "boost": ("boost is enabled", f"echo 0 > {CPUS}/cpufreq/boost", f"echo 1 > {CPUS}/cpufreq/boost"),
        "governor": (
            "CPU 63 governor is schedutil, not performance",
            f"echo performance > {CPUS}/cpu63/cpufreq/scaling_governor",
            f"echo schedutil > {CPUS}/cpu63/cpufreq/scaling_governor",
        ),
        "siblings": (
            "CPU 63 shares its core with CPUs 31,63 (SMT on)",
            f"echo off > {CPUS}/smt/control",
            f"echo on > {CPUS}/smt/control",
        ),
        "load": ("load is too high: 11 other processes running", "", ""),
    }


def test_a_server_fixed_and_its_core_kept_free(tmp_path: Path) -> None:
    seen = machine(tmp_path, "amd-server", 63, CYCLES, fixed=True)
    assert names(seen) == [
        "virtual machine", "emulation", "usable core", "counter", "boost", "governor", "siblings", "load",
    ]  # fmt: skip
    assert items(seen) == {}
    usable = next(one for one in findings(seen) if one.item == "usable core")
    assert usable.found == "CPU 63 is online, kept free of other work"


def test_a_snapdragon_laptop_as_it_came(tmp_path: Path) -> None:
    seen = machine(tmp_path, "snapdragon-laptop", 3, TICKS, fixed=False)
    assert items(seen) == {
        "counter": (
            "hardware cycle counter unavailable",
            "sysctl kernel.perf_user_access=1",
            "sysctl kernel.perf_user_access=0",
        ),
        "boost": ("boost is enabled", f"echo 0 > {CPUS}/cpufreq/boost", f"echo 1 > {CPUS}/cpufreq/boost"),
        "governor": (
            "CPU 3 governor is schedutil, not performance",
            f"echo performance > {CPUS}/cpu3/cpufreq/scaling_governor",
            f"echo schedutil > {CPUS}/cpu3/cpufreq/scaling_governor",
        ),
        "pinned clock": (
            "CPU 3 clock is not pinned (minimum below maximum)",
            f"echo 3417600 > {CPUS}/cpu3/cpufreq/scaling_min_freq",
            f"echo 710400 > {CPUS}/cpu3/cpufreq/scaling_min_freq",
        ),
    }


def test_a_snapdragon_laptop_fixed(tmp_path: Path) -> None:
    seen = machine(tmp_path, "snapdragon-laptop", 3, CYCLES, fixed=True)
    assert names(seen) == [
        "virtual machine", "emulation", "usable core", "core type", "counter", "boost", "governor", "pinned clock",
        "honoured clock", "siblings", "load", "heat",
    ]  # fmt: skip
    assert items(seen) == {}


def test_a_cluster_that_ignores_its_limit_is_noticed(tmp_path: Path) -> None:
    seen = machine(tmp_path, "snapdragon-laptop", 11, CYCLES, fixed=True)
    assert items(seen) == {
        "honoured clock": (
            "CPU 11 runs at 3418 MHz, though its settings say 2707 MHz",
            "python -m measure check --cpu 0",
            "",
        )
    }


def test_a_measured_clock_goes_before_what_the_firmware_says(tmp_path: Path) -> None:
    seen = machine(tmp_path, "snapdragon-laptop", 3, CYCLES, fixed=True, clocks_hz=((3_417_000_000,) * 25,))
    assert list(items(seen)) == ["honoured clock"]


def test_a_raspberry_pi_as_it_came(tmp_path: Path) -> None:
    seen = machine(tmp_path, "raspberry-pi", 3, TICKS, fixed=False)
    assert items(seen) == {
        "counter": (
            "hardware cycle counter unavailable",
            "sysctl kernel.perf_user_access=1",
            "sysctl kernel.perf_user_access=0",
        ),
        "governor": (
            "CPU 3 governor is ondemand, not performance",
            f"echo performance > {CPUS}/cpu3/cpufreq/scaling_governor",
            f"echo ondemand > {CPUS}/cpu3/cpufreq/scaling_governor",
        ),
        "pinned clock": (
            "CPU 3 clock is not pinned (minimum below maximum)",
            f"echo 2400000 > {CPUS}/cpu3/cpufreq/scaling_min_freq",
            f"echo 1500000 > {CPUS}/cpu3/cpufreq/scaling_min_freq",
        ),
        "heat": ("the firmware holds the clock down (get_throttled 50005)", "", ""),
    }


def test_a_raspberry_pi_fixed(tmp_path: Path) -> None:
    """That it was throttled once since its start does not matter."""
    seen = machine(tmp_path, "raspberry-pi", 3, CYCLES, fixed=True)
    assert names(seen) == [
        "virtual machine", "emulation", "usable core", "counter", "governor", "pinned clock", "siblings", "load",
    ]  # fmt: skip
    assert items(seen) == {}


def test_a_virtual_machine_as_it_came(tmp_path: Path) -> None:
    seen = machine(tmp_path, "virtual-machine", 1, TICKS, fixed=False)
    assert items(seen) == {
        "virtual machine": (
            "virtual machine (unknown): its figures depend on what else its host does",
            "",
            "",
        ),
        "counter": ("hardware cycle counter unavailable", "", ""),
        "governor": ("clock frequency is not under the system's control", "", ""),
        "siblings": (
            "CPU 1 shares its core with CPUs 0-1 (SMT on)",
            f"echo 0 > {CPUS}/cpu0/online",
            f"echo 1 > {CPUS}/cpu0/online",
        ),
        "load": ("load is too high: 6 other processes running", "", ""),
    }


def test_a_virtual_machine_stays_one(tmp_path: Path) -> None:
    seen = machine(tmp_path, "virtual-machine", 1, TICKS, fixed=True)
    assert list(items(seen)) == ["virtual machine", "counter", "governor"]


@pytest.mark.parametrize(
    ("clocks_hz", "ready"),
    [
        ((STEADY,), True),
        ((UNSTEADY, UNSTEADY, STEADY), True),
        ((UNSTEADY, UNSTEADY), True),
        ((UNSTEADY, UNSTEADY, UNSTEADY), False),
        (((0, 0, 0),) * 3, False),
    ],
)
def test_a_clock_is_unsteady_after_three_probes_in_a_row(tmp_path: Path, clocks_hz, ready: bool) -> None:
    seen = machine(tmp_path, "virtual-machine", 1, TICKS, fixed=True, clocks_hz=clocks_hz)
    assert ("steady clock" not in items(seen)) is ready


def test_the_bound_of_a_steady_clock() -> None:
    middle_half = [990.0, 997.5, 1000.0, 1002.4, 1010.0]
    assert check.is_steady([int(1e6 * rate) for rate in (997.6, 997.6, 1000, 1002.5, 1002.5)])
    assert not check.is_steady([int(1e6 * rate) for rate in (997.4, 997.4, 1000, 1002.6, 1002.6)])
    assert not check.is_steady([int(1e6 * rate) for rate in middle_half])


def test_an_offline_core_and_a_forbidden_one(tmp_path: Path) -> None:
    seen = machine(tmp_path, "intel-hybrid", 3, CYCLES, fixed=True)
    assert items(seen)["usable core"] == (
        "CPU 3 is offline",
        f"echo 1 > {CPUS}/cpu3/online",
        f"echo 0 > {CPUS}/cpu3/online",
    )
    seen = machine(tmp_path, "intel-hybrid", 2, CYCLES, fixed=True, usable_cpus=frozenset({0, 4}))
    assert items(seen)["usable core"] == (
        "CPU 2 is not allowed to this process",
        "taskset -c 2 python -m measure check --cpu 2",
        "",
    )


def test_a_small_core_of_an_arm_machine_is_the_wrong_one(tmp_path: Path) -> None:
    for cpu in range(8):
        (tmp_path / f"sys/devices/system/cpu/cpu{cpu}").mkdir(parents=True)
        (tmp_path / f"sys/devices/system/cpu/cpu{cpu}/cpu_capacity").write_text("1024" if cpu > 5 else "446")
    seen = machine(tmp_path, "raspberry-pi", 3, CYCLES, fixed=True)
    (tmp_path / "sys/devices/system/cpu/online").write_text("0-7")
    assert items(seen) == {"core type": ("CPU 3 is no core of full capacity", "python -m measure check --cpu 7", "")}


def test_a_switch_of_boost_of_each_core(tmp_path: Path) -> None:
    seen = machine(tmp_path, "raspberry-pi", 3, CYCLES, fixed=True)
    (tmp_path / "sys/devices/system/cpu/cpu3/cpufreq/boost").write_text("1")
    assert items(seen)["boost"][1] == f"echo 0 > {CPUS}/cpu3/cpufreq/boost"


def test_an_emulator_is_never_ready(tmp_path: Path) -> None:
    seen = machine(tmp_path, "raspberry-pi", 3, CYCLES, fixed=True, emulated=True)
    assert items(seen) == {"emulation": ("another program runs the instructions", "", "")}


def test_no_counter_at_all(tmp_path: Path) -> None:
    seen = machine(tmp_path, "raspberry-pi", 3, CYCLES, fixed=True)
    assert problems(Seen(env=seen.env, counter=None, root=tmp_path))[0].found == "hardware cycle counter unavailable"


def test_nothing_is_known_of_an_empty_tree(tmp_path: Path) -> None:
    seen = Seen(env=environment(0, Tools(None, None), tmp_path), counter=CYCLES, root=tmp_path)
    assert names(seen) == ["virtual machine", "emulation", "counter", "governor"]
    assert list(items(seen)) == ["governor"]


def test_the_table_names_both_commands_and_json_has_all(tmp_path: Path) -> None:
    seen = machine(tmp_path, "amd-server", 63, TICKS, fixed=False)
    lines = table(findings(seen)).splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("NOT READY  boost"))
    assert lines[at] == "NOT READY  boost            boost is enabled (wanted: off)"
    assert lines[at + 1].strip() == f"fix:  echo 0 > {CPUS}/cpufreq/boost"
    assert lines[at + 2].strip() == f"undo: echo 1 > {CPUS}/cpufreq/boost"
    told = json.loads(json.dumps(document(seen, findings(seen), {"perf-rdpmc": "why"})))
    assert (told["ready"], told["cpu"], told["counters_refused"]) == (False, 63, {"perf-rdpmc": "why"})
    assert [entry["item"] for entry in told["findings"]] == names(seen)
    assert set(told["findings"][0]) == {"item", "ready", "found", "wanted", "fix", "undo"}
    assert told["environment"]["cpu_model"] == "AMD EPYC 7543P 32-Core Processor"


def test_evidence_says_what_is_not_ready_with_its_command() -> None:
    finding = Finding(item="turbo", ready=False, found="turbo is enabled", wanted="off", fix="echo 1 > no_turbo")
    assert str(finding) == "turbo is enabled: echo 1 > no_turbo"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0-3,8", [0, 1, 2, 3, 8]), ("2", [2]), ("", []), ("0-", []), ("a", []), ("1,1-2", [1, 1, 2])],
)
def test_lists_of_cores(text: str, expected: list[int]) -> None:
    assert cpu_numbers(text) == expected
