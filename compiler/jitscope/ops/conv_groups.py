"""Convolutions in groups of features, or of examples, as a loop over the groups, each of which is computed by minimal filtering (`ops.winograd`): one group is
compiled, however many there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.avals import ShapedArray
from ..xla.cpu_tuning import GROUPS_IN_A_LOOP
from .conv_forms import Geometry
from .winograd import filtered, filtered_gradient, is_filtered, is_filtered_gradient


_COUNT = ShapedArray((), np.dtype(np.int32))


def is_loop_over_groups(ctx: Any, geometry: Geometry) -> bool:
    """Whether a convolution is computed so."""
    if geometry.groups == 1 or not GROUPS_IN_A_LOOP.holds(ctx.module.platform):
        return False
    one, products = _of_one(geometry), geometry.products()
    return is_filtered(ctx, one, products) or is_filtered_gradient(ctx, one, products)


def over_groups(ctx: Any, geometry: Geometry, x: Any, y: Any) -> Any:
    """The result of a convolution, MLIR values of the context's operands."""
    one, (x_aval, y_aval), (out,) = _of_one(geometry), ctx.avals_in, ctx.avals_out
    own = filtered if is_filtered(ctx, one, geometry.products()) else filtered_gradient
    x_spec, y_spec, out_spec = geometry.specs
    x_axis = x_spec[0] if geometry.batch_groups > 1 else x_spec[1]
    avals = [_part(a, axis, geometry) for a, axis in ((x_aval, x_axis), (y_aval, y_spec[0]), (out, out_spec[1]))]

    def at(group: Any, aval: ShapedArray, axis: int) -> list[Any]:
        start = ctx.hlo.multiply(group, ctx.scalar(aval.shape[axis], np.int32))
        return [start if i == axis else ctx.scalar(0, np.int32) for i in range(aval.ndim)]

    def body(group: Any, made: Any, x: Any, y: Any) -> list[Any]:
        x_part, y_part = [
            ctx.dynamic_slice(value, whole, at(group, part, axis), part.shape)
            for value, whole, part, axis in ((x, x_aval, avals[0], x_axis), (y, y_aval, avals[1], y_spec[0]))
        ]
        new = own(ctx, one, x_part, y_part, avals[:2])
        made = ctx.hlo.dynamic_update_slice(made, new, at(group, avals[2], out_spec[1]))
        return [ctx.hlo.add(group, ctx.scalar(1, np.int32)), made, x, y]

    def going(group: Any, *_: Any) -> Any:
        return ctx.compare(group, ctx.scalar(geometry.groups, np.int32), "LT")

    begun = [ctx.scalar(0, np.int32), ctx.zeros(out), x, y]
    return ctx.while_loop([_COUNT, out, x_aval, y_aval], begun, going, body)[1]


def _part(aval: ShapedArray, axis: int, geometry: Geometry) -> ShapedArray:
    shape = list(aval.shape)
    shape[axis] //= geometry.groups
    return aval.update(shape=tuple(shape))


def _of_one(geometry: Geometry) -> Geometry:
    """The convolution of one group."""
    groups, (batch, features, *space), (made, *rest) = geometry.groups, geometry.x_shape, geometry.y_shape
    x_shape = (batch // groups, features, *space) if geometry.batch_groups > 1 else (batch, features // groups, *space)
    params = {**geometry.params, "feature_group_count": 1, "batch_group_count": 1}
    return Geometry(x_shape, (made // groups, *rest), geometry.sizes, geometry.specs, params)
