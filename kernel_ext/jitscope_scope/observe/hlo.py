"""HLO modules as graph documents."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, cast

from jitscope.core.words import cut
from jitscope.xla import hlo_module
from jitscope.xla.hlo_module import Computation, Instruction

from ..annotations import CollectiveKind, GraphDocument, GraphEdge, GraphNode, NodeKind, Position
from .groups.kernels import Origins, grouped_operations
from .hlo_flow import FREE, Flow, Op, paths_in


_ARRAY = re.compile(r"\b(pred|token|opaque|[a-z]+\d+\w*)\[([^\]]*)\]")
_BITS = re.compile(r"\d+")
_NUMBER = re.compile(r"\.\d+$")
_LONGEST = 300

COLLECTIVES: tuple[CollectiveKind, ...] = (
    "all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute", "collective-broadcast",
    "ragged-all-to-all",
)  # fmt: skip
SUMS = ("all-reduce", "reduce-scatter")
"""Collectives that put together what devices computed parts of."""


class Ends(NamedTuple):
    """What the arguments and the results of a program are called, by its own numbers, as far as that is known."""

    arguments: Sequence[str] = ()
    results: Sequence[str] = ()


def graph_of(
    flow: Flow,
    computations: Sequence[Computation],
    title: str,
    positions: Mapping[str, Position],
    fused_into: Mapping[str, str],
    ends: Ends,
    origins: Origins | None = None,
) -> GraphDocument:
    """The graph document of a module, whose flow it is given.

    Entry parameters are inputs, results are outputs; fusions, loops, branches and calls are scopes round what they hold; a kernel
    of a single operation is one node. `positions` gives the source position of each equation's path, `fused_into`, by node id, the
    kernel that took a node in, `origins` the groups that the equations are in.
    """
    roots, origins = {c.name: c.root.opcode for c in computations}, origins or Origins()
    nodes = [_node(op, roots, positions, fused_into.get(op.id), ends.arguments) for op in flow.ops]
    for op, node in zip(flow.ops, nodes):
        node["label"] = origins.loop(op.opcode, op.paths) or node["label"]
    _name_calls(flow, nodes)
    edges = [_edge(source, op.id, kind) for op in flow.ops for source, kind in op.sources]
    for number, sources in enumerate(flow.results):
        label = ends.results[number] if len(ends.results) == len(flow.results) else f"result {number}"
        nodes.append(_output(number, label, sources))
        edges += [_edge(source, f"out{number}", kind) for source, kind in sources]
    nodes = grouped_operations(nodes, edges, origins)
    return {"kind": "graph", "version": 1, "level": "hlo", "title": title, "nodes": nodes, "edges": edges}


def _name_calls(flow: Flow, nodes: Sequence[GraphNode]) -> None:
    """A call of one operation (XLA makes such of small loops, and a name with a number for them) is called by that."""
    inside: dict[str | None, list[GraphNode]] = {}
    for op, node in zip(flow.ops, nodes):
        inside.setdefault(op.scope, []).append(node)
    for op, node in zip(flow.ops, nodes):
        if op.opcode == "call" and len(own := inside.get(op.id, ())) == 1:
            node["label"] = f"call of {own[0]['label']}"


def collective_of(i: Instruction) -> CollectiveKind | None:
    """The kind of collective that an instruction is, or begins."""
    name = i.opcode.removesuffix("-start")
    return cast("CollectiveKind", name) if name in COLLECTIVES else None


def types_in(kind: str) -> list[str]:
    """The array types in a printed type: itself, or those of a tuple."""
    return [found.group() for found in _ARRAY.finditer(kind)]


@functools.lru_cache(4096)
def bytes_of(kind: str) -> int:
    """The bytes a value of a printed type takes on the device."""
    return sum(_array_bytes(found.group(1), found.group(2)) for found in _ARRAY.finditer(kind))


def _array_bytes(element: str, shape: str) -> int:
    if element in ("token", "opaque"):
        return 0
    bits = 8 if element == "pred" else int(_BITS.search(element).group())  # type: ignore[union-attr]
    return math.ceil(math.prod(int(n.lstrip("<= ")) for n in shape.split(",") if n) * bits / 8)


def text_of(i: Instruction) -> str:
    """An instruction's line without metadata and backend configuration, cut when very long."""
    inside = i.literal or ", ".join(i.operands)
    line = f"{i.name} = {i.type} {i.opcode}({inside})" + (f", {i.attributes}" if i.attributes else "")
    return shortened(("ROOT " if i.is_root else "") + line)


def shortened(text: str) -> str:
    """The text, or its beginning when it is very long."""
    return cut(text, _LONGEST)


def positions_of(paths: Collection[str], positions: Mapping[str, Position]) -> list[Position]:
    """The positions of the equations with these paths, each once."""
    found: list[Position] = []
    for path in paths:
        position = positions.get(path)
        if position is not None and position not in found:
            found.append(position)
    return found


def _node(
    op: Op,
    roots: Mapping[str, str],
    positions: Mapping[str, Position],
    fused_into: str | None,
    arguments: Sequence[str],
) -> GraphNode:
    i = op.instruction
    return {
        "id": op.id,
        "kind": _kind(op),
        "label": _label(op, arguments),
        "scope": op.scope,
        "types": types_in(i.type),
        "bytes": bytes_of(i.type),
        "text": text_of(i),
        "params": _params(op.does, roots),
        "paths": list(op.paths),
        "positions": positions_of(op.paths, positions),
        "fused_into": fused_into,
    }


def _output(number: int, label: str, sources: Sequence[tuple[str, str]]) -> GraphNode:
    kinds = [kind for _, kind in sources[:1]]
    return {
        "id": f"out{number}",
        "kind": "output",
        "label": label,
        "scope": None,
        "types": kinds,
        "bytes": sum(map(bytes_of, kinds)),
        "text": "",
        "params": {},
        "paths": [],
        "positions": [],
        "fused_into": None,
    }


def _edge(source: str, target: str, kind: str) -> GraphEdge:
    return {"from": source, "to": target, "type": kind, "bytes": bytes_of(kind)}


def _kind(op: Op) -> NodeKind:
    if op.is_input:
        return "input"
    if op.is_scope:
        return "scope"
    if op.opcode == "constant":
        return "constant"
    if op.is_library:
        return "library"
    return "fusion" if op.is_group else "instruction"


def parameter_name(i: Instruction, arguments: Sequence[str] = ()) -> str:
    """What an argument of the program is called: `params['w']`; XLA writes it as the name of the operation, or it is that of `arguments`."""
    named = i.op_name if i.op_name and not paths_in(i.op_name) else None
    known = arguments[int(i.literal)] if i.literal.isdecimal() and int(i.literal) < len(arguments) else None
    return named or known or f"parameter {i.literal}"


def routine_of(i: Instruction) -> str:
    """What a custom call calls."""
    return shortened(i.custom_call_target or "custom-call")


def _label(op: Op, arguments: Sequence[str]) -> str:
    i = op.does
    if op.is_input:
        return parameter_name(i, arguments)
    if i.opcode == "constant":
        return i.literal if len(i.literal) <= 12 else "constant"
    if i.opcode == "custom-call":
        return routine_of(i)
    if i.opcode == "call":
        return _NUMBER.sub("", i.calls[0])
    return "library call" if op.is_group and op.is_library else i.opcode


def _params(i: Instruction, roots: Mapping[str, str]) -> dict[str, str]:
    pairs = [part.partition("=") for part in _comma_separated(i.attributes)]
    hidden = {role for role, _ in i.called} | {"custom_call_target"}
    params = {key: shortened(value) for key, _, value in pairs if key not in hidden}
    applied = [roots[name] for role, name in i.called if role in ("to_apply", "select", "scatter") and name in roots]
    if applied and i.opcode != "call":
        params["applies"] = ", ".join(applied)
    if i.opcode in FREE:
        params["cost"] = "none: the same bytes seen in another shape"
    return params


def _comma_separated(attributes: str) -> list[str]:
    return [part for part in re.split(r", (?=[a-z_]+=)", attributes) if part]


def devices_of(module: Any) -> int:
    """On how many devices an optimised program runs: each does what it says."""
    found = _PARTITIONS.search(hlo_module.text(module).partition("\n")[0])
    return int(found.group(1)) if found else 1


_PARTITIONS = re.compile(r"num_partitions=(\d+)")
