"""Rows as Parquet, with the types that the rows' columns have."""

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any


def of_rows(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Return rows as one Parquet file. A column holds whole numbers, numbers, text, truth or lists; never a mixture."""
    import pyarrow as pa  # noqa: PLC0415 - large, and needed by one file of a system
    import pyarrow.parquet as pq  # noqa: PLC0415

    names = list(rows[0]) if rows else []
    columns = {name: _plain([row[name] for row in rows]) for name in names}
    arrays = {name: pa.array(values, type=_type(pa, values)) for name, values in columns.items()}
    out = io.BytesIO()
    pq.write_table(pa.table(arrays), out, compression="zstd")
    return out.getvalue()


def _plain(values: list[Any]) -> list[Any]:
    """Return a column's values with mappings as JSON and tuples as lists; the first known one tells the kind."""
    first = next((value for value in values if value is not None), None)
    if isinstance(first, Mapping):
        return [None if value is None else json.dumps(dict(value), ensure_ascii=False) for value in values]
    return [None if value is None else list(value) for value in values] if isinstance(first, tuple) else values


def _type(pa: Any, values: Sequence[Any]) -> Any:
    """Return the Arrow type of a column; whole numbers among others are numbers, and nothing at all is text."""
    known = [value for value in values if value is not None]
    if any(isinstance(value, list) for value in known):
        return pa.list_(_type(pa, [each for value in known for each in value]))
    kinds = {type(value) for value in known}
    if kinds == {bool}:
        return pa.bool_()
    if kinds == {int}:
        return pa.int64()
    return pa.float64() if kinds and kinds <= {int, float} else pa.string()
