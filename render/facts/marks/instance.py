"""Rules about a whole instance, and about two versions of one."""

from collections.abc import Iterator
from itertools import groupby

from evidence import derive
from evidence.types import Record
from render.facts.marks.scene import Found, Scene
from render.look import formats

SLOWER = 0.05
REFERENCE = "reference"
OPTIMISED = ("optimi", "performance")


def other_core(scene: Scene) -> Iterator[Found]:
    """Yield the instances that other cores measured than the one that section 2 shows."""
    for (candidate, label), records in groupby(scene.records, key=lambda r: (r.candidate, r.label)):
        found = {record.environment.cpu_number for record in records}
        others = sorted(cpu for cpu in found if cpu is not None and cpu != scene.shown_cpu)
        if others:
            shown = "none" if scene.shown_cpu is None else f"CPU {scene.shown_cpu}"
            yield candidate, label, "", None, f"cpu_number {', '.join(map(str, others))}; section 2 shows {shown}"


def kat_differs(scene: Scene) -> Iterator[Found]:
    """Yield the instances whose known-answer test ends otherwise on another system."""
    for key, status in scene.kat.get(scene.system_id, {}).items():
        others = {name: other for name, found in scene.kat.items() if (other := found.get(key)) not in (None, status)}
        if others:
            candidate, _, label = key.partition("/")
            elsewhere = ", ".join(f"{other} on {name}" for name, other in others.items())
            yield candidate, label, "", None, f"{status} here, {elsewhere}"


def optimised_slower(scene: Scene) -> Iterator[Found]:
    """Yield the operations that an optimised version does more slowly than the reference version."""
    references = {_what(record): record for record in scene.records if record.variant == REFERENCE}
    for record in scene.records:
        reference = references.get(_what(record))
        if reference and record.variant.startswith(OPTIMISED) and (counters := _slower(record, reference)):
            yield record.candidate, record.label, record.operation, record.input_bytes, counters


def _what(record: Record) -> tuple[str, str, str, int | None]:
    """Return what a record measured, whichever the version."""
    return record.candidate, record.instance, record.operation, record.input_bytes


def _slower(optimised: Record, reference: Record) -> str:
    """Return both means where the optimised version is slower by more than its trials overlap."""
    ours, theirs = derive.mean_seconds(optimised), derive.mean_seconds(reference)
    if ours is None or theirs is None or ours <= (1 + SLOWER) * theirs:
        return ""
    if min(derive.trial_mean_seconds(optimised)) <= max(derive.trial_mean_seconds(reference)):
        return ""
    return f"mean {formats.duration(ours)}, reference version {reference.label} {formats.duration(theirs)}"
