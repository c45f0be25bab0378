"""Calls of helper functions that no wrapper sees, found in the profiled library itself.

The linker sends a call to a wrapper only where caller and helper are in different object files. What else there is
shows in the relocations that the linker leaves in the library (``--emit-relocs``; every function has a section of its
own, so that no call is without one) and, for helpers that the compiler has put into their callers, in the debugging
information.
"""

import bisect
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from elftools.common.exceptions import DWARFError, ELFError
from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import SymbolTableSection

from measure.errors import BuildError

COMPILE_FLAGS = ("-fno-lto", "-ffunction-sections", "-g")
LINK_FLAGS = ("-Wl,--emit-relocs",)
ENTRIES = ("sig_", "kem_", "kex_", "CryptHash")  # how the names of the interface begin
WRAPPER = "__wrap_"
X86_64_RELATIVE = {2, 4}  # R_X86_64_PC32, R_X86_64_PLT32
INLINED = {1, 3}  # values of DW_AT_inline


class Escape(NamedTuple):
    """One place where a helper is used past its wrapper."""

    caller: str
    helper: str
    how: str

    def __str__(self) -> str:
        """Return caller, way and helper."""
        return f"{self.caller} {self.how} {self.helper}"


class _Function(NamedTuple):
    address: int
    end: int
    name: str


class _Code:
    """The functions of a library and which of them refer to which, by address."""

    def __init__(self, elf: Any) -> None:
        symbols = [
            _Function(symbol["st_value"], symbol["st_value"] + symbol["st_size"], symbol.name)
            for section in elf.iter_sections()
            if isinstance(section, SymbolTableSection)
            for symbol in section.iter_symbols()
            if symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_shndx"] != "SHN_UNDEF"
        ]
        self.functions = sorted(set(symbols))
        self._addresses = [function.address for function in self.functions]
        self.names: dict[int, set[str]] = {}
        for function in self.functions:
            self.names.setdefault(function.address, set()).add(function.name)
        self.uses: dict[int, set[int]] = {}  # function -> functions that it refers to
        self.stored: set[int] = set()  # functions whose address is in data
        for in_code, place, target in _references(elf):
            self._note(place if in_code else None, target)

    def _note(self, place: int | None, target: int) -> None:
        used = self.at(target)
        if used is None:
            return
        user = self.at(place) if place is not None else None
        if user is None:
            self.stored.add(used)
        else:
            self.uses.setdefault(user, set()).add(used)

    def at(self, address: int) -> int | None:
        """Return the begin of the function that an address lies in."""
        index = bisect.bisect_right(self._addresses, address) - 1
        if index < 0:
            return None
        begin = self._addresses[index]
        same = self.functions[bisect.bisect_left(self._addresses, begin) : index + 1]
        return begin if any(address < function.end or address == begin for function in same) else None

    def where(self, matches: Callable[[str], bool]) -> set[int]:
        """Return the functions one of whose names matches."""
        return {address for address, names in self.names.items() if any(map(matches, names))}

    def name(self, address: int) -> str:
        """Return a name of a function."""
        return min(self.names[address])

    def reachable(self, begin: Iterable[int], closed: set[int]) -> set[int]:
        """Return what can be reached from some functions without passing through closed ones."""
        reached: set[int] = set()
        left = [function for function in begin if function not in closed]
        while left:
            function = left.pop()
            if function not in reached:
                reached.add(function)
                left.extend(self.uses.get(function, set()) - closed - reached)
        return reached


def escapes(library: Path, helpers: Iterable[str]) -> list[Escape]:
    """Return the uses of helper functions that their wrappers do not see, sorted.

    Only what the functions of the interface can reach counts, and not what a helper does itself: nested calls are
    part of the outer one.

    Raises:
        BuildError: when the library cannot be read.
    """
    wanted = frozenset(helpers)
    try:
        with library.open("rb") as file:
            elf = ELFFile(file)
            code = _Code(elf)
            hidden = _inlined(elf, wanted)
    except (ELFError, DWARFError, OSError, ValueError) as error:
        raise BuildError(f"{library.name}: not a readable ELF library: {error}") from error
    # A compiler's clones of a function are named after it: pseudohash.constprop.0
    ours = code.where(lambda name: name.partition(".")[0] in wanted)
    closed = ours | code.where(lambda name: name.startswith(WRAPPER))
    begin = code.where(lambda name: name.startswith(ENTRIES)) | code.stored
    reached = code.reachable(begin, closed)
    found = [
        Escape(code.name(user), code.name(used), "calls")
        for user in reached
        for used in code.uses.get(user, set()) & ours
    ]
    found += [Escape("a table of functions", code.name(helper), "holds") for helper in code.stored & ours]
    found += [Escape(code.name(user), name, "has inlined") for at, name in hidden if (user := code.at(at)) in reached]
    return sorted(set(found))


def _references(elf: Any) -> Iterator[tuple[bool, int, int]]:
    """Yield of each relocation in loaded sections: whether it is in code, its place, and the address it refers to."""
    for section in elf.iter_sections():
        if not isinstance(section, RelocationSection) or section["sh_flags"] & SH_FLAGS.SHF_ALLOC:
            continue
        target = elf.get_section(section["sh_info"])
        if not target["sh_flags"] & SH_FLAGS.SHF_ALLOC or target.name.startswith((".eh_frame", ".gcc_except_table")):
            continue
        in_code = bool(target["sh_flags"] & SH_FLAGS.SHF_EXECINSTR)
        symbols = elf.get_section(section["sh_link"])
        for relocation in section.iter_relocations():
            symbol = symbols.get_symbol(relocation["r_info_sym"])
            yield in_code, relocation["r_offset"], _referred(symbol, relocation, elf["e_machine"])


def _referred(symbol: Any, relocation: Any, machine: str) -> int:
    """Return the address of a symbol, or, where that is a section's, of the place in it."""
    value = int(symbol["st_value"])
    if symbol["st_info"]["type"] != "STT_SECTION" or not relocation.is_RELA():
        return value
    # x86-64 counts from the end of the instruction, which is four bytes behind the field.
    relative = machine == "EM_X86_64" and relocation["r_info_type"] in X86_64_RELATIVE
    return value + int(relocation["r_addend"]) + (4 if relative else 0)


def _inlined(elf: Any, wanted: frozenset[str]) -> list[tuple[int, str]]:
    """Return where a helper's body stands inside another function: the address, and the helper."""
    if not elf.has_dwarf_info():
        return []
    found = []
    for unit in elf.get_dwarf_info(relocate_dwarf_sections=False).iter_CUs():
        origins = {
            die.offset: name for die in unit.get_top_DIE().iter_children() if (name := _inline_name(die, wanted))
        }
        if origins:
            found += [place for die in unit.iter_DIEs() if (place := _inlined_place(die, origins))]
    return found


def _inline_name(die: Any, wanted: frozenset[str]) -> str | None:
    """Return the name of a helper that the compiler has inlined somewhere."""
    inline = die.attributes.get("DW_AT_inline")
    name = die.attributes.get("DW_AT_name")
    if die.tag != "DW_TAG_subprogram" or inline is None or inline.value not in INLINED or name is None:
        return None
    text = str(name.value.decode(errors="replace"))
    return text if text in wanted else None


def _inlined_place(die: Any, origins: dict[int, str]) -> tuple[int, str] | None:
    if die.tag != "DW_TAG_inlined_subroutine":
        return None
    origin = die.get_DIE_from_attribute("DW_AT_abstract_origin").offset
    low = die.attributes.get("DW_AT_low_pc") or die.attributes.get("DW_AT_entry_pc")
    return (int(low.value), origins[origin]) if origin in origins and low is not None else None
