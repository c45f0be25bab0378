"""From rows and a specification to a figure: SVG that follows the page's colours, its words, and its data as CSV."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup, escape

from render.downloads import csvtext

Rows = Sequence[Mapping[str, Any]]
# Raise it when what becomes of Vega's SVG changes.
EDITION = 2
# Marks are parts of one picture, not pictures without names.
INNER_ROLES = re.compile(r' (?:role="graphics-[a-z]+"|aria-roledescription="[^"]*"|aria-hidden="true")')


class Figure(NamedTuple):
    """A drawn chart. ``name`` is that of its CSV file, beside the page; ``told`` says in words what it shows."""

    name: str
    title: str
    told: str
    svg: Markup
    csv: str


class Plan(NamedTuple):
    """What is to be drawn: an Altair specification without data, the rows that it shows, and where axes have lines."""

    name: str
    title: str
    told: str
    spec: Mapping[str, Any]
    rows: Rows
    ticks: Mapping[str, Sequence[float]] = {}


class Drawer:
    """Draws charts, and keeps each under the digest of what it shows. Without a folder nothing is kept."""

    def __init__(self, cache: Path | None) -> None:
        self.cache = cache
        self.drawn = 0

    def figure(self, plan: Plan) -> Figure:
        """Return a chart, drawn only if no equal one was drawn before."""
        spec = {**_with_ticks(plan), "data": {"values": list(plan.rows)}}
        text = json.dumps([EDITION, version("vl-convert-python"), spec], sort_keys=True, ensure_ascii=False)
        digest = hashlib.sha256(text.encode()).hexdigest()
        svg = self._kept(digest) or self._draw(spec, digest)
        return Figure(plan.name, plan.title, plan.told, _worded(svg, plan, digest[:12]), csvtext.of_rows(plan.rows))

    def _kept(self, digest: str) -> str:
        file = self.cache / f"{digest}.svg" if self.cache else None
        return file.read_text(encoding="utf-8") if file and file.is_file() else ""

    def _draw(self, spec: Mapping[str, Any], digest: str) -> str:
        import vl_convert  # noqa: PLC0415 - half a second that a run without new charts need not spend

        self.drawn += 1
        # Unicode's line separators would end the one line that keeps Markdown from reading the SVG.
        svg = INNER_ROLES.sub("", str(vl_convert.vegalite_to_svg(dict(spec))).replace("\n", " "))
        if self.cache:
            self.cache.mkdir(parents=True, exist_ok=True)
            (self.cache / f"{digest}.svg").write_text(svg, encoding="utf-8")
        return svg


def _with_ticks(plan: Plan) -> dict[str, Any]:
    spec = deepcopy(dict(plan.spec))
    for layer in spec["layer"]:
        for channel, values in plan.ticks.items():
            if axis := layer["encoding"].get(channel, {}).get("axis"):
                axis["values"] = list(values)
    return spec


def _worded(svg: str, plan: Plan, key: str) -> Markup:
    """Return the SVG as one picture with title and description for those who do not see it."""
    head, _, body = svg.partition(">")
    names = f'role="img" aria-labelledby="t{key} d{key}"'
    words = f'<title id="t{key}">{escape(plan.title)}</title><desc id="d{key}">{escape(plan.told)}</desc>'
    return Markup(f"{head} {names}>{words}{body}")  # noqa: S704 - Vega escapes its texts, and ours are escaped here
