"""The gate before every timing: the text that a library produces must have the published digest."""

import hashlib
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from evidence.operations import Family, family_of
from evidence.types import BuildInstance, FlagSet, KatStatus
from measure.build import BuildJob, Built, build, build_with
from measure.errors import KatError
from measure.kat.protocol import READY, Job, Report
from measure.process import RESULT_FD, Finished, Limits, run
from measure.scrub import scrub

KAT_LIMITS = Limits(timeout_s=1800, address_space_bytes=4 << 30, file_size_bytes=1 << 20)
OUTPUT_LIMIT_CHARACTERS = 4000


class KatResult(NamedTuple):
    """Result of one known-answer test. ``log`` is the whole text of the log file, without absolute paths."""

    status: KatStatus
    log: str
    text_sha256: str | None  # of the text that the library produced
    reason: str | None
    text: str | None


class Checked(NamedTuple):
    """A library and the result of its known-answer test; None where there is no library."""

    built: Built
    kat: KatResult | None


class _Verdict(NamedTuple):
    status: KatStatus
    reason: str | None = None


def compare(text: str, expected_sha256: str) -> KatStatus:
    """Say whether a text has the expected digest."""
    return KatStatus.PASS if _digest(text) == expected_sha256 else KatStatus.MISMATCH


def prove_comparer(text: str, expected_sha256: str) -> None:
    """Prove that one flipped bit anywhere near the ends or in the middle of the text would be noticed.

    Raises:
        KatError: when it would not, so that no PASS of this comparer counts.
    """
    for position in {0, len(text) // 2, len(text) - 1}:
        flipped = text[:position] + chr(ord(text[position]) ^ 1) + text[position + 1 :]
        if compare(flipped, expected_sha256) is not KatStatus.MISMATCH:
            raise KatError(f"the comparer does not notice a flipped bit at character {position}; trust no result")


def build_and_check(job: BuildJob, limits: Limits = KAT_LIMITS) -> Checked:
    """Build and test; where the guide's flags do not pass, try the tolerant ones and keep them only if they pass.

    Raises:
        BuildError, ToolMissingError: as ``build`` does.
        KatError: as ``run_kat`` does.
    """
    return check(job, build(job), limits)


def check(job: BuildJob, built: Built, limits: Limits = KAT_LIMITS) -> Checked:
    """Test a library that ``build`` made, with the same fallback as ``build_and_check``.

    Raises:
        BuildError, ToolMissingError: as ``build`` does.
        KatError: as ``run_kat`` does.
    """
    if built.library is None:
        return Checked(built, None)
    kat = run_kat(job, built, limits)
    if kat.status is KatStatus.PASS or built.flags is FlagSet.HARNESS_DEFAULT:
        return Checked(built, kat)
    why = f"the guide's flags do not pass the known-answer test: {kat.status.value} {kat.reason or ''}".rstrip()
    tolerant = build_with(job, FlagSet.HARNESS_DEFAULT, reason=why)
    second = run_kat(job, tolerant, limits) if tolerant.library else None
    if second and second.status is KatStatus.PASS:
        return Checked(tolerant, second)
    # Builds are reproducible: this restores the library that was tested first.
    return Checked(build_with(job, FlagSet.GUIDE), kat)


def run_kat(job: BuildJob, built: Built, limits: Limits = KAT_LIMITS) -> KatResult:
    """Drive a library in a process of its own and judge the text that it produces.

    Raises:
        KatError: when the test itself cannot run: no library, no text for the family, a worker that does not start.
    """
    family = family_of(job.candidate.id)
    if built.library is None or family not in {Family.KEM, Family.SIGN}:
        raise KatError(f"{job.candidate.id} {job.instance.label}: no library, or no known-answer text for {family}")
    library = (job.out / built.library).resolve()
    finished = _run_worker(Job(library=str(library), family="kem" if family is Family.KEM else "sign"), limits)
    report = _report(finished)
    if report and report.internal_error:
        raise KatError(f"{job.candidate.id} {job.instance.label}: the worker failed: {report.internal_error}")
    verdict = _judge(finished, report, job.instance.kat.sha256)
    report = report or Report()
    reason = scrub(verdict.reason, {library.parent: "lib"}) if verdict.reason else None
    log = _log(job, built, _Verdict(verdict.status, reason), report, finished)
    return KatResult(verdict.status, log, _digest(report.text) if report.text else None, reason, report.text)


def record(job: BuildJob, checked: Checked, kat_log: str | None = None) -> BuildInstance:
    """Return what build.json says about an instance.

    Args:
        job: the build's inputs.
        checked: its result.
        kat_log: where the log of the known-answer test was written, relative to the run folder.
    """
    built, kat = checked
    facts = {name: getattr(built, name) for name in Built.__struct_fields__ if name in BuildInstance.__struct_fields__}
    reasons = [reason for reason in (built.reason, kat.reason if kat else None) if reason]
    return msgspec.convert(
        facts
        | {
            "candidate": job.candidate.id,
            "label": job.instance.label,
            "instance": job.instance.name or job.instance.label,
            "variant": job.instance.variant,
            "kat": kat.status if kat else KatStatus.BUILDFAIL,
            "kat_format": job.instance.kat.format,
            "kat_sha256": kat.text_sha256 if kat else None,
            "kat_log": kat_log if kat else None,
            "kat_log_sha256": _digest(kat.log) if kat and kat_log else None,
            "source": job.fetched.origin,
            "source_sha256": job.fetched.archive_sha256,
            "reason": "; ".join(reasons) or None,
        },
        BuildInstance,
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _run_worker(job: Job, limits: Limits) -> Finished:
    packages = Path(__file__).resolve().parents[2]
    environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "PYTHONPATH": str(packages)}
    argv = [sys.executable, "-B", "-s", "-m", "measure.kat.worker", RESULT_FD]
    with tempfile.TemporaryDirectory(prefix="katalog-kat-") as scratch:
        try:
            return run(argv, limits, cwd=Path(scratch), env=environment, stdin=msgspec.json.encode(job))
        except OSError as error:
            raise KatError(f"the known-answer worker cannot be started: {error}") from error


def _report(finished: Finished) -> Report | None:
    """Return the worker's report; None when the library ended the process before it was complete.

    Raises:
        KatError: when the worker ended before it loaded the library.
    """
    if not finished.result.data.startswith(READY):
        last = (finished.stderr.text().strip().splitlines() or ["no message"])[-1]
        raise KatError(f"the known-answer worker does not start: {finished.how()}: {last}")
    try:
        return msgspec.json.decode(finished.result.data.removeprefix(READY), type=Report)
    except msgspec.DecodeError:
        return None


def _judge(finished: Finished, report: Report | None, expected_sha256: str) -> _Verdict:
    if finished.timed_out:
        return _Verdict(KatStatus.TIMEOUT, finished.how())
    if finished.signal is not None:
        return _Verdict(KatStatus.CRASH, finished.how())
    if report is None:
        return _Verdict(KatStatus.CRASH, f"the library ended its process: {finished.how()}")
    if report.failure or report.text is None:
        return _Verdict(report.failure or KatStatus.CRASH, report.reason)
    status = compare(report.text, expected_sha256)
    if status is KatStatus.PASS:
        prove_comparer(report.text, expected_sha256)
        return _Verdict(status)
    return _Verdict(status, "the text has another digest than the published one")


def _log(job: BuildJob, built: Built, verdict: _Verdict, report: Report, finished: Finished) -> str:
    facts = {
        "library": built.library,
        "library_sha256": built.library_sha256,
        "id": job.candidate.id,
        "algorithm": job.candidate.algorithm,
        "instance": job.instance.name or job.instance.label,
        "variant": job.instance.variant,
        "source": job.fetched.origin,
        "source_sha256": job.fetched.archive_sha256,
        "sources_sha256": built.sources_sha256,
        "compiler": built.compiler,
        "flags": built.flags.value,
        "build_flags": built.build_flags,
        **report.sizes,
        "network": "cut off" if report.network_cut else None,
        "format": f"{job.instance.kat.format}, first record, {job.instance.kat.rng}",
        "expected_sha256": job.instance.kat.sha256,
        "text_sha256": _digest(report.text) if report.text else None,
        "text_bytes": len(report.text) if report.text else None,
    }
    result = f"RESULT {job.candidate.id} {job.instance.label} {verdict.status.value} {verdict.reason or ''}".rstrip()
    return "".join(f"{text}\n" for text in (*_aligned(facts), *_output(finished), " ".join(result.split())))


def _aligned(facts: Mapping[str, object]) -> list[str]:
    width = max(map(len, facts))
    return [f"{name:{width}} = {value}" for name, value in facts.items() if value is not None]


def _output(finished: Finished) -> list[str]:
    """Return the library's own output, cut, each line marked: none may pass for a line of ours."""
    lines = []
    for name, output in (("stdout", finished.stdout), ("stderr", finished.stderr)):
        text = scrub(output.text())
        cut = [f"{name}| [cut here]"] if len(text) > OUTPUT_LIMIT_CHARACTERS else []
        lines += [f"{name}| {line}" for line in text[:OUTPUT_LIMIT_CHARACTERS].split("\n") if line] + cut
    return lines
