"""fori_loop and map, written over scan and while_loop."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload

import numpy as np

from .. import tree
from ..core import dtypes
from ..core.annotations import Array, ArrayLike, PyTree
from ..core.avals import ShapedArray, aval_of
from ..core.config import settings
from ..core.trace import Tracer
from ..ops.elementwise import lt_p
from ..ops.linear import add_p, concatenate_p, convert, reshape, slice_in_dim
from ..symbolic.dimension import is_symbolic_dim, max_dim
from ..transforms.vmap import BatchAxis, vmap_flat
from .bodies import check_leaves, name_of, roots_of
from .scan import scan
from .while_loop import while_loop


T = TypeVar("T")


__all__ = ["fori_loop", "map"]


@overload
def fori_loop(
    lower: ArrayLike,
    upper: ArrayLike,
    body_fun: Callable[[Any, Array], ArrayLike],
    init_val: ArrayLike,
    *,
    unroll: int | bool | None = None,
) -> Array: ...
@overload
def fori_loop(
    lower: ArrayLike,
    upper: ArrayLike,
    body_fun: Callable[[Any, T], T],
    init_val: T,
    *,
    unroll: int | bool | None = None,
) -> T: ...
def fori_loop(
    lower: ArrayLike,
    upper: ArrayLike,
    body_fun: Callable[[Any, Any], Any],
    init_val: PyTree,
    *,
    unroll: int | bool | None = None,
) -> PyTree:
    """`val = init_val; for i in range(lower, upper): val = body_fun(i, val)`, compiled; gives the last `val`.

    With bounds that are known before running it is a `scan` and differentiates in both modes, else a `while_loop` (forward
    mode). Bounds are numbers of one dtype (a Python int beside a signed integer takes its dtype); known ones are cut to ints.
    `unroll`: so many iterations stand in one of the compiled loop (known bounds only). Raises TypeError for bounds that are
    no scalars or of two dtypes, or a body that changes the carry's structure, shapes or dtypes, ValueError for `unroll` with bounds
    that are not known.

    >>> lax.fori_loop(0, 5, lambda i, total: total + i, 0)
    Array(10, dtype=int32, weak_type=True)
    """
    if not callable(body_fun):
        raise TypeError(f"fori_loop: body_fun must be a function; it is of type {type(body_fun).__name__}")
    dtype = _bounds_dtype(lower, upper)
    start, stop = _known(lower), _known(upper)
    if start is None or stop is None:
        if unroll not in (None, False, 1):
            raise ValueError("fori_loop: unroll needs bounds that are known while tracing (Python ints)")
        lower, upper = (x if aval_of(x).dtype == dtype else convert(x, dtype) for x in (lower, upper))
        _, _, value = while_loop(_below, _Step(body_fun, False), (lower, upper, init_val))
        return value
    if settings().disable_jit:
        for i in range(start, stop):
            init_val = body_fun(np.asarray(i, dtypes.default_int()), init_val)
        return init_val
    return _static(start, stop, body_fun, init_val, unroll)


def _bounds_dtype(lower: Any, upper: Any) -> Any:
    """The dtype of the counter. Raises TypeError for bounds that have none in common."""
    low, high = _bound("lower", lower), _bound("upper", upper)
    if low.dtype == high.dtype:
        return low.dtype
    signed = all(dtypes.kind(a.dtype) == "i" for a in (low, high))
    if signed and low.weak_type != high.weak_type:
        return high.dtype if low.weak_type else low.dtype
    raise TypeError(
        f"fori_loop: the bounds have different dtypes, lower {low.short()} and upper {high.short()}: convert one of them"
    )


def _bound(name: str, bound: Any) -> ShapedArray:
    try:
        aval = aval_of(bound)
    except TypeError:
        raise TypeError(f"fori_loop: {name} must be a number, not {type(bound).__name__}") from None
    if aval.shape:
        raise TypeError(f"fori_loop: {name} must be a scalar, not {aval.short()}")
    return aval


def _known(bound: Any) -> Any:
    if is_symbolic_dim(bound):
        return bound
    if isinstance(bound, Tracer):
        bound = bound.known()
    return None if bound is None or isinstance(bound, Tracer) else int(np.asarray(bound).item())


class _Step:
    """The body as one of a loop with a counter, for scan (`xs`) or while_loop."""

    loop = "fori_loop"
    """What errors call the loop."""
    counters: int
    """How many numbers of the loop's own stand before what the body returns."""

    def __init__(self, body: Callable[[Any, Any], Any], xs: bool):
        self.body, self.xs = body, xs
        self.counters = 1 if xs else 2
        self.__name__ = name_of(body)
        self.__wrapped__ = body
        self.traced_as = (body, ("fori_loop", xs))
        counter, value = roots_of(body).values() if len(roots_of(body)) == 2 else ("i", "val")
        self.argument_roots = {"[0][0]": counter, **({"[0][1]": value} if xs else {"[0][1]": "upper", "[0][2]": value})}

    def __call__(self, state: Any, _: Any = None) -> Any:
        i, *more, value = state
        after = (add_p(i, _one_like(i)), *more, self.body(i, value))
        return (after, None) if self.xs else after


def _one_like(i: Any) -> Any:
    aval = aval_of(i)
    one = aval.dtype.type(1)
    return one.item() if aval.weak_type else one


def _static(start: int, stop: int, body: Any, init: Any, unroll: Any) -> Any:
    """The counter is a weak integer whatever the dtype of the bounds, as in JAX."""
    steps = 1 if unroll is None else unroll
    (_, value), _ = scan(_Step(body, True), (start, init), None, length=max_dim(stop - start, 0), unroll=steps)
    return value


def _below(state: Any) -> Any:
    i, end, _ = state
    return lt_p(i, end)


def map(f: Callable[[Any], T], xs: PyTree, *, batch_size: int | None = None) -> T:
    """`f` on each element of `xs` (a tree of arrays) along its leading axis, one after another; the results stacked.

    Like `vmap(f)(xs)` with less memory and less speed; `batch_size` elements at a time are vmapped. Raises ValueError for
    leading axes that differ or a negative batch_size, TypeError for one that is not an int; 0 is as None.
    """
    batch_size = operator.index(batch_size or 0)
    if not batch_size:
        return _sequential(f, xs)
    if batch_size < 0:
        raise ValueError(f"map: batch_size must not be negative; it is {batch_size}")
    leaves, in_tree = tree.flatten(xs)
    sizes = {a.shape[0] for a in check_leaves(leaves, xs, "map: xs has, at xs") if a.ndim}
    if len(sizes) != 1:
        return _sequential(f, xs)  # its message says which differ
    (n,) = sizes
    full = n // batch_size * batch_size
    parts = []
    if full:
        rows = [
            reshape(slice_in_dim(x, 0, full), (-(-full // batch_size), batch_size, *aval_of(x).shape[1:]))
            for x in leaves
        ]
        found = _sequential(lambda x: _vmapped(f, x), in_tree.unflatten(rows))
        parts.append(tree.map(lambda y: reshape(y, (full, *aval_of(y).shape[2:])), found))
    if full < n or not n:
        parts.append(_vmapped(f, in_tree.unflatten([slice_in_dim(x, full, n) for x in leaves])))
    return tree.map(_joined, *parts)


def _sequential(f: Any, xs: Any) -> Any:
    return scan(_Each(f), None, xs)[1]


class _Each:
    """A function of an element as the body of a scan without carry."""

    def __init__(self, f: Callable[[Any], Any]):
        self.f = f
        self.__name__ = name_of(f)
        self.__wrapped__ = f
        self.traced_as = (f, "map")
        self.argument_roots = {"[1]": next(iter(roots_of(f).values()), "x")}

    def __call__(self, _: None, x: Any) -> Any:
        return None, self.f(x)


def _joined(*rows: Any) -> Any:
    return rows[0] if len(rows) == 1 else concatenate_p(*rows, dimension=0)


def _vmapped(f: Any, xs: Any) -> Any:
    leaves, in_tree = tree.flatten(xs)
    trees: list[Any] = []

    def flat(*elements: Any) -> Sequence[Any]:
        outs, out_tree = tree.flatten(f(in_tree.unflatten(elements)))
        trees.append(out_tree)
        return outs

    axis = BatchAxis(None, aval_of(leaves[0]).shape[0])
    outs, dims = vmap_flat(flat, axis, leaves, [0] * len(leaves))
    return trees[0].unflatten([axis.move(x, d, 0) for x, d in zip(outs, dims)])
