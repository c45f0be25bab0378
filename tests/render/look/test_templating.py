"""Pages as templates make them: parts in the front matter, marks in the Markdown."""

from typing import Any

import jinja2
import pytest
import yaml
from markupsafe import Markup

from render.look import templating

NOT_IN_YAML = "\x7f \x85 \x9f \u2028 \u2029 \ufeff \ufffe \uffff"


@pytest.fixture
def fill() -> Any:
    """Return a function that fills a page whose content is given, and returns front matter and Markdown."""

    def made(content: str, **values: Any) -> tuple[dict[str, Any], str]:
        text = f"{{% extends 'frame.md.j2' %}}{{% block content %}}{content}{{% endblock %}}"
        whole = templating.environment().from_string(text).render(title="A page", parts=[], **values)
        _, front, body = whole.split("---\n", 2)
        return yaml.safe_load(front), body.strip()

    return made


def test_what_stands_apart_leaves_a_mark(fill: Any) -> None:
    two = Markup("<i>2</i>")
    front, body = fill("## One\n{% filter apart %}\n<b>1</b>\n{% endfilter %}\n{{ two | apart }}", two=two)
    assert front["parts"] == ["<b>1</b>", "<i>2</i>"]
    assert body == "## One\n<!--part 1-->\n<!--part 2-->"


def test_nothing_leaves_no_mark(fill: Any) -> None:
    front, body = fill("{% filter apart %}\n{% endfilter %}One")
    assert "parts" not in front
    assert body == "One"


@pytest.mark.parametrize("text", [NOT_IN_YAML, "\n---\n", '"\\', "<!--part 1-->", "{% raw %}{{ 7*7 }}", "𝔘 ü 数"])
def test_any_text_comes_back_as_it_was(fill: Any, text: str) -> None:
    front, body = fill("{% filter apart %}<b>{{ text }}</b>{% endfilter %}", text=text)
    assert Markup(front["parts"][0]).unescape() == f"<b>{text}</b>"
    assert body == "<!--part 1-->"


def test_text_cannot_forge_a_mark(fill: Any) -> None:
    assert "<!--" not in fill("{{ text }}", text="<!--part 1-->")[1]


def test_names_that_the_view_lacks_are_errors(fill: Any) -> None:
    with pytest.raises(jinja2.UndefinedError):
        fill("{{ unknown }}")
