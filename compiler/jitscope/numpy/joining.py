"""Joining, splitting and repeating arrays."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.annotations import Array, ArrayLike, DTypeLike, Join
from ..core.avals import aval_of
from ..core.dtypes import promote
from ..core.errors import ShapeError, TracerIntegerConversionError
from ..core.staging import constant_atom
from ..eager.functions import eager_jit
from ..ops.linear import (
    concatenate_p,
    convert,
    reshape,
    slice_in_dim,
)
from ..ops.split import split_p
from ..ops.stacking import stack_p, unstack_p
from ._ufunc import describe
from .dtypes import requested
from .operands import cast, integer, one_axis, operand_and_aval, unsupported
from .structure import array_operand, atleast_1d, atleast_2d, atleast_3d, with_new_axes


__all__ = ["append", "array_split", "block", "column_stack", "concat", "concatenate", "dsplit", "dstack", "hsplit",
           "hstack", "split", "stack", "unstack", "vsplit", "vstack"]  # fmt: skip


def _sequence(name: str, arrays: Any) -> list[Any] | tuple[Any, ...]:
    """The arrays to join; an array stands for its rows."""
    if hasattr(arrays, "aval") or isinstance(arrays, np.ndarray):
        if not aval_of(arrays).shape:
            raise TypeError(f"{name} needs a sequence of arrays, not one of rank 0")
        return unstack(arrays)
    if not isinstance(arrays, (list, tuple)):
        raise TypeError(f"{name} needs a sequence of arrays, not {type(arrays).__name__}")
    if not arrays:
        raise ValueError(f"{name} needs at least one array")
    return list(arrays)


def _alike(name: str, arrays: Sequence[Any], dtype: Any) -> list[Any]:
    """The arrays in one dtype."""
    pairs = [operand_and_aval(name, x, i) for i, x in enumerate(arrays)]
    to, weak = (
        (requested(dtype, name), False) if dtype is not None else promote(*[(a.dtype, a.weak_type) for _, a in pairs])
    )
    return [array_operand(name, cast(x, a, to, weak)) for x, a in pairs]


def join(name: str, xs: Sequence[Any], axis: int) -> Any:
    """Arrays of one dtype one after another. Raises ShapeError naming the shapes that do not agree."""
    shapes = [aval_of(x).shape for x in xs]
    rank = len(shapes[0])
    if rank == 0:
        raise ValueError(f"{name}: arrays of rank 0 have no axis to join along; use stack")
    axis = one_axis(name, axis, rank, TracerIntegerConversionError)
    if any(len(s) != rank or s[:axis] + s[axis + 1 :] != shapes[0][:axis] + shapes[0][axis + 1 :] for s in shapes):
        raise ShapeError(f"{name}: shapes {', '.join(map(str, shapes))} must agree in all axes but axis {axis}")
    return xs[0] if len(xs) == 1 else concatenate_p(*xs, dimension=axis)


@eager_jit(static="axis dtype", same=True)
def concatenate(arrays: ArrayLike | Sequence[ArrayLike], axis: int | None = 0, dtype: DTypeLike | None = None) -> Array:
    """The arrays one after another along an axis they have (None: of the raveled arrays), in their common dtype or
    `dtype`. Raises ShapeError (a TypeError and a ValueError), naming the shapes, if they do not agree in the other
    axes."""
    xs = _alike("concatenate", _sequence("concatenate", arrays), dtype)
    if axis is None:
        xs, axis = [reshape(x, (aval_of(x).size,)) for x in xs], 0
    return join("concatenate", xs, axis)


@eager_jit(static="axis")
def concat(arrays: ArrayLike | Sequence[ArrayLike], /, *, axis: int | None = 0) -> Array:
    """The arrays one after another along an axis, see `concatenate`."""
    return concatenate(arrays, axis)


@eager_jit(static="axis out dtype")
def stack(
    arrays: ArrayLike | Sequence[ArrayLike], axis: int = 0, out: None = None, dtype: DTypeLike | None = None
) -> Array:
    """Arrays of one shape along a new axis. Raises ValueError, naming the shapes, if they differ."""
    unsupported("stack", out=out)
    xs = _alike("stack", _sequence("stack", arrays), dtype)
    shapes = {aval_of(x).shape: None for x in xs}
    if len(shapes) > 1:
        raise ValueError(f"stack: all arrays must have one shape; these have {' and '.join(map(str, shapes))}")
    place = one_axis("stack", axis, aval_of(xs[0]).ndim + 1)
    return stack_p(*xs, axis=place) if len(xs) > 1 else with_new_axes(xs[0], [place])


def _joined(name: str, widen: Any, axis: Any, doc: str) -> Join:
    def fun(tup: Any, dtype: Any = None) -> Any:
        xs = [widen(x) for x in _alike(name, _sequence(name, tup), dtype)]
        return join(name, xs, axis(xs))

    return eager_jit(static="dtype")(describe(fun, name, doc))


vstack = _joined("vstack", atleast_2d, lambda xs: 0, "Arrays one below another: along axis 0, vectors as rows.")
hstack = _joined(
    "hstack",
    atleast_1d,
    lambda xs: 0 if aval_of(xs[0]).ndim == 1 else 1,
    "Arrays side by side: along axis 1, vectors along axis 0.",
)
dstack = _joined("dstack", atleast_3d, lambda xs: 2, "Arrays one behind another: along axis 2.")


@eager_jit()
def column_stack(tup: ArrayLike | Sequence[ArrayLike]) -> Array:
    """Arrays [m, n, ...] side by side along axis 1, vectors [m] as columns. Raises ShapeError where they differ in
    another axis."""
    xs = _alike("column_stack", _sequence("column_stack", tup), None)
    return join(
        "column_stack",
        [x if aval_of(x).ndim > 1 else with_new_axes(x, [1] if aval_of(x).ndim else [0, 1]) for x in xs],
        1,
    )


@eager_jit(static="axis")
def append(arr: ArrayLike, values: ArrayLike, axis: int | None = None) -> Array:
    """`arr` and then `values` along an axis (None: both raveled)."""
    return concatenate([arr, values], axis)


def block(arrays: ArrayLike | list[Any]) -> Array:
    """Blocks, as nested lists, put together: the innermost lists along the last axis. Raises ValueError for lists of
    uneven depth, empty ones, and tuples."""
    depth = _depth(arrays)
    flat: list[Any] = []
    _collect(arrays, flat)
    rank = max([depth, *[np.ndim(x) if not hasattr(x, "aval") else x.aval.ndim for x in flat]])

    def build(part: Any, level: int) -> Any:
        if not isinstance(part, list):
            x = array_operand("block", part)
            aval = aval_of(x)
            return with_new_axes(convert(x, aval.dtype, aval.weak_type), range(rank - aval.ndim))
        return concatenate([build(item, level + 1) for item in part], rank - depth + level)

    return constant_atom(build(arrays, 0))


def _depth(x: Any) -> int:
    if isinstance(x, tuple):
        raise ValueError("block takes lists of lists of arrays; one of them is a tuple")
    if not isinstance(x, list):
        return 0
    depths = {_depth(item) for item in x}
    if len(depths) != 1:
        raise ValueError("block: the lists are nested to different depths" if x else "block: a list is empty")
    return 1 + depths.pop()


def _collect(x: Any, into: list[Any]) -> None:
    for item in x if isinstance(x, list) else ():
        _collect(item, into)
    if not isinstance(x, list):
        into.append(x)


# Splitting -----------------------------------------------------------------------------------------------------------


@eager_jit(static="axis")
def unstack(x: ArrayLike, /, *, axis: int = 0) -> tuple[Array, ...]:
    """The parts along one axis, without that axis."""
    x = array_operand("unstack", x)
    shape = aval_of(x).shape
    axis = one_axis("unstack", axis, len(shape))
    return tuple(unstack_p(x, axis=axis)) if shape[axis] else ()


def _pieces(name: str, ary: Any, sections: Any, axis: int, even: bool) -> list[Any]:
    x = array_operand(name, ary)
    axis = one_axis(name, axis, aval_of(x).ndim)
    size = aval_of(x).shape[axis]
    if isinstance(sections, (tuple, list)) or getattr(sections, "ndim", 0):
        cuts = [integer(name, i, "every index") for i in sections]
        edges = [0, *[min(max(i + size if i < 0 else i, 0), size) for i in cuts], size]
    else:
        whole = isinstance(sections, (float, np.floating)) and sections == int(sections)
        count = integer(name, int(sections) if whole else sections, "the number of sections")
        if not count:
            raise ZeroDivisionError(f"{name}: there is no division into 0 sections")
        if count < 0:
            raise ValueError(f"{name}: the number of sections must be positive, not {count}")
        if even and size % count:
            raise ValueError(
                f"{name}: axis {axis} of shape {aval_of(x).shape} cannot be split into {count} equal parts; "
                "array_split makes unequal ones"
            )
        edges = [0, *np.cumsum([size // count + (i < size % count) for i in range(count)]).tolist()]
    if edges == sorted(edges):
        return split_p(x, sizes=tuple(b - a for a, b in itertools.pairwise(edges)), axis=axis)
    return [slice_in_dim(x, a, max(a, b), axis=axis) for a, b in itertools.pairwise(edges)]


@eager_jit(static="indices_or_sections axis")
def split(ary: ArrayLike, indices_or_sections: int | Sequence[int] | ArrayLike, axis: int = 0) -> list[Array]:
    """A list of parts along an axis: so many equal ones, or cut at the indices. Raises ValueError if equal parts do not
    come out even."""
    return _pieces("split", ary, indices_or_sections, axis, True)


@eager_jit(static="indices_or_sections axis")
def array_split(ary: ArrayLike, indices_or_sections: int | Sequence[int] | ArrayLike, axis: int = 0) -> list[Array]:
    """Like `split`, but the parts may differ in size by one: no division raises ValueError."""
    return _pieces("array_split", ary, indices_or_sections, axis, False)


@eager_jit(static="indices_or_sections")
def vsplit(ary: ArrayLike, indices_or_sections: int | Sequence[int] | ArrayLike) -> list[Array]:
    """`split` along axis 0."""
    return _pieces("vsplit", ary, indices_or_sections, 0, True)


@eager_jit(static="indices_or_sections")
def hsplit(ary: ArrayLike, indices_or_sections: int | Sequence[int] | ArrayLike) -> list[Array]:
    """`split` along axis 1, of vectors along axis 0."""
    return _pieces("hsplit", ary, indices_or_sections, 0 if operand_and_aval("hsplit", ary)[1].ndim == 1 else 1, True)


@eager_jit(static="indices_or_sections")
def dsplit(ary: ArrayLike, indices_or_sections: int | Sequence[int] | ArrayLike) -> list[Array]:
    """`split` along axis 2."""
    return _pieces("dsplit", ary, indices_or_sections, 2, True)
