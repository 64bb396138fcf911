"""How the values inside of a program over several devices lie: what XLA's partitioner chooses for them.

Shardy's own propagation, the pass with which the partitioner begins, is run on a copy of the lowered program, and its choices are read
from there. Where an equation's result is not clearly one value of the program, nothing is said of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from jitscope.core.avals import ShapedArray, physical
from jitscope.core.dtypes import short_name
from jitscope.core.jaxpr import Jaxpr, JaxprEqn, walk
from jitscope.core.shardings import NamedSharding, PartitionSpec
from jitscope.xla import mlir

from .sharding import spec_text


_PASS = "sdy-propagation-pipeline"
_NAMED = re.compile(r'loc\("([^"]+)"')
_CALL_NUMBER = re.compile(r"\(\d+\)$")
_ONE_VALUE = re.compile(r"#sdy\.sharding_per_value<\[<@\w+, \[(.*)\](?:, replicated=\{[^}]*\})?>\]>")
_ENTRY = re.compile(r"\{([^{}]*)\}")
_AXIS = re.compile(r'"([^"]+)"')
_PLAIN_ENTRY = re.compile(r'(?:"[^"]+"(?:, "[^"]+")*)?(?:(?:, )?\?)?')


class Lies(NamedTuple):
    """How a value lies over a mesh."""

    aval: ShapedArray
    sharding: NamedSharding

    def __str__(self) -> str:
        """In words, with what one device has of it."""
        sizes = [-(-n // parts) for n, parts in zip(self.aval.shape, self.sharding.factors(self.aval.ndim))]
        return f"{spec_text(self.sharding.spec)}, {ShapedArray(tuple(sizes), self.aval.dtype).short()} on each device"

    @property
    def type(self) -> str:
        """As types over Explicit axes say it: f32[8@x,4]."""
        return f"{short_name(self.aval.dtype)}{self.sharding.shape_text(self.aval.shape)}"


def argument_layouts(avals: Sequence[ShapedArray], layouts: Sequence[Any]) -> list[Lies | None]:
    """How the arguments of a program lie, of these avals and in these layouts; None where that has no name."""
    return [Lies(aval, at.said) if isinstance(at.said, NamedSharding) else None for aval, at in zip(avals, layouts)]


def inner_layouts(lowered: bytes, jaxpr: Jaxpr, mesh: Any) -> dict[str, Lies]:
    """By the path of an equation with one result: how that lies over the mesh."""
    results = {path: eqn.outvars[0].aval for path, eqn in walk(jaxpr) if len(eqn.outvars) == 1}
    module = mlir.parse(lowered)
    try:
        mlir.run_pass(module, _PASS)
    except mlir.bindings().ir.MLIRError:  # not there, or it has another name in another release
        return {}
    functions = {
        op.attributes["sym_name"].value: op for op in module.body.operations if op.operation.name == "func.func"
    }
    last: dict[str, Any] = {}
    for path, op in _operations(functions, "main", ""):
        aval = results.get(path)
        if type(aval) is ShapedArray and len(op.results) == 1 and _shape(op.results[0]) == physical(aval).shape:
            last[path] = op  # an equation's last operation is its result
    specs = {path: spec for path, eqn in walk(jaxpr) if path in results and (spec := _of_map(eqn)) is not None}
    specs |= {path: spec for path, op in last.items() if (spec := _spec(op)) is not None}
    return {path: Lies(results[path], NamedSharding(mesh, spec)) for path, spec in specs.items()}


def _operations(functions: dict[str, Any], name: str, prefix: str) -> Iterator[tuple[str, Any]]:
    for block in functions[name].regions[0].blocks:
        yield from _in_block(functions, block, prefix)


def _in_block(functions: dict[str, Any], block: Any, prefix: str) -> Iterator[tuple[str, Any]]:
    """The operations of a block and of those inside, with their paths. (What is inside of `shard_map` is one device's own.)"""
    for op in block.operations:
        operation = op.operation
        named = _NAMED.match(str(operation.location))
        path = prefix + _CALL_NUMBER.sub("", named.group(1)) if named else None
        if operation.name == "func.call" and path is not None:
            yield from _operations(functions, operation.attributes["callee"].value, f"{path}/")
        elif operation.name != "sdy.manual_computation":
            for region in operation.regions:
                for inner in region.blocks:
                    yield from _in_block(functions, inner, prefix)
        if path is not None:
            yield path, operation


def _of_map(eqn: JaxprEqn) -> PartitionSpec | None:
    """How the result of a `shard_map` over all axes of its mesh lies."""
    params = eqn.params
    if eqn.primitive.name != "shard_map" or len(params["axes"]) < len(params["mesh"].axis_names):
        return None
    return params["out_specs"][0]


def _shape(value: Any) -> tuple[int, ...] | None:
    kind = value.type
    return tuple(kind.shape) if hasattr(kind, "shape") else None


def _spec(operation: Any) -> PartitionSpec | None:
    """What the partitioner chose for the one result; None where it says nothing, or cuts by parts of an axis."""
    if "sdy.sharding" not in operation.attributes:
        return None
    said = _ONE_VALUE.fullmatch(str(operation.attributes["sdy.sharding"]))
    entries = _ENTRY.findall(said.group(1)) if said else []
    if not said or not all(map(_PLAIN_ENTRY.fullmatch, entries)):
        return None
    names = [tuple(_AXIS.findall(entry)) for entry in entries]
    while names and not names[-1]:
        names.pop()
    return PartitionSpec(*names)
