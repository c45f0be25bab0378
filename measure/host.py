"""The machine: what it is, and what is not fixed on it, with the command that fixes it.

All readers take the root of the file system, so that a recorded tree of /proc and /sys stands in for a machine.
"""

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from evidence.types import Counter, CounterUnit, Environment

ROOT = Path("/")
HYPERVISORS = {
    "QEMU": "qemu",
    "KVM": "kvm",
    "VMware": "vmware",
    "VirtualBox": "virtualbox",
    "Xen": "xen",
    "Microsoft Corporation Virtual Machine": "hyper-v",
    "Amazon EC2": "amazon",
    "Google Compute Engine": "google",
    "Firecracker": "firecracker",
}


class Problem(NamedTuple):
    """Something on the host that is not fixed. ``remedy`` is a command, or empty where nothing helps."""

    text: str
    remedy: str = ""

    def __str__(self) -> str:
        """Return text and remedy in one line."""
        return f"{self.text}: {self.remedy}" if self.remedy else self.text


class Tools(NamedTuple):
    """Versions of the programs that build candidates, as they print them."""

    compiler: str | None
    cmake: str | None


def tools() -> Tools:
    """Ask gcc and cmake for their version lines; one that is not installed is None."""
    return Tools(_first_line("gcc", "--version"), _first_line("cmake", "--version"))


def _first_line(*argv: str) -> str | None:
    if shutil.which(argv[0]) is None:
        return None
    text = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60).stdout
    return text.splitlines()[0] if text else None


def environment(cpu: int, versions: Tools, root: Path = ROOT) -> Environment:
    """Return the state of the machine now, as seen for core ``cpu``."""
    frequency = root / f"sys/devices/system/cpu/cpu{cpu}/cpufreq"
    hypervisor = _hypervisor(root)
    return Environment(
        architecture=platform.machine(),
        cpu_model=_cpu_model(root, cpu),
        machine=_machine(root),
        cpu_number=cpu,
        logical_cpus_online=_read(root / "sys/devices/system/cpu/online"),
        virtualized=hypervisor is not None,
        hypervisor=hypervisor,
        memory_total_kib=_memory_kib(root),
        os=_os_name(root),
        kernel=_read(root / "proc/sys/kernel/osrelease"),
        libc=" ".join(platform.libc_ver()).strip() or None,
        compiler=versions.compiler,
        cmake=versions.cmake,
        python=platform.python_version(),
        perf_event_paranoid=_number(root / "proc/sys/kernel/perf_event_paranoid"),
        perf_user_access=_number(root / "proc/sys/kernel/perf_user_access"),
        cpufreq_governor=_read(frequency / "scaling_governor"),
        cpufreq_driver=_read(frequency / "scaling_driver"),
        cpufreq_min_khz=_number(frequency / "scaling_min_freq"),
        cpufreq_max_khz=_number(frequency / "scaling_max_freq"),
        cpufreq_avg_khz=_number(frequency / "cpuinfo_avg_freq"),
        intel_pstate_no_turbo=_number(root / "sys/devices/system/cpu/intel_pstate/no_turbo"),
        cpufreq_boost=_number(root / "sys/devices/system/cpu/cpufreq/boost"),
        smt_control=_read(root / "sys/devices/system/cpu/smt/control"),
        load_1min=_load(root),
        temperature_millicelsius=_temperature(root),
    )


def fixed_clock_hz(env: Environment) -> int | None:
    """Return the clock of the core where its settings fix one, in Hz.

    AArch64: minimum = maximum. x86: governor performance with turbo off.
    """
    if env.cpufreq_max_khz is None:
        return None
    pinned = env.cpufreq_min_khz == env.cpufreq_max_khz
    turbo_off = env.intel_pstate_no_turbo == 1 or env.cpufreq_boost == 0
    fixed = pinned or (env.architecture == "x86_64" and env.cpufreq_governor == "performance" and turbo_off)
    return env.cpufreq_max_khz * 1000 if fixed else None


def problems(env: Environment, counter: Counter | None, root: Path = ROOT) -> list[Problem]:
    """Return what keeps the host from being fit for a full plan; an empty list means ready."""
    return list(_problems(env, counter, root))


def _problems(env: Environment, counter: Counter | None, root: Path) -> Iterator[Problem]:
    cpu = env.cpu_number
    if env.virtualized:
        yield Problem(f"virtual machine ({env.hypervisor}): its figures depend on what else its host does")
    if counter is None or counter.unit is not CounterUnit.CYCLES:
        yield Problem("hardware cycle counter unavailable", _counter_remedy(env))
    if env.intel_pstate_no_turbo == 0:
        yield Problem("turbo is enabled", "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo")
    if env.cpufreq_boost == 1:
        yield Problem("boost is enabled", "echo 0 > /sys/devices/system/cpu/cpufreq/boost")
    if env.cpufreq_governor is None:
        yield Problem("clock frequency is not under the system's control")
    elif env.cpufreq_governor != "performance":
        path = f"/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor"
        yield Problem(f"CPU {cpu} governor is {env.cpufreq_governor}, not performance", f"echo performance > {path}")
    if env.architecture == "aarch64" and env.cpufreq_max_khz and env.cpufreq_min_khz != env.cpufreq_max_khz:
        path = f"/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_min_freq"
        yield Problem(f"CPU {cpu} clock is not pinned (minimum below maximum)", f"echo {env.cpufreq_max_khz} > {path}")
    siblings = _read(root / f"sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
    if siblings and not siblings.isdigit():
        yield Problem(
            f"CPU {cpu} shares its core with CPUs {siblings} (SMT on)", "echo off > /sys/devices/system/cpu/smt/control"
        )


def _counter_remedy(env: Environment) -> str:
    if env.virtualized:
        return ""
    if env.architecture == "aarch64" and env.perf_user_access != 1:
        return "sysctl kernel.perf_user_access=1 kernel.perf_event_paranoid=2"
    return "sysctl kernel.perf_event_paranoid=2" if (env.perf_event_paranoid or 0) > 2 else ""


def usable_cpus() -> list[int]:
    """Return the cores that this process may run on, sorted."""
    return sorted(os.sched_getaffinity(0))


def _read(file: Path) -> str | None:
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip() or None
    except OSError:
        return None


def _number(file: Path) -> int | None:
    text = _read(file)
    return int(text) if text and re.fullmatch(r"-?\d{1,18}", text) else None


def _cpu_model(root: Path, cpu: int) -> str | None:
    """Return the model name of one core; AArch64 kernels give none, there lscpu's names are not guessed at."""
    blocks = (_read(root / "proc/cpuinfo") or "").split("\n\n")
    fields = [dict(re.findall(r"^([^\t:]+?)\s*: ?(.*)$", block, re.MULTILINE)) for block in blocks]
    for block in fields:
        if block.get("processor") == str(cpu):
            name = block.get("model name") or block.get("Model")
            part = (block.get("CPU implementer"), block.get("CPU part"))
            return name or (f"CPU implementer {part[0]}, part {part[1]}" if all(part) else None)
    return None


def _machine(root: Path) -> str | None:
    dmi = root / "sys/class/dmi/id"
    words = [word for word in (_read(dmi / "sys_vendor"), _read(dmi / "product_name")) if word]
    tree = _read(root / "proc/device-tree/model")
    return " ".join(words) or (tree.rstrip("\0") if tree else None)


def _hypervisor(root: Path) -> str | None:
    """Return the hypervisor's name, ``unknown`` where only its presence is seen, None on real hardware."""
    machine = _machine(root) or ""
    named = next((name for mark, name in HYPERVISORS.items() if mark in machine and "metal" not in machine), None)
    flagged = re.search(r"^flags\s*:.*\bhypervisor\b", _read(root / "proc/cpuinfo") or "", re.MULTILINE)
    device_tree = (root / "proc/device-tree/hypervisor").exists()
    return named or ("unknown" if flagged or device_tree else None)


def _memory_kib(root: Path) -> int | None:
    match = re.search(r"^MemTotal:\s+(\d+) kB", _read(root / "proc/meminfo") or "", re.MULTILINE)
    return int(match[1]) if match else None


def _os_name(root: Path) -> str | None:
    match = re.search(r'^PRETTY_NAME="?([^"\n]*)', _read(root / "etc/os-release") or "", re.MULTILINE)
    return match[1] if match else None


def _load(root: Path) -> float | None:
    text = _read(root / "proc/loadavg")
    return float(text.split()[0]) if text else None


def _temperature(root: Path) -> int | None:
    """Return the highest thermal zone, in thousandths of a degree Celsius."""
    zones = (root / "sys/class/thermal").glob("thermal_zone*/temp")
    return max((value for zone in zones if (value := _number(zone)) is not None), default=None)
