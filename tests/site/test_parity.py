"""The published figures, every one of them, on the pages that MkDocs builds."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

PUBLISHED = Path(__file__).resolve().parents[1] / "data" / "published" / "pages"
LINKS = ("Security evaluation", "Measurement method", "Submission")


def _sections(text: str) -> dict[str, list[str]]:
    """Return the published lines of each section, by title."""
    blocks = [block.splitlines() for block in text.strip().split("\n\n")]
    return {title: lines for title, *lines in blocks}


def _values(title: str, published: list[str], section: Any) -> Iterator[tuple[str, str, str]]:
    """Yield every published value of a section: where it stands, what was published, what the page says."""
    if "\t" not in published[0]:
        for line in published:
            label = line.partition(":")[0]
            found = next((ours for ours in section.lines if ours.startswith(f"{label}:")), "(no line)").strip()
            yield f"{title}, {label}", line, line if label in LINKS and found != "(no line)" else found
        return
    head, *rows = [line.split("\t") for line in published]
    table = next((t for t in section.tables if set(head) <= set(t[0])), [head])
    for number, row in enumerate(rows, 1):
        for column, value in zip(head, row, strict=True):
            cell = table[number][table[0].index(column)] if number < len(table) else "(no row)"
            yield f"{title}, row {number}, {column}", value, cell


def _marks(published: list[str], page: Any) -> Iterator[tuple[str, str, str]]:
    for mark in sorted(set(re.findall(r"\[(\d+)\]", "\n".join(published)))):
        yield f"footnote {mark}", f"note-{mark}", f"note-{mark}" if f"note-{mark}" in page.ids else "(no note)"


def compare(text: str, page: Any) -> list[tuple[str, str, str]]:
    """Return every published value with the one of the page."""
    found = []
    for title, lines in _sections(text).items():
        assert title in page.sections
        found += [*_values(title, lines, page.sections[title]), *_marks(lines, page)]
    return found


@pytest.mark.parametrize(
    ("name", "count"),
    [("arm_1__sign-18", 338), ("x86_1__sign-16", 256), ("arm_1__sign-29", 259), ("arm_1__sign-20", 337)],
)
def test_every_published_value_is_on_the_page(page: Callable[[str], Any], name: str, count: int) -> None:
    text = (PUBLISHED / f"{name}.txt").read_text(encoding="utf-8")
    values = compare(text, page(f"performance/{name.replace('__', '/')}"))
    assert [value for value in values if value[1] != value[2]] == []
    assert len(values) == count


def test_tables_have_as_many_rows_as_published(page: Callable[[str], Any]) -> None:
    for file in PUBLISHED.glob("*.txt"):
        ours = page(f"performance/{file.stem.replace('__', '/')}").sections
        for title, lines in _sections(file.read_text(encoding="utf-8")).items():
            assert not ours[title].tables or len(ours[title].tables[0]) == len(lines), (file.stem, title)


@pytest.mark.parametrize(
    ("published", "changed"),
    [("767.9 k", "767.8 k"), ("PASS", "FAIL"), ("54217", "54218"), ("Octarine-128", "Octarine-64")],
)
def test_the_comparison_notices_a_change(page: Callable[[str], Any], published: str, changed: str) -> None:
    text = (PUBLISHED / "x86_1__sign-16.txt").read_text(encoding="utf-8").replace(published, changed, 1)
    assert any(want != got for _, want, got in compare(text, page("performance/x86_1/sign-16")))
