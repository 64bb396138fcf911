"""A function's machine code as instructions in basic blocks: a piece of code that is entered at its begin and left at its end."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from .classes import Class, class_of
from .objects import Function, Target, library


@dataclass(slots=True)
class Instruction:
    """One instruction: where it begins, its bytes' number, name and operands (Intel's order: the result first), what kind of work
    it does, where it may jump to (the place in the function), whether what follows may be next, and what the linker puts in."""

    at: int
    size: int
    mnemonic: str
    operands: str
    what: Class
    jumps: int | None = None
    goes_on: bool = True
    target: Target | None = None
    calls: str | None = None
    unknown: bool = False


@dataclass(slots=True)
class Block:
    """A basic block and the blocks that may follow it."""

    instructions: list[Instruction]
    ways: list[int] = field(default_factory=list)

    @property
    def at(self) -> int:
        return self.instructions[0].at


@dataclass(slots=True)
class Disassembly:
    """The blocks of a function in the order of the code. Ways to places that the code computes are not known."""

    function: Function
    blocks: list[Block]

    @property
    def instructions(self) -> Iterator[Instruction]:
        return (one for block in self.blocks for one in block.instructions)


def disassembled(function: Function) -> Disassembly:
    """The code of a function, as capstone reads it; bytes it does not know are `.byte`."""
    found = list(_instructions(function))
    if function.machine == "x86-64":
        _name_calls(found)
    return Disassembly(function, _blocks(found))


@cache
def _reader(machine: str) -> Any:
    capstone = library("capstone")

    kinds = {
        "x86-64": (capstone.CS_ARCH_X86, capstone.CS_MODE_64),
        "arm64": (capstone.CS_ARCH_ARM64, capstone.CS_MODE_LITTLE_ENDIAN),
    }
    reader = capstone.Cs(*kinds[machine])
    reader.detail = True
    reader.skipdata = True
    return reader


def _instructions(function: Function) -> Iterator[Instruction]:
    capstone = library("capstone")

    places = sorted(function.relocations)
    for one in _reader(function.machine).disasm(function.code, 0):
        while places and places[0] < one.address:
            places.pop(0)
        here = places and places[0] < one.address + one.size
        target = function.relocations[places[0]] if here else None
        mnemonic, operands = one.mnemonic, one.op_str
        made = Instruction(one.address, one.size, mnemonic, operands, "other", target=target)
        if one.id == 0:  # bytes that are no known instruction
            made.unknown = True
        elif one.group(capstone.CS_GRP_CALL):
            made.what, made.calls = "call", _symbol(target) or _here(function, operands, target)
        elif one.group(capstone.CS_GRP_RET) or one.group(capstone.CS_GRP_JUMP):
            made.what = "branch"
            _lead(function.machine, made, bool(one.group(capstone.CS_GRP_RET)), target)
        elif mnemonic == "ud2" or mnemonic.startswith(("brk", "udf")):
            made.goes_on = False
        else:
            made.what = class_of(function.machine, mnemonic, operands)
        yield made


_PLACE = re.compile(r"#?(0x[0-9a-f]+|\d+)$")


def _lead(machine: str, made: Instruction, returns: bool, target: Target | None) -> None:
    place = _PLACE.search(made.operands.rpartition(",")[2].strip())
    if place and not returns and target is None:
        made.jumps = int(place.group(1), 0)
    always = ("jmp",) if machine == "x86-64" else ("b", "br")
    made.goes_on = not returns and made.mnemonic not in always
    if target is not None and not made.goes_on:
        made.calls = _symbol(target)  # a call as the last thing it does


def _here(function: Function, operands: str, target: Target | None) -> str | None:
    """The function of the same object that is called by its distance."""
    place = _PLACE.match(operands)
    return function.others.get(int(place.group(1), 0)) if place and target is None else None


def _symbol(target: Target | None) -> str | None:
    return target.symbol if target is not None and target.symbol else None


def _name_calls(instructions: Sequence[Instruction]) -> None:
    """Name what is called by a register into which nothing but one symbol's address is ever put (`pop` restores what the caller
    had)."""
    put: dict[str, set[str | None]] = {}
    for one in instructions:
        into = re.match(r"(\w+)", one.operands)
        if into is None or one.what in ("call", "branch", "compare") or one.mnemonic in ("push", "pop"):
            continue
        known = _symbol(one.target) if one.mnemonic in ("movabs", "mov") else None
        put.setdefault(_whole(into.group(1)), set()).add(known)
    for at, one in enumerate(instructions):
        if one.what in ("call", "branch") and one.calls is None and re.fullmatch(r"r\w+", one.operands):
            one.calls = _nearest(instructions, at, one.operands) or _only(put.get(one.operands, set()))


def _only(names: set[str | None]) -> str | None:
    return next(iter(names)) if len(names) == 1 else None


def _nearest(instructions: Sequence[Instruction], at: int, register: str) -> str | None:
    """The symbol put into a register on the way to the call at a place, if nothing jumps or calls in between."""
    for one in reversed(instructions[:at]):
        if one.what in ("call", "branch"):
            return None
        into = re.match(r"(\w+)", one.operands)
        if into and _whole(into.group(1)) == register and one.what != "compare" and one.mnemonic != "push":
            return _symbol(one.target) if one.mnemonic in ("movabs", "mov") else None
    return None


_PARTS: Mapping[str, str] = {
    part: f"r{name}"
    for name in ("ax", "bx", "cx", "dx", "si", "di", "bp", "sp")
    for part in (f"e{name}", name, f"{name[0]}l", f"{name}l")
}


def _whole(register: str) -> str:
    """The register of 64 bits that one is a part of."""
    return _PARTS.get(register, re.sub(r"^(r\d+)[dwb]$", r"\1", register))


def _blocks(instructions: Sequence[Instruction]) -> list[Block]:
    places = {one.at for one in instructions}
    leaders = {one.jumps for one in instructions if one.jumps is not None} & places
    blocks: list[Block] = []
    begins = True
    for one in instructions:
        if begins or one.at in leaders:
            blocks.append(Block([]))
        blocks[-1].instructions.append(one)
        begins = one.what == "branch" or not one.goes_on
    of_place = {block.at: number for number, block in enumerate(blocks)}
    for number, block in enumerate(blocks):
        last = block.instructions[-1]
        ways = [of_place[last.jumps]] if last.jumps in of_place else []
        if last.goes_on and number + 1 < len(blocks):
            ways.append(number + 1)
        block.ways = list(dict.fromkeys(ways))
    return blocks
