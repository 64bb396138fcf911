"""An order in which values flow, and what is of one origin comes together."""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Mapping, Sequence

from ...annotations import GraphEdge, GraphNode


def readers_beside(nodes: Sequence[GraphNode], edges: Sequence[GraphEdge]) -> dict[str, set[str]]:
    """Which nodes of its own scope read what a node, or something in it, gives: themselves, or by something in them."""
    scope = {node["id"]: node["scope"] for node in nodes}
    around: dict[str, list[str]] = {}

    def way(node: str) -> list[str]:
        """The scopes round a node, outermost first, and the node."""
        if node not in around:
            outer = scope[node]
            around[node] = [*(() if outer is None else way(outer)), node]
        return around[node]

    found: dict[str, set[str]] = {}
    for edge in edges:
        giver, reader = next(((a, b) for a, b in zip(way(edge["from"]), way(edge["to"])) if a != b), (None, None))
        if giver is not None and reader is not None:
            found.setdefault(giver, set()).add(reader)
    return found


def together(
    nodes: Sequence[str], chains: Sequence[tuple[Hashable, ...]], readers: Mapping[str, set[str]]
) -> list[int]:
    """The numbers of nodes in an order in which values flow: after each, one that can come and shares most of its chain, of these the first
    of the given order."""
    number = {node: n for n, node in enumerate(nodes)}
    after = [[number[r] for r in readers.get(node, ()) if r in number] for node in nodes]
    missing = [0] * len(nodes)
    for inside in after:
        for n in inside:
            missing[n] += 1
    ready: dict[tuple[Hashable, ...], list[int]] = {}
    for n, count in enumerate(missing):
        if not count:
            ready.setdefault(chains[n], []).append(n)
    found: list[int] = []
    chain: tuple[Hashable, ...] = ()
    while ready:
        if chain not in ready:
            chain = max(ready, key=lambda other: (_shared(chain, other), -ready[other][0]))
        n = heapq.heappop(ready[chain])
        if not ready[chain]:
            del ready[chain]
        found.append(n)
        for reader in after[n]:
            missing[reader] -= 1
            if not missing[reader]:
                heapq.heappush(ready.setdefault(chains[reader], []), reader)
    return found if len(found) == len(nodes) else list(range(len(nodes)))


def _shared(one: Sequence[Hashable], other: Sequence[Hashable]) -> int:
    return next((n for n, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))
