"""Writes tests/data/iccs/answers.json: each known answer by the C library and by the Python model, which must agree.

    python -m tests.csrc.model.answers

Takes some minutes, most of them for the million hashes of each KAT_Loop file.
"""

import json
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from tests.csrc.model import kat, library

ORIGIN = (
    "SHA-256 of the canonical known-answer texts of the bundled candidates. Each text was generated twice, by the C "
    "library and by the Python model in tests/csrc/model, and its digest kept because both agree."
)


def by_c(index: int, kind: str) -> dict[str, Any]:
    recipe = library.recipes()[index]
    with tempfile.TemporaryDirectory() as folder:
        scheme = library.scheme(recipe, library.build(recipe, Path(folder)))
        return library.answer(kind, recipe, kat.TEXTS[recipe.family][kind](scheme))


def by_model(index: int, kind: str) -> dict[str, Any]:
    recipe = library.recipes()[index]
    return library.answer(kind, recipe, kat.TEXTS[recipe.family][kind](recipe.model))


def main() -> int:
    """Generate, compare, write; status 1 where the two differ."""
    recipes = library.recipes()
    tasks = [(index, kind) for index, recipe in enumerate(recipes) for kind in kat.TEXTS[recipe.family]]
    with ProcessPoolExecutor() as pool:

        def start(function: Callable[[int, str], dict[str, Any]]) -> list[dict[str, Any]]:
            return list(pool.map(function, *zip(*tasks, strict=True)))

        from_c, from_model = start(by_c), start(by_model)
    if from_c != from_model:
        differing = [one["file"] for one, other in zip(from_c, from_model, strict=True) if one != other]
        sys.stderr.write(f"C and model differ: {', '.join(differing)}\n")
        return 1
    entries = [
        library.described(recipe, [kat_file for task, kat_file in zip(tasks, from_c, strict=True) if task[0] == index])
        for index, recipe in enumerate(recipes)
    ]
    text = json.dumps({"origin": ORIGIN, "instances": entries}, indent=1)
    (library.DATA / "answers.json").write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
