"""Footnotes: numbers in the order of first use, marks, and Markdown that cannot carry HTML."""

import pytest

from evidence.catalog import Footnote
from render.facts import footnotes


def _note(instances: str, action: str = "measure", text: str = "text") -> Footnote:
    return Footnote(instances=instances, action=action, text=text)  # type: ignore[arg-type]


def _text(found: footnotes.Footnotes, label: str) -> str:
    return "".join(piece.text for piece in footnotes.marks(found, label))


def test_numbers_follow_first_use_not_the_order_of_the_catalog() -> None:
    found = footnotes.number([_note("B$"), _note("^A"), _note("never")], ["A", "B", "AB"])
    assert [_text(found, label) for label in ("A", "B", "AB")] == [" [1]", " [2]", " [2] [1]"]
    assert [note.number for note in found.notes] == [1, 2]


def test_an_excluded_instance_is_marked_as_not_timed() -> None:
    found = footnotes.number([_note("^A$", "exclude")], ["A"])
    assert _text(found, "A") == " [1] (not timed)"


def test_markdown_becomes_html() -> None:
    assert footnotes.safe_html("a `b` *c* [d](https://e.f/)") == (
        '<p>a <code>b</code> <em>c</em> <a href="https://e.f/">d</a></p>\n'
    )


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "![x](https://elsewhere.example/pixel.png)",
        "a\n\n<iframe src='https://elsewhere.example/'></iframe>",
    ],
)
def test_hostile_markdown_stays_text(hostile: str) -> None:
    html = footnotes.safe_html(hostile).lower()
    assert not any(bad in html for bad in ("<script", "<img", "<iframe", 'href="javascript', 'href="data'))
