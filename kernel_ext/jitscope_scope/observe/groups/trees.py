"""Arguments, constants and results gathered by the trees they are leaves of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ...annotations import GraphNode
from .blocks import group_node


_PART = re.compile(r"""\[(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\[\]]*)\]|\.[^\W\d]\w*""")
FEW_RESULTS = 8
"""A tuple of at most so many results has no group of its own: each result has its tree."""


def parts_of(label: str) -> list[str]:
    """`params['layers'][3].w` as ["params", "['layers']", "[3]", ".w"]; what is no such path is one part. What a module holds after a call
    is the tree `new model`."""
    root = re.match(r"(?:new )?[^\W\d]\w*", label)
    if root is None:
        return [label]
    parts, at = [root.group()], root.end()
    while at < len(label):
        part = _PART.match(label, at)
        if part is None:
            return [label]
        parts.append(part.group())
        at = part.end()
    return parts


@dataclass(slots=True, eq=False)
class _Tree:
    name: str
    path: str
    node: GraphNode | None = None
    parts: dict[str, _Tree] = field(default_factory=dict)

    def leaves(self) -> list[GraphNode]:
        own = [] if self.node is None else [self.node]
        return own + [leaf for part in self.parts.values() for leaf in part.leaves()]


def gathered(nodes: Sequence[GraphNode], prefix: str, scope: str | None = None) -> list[GraphNode]:
    """The nodes of arguments or results with groups for their trees; ids are `prefix:path`. Those of one tree come together."""
    if len(nodes) < 2:
        return list(nodes)
    if prefix.endswith("const"):
        return _constants(nodes, prefix, scope)
    top = _Tree("", "")
    for node in nodes:
        parts = parts_of(node["label"])
        tree = top
        for part in parts:
            tree = tree.parts.setdefault(part, _Tree(part, tree.path + part))
        if tree.node is not None:  # two of one name
            return list(nodes)
        tree.node = node
    out: list[GraphNode] = []
    for tree in top.parts.values():
        if prefix.endswith("out") and tree.node is None and 1 < len(tree.parts) <= FEW_RESULTS and _is_tuple(tree):
            for part in tree.parts.values():
                _write(part, part.path, prefix, scope, out)
        else:
            _write(tree, tree.name, prefix, scope, out)
    return out


def _constants(nodes: Sequence[GraphNode], prefix: str, scope: str | None) -> list[GraphNode]:
    size = sum(node["bytes"] for node in nodes)
    group = group_node(f"{prefix}:", "tree", "constants", scope, len(nodes), size=size)
    for node in nodes:
        node["scope"] = group["id"]
    return [group, *nodes]


def _is_tuple(tree: _Tree) -> bool:
    return all(name[1:-1].isdigit() for name in tree.parts)


def _write(tree: _Tree, label: str, prefix: str, scope: str | None, out: list[GraphNode]) -> None:
    while tree.node is None and len(tree.parts) == 1:
        (tree,) = tree.parts.values()
        label += tree.name
    if not tree.parts:
        assert tree.node is not None
        tree.node["scope"] = scope
        out.append(tree.node)
        return
    held = tree.leaves()
    ident = f"{prefix}:{tree.path}"
    out.append(group_node(ident, "tree", label, scope, len(held), size=sum(node["bytes"] for node in held)))
    if tree.node is not None:
        tree.node["scope"] = ident
        out.append(tree.node)
    for part in tree.parts.values():
        _write(part, part.name, prefix, ident, out)
