"""What two programs have in common: their equations, in order, and the kernels that XLA made of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple

from jitscope.core.hashing import written
from jitscope.core.jaxpr import Atom, Jaxpr, JaxprEqn, Literal, subjaxprs
from jitscope.core.printing import literal_text, shown_params
from jitscope.core.words import cut
from jitscope.xla.hlo_module import Computation

from ...annotations import ComparedKernel, Kernel, Position
from ..fusion import Kernels
from ..hlo_flow import flow_of
from ..positions import equations_of as all_equations
from .contents import Contents, details_of


class Alignment(NamedTuple):
    """The places of what is in both, in order, and of what is in one alone."""

    pairs: list[tuple[int, int]]
    only_one: list[int]
    only_other: list[int]


def aligned(one: Sequence[Hashable], other: Sequence[Hashable]) -> Alignment:
    """Two sequences, so that as much as can be stands in both in the same order: their longest common subsequence."""
    start = next((n for n, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))
    most = min(len(one), len(other)) - start
    end = next((n for n, (a, b) in enumerate(zip(reversed(one), reversed(other))) if n == most or a != b), most)
    mine, theirs = one[start : len(one) - end], other[start : len(other) - end]
    pairs: list[tuple[int, int]] = []
    blocks = max(1, -(-max(len(mine), len(theirs)) // _BLOCK))
    for k in range(blocks):
        a, b = (slice(len(each) * k // blocks, len(each) * (k + 1) // blocks) for each in (mine, theirs))
        pairs += [(start + a.start + i, start + b.start + j) for i, j in reversed(_common(mine[a], theirs[b]))]
    in_one, in_other = ({pair[side] for pair in pairs} for side in (0, 1))
    last = [(len(one) - n, len(other) - n) for n in range(end, 0, -1)]
    return Alignment(
        [*((n, n) for n in range(start)), *pairs, *last],
        [n for n in range(start, len(one) - end) if n not in in_one],
        [n for n in range(start, len(other) - end) if n not in in_other],
    )


def matched(one: Sequence[Hashable], other: Sequence[Hashable]) -> Alignment:
    """The same where the order tells nothing, as that of kernels which do not need each other: each with the next equal one."""
    places: dict[Hashable, deque[int]] = {}
    for n, item in enumerate(other):
        places.setdefault(item, deque()).append(n)
    pairs = [(n, places[item].popleft()) for n, item in enumerate(one) if places.get(item)]
    in_one = {n for n, _ in pairs}
    return Alignment(
        pairs, [n for n in range(len(one)) if n not in in_one], sorted(n for left in places.values() for n in left)
    )


def changed(one: Sequence[Hashable], other: Sequence[Hashable], found: Alignment) -> Alignment:
    """Of what is in one alone, what stands at the same place of the other and differs but in part: pairs of equal looser keys, in
    order, between the same neighbours that both have."""
    pairs: list[tuple[int, int]] = []
    bounds = [(-1, -1), *found.pairs, (len(one), len(other))]
    mine, theirs = deque(found.only_one), deque(found.only_other)
    for i, j in bounds[1:]:
        here = [mine.popleft() for _ in range(sum(n < i for n in mine))] if mine and mine[0] < i else []
        there = [theirs.popleft() for _ in range(sum(n < j for n in theirs))] if theirs and theirs[0] < j else []
        if here and there:
            alike = aligned([one[n] for n in here], [other[n] for n in there])
            pairs += [(here[a], there[b]) for a, b in alike.pairs]
    in_one, in_other = ({pair[side] for pair in pairs} for side in (0, 1))
    return Alignment(
        pairs, [n for n in found.only_one if n not in in_one], [n for n in found.only_other if n not in in_other]
    )


_BLOCK = 20_000
"""Of longer sequences, parts of at most this length are aligned with each other: the work and the memory grow with the square."""


def _common(one: Sequence[Hashable], other: Sequence[Hashable]) -> list[tuple[int, int]]:
    """The places of a longest common subsequence, last first. A row of its table is a number with a bit for each place of `one`, 0 where
    the length grows (Hyyrö, "Bit-parallel LCS-length computation revisited", AWOCA 2004)."""
    places: dict[Hashable, int] = {}
    for i, item in enumerate(one):
        places[item] = places.get(item, 0) | 1 << i
    all_places = (1 << len(one)) - 1
    rows = [all_places]
    for item in other:
        row = rows[-1]
        found = row & places.get(item, 0)
        rows.append(((row + found) | (row - found)) & all_places)
    pairs, i, j = [], len(one), len(other)
    while i and j:
        if one[i - 1] == other[j - 1]:
            i, j = i - 1, j - 1
            pairs.append((i, j))
        elif rows[j] >> (i - 1) & 1:
            i -= 1
        else:
            j -= 1
    return pairs


def equations_of(jaxpr: Jaxpr) -> list[tuple[str, JaxprEqn, Hashable]]:
    """All equations with their paths and what makes two of them equal: primitive, parameters, types, and the numbers among the
    operands. Of those that hold inner jaxprs, parameters that are plain data count, but for the name of what is called."""
    return [(path, eqn, _key(eqn)) for path, eqn in all_equations(jaxpr)]


def _key(eqn: JaxprEqn) -> Hashable:
    holds = bool(eqn.params and subjaxprs(eqn.params))
    named = sorted(name for name, value in eqn.params.items() if not holds or (name != "name" and _is_plain(value)))
    plain = tuple((name, written(eqn.params[name])) for name in named)
    types = (*(_operand(a, str) for a in eqn.invars), "->", *(str(v.aval) for v in eqn.outvars))
    return eqn.primitive.name, plain, types


def loose_key(eqn: JaxprEqn) -> Hashable:
    """What two equations have in common that differ in dtypes, parameters or numbers only: primitive, and shapes of the operands."""
    return eqn.primitive.name, tuple(getattr(atom.aval, "shape", ()) for atom in eqn.invars)


def _is_plain(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, (bool, int, float, str, Enum))


def _operand(atom: Atom, written: Callable[[Any], str]) -> str:
    """A number as itself, else the type."""
    return literal_text(atom) if isinstance(atom, Literal) else written(atom.aval)


def equation_text(eqn: JaxprEqn) -> str:
    """`mul f32[3], 2.0:f32[] -> f32[3]`"""
    params = "".join(f" {name}={value}" for name, value in shown_params(eqn).items())
    takes = ", ".join(_operand(a, lambda aval: aval.short()) for a in eqn.invars)
    return cut(f"{eqn.primitive.name}{params} {takes} -> {', '.join(v.aval.short() for v in eqn.outvars)}", 200)


def kernels_of(
    computations: Sequence[Computation], positions: Mapping[str, Position]
) -> list[tuple[ComparedKernel, Hashable]]:
    """The kernels of an optimised program with their `details`, and what makes two of them equal: what they compute, on operands of
    which types."""
    flow, contents = flow_of(computations, True), Contents(computations)
    types = {i.name: i.type for computation in computations for i in computation.instructions}

    def known(kernel: Kernel) -> tuple[ComparedKernel, Hashable]:
        op = flow.by_id[kernel["name"]]
        i = op.instruction
        details = cut(details_of(op.does, [member["opcode"] for member in kernel["members"]], types), 200)
        key = kernel["kind"], contents.of(i), tuple(types.get(operand, "") for operand in i.operands)
        compared: ComparedKernel = {
            "name": kernel["name"],
            "kind": kernel["kind"],
            "opcode": kernel["opcode"],
            "type": kernel["type"],
            "positions": kernel["positions"],
            "details": details,
            "operations": len(kernel["members"]),
        }
        return compared, key

    return [known(kernel) for kernel in Kernels(flow, positions, {}).all() if kernel["kind"] != "loop"]
