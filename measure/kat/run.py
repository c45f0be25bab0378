"""Runs the known-answer worker over one library and says how that ended, before any text is compared."""

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from evidence.types import KatStatus
from measure.confine import disk
from measure.confine.process import RESULT_FD, Finished, Limits, was_killed
from measure.confine.sandbox import View, run
from measure.confine.scrub import scrub
from measure.errors import KatError, SandboxError
from measure.kat.protocol import READY, Job, NistJob, Report

OUTPUT_LIMIT_CHARACTERS = 4000
OUR_PACKAGES = ("measure", "evidence")  # that the worker imports


class Verdict(NamedTuple):
    """A status and, unless all is well, its reason in one line."""

    status: KatStatus
    reason: str | None = None


class Outcome(NamedTuple):
    """How a worker ended. ``failure`` is None where there is a whole text to compare."""

    report: Report
    failure: Verdict | None
    printed: tuple[str, ...]  # what the library itself printed, as lines for the log
    sandbox: str | None = None  # what confined it
    killed_retries: int = 0  # earlier runs that an outsider killed
    killed: bool = False  # this one, too


def drive(job: Job, limits: Limits, scratch: Path) -> Outcome:
    """Drive a library in a process of its own, whose working folder is ``scratch``.

    Raises:
        KatError: when the test itself cannot run: the worker does not start, or fails by a fault of its own.
        StorageError: when the disk is full.
    """
    finished = _run_worker(job, limits, scratch)
    report = _report(finished)
    if report and report.internal_error:
        disk.check(report.internal_error, scratch)
        raise KatError(f"{Path(job.library).name}: the worker failed: {report.internal_error}")
    failure = _failure(finished, report)
    if failure and failure.reason:
        reason = scrub(failure.reason, {Path(job.library).parent: "lib"})
        failure = failure._replace(reason=" ".join(reason.split()))
    printed = tuple(_printed(finished))
    retries, killed = finished.killed_retries, was_killed(finished)
    return Outcome(report or Report(), failure, printed, finished.sandbox, retries, killed)


@contextlib.contextmanager
def scratch_folder(out: Path) -> Iterator[Path]:
    """Make a folder for one worker, below the run's: what a kill leaves there goes at the next start."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".kat-", dir=out.resolve()) as name:
        yield Path(name)


def aligned(facts: Mapping[str, object]) -> list[str]:
    """Return lines ``name = value`` for the facts that are known."""
    width = max(map(len, facts))
    return [f"{name:{width}} = {value}" for name, value in facts.items() if value is not None]


def log_text(lines: Sequence[str]) -> str:
    """Return a log as it is written, whatever a library printed."""
    return "".join(f"{line}\n" for line in lines)


def _run_worker(job: Job, limits: Limits, scratch: Path) -> Finished:
    packages = Path(__file__).resolve().parents[2]
    environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "PYTHONPATH": str(scratch)}
    # The one folder that the worker is certain to be able to list, which is how Python finds modules.
    for package in OUR_PACKAGES:
        (scratch / package).symlink_to(packages / package)
    argv = [sys.executable, "-B", "-s", "-m", "measure.kat.worker", RESULT_FD]
    stdin = msgspec.json.encode(job)
    try:
        return run(argv, limits, _view(job, packages, scratch), env=environment, stdin=stdin)
    except SandboxError as error:
        raise KatError(f"the known-answer worker cannot be started: {error}") from error


def _view(job: Job, packages: Path, scratch: Path) -> View:
    """Return what the worker sees: Python, our modules, the library; of folders to write its own and the text's."""
    python = {Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable).resolve().parents[1]}
    ours = [*(packages / package for package in OUR_PACKAGES), Path(job.library)]
    if isinstance(job, NistJob):
        return View(scratch, (*python, *ours), (scratch,))
    return View(scratch, (*python, *ours, Path(job.helper)), (scratch, Path(job.text).parent))


def _report(finished: Finished) -> Report | None:
    """Return the worker's report; None when the library ended the process before it was complete.

    Raises:
        KatError: when the worker ended before it loaded the library.
    """
    if not finished.result.data.startswith(READY) and not was_killed(finished):
        last = (finished.stderr.text().strip().splitlines() or ["no message"])[-1]
        raise KatError(f"the known-answer worker does not start: {finished.how()}: {last}")
    try:
        return msgspec.json.decode(finished.result.data.removeprefix(READY), type=Report)
    except msgspec.DecodeError:
        return None


def _failure(finished: Finished, report: Report | None) -> Verdict | None:
    if finished.timed_out:
        return Verdict(KatStatus.TIMEOUT, finished.how())
    if finished.signal is not None:
        return Verdict(KatStatus.CRASH, finished.how())
    if report is None:
        return Verdict(KatStatus.CRASH, f"the library ended its process: {finished.how()}")
    return Verdict(report.failure, report.reason) if report.failure else None


def _printed(finished: Finished) -> list[str]:
    """Return the library's own output, cut, each line marked: none may pass for a line of ours."""
    lines = []
    for name, output in (("stdout", finished.stdout), ("stderr", finished.stderr)):
        text = scrub(output.text())
        cut = [f"{name}| [cut here]"] if len(text) > OUTPUT_LIMIT_CHARACTERS else []
        lines += [f"{name}| {line}" for line in text[:OUTPUT_LIMIT_CHARACTERS].split("\n") if line] + cut
    return lines
