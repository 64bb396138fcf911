"""What a kernel takes of a GPU's multiprocessor, from the machine code (cubin) in an executable: an ELF file, whose sections `.text.NAME` have
the registers of a thread in the highest byte of `sh_info`, whose `.nv.shared.NAME` are as large as the shared memory that it has from the
start, and whose `.nv.info` tells the bytes of a thread's stack, where what does not fit into registers is kept (attribute EIATTR_FRAME_SIZE)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple


class Resources(NamedTuple):
    """Registers of a thread, bytes of shared memory of a block that are fixed when compiling, bytes of stack of a thread (None: not told)."""

    registers: int
    shared: int
    stack: int | None


class _Section(NamedTuple):
    name: str
    kind: int
    info: int
    link: int
    content: bytes
    size: int


_MAGIC = b"\x7fELF\x02\x01"
_CUDA = 190
_NO_BITS, _SYMBOLS = 8, 2
_FRAME_SIZE = 0x11


def resources_of(executable: bytes) -> dict[str, Resources]:
    """By kernel, what is told in all the machine code for GPUs that stands in these bytes; nothing where it cannot be read."""
    found: dict[str, Resources] = {}
    at = executable.find(_MAGIC)
    while at >= 0:
        try:
            found |= dict(_kernels(list(_sections(executable, at))))
        except (struct.error, IndexError, UnicodeDecodeError):  # cut off, or not what it looks like
            pass
        at = executable.find(_MAGIC, at + 1)
    return found


def _sections(data: bytes, at: int) -> Iterator[_Section]:
    (machine,) = struct.unpack_from("<H", data, at + 18)
    if machine != _CUDA:
        return
    (table,) = struct.unpack_from("<Q", data, at + 40)
    size, count, names_at = struct.unpack_from("<HHH", data, at + 58)
    raw = [struct.unpack_from("<IIQQQQIIQQ", data, at + table + n * size) for n in range(count)]
    names = data[at + raw[names_at][4] : at + raw[names_at][4] + raw[names_at][5]]
    for name, kind, _, _, offset, length, link, info, _, _ in raw:
        content = b"" if kind == _NO_BITS else data[at + offset : at + offset + length]
        yield _Section(_text(names, name), kind, info, link, content, length)


def _text(table: bytes, at: int) -> str:
    return table[at : table.index(b"\0", at)].decode()


def _kernels(sections: list[_Section]) -> Iterator[tuple[str, Resources]]:
    shared = {s.name.removeprefix(".nv.shared."): s.size for s in sections if s.name.startswith(".nv.shared.")}
    frames = _frames(sections)
    for section in sections:
        if section.name.startswith(".text."):
            name = section.name.removeprefix(".text.")
            yield name, Resources(section.info >> 24, shared.get(name, 0), frames.get(name))


def _frames(sections: list[_Section]) -> dict[str, int]:
    """The bytes of stack by kernel: records of a format, an attribute, a size and, for this one, (symbol, bytes)."""
    told = next((s.content for s in sections if s.name == ".nv.info"), b"")
    symbols = next((s for s in sections if s.kind == _SYMBOLS), None)
    found: dict[str, int] = {}
    at = 0
    while symbols is not None and at + 4 <= len(told):
        form, attribute, size = struct.unpack_from("<BBH", told, at)
        if form == 4 and attribute == _FRAME_SIZE and size == 8:
            symbol, value = struct.unpack_from("<II", told, at + 4)
            (name,) = struct.unpack_from("<I", symbols.content, symbol * 24)
            found[_text(sections[symbols.link].content, name)] = value
        at += 4 + (size if form == 4 else 0)
    return found
