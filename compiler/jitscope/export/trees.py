"""Structures of trees as tables of a flatbuffer. Containers of Python's own are known; other classes are registered by a name."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from .. import tree
from ..named_tuple import NamedTuple
from .flatbuffer import Number, Reader, Table


__all__ = ["register_namedtuple_serialization", "register_pytree_node_serialization"]


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

    Raises ValueError for a name or class that is taken, and for a class that is not a node of trees, without `from_children`.
    """
    if nodetype in _by_type:
        raise ValueError(
            f"Duplicate serialization registration for type `{nodetype}`: it is registered already, as "
            f"{_by_type[nodetype].name!r}"
        )
    if serialized_name in _by_name:
        raise ValueError(
            f"Duplicate serialization registration for serialized_name `{serialized_name}`: it is registered already, for "
            f"`{_by_name[serialized_name].type}`"
        )
    if from_children is None and not tree.is_tree_node(nodetype):
        raise ValueError(
            f"If `from_children` is not present, you must call first `register_pytree_node` for `{nodetype}`: it is a leaf"
        )
    node = _Node(serialized_name, nodetype, serialize_auxdata, deserialize_auxdata, from_children)
    _by_type[nodetype] = _by_name[serialized_name] = node
    return nodetype


def register_namedtuple_serialization(nodetype: type, *, serialized_name: str) -> type:
    """Let trees with namedtuples of a class be exported. Gives the class. Raises ValueError for what is not a namedtuple."""
    fields = getattr(nodetype, "_fields", None)
    if fields is None or not issubclass(nodetype, tuple):
        raise ValueError(
            f"Use `register_pytree_node_serialization` for types other than `collections.namedtuple`: {nodetype.__name__} is not "
            "a namedtuple class"
        )
    return register_pytree_node_serialization(
        nodetype,
        serialized_name=serialized_name,
        serialize_auxdata=lambda _: json.dumps(fields).encode(),
        deserialize_auxdata=lambda data: json.loads(data.decode()),
        from_children=lambda fields, children: nodetype(**dict(zip(fields, children))),
    )


register_pytree_node_serialization(
    OrderedDict,
    serialized_name="collections.OrderedDict",
    serialize_auxdata=lambda keys: json.dumps(_texts(keys)).encode(),
    deserialize_auxdata=lambda data: tuple(json.loads(data.decode())),
    from_children=lambda keys, children: OrderedDict(zip(keys, children)),
)

_LEAF, _NONE, _TUPLE, _LIST, _DICT, _CUSTOM = range(6)


def _texts(keys: Any) -> list[str]:
    wrong = next((k for k in keys if not isinstance(k, str)), None)
    if wrong is not None:
        raise TypeError(
            "Serialization is supported only for dictionaries with string keys: dicts with keys that are not text cannot be "
            f"exported. Found key {wrong} of type {type(wrong)}"
        )
    return list(keys)


def encode(treedef: Any) -> Table:
    """A structure as a table. Raises ValueError for a class that is not registered, TypeError for dict keys that are not
    text."""
    node = treedef.node_data()
    if node is None:
        return {0: Number("b", _LEAF if treedef.num_leaves else _NONE)}
    kind, data = node
    children = [encode(child) for child in treedef.children()] or None
    if kind is type(None):
        return {0: Number("b", _NONE)}
    if kind in (tuple, list):
        return {0: Number("b", _TUPLE if kind is tuple else _LIST), 1: children}
    if kind is dict:
        return {0: Number("b", _DICT), 1: children, 2: _texts(data)}
    if kind not in _by_type:
        raise ValueError(
            f"Cannot serialize PyTreeDef containing an unregistered type: trees with nodes of {kind.__name__} cannot be "
            "exported: register how it is written with jitscope.export.register_pytree_node_serialization (a namedtuple: "
            "register_namedtuple_serialization)"
        )
    written = _by_type[kind].write(data)
    if not isinstance(written, (bytes, bytearray)):
        raise ValueError(
            f"the serialize_auxdata of {kind.__name__} must return a `bytes` object. It returned a {type(written)}"
        )
    return {0: Number("b", _CUSTOM), 1: children, 3: _by_type[kind].name, 4: bytes(written)}


def decode(table: Reader) -> Any:
    """The structure that `encode` wrote. Raises ValueError for a class that is not registered here."""
    kind = table.number(0, "b")
    if kind == _LEAF:
        return tree.structure(0)
    if kind == _NONE:
        return tree.structure(None)
    children = [decode(child) for child in table.tables(1)]
    if kind in (_TUPLE, _LIST):
        return tree.from_node(tuple if kind == _TUPLE else list, None, children)
    if kind == _DICT:
        return tree.from_node(dict, table.texts(2), children)
    name = table.text(3)
    if kind != _CUSTOM:
        raise ValueError(f"nodes of kind {kind} are not known")
    if name not in _by_name:
        raise NotRegistered(
            f"Cannot deserialize a PyTreeDef containing an unregistered type `{name}`: the exported function takes or gives "
            f"nodes called {name!r}, which are not registered here: call register_pytree_node_serialization as where it was "
            "exported"
        )
    return _built(_by_name[name], _by_name[name].read(table.bytes(4)), children)


class NotRegistered(ValueError):
    """A class of nodes of trees that is not known here."""


def _built(node: _Node, data: Any, children: list[Any]) -> Any:
    if node.build is None:
        return tree.from_node(node.type, data, children)
    marks = [child.unflatten([0] * child.num_leaves) for child in children]
    return tree.structure(node.build(data, marks))
