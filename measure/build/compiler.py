"""Compiles one file to one object, and keeps objects so that an unchanged file is not compiled again.

The key of a kept object digests all that the compiler was given: compiler, flags, the file's name as it is told,
and the preprocessed text. Where that text does not settle the object, the whole source tree goes into the key: with
assembly, which may read further files, with directives that change what the compiler predefines, and with
precompiled headers. A file that changed while it was compiled is not kept, and a kept object that is damaged is
compiled anew, so that the store can only save work.
"""

import contextlib
import hashlib
import os
import re
import shutil
import time
from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from evidence import store as evidence_store
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
# A label such as that of glibc's renamed functions names a symbol and reads no file.
SYMBOL_LABEL = re.compile(rb'__asm__\s*\(\s*(?:""\s*)?"\w*"\s*\)')
UNSETTLED = re.compile(
    rb"\b(?:asm|__asm|__asm__)\b|^\s*#\s*pragma\s+GCC\s+(?:target|push_options|optimize)", re.MULTILINE
)
PREPROCESSED_LIMIT_BYTES = 256 * 1024 * 1024
PROCESSOR = ("vendor_id", "cpu family", "model", "stepping", "flags", "Features", "CPU ")
# Timestamps of files come from a clock that ticks some hundred times a second.
CLOCK_TICK_NS = 20_000_000


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
    store: Path | None  # folder of kept objects
    tree: "Tree"
    log: list[str]


class Tree:
    """A folder of sources, read as a whole where that is needed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def sha256(self) -> str:
        """Digest of names and contents of all files."""
        lines = [
            f"{file_sha256(file) if file.is_file() else 'no file'}  {file.relative_to(self._folder).as_posix()!r}\n"
            for file in self._files
        ]
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    @cached_property
    def has_precompiled(self) -> bool:
        """Whether there are precompiled headers, which a compiler prefers to the headers that one reads."""
        return any(".gch" in file.name or ".gch" in file.parent.name for file in self._files)

    @cached_property
    def _files(self) -> list[Path]:
        return sorted(Path(place, name) for place, _, names in os.walk(self._folder) for name in names)


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """A kept object with what the compiler said about it."""

    sha256: str
    output: str
    content: bytes


def compile_unit(shop: Workshop, unit: Unit, name: str) -> Path:
    """Return the object ``<scratch>/<name>`` of a unit, compiled or taken from the store.

    Raises:
        CompileError: when the compiler refuses or is missing.
    """
    target = shop.scratch / name
    begin_ns = time.time_ns()
    key = _key(shop, unit, target) if shop.store else None
    kept = _kept(shop.store / key) if shop.store and key else None
    if kept:
        target.write_bytes(kept.content)
        shop.log.extend([f"== {unit.name}: kept object", *([kept.output] if kept.output else [])])
        return target
    output = invoke(shop, unit.name, (*_words(shop, unit), "-c", unit.path, "-o", str(target)), unit.cwd)
    if shop.store and key and _settled(target.with_suffix(".d"), unit, begin_ns):
        _keep(shop.store / key, target.read_bytes(), output)
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
    # The path is the same for copies of a file in folders of other instances, which thus share an object.
    seed = unit.name if Path(unit.path).is_absolute() else unit.path
    return (compiler, *flags, *fat, *same, f"-frandom-seed={seed}", *unit.words)


def _key(shop: Workshop, unit: Unit, target: Path) -> str | None:
    """Return the key of a unit's object; None where its text cannot be had, and the compiler is to say why."""
    words = _words(shop, unit)
    text = _text(shop, unit, words, target) if shutil.which(words[0]) else None
    if text is None:
        return None
    open_ended = unit.language == "assembler" or UNSETTLED.search(SYMBOL_LABEL.sub(b"", text))
    tree = shop.tree.sha256 if open_ended or shop.tree.has_precompiled else ""
    said = [_placeless(shop, word) for word in (unit.path, *words)]
    parts = (_identity(words[0], native="native" in " ".join(words)), *said, tree)
    return hashlib.sha256("\0".join(parts).encode() + b"\0" + text).hexdigest()


def _text(shop: Workshop, unit: Unit, words: Sequence[str], target: Path) -> bytes | None:
    """Return what the compiler proper would be given, and leave the list of files read beside the object."""
    if unit.path.endswith(".s"):
        return (unit.cwd / unit.path).read_bytes()
    text_file, depends = target.with_suffix(".i"), target.with_suffix(".d")
    argv = (*words, "-E", "-MD", "-MF", str(depends), unit.path, "-o", str(text_file))
    finished = _run(shop, argv, unit.cwd)
    if finished.exit_code != 0 or text_file.stat().st_size > PREPROCESSED_LIMIT_BYTES:
        return None
    text = text_file.read_bytes()
    text_file.unlink()
    return text


def _placeless(shop: Workshop, word: str) -> str:
    for folder in sorted(shop.folders, key=lambda path: -len(str(path))):
        word = word.replace(str(folder), shop.folders[folder])
    return word


@lru_cache
def _identity(compiler: str, *, native: bool) -> str:
    """Return what tells a compiler from another one of the same name; with ``native``, the processor too."""
    facts = [run([compiler, "--version"], Limits(timeout_s=60)).stdout.text()]
    programs = [shutil.which(compiler) or compiler]
    for program in ("cc1", "cc1plus", "as"):
        answer = run([compiler, f"-print-prog-name={program}"], Limits(timeout_s=60)).stdout.text().strip()
        programs.append(shutil.which(answer) or answer)
    for program in programs:
        state = Path(program).stat() if Path(program).is_file() else None
        facts.append(f"{program} {state.st_size} {state.st_mtime_ns}" if state else program)
    if native:
        cpu = Path("/proc/cpuinfo").read_text(encoding="utf-8").partition("\n\n")[0]
        facts += [line for line in cpu.splitlines() if line.startswith(PROCESSOR)]
    return "\n".join(facts)


def _settled(depends: Path, unit: Unit, begin_ns: int) -> bool:
    """Return whether none of the files that were read has changed since shortly before ``begin_ns``."""
    try:
        text = depends.read_text(encoding="utf-8", errors="surrogateescape") if depends.exists() else f": {unit.path}"
        # The format of make: spaces are escaped, a dollar is doubled, lines end in a backslash.
        words = re.findall(r"(?:\\.|[^\s\\])+", text.partition(": ")[2].replace("\\\n", " "))
        files = [unit.cwd / re.sub(r"\\(.)", r"\1", word).replace("$$", "$") for word in words]
        return all(file.stat().st_ctime_ns < begin_ns - CLOCK_TICK_NS for file in files)
    except OSError:
        return False


def _kept(file: Path) -> Kept | None:
    try:
        kept = msgspec.msgpack.decode(file.read_bytes(), type=Kept)
    except (OSError, msgspec.DecodeError):
        return None
    return kept if hashlib.sha256(kept.content).hexdigest() == kept.sha256 else None


def _keep(file: Path, content: bytes, output: str) -> None:
    """Keep an object; a store that cannot be written costs time only."""
    kept = Kept(sha256=hashlib.sha256(content).hexdigest(), output=output, content=content)
    with contextlib.suppress(OSError):
        evidence_store.write_atomically(file, msgspec.msgpack.encode(kept))


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
