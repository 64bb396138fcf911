"""Reductions by a function that the user gives, over axes and over windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import tree
from ..backend.placement import laid
from ..control.reducing import combining, reduce_p, reduce_window_p
from ..core import dtypes
from ..core.annotations import PartitionSpec, PyTree, Sharding
from ..core.avals import aval_of
from ..core.trace import Tracer
from ..ops import linear, reduce as reductions, windows
from ..ops.linear import convert
from ..symbolic.dimension import size
from . import elementwise
from .convolutions import padtype_to_pads


_KNOWN = {
    elementwise.add: (linear.scalar_zero, linear.reduce_sum_p, windows.reduce_window_sum_p),
    elementwise.mul: (reductions.one, reductions.reduce_prod_p, None),
    elementwise.max: (reductions.lowest, reductions.reduce_max_p, windows.reduce_window_max_p),
    elementwise.min: (reductions.highest, reductions.reduce_min_p, windows.reduce_window_min_p),
    elementwise.bitwise_or: (linear.scalar_zero, reductions.reduce_or_p, None),
    elementwise.bitwise_and: (reductions.all_bits, reductions.reduce_and_p, None),
    elementwise.bitwise_xor: (linear.scalar_zero, reductions.reduce_xor_p, None),
}
"""Functions that have a reduction of their own: what changes nothing, and the primitives over axes and over windows."""


def _own_primitive(computation: Any, operands: Any, init_values: Any, over_windows: bool) -> Any:
    """The primitive of a known function that starts with what changes nothing."""
    found = _KNOWN.get(computation) if callable(computation) and getattr(computation, "__hash__", None) else None
    if found is None or isinstance(init_values, Tracer):
        return None
    if not all(tree.treedef_is_leaf(tree.structure(x)) for x in (operands, init_values)):
        return None
    identity, primitive = found[0], found[1 + over_windows]
    start, x = aval_of(init_values), aval_of(operands)
    bits = computation in (elementwise.bitwise_or, elementwise.bitwise_and, elementwise.bitwise_xor)
    if primitive is None or start.shape or (bits and dtypes.kind(x.dtype) not in "biu"):
        return None
    if dtypes.kind(x.dtype) not in primitive.accepts:
        return None
    return primitive if np.asarray(init_values) == identity(start.dtype) else None


def reduce(
    operands: PyTree,
    init_values: PyTree,
    computation: Callable[[Any, Any], Any],
    dimensions: Sequence[int],
    out_sharding: Sharding | PartitionSpec | None = None,
) -> PyTree:
    """All elements along the given axes combined by `computation`, which must be associative; the axes go.

    operands: an array, or a tree of arrays of one shape; init_values: such a tree of scalars that change nothing (they
    may come in any number of times); computation takes two trees of scalars and gives one. Raises ValueError for axes that
    do not exist and trees that differ, TypeError for dtypes that do, NotImplementedError for a computation that uses
    traced values from outside. Derivatives are those of a reduction in pairs.
    """
    if out_sharding is not None:
        return laid(out_sharding, lambda x, first: reduce(x, first, computation, dimensions), operands, init_values)
    axes = tuple(int(d) for d in dimensions)
    primitive = _own_primitive(computation, operands, init_values, over_windows=False)
    if primitive is not None:
        weak = aval_of(operands).weak_type and aval_of(init_values).weak_type
        out = primitive(operands, axes=tuple(sorted(axes)))
        return convert(out, aval_of(out).dtype, weak)
    closed, xs, starts, structure = combining("reduce", computation, operands, init_values)
    return structure.unflatten(reduce_p(*xs, *starts, jaxpr=closed, dimensions=axes))


def reduce_window(
    operand: PyTree,
    init_value: PyTree,
    computation: Callable[..., Any],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int] | None = None,
    padding: str | Sequence[tuple[int, int]] = "VALID",
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> PyTree:
    """The elements of each window combined by `computation` (see `reduce`), one result for each place of the window.

    window_dimensions, window_strides, base_dilation (of the array's elements) and window_dilation: a positive number for
    each axis; strides and dilations are 1 by default. padding: (low, high) for each axis, or "VALID", "SAME" or
    "SAME_LOWER" (see `padtype_to_pads`); what it puts in changes nothing. Sums, maxima and minima (`lax.add`, `lax.max`,
    `lax.min` with their identities) have derivatives of every order that cost as much as they do; others those of a
    reduction in pairs. Raises TypeError for windows that do not fit the array, ValueError for trees that differ.
    """
    leaves = tree.leaves(operand)
    if not leaves:
        raise ValueError("reduce_window needs an operand")
    window = _window(
        aval_of(leaves[0]).shape, window_dimensions, window_strides, padding, base_dilation, window_dilation
    )
    primitive = _own_primitive(computation, operand, init_value, over_windows=True)
    if primitive is not None:
        return primitive(operand, **window)
    closed, xs, starts, structure = combining("reduce_window", computation, operand, init_value)
    return structure.unflatten(reduce_window_p(*xs, *starts, jaxpr=closed, **window))


def _window(shape: Sequence[int], sizes: Any, strides: Any, padding: Any, base: Any, window: Any) -> dict[str, Any]:
    """The parameters of a window, all of them given."""
    sizes = tuple(map(int, sizes))
    ones = (1,) * len(sizes)
    found = {
        "window_dimensions": sizes,
        "window_strides": ones if strides is None else tuple(map(int, strides)),
        "base_dilation": ones if base is None else tuple(map(int, base)),
        "window_dilation": ones if window is None else tuple(map(int, window)),
    }
    if isinstance(padding, str):
        if any(s < 1 for s in found["window_strides"]):
            raise TypeError(f"reduce_window: window_strides={found['window_strides']} should be positive")
        reach = windows.dilated(sizes, found["window_dilation"])
        padding = padtype_to_pads(shape, reach, found["window_strides"], padding)
    return found | {"padding": tuple((size(low), size(high)) for low, high in padding)}


def reduce_window_shape_tuple(
    operand_shape: Sequence[int],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int],
    padding: Sequence[tuple[int, int]],
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> tuple[int, ...]:
    """The shape of what `reduce_window` gives for an array of operand_shape. `padding`: pairs of numbers."""
    return windows.windows_of(
        operand_shape,
        **_window(operand_shape, window_dimensions, window_strides, padding, base_dilation, window_dilation),
    )
