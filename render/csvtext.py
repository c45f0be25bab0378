"""Tables as CSV (RFC 4180, UTF-8) and JSON: absent is empty or null, a list is joined, the order is the page's."""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from render.table import Table


def of_rows(rows: Sequence[Mapping[str, Any]], names_before: Iterable[str] = ()) -> str:
    """Return rows of plain values under all their names; ``names_before`` come first, also where there is no row."""
    out = io.StringIO()
    names = dict.fromkeys(names_before)
    for row in rows:
        names.update(dict.fromkeys(row))
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([_cell(row.get(name)) for name in names] for row in rows)
    return out.getvalue()


def json_of_rows(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as a JSON list of objects, one to a line."""
    lines = (json.dumps(_plain(row), ensure_ascii=False) for row in rows)
    return "[" + ",\n".join(lines) + "]\n"


def rows_of_table(table: Table) -> list[dict[str, Any]]:
    """Return a page's table as rows: numbers where a cell has one to sort by, else the text that the page shows."""
    names = [head.title.replace(" ", "_") for head in table.heads]
    return [dict(zip(names, _values((row.header, *row.cells)), strict=True)) for row in table.rows]


def _values(cells: Iterable[Any]) -> list[Any]:
    return [_number(c.order) if c.order is not None else "".join(p.text for p in c.pieces) for c in cells]


def _number(value: float) -> float:
    return int(value) if float(value).is_integer() else value


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, (tuple, list)):
        return " ".join(map(str, value))
    if isinstance(value, Mapping):
        return " ".join(f"{key}={each}" for key, each in value.items())
    return value


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in row.items()}
