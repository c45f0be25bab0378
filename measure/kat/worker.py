"""``python -m measure.kat.worker RESULT_FD``: drives one library and reports the text that it produces.

The job comes on stdin as JSON, the report goes to the descriptor as JSON, complete or not at all. Whatever the
library prints goes to stdout and stderr, where nobody takes it for a result.
"""

import os
import sys
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
from cffi import FFI

from evidence.types import KatStatus
from measure.kat import nist
from measure.kat.library import InterfaceError, KemLibrary, OverflowedError, SignLibrary
from measure.kat.protocol import READY, Job, Report

CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000


def main() -> None:
    """Run the job; leave without the library's exit handlers, which may do anything."""
    job = msgspec.json.decode(sys.stdin.buffer.read(), type=Job)
    with open(int(sys.argv[1]), "wb", closefd=False) as result:
        report = _report(job, result)
        result.write(msgspec.json.encode(report))
    os._exit(0)


def _report(job: Job, result: BinaryIO) -> Report:
    network_cut = _cut_network()
    result.write(READY)
    result.flush()
    sizes: dict[str, int] = {}
    try:
        return Report(text=_text(job, sizes), sizes=sizes, network_cut=network_cut)
    except InterfaceError as error:
        failure, reason = KatStatus.BUILDFAIL, str(error)
    except OverflowedError as error:
        failure, reason = KatStatus.OVERFLOW, str(error)
    except nist.OperationFailedError as error:
        failure, reason = KatStatus.CRYPTOFAIL, str(error)
    except Exception as error:  # noqa: BLE001 - reported as ours, so that no candidate is blamed for it
        return Report(internal_error=f"{type(error).__name__}: {error}", sizes=sizes)
    return Report(failure=failure, reason=reason, sizes=sizes, network_cut=network_cut)


def _text(job: Job, sizes: dict[str, int]) -> str:
    """Return the text; ``sizes`` is filled first, so that a failure's report still states them."""
    path = Path(job.library)
    if job.family == "kem":
        kem = KemLibrary(path)
        sizes.update(kem.sizes_bytes())
        return nist.text(nist.kem_lines(kem))
    sign = SignLibrary(path)
    sizes.update(sign.sizes_bytes())
    return nist.text(nist.sign_lines(sign))


def _cut_network() -> bool:
    """Move to a network name space without interfaces, where the system allows it; say whether it did."""
    ffi = FFI()
    ffi.cdef("int unshare(int);")
    libc: Any = ffi.dlopen(None)
    return bool(libc.unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0)


if __name__ == "__main__":
    main()
