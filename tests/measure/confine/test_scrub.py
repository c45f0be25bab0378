"""Evidence holds no absolute path and no control character, whatever a candidate prints."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.verify import ABSOLUTE_PATH
from measure.confine.scrub import scrub


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        ("/home/someone/x.c:7: error", "[...]/x.c:7: error"),
        ("at:/tmp/a/b", "at:[...]/b"),
        ("(-/usr/lib/x.so)", "(-[...]/x.so)"),
        ("a/b/c.c and ../d/e.c and 3/4/5", "a/b/c.c and ../d/e.c and 3/4/5"),
        ("https://example.org/a/b", "https://example.org/a/b"),
        ("red \x1b[31m\r\x9b\u2028", "red \\x1b[31m\\x0d\\x9b\\x2028"),
        ("tab\tand\nline", "tab\tand\nline"),
    ],
)
def test_paths_are_cut_to_their_last_part_and_controls_are_shown(text, scrubbed):
    assert scrub(text) == scrubbed


def test_known_folders_keep_a_name_and_the_inner_one_wins():
    folders = {Path("/tmp/run"): "run", Path("/tmp/run/source"): "source"}
    assert scrub("/tmp/run/source/a.c /tmp/run/b", folders) == "source/a.c run/b"


@given(st.text(alphabet="/.:<>()-=~ abtmphome", max_size=40))
def test_nothing_is_left_that_verification_refuses(text):
    assert not ABSOLUTE_PATH.search(scrub(text).encode())
