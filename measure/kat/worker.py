"""``python -m measure.kat.worker RESULT_FD``: drives one library and reports the text that it produces.

The job comes on stdin as JSON, the report goes to the descriptor as JSON, complete or not at all. Whatever the
library prints goes to stdout and stderr, where nobody takes it for a result.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from evidence.types import KatStatus
from measure.kat import iccs, nist
from measure.kat.iccs_library import HashScheme, KemScheme, KexScheme, SignScheme
from measure.kat.library import InterfaceError, KemLibrary, OverflowedError, SignLibrary
from measure.kat.protocol import READY, IccsJob, Job, NistJob, Report
from measure.kat.scheme import OperationFailedError
from measure.kat.trusted import Trusted


def main() -> None:
    """Run the job; leave without the library's exit handlers, which may do anything."""
    job = msgspec.json.decode(sys.stdin.buffer.read(), type=Job)
    with open(int(sys.argv[1]), "wb", closefd=False) as result:
        report = _report(job, result)
        result.write(msgspec.json.encode(report))
    os._exit(0)


def _report(job: Job, result: BinaryIO) -> Report:
    # Ours is loaded first: a library that follows cannot keep it from being there.
    trusted = Trusted(Path(job.helper)) if isinstance(job, IccsJob) else None
    result.write(READY)
    result.flush()
    sizes: dict[str, int] = {}
    try:
        if isinstance(job, NistJob):
            return Report(text=_nist_text(job, sizes), sizes=sizes)
        if trusted:
            _write_text(job, trusted, sizes)
        return Report(sizes=sizes)
    except InterfaceError as error:
        failure, reason = KatStatus.BUILDFAIL, str(error)
    except OverflowedError as error:
        failure, reason = KatStatus.OVERFLOW, str(error)
    except OperationFailedError as error:
        failure, reason = KatStatus.CRYPTOFAIL, str(error)
    except MemoryError:
        failure, reason = KatStatus.CRASH, "its buffers do not fit into the memory limit"
    except Exception as error:  # noqa: BLE001 - reported as ours, so that no candidate is blamed for it
        return Report(internal_error=f"{type(error).__name__}: {error}", sizes=sizes)
    return Report(failure=failure, reason=reason, sizes=sizes)


def _nist_text(job: NistJob, sizes: dict[str, int]) -> str:
    """Return the text; ``sizes`` is filled first, so that a failure's report still states them."""
    path = Path(job.library)
    if job.family == "kem":
        kem = KemLibrary(path)
        sizes.update(kem.sizes_bytes())
        return nist.text(nist.kem_lines(kem))
    sign = SignLibrary(path)
    sizes.update(sign.sizes_bytes())
    return nist.text(nist.sign_lines(sign))


def _write_text(job: IccsJob, trusted: Trusted, sizes: dict[str, int]) -> None:
    """Write the text of one file as it comes; a failure says in which record it was."""
    scheme = _scheme(job, trusted)
    sizes.update(scheme.sizes())
    records = 0
    with Path(job.text).open("w", encoding="ascii", newline="\n") as file:
        try:
            for line in _lines(job, scheme, trusted):
                records += line == "\n"
                file.write(line)
        except (OperationFailedError, OverflowedError) as error:
            raise type(error)(f"{error} (in record {records})") from error


def _lines(job: IccsJob, scheme: Any, trusted: Trusted) -> Iterator[str]:
    return iccs.LINES[job.kind](scheme, trusted.start, job.records)


def _scheme(job: IccsJob, trusted: Trusted) -> SignScheme | KemScheme | KexScheme | HashScheme:
    path = Path(job.library)
    if job.kind == "SIG":
        return SignScheme(path, job.records)
    if job.kind == "KEM":
        return KemScheme(path)
    if job.kind == "KEX":
        return KexScheme(path)
    return HashScheme(path, trusted)


if __name__ == "__main__":
    main()
