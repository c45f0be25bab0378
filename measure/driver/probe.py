"""Asks the driver what only a program on the core itself can tell: which counter there is, how the clock runs."""

from pathlib import Path

from measure.confine.process import Finished, Limits
from measure.confine.sandbox import View, run
from measure.driver.dialogue import ProbeResult, clock_argv, probe_argv, read_clock, read_probe
from measure.host import facts
from measure.host.check import PROBES, Seen, is_steady

PROBE_LIMITS = Limits(timeout_s=60, address_space_bytes=1 << 30, file_size_bytes=1 << 20)


def probe(driver: Path, cpu: int) -> ProbeResult:
    """Ask the driver which counter it would use; confined as candidates are, whom a kernel may give less.

    Raises:
        DriverError: when there is none.
    """
    return read_probe(_ask(driver, probe_argv(driver, cpu)))


def clocks(driver: Path, cpu: int) -> tuple[tuple[int, ...], ...]:
    """Return the clock's rates in Hz, window by window, of up to three probes: one that is steady is the last.

    Raises:
        DriverError: when the driver cannot tell.
    """
    probes: list[tuple[int, ...]] = []
    while len(probes) < PROBES and not (probes and is_steady(probes[-1])):
        probes.append(read_clock(_ask(driver, clock_argv(driver, cpu))))
    return tuple(probes)


def seen(driver: Path, cpu: int, probed: ProbeResult) -> Seen:
    """Return all that the check of a core goes by.

    Raises:
        DriverError: as ``clocks`` does.
    """
    return Seen(
        env=facts.environment(cpu, facts.tools()),
        counter=probed.counter,
        clocks_hz=clocks(driver, cpu),
        usable_cpus=frozenset(facts.usable_cpus()),
        emulated=probed.emulated,
    )


def _ask(driver: Path, argv: list[str]) -> Finished:
    return run(argv, PROBE_LIMITS, View(driver.parent, read=(driver,)))
