"""Tests of a library against KAT files of the official format, each file in a process of its own."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from evidence.catalog import KAT_KINDS, PKC_RECORDS, IccsKat, KatFile
from evidence.operations import Family, family_of
from evidence.types import KatStatus
from measure.build.library import BuildJob
from measure.confine.process import Limits
from measure.confine.scrub import scrub
from measure.errors import KatError
from measure.kat.canonical import (
    Difference,
    Mode,
    canonical_lines,
    digest,
    first_difference,
    flipped,
    parse_mode,
    without_pass_num,
)
from measure.kat.helper import helper_library
from measure.kat.protocol import IccsJob
from measure.kat.run import Outcome, Verdict, aligned, drive, scratch_folder
from measure.source.fetch import file_sha256

TEXT_LIMIT_BYTES = 2 << 30
ON_REQUEST = frozenset({"2_33"})  # takes hours on slow functions: only where the catalog names the file


class Form(NamedTuple):
    """How a text is made canonical. ``blank_pass_num`` is that of blank templates, which leave Pass_Num empty."""

    mode: Mode
    blank_pass_num: bool

    def lines(self, file: Path) -> Iterator[bytes]:
        """Yield the canonical lines of a file."""
        with file.open("rb") as stream:
            lines = canonical_lines(stream, self.mode)
            yield from without_pass_num(lines) if self.blank_pass_num else lines

    def digest(self, file: Path) -> str:
        """Return the digest of a file's canonical text."""
        return digest(self.lines(file))


class FileResult(NamedTuple):
    """Result of the test of one file, with the lines that the log says about it."""

    file: KatFile
    verdict: Verdict
    canonical_sha256: str | None
    outcome: Outcome
    lines: tuple[str, ...]


def check_files(job: BuildJob, library: Path, kat: IccsKat, limits: Limits, texts: Path | None) -> list[FileResult]:
    """Make the text of every file that the family has and compare those whose digest is known.

    Args:
        job: the build whose library is tested.
        library: its absolute path.
        kat: what the catalog knows.
        limits: of the process of each file.
        texts: folder in which the texts are left; None leaves none.

    Raises:
        KatError: when a test cannot run, or a submitted file that the catalog names is not there.
    """
    files = wanted_files(job, kat)
    helper = helper_library(job.csrc.resolve(), job.out.resolve(), job.compiler)
    results = []
    for file in files:
        with scratch_folder(job.out) as scratch:
            text = (texts or scratch).resolve() / file.file
            records = _records(job, file)
            task = IccsJob(
                library=str(library), helper=str(helper), kind=file.kind, records=records or 0, text=str(text)
            )
            outcome = drive(task, limits._replace(file_size_bytes=TEXT_LIMIT_BYTES), scratch)
            results.append(_judged(job, file, text, outcome))
    return results


def wanted_files(job: BuildJob, kat: IccsKat) -> list[KatFile]:
    """Return the files to make: those that the catalog names, and those that the family has besides."""
    kinds = KAT_KINDS[family_of(job.candidate.id)]
    known = {file.kind: file for file in kat.known}
    named = {kind: KatFile(file=f"KAT_{kind}_{job.instance.label}.txt") for kind in kinds if kind not in ON_REQUEST}
    return [(named | known)[kind] for kind in kinds if kind in named | known]


def overall(results: Sequence[FileResult]) -> Verdict:
    """Return the verdict on an instance: its first failure, else whether all, some or no files were compared."""
    for result in results:
        if result.verdict.status not in {KatStatus.PASS, KatStatus.NOKAT}:
            reason = f"{result.file.file}: {result.verdict.reason}" if len(results) > 1 else result.verdict.reason
            return Verdict(result.verdict.status, reason)
    missing = [result.file.file for result in results if result.verdict.status is KatStatus.NOKAT]
    if not missing:
        return Verdict(KatStatus.PASS)
    if len(missing) == len(results):
        return Verdict(KatStatus.NOKAT, "the catalog has no digest to compare with")
    return Verdict(KatStatus.PARTIAL, f"no digest of {', '.join(missing)}")


def result_lines(results: Sequence[FileResult]) -> list[str]:
    """Return what the log says about all files."""
    return [line for result in results for line in ("", *result.lines)]


def _judged(job: BuildJob, file: KatFile, text: Path, outcome: Outcome) -> FileResult:
    submitted = _submitted(job, file)
    form = Form(parse_mode(file.mode), blank_pass_num=False)
    if outcome.failure:
        return _result(file, outcome.failure, outcome, {"records": _records(job, file)})
    told = form.digest(submitted) if submitted else None
    expected = file.canonical_sha256 or told
    form = _matching(form, file, text, expected)
    got = form.digest(text)
    verdict = _compared(form, text, got, expected)
    difference = _difference(form, submitted, text) if submitted else None
    facts: dict[str, object] = {
        "records": _records(job, file),
        "expected_sha256": expected,
        "canonical_sha256": got,
        "note": "Pass_Num is compared empty, as blank templates have it" if form.blank_pass_num else None,
        "raw_sha256": file_sha256(text),
        "text_bytes": text.stat().st_size,
        "submitted": file.submitted,
        "submitted_sha256": told,
        "difference": scrub(str(difference)) if difference else None,
    }
    return _result(file, verdict, outcome, facts)._replace(canonical_sha256=got)


def _result(file: KatFile, verdict: Verdict, outcome: Outcome, facts: dict[str, object]) -> FileResult:
    head: dict[str, object] = {"file": file.file, "mode": file.mode}
    if outcome.killed_retries:
        head["killed_retries"] = outcome.killed_retries
    test = f"TEST {file.file} {verdict.status.value} {verdict.reason or ''}".rstrip()
    return FileResult(file, verdict, None, outcome, (*aligned(head | facts), *outcome.printed, test))


def _matching(form: Form, file: KatFile, text: Path, expected: str | None) -> Form:
    """Return the form in which a text has the expected digest where there is one, else the plain form."""
    blank = form._replace(blank_pass_num=True)
    if file.kind == "KEX" and form.mode.nolen and expected not in {None, form.digest(text)}:
        return blank if blank.digest(text) == expected else form
    return form


def _compared(form: Form, text: Path, got: str, expected: str | None) -> Verdict:
    if expected is None:
        return Verdict(KatStatus.NOKAT, "no digest to compare with")
    if got != expected:
        return Verdict(KatStatus.MISMATCH, "the canonical text has another digest than the published one")
    _prove(form, text, expected)
    return Verdict(KatStatus.PASS)


def _prove(form: Form, text: Path, expected: str) -> None:
    """Prove that one flipped bit in the first, middle or last line would be noticed.

    Raises:
        KatError: when it would not, so that no PASS of this comparer counts.
    """
    count = sum(1 for _ in form.lines(text))
    for at in {0, count // 2, count - 1}:
        if digest(flipped(form.lines(text), at)) == expected:
            raise KatError(f"the comparer does not notice a flipped bit in line {at + 1}; trust no result")


def _records(job: BuildJob, file: KatFile) -> int | None:
    """Return how many records a file has; None for those of a hash function, which have what they have."""
    kat = job.instance.kat
    if file.kind in KAT_KINDS[Family.HASH] or not isinstance(kat, IccsKat):
        return None
    return file.records or kat.records or PKC_RECORDS


def _submitted(job: BuildJob, file: KatFile) -> Path | None:
    """Return the submitted file that the catalog names.

    Raises:
        KatError: when it is not there, or lies outside the sources.
    """
    if file.submitted is None:
        return None
    root = job.fetched.folder.resolve()
    path = (root / file.submitted).resolve()
    if not path.is_relative_to(root) or not path.is_file():
        raise KatError(f"{job.candidate.id} {job.instance.label}: kat: submitted: {file.submitted}: no such file")
    return path


def _difference(form: Form, submitted: Path, text: Path) -> Difference | None:
    return first_difference(form.lines(submitted), form.lines(text))
