"""Structures of trees as plain data. Containers of Python's own are known; other classes are registered by a name."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

from .. import tree


class _Node(NamedTuple):
    """How a registered class is written."""

    name: str
    type: type
    write: Callable[[Any], bytes]
    read: Callable[[bytes], Any]
    build: Callable[[Any, Any], Any] | None


_by_type: dict[type, _Node] = {}
_by_name: dict[str, _Node] = {}


def register_pytree_node_serialization(
    nodetype: type,
    *,
    serialized_name: str,
    serialize_auxdata: Callable[[Any], bytes],
    deserialize_auxdata: Callable[[bytes], Any],
    from_children: Callable[[Any, Any], Any] | None = None,
) -> type:
    """Let trees with nodes of a (registered) class be exported: its static data goes to bytes and back; `from_children(data,
    children)` builds the object, by default as the class was registered. Gives the class.

    Raises ValueError for a name or class that is taken.
    """
    if serialized_name in _by_name or nodetype in _by_type:
        raise ValueError(f"{nodetype.__name__} or the name {serialized_name!r} is registered already")
    node = _Node(serialized_name, nodetype, serialize_auxdata, deserialize_auxdata, from_children)
    _by_type[nodetype] = _by_name[serialized_name] = node
    return nodetype


def register_namedtuple_serialization(nodetype: type, *, serialized_name: str) -> type:
    """Let trees with namedtuples of a class be exported. Gives the class. Raises ValueError for what is no namedtuple."""
    if not (issubclass(nodetype, tuple) and hasattr(nodetype, "_fields")):
        raise ValueError(f"{nodetype.__name__} is not a namedtuple class")
    return register_pytree_node_serialization(
        nodetype,
        serialized_name=serialized_name,
        serialize_auxdata=lambda _: b"",
        deserialize_auxdata=lambda _: nodetype,
        from_children=lambda _, children: nodetype(*children),
    )


def encode(treedef: Any) -> Any:
    """A structure as JSON data. Raises ValueError for a class that is not registered, TypeError for dict keys that are not
    text."""
    node = treedef.node_data()
    if node is None:
        return "*" if treedef.num_leaves else None
    kind, data = node
    children = [encode(child) for child in treedef.children()]
    if kind in _by_type:
        return {"node": _by_type[kind].name, "data": _by_type[kind].write(data).hex(), "children": children}
    if kind is type(None):
        return None
    if kind in (tuple, list):
        return {kind.__name__: children}
    if kind in (dict, OrderedDict):
        keys = list(data)
        if not all(isinstance(k, str) for k in keys):
            raise TypeError(f"dicts with keys that are not text cannot be exported; there is {keys!r}")
        return {kind.__name__: dict(zip(keys, children)), "order": keys}
    raise ValueError(
        f"trees with nodes of {kind.__name__} cannot be exported: register how it is written with "
        "jitscope.export.register_pytree_node_serialization (a namedtuple: register_namedtuple_serialization)"
    )


def decode(written: Any) -> Any:
    """The structure that `encode` wrote. Raises ValueError for a class that is not registered here."""
    if written == "*":
        return tree.structure(0)
    if written is None:
        return tree.structure(None)
    if "node" in written:
        node = _by_name.get(written["node"])
        if node is None:
            raise ValueError(
                f"the exported function takes or gives nodes called {written['node']!r}, which are not registered here: call "
                "register_pytree_node_serialization as where it was exported"
            )
        return _built(node, node.read(bytes.fromhex(written["data"])), list(map(decode, written["children"])))
    for kind in (tuple, list):
        if kind.__name__ in written:
            return tree.from_node(kind, None, map(decode, written[kind.__name__]))
    kind = dict if "dict" in written else OrderedDict
    keys = written["order"]
    children = [decode(written[kind.__name__][key]) for key in keys]
    return tree.from_node(kind, keys if kind is dict else tuple(keys), children)


def _built(node: _Node, data: Any, children: list[Any]) -> Any:
    if node.build is None:
        return tree.from_node(node.type, data, children)
    marks = [child.unflatten([0] * child.num_leaves) for child in children]
    return tree.structure(node.build(data, marks))
