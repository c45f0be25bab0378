"""The host as read from small trees of /proc and /sys that show what a kind of machine shows."""

from pathlib import Path

import msgspec
import pytest

from evidence.types import Environment
from measure.host import facts as host
from measure.host.facts import Tools

TOOLS = Tools("gcc (Debian 14.2.0-19) 14.2.0", "cmake version 3.31.6")

FIXED_INTEL = {
    "proc/cpuinfo": (
        "processor\t: 0\nmodel name\t: Other\nflags\t\t: fpu tsc\n\n"
        "processor\t: 2\nmodel name\t: 12th Gen Intel(R) Core(TM) i7-12700\nflags\t\t: fpu tsc\n"
    ),
    "proc/meminfo": "MemTotal:       32551768 kB\nMemFree:        1 kB\n",
    "proc/loadavg": "0.25 0.10 0.05 1/300 1234\n",
    "proc/sys/kernel/osrelease": "6.12.107+deb13-amd64\n",
    "proc/sys/kernel/perf_event_paranoid": "2\n",
    "etc/os-release": 'NAME="Debian"\nPRETTY_NAME="Debian GNU/Linux 13 (trixie)"\n',
    "sys/devices/system/cpu/online": "0,2,4,6\n",
    "sys/devices/system/cpu/smt/control": "off\n",
    "sys/devices/system/cpu/intel_pstate/no_turbo": "1\n",
    "sys/devices/system/cpu/cpu2/cpufreq/scaling_governor": "performance\n",
    "sys/devices/system/cpu/cpu2/cpufreq/scaling_driver": "intel_pstate\n",
    "sys/devices/system/cpu/cpu2/cpufreq/scaling_min_freq": "800000\n",
    "sys/devices/system/cpu/cpu2/cpufreq/scaling_max_freq": "2100000\n",
    "sys/devices/system/cpu/cpu2/topology/thread_siblings_list": "2\n",
    "sys/class/dmi/id/sys_vendor": "Dell Inc.\n",
    "sys/class/dmi/id/product_name": "OptiPlex 7000\n",
    "sys/class/thermal/thermal_zone0/temp": "41000\n",
    "sys/class/thermal/thermal_zone1/temp": "43000\n",
}


def tree(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root


def test_a_host_is_read(tmp_path: Path) -> None:
    root = tree(tmp_path, FIXED_INTEL)
    env = host.environment(2, TOOLS, root)
    assert env.cpu_model == "12th Gen Intel(R) Core(TM) i7-12700"
    assert env.memory_total_kib == 32551768
    assert env.kernel == "6.12.107+deb13-amd64"
    assert env.os == "Debian GNU/Linux 13 (trixie)"
    assert env.machine == "Dell Inc. OptiPlex 7000"
    assert env.cpufreq_max_khz == 2100000
    assert env.intel_pstate_no_turbo == 1
    assert env.load_1min == 0.25
    assert env.temperature_millicelsius == 43000
    assert env.virtualized is False
    assert env.hypervisor is None


def test_an_amazon_metal_machine_is_not_virtual(tmp_path: Path) -> None:
    metal = {
        **FIXED_INTEL,
        "sys/class/dmi/id/sys_vendor": "Amazon EC2",
        "sys/class/dmi/id/product_name": "c7i.metal-24xl",
    }
    assert host.environment(2, TOOLS, tree(tmp_path, metal)).virtualized is False


def test_what_the_system_does_not_show_stays_absent(tmp_path: Path) -> None:
    env = host.environment(2, Tools(None, None), tmp_path)
    for name in ("cpu_model", "memory_total_kib", "kernel", "os", "cpufreq_governor", "load_1min", "compiler"):
        assert getattr(env, name) is None, name


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"architecture": "x86_64", "cpufreq_max_khz": 2100000, "cpufreq_governor": "performance",
          "intel_pstate_no_turbo": 1, "cpufreq_min_khz": 800000}, 2_100_000_000),
        ({"architecture": "x86_64", "cpufreq_max_khz": 2100000, "cpufreq_governor": "performance",
          "intel_pstate_no_turbo": 0, "cpufreq_min_khz": 800000}, None),
        ({"architecture": "aarch64", "cpufreq_max_khz": 2707200, "cpufreq_min_khz": 2707200}, 2_707_200_000),
        ({"architecture": "aarch64", "cpufreq_max_khz": 2707200, "cpufreq_min_khz": 710000,
          "cpufreq_governor": "performance", "cpufreq_boost": 0}, None),
        ({"architecture": "x86_64"}, None),
    ],
)  # fmt: skip
def test_fixed_clock(facts: dict[str, object], expected: int | None) -> None:
    assert host.fixed_clock_hz(msgspec.convert(facts, Environment)) == expected
