"""A function applied at computed places."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import tree
from ..control.bodies import trace_body
from ..control.scatter_apply import scatter_apply_p
from ..core.annotations import Array, ArrayLike
from ..core.avals import ShapedArray, aval_of
from ..core.trace import Tracer
from ..ops.indexing import GatherScatterMode, ScatterDimensionNumbers
from ..ops.linear import full


def scatter_apply(
    operand: ArrayLike,
    scatter_indices: ArrayLike,
    func: Callable[[Any], Any],
    dimension_numbers: ScatterDimensionNumbers,
    *,
    update_shape: Sequence[int] = (),
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: str | GatherScatterMode | None = None,
) -> Array:
    """`operand` with func(element) in place of the elements in the slices that start at `scatter_indices`, applied as
    often as an index comes. `update_shape` says how large slices are; the rest as in `scatter`. func takes and gives a
    scalar. Raises TypeError where shapes do not fit, NotImplementedError for derivatives and for a func that uses traced
    values from outside.
    """
    aval = aval_of(operand)
    scalar = ShapedArray((), aval.dtype)
    body = trace_body(func, tree.structure((0,)), [scalar])
    (out,) = body.closed.out_avals if len(body.closed.out_avals) == 1 else (None,)
    if out is None or (out.shape, out.dtype) != ((), aval.dtype):
        raise TypeError(f"scatter_apply: func must give {scalar.short()} from {scalar.short()}")
    if any(isinstance(c, Tracer) for c in body.closed.consts):
        raise NotImplementedError("scatter_apply: func uses a traced value from outside; it sees elements alone")
    return scatter_apply_p(
        operand,
        scatter_indices,
        full(tuple(update_shape), 0, aval.dtype),
        dimension_numbers=dimension_numbers,
        indices_are_sorted=bool(indices_are_sorted),
        unique_indices=bool(unique_indices),
        mode=GatherScatterMode.from_any(mode),
        jaxpr=body.closed,
    )
