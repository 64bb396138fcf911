"""A block: a run of nodes that is shown as one; and the node of a graph that shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ...annotations import GraphNode, GroupKind, Position
from ..stacks import Frame


@dataclass(slots=True, eq=False)
class Block:
    """A group before it has an id. `items` are numbers of nodes and blocks, in order; `calls` is where its function is
    called; `count` of None is the number of equations in it; it holds `several` calls or one. `times`: so many calls from that place are
    beside each other, 0 where that is not known, None where it is the only one."""

    what: GroupKind
    label: str
    items: list[Item]
    calls: list[Frame] = field(default_factory=list)
    count: int | None = None
    params: dict[str, str] = field(default_factory=dict)
    several: bool = False
    times: int | None = None


Item = int | Block


def leaves(items: Sequence[Item]) -> range:
    """The numbers of the nodes in items, at all depths: items hold nodes that follow each other."""
    return range(_end(items[0], 0), _end(items[-1], -1) + 1)


def _end(item: Item, side: int) -> int:
    while isinstance(item, Block):
        item = item.items[side]
    return item


def trimmed(items: list[Item]) -> list[Item]:
    """The items without groups of fewer than two nodes, and without a group that is the only thing in its group. A level with
    one group that holds everything is that group's level."""
    found = _trimmed(items)
    while len(found) == 1 and isinstance(found[0], Block) and found[0].what in _RUNS:
        found = found[0].items
    return found


_RUNS = ("function", "named scope", "line")


def _trimmed(items: list[Item]) -> list[Item]:
    found: list[Item] = []
    for item in items:
        if isinstance(item, Block) and item.what in _RUNS:
            inner = _trimmed(item.items)
            while len(inner) == 1 and isinstance(inner[0], Block) and inner[0].what in _RUNS:
                inner = inner[0].items
            if len(inner) == 1:
                found += inner
                continue
            item.items = inner
        found.append(item)
    return found


_NONE: list[Any] = []


def group_node(
    ident: str,
    what: GroupKind,
    label: str,
    scope: str | None,
    count: int,
    *,
    size: int = 0,
    positions: list[Position] = _NONE,
    params: dict[str, str] | None = None,
) -> GraphNode:
    """A group as a node; `size` in bytes."""
    return {
        "id": ident,
        "kind": "group",
        "what": what,
        "count": count,
        "label": label,
        "scope": scope,
        "types": _NONE,
        "bytes": size,
        "text": "",
        "params": params or {},
        "paths": _NONE,
        "positions": positions or _NONE,
        "fused_into": None,
    }
