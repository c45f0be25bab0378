"""The canonical text is what sed, grep and sha256sum make of a file, in all four modes."""

import hashlib
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from measure.kat.canonical import (
    Mode,
    canonical_lines,
    digest,
    first_difference,
    flipped,
    has_empty_length,
    parse_mode,
    without_pass_num,
)

STRICT = Mode(nolen=False, records=None)
TEXT = (
    b"Count = 0\nSeed_Len = 64\nM_Len = \nM =  \t\r\n\n  \nCount = 1\r\nSn_Len=3\nSn = AB\n\nCount = 2\nSn = x_Len = 4"
)
LINES = st.lists(
    st.sampled_from(
        [
            b"",
            b" ",
            b"\t\r",
            b"Count = 0",
            b"Count = 12",
            b"Count =",
            b"PK_Len = 3",
            b"PK_Len =",
            b"PK = AA ",
            b"a_Len b",
        ]
    )
    | st.binary(max_size=12).filter(lambda line: b"\n" not in line and b"\0" not in line),
    max_size=20,
)


def split(text: bytes) -> list[bytes]:
    return text.splitlines(keepends=True) if b"\r" not in text else [part + b"\n" for part in text.split(b"\n")]


def canonical(text: bytes, mode: str = "strict") -> bytes:
    return b"".join(line + b"\n" for line in canonical_lines(split(text), parse_mode(mode)))


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (
            "strict",
            b"Count = 0\nSeed_Len = 64\nM_Len =\nM =\nCount = 1\nSn_Len=3\nSn = AB\nCount = 2\nSn = x_Len = 4\n",
        ),
        ("nolen", b"Count = 0\nM =\nCount = 1\nSn = AB\nCount = 2\nSn = x_Len = 4\n"),
        ("strict:1", b"Count = 0\nSeed_Len = 64\nM_Len =\nM =\n"),
        ("nolen:2", b"Count = 0\nM =\nCount = 1\nSn = AB\n"),
    ],
)
def test_every_mode_keeps_what_its_rule_says(mode, expected):
    assert canonical(TEXT, mode) == expected
    assert digest(canonical_lines(split(TEXT), parse_mode(mode))) == hashlib.sha256(expected).hexdigest()
    assert str(parse_mode(mode)) == mode


@given(lines=LINES, ended=st.booleans())
@settings(max_examples=60, deadline=None)
def test_strict_is_the_command_of_the_specification(lines, ended):
    text = b"\n".join(lines) + (b"\n" if ended and lines else b"")
    command = r"LC_ALL=C sed 's/[ \t\r]*$//' | LC_ALL=C grep -av '^$' | sha256sum"
    said = subprocess.run(["sh", "-c", command], input=text, capture_output=True, check=False).stdout.split()[0]
    # A last line without its line feed counts; sed leaves it so, and grep adds it.
    assert digest(canonical_lines(split(text), STRICT)) == said.decode()


@given(lines=LINES)
def test_blanks_line_ends_and_empty_lines_never_matter(lines):
    plain = b"".join(line + b"\n" for line in lines)
    other = b"\n".join(line + b" \t\r\n\n" for line in lines)
    for mode in ("strict", "nolen", "strict:2", "nolen:2"):
        assert canonical(plain, mode) == canonical(other, mode)


@given(lines=LINES, count=st.integers(1, 4))
def test_a_cut_text_is_a_beginning_and_the_canonical_text_is_its_own(lines, count):
    text = b"".join(line + b"\n" for line in lines)
    assert canonical(text).startswith(canonical(text, f"strict:{count}"))
    assert canonical(canonical(text)) == canonical(text)
    assert canonical(canonical(text), "nolen") == canonical(text, "nolen")


@given(lines=st.lists(st.binary(min_size=1, max_size=9), min_size=1, max_size=9), data=st.data())
def test_a_flipped_bit_changes_the_digest_and_is_found_where_it_is(lines, data):
    at = data.draw(st.integers(0, len(lines) - 1))
    wrong = list(flipped(lines, at))
    assert digest(wrong) != digest(lines)
    found = first_difference(lines, wrong)
    assert (found.line, found.column) == (at + 1, len(lines[at]) // 2 + 1)
    assert first_difference(lines, list(lines)) is None


def test_a_difference_is_shown_in_one_line_whatever_the_lengths():
    left = b"PK = " + b"AB" * 500
    right = left[:700] + b"C" + left[701:]
    text = str(first_difference([b"Count = 0", left], [b"Count = 0", right]))
    assert text.startswith("line 2, column 701: expected 'PK = ... ")
    assert len(text) < 300
    assert "\n" not in str(first_difference([b"a\x1b[0m\xff"], [b"b\r"]))
    assert str(first_difference([b"a"], [])) == "line 1, column 1: expected 'a', got the end of the text"


def test_a_blank_template_is_known_by_a_length_without_value():
    assert has_empty_length([b"PK_Len = \r\n"])
    assert not has_empty_length([b"PK_Len = 0\n", b"PK = \n", b"M_Len\n"])


def test_the_number_of_passes_is_left_empty_on_request():
    assert list(without_pass_num([b"Pass_Num = 2", b"M1 = 00", b"Pass_Num ="])) == [
        b"Pass_Num =",
        b"M1 = 00",
        b"Pass_Num =",
    ]
