"""Builds one instance into a shared library: its sources, the adapter and the shim, the same bytes every time.

A caller may run as many builds at once as there are cores: they share nothing.
"""

import os
import platform
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from evidence.catalog import Candidate, IccsKat, Instance
from evidence.operations import Family, family_of
from evidence.types import Count, FlagSet, RelativePath, Sha256
from measure.build import elf
from measure.build.compiler import (
    CompileError,
    KilledError,
    Unit,
    Workshop,
    compile_unit,
    compiler_version,
    cxx_of,
    expand,
    invoke,
)
from measure.build.flags import build_flags, cxx_flags, cxx_note
from measure.errors import BuildError
from measure.source.fetch import Fetched, file_sha256, sources_sha256
from measure.source.select import LANGUAGES, Selection, select

LOG_LIMIT_CHARACTERS = 256 * 1024
RANDOM_SHIMS = {
    "nist-aes256-ctr-drbg": "random_nist_aes.c",
    "hqc-shake": "random_hqc_shake.c",
}
# The helpers of the official interface: our file, and the names by which a submission's own is known.
HELPERS = {
    "iccs/drng.c": frozenset({"init_random_number", "get_random_number"}),
    "iccs/auxfunc.c": frozenset({"sm3hash", "pseudohash", "pseudoXOF"}),
}
API = {
    Family.SIGN: frozenset({"sig_keygen", "sig_sign", "sig_verify"}),
    Family.KEM: frozenset({"kem_keygen", "kem_enc", "kem_dec"}),
    Family.KEX: frozenset({"kex_init_a", "kex_init_b", "kex_derive_ss_a", "kex_derive_ss_b"}),
    Family.HASH: frozenset({"CryptHash"}),
}
DIGEST_MARK = "katalog_digest_bits"
DIGEST_PROBE = (
    "\n#ifdef DIGEST_BIT_LENGTH\n"
    + "".join(f"#if (DIGEST_BIT_LENGTH) & (1 << {bit})\n{DIGEST_MARK} {bit}\n#endif\n" for bit in range(24))
    + "#endif\n"
)


class BuildJob(NamedTuple):
    """Everything that the build of one instance depends on.

    ``extra_sources`` (absolute), ``compile_flags`` and ``link_flags`` are for a second library of the same sources,
    such as the profiled one; ``lib`` is its folder below the candidate's.
    """

    candidate: Candidate
    instance: Instance
    fetched: Fetched
    csrc: Path  # folder of iccs/, shim/ and adapters/
    out: Path  # run folder: libraries and logs go to <out>/<candidate>/
    compiler: str = "gcc"
    architecture: str = platform.machine()
    extra_sources: tuple[Path, ...] = ()
    compile_flags: tuple[str, ...] = ()  # behind the others
    link_flags: tuple[str, ...] = ()
    lib: str = "lib"


class Built(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Result of one build; names are those of ``evidence.types.BuildInstance``. Paths are relative to ``out``.

    A failed build has a reason and no library; ``killed`` marks one that an outsider ended. A reason beside a library
    says why the guide's flags were not used.
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
    killed: bool = False


class _Work(NamedTuple):
    """One build under way."""

    job: BuildJob
    selection: Selection
    built: Built  # what is known beforehand
    shop: Workshop


class _Object(NamedTuple):
    """A compiled file and the names in it."""

    unit: Unit
    file: Path
    symbols: elf.Symbols


def build(job: BuildJob) -> Built:
    """Build with the guide's flags and, where these do not build, with the tolerant ones; the reason says so.

    A compiler that was killed has not refused the guide's flags: that build has failed.

    Raises:
        BuildError: when the recipe is at fault: a glob matches nothing, a shim is missing, a variant is unknown.
        ToolMissingError: when the compiler is not installed.
    """
    guide = build_with(job, FlagSet.GUIDE)
    if guide.library or guide.killed:
        return guide
    fallback = build_with(job, FlagSet.HARNESS_DEFAULT, reason=f"the guide's flags do not build: {guide.reason}")
    return fallback if fallback.library else guide


def build_with(job: BuildJob, flag_set: FlagSet, reason: str | None = None) -> Built:
    """Build with one flag set; ``reason`` is kept in the result when that succeeds.

    A compiler that refuses is a result without a library, not an error.

    Raises:
        BuildError: when the recipe is at fault.
        StorageError: when the disk is full.
        ToolMissingError: when the compiler is not installed.
    """
    job = _absolute(job)
    selection = select(job.instance, job.fetched.folder)
    built = _planned(job, flag_set, selection)
    library = job.out / job.candidate.id / job.lib / f"lib{job.instance.label}.so"
    library.parent.mkdir(parents=True, exist_ok=True)
    library.unlink(missing_ok=True)
    log = [f"compiler = {built.compiler}", f"flags    = {flag_set.value}: {built.build_flags}"]
    try:
        compiled = _make(job, built, selection, library, log)
    except CompileError as failure:
        return msgspec.structs.replace(built, reason=str(failure), killed=isinstance(failure, KilledError))
    finally:
        _write_log(job.out / built.log, log)
    built = msgspec.structs.replace(built, sources_sha256=sources_sha256(compiled, job.fetched.folder))
    return _measured(built, library, job.out, reason)


def _absolute(job: BuildJob) -> BuildJob:
    """The compiler runs in other folders than this process."""
    fetched = job.fetched._replace(folder=job.fetched.folder.resolve())
    return job._replace(fetched=fetched, csrc=job.csrc.resolve(), out=job.out.resolve())


def _planned(job: BuildJob, flag_set: FlagSet, selection: Selection) -> Built:
    """Return what is known of a build before it begins."""
    files = (*selection.sources, *selection.doubtful)
    flags = build_flags(flag_set, job.instance.variant, job.architecture)
    cxx = any(LANGUAGES.get(file.suffix) == "c++" for file in files)
    return Built(
        flags=flag_set,
        build_flags=f"{flags}; {cxx_note(flags)}" if cxx else flags,
        compiler=compiler_version(job.compiler),
        log=f"{job.candidate.id}/build/{job.lib}-{job.instance.label}-{flag_set.value}.log",
        sources_sha256=sources_sha256(files, job.fetched.folder),
    )


def _make(job: BuildJob, built: Built, selection: Selection, library: Path, log: list[str]) -> list[Path]:
    """Compile and link in a scratch folder; the library appears by one rename. Return the candidate's files in it."""
    prefix = f".build-{job.instance.label}-"
    with tempfile.TemporaryDirectory(prefix=prefix, dir=library.parent.parent) as scratch:
        work = _Work(job, selection, built, _workshop(job, built, Path(scratch), log))
        theirs = _candidate_objects(work)
        ours = [_compiled(work, unit) for unit in _our_units(work, theirs)]
        _link(work, [*theirs, *ours]).replace(library)
    return [one.unit.cwd / one.unit.path for one in theirs]


def _workshop(job: BuildJob, built: Built, scratch: Path, log: list[str]) -> Workshop:
    flags = build_flags(built.flags, job.instance.variant, job.architecture)
    return Workshop(
        compiler=job.compiler,
        flags=(*flags.split(), *job.compile_flags),
        cxx_flags=(*cxx_flags(flags), *job.compile_flags),
        folders={job.csrc: "csrc", job.fetched.folder: "source"},
        scratch=scratch,
        log=log,
    )


def _candidate_objects(work: _Work) -> list[_Object]:
    """Compile the candidate's files; of the doubtful ones keep those that define what others need, and no main."""
    found = [_compiled(work, _unit(work, file)) for file in work.selection.sources]
    doubtful = [one for file in work.selection.doubtful if (one := _tried(work, _unit(work, file)))]
    while taken := [one for one in doubtful if one.symbols.defined & _needed(work.job, found)]:
        found += taken[:1]
        doubtful.remove(taken[0])
    work.shop.log.extend(f"== {one.unit.name}: left out: nothing in it is needed" for one in doubtful)
    return found


def _tried(work: _Work, unit: Unit) -> _Object | None:
    """Compile a file that may be a driver; None where it does not compile or defines main."""
    try:
        one = _compiled(work, unit)
    except KilledError:
        raise
    except CompileError as error:
        work.shop.log.append(f"== {unit.name}: left out: {error}")
        return None
    if "main" in one.symbols.defined:
        work.shop.log.append(f"== {unit.name}: left out: defines main")
        return None
    return one


def _needed(job: BuildJob, objects: Sequence[_Object]) -> frozenset[str]:
    """Return the names that objects and the interface call for and nobody defines yet."""
    wanted = API[family_of(job.candidate.id)].union(*(one.symbols.undefined for one in objects))
    return wanted.difference(*(one.symbols.defined for one in objects))


def _unit(work: _Work, file: Path) -> Unit:
    """Return a candidate's file as a unit, named from the instance's folder, so that copies share an object."""
    root = work.job.fetched.folder
    folder = root / work.job.instance.dir
    cwd = folder if file.is_relative_to(folder) else root
    path = file.relative_to(cwd).as_posix()
    # A name must not pass for an option or for a file of options.
    safe = f"./{path}" if path.startswith(("-", "@")) else path
    return Unit(file.relative_to(root).as_posix(), safe, cwd, _recipe_words(work, cwd))


def _recipe_words(work: _Work, cwd: Path) -> tuple[str, ...]:
    instance = work.job.instance
    defines = tuple(f"-D{define}" for define in instance.defines)
    include = tuple(f"-I{os.path.relpath(folder, cwd)}" for folder in work.selection.include)
    # Last, where a submission brings no drng.h or auxfunc.h of its own.
    official = ("-idirafter", str(work.job.csrc / "iccs")) if isinstance(instance.kat, IccsKat) else ()
    return (*defines, *include, *official)


def _our_units(work: _Work, theirs: Sequence[_Object]) -> list[Unit]:
    """List what we add to a candidate's objects: adapter, helpers that it lacks, random source, metadata."""
    job, kat = work.job, work.job.instance.kat
    own = tuple(f"-I{job.csrc / folder}" for folder in ("iccs", "shim"))
    units = []
    if job.instance.adapter:
        # Our folders first: a scheme may have a random.h of its own, and we have no api.h.
        recipe = _recipe_words(work, job.fetched.folder)
        units.append(_ours(job, f"adapters/{job.instance.adapter}.c", (*own, *recipe)))
    if isinstance(kat, IccsKat):
        units += [_ours(job, name, own) for name in _missing_helpers(theirs)]
        # Where a submission defines drng_algorithm, too, both are one variable.
        units.append(_ours(job, "shim/random_iccs.c", (*own, "-fcommon")))
    else:
        units.append(_ours(job, f"shim/{RANDOM_SHIMS[kat.rng]}", own))
    metadata = _metadata(job, work.built.build_flags, _digest_bits(work, theirs))
    units.append(_ours(job, "shim/metadata.c", (*own, *metadata)))
    units.extend(
        Unit(f"extra/{path.name}", str(path), job.fetched.folder, (*own, f"-I{job.csrc / 'profile'}"))
        for path in job.extra_sources
    )
    return units


def _missing_helpers(theirs: Sequence[_Object]) -> list[str]:
    """Return our helper files for which a submission defines no name, the hashes only where it calls one."""
    defined = frozenset[str]().union(*(one.symbols.defined for one in theirs))
    called = frozenset[str]().union(*(one.symbols.undefined for one in theirs)) | HELPERS["iccs/drng.c"]
    return [name for name, symbols in HELPERS.items() if not symbols & defined and symbols & called]


def _digest_bits(work: _Work, theirs: Sequence[_Object]) -> int | None:
    """Return the digest length of a hash function: what its recipe says, else the macro where CryptHash is defined."""
    if family_of(work.job.candidate.id) is not Family.HASH:
        return None
    if work.job.instance.digest_bits:
        return work.job.instance.digest_bits
    unit = next((one.unit for one in theirs if "CryptHash" in one.symbols.defined), None)
    lines = expand(work.shop, unit, DIGEST_PROBE) if unit else []
    bits = sum(1 << int(line.split()[1]) for line in lines if line.startswith(f"{DIGEST_MARK} "))
    if not bits:
        raise CompileError("DIGEST_BIT_LENGTH is not defined where CryptHash is: give digest_bits in the recipe")
    return bits


def _ours(job: BuildJob, name: str, words: tuple[str, ...]) -> Unit:
    path = job.csrc / name
    if not path.is_file():
        raise BuildError(f"{job.instance.label}: the katalog file csrc/{name} is missing")
    return Unit(f"csrc/{name}", str(path), job.fetched.folder, words)


def _metadata(job: BuildJob, flags: str, digest_bits: int | None) -> tuple[str, ...]:
    """Return what the library says about itself; strings as C writes them: no shell reads these words."""
    facts = {
        "CANDIDATE": job.candidate.id,
        "INSTANCE": job.instance.name or job.instance.label,
        "BUILD_FLAGS": flags,
    }
    words = tuple(f'-DKATALOG_{name}="{_c_text(value)}"' for name, value in facts.items())
    return (*words, f"-DKATALOG_DIGEST_BITS={digest_bits or 0}")


def _c_text(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"')


def _compiled(work: _Work, unit: Unit) -> _Object:
    """Compile a unit in a process of its own."""
    number = len(list(work.shop.scratch.glob("*.o")))
    file = compile_unit(work.shop, unit, f"{number:03}-{Path(unit.name).stem}.o")
    return _Object(unit, file, elf.symbols(file))


def _link(work: _Work, objects: Sequence[_Object]) -> Path:
    """Link; return the library, still in the scratch folder."""
    job, shop = work.job, work.shop
    cxx = any(one.unit.language == "c++" for one in objects)
    compiler, flags = (cxx_of(job.compiler), shop.cxx_flags) if cxx else (job.compiler, shop.flags)
    files = [one.file.name for one in objects]
    libraries = [f"-l{name}" for name in job.instance.libraries]
    words = ("-shared", *job.link_flags, "-Wl,--no-undefined", *files, *libraries, "-lm", "-o", "library.so")
    invoke(shop, "link", (compiler, *flags, *words), shop.scratch)
    return shop.scratch / "library.so"


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
