"""The templates: strict about undefined names, every value escaped.

What search does not need of a page, above all its tables, stands in its front matter, in *parts*; the Markdown below
holds a mark where each belongs, and ``site_theme/main.html`` puts it there. So none of it is parsed as Markdown, which
would take three times as long as all else that MkDocs does with a page.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

TEMPLATES = Path(__file__).resolve().parents[2] / "templates"
NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def render(name: str, view: dict[str, Any]) -> str:
    """Return a template filled from a view model.

    Raises:
        jinja2.UndefinedError: when the template names something that the view lacks.
    """
    return environment().get_template(name).render(view, parts=[])


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
    created.filters |= {"front_matter": front_matter, "quoted": quoted, "apart": apart}
    return created


@jinja2.pass_context
def apart(context: jinja2.runtime.Context, html: Markup) -> Markup:
    """Put HTML into the page's parts, and return the mark of its place. Escaped text cannot forge a mark."""
    if not html.strip():
        return html
    parts: list[Markup] = context["parts"]
    parts.append(html.strip())
    return Markup(f"<!--part {len(parts)}-->\n")  # noqa: S704 - a number


def front_matter(text: str) -> Markup:
    """Return a text as a YAML string that MkDocs can put into HTML as it is: its templates do not escape titles."""
    return quoted(escape(text))


def quoted(html: Markup) -> Markup:
    """Return HTML as a YAML string of one line; what YAML takes for no character, or for a line's end, as a number."""
    text = json.dumps(html, ensure_ascii=False)
    return Markup(NOT_IN_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", text))  # noqa: S704 - escaped, then quoted
