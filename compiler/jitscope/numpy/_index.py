"""What stands between brackets: an index expression taken apart."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .. import tree
from ..backend.array import Array, to_array
from ..core import dtypes, notices
from ..core.avals import aval_of, from_protocol
from ..core.errors import NonConcreteBooleanIndexError
from ..core.jax_values import jax_kind
from ..core.messages import argument_of, message_here
from ..core.slices import Slice
from ..core.trace import Tracer, evaluating
from ..named_tuple import NamedTuple
from ..ops.linear import convert
from ..ops.stacking import stack_p
from ..symbolic.dimension import Dim, extent, max_dim, min_dim, size as as_size


_FAR = np.iinfo(np.int32).max
NEW, SLICE, INT, SCALAR, ARRAY = "new", "slice", "int", "scalar", "array"


class Item(NamedTuple):
    """One part of an index, for one axis of the array (a new axis has none).

    `value`: of a slice (start, size, step), with start the first element taken; of an INT a number in bounds; else an
    integer array. An INT that was out of bounds is `clipped`.
    """

    kind: str
    axis: int
    value: Any = None
    clipped: bool = False


class Index(NamedTuple):
    """An index taken apart: its items in order (all axes are there), the array's shape once scalar booleans have added
    axes of size 1 at `added`, and where the axes of index arrays go in the result."""

    items: tuple[Item, ...]
    shape: tuple[int, ...]
    added: tuple[int, ...]
    arrays_at: int


def parse(index: Any, shape: tuple[int, ...], strict: bool = False) -> Index:
    """Take an index expression apart. Raises IndexError for too many or out-of-range parts, TypeError for parts that are
    no index, NonConcreteBooleanIndexError for traced masks. If `strict`, numbers out of bounds are out of range, too."""
    parts = list(index) if isinstance(index, tuple) and type(index) is not Slice else [index]
    if isinstance(index, list):
        raise TypeError("a list is not an index here: use x[jnp.array(list)] or x[tuple(list)], whichever is meant")
    parts = [_value(part, index) for part in parts]
    if sum(part is Ellipsis for part in parts) > 1:
        raise IndexError("an index can have only one ellipsis (...)")
    taken = sum(map(_axes_taken, parts))
    if taken > len(shape):
        raise IndexError(f"too many indices: the array has shape {shape}, {len(shape)} axes, and {taken} were given")
    if not any(part is Ellipsis for part in parts):
        parts.append(Ellipsis)
    items: list[Item] = []
    full_shape: list[int] = []
    added: list[int] = []
    given = iter(shape)
    adjacent: list[int] = []  # for every advanced part, its place among the parts
    for place, part in enumerate(parts):
        if part is Ellipsis:
            for _ in range(len(shape) - taken):
                full_shape.append(next(given))
                items.append(_slice(slice(None), len(full_shape) - 1, full_shape[-1]))
        elif part is None:
            items.append(Item(NEW, -1))
        elif isinstance(part, slice):
            full_shape.append(next(given))
            items.append(_slice(part, len(full_shape) - 1, full_shape[-1]))
        elif type(part) is Slice:
            full_shape.append(next(given))
            items.append(Item(SLICE, len(full_shape) - 1, part.within(len(full_shape) - 1, full_shape[-1])))
        elif isinstance(part, (bool, np.bool_)):
            added.append(len(full_shape))
            full_shape.append(1)
            items.append(Item(ARRAY, len(full_shape) - 1, np.zeros(int(part), np.int32)))
            adjacent.append(place)
        elif isinstance(part, (int, Dim)):
            full_shape.append(next(given))
            if strict and isinstance(part, int) and not -full_shape[-1] <= part < full_shape[-1]:
                raise IndexError(
                    f"index {part} out of bounds for axis {len(full_shape) - 1} with size {full_shape[-1]}"
                )
            items.append(_int(part, len(full_shape) - 1, full_shape[-1]))
            adjacent.append(place)
        else:
            for column in _columns(part, list(shape[len(full_shape) - len(added) :])):
                full_shape.append(next(given))
                items.append(_array(column, len(full_shape) - 1, full_shape[-1]))
            adjacent.append(place)
    return Index(tuple(items), tuple(full_shape), tuple(added), _place_of_arrays(items, adjacent))


def _array_of(numbers: Any) -> Any:
    """The array of numbers in lists, of which some may be traced."""
    if not any(isinstance(x, Tracer) for x in tree.leaves(numbers)):
        return np.asarray(numbers, None if len(numbers) else np.int32)
    rows = [_array_of(x) if isinstance(x, (list, tuple)) else x for x in numbers]
    dtype = dtypes.promote_types(*[(a.dtype, a.weak_type) for a in map(aval_of, rows)])
    return stack_p(*[convert(x, dtype) for x in rows], axis=0)


def _value(part: Any, index: Any) -> Any:
    """A part of an index as None, Ellipsis, slice, bool, int, or an array of integers or booleans."""
    if part is None or part is Ellipsis or isinstance(part, (slice, bool, np.bool_, Slice)):
        return part
    if isinstance(part, (list, tuple)):
        part = _array_of(part)
    if isinstance(part, Dim):
        return part
    part = to_array(part) if jax_kind(part) is not None else from_protocol(part)
    if isinstance(part, (int, np.integer)):
        return int(part)
    if isinstance(part, (Array, Tracer, np.ndarray, np.generic)):
        kind = dtypes.kind(aval_of(part).dtype)
        if kind == "b":
            return _mask(part)
        if kind in "iu":
            return part if not isinstance(part, np.ndarray) or part.ndim else int(part)
        raise TypeError(f"an index must be of integers or booleans, not {aval_of(part).short()}")
    if isinstance(part, str):
        raise TypeError(f"text is not an index: {part!r}")
    try:
        return operator.index(part)
    except TypeError:
        kind = TypeError if isinstance(part, (float, complex)) else IndexError
        raise kind(f"a {type(part).__name__} is not an index: {part!r}") from None


def _mask(part: Any) -> Any:
    """A boolean index as a NumPy array or a bool: its values decide the shape of the result."""
    if isinstance(part, Tracer):
        part = part.known()
        while isinstance(part, Tracer):
            part = part.known()
        if part is None:
            raise NonConcreteBooleanIndexError(
                message_here(
                    "the size of x[mask] depends on the values of the mask, which are not known while tracing.",
                    "jnp.where(mask, x, other) keeps the shape; jnp.nonzero(mask, size=n) gives n indices; for sums and "
                    "means there is where=mask",
                    "mask",
                )
            )
    value = np.asarray(part)
    return value if value.ndim else bool(value)


def _axes_taken(part: Any) -> int:
    if part is None or part is Ellipsis or isinstance(part, (bool, np.bool_)):
        return 0
    return part.ndim if isinstance(part, np.ndarray) and part.dtype == np.bool_ else 1


def _columns(part: Any, shape: list[int]) -> list[Any]:
    """The integer arrays that a part stands for: itself, or for a mask one for each of its axes."""
    if not (isinstance(part, np.ndarray) and part.dtype == np.bool_):
        return [part]
    if any(n not in (0, m) for n, m in zip(part.shape, shape)):
        raise IndexError(
            f"a boolean index of shape {part.shape} meets axes of sizes {tuple(shape[: part.ndim])}: they must be equal"
        )
    # As in NumPy, an axis of size 0 fits every other: it picks nothing.
    return [column.astype(np.int32) for column in np.nonzero(part)]


def _int(i: Any, axis: int, size: Any) -> Item:
    if size == 0:
        raise IndexError(f"index {i} is out of bounds for axis {axis}, which has size 0")
    counted = i + size if i < 0 else i
    if notices.listeners and isinstance(i, int) and isinstance(size, int) and not 0 <= counted < size:
        notices.tell(
            "oob-index",
            f"index {i} is outside of axis {axis}, which has size {size}: reading gives the element at the edge, and what is written is dropped.",
            "Correct the index, or say what is meant: x.at[i].get(mode='fill', fill_value=jnp.nan), x.at[i].set(y, mode='drop').",
        )
    inside = min_dim(max_dim(counted, 0), size - 1)
    if not isinstance(inside, Dim) and inside != counted and not evaluating():
        return Item(SCALAR, axis, np.int32(min(max(i, -_FAR), _FAR)))  # the program keeps it: checkify tells of it
    return Item(INT, axis, inside, inside != counted)


def _array(x: Any, axis: int, size: int) -> Item:
    rank = aval_of(x).ndim
    if size == 0 and rank == 0:
        raise IndexError(f"an index of axis {axis}, which has size 0, is out of bounds")
    return Item(ARRAY if rank else SCALAR, axis, x)


def _slice(part: slice, axis: int, size: int) -> Item:
    bounds = []
    for bound in (part.start, part.stop, part.step):
        if isinstance(bound, Tracer) and bound.known() is None:
            raise IndexError(
                message_here(
                    "the bounds of a slice must be known while tracing: the size of the result depends on them.",
                    "lax.dynamic_slice_in_dim(x, start, size) for a slice of known size, a mask in place of one whose size "
                    f"changes, or {_static(bound)} for the bounds",
                    "slice",
                )
            )
        bounds.append(bound if bound is None else as_size(bound))
    return Item(SLICE, axis, extent(slice(*bounds), size))


def _static(bound: Tracer) -> str:
    argument = argument_of(bound)
    return f"a static argument (static_argnames={argument!r})" if argument else "static arguments"


def _place_of_arrays(items: list[Item], places: list[int]) -> int:
    """Where NumPy puts the axes of index arrays: where the first stood if they stood side by side, else in front."""
    if places and places[-1] - places[0] != len(places) - 1:
        return 0
    place = 0
    for item in items:
        if item.kind in (INT, SCALAR, ARRAY):
            return place
        place += 1
    return place
