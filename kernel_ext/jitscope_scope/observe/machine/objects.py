"""The functions in object files: their names, their bytes, and what the linker puts into them."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from jitscope.core.errors import Unavailable

from ...annotations import MachineName


@dataclass(frozen=True, slots=True)
class Target:
    """What a relocation puts into the code: the address of a symbol of another object (a `symbol`), or of bytes in this one, in
    `section` at `offset`, where `content` begins (up to 8 bytes)."""

    symbol: str = ""
    section: str = ""
    offset: int = 0
    content: bytes = b""

    def __str__(self) -> str:
        if self.symbol:
            return self.symbol
        place = f"{self.section}+{self.offset}"
        if self.section.startswith(".rodata.cst4") and len(self.content) >= 4:
            return f"{place}: {_number('<f', self.content[:4])} if read as f32"
        if self.section.startswith(".rodata.cst8") and len(self.content) == 8:
            return f"{place}: {_number('<d', self.content)} if read as f64"
        return place


def _number(form: str, content: bytes) -> str:
    return f"{struct.unpack(form, content)[0]:.7g}"


@dataclass(frozen=True, slots=True)
class Function:
    """A function of an object file. machine: "x86-64" or "arm64"; code: its bytes, of which `relocations` tells what is put in
    where, by the place in `code`; others: the functions of the same section, by the distance from its begin."""

    name: str
    machine: MachineName
    code: bytes
    relocations: Mapping[int, Target]
    others: Mapping[int, str]


def library(name: str) -> Any:
    """A library that machine code is read with. Raises Unavailable where it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        raise Unavailable(f'{name} reads machine code, and is not installed: pip install "jitscope[asm]"') from None


def functions_of(content: bytes) -> list[Function]:
    """The functions of an object file (ELF, Mach-O or COFF), in the order of the code. Raises ValueError for other files and for
    other processors than x86-64 and arm64, Unavailable where lief is not installed."""
    lief = library("lief")
    readers: tuple[tuple[bytes, Callable[[Any, Any], Iterator[Function]]], ...] = (
        (b"\x7fELF", _of_elf),
        (b"\xcf\xfa\xed\xfe", _of_macho),
        (b"\x64\x86", _of_coff),
        (b"\x64\xaa", _of_coff),
    )
    for beginning, read in readers:
        if content.startswith(beginning):
            lief.logging.disable()
            return list(read(lief, io.BytesIO(content)))
    raise ValueError("this is no object file of a known kind")


def _of_elf(lief: Any, content: Any) -> Iterator[Function]:
    parsed = _read(lief.ELF.parse(content))
    machine = _machine(str(parsed.header.machine_type))
    sections = list(parsed.sections)
    kind = lief.ELF.Symbol.TYPE.FUNC
    found = [s for s in parsed.symbols if s.type == kind and 0 < s.shndx < len(sections)]
    begins = {(sections[s.shndx].name, s.value): s.name for s in found}
    put: dict[str, dict[int, Target]] = {}
    for one in parsed.object_relocations:
        if not one.has_section or not one.has_symbol:
            continue
        target = _elf_target(one)
        name = begins.get((target.section, target.offset))
        put.setdefault(one.section.name, {})[one.address] = Target(symbol=name) if name else target
    for number in sorted({symbol.shndx for symbol in found}):
        section = sections[number]
        named = {symbol.value: (symbol.name, symbol.size) for symbol in found if symbol.shndx == number}
        yield from _functions(named, machine, section, put.get(section.name, {}))


def _elf_target(one: Any) -> Target:
    symbol = one.symbol
    if symbol.name or symbol.section is None:
        return Target(symbol=symbol.name)
    offset = symbol.value + one.addend
    if "64_64" not in str(one.type) and "ABS64" not in str(
        one.type
    ):  # relative to the code: where it begins is not plain
        return Target(section=symbol.section.name, offset=offset)
    return _within(symbol.section, offset)


def _of_macho(lief: Any, content: Any) -> Iterator[Function]:
    several = _read(lief.MachO.parse(content))  # it owns what is read from it, and must stay while that is used
    parsed = several.at(0)
    machine = _machine(str(parsed.header.cpu_type))
    for number, section in enumerate(parsed.sections, 1):
        put = {
            one.address - section.offset: Target(symbol=_plain(one.symbol.name))
            for one in section.relocations
            if one.has_symbol
        }
        named = {
            s.value - section.virtual_address: _plain(s.name)
            for s in parsed.symbols
            if s.numberof_sections == number and not s.name.startswith(("l", "L"))
        }
        if section.segment_name == "__TEXT" and section.name in ("__text", "__ltext"):
            yield from _between(named, machine, section, put)
    del several


def _of_coff(lief: Any, content: Any) -> Iterator[Function]:
    parsed = _read(lief.COFF.parse(content))
    machine = _machine(str(parsed.header.machine))
    for section in parsed.sections:
        put = {one.address: Target(symbol=one.symbol.name) for one in section.relocations if one.symbol is not None}
        named = {
            s.value: s.name
            for s in parsed.symbols
            if s.section is not None and s.section.name == section.name and str(s.complex_type).endswith("FUNCTION")
        }
        if named:
            yield from _between(named, machine, section, put)


def _between(
    named: Mapping[int, str], machine: MachineName, section: Any, put: Mapping[int, Target]
) -> Iterator[Function]:
    """Functions of a file that tells where each begins, but not its size: it ends where the next begins."""
    places = sorted(named)
    ends = [*places[1:], len(bytes(section.content))]
    yield from _functions({at: (named[at], end - at) for at, end in zip(places, ends)}, machine, section, put)


def _functions(
    named: Mapping[int, tuple[str, int]], machine: MachineName, section: Any, put: Mapping[int, Target]
) -> Iterator[Function]:
    """Functions given as name and size by where they begin."""
    content = bytes(section.content)
    for start, (name, size) in sorted(named.items()):
        inside = {at - start: to for at, to in put.items() if start <= at < start + size}
        others = {at - start: other for at, (other, _) in named.items()}
        yield Function(name, machine, content[start : start + size], inside, others)


def _within(section: Any, offset: int) -> Target:
    content = bytes(section.content[offset : offset + 8]) if offset >= 0 else b""
    return Target(section=section.name, offset=offset, content=content)


def _plain(name: str) -> str:
    """A symbol as it is written in C: Mach-O puts an underscore before it."""
    return name.removeprefix("_")


def _read(parsed: Any) -> Any:
    if parsed is None:
        raise ValueError("the object file cannot be read")
    return parsed


def _machine(name: str) -> MachineName:
    name = name.rpartition(".")[2].upper()
    if name in ("X86_64", "AMD64"):
        return "x86-64"
    if name in ("AARCH64", "ARM64"):
        return "arm64"
    raise ValueError(f"code for {name.lower()} is not known here")
