"""Whether the machine is fit for a full plan: item by item what was found, what is wanted, and how to come by it.

Pure but for the files below ``Seen.root``, so that a recorded tree of /proc and /sys stands in for a machine.
"""

import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from evidence.types import Counter, CounterUnit, Environment
from measure.host.facts import ROOT, cpu_numbers, fixed_clock_hz, read_number, read_text

CPU = "/sys/devices/system/cpu"
STEADY_WITHIN = 0.005  # interquartile range of the measured clock, as a share of its median
PROBES = 3  # a clock is unsteady when this many in a row are
HONOURED_WITHIN = 0.02  # of the fixed clock
HEADROOM_MILLICELSIUS = 5000  # below the temperature from which the kernel slows a core down
CPUS_PER_OTHER = 8  # for each so many cores, one other running process disturbs nobody
THROTTLED_NOW = 0xF  # low bits of the Raspberry Pi's state: too little voltage, clock capped, throttled, too warm


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One item. ``fix`` and ``undo`` are commands for root, empty where none helps or nothing is to be undone."""

    item: str
    ready: bool
    found: str
    wanted: str
    fix: str = ""
    undo: str = ""

    def __str__(self) -> str:
        """Return what evidence says of an item that is not ready."""
        return f"{self.found}: {self.fix}" if self.fix else self.found


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What the items are judged by."""

    env: Environment
    counter: Counter | None
    clocks_hz: tuple[tuple[int, ...], ...] = ()  # of each probe, window by window
    usable_cpus: frozenset[int] | None = None  # by this process; None: not asked
    emulated: bool = False
    root: Path = ROOT

    @property
    def cpu(self) -> int:
        """The core to measure on."""
        return self.env.cpu_number or 0

    @property
    def core(self) -> str:
        """Its folder below /sys, as commands name it."""
        return f"{CPU}/cpu{self.cpu}"

    def text(self, path: str) -> str | None:
        """Return the content of a file given by its absolute path."""
        return read_text(self.root / path.lstrip("/"))

    def number(self, path: str) -> int | None:
        """Return the number in a file."""
        return read_number(self.root / path.lstrip("/"))

    def cpus(self, path: str) -> list[int]:
        """Return the cores that a file lists, such as ``0-3,8``; none where there is no such file."""
        return cpu_numbers(self.text(path) or "")


def findings(seen: Seen) -> list[Finding]:
    """Return all items that this machine has, in the order of the documentation."""
    return [finding for look in ITEMS if (finding := look(seen)) is not None]


def problems(seen: Seen) -> list[Finding]:
    """Return what keeps the host from being fit for a full plan; none means ready."""
    return [finding for finding in findings(seen) if not finding.ready]


def is_steady(clock_hz: Sequence[int]) -> bool:
    """Return whether one probe saw a steady clock."""
    return _spread(clock_hz) <= STEADY_WITHIN


def _spread(clock_hz: Sequence[int]) -> float:
    lower, middle, upper = statistics.quantiles(clock_hz, n=4)
    return (upper - lower) / middle if middle else 1.0


def _virtual(seen: Seen) -> Finding:
    """Nothing on the guest tells what else its host does."""
    virtual = bool(seen.env.virtualized)
    name = seen.env.hypervisor
    found = f"virtual machine ({name}): its figures depend on what else its host does" if virtual else "no hypervisor"
    return Finding(item="virtual machine", ready=not virtual, found=found, wanted="real hardware")


def _emulated(seen: Seen) -> Finding:
    found = "another program runs the instructions" if seen.emulated else "the processor runs the instructions"
    return Finding(item="emulation", ready=not seen.emulated, found=found, wanted="the processor's own instructions")


def _counter(seen: Seen) -> Finding:
    wanted, counter = "core cycles", seen.counter
    if counter is not None and counter.unit is CounterUnit.CYCLES:
        return Finding(item="counter", ready=True, found=f"{counter.name}: core cycles", wanted=wanted)
    fix, undo = ("", "") if seen.env.virtualized else _counter_remedy(seen.env)
    found = "hardware cycle counter unavailable"
    return Finding(item="counter", ready=False, found=found, wanted=wanted, fix=fix, undo=undo)


def _counter_remedy(env: Environment) -> tuple[str, str]:
    """Return the settings that are to change, and those that are there now."""
    changes = []
    if env.architecture == "aarch64" and env.perf_user_access == 0:
        changes.append(("perf_user_access", 1, 0))
    if env.perf_event_paranoid is not None and env.perf_event_paranoid > 2:
        changes.append(("perf_event_paranoid", 2, env.perf_event_paranoid))
    if not changes:
        return "", ""
    wanted = " ".join(f"kernel.{name}={to}" for name, to, _ in changes)
    return f"sysctl {wanted}", "sysctl " + " ".join(f"kernel.{name}={before}" for name, _, before in changes)


def _turbo(seen: Seen) -> Finding | None:
    if seen.env.intel_pstate_no_turbo is None:
        return None
    file = f"{CPU}/intel_pstate/no_turbo"
    return _switch("turbo", file, on=seen.env.intel_pstate_no_turbo == 0, values=(1, 0))


def _boost(seen: Seen) -> Finding | None:
    """Some drivers have one switch, others one for each core."""
    own = f"{seen.core}/cpufreq/boost"
    value, file = seen.env.cpufreq_boost, f"{CPU}/cpufreq/boost"
    if value is None:
        value, file = seen.number(own), own
    return None if value is None else _switch("boost", file, on=value == 1, values=(0, 1))


def _switch(item: str, file: str, *, on: bool, values: tuple[int, int]) -> Finding:
    """Return the finding on a switch that is to be off; ``values`` are what turns it off and on."""
    off, undo = (f"echo {value} > {file}" for value in values)
    found = f"{item} is enabled" if on else f"{item} is off"
    return Finding(item=item, ready=not on, found=found, wanted="off", fix=off if on else "", undo=undo if on else "")


def _governor(seen: Seen) -> Finding:
    now, file = seen.env.cpufreq_governor, f"{seen.core}/cpufreq/scaling_governor"
    item, wanted = "governor", "performance"
    if now is None:
        found = "clock frequency is not under the system's control"
        return Finding(item=item, ready=False, found=found, wanted=wanted)
    if now == wanted:
        return Finding(item=item, ready=True, found=now, wanted=wanted)
    found = f"CPU {seen.cpu} governor is {now}, not performance"
    fix, undo = (f"echo {name} > {file}" for name in (wanted, now))
    return Finding(item=item, ready=False, found=found, wanted=wanted, fix=fix, undo=undo)


def _pinned_clock(seen: Seen) -> Finding | None:
    """On x86 the governor and the switch of turbo fix the clock; where there is no such switch, its bounds must."""
    env = seen.env
    least, most = env.cpufreq_min_khz, env.cpufreq_max_khz
    has_switch = env.intel_pstate_no_turbo is not None or env.cpufreq_boost is not None
    if least is None or most is None or (env.architecture == "x86_64" and has_switch):
        return None
    item, wanted = "pinned clock", f"{most} kHz at least and at most"
    if least == most:
        return Finding(item=item, ready=True, found=f"{most} kHz", wanted=wanted)
    file = f"{seen.core}/cpufreq/scaling_min_freq"
    found = f"CPU {seen.cpu} clock is not pinned (minimum below maximum)"
    fix, undo = (f"echo {khz} > {file}" for khz in (most, least))
    return Finding(item=item, ready=False, found=found, wanted=wanted, fix=fix, undo=undo)


def _honoured_clock(seen: Seen) -> Finding | None:
    """A core may run at another clock than its settings say: firmware has the last word."""
    wanted_hz, measured_hz = fixed_clock_hz(seen.env), _measured_hz(seen)
    if wanted_hz is None or measured_hz is None:
        return None
    ready = abs(measured_hz / wanted_hz - 1) <= HONOURED_WITHIN
    told = f"CPU {seen.cpu} runs at {measured_hz / 1e6:.0f} MHz"
    found = told if ready else f"{told}, though its settings say {wanted_hz / 1e6:.0f} MHz"
    others = [] if ready else _other_clusters(seen)
    fix = f"python -m measure check --cpu {others[0]}" if others else ""
    return Finding(item="honoured clock", ready=ready, found=found, wanted=f"{wanted_hz / 1e6:.0f} MHz", fix=fix)


def _measured_hz(seen: Seen) -> float | None:
    """Return the core's clock: by the latest probe, else as the kernel has it from the firmware."""
    if seen.clocks_hz:
        return statistics.median(seen.clocks_hz[-1])
    return None if seen.env.cpufreq_avg_khz is None else seen.env.cpufreq_avg_khz * 1e3


def _other_clusters(seen: Seen) -> list[int]:
    """Return the online cores that have another clock than this one."""
    own = seen.text(f"{seen.core}/cpufreq/related_cpus")
    return [] if own is None else [cpu for cpu in seen.cpus(f"{CPU}/online") if cpu not in _related(own)]


def _related(text: str) -> set[int]:
    return {number for word in text.split() for number in cpu_numbers(word)}


def _steady_clock(seen: Seen) -> Finding | None:
    if not seen.clocks_hz:
        return None
    ready = len(seen.clocks_hz) < PROBES or any(is_steady(clock_hz) for clock_hz in seen.clocks_hz)
    spread = min(_spread(clock_hz) for clock_hz in seen.clocks_hz)
    told = f"middle half of the measured clock within {spread:.2%}"
    found = told if ready else f"CPU {seen.cpu} clock is not steady ({told})"
    return Finding(item="steady clock", ready=ready, found=found, wanted=f"within {STEADY_WITHIN:.1%}")


def _siblings(seen: Seen) -> Finding | None:
    """A thread on the same core takes its share of it, whoever runs there."""
    siblings = seen.text(f"{seen.core}/topology/thread_siblings_list")
    if siblings is None:
        return None
    others = [cpu for cpu in cpu_numbers(siblings) if cpu != seen.cpu]
    if not others:
        return Finding(item="siblings", ready=True, found="no sibling is online", wanted="no sibling online")
    found = f"CPU {seen.cpu} shares its core with CPUs {siblings} (SMT on)"
    fix, undo = f"echo 0 > {CPU}/cpu{others[0]}/online", f"echo 1 > {CPU}/cpu{others[0]}/online"
    if seen.env.smt_control in {"on", "off"}:
        fix, undo = f"echo off > {CPU}/smt/control", f"echo on > {CPU}/smt/control"
    return Finding(item="siblings", ready=False, found=found, wanted="no sibling online", fix=fix, undo=undo)


def _core_type(seen: Seen) -> Finding | None:
    """Intel names the two kinds of cores; AArch64 gives each a capacity, 1024 for the fastest."""
    fast, name = seen.cpus("/sys/devices/cpu_core/cpus"), "performance core"
    if not fast:
        fast, name = _most_capable(seen), "core of full capacity"
    if not fast:
        return None
    if seen.cpu in fast:
        return Finding(item="core type", ready=True, found=name, wanted=f"a {name}")
    found = f"CPU {seen.cpu} is no {name}"
    fix = f"python -m measure check --cpu {fast[-1]}"
    return Finding(item="core type", ready=False, found=found, wanted=f"a {name}", fix=fix)


def _most_capable(seen: Seen) -> list[int]:
    online = seen.cpus(f"{CPU}/online")
    capacities = {cpu: seen.number(f"{CPU}/cpu{cpu}/cpu_capacity") for cpu in online}
    known = {cpu: capacity for cpu, capacity in capacities.items() if capacity is not None}
    return [cpu for cpu, capacity in known.items() if capacity == max(known.values())]


def _usable(seen: Seen) -> Finding | None:
    online = seen.cpus(f"{CPU}/online")
    if not online:
        return None
    item, wanted, file = "usable core", "online, and allowed to this process", f"{seen.core}/online"
    if seen.cpu not in online:
        fix, undo = f"echo 1 > {file}", f"echo 0 > {file}"
        return Finding(item=item, ready=False, found=f"CPU {seen.cpu} is offline", wanted=wanted, fix=fix, undo=undo)
    if seen.usable_cpus is not None and seen.cpu not in seen.usable_cpus:
        found = f"CPU {seen.cpu} is not allowed to this process"
        fix = f"taskset -c {seen.cpu} python -m measure check --cpu {seen.cpu}"
        return Finding(item=item, ready=False, found=found, wanted=wanted, fix=fix)
    alone = seen.cpu in seen.cpus(f"{CPU}/isolated")
    found = f"CPU {seen.cpu} is online{', kept free of other work' if alone else ''}"
    return Finding(item=item, ready=True, found=found, wanted=wanted)


def _load(seen: Seen) -> Finding | None:
    """What runs now, not the load of the last minute: that is often our own, from building."""
    match = re.search(r" (\d+)/\d+ ", seen.text("/proc/loadavg") or "")
    if match is None:
        return None
    others = max(int(match[1]) - 1, 0)
    allowed = max(1, len(seen.cpus(f"{CPU}/online")) // CPUS_PER_OTHER)
    ready = others <= allowed
    found = f"{others} other process(es) running" if ready else f"load is too high: {others} other processes running"
    return Finding(item="load", ready=ready, found=found, wanted=f"at most {allowed}")


def _heat(seen: Seen) -> Finding | None:
    """Near its limit the machine slows down by itself."""
    state = seen.text("/sys/devices/platform/soc/soc:firmware/get_throttled")
    if state and re.fullmatch(r"(0x)?[0-9a-fA-F]{1,8}", state) and int(state, 16) & THROTTLED_NOW:
        found = f"the firmware holds the clock down (get_throttled {state})"
        return Finding(item="heat", ready=False, found=found, wanted="no limit in force")
    temperature, limit = seen.env.temperature_millicelsius, _slows_from(seen)
    if temperature is None or limit is None:
        return None
    ready = temperature <= limit - HEADROOM_MILLICELSIUS
    told = f"{temperature / 1000:.0f} °C, slowed down from {limit / 1000:.0f} °C"
    wanted = f"at most {(limit - HEADROOM_MILLICELSIUS) / 1000:.0f} °C"
    return Finding(item="heat", ready=ready, found=told if ready else f"near its thermal limit ({told})", wanted=wanted)


def _slows_from(seen: Seen) -> int | None:
    """Return the lowest temperature from which the kernel slows anything down, in thousandths of a degree Celsius."""
    kinds = (seen.root / "sys/class/thermal").glob("thermal_zone*/trip_point_*_type")
    passive = [kind for kind in kinds if read_text(kind) == "passive"]
    limits = [read_number(kind.with_name(kind.name.replace("_type", "_temp"))) for kind in passive]
    return min((limit for limit in limits if limit is not None and limit > 0), default=None)


Look = Callable[[Seen], Finding | None]
ITEMS: tuple[Look, ...] = (
    _virtual,
    _emulated,
    _usable,
    _core_type,
    _counter,
    _turbo,
    _boost,
    _governor,
    _pinned_clock,
    _honoured_clock,
    _steady_clock,
    _siblings,
    _load,
    _heat,
)


def table(found: Sequence[Finding]) -> str:
    """Return all items as text, what is not ready with the commands below it."""
    lines = []
    for one in found:
        lines.append(f"{'ok' if one.ready else 'NOT READY':9}  {one.item:15}  {one.found} (wanted: {one.wanted})")
        lines += [f"{'':28}fix:  {one.fix}"] if one.fix else []
        lines += [f"{'':28}undo: {one.undo}"] if one.undo else []
    return "\n".join(lines)


def document(seen: Seen, found: Sequence[Finding], refusals: Mapping[str, str]) -> dict[str, object]:
    """Return what `check --json` prints."""
    return {
        "ready": all(one.ready for one in found),
        "cpu": seen.cpu,
        "findings": [msgspec.to_builtins(one) for one in found],
        "counter": msgspec.to_builtins(seen.counter),
        "counters_refused": dict(refusals),
        "clock_hz": seen.clocks_hz,
        "environment": msgspec.to_builtins(seen.env),
    }
