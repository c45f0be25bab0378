"""Chooses the files that make up an instance: what a recipe lists, else all sources of its folder but the drivers.

Reads files and runs nothing. What only a compiler can tell is left open: such files are *doubtful*, and the build
decides by the symbols of their objects.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from evidence.catalog import Instance
from measure.errors import BuildError

Language = Literal["c", "c++", "assembler"]
LANGUAGES: dict[str, Language] = {
    ".c": "c",
    ".cc": "c++",
    ".cpp": "c++",
    ".cxx": "c++",
    ".c++": "c++",
    ".C": "c++",
    ".S": "assembler",
    ".s": "assembler",
}
HEADERS = frozenset({".h", ".hh", ".hpp", ".hxx", ".inc"})
DRIVER_WORDS = frozenset(
    {"kat", "test", "tests", "testing", "bench", "benchmark", "benchmarks", "speed", "demo", "example", "examples",
     "genkat", "pqcgenkat", "profile", "fuzz"}
)  # fmt: skip
OFFICIAL_DRIVER = re.compile(r"KAT_|PQCgenKAT", re.IGNORECASE)
WORD = re.compile(r"[A-Z]*[a-z]+|[A-Z]+")
NO_CODE = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
MAIN = re.compile(r"^[ \t]*(?:[A-Za-z_]\w*[ \t\n]+)*main\s*\([^;{)]*\)\s*(?:\{|[A-Za-z_][^;(){}=]*;)", re.MULTILINE)
INCLUDED_SOURCE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
CONDITIONAL = re.compile(r"^[ \t]*#[ \t]*(if|endif)", re.MULTILINE)
LOOK_LIMIT_BYTES = 4 * 1024 * 1024


class Selection(NamedTuple):
    """Files of one instance, sorted, and the folders that are searched for headers.

    ``doubtful`` files were found by the automatic choice only: they look like drivers, or define ``main`` under a
    condition.
    """

    sources: tuple[Path, ...]
    doubtful: tuple[Path, ...]
    include: tuple[Path, ...]


def select(instance: Instance, root: Path) -> Selection:
    """Return the files of an instance below ``root``, the source's top folder.

    Raises:
        BuildError: naming the glob that matches no file, or the folder in which there is no source file.
    """
    folder = root / instance.dir
    excluded = _matched(instance.label, "exclude", instance.exclude, root)
    include = [folder, *(root / name for name in instance.include)]
    if instance.sources:
        chosen = sorted(_matched(instance.label, "sources", instance.sources, root) - excluded)
        if not chosen:
            raise BuildError(f"{instance.label}: exclude leaves no source file")
        return Selection(tuple(chosen), (), tuple(include))
    found = sorted(set(source_files(folder)) - excluded)
    sources, doubtful = _without_drivers(found, folder)
    if not sources:
        raise BuildError(f"{instance.label}: dir: {instance.dir!r} holds no C, C++ or assembly file but drivers")
    if not instance.include:
        include = _header_folders(folder)
    return Selection(tuple(sources), tuple(doubtful), tuple(include))


def source_files(folder: Path) -> Iterator[Path]:
    """Yield all C, C++ and assembly files below a folder; links to other folders are not followed."""
    return (file for file in files_below(folder) if file.suffix in LANGUAGES)


def files_below(folder: Path) -> Iterator[Path]:
    """Yield all files below a folder, in order; nothing hidden, and nothing that lies elsewhere."""
    top = folder.resolve()
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for file in (Path(place, name) for name in sorted(names) if not name.startswith(".")):
            if file.is_file() and (not file.is_symlink() or file.resolve().is_relative_to(top)):
                yield file


def is_driver_name(file: Path, folder: Path) -> bool:
    """Return whether the name of a file, or of a folder between it and ``folder``, is that of a driver."""
    parts = file.relative_to(folder).with_suffix("").parts
    return parts[-1].lower() == "main" or any(
        word.lower() in DRIVER_WORDS for part in parts for word in WORD.findall(part)
    )


def code_of(file: Path) -> str:
    """Return the text of a file without comments, its first megabytes only; a file that cannot be read is empty."""
    try:
        with file.open("rb") as stream:
            return NO_CODE.sub(" ", stream.read(LOOK_LIMIT_BYTES).decode("utf-8", "replace"))
    except OSError:
        return ""


def main_depth(code: str) -> int | None:
    """Return under how many preprocessor conditions ``main`` is defined; None where it is not."""
    bare = STRING.sub('""', code)
    match = MAIN.search(bare)
    if match is None:
        return None
    marks = [mark[1] for mark in CONDITIONAL.finditer(bare[: match.start()])]
    return marks.count("if") - marks.count("endif")


def _without_drivers(found: Sequence[Path], folder: Path) -> tuple[list[Path], list[Path]]:
    """Split files into those that certainly belong to the library and those that may; drivers are in neither."""
    sources: list[Path] = []
    doubtful: list[Path] = []
    codes = {}
    for file in found:
        code = code_of(file)
        depth = main_depth(code) if LANGUAGES[file.suffix] != "assembler" else None
        if depth == 0 or OFFICIAL_DRIVER.match(file.name):
            continue
        codes[file] = code
        (doubtful if depth is not None or is_driver_name(file, folder) else sources).append(file)
    part_of_another = _included({file: codes[file] for file in sources}, folder)
    return (
        [file for file in sources if file.resolve() not in part_of_another],
        [file for file in doubtful if file.resolve() not in part_of_another],
    )


def _included(codes: dict[Path, str], folder: Path) -> set[Path]:
    """Return the source files that other files take in by ``#include``: compiling them too would double them."""
    headers = {file: code_of(file) for file in files_below(folder) if file.suffix in HEADERS}
    places = _header_folders(folder)
    return {
        (place / name).resolve()
        for file, code in (codes | headers).items()
        for name in INCLUDED_SOURCE.findall(code)
        if Path(name).suffix in LANGUAGES
        for place in (file.parent, *places)
        if (place / name).is_file()
    }


def _header_folders(folder: Path) -> list[Path]:
    """Return the folder and those below it that hold headers, the nearest first."""
    holding = {file.parent for file in files_below(folder) if file.suffix in HEADERS} - {folder}
    return [folder, *sorted(holding, key=lambda path: (len(path.parts), path))]


def _matched(label: str, key: str, globs: Iterable[str], root: Path) -> set[Path]:
    matched: set[Path] = set()
    for pattern in globs:
        files = {path for path in root.glob(pattern) if path.is_file()}
        if not files:
            raise BuildError(f"{label}: {key}: {pattern!r} matches no file in the source folder")
        matched |= files
    return matched
