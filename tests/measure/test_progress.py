"""What an operator is told: when a phase ends, and the log that is left to read."""

import datetime as dt
import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from measure.errors import StorageError
from measure.progress import Teller, duration, end_text, left_s, phase

FRIDAY = dt.datetime(2026, 11, 27, 18, 30, tzinfo=dt.UTC)


@pytest.fixture
def teller(tmp_path: Path) -> Teller:
    return Teller(Console(file=io.StringIO(), force_terminal=False), tmp_path / "campaign.log")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, ""),
        (0.0, "ends 18:30"),
        (5 * 3600.0, "ends 23:30"),
        (5.5 * 3600.0, "ends Sat 2026-11-28 00:00"),
        (62 * 3600.0, "ends Mon 2026-11-30 08:30"),
    ],
)
def test_the_end_is_named_with_its_day_where_that_is_another(seconds: float | None, text: str) -> None:
    assert end_text(seconds, FRIDAY) == text


def test_the_rest_goes_on_at_the_pace_so_far() -> None:
    assert left_s(30.0, 120.0, 60.0) == 180.0
    assert left_s(130.0, 120.0, 60.0) == 0.0
    assert left_s(0.0, 120.0, 60.0) is None


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(41.6, "42 s"), (59.6, "1 min 00 s"), (200, "3 min 20 s"), (18_120, "5 h 02 min"), (300_000, "83 h 20 min")],
)
def test_durations_are_for_people(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_lines_name_share_and_end_and_are_kept(teller: Teller) -> None:
    with phase(teller, "time", 4.0) as shown:
        shown.step(1.0, "kem-toy/[A] enc trial 1 of 5")
        shown.step(3.0, "kem-toy/[A] enc trial 2 of 5")
    assert isinstance(teller.console.file, io.StringIO)
    printed = teller.console.file.getvalue().splitlines()
    assert re.fullmatch(r"time: kem-toy/\[A\] enc trial 1 of 5 \(25%, ends \d\d:\d\d\)", printed[0])
    assert "(100%, ends" in printed[1]
    kept = teller.log.read_text().splitlines()
    assert [line.split(" ", 1)[1] for line in kept] == printed
    assert all(dt.datetime.fromisoformat(line.split(" ", 1)[0]).tzinfo == dt.UTC for line in kept)


def test_a_terminal_shows_a_bar_and_the_log_has_the_lines(tmp_path: Path) -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=120)
    teller = Teller(console, tmp_path / "campaign.log")
    with phase(teller, "time", 2.0) as shown:
        shown.step(1.0, "first")
    assert isinstance(console.file, io.StringIO)
    assert "50 %" in console.file.getvalue()
    assert "time: first (50%" in teller.log.read_text()


def test_a_log_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    teller = Teller(Console(file=io.StringIO()), tmp_path / "absent" / "campaign.log")
    with pytest.raises(StorageError, match=r"campaign.log: cannot be written: No such file or directory; free space"):
        teller.say("x")
