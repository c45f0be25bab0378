"""Argument list and result of one run of the C driver: pure (csrc/README.md has the other side)."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec

from evidence.operations import Family
from evidence.types import Counter, Kex, Positive, Process
from measure.confine.process import RESULT_FD, Finished
from measure.confine.scrub import scrub
from measure.errors import DriverError

# Exit status of the driver -> how its process is called in the evidence.
FAILURES = {
    2: "usage",
    10: "library",
    11: "counter",
    12: "count",
    13: "overflow",
    14: "operation",
    15: "system",
}
# Keys of the driver's document that the evidence takes over as they are.
OURS = frozenset({"status", "trials", "wall_s", "command", "output", "exit_code", "sandbox", "killed_retries"})
OBSERVED = frozenset(Process.__struct_fields__) - OURS
OUTPUT_KEPT_CHARACTERS = 2000
Rates = Annotated[tuple[Positive, ...], msgspec.Meta(min_length=2)]


class DriverJob(NamedTuple):
    """What one driver process shall do. ``library`` is relative to the run's folder."""

    library: str
    family: Family
    operation: str
    iterations: int
    warmups: int
    cpu: int
    clock_hz: int | None  # the fixed core clock, where known
    input_bytes: int | None = None  # of a hash function


class ProbeResult(NamedTuple):
    """The counter that the driver would use, and why it refused those before."""

    counter: Counter
    refusals: dict[str, str]
    emulated: bool = False


def time_argv(driver: Path | str, job: DriverJob, result_fd: str = RESULT_FD) -> list[str]:
    """Return the command line that times one operation; ``result_fd`` names where the document goes."""
    clock = [] if job.clock_hz is None else ["--clock-hz", str(job.clock_hz)]
    return [str(driver), "time", *_job_words(job), *clock, "--result-fd", result_fd]


def profile_argv(driver: Path | str, job: DriverJob, result_fd: str = RESULT_FD) -> list[str]:
    """Return the command line that counts the helper calls of one operation of a profiled library."""
    return [str(driver), "profile", *_job_words(job), "--result-fd", result_fd]


def sizes_argv(driver: Path | str, library: str, family: Family) -> list[str]:
    """Return the command line that asks a library's getters."""
    return [str(driver), "sizes", "--library", library, "--family", family.value, "--result-fd", RESULT_FD]


def _job_words(job: DriverJob) -> list[str]:
    words = ["--library", job.library, "--family", job.family.value, "--operation", job.operation]
    words += ["--iterations", str(job.iterations), "--warmups", str(job.warmups), "--cpu", str(job.cpu)]
    return words if job.input_bytes is None else [*words, "--input-bytes", str(job.input_bytes)]


def probe_argv(driver: Path | str, cpu: int) -> list[str]:
    """Return the command line that asks which counter the driver would use on a core."""
    return [str(driver), "probe", "--cpu", str(cpu), "--result-fd", RESULT_FD]


def read_probe(finished: Finished) -> ProbeResult:
    """Return the answer to a probe.

    Raises:
        DriverError: when there is no usable counter or no complete document.
    """
    document = _document(finished)
    if document is None or "error" in document:
        raise DriverError(f"no usable counter: {_explain(finished, document)}")
    refusals = {entry["name"]: entry["reason"] for entry in document.get("refused", ())}
    emulated = document.get("emulated") is True
    return ProbeResult(msgspec.convert(document["counter"], Counter), refusals, emulated)


def clock_argv(driver: Path | str, cpu: int) -> list[str]:
    """Return the command line that asks how fast a core runs."""
    return [str(driver), "clock", "--cpu", str(cpu), "--result-fd", RESULT_FD]


def read_clock(finished: Finished) -> tuple[int, ...]:
    """Return the core's clock in Hz, window by window.

    Raises:
        DriverError: when the driver cannot tell.
    """
    document = _document(finished)
    try:
        return msgspec.convert((document or {}).get("clock_hz"), Rates)
    except msgspec.ValidationError:
        raise DriverError(f"the clock cannot be measured: {_explain(finished, document)}") from None


def read_passes(finished: Finished) -> int | None:
    """Return the number of passes that a key exchange's getter states; None where it states none that can be."""
    document = _document(finished)
    try:
        return msgspec.convert((document or {}).get("kex"), Kex).passes
    except msgspec.ValidationError:
        return None


def is_emulated(finished: Finished) -> bool:
    """Return whether the driver found that another program runs its instructions."""
    return (_document(finished) or {}).get("emulated") is True


def read_profile(finished: Finished, job: DriverJob) -> dict[str, Any]:
    """Return what a profile run observed, under the names of ``evidence.types.Profile``.

    Raises:
        DriverError: when the driver claims success and its document is incomplete or of another job.
    """
    document = _document(finished)
    observed: dict[str, Any] = {"command": ("driver", *profile_argv("driver", job, "1")[1:])}
    if finished.killed_retries:
        observed["killed_retries"] = finished.killed_retries
    if finished.exit_code != 0 or document is None:
        return observed | {"status": "failed", "reason": f"{_failure(finished)}: {_explain(finished, document)}"}
    if (document.get("family"), document.get("operation")) != (job.family.value, job.operation):
        raise DriverError(f"the driver's profile is not of {job.family.value} {job.operation}")
    try:
        observed["meta"] = {name: document[name] for name in ("tick_source", "tick_hz", "warmups")}
        observed["total"] = {name: document[name] for name in ("operations", "ticks")}
        same = ("calls", "merged_calls", "wrapper_cost_ticks", "wrapper_inside_ticks")
        return observed | {"status": "complete"} | {name: document[name] for name in same}
    except KeyError as error:
        raise DriverError(f"the driver's profile lacks {error}") from error


def read_process(finished: Finished, job: DriverJob, disturbed_retries: int) -> Process:
    """Return what a driver run observed, be it a success or a failure.

    Raises:
        DriverError: when the driver claims success and its document is incomplete or of another job.
    """
    document = _document(finished)
    observed: dict[str, object] = {
        "wall_s": finished.wall_ns / 1e9,
        "disturbed_retries": disturbed_retries,
        "command": ["driver", *time_argv("driver", job, "1")[1:]],
        "output": _printed(finished) or None,
        "exit_code": -1 if finished.exit_code is None else finished.exit_code,
        "sandbox": finished.sandbox,
        "killed_retries": finished.killed_retries or None,
    }
    if finished.exit_code != 0 or document is None:
        observed |= {"status": _failure(finished), "reason": _explain(finished, document), "trials": []}
    elif (document.get("family"), document.get("operation")) != (job.family.value, job.operation):
        raise DriverError(f"the driver's document is not of {job.family.value} {job.operation}")
    else:
        observed |= {"status": "complete", "trials": [document.get("trial")]}
        observed |= {key: value for key, value in document.items() if key in OBSERVED}
    try:
        return msgspec.convert(observed, Process)
    except msgspec.ValidationError as error:
        raise DriverError(f"the driver's document is not as agreed: {error}") from error


def _document(finished: Finished) -> dict[str, Any] | None:
    try:
        document = json.loads(finished.result.data)
    except (ValueError, RecursionError):  # what is nested too deeply
        return None
    return document if isinstance(document, dict) else None


def _failure(finished: Finished) -> str:
    if finished.timed_out:
        return "timeout"
    if finished.exit_code is None or finished.exit_code not in FAILURES:
        return "crash"
    return FAILURES[finished.exit_code]


def _explain(finished: Finished, document: Mapping[str, Any] | None) -> str:
    error = (document or {}).get("error")
    if isinstance(error, dict) and isinstance(error.get("message"), str):
        return str(error["message"])
    if finished.exit_code == 0:
        return "the library ended the process before the driver was done (exit status 0, no document)"
    lines = finished.stderr.text().strip().splitlines()
    return f"{finished.how()}{': ' + scrub(lines[-1])[:300] if lines else ''}"


def _printed(finished: Finished) -> str:
    """Return what the candidate printed, cut for the evidence."""
    text = scrub(finished.stdout.text() + finished.stderr.text())
    return text if len(text) <= OUTPUT_KEPT_CHARACTERS else text[:OUTPUT_KEPT_CHARACTERS] + "\n[cut here]"
