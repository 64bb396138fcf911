"""Finer groups of what XLA made, where a level would have too many boxes: by the line that wrote it, else by the kind of operation."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from .lines import MOST
from .names import name_of_operations, shortened_line


if TYPE_CHECKING:
    from jitscope_widgets.documents.graph import GraphNode
    from jitscope_widgets.documents.parts import Position


class Origin(NamedTuple):
    """What operations are grouped by: a group or scope of the jaxpr's graph, a line, or a kind of operation."""

    ident: str
    label: str
    what: str


Chain = tuple[Origin, ...]
"""What is round something, outermost first."""

Split = Callable[["GraphNode"], Origin | None]


def finer(nodes: Sequence[GraphNode], chains: Sequence[Chain], splits: Sequence[Split]) -> list[Chain]:
    """The chains of nodes, longer by what the first of `splits` says where more than 30 boxes are in one group, and by what the next one
    says where that leaves as many. What all of them, or one alone, would have is no group."""
    found = list(chains)
    for split in splits:
        inside: defaultdict[Chain, list[int]] = defaultdict(list)
        groups: defaultdict[Chain, set[Origin]] = defaultdict(set)
        for n, chain in enumerate(found):
            inside[chain].append(n)
            for depth, origin in enumerate(chain):
                groups[chain[:depth]].add(origin)
        for chain, own in inside.items():
            if len(own) + len(groups[chain]) <= MOST:
                continue
            keys = [split(nodes[n]) for n in own]
            counts = Counter(keys)
            if len(counts) > 1 or groups[chain]:
                for n, key in zip(own, keys):
                    if key is not None and counts[key] > 1:
                        found[n] = (*chain, key)
    return found


def by_line(positions: Sequence[Position]) -> Origin | None:
    """The one line of all these positions."""
    if len({(one["file"], one["line"]) for one in positions}) != 1:
        return None
    label = shortened_line(positions[0]["text"])
    return Origin(f"line {positions[0]['line']} {positions[0]['file']}", label, "line") if label else None


def by_kind(node: GraphNode, members: Sequence[GraphNode]) -> Origin | None:
    """What a node does: its operation, or those of a fusion; nothing of a loop or a branch, which hold others."""
    if node["kind"] == "scope":
        return None
    label = "constants" if node["kind"] == "constant" else node["label"]
    done = [member["label"] for member in members if member["kind"] not in ("constant", "input", "output")]
    if done:
        label = f"{label}: {name_of_operations(list(dict.fromkeys(done)))}"
    return Origin(f"kind {label}", label, "operations")
