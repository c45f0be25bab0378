"""Builds the library of ``measure.kat.trusted`` from our own C files, once for a run folder."""

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

from measure.errors import KatError
from measure.objects import compiler_version
from measure.process import Limits, run

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
    target = out / "helper" / f"libkatalog_kat-{state.hexdigest()[:16]}.so"
    if target.is_file():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".helper-", dir=out) as scratch:
        made = Path(scratch) / target.name
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
            raise KatError(f"the known-answer helper does not build: {finished.how()}: {finished.stderr.text()[:300]}")
        # Never replaced: a test under way may have been allowed to read this very file.
        with contextlib.suppress(FileExistsError):
            target.hardlink_to(made)
    return target
