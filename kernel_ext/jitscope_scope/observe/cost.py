"""How much a compiled program computes and moves: XLA's model of each of its computations, times how often it runs.

XLA's own figure for a program counts the body of a loop once, and calls of routines that it does not look into as nothing. Here a
body counts as often as its loop iterates where XLA knows that (a `scan`, a `fori_loop` over Python ints), and routines of LAPACK have
a model; where either is not known, neither is the sum. A routine reads its operands and writes its results. Of a conditional XLA
takes the most of each kind of operation from any branch, here that of one branch counts; and it counts the pointers of tuples as bytes
that are written, which here are none. What several slices in a kernel read of one array it counts for each; here no kernel moves
more than all that it is given and gives. Of an array into which a kernel scatters it counts all; here what is put in.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from jitscope.xla import hlo_module
from jitscope.xla.hlo_module import Computation, Instruction
from jitscope.xla.hlo_pieces import Pieces

from .hlo import bytes_of


class Work(NamedTuple):
    """Floating-point operations (transcendental functions count one each) and bytes read and written in one run, None where
    they are unknown; `why` says in words what is not known."""

    flops: float | None
    bytes: float | None
    why: str = ""


def work_of(module: Any, computations: Sequence[Computation] | None = None) -> Work:
    """The work of one run of an optimised HLO module, whose `computations` may be known already. Of a conditional, that of its
    dearest branch."""
    return Costs(module, hlo_module.computations(module) if computations is None else computations).total()


def bytes_written(
    computations: Sequence[Computation], runs: Callable[[str], int | None]
) -> Callable[[str], int | None]:
    """The bytes that an instruction writes, by its name, in all its runs in one call: of an array that is updated in place those
    that are put in. None where it is unknown how often it runs."""
    roots = {one.name: one.root for one in computations}
    known = {i.name: i for one in computations for i in one.instructions}

    def once(i: Instruction) -> int:
        if i.opcode == "fusion":
            return inside(roots[i.calls[0]])
        return bytes_of(known[_part(i)].type if i.opcode in _UPDATES else i.type)

    def inside(i: Instruction) -> int:
        return sum(inside(known[name]) for name in i.operands) if i.opcode in ("tuple", "bitcast") else once(i)

    return lambda name: None if (times := runs(name)) is None else times * once(known[name])


def depends_on_values(module: Any) -> bool:
    """Whether the time of an optimised HLO module may depend on the values it gets: it has a branch, a sort, a loop of unknown
    length, or calls a routine whose work is not known."""
    computations = {one.name: one for one in hlo_module.computations(module)}
    return any(
        i.opcode == "sort"
        or (i.opcode == "conditional" and not _goes_one_way(i, computation, computations))
        or (i.opcode == "while" and trips(i) is None)
        or (i.opcode == "custom-call" and lapack_flops(i) is None)
        for computation in computations.values()
        for i in computation.instructions
    )


def _goes_one_way(conditional: Instruction, around: Computation, computations: Mapping[str, Computation]) -> bool:
    """Whether a branch is chosen by `(x | 1) == 0`, which never holds: random numbers that are drawn in a kernel of their own are kept apart so."""
    known, at = {i.name: i for i in around.instructions}, conditional.operands[0]
    if at in known and known[at].opcode == "fusion":
        inside = computations[known[at].calls[0]]
        known, at = {i.name: i for i in inside.instructions}, inside.root.name
    for opcode, literal in (("compare", "0"), ("or", "1")):
        while at in known and known[at].opcode in ("bitcast", "convert", "copy", "reshape"):
            at = known[at].operands[0]
        found = known.get(at)
        if found is None or found.opcode != opcode or (opcode == "compare" and "direction=EQ" not in found.attributes):
            return False
        constants = [n for n in found.operands if n in known and known[n].opcode == "constant"]
        if [known[n].literal.strip("{} ") for n in constants] != [literal]:
            return False
        at = next(n for n in found.operands if n not in constants)
    return True


class _Sum(NamedTuple):
    flops: float
    bytes: float

    def plus(self, other: _Sum, times: float = 1.0) -> _Sum:
        return _Sum(self.flops + times * other.flops, self.bytes + times * other.bytes)


_NOTHING = _Sum(0.0, 0.0)
_NOT_KNOWN = _Sum(-1.0, -1.0)
"""What XLA counts for a custom call."""
_MORE = ("while", "custom-call", "call", "conditional", "tuple", "fusion")
"""Opcodes of which XLA's figure leaves something out, or has something too much."""
_SLICES = ("slice", "dynamic-slice")
_UPDATES = ("dynamic-update-slice", "scatter")
"""What changes a part of an array where it lies."""
_TRIPS = re.compile(r'"known_trip_count":\{"n":"(\d+)"\}')


def trips(loop: Instruction) -> int | None:
    """How many iterations a loop makes, where XLA knows that."""
    found = _TRIPS.search(loop.backend_config)
    return int(found.group(1)) if found else None


_NVIDIA = re.compile(r"__cu(?:blas|dnn)")
_WORKSPACE = re.compile(r", ([su]8\[\d+\](?:\{0\})?)\)$")


class Costs:
    """The work of an optimised module and of its parts. Raises nothing: what is not known is None in the figures."""

    def __init__(self, module: Any, computations: Sequence[Computation]):
        self.module = module
        self.computations = {c.name: c for c in computations}
        self.entry = next(c.name for c in self.computations.values() if c.is_entry)
        self.xla = {self.entry: hlo_module.cost_analysis(module)}
        self.known: dict[str, _Sum] = {}
        self.loops: list[str] = []
        self.routines: list[str] = []

    @functools.cached_property
    def pieces(self) -> Pieces:
        return Pieces(hlo_module.text(self.module, layouts=True, backend_config=True))

    @functools.cached_property
    def types(self) -> dict[str, str]:
        """The types of all instructions, by name."""
        return {i.name: i.type for c in self.computations.values() for i in c.instructions}

    def total(self) -> Work:
        return self._known(self.of(self.entry))

    def instruction(self, i: Instruction) -> Work:
        """The work of one run of an instruction with all that it calls: of a loop, that of all its iterations."""
        self.known, self.loops, self.routines = {}, [], []
        if i.opcode == "while":
            called, n = dict(i.called), trips(i)
            if n is None:
                self.loops.append(i.name)
            return self._known(
                _NOTHING.plus(self.of(called["body"]), n or 0).plus(self.of(called["condition"]), (n or 0) + 1)
            )
        if i.opcode == "call":
            return self._known(self.of(i.calls[0]))
        if hlo_module.is_end(i):
            return Work(None, None, "it ends what another operation began")
        if i.opcode == "conditional":
            return self._known(_most([self.of(name) for name in i.calls]))
        return self._known(_as_sum(hlo_module.cost_analysis(self.pieces.instruction(i.name))).plus(self._more(i)))

    def _known(self, found: _Sum) -> Work:
        routines = ", ".join(dict.fromkeys(self.routines))
        if self.loops:
            return Work(None, None, "how often one of its loops repeats depends on the data")
        return Work(
            None if routines else found.flops, found.bytes, f"the work of {routines} is not known" if routines else ""
        )

    def of(self, name: str) -> _Sum:
        """A computation with everything it calls, each as often as it runs."""
        if name not in self.known:
            self.known[name] = self._once(name).plus(self._left_out(name))
        return self.known[name]

    def _once(self, name: str) -> _Sum:
        """XLA's figure for a computation."""
        return _as_sum(self._told(name))

    def _told(self, name: str) -> dict[str, float]:
        if name not in self.xla:
            self.xla[name] = hlo_module.cost_analysis(self.pieces.computation(name))
        return self.xla[name]

    def _left_out(self, name: str) -> _Sum:
        found = _NOTHING
        for instruction in self.computations[name].instructions:
            if instruction.opcode in _MORE:
                found = found.plus(self._more(instruction))
        return found

    def _more(self, i: Instruction) -> _Sum:
        """What XLA's figure leaves out of an instruction, less what it has too much."""
        if i.opcode == "while":
            return self._while(i)
        if i.opcode == "custom-call":
            return _Sum(self._routine(i), self._given_and_made(i)).plus(_NOT_KNOWN, -1)
        if i.opcode == "call":
            return self._left_out(i.calls[0])
        if i.opcode == "conditional":
            counted = [self._told(name) for name in i.calls]
            most = {key: max(cost.get(key, 0.0) for cost in counted) for cost in counted for key in cost}
            return _most([self.of(name) for name in i.calls]).plus(_as_sum(most), -1)
        if i.opcode == "tuple":
            return _Sum(0.0, -hlo_module.pointer_bytes() * len(i.operands))
        if i.opcode == "fusion":
            return _Sum(0.0, -self._read_again(i) - self._left_alone(i))
        return _NOTHING

    def _given_and_made(self, i: Instruction) -> float:
        """The bytes of an instruction's operands and of its result, without those that NVIDIA's libraries work in: the result's last part."""
        made = bytes_of(i.type)
        if _NVIDIA.match(i.custom_call_target or "") and (workspace := _WORKSPACE.search(i.type)):
            made -= bytes_of(workspace[1])
        return float(made + sum(bytes_of(self.types[name]) for name in i.operands))

    def _read_again(self, i: Instruction) -> float:
        """The bytes that XLA counts for a fusion beyond those that it is given and gives."""
        inside = self.computations[i.calls[0]].instructions
        if sum(j.opcode in _SLICES for j in inside) < 2:
            return 0.0
        counted = _as_sum(hlo_module.cost_analysis(self.pieces.instruction(i.name)))
        return max(0.0, counted.bytes - self._given_and_made(i))

    def _left_alone(self, i: Instruction) -> float:
        """The bytes that XLA counts of an array into which a fusion scatters, beyond those that it reads and writes there."""
        inside = self.computations[i.calls[0]]
        if inside.root.opcode != "scatter" or inside.root.type.startswith("("):
            return 0.0
        counted = hlo_module.cost_analysis(self.pieces.instruction(i.name))
        into = next(j for j in inside.instructions if j.name == inside.root.operands[0])
        number = into.literal if into.opcode == "parameter" else None
        part = bytes_of(self.types[_part(inside.root)])
        return sum(max(0.0, counted.get(f"bytes accessed{which}{{}}", 0.0) - part) for which in ("out", number))

    def _while(self, i: Instruction) -> _Sum:
        called, n = dict(i.called), trips(i)
        if n is None:
            self.loops.append(i.name)
            return _NOTHING
        body, condition = called["body"], called["condition"]
        found = _NOTHING.plus(self.of(body), n).plus(self.of(condition), n + 1)
        return found.plus(self._once(body), -1).plus(self._once(condition), -1)

    def _routine(self, i: Instruction) -> float:
        flops = lapack_flops(i)
        if flops is None:
            self.routines.append(i.custom_call_target or i.name)
        return flops or 0.0


def _part(update: Instruction) -> str:
    """The operand with what is put into an array."""
    return update.operands[1] if update.opcode == "dynamic-update-slice" else update.operands[-1]


def _most(sums: list[_Sum]) -> _Sum:
    return _Sum(max(s.flops for s in sums), max(s.bytes for s in sums))


def _as_sum(cost: dict[str, float]) -> _Sum:
    return _Sum(cost.get("flops", 0.0) + cost.get("transcendentals", 0.0), cost.get("bytes accessed", 0.0))


# Leading terms for real matrices of m rows and n columns, from "LAPACK Working Note 41", appendix C: a multiplication and an
# addition count one each. `k` is the smaller of m and n.
_ROUTINES = {
    "getrf": lambda m, n, k: 2 * (m * n * k - (m + n) * k**2 / 2 + k**3 / 3),
    "potrf": lambda m, n, k: n**3 / 3,
    "geqrf": lambda m, n, k: 2 * k**2 * (max(m, n) - k / 3),
    "orgqr": lambda m, n, k: 4 * m * n * k - 2 * (m + n) * k**2 + 4 * k**3 / 3,
}
_LAPACK = re.compile(r"lapack_([sdcz])(\w+)_ffi")
_SHAPE = re.compile(r"\b[a-z]+\d+\[([\d,]*)\]")
_OPERANDS = re.compile(r"operand_layout_constraints=\{(.*?\})\}")


def lapack_flops(i: Instruction) -> float | None:
    """The floating-point operations of a call of LAPACK, by the sizes of its operands; complex ones count four. None for other
    routines, and for those whose work depends on the data (eigenvalues, singular values)."""
    found, given = _LAPACK.fullmatch(i.custom_call_target or ""), _OPERANDS.search(i.attributes)
    if found is None or given is None:
        return None
    kind, routine = found.groups()
    shapes = [[int(n) for n in shape.split(",") if n] for shape in _SHAPE.findall(given.group(1))]
    routine = "orgqr" if routine == "ungqr" else routine
    factor = 4.0 if kind in "cz" else 1.0
    if routine == "trsm":  # each element of the right-hand sides takes a row of the triangle
        return factor * shapes[0][-1] * math.prod(shapes[1])
    if routine not in _ROUTINES:
        return None
    *batch, m, n = shapes[0]
    return factor * math.prod(batch) * _ROUTINES[routine](m, n, min(m, n))
