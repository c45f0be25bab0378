"""The templates: strict about undefined names, every value escaped."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

TEMPLATES = Path(__file__).parent.parent / "templates"


def render(name: str, view: dict[str, Any]) -> str:
    """Return a template filled from a view model.

    Raises:
        jinja2.UndefinedError: when the template names something that the view lacks.
    """
    return environment().get_template(name).render(view)


def fragment(name: str, view: dict[str, Any]) -> Markup:
    """Return a filled template as markup to be put into another: its values were escaped here."""
    return Markup(render(name, view))  # noqa: S704


@cache
def environment() -> jinja2.Environment:
    """Return the environment in which all templates run."""
    created = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
    created.filters["front_matter"] = front_matter
    return created


def front_matter(text: str) -> Markup:
    """Return a text as a YAML string that MkDocs can put into HTML as it is: its templates do not escape titles."""
    return Markup(json.dumps(str(escape(text)), ensure_ascii=False))  # noqa: S704 - escaped, then quoted
