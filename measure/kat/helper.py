"""Builds the library of ``measure.kat.trusted`` from our own C files, once for a run folder.

Its name holds digests of what went in and of itself, so that one that a power cut has damaged is not used.
"""

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

from measure.build.compiler import compiler_version
from measure.confine import disk
from measure.confine.process import Limits, run
from measure.errors import KatError
from measure.source.fetch import file_sha256

SOURCES = ("iccs/drng.c", "kat/loop.c")
HEADERS = ("iccs/drng.h", "iccs/sm3.h", "iccs/iccs_hash.h")
LIMITS = Limits(timeout_s=120, address_space_bytes=4 << 30)


def helper_library(csrc: Path, out: Path, compiler: str) -> Path:
    """Return the library, built for this machine where it is not there yet.

    Raises:
        KatError: when it does not build.
        ToolMissingError: when the compiler is not installed.
    """
    state = hashlib.sha256(compiler_version(compiler).encode())
    for name in (*SOURCES, *HEADERS):
        state.update((csrc / name).read_bytes())
    stem = f"libkatalog_kat-{state.hexdigest()[:16]}"
    for kept in (out / "helper").glob(f"{stem}-*.so"):
        if kept.stem.endswith(file_sha256(kept)[:16]):
            return kept
        kept.unlink(missing_ok=True)
    (out / "helper").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".helper-", dir=out) as scratch:
        made = Path(scratch) / "helper.so"
        argv = [
            compiler,
            "-std=c99",
            "-O2",
            "-fPIC",
            "-shared",
            *(str(csrc / name) for name in SOURCES),
            "-o",
            str(made),
        ]
        finished = run(argv, LIMITS, env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"})
        if finished.exit_code != 0:
            disk.check(finished.stderr.text(), out)
            raise KatError(f"the known-answer helper does not build: {finished.how()}: {finished.stderr.text()[:300]}")
        target = out / "helper" / f"{stem}-{file_sha256(made)[:16]}.so"
        # Never replaced: a test under way may have been allowed to read this very file.
        with contextlib.suppress(FileExistsError):
            target.hardlink_to(made)
    return target
