"""The gate before every timing: the text that a library produces must have the published digest."""

import hashlib
from pathlib import Path
from typing import NamedTuple

import msgspec

from evidence.catalog import IccsKat, NistKat
from evidence.operations import Family, family_of
from evidence.types import BuildInstance, FlagSet, KatStatus
from measure.build.library import BuildJob, Built, build, build_with
from measure.confine.process import Limits
from measure.errors import KatError
from measure.kat import iccs_gate
from measure.kat.protocol import NistJob
from measure.kat.run import Outcome, Verdict, aligned, drive, log_text, scratch_folder

KAT_LIMITS = Limits(timeout_s=1800, address_space_bytes=4 << 30, file_size_bytes=1 << 20)
NOTHING_WRONG = frozenset({KatStatus.PASS, KatStatus.PARTIAL, KatStatus.NOKAT})


class KatResult(NamedTuple):
    """Result of one known-answer test. ``log`` is the whole text of the log file, without absolute paths."""

    status: KatStatus
    log: str
    text_sha256: str | None  # of the one text that the library produced, canonical in the official format
    reason: str | None
    text: str | None = None  # of the NIST format
    killed: bool = False  # by an outsider, each time


class Checked(NamedTuple):
    """A library and the result of its known-answer test; None where there is no library."""

    built: Built
    kat: KatResult | None


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

    A worker that an outsider killed has not shown that the guide's flags do not pass.

    Raises:
        BuildError, ToolMissingError: as ``build`` does.
        KatError: as ``run_kat`` does.
    """
    if built.library is None:
        return Checked(built, None)
    kat = run_kat(job, built, limits)
    if kat.status in NOTHING_WRONG or built.flags is FlagSet.HARNESS_DEFAULT or kat.killed:
        return Checked(built, kat)
    why = f"the guide's flags do not pass the known-answer test: {kat.status.value} {kat.reason or ''}".rstrip()
    tolerant = build_with(job, FlagSet.HARNESS_DEFAULT, reason=why)
    second = run_kat(job, tolerant, limits) if tolerant.library else None
    if second and second.status in NOTHING_WRONG:
        return Checked(tolerant, second)
    # Builds are reproducible: this restores the library that was tested first.
    return Checked(build_with(job, FlagSet.GUIDE), kat)


def run_kat(job: BuildJob, built: Built, limits: Limits = KAT_LIMITS, texts: Path | None = None) -> KatResult:
    """Drive a library in a process of its own and judge the text that it produces.

    ``texts`` is a folder in which texts of the official format are left.

    Raises:
        KatError: when the test itself cannot run: no library, no text for the family, a worker that does not start.
    """
    if built.library is None:
        raise KatError(f"{job.candidate.id} {job.instance.label}: no library to test")
    library, kat = (job.out / built.library).resolve(), job.instance.kat
    if isinstance(kat, IccsKat):
        return _iccs_result(job, built, iccs_gate.check_files(job, library, kat, limits, texts))
    return _nist_result(job, built, kat, limits)


def _nist_result(job: BuildJob, built: Built, kat: NistKat, limits: Limits) -> KatResult:
    family = family_of(job.candidate.id)
    if family not in {Family.KEM, Family.SIGN}:
        raise KatError(f"{job.candidate.id} {job.instance.label}: the NIST format has no text for a {family.value}")
    library = (job.out / (built.library or "")).resolve()
    task = NistJob(library=str(library), family="kem" if family is Family.KEM else "sign")
    with scratch_folder(job.out) as scratch:
        outcome = drive(task, limits, scratch)
    text = outcome.report.text
    verdict = outcome.failure or _compared(text or "", kat.sha256)
    facts = {
        "format": f"nist, first record, {kat.rng}",
        "expected_sha256": kat.sha256,
        "killed_retries": outcome.killed_retries or None,
        "text_sha256": _digest(text) if text else None,
        "text_bytes": len(text) if text else None,
    }
    lines = [*aligned(_facts(job, built, outcome) | facts), *outcome.printed, _result_line(job, verdict)]
    sha256 = _digest(text) if text else None
    return KatResult(verdict.status, log_text(lines), sha256, verdict.reason, text, outcome.killed)


def _compared(text: str, expected_sha256: str) -> Verdict:
    status = compare(text, expected_sha256)
    if status is not KatStatus.PASS:
        return Verdict(status, "the text has another digest than the published one")
    prove_comparer(text, expected_sha256)
    return Verdict(status)


def _iccs_result(job: BuildJob, built: Built, results: list[iccs_gate.FileResult]) -> KatResult:
    verdict = iccs_gate.overall(results)
    facts = _facts(job, built, results[0].outcome) | {"format": "iccs"}
    lines = [*aligned(facts), *iccs_gate.result_lines(results), "", _result_line(job, verdict)]
    sha256 = results[0].canonical_sha256 if len(results) == 1 else None
    killed = any(result.outcome.killed for result in results)
    return KatResult(verdict.status, log_text(lines), sha256, verdict.reason, killed=killed)


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


def _facts(job: BuildJob, built: Built, outcome: Outcome) -> dict[str, object]:
    """Return what both formats' logs begin with."""
    return {
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
        **outcome.report.sizes,
        "sandbox": outcome.sandbox,
    }


def _result_line(job: BuildJob, verdict: Verdict) -> str:
    text = f"RESULT {job.candidate.id} {job.instance.label} {verdict.status.value} {verdict.reason or ''}"
    return " ".join(text.split())
