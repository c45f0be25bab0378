"""The page on which a reader sets parameter sets beside each other; ``assets/compare.js`` fills it."""

from collections.abc import Sequence

from render.facts.overview import Overview
from render.look import templating

PATH = "compare/index.md"


def render(overviews: Sequence[Overview]) -> str:
    """Return the page as Markdown that holds HTML."""
    return templating.render("compare.md.j2", {"title": "Compare parameter sets", "systems": overviews})
