"""Pytrees: nested containers with arrays at their leaves.

Tuples, lists, dicts, namedtuples, OrderedDicts, defaultdicts and None (an empty tree) are known; other classes are
registered with `register_pytree_node` and its kin. What takes trees apart raises ValueError for dicts whose keys cannot be
sorted; what takes several trees, for those of another structure than the first. `is_leaf(x)` says where to stop.
"""

from __future__ import annotations

import builtins
import functools
import itertools
import weakref
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from types import CodeType
from typing import Any, TypeVar

from .core.annotations import PyTree
from .core.registrations import registering
from .core.tree_contrast import Place, contrast, kind
from .xla import pytrees, recursion
from .xla.pytrees import DictKey, FlattenedIndexKey, GetAttrKey, PyTreeDef, SequenceKey


_registry = pytrees.new_registry(__name__, "default_registry")

_flatten, _flatten_with_path = _registry.flatten, _registry.flatten_with_path

C = TypeVar("C", bound=type)
IsLeaf = Callable[[Any], bool] | None
"""Says of a subtree that it is to be taken as a leaf."""


def flatten_leaves(tree: Any, is_leaf: Any = None, walk: Any = _flatten) -> tuple[list[Any], PyTreeDef]:
    """(leaves, structure) of a tree: the hot path's own. Raises RecursionError for a tree that is too deep or contains
    itself."""
    try:
        return _one_call_deeper(walk, tree, is_leaf)
    except BaseException as error:
        if error.__class__ in _TOO_DEEP:  # nothing could be called before there is room for calls again
            for _ in _SOME:
                _leave()
        raise pytrees.after_failure(error) from error.__cause__


def _one_call_deeper(walk: Any, tree: Any, is_leaf: Any) -> tuple[list[Any], PyTreeDef]:
    """What returns from here leaves room for one call."""
    return walk(tree, is_leaf)


_TOO_DEEP = (RecursionError, SystemError)
_SOME = range(100)
_leave = recursion.leave


class _Unset:
    def __repr__(self) -> str:
        return "<unset>"


_unset: Any = _Unset()


def flatten(tree: PyTree, is_leaf: IsLeaf = None) -> tuple[list[Any], PyTreeDef]:
    """The leaves of a tree, in order, and its structure. Raises ValueError for dicts whose keys cannot be sorted."""
    return flatten_leaves(tree, is_leaf)


def unflatten(treedef: PyTreeDef, leaves: Iterable[Any]) -> PyTree:
    """The tree of a structure and its leaves. Raises ValueError if their number differs."""
    return treedef.unflatten(leaves)


def from_node(nodetype: type, data: Any, children: Iterable[PyTreeDef]) -> PyTreeDef:
    """The structure of a node of a class with its static data (see `node_data`) and the structures of its children."""
    return PyTreeDef.from_node_data_and_children(_registry, (nodetype, data), children)


def leaves(tree: PyTree, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves of a tree, in order."""
    return flatten_leaves(tree, is_leaf)[0]


def structure(tree: PyTree, is_leaf: IsLeaf = None) -> PyTreeDef:
    """The structure of a tree: hashable, comparable."""
    return flatten_leaves(tree, is_leaf)[1]


def map(f: Callable[..., Any], tree: PyTree, *rest: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """`f` on corresponding leaves of trees; the first one's structure rules, the others may go deeper.

    Raises ValueError where a tree does not have that structure: the message says where.
    """
    first, treedef = flatten_leaves(tree, is_leaf)
    others = [_up_to(treedef, tree, r, is_leaf, f"tree.map: tree {i}") for i, r in enumerate(rest, 1)]
    return treedef.unflatten([f(*xs) for xs in zip(first, *others)])


def reduce(function: Callable[[Any, Any], Any], tree: PyTree, initializer: Any = _unset, is_leaf: IsLeaf = None) -> Any:
    """Combine the leaves from left to right, beginning with `initializer` if it is given.

    Raises TypeError for a tree without leaves and no `initializer`.
    """
    start = () if initializer is _unset else (initializer,)
    return functools.reduce(function, leaves(tree, is_leaf), *start)


def reduce_associative(
    operation: Callable[[Any, Any], Any], tree: PyTree, *, identity: Any = _unset, is_leaf: IsLeaf = None
) -> Any:
    """Combine the leaves of both halves, and the two results: few steps one after the other.

    `identity` is the result for a tree without leaves; TypeError is raised if there is none.
    """
    found = leaves(tree, is_leaf)
    if not found and identity is _unset:
        raise TypeError("reduce_associative of a tree without leaves needs identity=")
    return _combined(operation, found) if found else identity


def _combined(operation: Callable[[Any, Any], Any], values: list[Any]) -> Any:
    if len(values) == 1:
        return values[0]
    half = len(values) // 2
    return operation(_combined(operation, values[:half]), _combined(operation, values[half:]))


def all(tree: PyTree, *, is_leaf: IsLeaf = None) -> bool:
    """Whether all leaves are true."""
    return builtins.all(leaves(tree, is_leaf))


def transpose(outer_treedef: PyTreeDef, inner_treedef: PyTreeDef | None, pytree_to_transpose: PyTree) -> PyTree:
    """A tree of trees turned inside out: `outer(inner(leaf))` becomes `inner(outer(leaf))`.

    Without `inner_treedef` the first inner tree says what it is. Raises TypeError where the tree is not of that form,
    ValueError if it is the outer form that does not fit and `inner_treedef` is not given.
    """
    if inner_treedef is not None and (rows := _rows(outer_treedef, inner_treedef, pytree_to_transpose)) is not None:
        return _turned(outer_treedef, inner_treedef, rows)
    rows = outer_treedef.flatten_up_to(pytree_to_transpose) if inner_treedef is None else None
    try:
        rows = outer_treedef.flatten_up_to(pytree_to_transpose) if rows is None else rows
        if inner_treedef is None and not rows:
            raise TypeError("tree.transpose: the outer structure has no leaves: say what inner_treedef is")
        inner = structure(rows[0]) if inner_treedef is None else inner_treedef
        columns = [_leaves_of(inner, row) for row in rows]
    except ValueError as error:
        raise TypeError(f"tree.transpose: the tree is not of the form outer(inner(leaf)): {error}") from None
    return _turned(outer_treedef, inner, columns)


def _turned(outer: PyTreeDef, inner: PyTreeDef, rows: list[list[Any]]) -> PyTree:
    by_leaf = zip(*rows) if rows else [()] * inner.num_leaves
    return inner.unflatten([outer.unflatten(column) for column in by_leaf])


def _rows(outer: PyTreeDef, inner: PyTreeDef, tree: Any) -> list[list[Any]] | None:
    """The leaves of each inner tree, of a tree with a node of a user's type that says in its static data what it holds: its
    data differ from those in `outer`, and the leaves alone are compared. None for other trees."""
    found, own = flatten_leaves(tree)
    n = inner.num_leaves
    if len(found) != outer.num_leaves * n or not _says_what_it_holds(outer, own):
        return None
    return [found[i * n : (i + 1) * n] for i in range(outer.num_leaves)]


def _says_what_it_holds(outer: PyTreeDef, own: PyTreeDef) -> bool:
    of_outer, of_own = outer.node_data(), own.node_data()
    if of_outer is None or of_own is None or of_outer[0] is not of_own[0]:
        return False
    if of_outer[1] != of_own[1]:
        return of_outer[0] not in (list, tuple, dict)
    return any(builtins.map(_says_what_it_holds, outer.children(), own.children()))


def _leaves_of(treedef: PyTreeDef, tree: Any) -> list[Any]:
    found, own = flatten_leaves(tree)
    if own != treedef:
        raise ValueError(f"one inner tree has the structure {own}, not {treedef}")
    return found


# Paths ----------------------------------------------------------------------------------------------------------------


def flatten_with_path(
    tree: PyTree, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path: bool = False
) -> tuple[list[tuple[tuple, Any]], PyTreeDef]:
    """[(path, leaf), …] and the structure; a path is a tuple of keys, see `keystr`. With `is_leaf_takes_path`, `is_leaf`
    is asked with the path and the subtree."""
    ask = is_leaf if is_leaf is None or is_leaf_takes_path else lambda _, x: is_leaf(x)
    found, treedef = flatten_leaves(tree, ask, _flatten_with_path)
    return [(tuple(path), leaf) for path, leaf in found], treedef


def leaves_with_path(
    tree: PyTree, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path: bool = False
) -> list[tuple[tuple, Any]]:
    """[(path, leaf), …] of a tree, in order."""
    return flatten_with_path(tree, is_leaf, is_leaf_takes_path)[0]


def map_with_path(
    f: Callable[..., Any],
    tree: PyTree,
    *rest: PyTree,
    is_leaf: Callable[..., bool] | None = None,
    is_leaf_takes_path: bool = False,
) -> PyTree:
    """Like `map`, with the leaf's path as first argument of `f`."""
    found, treedef = flatten_with_path(tree, is_leaf, is_leaf_takes_path)
    others = [_up_to(treedef, tree, r, None, f"tree.map_with_path: tree {i}") for i, r in enumerate(rest, 1)]
    return treedef.unflatten([f(path, leaf, *xs) for (path, leaf), *xs in zip(found, *others)])


def keystr(keys: Sequence[Any], *, simple: bool = False, separator: str = "") -> str:
    """A path as it would stand behind the variable: `['w'][0].bias`; with `simple` the bare names, `w0bias`, which a
    `separator` tells apart: `w/0/bias`."""
    return separator.join([_bare(key) if simple else str(key) for key in keys])


def _bare(key: Any) -> str:
    for attribute in ("key", "idx", "name"):
        if isinstance(key, _KEYS) and hasattr(key, attribute):
            return str(getattr(key, attribute))
    return str(key)


_KEYS = (DictKey, FlattenedIndexKey, GetAttrKey, SequenceKey)


def leaf_paths(tree: PyTree) -> list[str]:
    """The path of each leaf, as `keystr` writes it."""
    return [keystr(path) for path, _ in flatten_leaves(tree, None, _flatten_with_path)[0]]


def paths_in(treedef: PyTreeDef) -> list[str]:
    """The path of each leaf of a structure; where a user's class cannot be made of numbers, how many leaves are before it."""
    try:
        return leaf_paths(treedef.unflatten(range(treedef.num_leaves)))
    except Exception:
        return [f"[leaf {i}]" for i in range(treedef.num_leaves)]


# Prefixes -------------------------------------------------------------------------------------------------------------


def broadcast(prefix_tree: PyTree, full_tree: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """`prefix_tree`, which may end above the leaves of `full_tree`, with each of its leaves repeated for those below.
    `is_leaf` says what is a leaf of `prefix_tree`.

    Raises ValueError, saying where, if it is not a prefix.
    """
    found, treedef = flatten_leaves(prefix_tree, is_leaf)
    try:
        parts = treedef.flatten_up_to(full_tree)
    except (ValueError, TypeError) as error:
        where = first_difference(prefix_tree, full_tree, is_leaf, ("the prefix", "the full tree")) or error
        raise ValueError(f"tree.broadcast: the first tree is not a prefix of the second: {where}") from None
    full = flatten_leaves(full_tree)[1]
    repeated = [[leaf] * structure(part).num_leaves for leaf, part in zip(found, parts)]
    return full.unflatten(itertools.chain.from_iterable(repeated))


def broadcast_prefix(prefix: PyTree, treedef: PyTreeDef, what: str) -> list[Any]:
    """The leaves of `prefix` (a tree that may end above the leaves) repeated for the leaves below each. None is a leaf.

    Raises ValueError naming `what` and the path where it is not a prefix of the structure.
    """
    prefix_leaves, prefix_def = flatten_leaves(prefix, _is_none)
    found = _repeated(iter(prefix_leaves), prefix_def, treedef)
    if found is not None:
        return found
    full = treedef.unflatten([Place()] * treedef.num_leaves)
    where = first_difference(prefix, full, _is_none, ("it", "the tree")) or "the structures differ"
    raise ValueError(f"{what} must be a prefix of the tree it is for: {where}")


def _repeated(leaves: Iterator[Any], prefix: PyTreeDef, full: PyTreeDef) -> list[Any] | None:
    """The leaves of a prefix as often as the full structure has leaves below; None where it is no prefix. Structures are
    compared, and no node is made: users' classes may not take what stands for a leaf."""
    if prefix.node_data() is None and prefix.num_leaves == 1:
        return [next(leaves)] * full.num_leaves
    below, above = full.children(), prefix.children()
    if prefix.node_data() != full.node_data() or len(below) != len(above):
        return None
    parts = [_repeated(leaves, one, other) for one, other in zip(above, below)]
    return None if None in parts else list(itertools.chain.from_iterable(parts))  # pyright: ignore[reportArgumentType]


def _is_none(x: Any) -> bool:
    return x is None


def _up_to(treedef: PyTreeDef, like: Any, tree: Any, is_leaf: IsLeaf, what: str) -> list[Any]:
    try:
        return treedef.flatten_up_to(tree)
    except (ValueError, TypeError) as error:
        where = first_difference(like, tree, is_leaf, ("the first tree", "this one")) or error
        raise ValueError(f"{what} does not have the structure of the first: {where}") from None


def first_difference(prefix: Any, tree: Any, is_leaf: IsLeaf = None, names: tuple[str, str] = ("one", "other")) -> str:
    """In words, the first place where `tree` does not go on as `prefix` does; "" if there is none."""
    return _difference((), prefix, tree, is_leaf, names)


def _difference(path: tuple, prefix: Any, tree: Any, is_leaf: IsLeaf, names: tuple[str, str]) -> str:
    level = None if is_leaf is not None and is_leaf(prefix) else _registry.flatten_one_level_with_keys(prefix)
    if level is None:
        return ""
    one_level = flatten_leaves(prefix, lambda x: x is not prefix)[1]
    try:
        below = one_level.flatten_up_to(tree)
    except (ValueError, TypeError):
        at = f"at {keystr(path)}" if path else "at the top"
        return f"{at}, {contrast(prefix, tree, names)}"
    for key, own, other in zip(_keys_of(prefix, level), _registry.flatten_one_level(prefix)[0], below):
        found = _difference((*path, key), own, other, is_leaf, names)
        if found:
            return found
    return ""


def _keys_of(node: Any, level: Any) -> list[Any]:
    if hasattr(node, "_fields"):  # jaxlib gives all fields of a namedtuple the first one's name
        return [GetAttrKey(name) for name in node._fields]
    return [key for key, _ in level[0]]


# One level ------------------------------------------------------------------------------------------------------------


def flatten_one_level(tree: PyTree) -> tuple[Iterable[Any], Hashable]:
    """The children of a node and its static data. Raises ValueError for a leaf."""
    found = _registry.flatten_one_level(tree)
    if found is None:
        raise ValueError(f"{kind(tree)} is a leaf: it has no children")
    return found


def flatten_one_level_with_keys(tree: PyTree) -> tuple[Iterable[tuple[Any, Any]], Hashable]:
    """[(key, child), …] of a node and its static data. Raises ValueError for a leaf."""
    children, data = flatten_one_level(tree)
    return list(zip(_keys_of(tree, _registry.flatten_one_level_with_keys(tree)), children)), data


def is_tree_node(typ: type) -> bool:
    """Whether values of the type are nodes (containers, namedtuples, registered classes) and not leaves."""
    return pytrees.is_node(_registry, typ) or (issubclass(typ, tuple) and hasattr(typ, "_fields"))


def all_leaves(iterable: Iterable[Any], is_leaf: IsLeaf = None) -> bool:
    """Whether all elements are leaves; None is an empty tree, and so is none."""
    if is_leaf is None:
        return pytrees.all_leaves(_registry, iterable)
    items = list(iterable)
    found = leaves(items, is_leaf)
    return len(found) == len(items) and builtins.all(a is b for a, b in zip(items, found))


def treedef_children(treedef: PyTreeDef) -> list[PyTreeDef]:
    """The structures of the children of a node."""
    return treedef.children()


def treedef_is_leaf(treedef: PyTreeDef) -> bool:
    """Whether the structure is a single node: a leaf or an empty container."""
    return treedef.num_nodes == 1


def treedef_tuple(treedefs: Iterable[PyTreeDef]) -> PyTreeDef:
    """The structure of the tuple of trees that have the given structures."""
    return pytrees.treedef_tuple(_registry, list(treedefs))


# Registration ---------------------------------------------------------------------------------------------------------


_unflatten_codes: set[CodeType | None] = set()


def is_unflatten(code: CodeType) -> bool:
    """Whether code rebuilds objects of a registered class."""
    return code in _unflatten_codes


def is_flatten(code: CodeType) -> bool:
    """Whether code takes objects of a registered class apart."""
    named = code.co_name in ("tree_flatten", "tree_flatten_with_keys")
    return named or any(getattr(one, "__code__", None) is code for one in [*_flattening.values()])


_flattening: weakref.WeakKeyDictionary[type, Callable[[Any], Any]] = weakref.WeakKeyDictionary()


def flattened_by(typ: type) -> Any:
    """The function that takes objects of a registered class apart; None for other types."""
    return getattr(typ, "tree_flatten", None) or _flattening.get(typ)


def register_pytree_node(
    nodetype: type,
    flatten_func: Callable[[Any], tuple[Iterable[Any], Hashable]],
    unflatten_func: Callable[[Any, Any], Any],
    flatten_with_keys_func: Callable[[Any], tuple[Iterable[tuple[Any, Any]], Hashable]] | None = None,
) -> None:
    """Make a class a node: `flatten_func(x)` gives (children, static data), `unflatten_func(data, children)` the object.

    Raises ValueError if the class is known already, TypeError for what is not a function.
    """
    for name, function in (("flatten_func", flatten_func), ("unflatten_func", unflatten_func)):
        if not callable(function):
            raise TypeError(f"register_pytree_node: {name} is a function, not {function!r}")
    _unflatten_codes.add(getattr(getattr(unflatten_func, "__func__", unflatten_func), "__code__", None))
    with registering(nodetype, _registry.kinds):
        pytrees.register(_registry, nodetype, flatten_func, unflatten_func, flatten_with_keys_func)
    _flattening[nodetype] = flatten_with_keys_func or flatten_func


def register_pytree_with_keys(
    nodetype: type,
    flatten_with_keys: Callable[[Any], tuple[Iterable[tuple[Any, Any]], Hashable]],
    unflatten_func: Callable[[Any, Any], Any],
    flatten_func: Callable[[Any], tuple[Iterable[Any], Hashable]] | None = None,
) -> None:
    """Like `register_pytree_node`; `flatten_with_keys(x)` gives ([(key, child), …], static data)."""

    def plain(x: Any) -> tuple[list[Any], Hashable]:
        children, data = flatten_with_keys(x)
        return [child for _, child in children], data

    register_pytree_node(nodetype, flatten_func or plain, unflatten_func, flatten_with_keys)


def register_pytree_node_class(cls: C) -> C:
    """Class decorator: the class has `tree_flatten(self)` and a classmethod `tree_unflatten(cls, data, children)`.

    Raises AttributeError for a class without them.
    """
    _check_methods(cls, "tree_flatten", "tree_unflatten")
    register_pytree_node(cls, lambda x: x.tree_flatten(), cls.tree_unflatten)  # pyright: ignore
    return cls


def register_pytree_with_keys_class(cls: C) -> C:
    """Class decorator: the class has `tree_flatten_with_keys(self)`, which gives ([(key, child), …], static data), a
    classmethod `tree_unflatten(cls, data, children)`, and perhaps a quicker `tree_flatten(self)`.

    Raises AttributeError for a class without them.
    """
    _check_methods(cls, "tree_flatten_with_keys", "tree_unflatten")
    plain = (lambda x: x.tree_flatten()) if hasattr(cls, "tree_flatten") else None
    with_keys, unflatten_func = (lambda x: x.tree_flatten_with_keys()), cls.tree_unflatten  # pyright: ignore
    register_pytree_with_keys(cls, with_keys, unflatten_func, plain)
    return cls


def _check_methods(cls: type, *names: str) -> None:
    for name in names:
        if not hasattr(cls, name):
            what = (
                f"a classmethod {name}(cls, data, children)" if name == "tree_unflatten" else f"a method {name}(self)"
            )
            raise AttributeError(f"{cls.__name__} cannot be registered: it has no {what[2:]}")


def register_dataclass(
    nodetype: C,
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
    drop_fields: Sequence[str] = (),
) -> C:
    """Make a dataclass a node: `data_fields` are children, `meta_fields` static data (hashable). Without them, fields
    marked `metadata={"static": True}` (or made with `tree.static`) are static. `drop_fields` are left out. Any class will
    do whose objects `nodetype(field=value, …)` makes anew, if its fields are named. Returns the class.

    Raises ValueError for fields that do not exist, are left out or stand twice, TypeError if some are not said.
    """
    import dataclasses  # here and below: few programs need it

    name = nodetype.__name__
    if (data_fields is None) != (meta_fields is None):
        raise TypeError(f"register_dataclass({name}): give data_fields and meta_fields both, or neither")
    if not dataclasses.is_dataclass(nodetype):
        if data_fields is None or meta_fields is None:
            raise TypeError(
                f"register_dataclass: {name} is not a dataclass: put @dataclasses.dataclass below the decorator, or name "
                "data_fields and meta_fields"
            )
    else:
        kept = [f for f in dataclasses.fields(nodetype) if f.name not in drop_fields]
        fields = [f for f in kept if f.init]
        if data_fields is None or meta_fields is None:
            data_fields = [f.name for f in kept if not f.metadata.get("static")]
            meta_fields = [f.name for f in kept if f.metadata.get("static")]
        missing = {f.name for f in fields} ^ {*data_fields, *meta_fields}
        if missing:
            raise ValueError(
                f"register_dataclass: the fields of {name} and data_fields + meta_fields differ in {sorted(missing)}; "
                "drop_fields leaves fields out"
            )
    twice = sorted({*data_fields} & {*meta_fields})
    if twice:
        raise ValueError(f"register_dataclass({name}): {twice} cannot be data and static both")
    with registering(nodetype, _registry.kinds):
        pytrees.register_dataclass(_registry, nodetype, data_fields, meta_fields)
    return nodetype  # pyright: ignore[reportReturnType]


def static(**kwargs: Any) -> Any:
    """`dataclasses.field` of a field that is static data: `mode: str = tree.static(default="fast")`."""
    import dataclasses

    return dataclasses.field(**{**kwargs, "metadata": {"static": True, **(kwargs.get("metadata") or {})}})


def register_static(cls: C) -> C:
    """Class decorator: values of the class are static data without leaves (they need `__hash__` and `__eq__`)."""
    register_pytree_node(cls, lambda x: ((), x), lambda x, _: x)
    return cls


def _ordered_keys(x: dict) -> tuple[list, tuple]:
    return [(DictKey(k), v) for k, v in x.items()], tuple(x)


register_pytree_with_keys(
    OrderedDict,
    _ordered_keys,
    lambda keys, xs: OrderedDict(zip(keys, xs)),
    lambda x: (list(x.values()), tuple(x)),
)


def _default_keys(x: defaultdict) -> tuple[list, tuple]:
    keys = sorted(x)
    return [(DictKey(k), x[k]) for k in keys], (x.default_factory, tuple(keys))


register_pytree_with_keys(defaultdict, _default_keys, lambda data, xs: defaultdict(data[0], zip(data[1], xs)))


class Partial(functools.partial):
    """`functools.partial` as a tree: the bound arguments are its leaves, the function is static data. So it may be an
    argument of a transformed function, which a closure may not.

    A `functools.partial` inside stays as it is: its arguments are part of the function.
    """

    def __new__(cls, func: Callable[..., Any], *args: PyTree, **kw: PyTree) -> Partial:
        return super().__new__(cls, _Whole(func) if isinstance(func, functools.partial) else func, *args, **kw)

    def __repr__(self) -> str:
        inside = [repr(self.func), *builtins.map(repr, self.args), *[f"{k}={v!r}" for k, v in self.keywords.items()]]
        return f"Partial({', '.join(inside)})"


class _Whole:
    """A partial that `functools.partial` would otherwise take apart."""

    def __init__(self, function: functools.partial):
        self.function = function

    def __call__(self, *args: Any, **kw: Any) -> Any:
        return self.function(*args, **kw)

    def __eq__(self, other: object) -> bool:
        return self.function == (other.function if isinstance(other, _Whole) else other)

    def __hash__(self) -> int:
        return hash(self.function)

    def __repr__(self) -> str:
        return repr(self.function)


register_pytree_with_keys(
    Partial,
    lambda p: (((GetAttrKey("args"), p.args), (GetAttrKey("keywords"), p.keywords)), p.func),
    lambda func, parts: Partial(func, *parts[0], **parts[1]),
    lambda p: ((p.args, p.keywords), p.func),
)

default_registry = _registry
"""The registry of this library's trees; jaxlib's own, which JAX uses, is left alone."""

__all__ = ["DictKey", "FlattenedIndexKey", "GetAttrKey", "Partial", "PyTreeDef", "SequenceKey", "all", "all_leaves",
           "broadcast", "broadcast_prefix", "flatten", "flatten_one_level", "flatten_one_level_with_keys",
           "flatten_with_path", "is_tree_node", "keystr", "leaf_paths", "leaves", "leaves_with_path", "map",
           "map_with_path", "reduce", "reduce_associative", "register_dataclass", "register_pytree_node",
           "register_pytree_node_class", "register_pytree_with_keys", "register_pytree_with_keys_class",
           "register_static", "static", "structure", "transpose", "treedef_children", "treedef_is_leaf",
           "treedef_tuple", "unflatten"]  # fmt: skip
