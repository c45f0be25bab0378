"""Sizes of a shared library, read from its ELF headers."""

from pathlib import Path
from typing import Any, NamedTuple

from elftools.common.exceptions import ELFError
from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile

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
