"""Tables and text of a page, before HTML: columns that say how a row becomes a cell, and pieces of text.

A column's title stands beside the rule for its cells, so that a search for the title finds the rule.
Templates turn pieces into escaped HTML.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

R = TypeVar("R")


class Piece(NamedTuple):
    """A run of text: plain, as code, or a link; ``alert`` makes it stand out, ``quiet`` lets it stand back.

    ``name`` is what a screen reader says of a link whose text alone would tell too little.
    """

    text: str
    href: str = ""
    code: bool = False
    alert: bool = False
    name: str = ""
    quiet: bool = False


Content = str | Piece | Sequence[Piece]


def unordered(_: object) -> None:
    """Say that a cell has no number to sort by: its text is sorted."""


class Cell(NamedTuple):
    """One cell: what it says, and the number that it is sorted by.

    ``kind`` is ``n`` for a figure (set flush right), ``c`` for code, else empty. ``plain`` is the cell’s text where
    that is all there is to it, else empty.
    """

    pieces: tuple[Piece, ...]
    kind: str
    order: float | None = None
    plain: str = ""


class Column(NamedTuple, Generic[R]):
    """A column's title, the rule for its cells, and for the numbers that a reader sorts by."""

    title: str
    content: Callable[[R], Content]
    numeric: bool = False
    order: Callable[[R], float | None] = unordered


class Head(NamedTuple):
    """The head of a column."""

    title: str
    numeric: bool


class Row(NamedTuple):
    """One row: its first cell is its header. ``first`` marks the first of rows that belong together.

    ``facets`` are what a reader can filter by, as name and value.
    """

    header: Cell
    cells: tuple[Cell, ...]
    first: bool
    facets: tuple[tuple[str, str], ...] = ()


class Table(NamedTuple):
    """A table: ``key`` names it for style sheets, ``caption`` says what it shows."""

    key: str
    caption: str
    heads: tuple[Head, ...]
    rows: tuple[Row, ...]


class Line(NamedTuple):
    """A line ``label: value`` of a list."""

    label: str
    pieces: tuple[Piece, ...]


def pieces(content: Content) -> tuple[Piece, ...]:
    """Return any content as pieces."""
    if isinstance(content, str):
        return (Piece(content),)
    return (content,) if isinstance(content, Piece) else tuple(content)


def line(label: str, content: Content) -> Line:
    """Return a line ``label: value``."""
    return Line(label, pieces(content))


def table(
    key: str,
    caption: str,
    columns: Sequence[Column[R]],
    rows: Iterable[R],
    facets: Callable[[R], Mapping[str, str]] = lambda _: {},
) -> Table:
    """Return the table that the columns make of the rows."""
    filled: list[Row] = []
    for row in rows:
        header, *cells = [_cell(column, row) for column in columns]
        first = not filled or filled[-1].header.pieces != header.pieces
        filled.append(Row(header, tuple(cells), first, tuple(facets(row).items())))
    return Table(key, caption, tuple(Head(column.title, column.numeric) for column in columns), tuple(filled))


def _cell(column: Column[R], row: R) -> Cell:
    content, kind = column.content(row), "n" if column.numeric else ""
    if isinstance(content, Piece) and content.code:
        content = content._replace(code=False) if content.href else content.text
        kind = kind or "c"
    if isinstance(content, str):  # as most are
        return Cell((Piece(content),), kind, column.order(row), content)
    return Cell(pieces(content), kind, column.order(row))
