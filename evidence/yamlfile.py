"""Reading a YAML file that anybody may have written: bounded, plain data only, every place with its line."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from evidence.faults import Fault

LIMIT_BYTES = 1 << 20
DEPTH_LIMIT = 50


class Document(NamedTuple):
    """A document's value, and the line on which each JSON path of it begins."""

    value: object
    lines: dict[str, int]


def read(file: Path) -> Document | list[Fault]:
    """Return the file's document, or its faults by line."""
    try:
        with file.open("rb") as stream:
            raw = stream.read(LIMIT_BYTES + 1)
        if len(raw) > LIMIT_BYTES:
            return [Fault(str(file), "1", f"larger than {LIMIT_BYTES >> 20} MiB")]
        return _parsed(file, raw.decode("utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        return [Fault(str(file), *_where_and_what(error))]


def _where_and_what(error: Exception) -> tuple[str, str]:
    """Return line and description of what stopped the reading."""
    if isinstance(error, OSError):
        return "", f"cannot be read: {error.strerror}"
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark:
        return str(error.problem_mark.line + 1), f"not YAML: {error.problem}"
    # Among these: bytes that are no UTF-8, and a date or number that only looks like one.
    return "1", f"not YAML: {' '.join(str(error).split())}"


def _parsed(file: Path, text: str) -> Document | list[Fault]:
    # The events are looked through first: nested deeply or by reference, a small file makes a huge document.
    faults = [Fault(str(file), str(line), message) for line, message in _odd_events(text)]
    if faults:
        return faults[:1]
    node = yaml.compose(text, Loader=yaml.CSafeLoader)
    faults = [Fault(str(file), str(line), message) for line, message in _odd_keys(node)]
    return faults or Document(yaml.load(text, Loader=yaml.CSafeLoader), dict(_lines(node, "$")) if node else {})


def _odd_events(text: str) -> Iterator[tuple[int, str]]:
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        line = event.start_mark.line + 1 if event.start_mark else 1
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > DEPTH_LIMIT:
                yield line, f"nested too deeply: more than {DEPTH_LIMIT} levels"
                return
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if getattr(event, "anchor", None):
            yield line, "anchors and aliases are not read: write the value out"
            return


def _odd_keys(node: Any) -> Iterator[tuple[int, str]]:
    """Yield keys that stand twice, that are no words, and merge keys."""
    if isinstance(node, yaml.MappingNode):
        seen = set()
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                yield line, "a key must be a word"
            elif key.tag == "tag:yaml.org,2002:merge":
                yield line, "merge keys are not read: write the keys out"
            elif key.value in seen:
                yield line, f"key {key.value!r} stands twice"
            else:
                seen.add(key.value)
            yield from _odd_keys(value)
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            yield from _odd_keys(value)


def _lines(node: Any, path: str) -> Iterator[tuple[str, int]]:
    """Yield the line on which each path of a document begins."""
    yield path, node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            inner = f"{path}.{key.value}"
            yield from _lines(value, inner)
            yield inner, key.start_mark.line + 1
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            yield from _lines(value, f"{path}[{index}]")
