"""Which charts a page has: from parameter sets to rows, words and specifications. Pure functions."""

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from evidence.operations import Family
from render.charts import specs
from render.charts.draw import Plan
from render.facts import counters, measures
from render.facts.counters import Kind
from render.facts.entry import Entry, Operation
from render.facts.rows import natural
from render.look import formats

SENT = {
    Family.SIGN: ("public key and signature", ("public_key_bytes", "signature_bytes")),
    Family.KEM: ("public key and ciphertext", ("public_key_bytes", "ciphertext_bytes")),
    Family.KEX: ("all messages", ("messages_bytes",)),
}
NAME_HEIGHT = 13


class Share(NamedTuple):
    """One bar: how much of an operation ran in hash functions and in the random number generator."""

    name: str
    operation: str
    hash_share: float
    drng_share: float


def size_against_cost(family: Family, entries: Sequence[Entry], kind: Kind | None) -> list[Plan]:
    """Return a chart for each ranked operation of a family with keys, where at least two sets have figures."""
    operations = [metric.operation for metric in measures.METRICS[family] if metric.operation]
    found = [_size_plan(family, operation, entries, kind) for operation in operations if family in SENT]
    return [plan for plan in found if len(plan.rows) > 1]


def _size_plan(family: Family, operation: Operation, entries: Sequence[Entry], kind: Kind | None) -> Plan:
    what, _ = SENT[family]
    rows = _size_rows(family, operation, entries, kind)
    title = f"Size against {unit(kind)}: {operation.name}"
    told = (
        f"{len(rows)} parameter sets, bytes of {what} against the mean {unit(kind)} of {operation.name}, both on "
        f"logarithmic axes. No other set is both smaller and faster than: {_listed(rows, kind)}."
    )
    places = {axis: specs.ticks(row[field] for row in rows) for axis, field in (("x", "bytes"), ("y", "cost")) if rows}
    spec = specs.size_against_cost(f"{what} (bytes)", f"mean {unit(kind)} of {operation.name}")
    return Plan(f"{family}-size-{operation.name}", title, told, spec, rows, places)


def _size_rows(
    family: Family, operation: Operation, entries: Sequence[Entry], kind: Kind | None
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for entry in entries:
        sent = [measures.size(entry.sized, name) for name in SENT[family][1]]
        known = [size for size in sent if size]
        cost = measures.cost(entry, operation, kind)
        if cost and len(known) == len(sent):
            rows.append({**_named(entry), "bytes": sum(known), "cost": cost, "unit": unit(kind)})
    on_front = front([(row["bytes"], row["cost"]) for row in rows])
    return [{**row, "front": specs.FRONT[not best]} for row, best in zip(rows, on_front, strict=True)]


def front(points: Sequence[tuple[float, float]]) -> list[bool]:
    """Return for each point whether no other is at least as good in both and better in one."""
    best: dict[tuple[float, float], bool] = {}
    least = math.inf
    for x, y in sorted(set(points)):
        best[x, y] = y < least
        least = min(least, y)
    return [best[point] for point in points]


def cost_per_byte(entries: Sequence[Entry], kind: Kind | None) -> Plan | None:
    """Return the chart of hash functions over the length of the message; None where none was measured."""
    rows: list[dict[str, Any]] = []
    for entry in entries:
        for length in specs.LENGTHS:
            cost = measures.cost(entry, Operation("hash", length), kind)
            if cost:
                rows.append({**_named(entry), "message_bytes": length, "cost_per_byte": cost / length})
    if not rows:
        return None
    per_byte = f"{unit(kind)} per byte"
    ends = {row["name"]: row["cost_per_byte"] for row in rows if row["message_bytes"] == specs.LENGTHS[-1]}
    low, high = (bound(row["cost_per_byte"] for row in rows) for bound in (min, max))
    places = spread(ends, math.log10(high / low) * NAME_HEIGHT / specs.LINES_HEIGHT)
    told = f"Mean {per_byte} over the length of the message. At 64 KiB, from the least: {_ends(ends, kind)}."
    return Plan(
        "hash-per-byte",
        f"Hash functions: {per_byte}",
        told,
        specs.cost_per_byte(per_byte),
        [{**row, "name_at": places.get(row["name"]), "unit": per_byte} for row in rows],
        {"y": specs.ticks(row["cost_per_byte"] for row in rows)},
    )


def spread(values: dict[str, float], least: float) -> dict[str, float]:
    """Return where names stand on a logarithmic axis: at their values, but ``least`` powers of ten apart."""
    places: dict[str, float] = {}
    floor = -math.inf
    for name, value in sorted(values.items(), key=lambda item: item[1]):
        floor = max(math.log10(value), floor + least)
        places[name] = 10**floor
    return places


def shares(family: Family, entries: Iterable[Entry]) -> list[Share]:
    """Return the bars of the ranked operations of every set that was profiled."""
    operations = [metric.operation for metric in measures.METRICS[family] if metric.operation]
    bars = []
    for entry in entries if family is not Family.HASH else ():
        for operation in operations:
            share = measures.hash_share(entry, operation)
            if share is not None:
                drng = measures.drng_share(entry, operation) or 0.0
                bars.append(Share(_named(entry)["name"], operation.name, share, drng))
    return sorted(bars, key=lambda bar: (natural(bar.name), [o.name for o in operations].index(bar.operation)))


def unit(kind: Kind | None) -> str:
    """Return in what costs are given: ``cycles``, ``reference cycles (TSC)``, or ``time (s)``."""
    return kind.title("") if kind else "time (s)"


def _named(entry: Entry) -> dict[str, str]:
    return {"candidate": entry.candidate.candidate, "name": entry.instance.label}


def _listed(rows: Sequence[dict[str, Any]], kind: Kind | None) -> str:
    best = sorted((row for row in rows if row["front"] == specs.FRONT[0]), key=lambda row: row["bytes"])
    return "; ".join(f"{row['name']} ({row['bytes']} B, {counters.cost_text(row['cost'], kind)})" for row in best)


def _ends(ends: dict[str, float], kind: Kind | None) -> str:
    ordered = sorted(ends.items(), key=lambda item: item[1])
    show = formats.one_decimal if kind else formats.duration
    return "; ".join(f"{name} {show(value)}" for name, value in ordered)
