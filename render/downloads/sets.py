"""The document that the comparison page reads: every parameter set of one system with its figures, ready to show."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from render.facts import environment, measures
from render.facts.counters import Kind
from render.facts.entry import Entry, Operation, shown_kind
from render.facts.rows import operation_text
from render.facts.subject import SystemSubject
from render.look import formats

VERSION = 1


def document(system: SystemSubject, entries: Sequence[Entry]) -> str:
    """Return the document: one line for each set, so that two versions compare well."""
    kind = shown_kind([record for entry in entries for record in entry.records.values()])
    head = {
        "version": VERSION,
        "system": system.system_id,
        "architecture": system.architecture_text,
        "machine": environment.machine_kind(system.environment),
        "count": kind.title("") if kind else None,
    }
    lines = ",\n".join(json.dumps(_set(entry, kind), ensure_ascii=False) for entry in entries)
    return f'{json.dumps(head, ensure_ascii=False)[:-1]}, "sets": [\n{lines}\n]}}\n'


def _set(entry: Entry, kind: Kind | None) -> dict[str, Any]:
    return {
        "candidate": entry.candidate.candidate,
        "name": entry.candidate.name,
        "family": entry.family.value,
        "label": entry.instance.label,
        "implementation": entry.instance.variant,
        "strength_bits": entry.level,
        "kat": entry.instance.kat,
        "notes": entry.notes,
        "operations": {
            operation_text(operation.name, operation.message_bytes): _operation(entry, operation, kind)
            for operation in entry.records
        },
        "sizes": {name: size for name, size in measures.sizes(entry).items() if size is not None},
        "elf_load_bytes": entry.instance.elf_load_bytes,
    }


def _operation(entry: Entry, operation: Operation, kind: Kind | None) -> dict[str, Any]:
    """Return the figures of one operation, each as a number and as pages show it."""
    record = entry.records[operation]
    if record.status == "failed":
        return {"failed": True}
    share = measures.hash_share(entry, operation)
    found: tuple[tuple[str, Any, Callable[[Any], str]], ...] = (
        ("count", record.mean_count if kind else None, formats.count),
        ("seconds", record.mean_seconds, formats.duration),
        ("peak_rss_bytes", record.peak_rss_bytes, formats.kib),
        ("hash_share", share, formats.share),
    )
    return {name: [value, show(value)] for name, value, show in found if value is not None}
