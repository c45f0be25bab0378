"""Finds instances and KAT files in a submission folder, by reading files only: nothing in it is run or compiled."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from evidence.operations import Family
from measure.kat.canonical import canonical_lines, digest, has_empty_length, is_length, parse_mode
from measure.source.select import HEADERS, LANGUAGES, OFFICIAL_DRIVER, STRING, code_of, files_below, main_depth

SIGNATURES = {
    Family.SIGN: re.compile(r"\bsig_keygen\s*\("),
    Family.KEM: re.compile(r"\bkem_enc\s*\("),
    Family.KEX: re.compile(r"\bkex_init_a\s*\("),
    Family.HASH: re.compile(r"\bCryptHash\s*\("),
}
# Folders that hold a part of an instance: the instance is the folder around them.
PARTS = frozenset(
    {"src", "source", "sources", "include", "inc", "includes", "lib", "api", "api_pkc", "core", "headers"}
)
VARIANTS = {"reference": "reference", "optimized": "performance", "optimised": "performance"}
NAME_MACRO = re.compile(r'^[ \t]*#[ \t]*define[ \t]+ALGORITHM_INSTANCE[ \t]+"([^"\n]{1,80})"', re.MULTILINE)
CONDITION = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b[ \t]*([^\n]*)", re.MULTILINE)
SYSTEM_HEADER = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<([^>\n]+)>", re.MULTILINE)
LIBRARIES = (("gmp.h", "gmp"), ("openssl/", "crypto"), ("mpfr.h", "mpfr"), ("flint/", "flint"), ("NTL/", "ntl"))
KAT_FILE = re.compile(r"KAT_(SIG|KEM|KEX|2_12|2_23|2_33|Loop)_(.+)\.(?:txt|rsp)", re.IGNORECASE)
KIND_NAMES = {kind.lower(): kind for kind in ("SIG", "KEM", "KEX", "2_12", "2_23", "2_33", "Loop")}
ANSWER_KEYS = (b"PK", b"CT", b"Sn", b"SS", b"Dst", b"M1")


class Name(NamedTuple):
    """A name that a header gives the instance, and the preprocessor condition under which it does."""

    name: str
    condition: str | None


class FoundInstance(NamedTuple):
    """A folder that implements an interface. ``folder`` is relative to the submission."""

    folder: str
    family: Family
    variant: str | None  # None where the folders do not tell
    names: tuple[Name, ...]
    libraries: tuple[str, ...]


class FoundKat(NamedTuple):
    """A KAT file. ``answers`` is False for a blank template, which holds nothing to compare with."""

    path: str
    kind: str
    name: str
    mode: str
    canonical_sha256: str
    records: int
    answers: bool


def instances(folder: Path) -> list[FoundInstance]:
    """Return the instances below a submission folder: reference implementations first, then by path."""
    places: dict[Path, set[Family]] = {}
    for file in _code_files(folder):
        families = {family for family, pattern in SIGNATURES.items() if pattern.search(_bare(file))}
        if families:
            places.setdefault(_instance_folder(file.parent, folder), set()).update(families)
    outermost = [place for place in places if not any(other in place.parents for other in places)]
    found = [
        _instance(place, folder, family) for place in sorted(outermost) for family in Family if family in places[place]
    ]
    return sorted(found, key=lambda one: one.variant != "reference")


def kat_files(folder: Path) -> list[FoundKat]:
    """Return the KAT files below a submission folder with the digests of their canonical texts."""
    found = []
    for file in files_below(folder):
        match = KAT_FILE.fullmatch(file.name)
        if match:
            found.append(_kat(file, file.relative_to(folder).as_posix(), KIND_NAMES[match[1].lower()], match[2]))
    return found


def same_name(one: str, other: str) -> bool:
    """Return whether two names are the same but for case and punctuation."""
    return _letters(one) == _letters(other)


def _letters(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def _code_files(folder: Path) -> Iterator[Path]:
    """Yield headers and sources that may declare an interface; drivers call it, too, and are left out."""
    for file in files_below(folder):
        source = LANGUAGES.get(file.suffix) in {"c", "c++"}
        driver = OFFICIAL_DRIVER.match(file.name) or (source and main_depth(code_of(file)) is not None)
        if not driver and (source or file.suffix in HEADERS):
            yield file


def _bare(file: Path) -> str:
    return STRING.sub('""', code_of(file))


def _instance_folder(place: Path, top: Path) -> Path:
    while place.name.lower() in PARTS and place != top:
        place = place.parent
    return place


def _instance(place: Path, top: Path, family: Family) -> FoundInstance:
    codes = [code_of(file) for file in _code_files(place)]
    names = {name.name: name for code in codes for name in _names(code)}
    return FoundInstance(
        folder=place.relative_to(top).as_posix(),
        family=family,
        variant=_variant(place.relative_to(top).parts),
        names=tuple(names.values()),
        libraries=tuple(dict.fromkeys(library for code in codes for library in _libraries(code))),
    )


def _names(code: str) -> Iterator[Name]:
    """Yield the instance names that a text defines, each with the conditions around it."""
    for match in NAME_MACRO.finditer(code):
        conditions: list[str] = []
        for mark in CONDITION.finditer(code[: match.start()]):
            word, text = mark[1], " ".join(mark[2].split())
            if word in {"endif", "elif", "else"} and conditions:
                conditions.pop()
            if word != "endif":
                conditions.append(f"#{word} {text}".strip())
        inner = [condition for condition in conditions if not re.fullmatch(r"#ifndef \w+_H_*|#else", condition)]
        yield Name(match[1], inner[-1] if inner else None)


def _libraries(code: str) -> Iterator[str]:
    for header in SYSTEM_HEADER.findall(code):
        yield from (library for prefix, library in LIBRARIES if header.startswith(prefix))


def _variant(parts: Sequence[str]) -> str | None:
    words = [word.lower() for part in parts for word in re.split(r"[^A-Za-z]+", part)]
    return next((VARIANTS[word] for word in words if word in VARIANTS), None)


def _kat(file: Path, path: str, kind: str, name: str) -> FoundKat:
    with file.open("rb") as stream:
        mode = "nolen" if has_empty_length(stream) else "strict"
    with file.open("rb") as stream:
        sha256 = digest(canonical_lines(stream, parse_mode(mode)))
    with file.open("rb") as stream:
        records, answers = _content(stream)
    return FoundKat(path, kind, name, mode, sha256, records, answers)


def _content(lines: Iterable[bytes]) -> tuple[int, bool]:
    """Return the number of records, and whether any answer has a value."""
    records, answers = 0, False
    for line in lines:
        key, _, value = line.partition(b"=")
        records += line.startswith(b"Count = ")
        answers |= key.strip() in ANSWER_KEYS and not is_length(line) and bool(value.strip())
    return records, answers
