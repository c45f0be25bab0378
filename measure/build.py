"""Builds one instance into a shared library: its sources, the adapter and the shim, the same bytes every time.

Nothing here is shared between builds, so that a caller may run as many at once as there are cores.
"""

import os
import platform
import re
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from evidence.catalog import Candidate, Instance
from evidence.types import Count, FlagSet, RelativePath, Sha256
from measure import elf
from measure.errors import BuildError, ToolMissingError
from measure.flags import build_flags
from measure.process import Finished, Limits, run
from measure.scrub import scrub
from measure.sources import Fetched, file_sha256, sources_sha256

COMPILE_LIMITS = Limits(timeout_s=900, address_space_bytes=8 << 30, file_size_bytes=1 << 30)
LOG_LIMIT_CHARACTERS = 256 * 1024
RANDOM_SHIMS = {
    "nist-aes256-ctr-drbg": "random_nist_aes.c",
    "hqc-shake": "random_hqc_shake.c",
}
FIRST_ERROR = re.compile(r"^.*(?:\berror: |undefined reference|multiple definition|cannot find).*$", re.MULTILINE)


class BuildJob(NamedTuple):
    """Everything that the build of one instance depends on.

    ``extra_sources`` (absolute) and ``link_flags`` are for a second library of the same sources, such as the
    profiled one; ``lib`` is its folder below the candidate's.
    """

    candidate: Candidate
    instance: Instance
    fetched: Fetched
    csrc: Path  # folder of shim/ and adapters/
    out: Path  # run folder: libraries and logs go to <out>/<candidate>/
    compiler: str = "gcc"
    architecture: str = platform.machine()
    extra_sources: tuple[Path, ...] = ()
    link_flags: tuple[str, ...] = ()
    lib: str = "lib"


class Built(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Result of one build; names are those of ``evidence.types.BuildInstance``. Paths are relative to ``out``.

    A failed build has a reason and no library. A reason beside a library says why the guide's flags were not used.
    """

    flags: FlagSet
    build_flags: str
    compiler: str
    log: RelativePath
    sources_sha256: Sha256
    library: RelativePath | None = None
    library_sha256: Sha256 | None = None
    elf_load_bytes: Count | None = None
    text_bytes: Count | None = None
    data_bytes: Count | None = None
    bss_bytes: Count | None = None
    reason: str | None = None


class _FailedError(Exception):
    """A compiler run failed; the message is the reason that evidence gives."""


class _Unit(NamedTuple):
    """One file to compile: its name in log and library, its path as the compiler is given it, its own flags."""

    name: str
    path: str
    words: tuple[str, ...]


class _Workshop(NamedTuple):
    """One build under way: what is built, how, where objects go, and what compiler and linker said so far."""

    job: BuildJob
    flags: tuple[str, ...]
    scratch: Path
    log: list[str]


def build(job: BuildJob) -> Built:
    """Build with the guide's flags and, where these do not build, with the tolerant ones; the reason says so.

    Raises:
        BuildError: when the recipe is at fault: a glob matches nothing, a shim is missing, a variant is unknown.
        ToolMissingError: when the compiler is not installed.
    """
    guide = build_with(job, FlagSet.GUIDE)
    if guide.library:
        return guide
    fallback = build_with(job, FlagSet.HARNESS_DEFAULT, reason=f"the guide's flags do not build: {guide.reason}")
    return fallback if fallback.library else guide


def build_with(job: BuildJob, flag_set: FlagSet, reason: str | None = None) -> Built:
    """Build with one flag set; ``reason`` is kept in the result when that succeeds.

    A compiler that refuses is a result without a library, not an error.

    Raises:
        BuildError: when the recipe is at fault.
        ToolMissingError: when the compiler is not installed.
    """
    job = _absolute(job)
    files = source_files(job.instance, job.fetched.folder)
    built = _planned(job, flag_set, files)
    library = job.out / job.candidate.id / job.lib / f"lib{job.instance.label}.so"
    library.parent.mkdir(parents=True, exist_ok=True)
    library.unlink(missing_ok=True)
    log = [f"compiler = {built.compiler}", f"flags    = {flag_set.value}: {built.build_flags}"]
    try:
        _make(job, built, files, library, log)
    except _FailedError as failure:
        return msgspec.structs.replace(built, reason=str(failure))
    finally:
        _write_log(job.out / built.log, log)
    return _measured(built, library, job.out, reason)


def source_files(instance: Instance, root: Path) -> list[Path]:
    """Return the sorted files that a recipe's globs select below ``root``.

    Raises:
        BuildError: naming the glob that matches no file.
    """
    selected = _matched(instance.label, "sources", instance.sources, root)
    selected -= _matched(instance.label, "exclude", instance.exclude, root)
    if not selected:
        raise BuildError(f"{instance.label}: exclude leaves no source file")
    return sorted(selected)


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


def _absolute(job: BuildJob) -> BuildJob:
    """The compiler runs in other folders than this process."""
    fetched = job.fetched._replace(folder=job.fetched.folder.resolve())
    return job._replace(fetched=fetched, csrc=job.csrc.resolve(), out=job.out.resolve())


def _planned(job: BuildJob, flag_set: FlagSet, files: Sequence[Path]) -> Built:
    """Return what is known of a build before it begins."""
    return Built(
        flags=flag_set,
        build_flags=build_flags(flag_set, job.instance.variant, job.architecture),
        compiler=compiler_version(job.compiler),
        log=f"{job.candidate.id}/build/{job.lib}-{job.instance.label}-{flag_set.value}.log",
        sources_sha256=sources_sha256(files, job.fetched.folder),
    )


def _make(job: BuildJob, built: Built, files: Sequence[Path], library: Path, log: list[str]) -> None:
    """Compile and link in a scratch folder; the library appears by one rename."""
    prefix = f".build-{job.instance.label}-"
    with tempfile.TemporaryDirectory(prefix=prefix, dir=library.parent.parent) as scratch:
        shop = _Workshop(job, tuple(built.build_flags.split()), Path(scratch), log)
        _compile_and_link(shop, _units(job, files, built.build_flags)).replace(library)


def _matched(label: str, key: str, globs: Iterable[str], root: Path) -> set[Path]:
    matched: set[Path] = set()
    for pattern in globs:
        files = {path for path in root.glob(pattern) if path.is_file()}
        if not files:
            raise BuildError(f"{label}: {key}: {pattern!r} matches no file in the source folder")
        matched |= files
    return matched


def _units(job: BuildJob, files: Sequence[Path], flags: str) -> list[_Unit]:
    """List what goes into the library: the candidate's files, then ours."""
    instance, csrc = job.instance, job.csrc
    own = tuple(f"-I{csrc / folder}" for folder in ("iccs", "shim"))
    recipe = (*(f"-D{define}" for define in instance.defines), *(f"-I{f}" for f in (instance.dir, *instance.include)))
    units = [_Unit(name, name, recipe) for name in (f.relative_to(job.fetched.folder).as_posix() for f in files)]
    if instance.adapter:
        # Our folders first: a scheme may have a random.h of its own, and we have no api.h.
        units.append(_ours(job, f"adapters/{instance.adapter}.c", (*own, *recipe)))
    units.append(_ours(job, f"shim/{RANDOM_SHIMS[instance.kat.rng]}", own))
    units.append(_ours(job, "shim/metadata.c", (*own, *_metadata(job, flags))))
    units.extend(_Unit(f"extra/{path.name}", str(path), own) for path in job.extra_sources)
    return units


def _ours(job: BuildJob, name: str, words: tuple[str, ...]) -> _Unit:
    path = job.csrc / name
    if not path.is_file():
        raise BuildError(f"{job.instance.label}: the katalog file csrc/{name} is missing")
    return _Unit(f"csrc/{name}", str(path), words)


def _metadata(job: BuildJob, flags: str) -> tuple[str, ...]:
    """Return what the library says about itself, as C strings: no shell reads these words."""
    facts = {
        "CANDIDATE": job.candidate.id,
        "INSTANCE": job.instance.name or job.instance.label,
        "BUILD_FLAGS": flags,
    }
    return tuple(f'-DKATALOG_{name}="{_c_text(value)}"' for name, value in facts.items())


def _c_text(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"')


def _compile_and_link(shop: _Workshop, units: Sequence[_Unit]) -> Path:
    """Compile each unit in a process of its own, then link; return the library, still in the scratch folder."""
    root, csrc = shop.job.fetched.folder, shop.job.csrc
    # Whatever folders this machine uses, the same bytes come out.
    same = [f"-ffile-prefix-map={folder}={name}" for folder, name in ((csrc, "csrc"), (root, "."))]
    objects = []
    for number, unit in enumerate(units):
        objects.append(f"{number:03}-{Path(unit.name).stem}.o")
        words = (*same, f"-frandom-seed={unit.name}", *unit.words, "-c", unit.path)
        _compiler(shop, unit.name, (*words, "-o", str(shop.scratch / objects[-1])), cwd=root)
    library = shop.scratch / "library.so"
    words = ("-shared", *shop.job.link_flags, "-Wl,--no-undefined", *objects, "-lm", "-o", library.name)
    _compiler(shop, "link", words, cwd=shop.scratch)
    return library


def _compiler(shop: _Workshop, what: str, words: Sequence[str], cwd: Path) -> None:
    """Run the compiler once and keep what it says; raise _FailedError when it refuses."""
    argv = [shop.job.compiler, *shop.flags, *words]
    finished = run(argv, COMPILE_LIMITS, cwd=cwd, env=_environment(shop.scratch))
    folders = {shop.job.fetched.folder: "source", shop.job.csrc: "csrc", shop.scratch: "objects"}
    output = scrub(finished.stderr.text(), folders).strip()
    shop.log.extend([f"== {what}: {finished.how()}", *([output] if output else [])])
    if finished.exit_code != 0:
        raise _FailedError(f"{what}: {_first_error(output, finished)}")


def _environment(scratch: Path) -> dict[str, str]:
    """Return what a compiler may see: messages in English, dates that do not depend on the day, a scratch folder."""
    path = os.environ.get("PATH", os.defpath)
    return {"PATH": path, "LC_ALL": "C", "SOURCE_DATE_EPOCH": "0", "TMPDIR": str(scratch)}


def _first_error(output: str, finished: Finished) -> str:
    match = FIRST_ERROR.search(output)
    return match.group().strip()[:300] if match else finished.how()


def _write_log(file: Path, log: Sequence[str]) -> None:
    text = "\n".join(log) + "\n"
    file.parent.mkdir(parents=True, exist_ok=True)
    cut = "[cut here]\n" if len(text) > LOG_LIMIT_CHARACTERS else ""
    file.write_text(text[:LOG_LIMIT_CHARACTERS] + cut, encoding="utf-8")


def _measured(built: Built, library: Path, out: Path, reason: str | None) -> Built:
    sizes = elf.sizes(library)
    return msgspec.structs.replace(
        built,
        library=library.relative_to(out).as_posix(),
        library_sha256=file_sha256(library),
        elf_load_bytes=sizes.load_bytes,
        text_bytes=sizes.text_bytes,
        data_bytes=sizes.data_bytes,
        bss_bytes=sizes.bss_bytes,
        reason=reason,
    )
