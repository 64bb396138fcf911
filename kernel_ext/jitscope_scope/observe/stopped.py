"""An error while tracing as a document: the program up to the operation that failed, and the way from the arguments to it."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from jitscope.core.effects import no_effects
from jitscope.core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn
from jitscope.core.primitive import Primitive
from jitscope.core.source import Position
from jitscope.core.unfinished_traces import UnfinishedTrace, unfinished
from jitscope.core.words import cut

from ..annotations import Fix, GraphDocument, Position as PositionDocument, StepKind, StoppedDocument, StoppedStep
from ..source_code.places import path_at
from ..source_code.rewrites import within
from .graph import jaxpr_graph, nodes_by_path
from .positions import CellOf, no_cell, position_document, positions_of, sendable
from .stacks import is_installed


class _FailedOperation(Primitive):
    """Stands for the operation that failed."""


stopped_p = _FailedOperation("stopped")


def stopped_document(
    error: BaseException, cell_of: CellOf = no_cell, fixes: Sequence[Fix] = ()
) -> StoppedDocument | None:
    """The document of an error that ended a trace at an operation on traced values; None for others."""
    traces = unfinished(error)
    if not traces or not traces[0].guilty or not traces[0].in_library:
        return None
    jaxpr, paths = _program(traces)
    positions = positions_of(jaxpr, cell_of)
    for path, trace in zip(paths, traces):
        where = position_document(trace.where, cell_of)
        if where is not None:
            positions[path] = where
    name = sendable(traces[-1].debug.name or "the function")
    graph = jaxpr_graph(jaxpr, f"{name}, up to the error", positions, cell_of)
    asked = _asked(traces[0].where)
    nodes = nodes_by_path(graph)
    for path, trace in zip(paths, traces):
        node = nodes[path]
        node["types"], node["bytes"], node["params"], node["text"] = [], 0, {}, ""
        inner = traces[traces.index(trace) - 1] if trace is not traces[0] else None
        node["label"] = sendable(
            f"✕ {asked}" if inner is None else f"{inner.debug.name or 'a function'}, up to the error"
        )
    stop = nodes[paths[0]]["id"]
    nodes[stop]["mark"] = "stop"
    on_path = _way(graph, stop)
    for node in graph["nodes"]:
        if node["id"] in on_path:
            node["mark"] = "path"
    return {
        "kind": "stopped",
        "version": 1,
        "function": name,
        "asked": sendable(asked),
        "graph": graph,
        "stop": stop,
        "steps": _steps(graph, on_path, stop, sendable(asked)),
        "left_out": sum(trace.left_out for trace in traces),
        "fixes": list(fixes),
    }


def _program(traces: list[UnfinishedTrace]) -> tuple[Jaxpr, list[str]]:
    """The traces as one program, each inside the operation of the outer one that it belongs to; the paths of the operations that
    failed, the innermost first."""
    inner: Jaxpr | None = None
    paths: list[str] = []
    for trace in traces:
        params = {} if inner is None else {"jaxpr": ClosedJaxpr(inner)}
        last = JaxprEqn(list(trace.guilty), [], stopped_p, params, no_effects)
        own = f"e{len(trace.eqns)}"
        paths = [f"{own}/{path}" for path in paths] + [own]
        constants = trace.constvars if trace is traces[-1] else []
        inner = Jaxpr(constants, trace.invars, [], [*trace.eqns, last], no_effects, trace.debug)
    assert inner is not None
    return inner, paths


def _asked(where: Position | None) -> str:
    """The construct that failed, as it is written: `if x > 0`."""
    if where is None:
        return "the operation that failed"
    path = path_at(where)
    inner = path[0] if path else None
    for node in path:
        match node:
            case ast.If(test=test) | ast.While(test=test) if node is inner or within(inner, test):
                return _short(f"{'if' if isinstance(node, ast.If) else 'while'} {ast.unparse(test)}")
            case ast.For(target=target, iter=iterated) if within(inner, iterated):
                return _short(f"for {ast.unparse(target)} in {ast.unparse(iterated)}")
            case ast.stmt():
                break
    return _short(ast.unparse(inner) if inner is not None else where.text.strip())


def _short(text: str) -> str:
    return cut(" ".join(text.split()), 60)


def _way(graph: GraphDocument, stop: str) -> set[str]:
    """The nodes that the failing operation depends on."""
    before: dict[str, list[str]] = {}
    for edge in graph["edges"]:
        before.setdefault(edge["to"], []).append(edge["from"])
    scopes = {node["id"]: node["scope"] for node in graph["nodes"]}
    kinds = {node["id"]: node["kind"] for node in graph["nodes"]}
    found: set[str] = set()
    todo = list(before.get(stop, ()))
    while todo:
        node = todo.pop()
        if node in found:
            continue
        found.add(node)
        todo += before.get(node, ())
        scope = scopes[node]
        if kinds[node] == "input" and scope is not None and node not in before:
            todo += before.get(scope, ())  # what the call was given that holds it
    return found - {stop}


def _steps(graph: GraphDocument, on_path: set[str], stop: str, asked: str) -> list[StoppedStep]:
    """The way in words, one step for each argument and line."""
    steps: list[StoppedStep] = []
    (last,) = [node for node in graph["nodes"] if node["id"] == stop]
    end = next(iter(last["positions"]), None)
    trees = {None, *(node["id"] for node in graph["nodes"] if node["kind"] == "group" and node["scope"] is None)}
    for node in [*(node for node in graph["nodes"] if node["id"] in on_path), last]:
        position = next(iter(node["positions"]), None)
        at_end = node is not last and _same_line(position, end)
        if at_end or (node["kind"] in _ARGUMENTS and node["scope"] not in trees):
            continue
        kind: StepKind = "stop" if node["id"] == stop else "argument" if node["kind"] in _ARGUMENTS else "line"
        if kind == "line" and _is_librarys(position) and not _is_librarys(end):
            continue  # a library that calls the user's function traces its own code round it
        if kind == "argument":
            text = f"{node['label']}: {', '.join(node['types'])}"
        else:
            text = asked if kind == "stop" else node["label"] if position is None else position["text"].strip()
        step: StoppedStep = {"kind": kind, "text": text, "position": position, "nodes": [node["id"]]}
        same = next((s for s in steps if kind == s["kind"] == "line" and _same_line(s["position"], position)), None)
        if same is not None:
            same["nodes"].append(node["id"])
        else:
            steps.append(step)
    return steps


_ARGUMENTS = ("input", "constant")


def _is_librarys(position: PositionDocument | None) -> bool:
    return position is not None and is_installed(position["file"])


def _same_line(one: PositionDocument | None, other: PositionDocument | None) -> bool:
    return one is not None and other is not None and _line(one) == _line(other)


def _line(position: PositionDocument) -> tuple[str, int]:
    return position["file"], position["line"]
