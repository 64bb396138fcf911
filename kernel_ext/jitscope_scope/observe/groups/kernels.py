"""What XLA made of a program in the groups of the equations it stems from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

from .blocks import group_node
from .order import readers_beside, together
from .trees import gathered


if TYPE_CHECKING:
    from jitscope_widgets.documents.graph import GraphDocument, GraphEdge, GraphNode, GroupKind


class Origin(NamedTuple):
    """A group or scope of the jaxpr's graph."""

    ident: str
    label: str
    what: str


class Origins:
    """The groups and scopes round the equations of a jaxpr's graph, by path, outermost first."""

    def __init__(self, graph: GraphDocument | None = None):
        self.chains: dict[str, tuple[Origin, ...]] = {}
        self.nodes: dict[str, GraphNode] = {}
        around: dict[str | None, tuple[Origin, ...]] = {None: ()}
        for node in graph["nodes"] if graph else ():
            chain = around.get(node["scope"], ())
            if node["kind"] in ("group", "scope"):
                around[node["id"]] = (*chain, Origin(node["id"], node["label"], node.get("what", "function")))
                self.nodes[node["id"]] = node
            for path in node["paths"]:
                self.chains[path] = chain

    def around(self, paths: Iterable[str]) -> tuple[Origin, ...]:
        """What is round all equations with these paths; nothing where one of them is not known."""
        return _common([self.chains.get(path, ()) for path in paths])

    def inside(self, paths: Sequence[str]) -> tuple[Origin, ...]:
        """What is round all in a loop, branch or call that stems from these paths: what is round these, and the scope that they are."""
        nodes = [self.nodes[path] for path in paths[:1] if len(paths) == 1 and path in self.nodes]
        own = tuple(Origin(node["id"], node["label"], node.get("what", "function")) for node in nodes)
        return (*self.around(paths), *own)


def _common(chains: Sequence[tuple[Origin, ...]]) -> tuple[Origin, ...]:
    """The beginning that all chains share."""
    if not chains:
        return ()
    first, last = min(chains), max(chains)
    length = next((i for i, (a, b) in enumerate(zip(first, last)) if a != b), min(len(first), len(last)))
    return first[:length]


def _after(known: tuple[Origin, ...], chain: tuple[Origin, ...]) -> tuple[Origin, ...]:
    """A chain without what is known to be round it."""
    return chain[len(_common([known, chain])) :]


def grouped_operations(nodes: Sequence[GraphNode], edges: Sequence[GraphEdge], origins: Origins) -> list[GraphNode]:
    """The nodes of an HLO graph with groups: arguments and results by their trees, operations by the groups of their origin. Those of one
    origin come one after the other, as far as values flow so."""
    return _Writer(nodes, edges, origins).written()


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

    def scope(self, scope: str | None, known: tuple[Origin, ...] = ()) -> None:
        """`known` is round the scope already, and no group again in it."""
        nodes = self.inside.get(scope, [])
        inputs, outputs = ([n for n in nodes if n["kind"] == kind] for kind in ("input", "output"))
        own = [n for n in nodes if n["kind"] not in ("input", "output")]
        self.out += gathered(inputs, "in", scope) if scope is None else inputs
        chains = [_after(known, self.origins.around(self._paths(n))) for n in own]
        order = together([n["id"] for n in own], chains, self.readers)
        own, chains = [own[n] for n in order], [chains[n] for n in order]
        told = [c for n, c in zip(own, chains) if n["kind"] != "constant"]
        self._runs(own, chains, 0, len(own), len(_common(told)), scope)
        self.out += gathered(outputs, "out", scope) if scope is None else outputs

    def _paths(self, node: GraphNode) -> set[str]:
        return {*node["paths"], *(p for member in self.inside.get(node["id"], ()) for p in self._paths(member))}

    def _runs(
        self,
        nodes: list[GraphNode],
        chains: list[tuple[Origin, ...]],
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
                self._runs(nodes, chains, at, after, depth + 1, self._group(key[0], after - at, scope))
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

    def _group(self, origin: Origin, count: int, scope: str | None) -> str:
        while (ident := f"g{self.number}") in self.taken:
            self.number += 1
        self.number += 1
        what = cast("GroupKind", origin.what) if origin.what in ("named scope", "line") else "function"
        positions = self.origins.nodes[origin.ident]["positions"]
        self.out.append(group_node(ident, what, origin.label, scope, count, positions=positions))
        return ident
