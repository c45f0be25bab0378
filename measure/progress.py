"""What an operator sees while a campaign runs: a bar with time left on a terminal, plain lines elsewhere."""

import contextlib
from collections.abc import Iterator
from typing import NamedTuple

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn


class Phase(NamedTuple):
    """One phase under way. Its total and steps are in any unit that grows like time."""

    console: Console
    bar: Progress
    task: TaskID
    name: str

    def step(self, amount: float, text: str) -> None:
        """Say that ``amount`` of the phase's total is done, and what it was."""
        self.bar.update(self.task, advance=amount, item=text)
        if not self.console.is_terminal:
            self.console.print(f"{self.name}: {text}", markup=False, highlight=False, soft_wrap=True)


@contextlib.contextmanager
def phase(console: Console, name: str, total: float) -> Iterator[Phase]:
    """Show a phase until the block ends."""
    columns = (
        TextColumn("{task.description:<10}"),
        BarColumn(bar_width=30),
        TextColumn("{task.percentage:3.0f} %"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[item]}", markup=False),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        yield Phase(console, bar, bar.add_task(name, total=max(total, 1e-9), item=""), name)


def duration(seconds: float) -> str:
    """Return a duration for people: ``42 s``, ``3 min 20 s``, ``5 h 02 min``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"
