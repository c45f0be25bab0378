"""Removes what evidence must not hold from the output of other programs: absolute paths and control characters."""

import re
from collections.abc import Mapping
from pathlib import Path

# A slash after a word character, a dot or a slash is part of a relative path, a fraction or an address.
ABSOLUTE_PATH = re.compile(r"(?<![\w./])/(?:[\w.+@~-]+/)+")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")


def scrub(text: str, folders: Mapping[Path, str] | None = None) -> str:
    """Return ``text`` with the given folders replaced, other absolute folders as ``[...]/``, controls escaped.

    Args:
        text: what a compiler or a candidate printed.
        folders: known folders and what stands for each, such as ``{source_root: "source"}``.
    """
    # Longest first: a folder may lie inside another.
    for folder in sorted(folders or {}, key=lambda path: -len(str(path))):
        text = text.replace(f"{folder}/", f"{(folders or {})[folder]}/")
    text = ABSOLUTE_PATH.sub("[...]/", text)
    return CONTROL.sub(lambda match: f"\\x{ord(match.group()):02x}", text)
