"""Compiles one file to one object, so that the same bytes come out whatever folders a machine uses."""

import hashlib
import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from measure.confine import disk, sandbox
from measure.confine.process import Finished, Limits, run, was_killed
from measure.confine.sandbox import View
from measure.confine.scrub import scrub
from measure.errors import ToolMissingError
from measure.source.fetch import file_sha256
from measure.source.select import LANGUAGES, Language

COMPILE_LIMITS = Limits(timeout_s=900, address_space_bytes=8 << 30, file_size_bytes=1 << 30)
FIRST_ERROR = re.compile(r"^.*(?:\berror: |undefined reference|multiple definition|cannot find).*$", re.MULTILINE)
# What a compiler or linker says that outlived a part of its own.
PART_KILLED = re.compile(r"^\S+: fatal error: .*(?:Killed signal|terminated with signal 9 )", re.MULTILINE)
MISSING_HEADER = re.compile(r"fatal error: (\S+): No such file or directory")
MISSING_LIBRARY = re.compile(r"cannot find -l(\S+?)(?::|$)", re.MULTILINE)


class CompileError(Exception):
    """A compiler or linker refused; the message is the reason that evidence gives."""


class KilledError(CompileError):
    """An outsider killed a compiler or linker each time: that says nothing about the source."""


class Unit(NamedTuple):
    """One file to compile: its name in logs, its path as the compiler is told, from which folder, its own words."""

    name: str
    path: str
    cwd: Path
    words: tuple[str, ...]

    @property
    def language(self) -> Language:
        """Language by the ending of the path."""
        return LANGUAGES[Path(self.path).suffix]


class Workshop(NamedTuple):
    """What the compiler runs of one build share. ``log`` takes what compiler and linker say."""

    compiler: str
    flags: tuple[str, ...]
    cxx_flags: tuple[str, ...]
    folders: dict[Path, str]  # folder on this machine -> what stands for it in logs and libraries
    scratch: Path
    log: list[str]


def tree_sha256(folder: Path) -> str:
    """Return a digest of names and contents of all files in a folder."""
    files = sorted(Path(place, name) for place, _, names in os.walk(folder) for name in names)
    lines = [
        f"{file_sha256(file) if file.is_file() else 'no file'}  {file.relative_to(folder).as_posix()!r}\n"
        for file in files
    ]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def compile_unit(shop: Workshop, unit: Unit, name: str) -> Path:
    """Return the object ``<scratch>/<name>`` of a unit.

    Raises:
        CompileError: when the compiler refuses or is missing.
    """
    target = shop.scratch / name
    invoke(shop, unit.name, (*_words(shop, unit), "-c", unit.path, "-o", str(target)), unit.cwd)
    return target


def invoke(shop: Workshop, what: str, words: Sequence[str], cwd: Path) -> str:
    """Run a compiler once, keep what it says in the log and return it; ``words`` begin with the compiler.

    Raises:
        CompileError: when it refuses or is missing.
        StorageError: when the disk is full.
    """
    if not shutil.which(words[0]):
        raise CompileError(f"{what}: needs {words[0]}, which is not installed on this machine")
    finished = _run(shop, words, cwd)
    output = scrub(finished.stderr.text(), {**shop.folders, shop.scratch: "objects"}).strip()
    shop.log.extend([f"== {what}: {finished.how()}", *([output] if output else [])])
    if finished.exit_code != 0:
        disk.check(output, shop.scratch)
        kind = KilledError if _killed(finished) else CompileError
        raise kind(f"{what}: {_reason(output, finished)}")
    return output


def _run(shop: Workshop, words: Sequence[str], cwd: Path) -> Finished:
    """Run a compiler confined: a source may name any file, or keep it busy for ever."""
    ours = [Path(word) for word in words if word.startswith("/") and not word.startswith(str(shop.scratch))]
    view = View(cwd, read=(*shop.folders, *ours, *_toolchain(words[0])), write=(shop.scratch,))
    return sandbox.run(words, COMPILE_LIMITS, view, env=_environment(shop.scratch), killed=_killed)


def _killed(finished: Finished) -> bool:
    """Return whether an outsider killed a compiler, or a part of it. A source may print the same: to no profit."""
    failed = finished.exit_code != 0
    return was_killed(finished) or (failed and bool(PART_KILLED.search(finished.stderr.text())))


def _toolchain(compiler: str) -> tuple[Path, ...]:
    """Return the folder of a compiler that is not among the system's programs, or the program where it has none."""
    program = Path(shutil.which(compiler) or compiler).absolute()
    if program.resolve().is_relative_to("/usr"):
        return () if program.is_relative_to("/usr") else (program,)
    root = program.resolve().parents[1]
    return (root if (root / "lib" / "gcc").is_dir() else program,)


def cxx_of(compiler: str) -> str:
    """Return the C++ compiler beside a C compiler: ``g++`` of ``gcc``, with the same prefix and version."""
    head, found, tail = compiler.rpartition("gcc")
    return f"{head}g++{tail}" if found else f"{compiler}++"


def expand(shop: Workshop, unit: Unit, text: str) -> list[str]:
    """Return the lines that ``text`` becomes when it is preprocessed after a unit, with that unit's macros.

    Raises:
        CompileError: when the preprocessor refuses.
    """
    probe, out = shop.scratch / "probe.c", shop.scratch / "probe.i"
    probe.write_text(text, encoding="utf-8")
    language = "c" if unit.language == "assembler" else unit.language
    words = (*_words(shop, unit), "-x", language, "-P", "-E", "-include", unit.path, str(probe), "-o", str(out))
    invoke(shop, f"macros of {unit.name}", words, unit.cwd)
    return out.read_text(encoding="utf-8", errors="replace").splitlines()


def compiler_version(compiler: str) -> str:
    """Return the compiler's name and version, such as ``gcc 12.2.0``.

    Raises:
        ToolMissingError: when it is not installed or does not run.
    """
    advice = f"install it, for example with: apt install {Path(compiler).name}"
    if not shutil.which(compiler):
        raise ToolMissingError(f"the C compiler {compiler} is not installed; {advice}")
    if not shutil.which("prlimit"):
        raise ToolMissingError("the program prlimit is not installed; install util-linux")
    finished = run([compiler, "-dumpfullversion"], Limits(timeout_s=60))
    if finished.exit_code != 0:
        raise ToolMissingError(f"the C compiler {compiler} does not run: {finished.how()}; {advice}")
    return f"{Path(compiler).name} {finished.stdout.text().strip()}"


def _words(shop: Workshop, unit: Unit) -> tuple[str, ...]:
    """Return compiler and options for a unit: whatever folders this machine uses, the same bytes come out."""
    cxx = unit.language == "c++"
    same = [f"-ffile-prefix-map={folder}={name}" for folder, name in shop.folders.items()]
    # Symbols of an object compiled for link-time optimisation are to be seen, too.
    fat = ["-ffat-lto-objects"] if "-flto" in shop.flags else []
    compiler = cxx_of(shop.compiler) if cxx else shop.compiler
    flags = shop.cxx_flags if cxx else shop.flags
    seed = unit.name if Path(unit.path).is_absolute() else unit.path
    return (compiler, *flags, *fat, *same, f"-frandom-seed={seed}", *unit.words)


def _environment(scratch: Path) -> dict[str, str]:
    """Return what a compiler may see: messages in English, dates that do not depend on the day, a scratch folder."""
    path = os.environ.get("PATH", os.defpath)
    return {"PATH": path, "LC_ALL": "C", "SOURCE_DATE_EPOCH": "0", "TMPDIR": str(scratch)}


def _reason(output: str, finished: Finished) -> str:
    match = FIRST_ERROR.search(output)
    first = match.group().strip()[:300] if match else finished.how()
    if library := MISSING_LIBRARY.search(output):
        return f"needs the library {library[1]}, which this machine does not have ({first})"
    if header := MISSING_HEADER.search(first):
        return f"{first}; needs {header[1]}, which is neither in the submission nor on this machine"
    return first
