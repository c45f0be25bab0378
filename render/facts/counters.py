"""How pages name what a counter counted. Ticks of a fixed-rate clock are never called cycles of the core."""

from collections.abc import Iterable
from typing import NamedTuple

from evidence.types import CounterUnit
from render.facts.rows import RecordRow
from render.look import formats


class Kind(NamedTuple):
    """A kind of count: ``reference cycles`` and its clock ``TSC``; core cycles name no clock."""

    plural: str
    clock: str

    def title(self, prefix: str, suffix: str = "") -> str:
        """Return a column title such as ``mean reference cycles (TSC)``."""
        return f"{prefix}{self.plural}{suffix}" + (f" ({self.clock})" if self.clock else "")


CORE_CYCLES = Kind("cycles", "")
TIMES_ONLY = "No cycle counter could be used for some or all records: they hold times only."
TICKS = {"tsc": Kind("reference cycles", "TSC"), "cntvct": Kind("reference ticks", "cntvct")}


def kind_of(record: RecordRow) -> Kind | None:
    """Return what the record's counter counted; None where there was only the clock, or no one counter."""
    if record.counter_unit == CounterUnit.CYCLES:
        return CORE_CYCLES
    if record.counter_unit == CounterUnit.TICKS:
        name = record.counter_name or "unnamed clock"
        return TICKS.get(name, Kind("reference ticks", name))
    return None


def kinds(records: Iterable[RecordRow]) -> tuple[Kind, ...]:
    """Return the kinds of count among the records, core cycles first; that alone where there is none."""
    found = {kind for record in records if (kind := kind_of(record))}
    return tuple(sorted(found, key=lambda kind: (kind != CORE_CYCLES, kind))) or (CORE_CYCLES,)


def sentences(records: Iterable[RecordRow]) -> tuple[str, ...]:
    """Return in plain words what the records counted, where that is not core cycles."""
    records = tuple(records)
    told = {_of_ticks(kind, r.counter_hz) for r in records if (kind := kind_of(r)) and kind != CORE_CYCLES}
    timed_only = any(record.counter_unit == CounterUnit.NANOSECONDS for record in records)
    return (*sorted(told), *([TIMES_ONLY] if timed_only else []))


def rate_text(hertz: int | None) -> str:
    """Return the rate of a clock of fixed rate, ``2.60 GHz`` or ``19.2 MHz``; empty where it is not known."""
    if not hertz:
        return ""
    return formats.gigahertz(hertz) if hertz >= 1e8 else f"{hertz / 1e6:.3g} MHz"


def cost_text(cost: float | None, kind: Kind | None) -> str:
    """Return a cost as a count, or as a time where there is no kind of count."""
    return formats.count(cost) if kind else formats.duration(cost)


def _of_ticks(kind: Kind, hertz: int | None) -> str:
    rate = f" at {rate_text(hertz)}" if hertz else ""
    return (
        f"Counts are {kind.plural} of the {kind.clock}, a clock of fixed rate{rate}. "
        "They are not cycles of the core, and must not be compared with those."
    )
