"""Tables as CSV (RFC 4180, UTF-8) and JSON: absent is empty or null, a list is joined, the order is the page's."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from render.look.table import Table


def of_rows(rows: Sequence[Mapping[str, Any]], names_before: Iterable[str] = ()) -> str:
    """Return rows of plain values under all their names; ``names_before`` come first, also where there is no row."""
    out = io.StringIO()
    names = _names(rows, names_before)
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(zip(*(_column(rows, name) for name in names), strict=True))
    return out.getvalue()


def json_of_rows(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as a JSON list of objects, one to a line."""
    encode = msgspec.json.Encoder().encode
    return (b"[" + b",\n".join(map(encode, rows)) + b"]\n").decode()


def _names(rows: Sequence[Mapping[str, Any]], names_before: Iterable[str]) -> list[str]:
    names = dict.fromkeys(names_before)
    known: Any = None
    for row in rows:
        if row.keys() != known:  # rows of one table have the same names, as a rule
            known = row.keys()
            names.update(dict.fromkeys(row))
    return list(names)


def _column(rows: Sequence[Mapping[str, Any]], name: str) -> list[Any]:
    """Return the values of a column; those that are not single ones as text. The writer leaves absent ones empty."""
    values = [row.get(name) for row in rows]
    first = next((value for value in values if value is not None), None)
    return list(map(_text, values)) if isinstance(first, tuple | list | Mapping) else values


def rows_of_table(table: Table) -> list[dict[str, Any]]:
    """Return a page's table as rows: numbers where a cell has one to sort by, else the text that the page shows."""
    names = [head.title.replace(" ", "_") for head in table.heads]
    return [dict(zip(names, _values((row.header, *row.cells)), strict=True)) for row in table.rows]


def _values(cells: Iterable[Any]) -> list[Any]:
    return [_number(c.order) if c.order is not None else "".join(p.text for p in c.pieces) for c in cells]


def _number(value: float) -> float:
    return int(value) if float(value).is_integer() else value


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return " ".join(f"{key}={each}" for key, each in value.items())
    return " ".join(map(str, value or ()))
