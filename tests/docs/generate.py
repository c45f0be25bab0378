"""Makes the parts of the reference that code knows best: commands, catalog keys, fields of the evidence.

    python tests/docs/generate.py

writes them into ``site_src/docs/reference/``; a test fails when they are not what this makes.
"""

import argparse
import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import evidence.catalog
import evidence.cli
import evidence.types
import measure.cli
import measure.errors
import render.cli

REFERENCE = Path(__file__).resolve().parents[2] / "site_src" / "docs" / "reference"
MADE = "<!-- Made by tests/docs/generate.py; edits here are lost. -->"
UNITS = {
    "bytes": "bytes", "s": "seconds", "seconds": "seconds", "ns": "nanoseconds", "khz": "kHz", "mhz": "MHz", "hz": "Hz",
    "kib": "KiB", "bits": "bits", "utc": "UTC", "millicelsius": "m°C", "sha256": "SHA-256", "ticks": "ticks",
    "cycles": "cycles", "level": "bits",
}  # fmt: skip
FILES = {
    "Campaign": "campaign.json",
    "Build": "build.json",
    "Record": "records/…",
    "Profile": "profile/…",
}


class Field(NamedTuple):
    """One field of a type: how its type is written, and what stands behind it in the source."""

    name: str
    type: str
    required: bool
    comment: str


class Described(NamedTuple):
    """One type: its words and its fields; of an enumeration its values."""

    name: str
    text: str
    fields: list[Field]


def commands() -> str:
    """Return the page of all commands."""
    parts = ["---\ntitle: Commands\ndescription: Every command and option\n---\n", MADE, "\n# Commands\n"]
    for parser in (measure.cli._parser(), evidence.cli._parser(), render.cli._parser()):
        parts += [f"\n## {parser.prog}\n", _sentence(parser.description)]
        parts += ["\n| command | what it does |\n|---------|--------------|"]
        parts += [f"| `{name}` | {_sentence(text)} |" for name, text, _ in _subcommands(parser)]
        for options, names in _by_options(parser).items():
            parts += [f"\n### {' '.join(f'`{name}`' for name in names)}\n", options]
    parts += ["\n" + _statuses()]
    return "\n".join(parts).rstrip() + "\n"


def _by_options(parser: argparse.ArgumentParser) -> dict[str, list[str]]:
    """Return the tables of options, each with the commands that have it."""
    found: dict[str, list[str]] = {}
    for name, _, command in _subcommands(parser):
        if table := "\n".join(_options(command)):
            found.setdefault(table, []).append(name)
    return found


def _statuses() -> str:
    lines = [
        "## Exit statuses of python -m measure\n",
        "| status | meaning |",
        "|-------:|---------|",
        "| 0 | done |",
    ]
    kinds = sorted(_subclasses(measure.errors.MeasureError), key=lambda kind: kind.exit_status)
    lines += [f"| {kind.exit_status} | {_first_line(kind.__doc__)} |" for kind in kinds]
    lines += [
        f"| {measure.cli.CATALOG_FAULTS} | The catalog has faults. |",
        f"| {measure.cli.INTERRUPTED} | Interrupted. |",
    ]
    lines += [
        "",
        "`python -m evidence` and `python -m render` end with 0, with 1 where evidence or catalog have faults or pages "
        "would change, and with 2 where a path cannot be used.",
    ]
    return "\n".join(lines)


def _subclasses(kind: Any) -> list[Any]:
    return [each for child in kind.__subclasses__() for each in (child, *_subclasses(child))]


def _subcommands(parser: argparse.ArgumentParser) -> Iterator[tuple[str, str, argparse.ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            texts = {choice.dest: choice.help or "" for choice in action._choices_actions}
            for name, command in action.choices.items():
                yield name, texts.get(name, ""), command


def _options(command: argparse.ArgumentParser) -> Iterator[str]:
    shown = [a for a in command._actions if a.help != argparse.SUPPRESS and not isinstance(a, argparse._HelpAction)]
    if not shown:
        return
    yield "| option | meaning |\n|--------|---------|"
    for action in shown:
        name = ", ".join(action.option_strings) or (action.metavar or action.dest)
        value = f" {action.metavar or action.dest.upper()}" if action.option_strings and action.nargs != 0 else ""
        yield f"| `{name}{value}` | {_cell(command._get_formatter()._expand_help(action))} |"


def catalog() -> str:
    """Return the page of the catalog's keys."""
    parts = ["---\ntitle: Catalog\ndescription: Every key of the files that people write\n---\n", MADE]
    parts += [
        "\n# Catalog\n",
        "People write two kinds of file, in YAML: `data/catalog/systems.yaml`, which lists the machines in the order "
        "in which pages name them, and `data/catalog/candidates/<id>.yaml`, one candidate each. Unknown keys are "
        "errors, with file, line and the nearest known key.",
    ]
    parts += _tables(evidence.catalog, {"System": "systems.yaml", "Candidate": "candidates/….yaml"})
    return "\n".join(parts).rstrip() + "\n"


def evidence_fields() -> str:
    """Return the page of the evidence's fields."""
    parts = ["---\ntitle: Evidence\ndescription: Every field of the evidence files\n---\n", MADE]
    parts += [
        "\n# Evidence\n",
        "Evidence is what was observed; what can be computed from it is not stored. All files are JSON. A field that "
        "was not observed is left out. Names end with their unit; `measurements`, `trials`, `warmups` and "
        "`iterations_per_trial` are counts. JSON Schemas lie in `data/schema/`.\n",
        "A mean is Σ `cycles` (or `ticks`, or `seconds`) over all trials of complete processes, divided by Σ "
        "`measurements`. The median trial is the median of `seconds` / `measurements`. A share is the `ticks` of a "
        "function over the `ticks` of `total`. Memory is the largest over the processes.",
    ]
    parts += _tables(evidence.types, FILES)
    return "\n".join(parts).rstrip() + "\n"


def _tables(module: ModuleType, titles: dict[str, str]) -> Iterator[str]:
    types = described(module)
    names = {each.name for each in types}
    for each in types:
        title = f"{each.name}: `{titles[each.name]}`" if each.name in titles else each.name
        yield f"\n## {title} {{ #{each.name.lower()} }}\n\n{_prose(each.text)}\n"
        if each.fields and not each.fields[0].type:
            yield "| value | meaning |\n|-------|---------|"
            yield from (f"| `{f.name}` | {_cell(f.comment)} |" for f in each.fields)
            continue
        yield "| field | type | unit | remarks |\n|-------|------|------|---------|"
        for field in each.fields:
            must = "required" if field.required else ""
            words = "; ".join(filter(None, [must, field.comment]))
            yield f"| `{field.name}` | {_linked(field.type, names)} | {_unit(field.name)} | {_cell(words)} |"


def described(module: ModuleType) -> list[Described]:
    """Return the types of a module with their fields, in the order of the source."""
    source = inspect.getsource(module)
    lines = source.splitlines()
    classes = [node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)]
    return [
        Described(node.name, inspect.cleandoc(ast.get_docstring(node) or ""), fields)
        for node in classes
        if (fields := list(_fields(node, lines))) and "NamedTuple" not in map(ast.unparse, node.bases)
    ]


def _fields(node: ast.ClassDef, lines: list[str]) -> Iterator[Field]:
    for item in node.body:
        comment = _comment(lines[item.end_lineno - 1]) if item.end_lineno else ""
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            yield Field(item.target.id, _type(ast.unparse(item.annotation)), item.value is None, comment)
        elif isinstance(item, ast.Assign) and isinstance(item.value, ast.Constant):
            yield Field(str(item.value.value), "", required=True, comment=comment)


def _comment(line: str) -> str:
    _, _, comment = line.partition("  # ")
    return re.sub(r"^noqa: \S+( - .*)?$", "", comment)


def _type(annotation: str) -> str:
    plain = re.sub(r"Annotated\[(\w+), .*\]", r"\1", annotation).replace(" | None", "")
    plain = re.sub(r"tuple\[(.*), \.\.\.\]", r"list of \1", plain)
    plain = re.sub(r"Literal\[(.*?)\]", lambda found: "one of " + found[1].replace("'", ""), plain)
    return re.sub(r"dict\[(\w+), (.*)\]", r"map from \1 to \2", plain)


def _linked(type_text: str, names: set[str]) -> str:
    """Return a type whose words lead to the types of the same page."""
    return _cell(re.sub(r"\b[A-Z]\w+", lambda m: f"[{m[0]}](#{m[0].lower()})" if m[0] in names else m[0], type_text))


def _unit(name: str) -> str:
    return UNITS.get(name.rpartition("_")[2], "")


def _prose(text: str) -> str:
    return re.sub(r"``([^`]*)``", r"`\1`", text)


def _cell(text: str) -> str:
    return _prose(text).replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def _sentence(text: str | None) -> str:
    words = (text or "").strip().rstrip(".")
    return f"{words[:1].upper()}{_cell(words[1:])}." if words else ""


def _first_line(text: str | None) -> str:
    return _cell((text or "").strip().splitlines()[0])


PAGES = {"commands.md": commands, "catalog.md": catalog, "evidence.md": evidence_fields}

if __name__ == "__main__":
    for name, make in PAGES.items():
        (REFERENCE / name).write_text(make(), encoding="utf-8")
