"""What a kernel takes of a GPU's multiprocessor, from the machine code (cubin) in an executable: an ELF file, whose sections `.nv.shared.NAME`
are as large as the shared memory that a kernel has from the start, and whose `.nv.info` tells the registers of a thread (EIATTR_REGCOUNT) and
the bytes of its stack, where what does not fit into registers is kept (EIATTR_FRAME_SIZE)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from .riegeli import records


class Resources(NamedTuple):
    """Registers of a thread, bytes of shared memory of a block that are fixed when compiling, bytes of stack of a thread (None: not told)."""

    registers: int
    shared: int
    stack: int | None


class _Section(NamedTuple):
    name: str
    kind: int
    link: int
    content: bytes
    size: int


_MAGIC = b"\x7fELF\x02\x01"
_CUDA = 190
_NO_BITS, _SYMBOLS = 8, 2
_FRAME_SIZE, _REGISTERS = 0x11, 0x2F


def resources_of(executable: bytes) -> dict[str, Resources]:
    """By kernel, what is told in all the machine code for GPUs that stands in these bytes; nothing where it cannot be read."""
    code = _unpacked(executable)
    found: dict[str, Resources] = {}
    at = code.find(_MAGIC)
    while at >= 0:
        try:
            found |= dict(_kernels(list(_sections(code, at))))
        except (struct.error, IndexError, UnicodeDecodeError):  # cut off, or not what it looks like
            pass
        at = code.find(_MAGIC, at + 1)
    return found


def _unpacked(data: bytes) -> bytes:
    """What is in the records of the data, and in those that lie in them, as from jaxlib 0.11 on; the data themselves where they are no records."""
    inner = b"".join(records(data))
    return _unpacked(inner) if inner else data


def _sections(data: bytes, at: int) -> Iterator[_Section]:
    (machine,) = struct.unpack_from("<H", data, at + 18)
    if machine != _CUDA:
        return
    (table,) = struct.unpack_from("<Q", data, at + 40)
    size, count, names_at = struct.unpack_from("<HHH", data, at + 58)
    raw = [struct.unpack_from("<IIQQQQIIQQ", data, at + table + n * size) for n in range(count)]
    names = data[at + raw[names_at][4] : at + raw[names_at][4] + raw[names_at][5]]
    for name, kind, _, _, offset, length, link, _, _, _ in raw:
        content = b"" if kind == _NO_BITS else data[at + offset : at + offset + length]
        yield _Section(_text(names, name), kind, link, content, length)


def _text(table: bytes, at: int) -> str:
    return table[at : table.index(b"\0", at)].decode()


def _kernels(sections: list[_Section]) -> Iterator[tuple[str, Resources]]:
    shared = {s.name.removeprefix(".nv.shared."): s.size for s in sections if s.name.startswith(".nv.shared.")}
    told = _told(sections)
    for section in sections:
        name = section.name.removeprefix(".text.")
        if name != section.name and (registers := told.get((_REGISTERS, name))) is not None:
            yield name, Resources(registers, shared.get(name, 0), told.get((_FRAME_SIZE, name)))


def _told(sections: list[_Section]) -> dict[tuple[int, str], int]:
    """What is told of kernels, by attribute and kernel: records of a format, an attribute, a size and, for these, (symbol, number)."""
    content = next((s.content for s in sections if s.name == ".nv.info"), b"")
    symbols = next((s for s in sections if s.kind == _SYMBOLS), None)
    found: dict[tuple[int, str], int] = {}
    at = 0
    while symbols is not None and at + 4 <= len(content):
        form, attribute, size = struct.unpack_from("<BBH", content, at)
        if form == 4 and size == 8 and attribute in (_FRAME_SIZE, _REGISTERS):
            symbol, value = struct.unpack_from("<II", content, at + 4)
            (name,) = struct.unpack_from("<I", symbols.content, symbol * 24)
            found[attribute, _text(sections[symbols.link].content, name)] = value
        at += 4 + (size if form == 4 else 0)
    return found
