"""What XLA made of a program in the groups of the equations it stems from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, cast

from ...annotations import GraphDocument, GraphEdge, GraphNode, GroupKind
from .blocks import group_node
from .lines import MOST
from .order import readers_beside, together
from .trees import gathered


class Origin(NamedTuple):
    """A group or scope of the jaxpr's graph."""

    ident: str
    label: str
    what: str


def block_labels(graph: GraphDocument) -> dict[str, str]:
    """What the groups and scopes of a jaxpr's graph are called among others, by id: of what a function was compiled to apart, and of a named
    scope, the backward pass is told from itself."""
    nodes = {node["id"]: node for node in graph["nodes"]}
    forward = set[str]()
    for node in graph["nodes"]:
        scope = node["scope"] if node["kind"] in ("equation", "scope") and not _is_backward(node) else None
        while scope is not None and scope not in forward and nodes[scope]["kind"] == "group":
            forward.add(scope)
            scope = nodes[scope]["scope"]
    found: dict[str, str] = {}
    for ident, node in nodes.items():
        named = node.get("what") == "named scope" and ident not in forward
        backward = named or (node["kind"] == "scope" and _is_backward(node))
        found[ident] = f"{node['label']} (backward)" if backward else node["label"]
    return found


def _is_backward(node: GraphNode) -> bool:
    return "transpose" in node.get("transforms", ())


Chain = tuple[Origin, ...]
"""What is round something, outermost first."""


class Origins:
    """The groups and scopes round the equations of a jaxpr's graph, by path, outermost first."""

    def __init__(self, graph: GraphDocument | None = None):
        self.chains: dict[str, Chain] = {}
        self.nodes: dict[str, GraphNode] = {}
        self.labels: dict[str, str] = {}
        around: dict[str | None, Chain] = {None: ()}
        self.called = block_labels(graph) if graph else {}
        for node in graph["nodes"] if graph else ():
            chain = around.get(node["scope"], ())
            if node["kind"] in ("group", "scope"):
                around[node["id"]] = (*chain, Origin(node["id"], self.called[node["id"]], node.get("what", "function")))
                self.nodes[node["id"]] = node
            for path in node["paths"]:
                self.chains[path] = chain
                self.labels[path] = node["label"]

    def loop(self, opcode: str, paths: Sequence[str]) -> str | None:
        """What a loop of XLA's is called that stems from these paths: `while of scan × 40`, by the equation that all of them are, or are in.
        None of what is no loop, and where there are several such equations, none is known, or it is a `while` itself."""
        if opcode != "while":
            return None
        outermost = min(paths, key=len, default="")
        inside = all(path == outermost or path.startswith(f"{outermost}/") for path in paths)
        equation = self.labels.get(outermost) if inside else None
        return f"while of {equation}" if equation not in (None, "while") else None

    def around(self, paths: Iterable[str]) -> Chain:
        """What is round all equations with these paths; nothing where one of them is not known."""
        return _common([self.chains.get(path, ()) for path in paths])

    def inside(self, paths: Sequence[str]) -> Chain:
        """What is round all in a loop, branch or call that stems from these paths: what is round these, and the scope that they are."""
        nodes = [self.nodes[path] for path in paths[:1] if len(paths) == 1 and path in self.nodes]
        own = tuple(Origin(node["id"], self.called[node["id"]], node.get("what", "function")) for node in nodes)
        return (*self.around(paths), *own)


def _common(chains: Sequence[Chain]) -> Chain:
    """The beginning that all chains share."""
    if not chains:
        return ()
    first, last = min(chains), max(chains)
    length = next((i for i, (a, b) in enumerate(zip(first, last)) if a != b), min(len(first), len(last)))
    return first[:length]


def _after(known: Chain, chain: Chain) -> Chain:
    """A chain without what is known to be round it."""
    return chain[len(_common([known, chain])) :]


def grouped_operations(nodes: Sequence[GraphNode], edges: Sequence[GraphEdge], origins: Origins) -> list[GraphNode]:
    """The nodes of an HLO graph with groups: arguments and results by their trees, operations by the groups of their origin. Those of one
    origin come one after the other, as far as values flow so. In a long level, a kernel of several origins is where its last operation is, and
    what has no origin is where it is read."""
    return _Writer(nodes, edges, origins).written()


class _Placed(NamedTuple):
    """The nodes of a scope in their order, with what is round each; so many of that are round all of them."""

    nodes: list[GraphNode]
    chains: list[Chain]
    depth: int

    def boxes(self) -> int:
        """How many boxes they are, with one for those that follow each other in one group."""
        keys = [chain[self.depth : self.depth + 1] for chain in self.chains]
        return sum(not key or key != before for key, before in zip(keys, [(), *keys]))


class _Writer:
    def __init__(self, nodes: Sequence[GraphNode], edges: Sequence[GraphEdge], origins: Origins):
        self.origins = origins
        self.readers = readers_beside(nodes, edges)
        self.inside: dict[str | None, list[GraphNode]] = {}
        for node in nodes:
            self.inside.setdefault(node["scope"], []).append(node)
        self.taken = {node["id"] for node in nodes}
        self.out: list[GraphNode] = []
        self.number = 0

    def written(self) -> list[GraphNode]:
        self.scope(None)
        return self.out

    def scope(self, scope: str | None, known: Chain = ()) -> None:
        """`known` is round the scope already, and no group again in it."""
        nodes = self.inside.get(scope, [])
        inputs, outputs = ([n for n in nodes if n["kind"] == kind] for kind in ("input", "output"))
        own = [n for n in nodes if n["kind"] not in ("input", "output")]
        self.out += gathered(inputs, "in", scope) if scope is None else inputs
        placed = self._ordered(own, [_after(known, self.origins.around(self._paths(n))) for n in own])
        if placed.boxes() > MOST:
            placed = self._ordered(own, self._by_results(own, known))
        self._runs(placed.nodes, placed.chains, 0, len(own), placed.depth, scope)
        self.out += gathered(outputs, "out", scope) if scope is None else outputs

    def _ordered(self, nodes: list[GraphNode], chains: list[Chain]) -> _Placed:
        order = together([node["id"] for node in nodes], chains, self.readers)
        nodes, chains = [nodes[n] for n in order], [chains[n] for n in order]
        told = [chain for node, chain in zip(nodes, chains) if node["kind"] != "constant"]
        return _Placed(nodes, chains, len(_common(told)))

    def _by_results(self, nodes: list[GraphNode], known: Chain) -> list[Chain]:
        """What is round each node: of a kernel, round its last operation; of what has no origin, round all that reads it, or the first."""
        ids = [node["id"] for node in nodes]
        order = together(ids, [()] * len(ids), self.readers)
        places = {ids[n]: place for place, n in enumerate(order)}
        found: dict[str, Chain] = {}
        for n in reversed(order):
            if self._paths(nodes[n]):
                found[ids[n]] = _after(known, self._of_result(nodes[n]))
            else:
                readers = sorted((one for one in self.readers.get(ids[n], ()) if one in found), key=places.__getitem__)
                read = [found[reader] for reader in readers]
                found[ids[n]] = _common(read) or next(iter(read), ())
        return [found[ident] for ident in ids]

    def _of_result(self, node: GraphNode) -> Chain:
        members = self.inside.get(node["id"], ()) if node["kind"] != "scope" else ()
        of_members = (self.origins.around(self._paths(member)) for member in reversed(members))
        return next(filter(None, of_members), None) or self.origins.around(self._paths(node))

    def _paths(self, node: GraphNode) -> set[str]:
        return {*node["paths"], *(p for member in self.inside.get(node["id"], ()) for p in self._paths(member))}

    def _runs(
        self,
        nodes: list[GraphNode],
        chains: list[Chain],
        start: int,
        end: int,
        depth: int,
        scope: str | None,
    ) -> None:
        at = start
        while at < end:
            key = chains[at][depth : depth + 1]
            after = at + 1
            while key and after < end and chains[after][depth : depth + 1] == key:
                after += 1
            if not key:
                self._leaf(nodes[at], scope)
            elif after - at == 1 or (start, end) == (at, after):
                self._runs(nodes, chains, at, after, depth + 1, scope)
            else:
                self._runs(nodes, chains, at, after, depth + 1, self._group(key[0], nodes[at:after], scope))
            at = after

    def _leaf(self, node: GraphNode, scope: str | None) -> None:
        node["scope"] = scope
        self.out.append(node)
        if node["kind"] == "scope":
            self.scope(node["id"], self.origins.inside(node["paths"]))
        else:
            self._members(node)

    def _members(self, node: GraphNode) -> None:
        for member in self.inside.get(node["id"], ()):
            self.out.append(member)
            self._members(member)

    def _group(self, origin: Origin, nodes: Sequence[GraphNode], scope: str | None) -> str:
        while (ident := f"g{self.number}") in self.taken:
            self.number += 1
        self.number += 1
        what = cast("GroupKind", origin.what) if origin.what in ("named scope", "line") else "function"
        positions = self.origins.nodes[origin.ident]["positions"]
        group = group_node(ident, what, origin.label, scope, len(nodes), positions=positions)
        if others := self._others(origin, nodes):
            group["others"] = others
        self.out.append(group)
        return ident

    def _others(self, origin: Origin, nodes: Sequence[GraphNode]) -> list[str]:
        """The paths of the equations in nodes that are not in a group, or scope, of the jaxpr's graph."""
        chains = self.origins.chains
        paths = set().union(*map(self._paths, nodes))
        return sorted(p for p in paths if p != origin.ident and origin not in chains.get(p, (origin,)))
