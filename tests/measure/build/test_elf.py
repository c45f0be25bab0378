"""ELF sizes are those of the binutils, and exact on a file written by hand."""

import shutil
import struct
import subprocess

import pytest

from measure.build import elf
from measure.errors import BuildError

SOURCE = """
const char table[4099] = {1};
int written[1031] = {1};
char zeroed[50021];
_Thread_local int per_thread;
int code(int x) { return x + table[x] + written[x] + zeroed[x] + per_thread; }
"""


def handmade() -> bytes:
    """Return an ELF file: PT_LOAD 0x1111 and 0x2222, code 0x100, constants 0x20, data 0x30, bss 0x40, comment 0x50."""
    alloc, write, execute = 2, 1, 4
    progbits, nobits, strtab = 1, 8, 3
    names = b"\0.text\0.rodata\0.data\0.bss\0.comment\0.names\0"
    header_bytes, program_bytes, section_bytes = 64, 56, 64
    names_at = header_bytes + 3 * program_bytes
    sections_at = names_at + len(names)
    sections = [
        (b"", 0, 0, 0),
        (b".text", progbits, alloc | execute, 0x100),
        (b".rodata", progbits, alloc, 0x20),
        (b".data", progbits, alloc | write, 0x30),
        (b".bss", nobits, alloc | write, 0x40),
        (b".comment", progbits, 0, 0x50),
        (b".names", strtab, 0, len(names)),
    ]
    header = struct.pack(
        "<16sHHIQQQIHHHHHH",
        b"\x7fELF\x02\x01\x01", 3, 62, 1, 0, header_bytes, sections_at, 0,
        header_bytes, program_bytes, 3, section_bytes, len(sections), len(sections) - 1,
    )  # fmt: skip
    load, note = 1, 4
    segments = [(load, 0x1000, 0x1111), (load, 0x2000, 0x2222), (note, 0x10, 0x10)]
    programs = b"".join(struct.pack("<IIQQQQQQ", kind, 4, 0, 0, 0, size, mem, 1) for kind, size, mem in segments)
    table = b"".join(
        struct.pack("<IIQQQQIIQQ", names.index(name + b"\0"), kind, flags, 0, names_at, size, 0, 0, 1, 0)
        for name, kind, flags, size in sections
    )
    return header + programs + names + table


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("elf")
    (folder / "x.c").write_text(SOURCE)
    subprocess.run(["gcc", "-shared", "-fPIC", "-O2", "x.c", "-o", "x.so"], cwd=folder, check=True)
    return folder / "x.so"


def test_handmade_file_has_the_sizes_that_were_written(tmp_path):
    (tmp_path / "hand.so").write_bytes(handmade())
    assert elf.sizes(tmp_path / "hand.so") == elf.ElfSizes(0x3333, 0x120, 0x30, 0x40)


@pytest.mark.skipif(not shutil.which("size"), reason="needs the program size (binutils)")
def test_text_data_and_bss_are_those_of_size(library):
    listing = subprocess.run(["size", "-B", library], check=True, capture_output=True, text=True).stdout
    text, data, bss = map(int, listing.splitlines()[1].split()[:3])
    assert elf.sizes(library)[1:] == (text, data, bss)
    assert data > 4 * 1031
    assert bss > 50021


@pytest.mark.skipif(not shutil.which("readelf"), reason="needs the program readelf (binutils)")
def test_loaded_bytes_are_the_memory_sizes_of_the_load_segments(library):
    listing = subprocess.run(["readelf", "-lW", library], check=True, capture_output=True, text=True).stdout
    loads = [line.split() for line in listing.splitlines() if line.split()[:1] == ["LOAD"]]
    assert elf.sizes(library).load_bytes == sum(int(words[5], 16) for words in loads)


@pytest.mark.parametrize("content", [b"", b"no ELF at all", handmade()[:40], handmade()[:300]])
def test_a_file_that_is_cut_or_no_elf_is_refused_by_name(tmp_path, content):
    (tmp_path / "bad.so").write_bytes(content)
    with pytest.raises(BuildError, match=r"bad\.so: not a readable ELF library"):
        elf.sizes(tmp_path / "bad.so")


def test_a_missing_file_is_refused_by_name(tmp_path):
    with pytest.raises(BuildError, match=r"none\.so"):
        elf.sizes(tmp_path / "none.so")
