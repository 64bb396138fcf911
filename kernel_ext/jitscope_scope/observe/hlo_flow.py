"""The operations of an HLO module and what flows between them, with the plumbing taken out.

Tuples, get-tuple-elements and the parameters of called computations are not operations: values are followed through
them, into loops, calls and fusions and out again. A loop's operations read what enters the loop and the operations
after it read what its body gives last, so that the flow has no cycles.
"""

import dataclasses
import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from jitscope.xla.cpu_tuning import IN_ONE_PIECE
from jitscope.xla.hlo_module import Computation, Instruction

from .generated_code import is_generated


FREE = ("bitcast",)
"""Opcodes that nothing runs for."""
_SETS_MEMORY_ASIDE = "AllocateBuffer"

PLUMBING = ("parameter", "tuple", "get-tuple-element")
_EQUATION = r"e\d+(?:\(\d+\))?"
_SEGMENT = r"(?:[a-z_]\w*/)?"  # of an equation with several inner jaxprs, which one: e0/body_jaxpr/e2
_PATH = re.compile(rf"^({_EQUATION}(?:/{_SEGMENT}{_EQUATION})*)(?=$|[/.])")
_ALONE = re.compile(r"e\d+")
_JOINED = re.compile(r"((?:.*/)?)\(([^:]+(?::[^:]+)+)\)")
_CALL_NUMBER = re.compile(r"\(\d+\)")
_CALLS = re.compile(r"^(?:.*\(\d+\)/)?")
_AGAIN = re.compile(r"((?:[^/]+/)*[^/]*\(\d+\))(/.*)?/\1(?:/.*)?")
_IN_ONE_PIECE = [f'{name}="{value}"' for name, value in IN_ONE_PIECE.items()]
_LIBRARY = ("dot", "convolution", "fft", "cholesky", "triangular-solve")


@dataclass(slots=True)
class Op:
    """An operation, or a scope with operations in it.

    id: unique in the flow (the instruction's name where possible); instruction: its line; does: the one instruction in
    a fusion of one, else the same, with its opcode; scope: the enclosing Op's id; sources: (id, type) of each value it reads;
    is_operation: it computes by itself, so it is no input, no constant, and holds no others; group: the outermost fusion or
    library call that it is in or is, by id; is_group: a fusion, library call or marked call with operations in it (one kernel), where
    is_scope says loop, branch or call; is_nameless: XLA lost its name, `paths` were found otherwise; holds: (type,
    literal) of the constants in a fusion of one; applies: the equation, within its call, that the function was made for
    which a reduction, a sort or a scatter applies.
    """

    id: str
    instruction: Instruction
    does: Instruction
    opcode: str
    scope: str | None
    depth: int
    paths: tuple[str, ...]
    sources: list[tuple[str, str]]
    is_library: bool
    is_operation: bool
    group: str | None
    is_input: bool = False
    is_scope: bool = False
    is_group: bool = False
    is_nameless: bool = False
    holds: tuple[tuple[str, str], ...] = ()
    applies: tuple[str, ...] = ()

    @property
    def kernel(self) -> str | None:
        """The id of the kernel that an operation of an optimised module is in; None for what nothing runs for."""
        return self.group or (self.id if self.is_operation and not self.is_free else None)

    @property
    def is_free(self) -> bool:
        """Whether nothing runs for it: it has another type for what is there, or (in programs for TPUs) sets memory aside."""
        return self.opcode in FREE or self.instruction.custom_call_target == _SETS_MEMORY_ASIDE


def scopes_around(op: Op, ops: Mapping[str, Op]) -> list[Op]:
    """The scopes and kernels that an operation is in, the innermost first."""
    outer = ops.get(op.scope or "")
    return [] if outer is None else [outer, *scopes_around(outer, ops)]


@dataclass(frozen=True)
class Flow:
    """The operations in program order (a scope before what it holds) and, per result of the program, its producers."""

    ops: list[Op]
    results: list[list[tuple[str, str]]]

    @functools.cached_property
    def by_id(self) -> dict[str, Op]:
        return {op.id: op for op in self.ops}


def flow_of(computations: Sequence[Computation], optimized: bool) -> Flow:
    """The flow of a parsed module, empty without computations. In one that is not `optimized`, names in a called function are
    relative to the call."""
    return _Walk(computations, optimized).flow() if computations else Flow([], [])


def paths_in(op_name: str | None) -> tuple[str, ...]:
    """The paths of the equations in an instruction's op_name. Several are joined by semicolons: MLIR merged their operations.

    It does that in the function they are in; the path of the call is put in front when the function is inlined, once:
    "e1(0)/e3;e2" are `e1/e3` and `e1/e2`. Calls are named "e1(0)", with a number of their own: XLA would not put "e1" in
    front of a callee's "e1" or "e10". XLA gives what has no name that of the call, behind what it is in: "e1(0)/e3/e1(0)" is in `e1/e3`.
    A collective that it made of several has the names of all, what they begin with in front: "e1(0)/(e3:e2)".
    """
    if not op_name:
        return ()
    if _ALONE.fullmatch(op_name):
        return (op_name,)
    if joined := _JOINED.fullmatch(op_name):
        return unique(path for piece in joined[2].split(":") for path in paths_in(joined[1] + piece))
    first, *rest = [piece.strip() for piece in op_name.split(";")]
    calls = _CALLS.match(first).group()  # type: ignore[union-attr]
    found = map(_PATH.match, map(_once, [first, *[calls + piece for piece in rest if _PATH.match(piece)]]))
    return unique(_CALL_NUMBER.sub("", path.group(1)) for path in found if path)


def _once(name: str) -> str:
    """A name up to where a call that it is in is named again."""
    again = _AGAIN.fullmatch(name)
    return again.group(1) + (again.group(2) or "") if again else name


def unique(items: Iterable[str]) -> tuple[str, ...]:
    """The items in order, each once."""
    return tuple(dict.fromkeys(items))


@dataclass(slots=True)
class _Value:
    """What a name stands for: values of a tuple, or the operations that may have given it."""

    sources: tuple[tuple[str, str], ...] = ()
    parts: "tuple[_Value, ...] | None" = None

    def all(self) -> tuple[tuple[str, str], ...]:
        return self.sources if self.parts is None else tuple(s for part in self.parts for s in part.all())

    def part(self, index: int, kind: str) -> "_Value":
        if self.parts is not None:
            return self.parts[index]
        return _Value(tuple((name, kind) for name, _ in self.sources))


_UNKNOWN = _Value()


def _either(values: Sequence[_Value]) -> _Value:
    """One of several values, as a conditional gives."""
    if all(v.parts is not None and len(v.parts) == len(values[0].parts or ()) for v in values):
        return _Value(parts=tuple(_either(vs) for vs in zip(*(v.parts or () for v in values), strict=True)))
    return _Value(tuple(dict.fromkeys(s for v in values for s in v.all())))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a computation is called from. `is_named`: operations there have names of their own, so that one without is not the call's."""

    scope: str | None = None
    depth: int = 0
    prefix: tuple[str, ...] = ()
    group: str | None = None
    is_named: bool = False

    def inside(self, op: Op) -> "_Place":
        return _Place(op.id, self.depth + 1, self.prefix, op.group, self.is_named)


class _Walk:
    def __init__(self, computations: Sequence[Computation], optimized: bool):
        self.computations = {c.name: c for c in computations}
        self.entry = next(c for c in computations if c.is_entry)
        self.optimized = optimized
        self.ops: list[Op] = []
        self.ids: set[str] = set()
        self.rules = {
            name: getattr(self, f"_{name.replace('-', '_')}")
            for name in (*PLUMBING, "call", "while", "conditional", "fusion")
        }

    def flow(self) -> Flow:
        value = self.run(self.entry, None, _Place())
        parts = value.parts if value.parts is not None else (value,)
        return Flow(self.ops, [list(part.all()) for part in parts])

    def run(self, computation: Computation, arguments: Sequence[_Value] | None, place: _Place) -> _Value:
        known: dict[str, _Value] = {}
        for i in computation.instructions:
            operands = [known.get(name, _UNKNOWN) for name in i.operands]
            rule = self.rules.get(i.opcode)
            if rule is None:
                known[i.name] = _Value(((self.add(i, place, operands).id, i.type),))
            elif i.opcode == "parameter" and arguments is not None:
                known[i.name] = arguments[int(i.literal)]
            else:
                known[i.name] = rule(i, operands, place)
        return known[computation.root.name]

    def add(
        self,
        i: Instruction,
        place: _Place,
        operands: Sequence[_Value] = (),
        does: Instruction | None = None,
        is_input: bool = False,
        is_scope: bool = False,
        is_group: bool = False,
    ) -> Op:
        name = i.name
        if name in self.ids:
            name = f"{place.scope}/{name}"
            while name in self.ids:
                name += "'"
        self.ids.add(name)
        if does is None:
            does = i
        op = Op(
            name,
            i,
            does,
            does.opcode,
            place.scope,
            place.depth,
            self.paths(i, place),
            _each(operands),
            self.is_library(i),
            not (is_input or is_scope or is_group or does.opcode == "constant"),
            place.group or (name if is_group else None),
            is_input,
            is_scope,
            is_group,
            applies=self.applied(does) if does.called and not is_scope else (),
        )
        self.ops.append(op)
        return op

    def paths(self, i: Instruction, place: _Place) -> tuple[str, ...]:
        own = paths_in(i.op_name) if i.op_name and i.opcode not in PLUMBING else ()
        if not place.prefix or i.opcode in PLUMBING:
            return own
        if not own and i.opcode != "constant" and not place.is_named:
            return place.prefix
        return unique(f"{outer}/{path}" for outer in place.prefix for path in own)

    def applied(self, i: Instruction) -> tuple[str, ...]:
        applied = [self.computations[name] for role, name in i.called if role == "to_apply"]
        inside = [j for computation in applied for j in computation.instructions if j.opcode not in PLUMBING]
        return unique(path for j in inside for path in paths_in(j.op_name))  # the root may be a rounding that XLA added

    def _tuple(self, i: Instruction, operands: list[_Value], place: _Place) -> _Value:
        return _Value(parts=tuple(operands))

    def _get_tuple_element(self, i: Instruction, operands: list[_Value], place: _Place) -> _Value:
        return operands[0].part(_index(i), i.type)

    def _parameter(self, i: Instruction, operands: list[_Value], place: _Place) -> _Value:
        op = self.add(i, place, is_input=True)
        return _Value(((op.id, i.type),))

    def _call(self, i: Instruction, operands: list[_Value], place: _Place) -> _Value:
        if all(mark in i.attributes for mark in _IN_ONE_PIECE):
            return self.call_in_one_piece(i, operands, place)
        op = self.add(i, place, is_scope=True)
        called, inside = self.computations[i.calls[0]], place.inside(op)
        if not self.optimized:
            named = any(paths_in(inner.op_name) for inner in called.instructions)
            inside = dataclasses.replace(inside, prefix=op.paths or place.prefix, is_named=named)
        return self.run(called, operands, inside)

    def call_in_one_piece(self, i: Instruction, operands: list[_Value], place: _Place) -> _Value:
        """A call that stands for one equation, whose path all operations in it have."""
        op = self.add(i, place, is_scope=not self.optimized, is_group=self.optimized)
        start = len(self.ops)
        value = self.run(self.computations[i.calls[0]], operands, place.inside(op))
        for inside in self.ops[start:]:
            inside.paths = op.paths
        return value

    def _while(self, i: Instruction, operands: list[_Value], place: _Place) -> _Value:
        op = self.add(i, place, is_scope=True)
        called = dict(i.called)
        self.run(self.computations[called["condition"]], operands, place.inside(op))
        return self.run(self.computations[called["body"]], operands, place.inside(op))

    def _conditional(self, i: Instruction, operands: list[_Value], place: _Place) -> _Value:
        op = self.add(i, place, operands[:1], is_scope=True)
        pairs = zip(i.calls, operands[1:], strict=True)
        return _either([self.run(self.computations[name], [value], place.inside(op)) for name, value in pairs])

    def _fusion(self, i: Instruction, operands: list[_Value], place: _Place) -> _Value:
        computation = self.computations[i.calls[0]]
        computing = [j for j in computation.instructions if j.opcode not in (*PLUMBING, "constant")]
        if len(computing) == 1:
            return self.fusion_of_one(i, computing[0], computation, operands, place)
        op = self.add(i, place, is_group=True)
        start = len(self.ops)
        value = self.run(computation, operands, place.inside(op))
        op.paths = unique(chain.from_iterable([member.paths for member in self.ops[start:]])) or op.paths
        return value

    def fusion_of_one(
        self, i: Instruction, only: Instruction, computation: Computation, operands: list[_Value], place: _Place
    ) -> _Value:
        op = self.add(i, place, operands, does=only)
        op.paths = self.paths(only, place) or op.paths
        op.holds = tuple((j.type, j.literal) for j in computation.instructions if j.opcode == "constant")
        return _Value(((op.id, i.type),))

    def is_library(self, i: Instruction) -> bool:
        if i.opcode == "fusion":
            return i.kind == "kCustom" and "triton" not in i.backend_config  # Triton's code is generated
        if i.opcode == "custom-call":
            return True
        return i.opcode in _LIBRARY and self.optimized and not is_generated(i, self.types)

    @functools.cached_property
    def types(self) -> dict[str, str]:
        """The type of each instruction, by its name."""
        return {i.name: i.type for computation in self.computations.values() for i in computation.instructions}


def _index(i: Instruction) -> int:
    return int(i.attributes.split("index=")[1].split(",")[0])


def _each(values: Sequence[_Value]) -> list[tuple[str, str]]:
    if len(values) == 1 and values[0].parts is None:
        return [*values[0].sources]
    return [*dict.fromkeys([s for v in values for s in (v.sources if v.parts is None else v.all())])]
