"""The reference page of the notes that evidence raises, made from their one table so that it cannot drift."""

from typing import Any

from render.facts.marks.rules import RULES, Rule
from render.look import templating
from render.look.table import Column, Piece, table

PATH = "notes/index.md"


def view() -> dict[str, Any]:
    """Return the page's view model: every kind of note with rule, threshold and reason."""
    columns = (
        Column[Rule]("note", lambda rule: Piece(rule.title)),
        Column[Rule]("raised when", lambda rule: Piece(rule.threshold)),
        Column[Rule]("why", lambda rule: Piece(rule.reason)),
    )
    return {
        "title": "Notes that the evidence raises",
        "rules": table("rules", "Every kind of note, with its rule and its reason", columns, RULES),
        "kinds": [rule.kind for rule in RULES],
    }


def render() -> str:
    """Return the page as Markdown that holds HTML."""
    return templating.render("notes.md.j2", view())
