"""The machine: what it is and how it is set (``measure.host.check`` judges it).

All readers take the root of the file system, so that a recorded tree of /proc and /sys stands in for a machine.
"""

import os
import platform
import re
import shutil
from pathlib import Path
from typing import NamedTuple

from evidence.types import Environment
from measure.confine.process import Limits, run

ROOT = Path("/")
CPU = "sys/devices/system/cpu"
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
    text = run(argv, Limits(timeout_s=60)).stdout.text()
    return text.splitlines()[0] if text else None


def environment(cpu: int, versions: Tools, root: Path = ROOT) -> Environment:
    """Return the state of the machine now, as seen for core ``cpu``."""
    frequency = root / f"{CPU}/cpu{cpu}/cpufreq"
    hypervisor = _hypervisor(root)
    return Environment(
        architecture=read_text(root / "proc/sys/kernel/arch") or platform.machine(),
        cpu_model=_cpu_model(root, cpu),
        machine=_machine(root),
        cpu_number=cpu,
        logical_cpus_online=read_text(root / f"{CPU}/online"),
        virtualized=hypervisor is not None,
        hypervisor=hypervisor,
        memory_total_kib=_memory_kib(root),
        os=_os_name(root),
        kernel=read_text(root / "proc/sys/kernel/osrelease"),
        libc=" ".join(platform.libc_ver()).strip() or None,
        compiler=versions.compiler,
        cmake=versions.cmake,
        python=platform.python_version(),
        perf_event_paranoid=read_number(root / "proc/sys/kernel/perf_event_paranoid"),
        perf_user_access=read_number(root / "proc/sys/kernel/perf_user_access"),
        cpufreq_governor=read_text(frequency / "scaling_governor"),
        cpufreq_driver=read_text(frequency / "scaling_driver"),
        cpufreq_min_khz=read_number(frequency / "scaling_min_freq"),
        cpufreq_max_khz=read_number(frequency / "scaling_max_freq"),
        cpufreq_avg_khz=read_number(frequency / "cpuinfo_avg_freq"),
        intel_pstate_no_turbo=read_number(root / f"{CPU}/intel_pstate/no_turbo"),
        cpufreq_boost=read_number(root / f"{CPU}/cpufreq/boost"),
        smt_control=read_text(root / f"{CPU}/smt/control"),
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


def usable_cpus(root: Path = ROOT) -> list[int]:
    """Return the cores that this process may run on, sorted; those that are kept free of other work among them."""
    return sorted(os.sched_getaffinity(0) | set(cpu_numbers(read_text(root / f"{CPU}/isolated") or "")))


def cpu_numbers(text: str) -> list[int]:
    """Return the numbers of a list such as ``0-3,8``; nothing for what is no such list."""
    if not re.fullmatch(r"\d{1,6}(-\d{1,6})?(,\d{1,6}(-\d{1,6})?)*", text):
        return []
    bounds = [(part.partition("-")[0], part.rpartition("-")[2]) for part in text.split(",")]
    return [number for first, last in bounds for number in range(int(first), int(last) + 1)]


def read_text(file: Path) -> str | None:
    """Return a file's text without white space around it; None where there is none."""
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip() or None
    except OSError:
        return None


def read_number(file: Path) -> int | None:
    """Return a file's whole number; None where there is none."""
    text = read_text(file)
    return int(text) if text and re.fullmatch(r"-?\d{1,18}", text) else None


def _cpu_model(root: Path, cpu: int) -> str | None:
    """Return the model name of one core; AArch64 kernels give none, there lscpu's names are not guessed at."""
    blocks = (read_text(root / "proc/cpuinfo") or "").split("\n\n")
    fields = [dict(re.findall(r"^([^\t:]+?)\s*: ?(.*)$", block, re.MULTILINE)) for block in blocks]
    for block in fields:
        if block.get("processor") == str(cpu):
            name = block.get("model name") or block.get("Model")
            part = (block.get("CPU implementer"), block.get("CPU part"))
            return name or (f"CPU implementer {part[0]}, part {part[1]}" if all(part) else None)
    return None


def _machine(root: Path) -> str | None:
    dmi = root / "sys/class/dmi/id"
    words = [word for word in (read_text(dmi / "sys_vendor"), read_text(dmi / "product_name")) if word]
    tree = read_text(root / "proc/device-tree/model")
    return " ".join(words) or (tree.rstrip("\0") if tree else None)


def _hypervisor(root: Path) -> str | None:
    """Return the hypervisor's name, ``unknown`` where only its presence is seen, None on real hardware."""
    machine = _machine(root) or ""
    named = next((name for mark, name in HYPERVISORS.items() if mark in machine and "metal" not in machine), None)
    flagged = re.search(r"^flags\s*:.*\bhypervisor\b", read_text(root / "proc/cpuinfo") or "", re.MULTILINE)
    device_tree = (root / "proc/device-tree/hypervisor").exists()
    return named or ("unknown" if flagged or device_tree else None)


def _memory_kib(root: Path) -> int | None:
    match = re.search(r"^MemTotal:\s+(\d+) kB", read_text(root / "proc/meminfo") or "", re.MULTILINE)
    return int(match[1]) if match else None


def _os_name(root: Path) -> str | None:
    match = re.search(r'^PRETTY_NAME="?([^"\n]*)', read_text(root / "etc/os-release") or "", re.MULTILINE)
    return match[1] if match else None


def _load(root: Path) -> float | None:
    text = read_text(root / "proc/loadavg")
    return float(text.split()[0]) if text else None


def _temperature(root: Path) -> int | None:
    """Return the highest thermal zone, in thousandths of a degree Celsius."""
    zones = (root / "sys/class/thermal").glob("thermal_zone*/temp")
    return max((value for zone in zones if (value := read_number(zone)) is not None), default=None)
