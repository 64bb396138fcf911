"""What runs in a program, by a reading of XLA's own text that shares nothing with the package's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


PLUMBING = {"parameter", "constant", "tuple", "get-tuple-element"}
NOTHING_RUNS = {*PLUMBING, "bitcast"}
SCOPES = {
    "while": ("condition", "body"),
    "call": ("to_apply",),
    "conditional": ("true_computation", "false_computation"),
}
_HEAD = re.compile(r"^(ENTRY )?%?([\w.-]+) \(.*\{$|^(ENTRY )?%?([\w.-]+) \{$")
_LINE = re.compile(r"^\s+(?:ROOT )?%([\w.'-]+) = (.*)$")
_BRANCHES = re.compile(r"branch_computations=\{([^}]*)\}")


class Instruction(NamedTuple):
    """An instruction as it is written."""

    name: str
    opcode: str
    operands: tuple[str, ...]
    rest: str

    def called(self, role: str) -> str | None:
        found = re.search(rf"\b{role}=%([\w.-]+)", self.rest)
        return found[1] if found else None


def computations(text: str) -> tuple[str, dict[str, list[Instruction]]]:
    """The entry's name, and the instructions of every computation."""
    found: dict[str, list[Instruction]] = {}
    entry, here = "", ""
    for line in text.splitlines():
        if head := _HEAD.match(line):
            here = head[2] or head[4]
            found[here] = []
            entry = here if head[1] or head[3] else entry
        elif here and (one := _LINE.match(line)):
            found[here].append(_written(one[1], one[2]))
    return entry, found


def _written(name: str, rest: str) -> Instruction:
    at = _closed(rest, 0) if rest.startswith("(") else rest.index(" ")
    body = rest[at:].strip()
    opcode, _, _ = body.partition("(")
    end = _closed(body, len(opcode))
    operands = tuple(re.findall(r"%([\w.-]+)", body[len(opcode) : end]))
    return Instruction(name, opcode, operands, body[end:])


def _closed(text: str, start: int) -> int:
    """The place behind the bracket that closes the one at a place."""
    deep = 0
    for n in range(start, len(text)):
        deep += {"(": 1, ")": -1}.get(text[n], 0)
        if deep == 0:
            return n + 1
    raise ValueError(f"a bracket is not closed: {text[start : start + 80]}")


def kernels(text: str) -> list[tuple[Instruction, list[str]]]:
    """What runs, with the opcodes in it: instructions of the entry and of the loops, branches and calls in it."""
    entry, known = computations(text)
    return list(_kernels(entry, known))


def _kernels(name: str, known: dict[str, list[Instruction]]) -> Iterator[tuple[Instruction, list[str]]]:
    for one in known[name]:
        if one.opcode in SCOPES:
            inside = [one.called(role) for role in SCOPES[one.opcode]]
            if branches := _BRANCHES.search(one.rest):
                inside += re.findall(r"%([\w.-]+)", branches[1])
            for computation in inside:
                if computation is not None:
                    yield from _kernels(computation, known)
        elif one.opcode not in NOTHING_RUNS and 'custom_call_target="AllocateBuffer"' not in one.rest:
            yield one, sorted(_members(one, known))


def _members(one: Instruction, known: dict[str, list[Instruction]]) -> Iterator[str]:
    if one.opcode != "fusion":
        yield one.opcode
        return
    for inner in known[one.called("calls") or ""]:
        if inner.opcode not in PLUMBING:
            yield from _members(inner, known)


def pairs(text: str) -> set[tuple[str, str]]:
    """Kernels of the entry of which the second is given what the first gives, directly or through what nothing runs for."""
    entry, known = computations(text)
    through: dict[str, set[str]] = {}
    found: set[tuple[str, str]] = set()
    for one in known[entry]:
        givers = set().union(*(through.get(operand, set()) for operand in one.operands))
        runs = one.opcode not in NOTHING_RUNS and one.opcode not in SCOPES
        if runs:
            found |= {(giver, one.name) for giver in givers}
        through[one.name] = {one.name} if runs else givers if one.opcode in NOTHING_RUNS else set()
    return found


def is_named(one: Instruction, text: str) -> bool:
    """Whether an instruction, or one in what it calls, bears the path of an equation."""
    _, known = computations(text)
    return _named(one, known)


def _named(one: Instruction, known: dict[str, list[Instruction]]) -> bool:
    calls = one.called("calls")
    return bool(re.search(r'op_name="e\d', one.rest)) or any(
        _named(inner, known) for inner in known.get(calls or "", ())
    )
