"""Footnotes: which instances the catalog's notes speak of, their numbers, and their Markdown as safe HTML."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from markdown_it import MarkdownIt
from markupsafe import Markup

from evidence.catalog import Footnote
from render.look.table import Piece

# Raw HTML stays text, and no image is loaded from anywhere.
MARKDOWN = MarkdownIt("commonmark", {"html": False}).disable("image")


class Note(NamedTuple):
    """A footnote as it stands on the page."""

    number: int
    html: Markup


class Footnotes(NamedTuple):
    """The footnotes of one page, in the order of their first use, and those of each label."""

    notes: tuple[Note, ...]
    of_label: dict[str, tuple[tuple[int, Footnote], ...]]


def number(footnotes: Sequence[Footnote], labels: Iterable[str]) -> Footnotes:
    """Number the catalog's notes in the order in which the labels first use them."""
    numbers: dict[int, int] = {}
    of_label: dict[str, tuple[tuple[int, Footnote], ...]] = {}
    for label in labels:
        used = [index for index, footnote in enumerate(footnotes) if footnote.matches(label)]
        of_label[label] = tuple((numbers.setdefault(index, len(numbers) + 1), footnotes[index]) for index in used)
    notes = tuple(Note(mark, safe_html(footnotes[index].text)) for index, mark in numbers.items())
    return Footnotes(notes, of_label)


def marks(footnotes: Footnotes, label: str) -> tuple[Piece, ...]:
    """Return the marks behind a label's KAT status: `` [1]``, and for an excluded one `` [1] (not timed)``."""
    found: list[Piece] = []
    for mark, footnote in footnotes.of_label.get(label, ()):
        found += [Piece(" "), Piece(f"[{mark}]", href=f"#note-{mark}")]
        if footnote.action == "exclude":
            found.append(Piece(" (not timed)"))
    return tuple(found)


def safe_html(markdown: str) -> Markup:
    """Return catalog Markdown as HTML that holds no markup but its own."""
    # The renderer escapes all text itself, and raw HTML is switched off.
    return Markup(MARKDOWN.render(markdown))  # noqa: S704
