"""The tables of one system as plain rows: the four frames, the notes, the rankings, and everything in one."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from render.facts import measures, rows
from render.facts.entry import Entry
from render.facts.marks.scene import Raised
from render.facts.ranking import Group
from render.facts.rows import InstanceRow, ProcessRow, ProfileRow, RecordRow
from render.facts.subject import SystemSubject

Rows = list[dict[str, Any]]
RANKED = ("strength_bits", "family", "rank", "mean_rank", "candidate", "label", "metric", "figure", "metric_rank")
# The columns that a table has even where it has no row.
COLUMNS: dict[str, tuple[str, ...]] = {
    "instances": InstanceRow._fields,
    "operations": RecordRow._fields,
    "processes": ProcessRow._fields,
    "profiles": ProfileRow._fields,
    "notes": Raised._fields,
    "ranking": RANKED,
    "everything": ("system", "architecture", "cpu_model", "compiler", "campaign_started_utc", "candidate", "label"),
}


def of_system(
    system: SystemSubject, entries: Sequence[Entry], rankings: Mapping[int, Sequence[Group]]
) -> dict[str, Rows]:
    """Return every table of a system by name, each in the order of the pages."""
    tables = system.frames
    return {
        "instances": _rows(tables.instances, InstanceRow),
        "operations": _rows(tables.records, RecordRow),
        "processes": _rows(tables.processes, ProcessRow),
        "profiles": _rows(tables.profiles, ProfileRow),
        "notes": [note._asdict() for note in system.notes],
        "ranking": list(_ranking(rankings)),
        "everything": list(everything(system, entries)),
    }


def everything(system: SystemSubject, entries: Iterable[Entry]) -> Iterator[dict[str, Any]]:
    """Yield one row for each timed operation, with all that is known of its machine, its set and its profile."""
    machine = {
        "system": system.system_id,
        "architecture": system.architecture,
        "cpu_model": system.environment.cpu_model,
        "compiler": system.environment.compiler,
        "campaign_started_utc": system.campaign.started_utc,
    }
    for entry in entries:
        ours = {**machine, **_instance(entry)}
        for operation, record in entry.records.items():
            profile = entry.profiles.get(operation)
            yield {
                **ours,
                **{name: value for name, value in record._asdict().items() if name not in ours},
                "hash_share": measures.hash_share(entry, operation),
                "drng_share": measures.drng_share(entry, operation),
                "profile_status": profile.status if profile else None,
            }


def _instance(entry: Entry) -> dict[str, Any]:
    instance = entry.instance
    people = entry.candidate.entry
    return {
        "candidate": instance.candidate,
        "algorithm": people.algorithm if people else None,
        "family": entry.family.value,
        "label": instance.label,
        "strength_bits": entry.level,
        "variant": instance.variant,
        "flags": instance.flags,
        "kat": instance.kat,
        "elf_load_bytes": instance.elf_load_bytes,
        "notes": entry.notes,
        **dict.fromkeys((*measures.SIZES, "messages_bytes")),
        **measures.sizes(entry),
    }


def _ranking(rankings: Mapping[int, Sequence[Group]]) -> Iterator[dict[str, Any]]:
    """Yield one row for each ranked set and metric."""
    for level, groups in rankings.items():
        for group in groups:
            for entry, placed in group.places:
                for metric, figure in placed.contender.figures.items():
                    names = (entry.candidate.candidate, entry.instance.label, metric)
                    ranks = (placed.rank, placed.mean_rank)
                    values = (level, group.family.value, *ranks, *names, figure, placed.ranks[metric])
                    yield dict(zip(RANKED, values, strict=True))


def _rows(frame: Any, row: Any) -> Rows:
    return [each._asdict() for each in rows.rows(frame, row)]
