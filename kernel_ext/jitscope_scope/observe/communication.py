"""What devices exchange in a program over several of them: the collectives of the optimised program, and how arrays lie.

All of it is read from the program that runs; nothing is compiled or run.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from itertools import count, takewhile
from typing import Any

import numpy as np

from jitscope.backend.call_arguments import CallArguments
from jitscope.backend.spreading import chosen
from jitscope.core.errors import Unavailable
from jitscope.core.shardings import NamedSharding
from jitscope.xla import hlo_module
from jitscope.xla.hlo_module import Computation, Instruction
from jitscope.xla.parts import tiles
from jitscope.xla.spread import Spread

from ..annotations import (
    Collective,
    CollectiveKind,
    CollectiveTotal,
    CommunicationDocument,
    GraphDocument,
    GraphNode,
    LaidValue,
    ValueRole,
)
from .communication_times import with_times
from .cost import trips
from .graph import nodes_by_path
from .hlo import COLLECTIVES, SUMS, bytes_of, collective_of, devices_of, types_in
from .hlo_flow import paths_in
from .inner_layouts import Lies
from .ledger import Row
from .memory import names_of
from .sharding import spec_text
from .stacks import backward_paths


MOST = 200
"""Collectives, and arguments and results, that a document holds; how many more there are stands beside them."""

_LISTED = re.compile(r"(?:replica_groups|source_target_pairs)=\{(\{[\d,{}]*\})?\}")
_COUNTED = re.compile(r"replica_groups=\[([\d,]+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?(?=,|$)")
_OF_MESH = re.compile(
    r"replica_groups=mesh\[([^\]]*)\](?:, device_ids=\(\[([\d,]+)\](?:T\(([\d,]+)\))?\))? \{([^}]*)\}(?=,|$)"
)
_MESH_AXIS = re.compile(r"'([^']+)'=(\d+)")
_AXIS = re.compile(r"'([^']+)'")


def instrument(row: Row, given: CallArguments | None = None, measure: bool = False) -> CommunicationDocument:
    """The communication document of a row's program; to `measure` how long collectives take, it is run on the arguments `given`.

    Raises Unavailable where the program is no longer kept, or runs on one device; to measure, what `rerun_of` raises.
    """
    module = hlo_module.optimized(row.needed("entry").executable)
    document = communication_document(row, module, hlo_module.computations(module))
    return with_times(document, row, given) if measure else document


def communication_document(row: Row, module: Any, computations: Sequence[Computation]) -> CommunicationDocument:
    """What the devices of a row's program exchange, from its optimised module. Raises Unavailable for a program of one device."""
    place = getattr(row.entry.executable, "device", None)
    devices = devices_of(module)
    if devices == 1:
        raise Unavailable(f"the program of {row.function} runs on one device: nothing is exchanged")
    mesh = place.mesh if type(place) is Spread else None
    counts = runs_of(computations)
    all_of_it = [
        _collective(i, what, c, counts[c.name], devices, mesh)
        for c in computations
        if c.name in counts
        for i in c.instructions
        if (what := collective_of(i))
    ]
    values = _values(row, computations, place)
    positions = row.positions()
    paths = {path for one in all_of_it for path in one["paths"]}
    return {
        "kind": "communication",
        "version": 1,
        "title": row.title,
        "devices": devices,
        "mesh": [{"name": str(n), "size": s} for n, s in zip(mesh.axis_names, mesh.axis_sizes)] if mesh else [],
        "collectives": all_of_it[:MOST],
        "values": values[:MOST],
        "left_out": {"collectives": max(0, len(all_of_it) - MOST), "values": max(0, len(values) - MOST)},
        "totals": _totals(all_of_it),
        "positions": {path: positions[path] for path in sorted(paths) if path in positions},
        "backward": sorted(paths & backward_paths(row.jaxpr)) if row.jaxpr else [],
    }


def _totals(collectives: Sequence[Collective]) -> list[CollectiveTotal]:
    """By kind: how many there are in the program, how often they run and what a device gives to them in one run of it."""
    totals: list[CollectiveTotal] = []
    for what in COLLECTIVES:
        alike = [one for one in collectives if one["what"] == what]
        counted = [(runs, one["gives"]) for one in alike if (runs := one["runs"]) is not None]
        known = len(counted) == len(alike)
        if alike:
            runs = sum(runs for runs, _ in counted) if known else None
            size = sum(runs * gives for runs, gives in counted) if known else None
            totals.append({"what": what, "count": len(alike), "runs": runs, "gives": size})
    return totals


def _collective(
    i: Instruction, what: CollectiveKind, c: Computation, runs: int | None, devices: int, mesh: Any
) -> Collective:
    types = {other.name: other.type for other in c.instructions}
    given = [kind for name in i.operands for kind in types_in(types.get(name, ""))]
    done = next((o for o in c.instructions if o.opcode == f"{what}-done" and i.name in o.operands), i)
    groups = groups_of(i, devices)
    return {
        "name": i.name,
        "what": what,
        "types": given,
        "gives": sum(map(bytes_of, given)),
        "gets": bytes_of(done.type),
        "groups": groups,
        "axes": axes_of(groups, mesh, what == "collective-permute") if groups is not None and mesh else None,
        "runs": runs,
        "paths": list(_paths(i, c)),
    }


def _paths(i: Instruction, c: Computation) -> tuple[str, ...]:
    """The equations it stems from: by its name; else those of its results; where those have no names, those of what it sums, or of
    what first reads the result: since jaxlib 0.12 many gathers have the name of what they gather, or none."""
    if own := paths_in(i.op_name):
        return own
    parts = [o for o in c.instructions if o.opcode == "get-tuple-element" and o.operands == (i.name,)]
    if not any(part.op_name for part in parts):
        parts = [o for o in c.instructions if o.name in i.operands] if collective_of(i) in SUMS else _readers(i, c)
    return tuple(dict.fromkeys(path for part in parts for path in paths_in(part.op_name)))


def _readers(i: Instruction, c: Computation) -> list[Instruction]:
    """The first instruction with an equation's name to which the result goes."""
    reached = {i.name}
    for o in c.instructions[c.instructions.index(i) + 1 :]:
        if reached.intersection(o.operands):
            if paths_in(o.op_name):
                return [o]
            reached.add(o.name)
    return []


def runs_of(computations: Sequence[Computation]) -> dict[str, int | None]:
    """How often each computation that the entry reaches runs in one run of the program; None where that depends on values."""
    named = {c.name: c for c in computations}
    counts: dict[str, int | None] = {}

    def visit(name: str, times: int | None) -> None:
        before = counts.get(name, 0)
        counts[name] = None if times is None or before is None else before + times
        for i in named[name].instructions:
            if i.opcode == "while":
                n, called = trips(i), dict(i.called)
                visit(called["body"], None if n is None or times is None else n * times)
                visit(called["condition"], None if n is None or times is None else (n + 1) * times)
            elif i.opcode in ("call", "conditional", "async-start"):
                for inner in i.calls:
                    visit(inner, None if i.opcode == "conditional" else times)

    visit(next(c.name for c in computations if c.is_entry), 1)
    return counts


def groups_of(i: Instruction, devices: int) -> list[list[int]] | None:
    """The numbers of the devices that exchange with each other, or (from, to) for each that sends; None where they are not understood."""
    if found := _LISTED.search(i.attributes):
        inside = re.findall(r"\{([\d,]+)\}", found.group(1) or "")
        return [[int(n) for n in group.split(",")] for group in inside] or [list(range(devices))]
    if found := _COUNTED.search(i.attributes):
        shape, sizes, order = found.groups()
        return _numbers(sizes, order).reshape(_whole(shape)).tolist()
    if found := _OF_MESH.search(i.attributes):
        sizes_said, shape, order, along_said = found.groups()
        axes = _MESH_AXIS.findall(sizes_said)
        names, sizes = [name for name, _ in axes], [int(size) for _, size in axes]
        along = _AXIS.findall(along_said)
        plain = along_said == ",".join(f"'{name}'" for name in along)
        if plain and set(along) <= set(names) and int(np.prod(sizes)) == devices and _only_axes(sizes_said, axes):
            numbers = _numbers(shape or str(devices), order).ravel()
            return numbers[np.array(_along(sizes, [names.index(name) for name in along]))].tolist()
    return None


def _whole(text: str) -> list[int]:
    return [int(n) for n in text.split(",")]


def _numbers(sizes: str, order: str | None) -> np.ndarray:
    """The devices' numbers, counted over a grid of these sizes, with its axes in another order."""
    grid = np.arange(int(np.prod(_whole(sizes)))).reshape(_whole(sizes))
    return grid.transpose(_whole(order)) if order else grid


def _only_axes(text: str, axes: Sequence[tuple[str, str]]) -> bool:
    return text == ",".join(f"'{name}'={size}" for name, size in axes)


def _along(sizes: Sequence[int], axes: Sequence[int]) -> list[list[int]]:
    """The groups of a grid's places that differ along these axes alone."""
    rest = [a for a in range(len(sizes)) if a not in axes]
    width = int(np.prod([sizes[a] for a in axes], dtype=int))
    return np.arange(int(np.prod(sizes))).reshape(sizes).transpose([*rest, *axes]).reshape(-1, width).tolist()


def axes_of(groups: Sequence[Sequence[int]], mesh: Any, sends: bool) -> list[str] | None:
    """The axes of a mesh that groups of devices differ along (for `sends`: senders and receivers); None where the groups are not those
    of axes."""
    sizes = list(mesh.axis_sizes)
    places = np.stack(np.unravel_index(np.arange(int(np.prod(sizes))), sizes), axis=1)
    if any(n >= len(places) for group in groups for n in group):
        return None
    differ = [a for a in range(len(sizes)) if any(len(set(places[list(group), a].tolist())) > 1 for group in groups)]
    whole = {frozenset(group) for group in _along(sizes, differ)}
    if not sends and {frozenset(group) for group in groups} != whole:
        return None
    return [str(mesh.axis_names[a]) for a in differ]


def on_graph(
    graph: GraphDocument,
    communication: CommunicationDocument,
    inside: Mapping[str, Lies],
    arguments: Sequence[Lies | None],
) -> None:
    """Say on the nodes of a jaxpr's graph what devices exchange for them, on the edges the bytes that one of them gives for that value,
    and how arguments, results and (`inside`, by path) the values between them lie."""
    nodes = nodes_by_path(graph)
    begins = _ends(nodes, "in")
    known = {**inside, **(dict(zip(begins, arguments)) if len(begins) == len(arguments) else {})}
    for id, lies in known.items():
        if id in nodes and lies is not None:
            _say(nodes[id], "sharding", str(lies))
    for edge in graph["edges"]:
        if (lies := known.get(edge["from"])) is not None:
            edge["type"] = lies.type
    for one in communication["collectives"]:
        among = f" along {', '.join(one['axes'])}" if one["axes"] else ""
        among += f", one for {len(one['paths'])} equations" if len(one["paths"]) > 1 else ""
        runs = "" if one["runs"] == 1 else ", unknown how often" if one["runs"] is None else f", {one['runs']:,} times"
        said = f"{one['what']} of {one['gives']:,} bytes from each device{among}{runs}"
        for node in (nodes[path] for path in one["paths"] if path in nodes):
            before = node["params"].get("devices exchange")
            _say(node, "devices exchange", f"{before}; {said}" if before else said)
            if f"⇄ {one['what']}" not in node["label"]:
                node["label"] += f" ⇄ {one['what']}"
        alone = one["paths"][0] if len(one["paths"]) == 1 else None
        for edge in graph["edges"]:
            if edge["from"] == alone:
                edge["type"] += f" ⇄ {one['gives']:,} B"
    for role, kind in (("argument", "in"), ("result", "out")):
        ends = _ends(nodes, kind)
        laid = [value for value in communication["values"] if value["role"] == role]
        for end, value in zip(ends, laid) if len(ends) == len(laid) else ():
            if value["lies"] is not None:
                _say(nodes[end], "sharding", f"{value['lies']}, {value['part']} on each device")


def _ends(nodes: Container[str], kind: str) -> list[str]:
    """The program's arguments ("in") or results ("out"), in their order, whatever trees they are drawn in."""
    return list(takewhile(nodes.__contains__, (f"{kind}{n}" for n in count())))


def _say(node: GraphNode, what: str, text: str) -> None:
    node["params"] = {**node["params"], what: text}  # nodes may share theirs


# How arrays lie ------------------------------------------------------------------------------------------------------


def _values(row: Row, computations: Sequence[Computation], place: Any) -> list[LaidValue]:
    """How the arguments and results of a program lie, as the program has them; of ours, as they were asked for, too."""
    if type(place) is not Spread:
        return _values_of_library(row, computations)
    entry = next(c for c in computations if c.is_entry)
    names, executable = names_of(row), row.entry.executable
    parameters = sorted((i for i in entry.instructions if i.opcode == "parameter"), key=lambda i: int(i.literal))
    found = []
    laid = executable.raw.get_parameter_shardings() or [None] * len(parameters)
    for i, proto, aval, asked, (_, name) in zip(parameters, laid, row.entry.argument_avals, place.ins, names.arguments):
        lies = None if proto is None else chosen(proto, aval.shape, place.group, place.mesh)
        found.append(_value("argument", name, aval.short(), asked, lies, i.type))
    parts = types_in(entry.root.type)
    avals = [v.aval for v in row.jaxpr.outvars] if row.jaxpr else []
    if len(parts) == len(executable.layouts) == len(avals):
        for n, (aval, asked, lies, kind) in enumerate(zip(avals, place.outs, executable.layouts, parts)):
            name = names.results[n] if n < len(names.results) else f"result {n}"
            found.append(_value("result", name, aval.short(), asked, lies, kind))
    return found


def _values_of_library(row: Row, computations: Sequence[Computation]) -> list[LaidValue]:
    """The same of another library's program, from what each device has of them in XLA's program."""
    if row.jaxpr is None:
        return []
    entry = next(c for c in computations if c.is_entry)
    parameters = sorted((i for i in entry.instructions if i.opcode == "parameter"), key=lambda i: int(i.literal))
    names = names_of(row)
    arguments = [(name, aval) for (_, name), aval in zip(names.arguments, row.entry.argument_avals)]
    results = [(name, v.aval) for name, v in zip(names.results, row.jaxpr.outvars)]
    taken, given = [i.type for i in parameters], types_in(entry.root.type)
    found: list[LaidValue] = []
    if len(arguments) == len(taken):
        found += [_divided("argument", *value, part) for value, part in zip(arguments, taken)]
    if len(results) == len(given):
        found += [_divided("result", *value, part) for value, part in zip(results, given)]
    return found


def _divided(role: ValueRole, name: str, aval: Any, part: str) -> LaidValue:
    sizes = [int(n) for n in re.findall(r"\d+", part.partition("[")[2].partition("]")[0])]
    split = [f"axis {n}" for n, (whole, mine) in enumerate(zip(aval.shape, sizes)) if whole != mine]
    said = f"{' and '.join(split)} in parts" if split else "whole on each device"
    return {**_value(role, name, aval.short(), None, None, part), "lies": said, "asked_known": False}


def _value(role: ValueRole, name: str, kind: str, asked: Any, lies: Any, part: str) -> LaidValue:
    return {
        "role": role,
        "name": name,
        "type": kind,
        "asked": None if asked is None else _said(asked),
        "lies": None if lies is None else _said(lies),
        "differs": asked is not None and lies is not None and _tiles(asked) != _tiles(lies),
        "part": part,
        "bytes": bytes_of(part),
    }


def _said(layout: Any) -> str:
    """A layout in the words of its user: the spec."""
    if isinstance(layout.said, NamedSharding):
        return spec_text(layout.said.spec)
    return "P()" if str(layout.hlo) == "{replicated}" else str(layout.hlo)


def _tiles(layout: Any) -> Any:
    found = tiles(layout.hlo.to_proto())
    if found is None:
        return None
    # Copies of a part may be numbered in any order.
    return found[0], np.sort(found[1], -1).tolist()
