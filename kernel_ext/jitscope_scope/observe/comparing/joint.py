"""Two programs as one graph: what both have stands in it once, the rest says whose it is; and the code of both."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from jitscope.core.jaxpr import Atom, Jaxpr, JaxprEqn, Literal, Var, running, subpath
from jitscope.core.printing import literal_text

from ...annotations import GraphDocument, GraphEdge, GraphNode, NodeKind, NodeMark, SourceDocument, SourceMark
from ..calls import CallTree, root_of
from ..graph import jaxpr_graph
from ..groups.trees import gathered
from ..positions import positions_of
from ..source import source_document
from ..stacks import Stacks
from .aligning import aligned, changed as changed_between
from .shared_groups import Groups, Runs
from .sides import Side


WHOLE = 400
"""Nodes of a graph that is drawn whole; of a larger one, what differs and what is next to it."""
DIFFERENT, AROUND = 120, 120
"""The nodes of a larger graph that differ, and those next to them, at most."""


class JointGraph(NamedTuple):
    """The graph of both, how many equations it leaves out, the code of each (None where there is none), and how many equations of
    both read other operands."""

    graph: GraphDocument
    left_out: int
    sources: tuple[SourceDocument | None, SourceDocument | None]
    rewired: int


def joint_of(
    one: Side, other: Side, pairs: Iterable[tuple[str, str]], changes: Sequence[tuple[str, str]] = ()
) -> JointGraph:
    """Two programs as one graph, from the paths of the equations that both have, and of those that are changed.

    A node is called as in the second program; one that the first has alone has an A in its name. Its `mark` says that it is in the
    first alone (removed), in the second alone (added), in both and reads other operands (rewired), or in both with other types,
    parameters or numbers (changed). An edge that is `gone` is in the first alone.
    """
    pairs = [*pairs, *changes]
    (first, code, runs), (second, other_code, other_runs) = _looked_at(one), _looked_at(other)
    ends = _ends(first["nodes"], second["nodes"], one.captured, other.captured)
    names = _Names({**dict(pairs), **ends}, second["nodes"])
    types = [{node["id"]: node["types"] for node in graph["nodes"]} for graph in (first, second)]
    changed = {path for _, path in changes} | {b for a, b in ends.items() if types[0][a] != types[1][b]}
    before, now = _Operands(one.jaxpr, names).found, _Operands(other.jaxpr, str).found
    rewired = {path for path, operands in now.items() if before.get(path, operands) != operands} - changed
    marks: dict[str, NodeMark] = {**dict.fromkeys(rewired, "rewired"), **dict.fromkeys(changed, "changed")}
    nodes = list(_nodes(first["nodes"], second["nodes"], names, marks))
    nodes = Groups(runs, other_runs, pairs, names).drawn(
        nodes, {names(node["id"]): node["id"] for node in first["nodes"]}
    )
    nodes = _gathered(nodes)
    edges = list(_edges(first["edges"], second["edges"], names, changed))
    kept = _kept(nodes, edges)
    shown = _told_left_out(nodes, kept)
    flows = [edge for edge in edges if edge["from"] in kept and edge["to"] in kept]
    sources = _renamed(code, names, kept), _renamed(other_code, str, kept)
    title = f"{one.title} and {other.title}"
    graph: GraphDocument = {
        "kind": "graph",
        "version": 1,
        "level": "jaxpr",
        "title": title,
        "nodes": shown,
        "edges": flows,
    }
    return JointGraph(graph, _equations(nodes) - _equations(shown), sources, len(rewired))


def _looked_at(side: Side) -> tuple[GraphDocument, SourceDocument | None, Runs]:
    """The graph, the source and the runs of a program."""
    stacks = Stacks()
    graph = jaxpr_graph(side.jaxpr, "", positions_of(side.jaxpr, side.row.cell_of, stacks), groups=False)
    tree = CallTree(side.jaxpr, root_of(side.row.position, side.jaxpr, stacks), stacks)
    return graph, source_document(tree, side.row.cell_of), Runs(side.jaxpr, stacks, side.row.cell_of)


class _Names:
    """What the nodes of the first program are called in the graph of both."""

    def __init__(self, known: Mapping[str, str], second: Sequence[GraphNode]):
        self._known = dict(known)
        self.taken = {node["id"] for node in second}

    def __call__(self, path: str) -> str:
        name = self._known.get(path)
        if name is None:
            outer, slash, last = path.rpartition("/")
            around = self(outer) if outer else ""
            name = f"{around}{slash}{last}"
            of_scope = around in self.taken and name in self.taken and re.fullmatch(r"e\d+", last) is None
            if not of_scope and (not outer or around in self.taken):
                name = re.sub(r"(\d*)$", r"A\1", name, count=1)
            self._known[path] = name
        return name


def _ends(
    first: Sequence[GraphNode], second: Sequence[GraphNode], one: Sequence[Any], other: Sequence[Any]
) -> dict[str, str]:
    """The arguments, captured values and results that two programs share, in their order: those of equal types, and captured values
    that are equal, as far as these are known; then arguments and results of equal shapes."""
    captured = [{f"const{n}": value for n, value in enumerate(each)} for each in (one, other)]
    if not one or not other:
        captured = [{}, {}]
    found: dict[str, str] = {}
    for kind in ("constant", "input", "output"):
        both = [[node for node in nodes if node["kind"] == kind and "/" not in node["id"]] for nodes in (first, second)]
        keys = [
            [(tuple(node["types"]), values.get(node["id"])) for node in nodes] for nodes, values in zip(both, captured)
        ]
        alike = aligned(*keys)
        pairs = alike.pairs
        if kind != "constant":
            mine, theirs = ([_shapes(node["types"]) for node in nodes] for nodes in both)
            pairs = [*pairs, *changed_between(mine, theirs, alike).pairs]
        found |= {both[0][i]["id"]: both[1][j]["id"] for i, j in pairs}
    return found


def _shapes(types: Sequence[str]) -> tuple[str, ...]:
    """`f32[3]` without its dtype."""
    return tuple(one.partition("[")[2] for one in types)


class _Operands:
    """What the equations of a program read, by what both programs call the equations: who gives it and as which result, or a number.
    Values are followed into and out of calls, so that a call alone changes nothing."""

    def __init__(self, jaxpr: Jaxpr, names: Callable[[str], str]):
        self.names = names
        self.found: dict[str, tuple[Any, ...]] = {}
        ends: dict[Var, Any] = {var: names(f"in{n}") for n, var in enumerate(jaxpr.invars)}
        self._walk(jaxpr, "", ends | {var: names(f"const{n}") for n, var in enumerate(jaxpr.constvars)})

    def _walk(self, jaxpr: Jaxpr, prefix: str, known: dict[Var, Any]) -> None:
        for i, eqn in enumerate(jaxpr.eqns):
            path = f"{prefix}e{i}"
            name, operands = self.names(path), [_given(atom, known) for atom in eqn.invars]
            self.found[name] = tuple(operands)
            known.update((var, (name, n)) for n, var in enumerate(eqn.outvars))
            for segment, sub in running(eqn) if eqn.params else ():
                known.update(self._inside(eqn, path, segment, sub.jaxpr, operands))

    def _inside(self, eqn: JaxprEqn, path: str, segment: str, inner: Jaxpr, operands: list[Any]) -> dict[Var, Any]:
        """What the results of an equation are inside of it, if it is a call."""
        is_call, name = _is_call(eqn, inner), self.names(path)
        passed = operands if is_call else [(name, segment, n) for n in range(len(inner.invars))]
        known: dict[Var, Any] = {var: (name, segment, "captured", n) for n, var in enumerate(inner.constvars)}
        known.update(zip(inner.invars, passed))
        self._walk(inner, subpath(path, segment), known)
        return {var: _given(atom, known) for var, atom in zip(eqn.outvars, inner.outvars)} if is_call else {}


def _given(atom: Atom, known: Mapping[Var, Any]) -> Any:
    return literal_text(atom, brief=True) if isinstance(atom, Literal) else known.get(atom)


def _is_call(eqn: JaxprEqn, inner: Jaxpr) -> bool:
    """Whether an equation runs its inner jaxpr once, on its operands."""
    alike = (len(inner.invars), len(inner.outvars)) == (len(eqn.invars), len(eqn.outvars))
    return alike and len(running(eqn)) == 1 and eqn.primitive.name not in ("scan", "while", "cond", "shard_map")


def _nodes(
    first: Sequence[GraphNode], second: Sequence[GraphNode], names: _Names, marks: Mapping[str, NodeMark]
) -> Iterator[GraphNode]:
    """The nodes of both in an order that suits both."""
    ours = {names(node["id"]): node for node in first}
    left = iter(second)
    given: set[str] = set()

    def upto(name: str) -> Iterator[GraphNode]:
        for node in left if name not in given else ():
            given.add(node["id"])
            yield _of_both(ours[node["id"]], node, marks) if node["id"] in ours else _marked(node, "added")
            if node["id"] == name:
                return

    for name, node in ours.items():
        if name in names.taken:
            yield from upto(name)
        else:
            scope = names(node["scope"]) if node["scope"] is not None else None
            paths = [name] if node["paths"] else []
            yield {**_marked(node, "removed"), "id": name, "scope": scope, "paths": paths}
    yield from upto("")


def _gathered(nodes: Sequence[GraphNode]) -> list[GraphNode]:
    """The nodes, of which the arguments and results that both programs have are gathered by their trees."""

    def ends(kind: NodeKind) -> list[GraphNode]:
        return [node for node in nodes if node["kind"] == kind and node["scope"] is None and "mark" not in node]

    inputs, outputs = ends("input"), ends("output")
    held = {node["id"] for node in [*inputs, *outputs]}
    return [
        *gathered(inputs, "in"),
        *(node for node in nodes if node["id"] not in held),
        *gathered(outputs, "out"),
    ]


def _marked(node: GraphNode, mark: NodeMark | None) -> GraphNode:
    """A node without the number of a call, which is another one in the code of both."""
    bare = node.copy()
    bare.pop("call", None)
    return {**bare, "mark": mark} if mark else bare


def _of_both(one: GraphNode, other: GraphNode, marks: Mapping[str, NodeMark]) -> GraphNode:
    text = one["text"] if one["text"] == other["text"] else f"{one['text']}\n{other['text']}"
    positions = [*other["positions"], *(place for place in one["positions"] if place not in other["positions"])]
    return {**_marked(other, marks.get(other["id"])), "text": text, "positions": positions}


def _edges(
    first: Sequence[GraphEdge], second: Sequence[GraphEdge], names: _Names, changed: set[str]
) -> Iterator[GraphEdge]:
    """The edges of both; a value that has only another type flows once."""
    flows = {(edge["from"], edge["to"]) for edge in second}
    there = {(edge["from"], edge["to"], edge["type"]) for edge in second}
    yield from second
    for edge in first:
        key = names(edge["from"]), names(edge["to"]), edge["type"]
        if key not in there and not (key[0] in changed and key[:2] in flows):
            there.add(key)
            yield {**edge, "from": key[0], "to": key[1], "gone": True}


def _kept(nodes: Sequence[GraphNode], edges: Sequence[GraphEdge]) -> set[str]:
    """The names of the nodes that a graph shows."""
    if len(nodes) <= WHOLE:
        return {node["id"] for node in nodes}
    different = {node["id"] for node in [node for node in nodes if "mark" in node][:DIFFERENT]}
    ends = ((edge["from"], edge["to"]) for edge in edges)
    beside = dict.fromkeys(end for pair in ends if not different.isdisjoint(pair) for end in pair)
    kept = different | set([end for end in beside if end not in different][:AROUND])
    scopes = {node["id"]: node["scope"] for node in nodes}
    for name in list(kept):
        while (name := scopes[name]) is not None:
            kept.add(name)
    return kept


def _told_left_out(nodes: Sequence[GraphNode], kept: set[str]) -> list[GraphNode]:
    """The nodes that are kept; those that hold others say how many equations in them are not."""
    scopes, missing = {node["id"]: node["scope"] for node in nodes}, Counter[str]()
    for node in nodes if len(kept) < len(nodes) else ():
        outer = node["scope"] if node["paths"] and node["id"] not in kept else None
        while outer is not None:
            missing[outer] += 1
            outer = scopes[outer]
    shown = (node for node in nodes if node["id"] in kept)
    return [{**node, "left_out": missing[node["id"]]} if node["id"] in missing else node for node in shown]


def _equations(nodes: Sequence[GraphNode]) -> int:
    return sum(bool(node["paths"]) for node in nodes)


def _renamed(source: SourceDocument | None, names: Callable[[str], str], kept: set[str]) -> SourceDocument | None:
    """The code of a program with the equations that are `kept` under the names they have in the graph of both."""
    if source is None:
        return None
    marks: list[SourceMark] = [
        {**mark, "nodes": [n for n in map(names, mark["nodes"]) if n in kept]} for mark in source["marks"]
    ]
    return {**source, "marks": marks}
