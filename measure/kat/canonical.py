"""The canonical text of a KAT file, its digest, and the first difference of two of them. Pure; lines are bytes.

Published digests are of this text and not of files, whose line ends, trailing blanks and empty lines vary. In the
mode ``nolen`` lines with lengths are left out, since files made as blank templates have them empty; ``:N`` keeps the
first N records.
"""

import hashlib
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import NamedTuple

RECORD_START = b"Count = "
PASS_NUM = b"Pass_Num ="
SHOWN_CHARACTERS = 60


class Mode(NamedTuple):
    """``strict`` or ``nolen``, perhaps with a number of records."""

    nolen: bool
    records: int | None

    def __str__(self) -> str:
        """Return the mode as the catalog writes it."""
        return ("nolen" if self.nolen else "strict") + ("" if self.records is None else f":{self.records}")


class Difference(NamedTuple):
    """The first line, counted from 1, and column in which two canonical texts differ; None where one has ended."""

    line: int
    column: int
    expected: bytes | None
    got: bytes | None

    def __str__(self) -> str:
        """Return one line of text that shows both sides around the difference."""
        expected, got = self._shown(self.expected), self._shown(self.got)
        return f"line {self.line}, column {self.column}: expected {expected}, got {got}"

    def _shown(self, line: bytes | None) -> str:
        if line is None:
            return "the end of the text"
        name = line.partition(b"=")[0] if b"=" in line[:40] else b""
        begin = max(0, self.column - 1 - SHOWN_CHARACTERS // 2)
        cut = line[begin : begin + SHOWN_CHARACTERS]
        head = (name + b"= ... " if name else b"... ") if begin else b""
        tail = b" ..." if begin + SHOWN_CHARACTERS < len(line) else b""
        return repr((head + cut + tail).decode("utf-8", "backslashreplace"))


def parse_mode(text: str) -> Mode:
    """Return a mode as the catalog writes it; the catalog has checked its form."""
    name, _, count = text.partition(":")
    return Mode(name == "nolen", int(count) if count else None)


def canonical_lines(lines: Iterable[bytes], mode: Mode) -> Iterator[bytes]:
    """Yield the canonical lines, without their line feeds, of a text that was split after line feeds."""
    records = 0
    for raw in lines:
        line = raw.removesuffix(b"\n").rstrip(b" \t\r")
        records += line.startswith(RECORD_START)
        if mode.records is not None and records > mode.records:
            return
        if line and not (mode.nolen and is_length(line)):
            yield line


def is_length(line: bytes) -> bool:
    """Return whether a line states a length: its key, the text before the first ``=``, ends in ``_Len``."""
    key, found, _ = line.partition(b"=")
    return bool(found) and key.rstrip().endswith(b"_Len")


def has_empty_length(lines: Iterable[bytes]) -> bool:
    """Return whether a file was made as a blank template: some length has no value."""
    return any(is_length(line) and not line.partition(b"=")[2].strip() for line in lines)


def without_pass_num(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield canonical lines with ``Pass_Num`` empty, as blank templates of a key exchange have it in every mode."""
    return (PASS_NUM if line.startswith(PASS_NUM) else line for line in lines)


def digest(lines: Iterable[bytes]) -> str:
    """Return the SHA-256 of canonical lines, each followed by one line feed."""
    state = hashlib.sha256()
    for line in lines:
        state.update(line)
        state.update(b"\n")
    return state.hexdigest()


def flipped(lines: Iterable[bytes], at: int) -> Iterator[bytes]:
    """Yield lines with one bit flipped in the middle of line ``at``, counted from 0."""
    for number, line in enumerate(lines):
        middle = len(line) // 2
        yield line[:middle] + bytes((line[middle] ^ 1,)) + line[middle + 1 :] if number == at else line


def first_difference(expected: Iterable[bytes], got: Iterable[bytes]) -> Difference | None:
    """Return where two canonical texts first differ; None where they do not."""
    for number, (left, right) in enumerate(zip_longest(expected, got), start=1):
        if left != right:
            return Difference(number, _column(left or b"", right or b""), left, right)
    return None


def _column(left: bytes, right: bytes) -> int:
    pairs = enumerate(zip(left, right, strict=False), start=1)
    return next((column for column, (one, other) in pairs if one != other), min(len(left), len(right)) + 1)
