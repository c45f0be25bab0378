"""What an operator sees while a campaign runs: a bar on a terminal, plain lines elsewhere, and a log file always."""

import contextlib
import datetime as dt
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from measure.errors import StorageError


class Teller(NamedTuple):
    """Where a run talks to its operator: the console, and a log file to read after days."""

    console: Console
    log: Path

    def say(self, text: str) -> None:
        """Print a line and keep it in the log.

        Raises:
            StorageError: when the log cannot be written.
        """
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)
        self.note(text)

    def note(self, text: str) -> None:
        """Keep a line, with its time, in the log alone.

        Raises:
            StorageError: when the log cannot be written.
        """
        try:
            with self.log.open("a", encoding="utf-8") as stream:
                stream.write(f"{dt.datetime.now(dt.UTC).isoformat(timespec='seconds')} {text}\n")
        except OSError as error:
            raise StorageError(f"{self.log}: cannot be written: {error.strerror}; free space and go on") from error


class Phase:
    """One phase under way. Its total and steps are in any unit that grows like time."""

    def __init__(self, teller: Teller, name: str, total: float, bar: Progress) -> None:
        self.teller = teller
        self.name = name
        self.total = total
        self.bar = bar
        self.task: TaskID = bar.add_task(name, total=max(total, 1e-9), item="", ends="")
        self.done = 0.0
        self.begun_s = time.monotonic()

    def step(self, amount: float, text: str) -> None:
        """Say that ``amount`` of the phase's total is done, and what it was.

        Raises:
            StorageError: when the log cannot be written.
        """
        self.done += amount
        ends = end_text(left_s(self.done, self.total, time.monotonic() - self.begun_s), dt.datetime.now().astimezone())
        self.bar.update(self.task, advance=amount, item=text, ends=ends)
        share = f"{min(self.done / self.total, 1):.0%}" if self.total else "100%"
        line = f"{self.name}: {text} ({share}{', ' if ends else ''}{ends})"
        if self.teller.console.is_terminal:
            self.teller.note(line)
        else:
            self.teller.say(line)


@contextlib.contextmanager
def phase(teller: Teller, name: str, total: float) -> Iterator[Phase]:
    """Show a phase until the block ends."""
    columns = (
        TextColumn("{task.description:<10}"),
        BarColumn(bar_width=30),
        TextColumn("{task.percentage:3.0f} %"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[ends]}", markup=False),
        TextColumn("{task.fields[item]}", markup=False),
    )
    with Progress(*columns, console=teller.console, disable=not teller.console.is_terminal) as bar:
        yield Phase(teller, name, total, bar)


def left_s(done: float, total: float, elapsed_s: float) -> float | None:
    """Return the seconds that the rest will take at the pace so far; None while there is no pace."""
    return None if done <= 0 else max(total - done, 0) * elapsed_s / done


def end_text(seconds: float | None, now: dt.datetime) -> str:
    """Return when a phase will end, as ``ends 14:05``, with the weekday where that is another day."""
    if seconds is None:
        return ""
    end = now + dt.timedelta(seconds=seconds)
    return f"ends {end:%H:%M}" if end.date() == now.date() else f"ends {end:%a %Y-%m-%d %H:%M}"


def duration(seconds: float) -> str:
    """Return a duration for people: ``42 s``, ``3 min 20 s``, ``5 h 02 min``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"
