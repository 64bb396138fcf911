"""Convolutions that are written as other convolutions, where XLA's own are slow on the CPU: with its operands in each other's places, one for each
group of features, one for each feature of the groups, or with one axis in space less.

Each computes the same products, and adds them in the same order or another one: results differ by rounding alone, within the bound that
`ops.conv_forms` states.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

from ..core.avals import ShapedArray, aval_of
from ..named_tuple import NamedTuple
from ..symbolic.dimension import reach
from ..xla.cpu_tuning import CONVOLUTIONS_IN_PARTS, WINDOW_GRADIENTS_IN_LOOPS
from .conv_forms import Geometry, folded, geometry_of, holds
from .families import scalar_like
from .linear import add_p, broadcast_in_dim, concatenate_p, divided, moveaxis, pad_p, reshape, rev_p, slice_in_dim
from .precision import swapped


Convolution = Callable[..., Any]
"""The primitive, called with operands and the parameters of its equation."""


class Parts(NamedTuple):
    """What is written in place of a convolution: in words, how many convolutions, of which operands with which results and parameters, and the
    function of the primitive and both operands."""

    words: str
    count: int
    operands: tuple[ShapedArray, ShapedArray]
    out: ShapedArray
    params: dict[str, Any]
    function: Callable[[Convolution, Any, Any], Any]


def parts_of(
    x: ShapedArray, y: ShapedArray, out: ShapedArray, params: dict[str, Any], platform: str | None = None
) -> Parts | None:
    """How a convolution of operands of these avals is written for a platform (by default the one that the rules are for); None: as it is.
    `params` are those of its equation."""
    geometry = geometry_of(x, y, out, params) if holds(CONVOLUTIONS_IN_PARTS, platform) else None
    if geometry is None or geometry.products() < CONVOLUTIONS_IN_PARTS.value["products"]:
        return None
    found = (
        form(geometry, x, y, out, platform)
        for form in (_operands_swapped, _group_by_group, _feature_by_feature, _without_an_axis)
    )
    return next(filter(None, found), None)


# Operands in each other's places --------------------------------------------------------------------------------------


def _operands_swapped(
    geometry: Geometry, x: ShapedArray, y: ShapedArray, out: ShapedArray, platform: str | None
) -> Parts | None:
    """Where the left operand has gaps and the window is larger than the result (the gradient by the window of a transposed convolution):
    with x_n the left operand, s its gaps and y_k the window, out_m = sum x_n y_k over n s = m + k - low. Read from the last m to the first, this
    is a convolution of y with the window x, which has gaps s. (Where the window has gaps, too, that one's left operand would have them.)"""
    p = geometry.params
    spread = any(d > 1 for d in p["lhs_dilation"]) and all(n == 1 for n in (*p["window_strides"], *p["rhs_dilation"]))
    if geometry.groups > 1 or not spread or math.prod(geometry.window) <= math.prod(geometry.sizes):
        return None
    pads = []
    for n, k, m, _, apart, (low, _), gap in geometry.along():
        before = m - 1 - low
        pads.append((before, m - 1 + reach(n, gap) - reach(k, apart) - before))
    x_spec, y_spec, out_spec = geometry.specs
    params = {
        **p,
        "padding": tuple(pads),
        "lhs_dilation": p["rhs_dilation"],
        "rhs_dilation": p["lhs_dilation"],
        "dimension_numbers": type(p["dimension_numbers"])(y_spec, x_spec, (out_spec[1], out_spec[0], *out_spec[2:])),
        "precision": swapped(p["precision"]),
        "preferred_element_type": None,
    }

    def function(convolution: Convolution, x: Any, y: Any) -> Any:
        return rev_p(convolution(y, x, **params), dimensions=tuple(out_spec[2:]))

    words = "written with its operands in each other's places: the left one has gaps, and the window is larger than the result"
    return Parts(words, 1, (y, x), out, params, function)


# Groups ---------------------------------------------------------------------------------------------------------------


def _group_by_group(
    geometry: Geometry, x: ShapedArray, y: ShapedArray, out: ShapedArray, platform: str | None
) -> Parts | None:
    limits, groups = CONVOLUTIONS_IN_PARTS.value, geometry.groups
    if not 1 < groups <= limits["groups"] or geometry.features_of_group < limits["features"]:
        return None
    x_spec, y_spec, out_spec = geometry.specs
    split = x_spec[0] if geometry.batch_groups > 1 else x_spec[1]
    params = {**geometry.params, "feature_group_count": 1, "batch_group_count": 1, "preferred_element_type": None}

    def function(convolution: Convolution, x: Any, y: Any) -> Any:
        parts = [
            convolution(_part(x, split, groups, g), _part(y, y_spec[0], groups, g), **params) for g in range(groups)
        ]
        return concatenate_p(*parts, dimension=out_spec[1])

    return Parts(
        "written as a convolution for each group",
        groups,
        (_divided(x, split, groups), _divided(y, y_spec[0], groups)),
        _divided(out, out_spec[1], groups),
        params,
        function,
    )


def _feature_by_feature(
    geometry: Geometry, x: ShapedArray, y: ShapedArray, out: ShapedArray, platform: str | None
) -> Parts | None:
    """Groups of few features: the first feature of each group, the second of each, and so on, is repeated for what is made of it, and takes part in
    a convolution in which each feature has a window of its own."""
    count, (made, *_) = geometry.features_of_group, geometry.y_shape
    groups = geometry.groups
    of_batch = geometry.batch_groups > 1
    if groups == 1 or count * made == groups or count > CONVOLUTIONS_IN_PARTS.value["few"]:
        return None
    if of_batch and not holds(WINDOW_GRADIENTS_IN_LOOPS, platform):  # those would take longer
        return None
    x_spec, y_spec, out_spec = geometry.specs
    axis = x_spec[0] if of_batch else x_spec[1]
    name = "batch_group_count" if of_batch else "feature_group_count"
    params = {**geometry.params, name: made, "preferred_element_type": None}

    def seen(x: Any, k: int) -> Any:
        x = slice_in_dim(x, k, aval_of(x).shape[axis], count, axis)
        return _repeated(x, axis, made // groups)

    def function(convolution: Convolution, x: Any, y: Any) -> Any:
        if of_batch:
            return concatenate_p(*[convolution(seen(x, k), y, **params) for k in range(count)], dimension=out_spec[0])
        parts = [convolution(seen(x, k), _part(y, y_spec[1], count, k), **params) for k in range(count)]
        return functools.reduce(add_p, parts)

    expanded = x.update(shape=_replaced(x.shape, axis, made))
    own = y if of_batch else _divided(y, y_spec[1], count)
    return Parts(
        "written as a convolution for each feature of the groups, in which each has a window of its own",
        count,
        (expanded, own),
        _divided(out, out_spec[0], count) if of_batch else out,
        params,
        function,
    )


# An axis less ---------------------------------------------------------------------------------------------------------


def _without_an_axis(
    geometry: Geometry, x: ShapedArray, y: ShapedArray, out: ShapedArray, platform: str | None
) -> Parts | None:
    """Three axes in space: what the window sees along the first one are further features, and the places of the result along it further
    examples: out_bm = sum over j and c of x_b,(m stride + j apart),c y_jc."""
    _, k, m, stride, apart, (low, high), gap = next(geometry.along(), (0, 0, 0, 1, 1, (0, 0), 1))
    if len(geometry.sizes) != 3 or geometry.groups > 1 or geometry.is_product():
        return None
    if min(k, m) > CONVOLUTIONS_IN_PARTS.value["slices"]:
        return None
    x_spec, y_spec, out_spec = geometry.specs
    own = geometry.params
    (batch, features, _, *rest), (made, _, _, *window) = geometry.x_shape, geometry.y_shape
    names = ("window_strides", "padding", "lhs_dilation", "rhs_dilation")
    numbers = type(own["dimension_numbers"])(*[_less(spec) for spec in geometry.specs])
    params = {**own, **{a: own[a][1:] for a in names}, "dimension_numbers": numbers, "preferred_element_type": None}

    def written(convolution: Convolution, x: Any, y: Any) -> Any:
        x = moveaxis(x, x_spec[2], 0)
        if (low, high, gap) != (0, 0, 1):
            config = [(low, high, gap - 1), *[(0, 0, 0)] * (aval_of(x).ndim - 1)]
            x = pad_p(x, scalar_like(x, 0), padding_config=tuple(config))
        x = _windows(x, k, m, stride, apart)  # places of the result, of the window, then the other axes
        at_batch, at_features = numbers[0][0], numbers[0][1]
        x = folded(folded(x, 1, at_features + 1), 0, at_batch)
        y = folded(y, y_spec[2], numbers[1][1])
        made = convolution(x, y, **params)
        return moveaxis(divided(made, numbers[2][0], m), numbers[2][0], out_spec[2])

    shapes = ((batch * m, features * k, *rest), (made, features * k, *window), (batch * m, made, *geometry.sizes[1:]))
    avals = [
        a.update(shape=tuple(shape[spec.index(i)] for i in range(len(spec))))
        for a, shape, spec in zip((x, y, out), shapes, numbers)
    ]
    words = "written as a convolution with an axis less: what the window sees along the first one are further features"
    return Parts(words, 1, (avals[0], avals[1]), avals[2], params, written)


def _windows(x: Any, k: int, m: int, stride: int, apart: int) -> Any:
    """What a window of k elements, `apart` from each other, sees along the first axis from m places, `stride` from each other: (m, k, …)."""
    shape = aval_of(x).shape

    def every(start: int, count: int, step: int, axis: int) -> Any:
        part = slice_in_dim(x, start, start + (count - 1) * step + 1, step)
        new = (count, 1, *shape[1:]) if axis == 1 else (1, count, *shape[1:])
        return reshape(part, new)

    if k <= m:
        return _joined([every(j * apart, m, stride, 1) for j in range(k)], 1)
    return _joined([every(i * stride, k, apart, 0) for i in range(m)], 0)


# Axes -----------------------------------------------------------------------------------------------------------------


def _less(spec: Sequence[int]) -> tuple[int, ...]:
    """The places of axes without the first one in space."""
    gone = spec[2]
    return tuple(a - (a > gone) for a in spec if a != gone)


def _repeated(x: Any, axis: int, times: int) -> Any:
    """Each element along an axis so many times."""
    if times == 1:
        return x
    shape = aval_of(x).shape
    wide = (*shape[: axis + 1], times, *shape[axis + 1 :])
    x = broadcast_in_dim(x, wide, tuple(i + (i > axis) for i in range(len(shape))))
    return reshape(x, _replaced(shape, axis, shape[axis] * times))


def _part(x: Any, axis: int, count: int, at: int) -> Any:
    """One of so many equal parts along an axis."""
    size = aval_of(x).shape[axis] // count
    return slice_in_dim(x, at * size, (at + 1) * size, axis=axis)


def _divided(aval: ShapedArray, axis: int, count: int) -> ShapedArray:
    return aval.update(shape=_replaced(aval.shape, axis, aval.shape[axis] // count))


def _replaced(shape: Sequence[int], axis: int, size: int) -> tuple[int, ...]:
    return (*shape[:axis], size, *shape[axis + 1 :])


def _joined(parts: Sequence[Any], axis: int) -> Any:
    return concatenate_p(*parts, dimension=axis) if len(parts) > 1 else parts[0]
