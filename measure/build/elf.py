"""Sizes of a shared library, and the names that an object file defines and needs, read from ELF headers."""

from pathlib import Path
from typing import Any, NamedTuple

from elftools.common.exceptions import ELFError
from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from measure.errors import BuildError


class ElfSizes(NamedTuple):
    """Sizes in bytes. ``load_bytes`` is what a loader maps; the others are those of ``size`` (Berkeley format)."""

    load_bytes: int
    text_bytes: int
    data_bytes: int
    bss_bytes: int


def sizes(library: Path) -> ElfSizes:
    """Return the sizes of a library.

    Raises:
        BuildError: when the file is missing, cut, or no ELF file.
    """
    try:
        with library.open("rb") as file:
            elf = ELFFile(file)
            load = sum(segment["p_memsz"] for segment in elf.iter_segments("PT_LOAD"))
            return ElfSizes(load, *_berkeley(elf))
    except (ELFError, OSError, ValueError) as error:
        raise BuildError(f"{library.name}: not a readable ELF library: {error}") from error


class Symbols(NamedTuple):
    """Names that other files can see, or that this one takes from others."""

    defined: frozenset[str]
    undefined: frozenset[str]


def symbols(object_file: Path) -> Symbols:
    """Return the global and weak names of an object file or library, common ones counted as defined.

    Raises:
        BuildError: when the file is missing, cut, or no ELF file.
    """
    try:
        with object_file.open("rb") as file:
            found = [
                (symbol.name, symbol["st_shndx"] == "SHN_UNDEF")
                for section in ELFFile(file).iter_sections()
                if isinstance(section, SymbolTableSection)
                for symbol in section.iter_symbols()
                if symbol["st_info"]["bind"] in {"STB_GLOBAL", "STB_WEAK"}
            ]
    except (ELFError, OSError, ValueError) as error:
        raise BuildError(f"{object_file.name}: not a readable ELF object: {error}") from error
    return Symbols(
        frozenset(name for name, undefined in found if not undefined),
        frozenset(name for name, undefined in found if undefined),
    )


def _berkeley(elf: ELFFile) -> tuple[int, int, int]:
    """Sum the sections that are in memory as ``size`` does: read-only ones, written ones, those without content."""
    totals = {"text": 0, "data": 0, "bss": 0}
    for section in elf.iter_sections():
        if section["sh_flags"] & SH_FLAGS.SHF_ALLOC:
            totals[_kind(section)] += section["sh_size"]
    return totals["text"], totals["data"], totals["bss"]


def _kind(section: Any) -> str:
    flags = section["sh_flags"]
    if flags & SH_FLAGS.SHF_EXECINSTR or not flags & SH_FLAGS.SHF_WRITE:
        return "text"
    return "bss" if section["sh_type"] == "SHT_NOBITS" else "data"
