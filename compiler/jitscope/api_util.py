"""`jitscope.api_util`: functions of trees as functions of flat values, under the names of `jax.api_util`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from . import tree
from .core.annotations import ArrayLike, PyTree, SupportsShape
from .core.avals import ShapedArray, aval_of
from .core.jaxpr import DebugInfo
from .extend.linear_util import Store, WrappedFun, transformation2, transformation_with_aux2
from .tree_util import PyTreeDef


@transformation_with_aux2
def flatten_fun(f: Callable[..., Any], store: Store, in_tree: PyTreeDef, *flat: object) -> list[Any]:
    """`flatten_fun(fun, in_tree)`: the function of the leaves of (args, kwargs), and what fetches the tree of its results."""
    args, kwargs = tree.unflatten(in_tree, flat)
    return _flat_results(f(*args, **kwargs), store)


@transformation_with_aux2
def flatten_fun_nokwargs(f: Callable[..., Any], store: Store, in_tree: PyTreeDef, *flat: object) -> list[Any]:
    """As `flatten_fun`, of the leaves of args alone."""
    return _flat_results(f(*tree.unflatten(in_tree, flat)), store)


def _flat_results(out: Any, store: Store) -> list[Any]:
    leaves, treedef = tree.flatten(out)
    store.store(treedef)
    return leaves


@transformation2
def _with_fixed(
    f: Callable[..., Any], places: tuple[int, ...], fixed: tuple[Any, ...], *given: Any, **kwargs: Any
) -> Any:
    args = list(fixed)
    for place, value in zip(places, given):
        args[place] = value
    return f(*args, **kwargs)


def argnums_partial(
    f: WrappedFun, dyn_argnums: int | Sequence[int], args: Sequence[Any], require_static_args_hashable: bool = True
) -> tuple[WrappedFun, tuple[Any, ...]]:
    """The function of the arguments at `dyn_argnums`, the others fixed at their values, and those arguments. Raises
    ValueError for fixed ones without a hash, unless told not to ask."""
    numbers = (dyn_argnums,) if isinstance(dyn_argnums, int) else tuple(dyn_argnums)
    places = tuple(i % len(args) for i in numbers)
    for i, x in enumerate(args):
        if require_static_args_hashable and i not in places and type(x).__hash__ is None:
            raise ValueError(f"argument {i} is fixed, and so it needs a hash; a {type(x).__name__} has none")
    fixed = tuple(None if i in places else x for i, x in enumerate(args))
    return _with_fixed(f, places, fixed), tuple(args[i] for i in places)


def flatten_axes(
    name: str, treedef: PyTreeDef, axis_tree: PyTree, *, kws: bool = False, tupled_args: bool = False
) -> list[object]:
    """The leaves of `axis_tree` (None is one), a prefix of the structure `treedef`, for each leaf of that. Raises ValueError naming
    `name` where it is no prefix. `kws` and `tupled_args` choose words of JAX's message."""
    return tree.broadcast_prefix(axis_tree, treedef, name)


def donation_vector(
    donate_argnums: Iterable[int], donate_argnames: Iterable[str], in_tree: PyTreeDef, kws: bool = True
) -> tuple[bool, ...]:
    """For each leaf of (args, kwargs), whose structure is `in_tree`, whether it is donated; without `kws`, of args."""
    args, kwargs = in_tree.children() if kws else (in_tree, None)
    numbers, names = {*donate_argnums}, {*donate_argnames}
    found = [i in numbers for i, arg in enumerate(args.children()) for _ in range(arg.num_leaves)]
    if kwargs is not None and (data := kwargs.node_data()) is not None:
        named = zip(data[1], kwargs.children())
        found += [name in names for name, arg in named for _ in range(arg.num_leaves)]
    return tuple(found)


def rebase_donate_argnums(donate_argnums: Iterable[int], static_argnums: Iterable[int]) -> tuple[int, ...]:
    """The numbers of donated arguments among those that are not static, in order. Raises ValueError for one that is both.

    >>> rebase_donate_argnums((3, 4), (0, 1))
    (1, 2)
    """
    donated, static = sorted({*donate_argnums}), {*static_argnums}
    if both := static.intersection(donated):
        raise ValueError(f"arguments {sorted(both)} are static and donated: a static one has no memory to give away")
    return tuple(i - sum(s < i for s in static) for i in donated)


def debug_info(traced_for: str, fun: Callable[..., Any], args: object, kwargs: object, **_: Any) -> DebugInfo:
    """What a program made of `fun` is called in messages."""
    return DebugInfo(getattr(fun, "__name__", type(fun).__name__))


def shaped_abstractify(x: ArrayLike | SupportsShape) -> ShapedArray:
    """The aval of an array, a tracer, a number, or of something with shape and dtype."""
    like: Any = x
    if hasattr(x, "shape") and hasattr(x, "dtype") and not hasattr(x, "__array__"):
        return ShapedArray(like.shape, like.dtype, getattr(like, "weak_type", False))
    return aval_of(x)


def safe_map(f: Callable[..., Any], *args: Iterable[Any]) -> list[Any]:
    """`f` on corresponding items, as a list. Raises ValueError for sequences of different length."""
    return [f(*items) for items in zip(*args, strict=True)]


__all__ = ["argnums_partial", "debug_info", "donation_vector", "flatten_axes", "flatten_fun", "flatten_fun_nokwargs",
           "rebase_donate_argnums", "safe_map", "shaped_abstractify"]  # fmt: skip
