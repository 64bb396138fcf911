"""Pytrees: nested containers with arrays at their leaves.

Tuples, lists, dicts, namedtuples, OrderedDicts, defaultdicts and None (an empty tree) are known; other classes are
registered with `register_pytree_node` and its kin.
"""

from __future__ import annotations

import builtins
import dataclasses
import functools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

from .xla import pytrees
from .xla.pytrees import DictKey, FlattenedIndexKey, GetAttrKey, PyTreeDef, SequenceKey


_registry = pytrees.new_registry()

flatten_leaves = _registry.flatten
"""(leaves, structure) of a tree: the hot path's own."""


def flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], PyTreeDef]:
    """The leaves of a tree, in order, and its structure. Raises ValueError for dicts whose keys cannot be sorted."""
    return _registry.flatten(tree, is_leaf)


def unflatten(treedef: PyTreeDef, leaves: Iterable[Any]) -> Any:
    """The tree of a structure and its leaves. Raises ValueError if their number differs."""
    return treedef.unflatten(leaves)


def leaves(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[Any]:
    """The leaves of a tree, in order."""
    return _registry.flatten(tree, is_leaf)[0]


def structure(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> PyTreeDef:
    """The structure of a tree: hashable, comparable."""
    return _registry.flatten(tree, is_leaf)[1]


def map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """`f` on corresponding leaves of trees; the first one's structure rules, the others may go deeper.

    Raises ValueError where a tree does not have that structure.
    """
    first, treedef = _registry.flatten(tree, is_leaf)
    others = [treedef.flatten_up_to(r) for r in rest]
    return treedef.unflatten([f(*xs) for xs in zip(first, *others)])


def reduce(function: Callable[[Any, Any], Any], tree: Any, *initializer: Any, is_leaf=None) -> Any:
    """Combine the leaves from left to right."""
    return functools.reduce(function, leaves(tree, is_leaf), *initializer)


def all(tree: Any, *, is_leaf=None) -> bool:
    """Whether all leaves are true."""
    return builtins.all(bool(x) for x in leaves(tree, is_leaf))


def transpose(outer_treedef: PyTreeDef, inner_treedef: PyTreeDef, tree: Any) -> Any:
    """A tree of trees turned inside out: `outer(inner(leaf))` becomes `inner(outer(leaf))`."""
    rows = [inner_treedef.flatten_up_to(sub) for sub in outer_treedef.flatten_up_to(tree)]
    return inner_treedef.unflatten([outer_treedef.unflatten(column) for column in zip(*rows)])


def flatten_with_path(tree: Any, is_leaf=None) -> tuple[list[tuple[tuple, Any]], PyTreeDef]:
    """[(path, leaf), …] and the structure; a path is a tuple of keys, see `keystr`."""
    found, treedef = _registry.flatten_with_path(tree, is_leaf)
    return [(tuple(path), leaf) for path, leaf in found], treedef


def leaves_with_path(tree: Any, is_leaf=None) -> list[tuple[tuple, Any]]:
    return flatten_with_path(tree, is_leaf)[0]


def map_with_path(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf=None) -> Any:
    """Like `map`, with the leaf's path as first argument of `f`."""
    found, treedef = flatten_with_path(tree, is_leaf)
    others = [treedef.flatten_up_to(r) for r in rest]
    return treedef.unflatten([f(path, *xs) for (path, *xs) in zip(*zip(*found), *others)] if found else [])


def keystr(path: Sequence[Any]) -> str:
    """A path as it would stand behind the variable: `['w'][0].bias`."""
    return "".join(str(key) for key in path)


def leaf_paths(tree: Any) -> list[str]:
    """The path of each leaf, as `keystr` writes it."""
    return [keystr(path) for path, _ in _registry.flatten_with_path(tree)[0]]


def broadcast_prefix(prefix: Any, treedef: PyTreeDef, what: str) -> list[Any]:
    """The leaves of `prefix` (a tree that may end above the leaves) repeated for the leaves below each. None is a leaf.

    Raises ValueError naming `what` if it is not a prefix of the structure.
    """
    result: list[Any] = []
    full = treedef.unflatten([object()] * treedef.num_leaves)
    prefix_leaves, prefix_def = _registry.flatten(prefix, lambda x: x is None)
    try:
        parts = prefix_def.flatten_up_to(full)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{what} must be a prefix of the tree it is for: {error}") from None
    for leaf, part in zip(prefix_leaves, parts):
        result += [leaf] * structure(part).num_leaves
    return result


# Registration --------------------------------------------------------------------------------------------------------


def register_pytree_node(
    nodetype: type,
    flatten_func: Callable[[Any], tuple[Iterable[Any], Hashable]],
    unflatten_func: Callable[[Any, Any], Any],
    flatten_with_keys_func=None,
) -> None:
    """Make a class a node: `flatten_func(x)` gives (children, static data), `unflatten_func(data, children)` the object.

    Raises ValueError if the class is known already.
    """
    pytrees.register(_registry, nodetype, flatten_func, unflatten_func, flatten_with_keys_func)


def register_pytree_with_keys(nodetype: type, flatten_with_keys, unflatten_func, flatten_func=None) -> None:
    """Like `register_pytree_node`; `flatten_with_keys(x)` gives ([(key, child), …], static data)."""

    def plain(x):
        children, data = flatten_with_keys(x)
        return [child for _, child in children], data

    pytrees.register(_registry, nodetype, flatten_func or plain, unflatten_func, flatten_with_keys)


def register_pytree_node_class(cls: type) -> type:
    """Class decorator: the class has `tree_flatten(self)` and a classmethod `tree_unflatten(cls, data, children)`."""
    register_pytree_node(cls, lambda x: x.tree_flatten(), cls.tree_unflatten)  # pyright: ignore
    return cls


def register_dataclass(
    nodetype: type,
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
    drop_fields: Sequence[str] = (),
) -> type:
    """Make a dataclass a node: `data_fields` are children, `meta_fields` static data (hashable). Without them, fields
    marked `metadata={"static": True}` are static. Returns the class. Raises ValueError for fields that do not exist."""
    fields = [f for f in dataclasses.fields(nodetype) if f.init and f.name not in drop_fields]
    if data_fields is None or meta_fields is None:
        data_fields = [f.name for f in fields if not f.metadata.get("static")]
        meta_fields = [f.name for f in fields if f.metadata.get("static")]
    missing = {f.name for f in fields} ^ {*data_fields, *meta_fields}
    if missing:
        raise ValueError(f"the fields of {nodetype.__name__} and data_fields + meta_fields differ in {sorted(missing)}")
    pytrees.register_dataclass(_registry, nodetype, data_fields, meta_fields)
    return nodetype


def register_static(cls: type) -> type:
    """Class decorator: values of the class are static data without leaves (they need `__hash__` and `__eq__`)."""
    register_pytree_node(cls, lambda x: ((), x), lambda x, _: x)
    return cls


def _ordered_keys(x: dict) -> tuple[list, tuple]:
    return [(DictKey(k), v) for k, v in x.items()], tuple(x)


register_pytree_with_keys(OrderedDict, _ordered_keys, lambda keys, xs: OrderedDict(zip(keys, xs)))


def _default_keys(x: defaultdict) -> tuple[list, tuple]:
    keys = sorted(x)
    return [(DictKey(k), x[k]) for k in keys], (x.default_factory, tuple(keys))


register_pytree_with_keys(defaultdict, _default_keys, lambda data, xs: defaultdict(data[0], zip(data[1], xs)))

__all__ = [
    "DictKey",
    "FlattenedIndexKey",
    "GetAttrKey",
    "PyTreeDef",
    "SequenceKey",
    "all",
    "broadcast_prefix",
    "flatten",
    "flatten_with_path",
    "keystr",
    "leaf_paths",
    "leaves",
    "leaves_with_path",
    "map",
    "map_with_path",
    "reduce",
    "register_dataclass",
    "register_pytree_node",
    "register_pytree_node_class",
    "register_pytree_with_keys",
    "register_static",
    "structure",
    "transpose",
    "unflatten",
]
