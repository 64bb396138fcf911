"""The general convolution: sums of products over a window that moves along spatial axes, and over features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.avals import ShapedArray, aval_of
from ..named_tuple import NamedTuple
from ..symbolic.dimension import is_static, max_dim, reach, size
from ..xla.cpu_tuning import (
    CONVOLUTIONS_IN_LOOPS,
    CONVOLUTIONS_IN_PARTS,
    GROUPS_IN_A_LOOP,
    MINIMAL_FILTERING,
    WINDOW_GRADIENTS_IN_LOOPS,
    Tuning,
)
from .conv_forms import Geometry, folded, form_of, geometry_of
from .conv_groups import is_loop_over_groups, over_groups
from .conv_loops import in_a_loop, is_in_a_loop, is_summed_by_rows, summed_by_rows
from .conv_parts import parts_of
from .elementwise import complex_p, imag_p, real_p
from .families import Bilinear, pure, same_dtype
from .linear import add_p, convert, divided, moveaxis, rev_p, sub_p, zeros
from .precision import as_precision, is_algorithm, swapped
from .small_floats import are_small, in_single, widened
from .winograd import filtered, filtered_gradient, is_filtered, is_filtered_gradient


class ConvDimensionNumbers(NamedTuple):
    """Which axis is what. `lhs_spec` and `out_spec`: batch, features, then the spatial axes; `rhs_spec`: output features,
    input features, then the spatial axes."""

    lhs_spec: tuple[int, ...]
    rhs_spec: tuple[int, ...]
    out_spec: tuple[int, ...]


Pads = tuple[tuple[int, int], ...]


class Conv(Bilinear):
    """A window `rhs` moves over `lhs` by `window_strides`; where it stands, products are summed over the window and the
    input features.

    `padding`: zeros (low, high) around each spatial axis of lhs, negative ones cut; `lhs_dilation` and `rhs_dilation`
    spread the elements apart. With `feature_group_count` G, the g-th part of the output features sees the g-th part of the
    input features; with `batch_group_count` G, the g-th part of the output features comes from the g-th part of the batch.
    """

    def abstract(self, x, y, /, *, preferred_element_type, precision, **geometry):
        dtype = _result_dtype(same_dtype(self.name, (x, y)), preferred_element_type, x, y)
        _check(x, y, **geometry)
        return pure(ShapedArray(_result_shape(x, y, **geometry), dtype, x.weak_type and y.weak_type))

    def lower(self, ctx, x, y, /, *, precision, preferred_element_type, **geometry):
        (x_aval, y_aval), out = ctx.avals_in, ctx.avals_out[0]
        if 0 in (x_aval.size, y_aval.size, out.size):
            return ctx.inline(lambda *_: zeros(out), x, y)
        if dtypes.is_complex(out.dtype):
            return ctx.inline(lambda x, y: _complex(x, y, out.dtype, precision=precision, **geometry), x, y)
        params = {"precision": precision, **geometry}
        if are_small(x_aval, y_aval, out) and self._is_written(ctx, widened((x_aval, y_aval, out)), params):
            own = {**params, "preferred_element_type": None}
            return ctx.inline(in_single(lambda x, y: conv_general_dilated_p(x, y, **own)), x, y)
        own = geometry_of(x_aval, y_aval, out, params)
        if own is not None and (algorithm := _algorithm(ctx, own)) is not None:
            ctx.rewritten(algorithm.words, algorithm.rule)
            return algorithm.lowered(ctx, own, x, y)
        parts = parts_of(x_aval, y_aval, out, params, ctx.module.platform)
        if parts is not None:
            ctx.rewritten(parts.words, CONVOLUTIONS_IN_PARTS)
            return ctx.inline(lambda x, y: parts.function(conv_general_dilated_p, x, y), x, y)
        form = form_of(x_aval, y_aval, out, params, ctx.module.platform)
        if form is not None:
            ctx.rewritten(form.words, form.rule)
            return ctx.inline(form.function, x, y)
        # XLA has no convolutions of booleans and 4-bit integers.
        dtype = dtypes.int32 if out.dtype.name in ("bool", "int4", "uint4") else out.dtype
        x, y = ctx.convert(x, x_aval.dtype, dtype), ctx.convert(y, y_aval.dtype, dtype)
        made = _convolution(ctx, x, y, ctx.type(out.update(dtype=dtype)), precision, **geometry)
        return ctx.convert(made, dtype, out.dtype)

    def _is_written(self, ctx, avals, params):
        """Whether a convolution of such operands and such a result is written as something else."""
        x, y, out = avals
        own = geometry_of(x, y, out, params)
        written = own is not None and _algorithm(ctx, own) is not None
        return written or any(form(x, y, out, params, ctx.module.platform) is not None for form in (parts_of, form_of))

    def transpose_left(self, ct, aval, y, /, *, precision, preferred_element_type, **geometry):
        if 0 in (aval_of(ct).size, aval_of(y).size):
            return zeros(aval)
        ct, y = _one_dtype(ct, y, aval)
        return convert(_left_factor(ct, aval, y, precision=precision, **geometry), aval.dtype)

    def transpose_right(self, ct, x, aval, /, *, precision, preferred_element_type, **geometry):
        if 0 in (aval_of(ct).size, aval_of(x).size):
            return zeros(aval)
        ct, x = _one_dtype(ct, x, aval)
        return convert(_right_factor(ct, x, aval, precision=precision, **geometry), aval.dtype)

    def batch(self, axis, args, dims, /, *, dimension_numbers, feature_group_count, batch_group_count, **params):
        (x, y), (x_dim, y_dim) = args, dims
        x_spec, y_spec, out_spec = dimension_numbers
        groups = max(feature_group_count, batch_group_count)
        counts = {"feature_group_count": feature_group_count, "batch_group_count": batch_group_count}
        params["dimension_numbers"] = dimension_numbers
        if axis.size == 0:
            shapes = [_without(aval_of(a), d) for a, d in zip(args, dims)]
            one = self.abstract(*shapes, **params, **counts)[0]
            return zeros(one.update(shape=(0, *one.shape))), 0
        if y_dim is None:  # more examples
            x = _fold_within(x, x_dim, x_spec[0], batch_group_count)
            return divided(conv_general_dilated_p(x, y, **params, **counts), out_spec[0], axis.size), out_spec[0]
        if x_dim is None:  # more output features, of each group
            y = _fold_within(y, y_dim, y_spec[0], groups)
            out = conv_general_dilated_p(x, y, **params, **counts)
            if groups == 1:
                return divided(out, out_spec[1], axis.size), out_spec[1]
            out = moveaxis(divided(divided(out, out_spec[1], groups), out_spec[1] + 1, axis.size), out_spec[1] + 1, 0)
            return folded(out, out_spec[1] + 1, out_spec[1] + 1), 0
        # More groups.
        by_batch = batch_group_count > 1
        counts["batch_group_count" if by_batch else "feature_group_count"] *= axis.size
        x, y = folded(x, x_dim, x_spec[0 if by_batch else 1]), folded(y, y_dim, y_spec[0])
        return divided(conv_general_dilated_p(x, y, **params, **counts), out_spec[1], axis.size), out_spec[1]

    def shown_params(self, params):
        spatial = len(params["window_strides"])
        plain = {"feature_group_count": 1, "batch_group_count": 1, "precision": None, "preferred_element_type": None}
        plain |= {"lhs_dilation": (1,) * spatial, "rhs_dilation": (1,) * spatial}
        return {k: v for k, v in sorted(params.items()) if k not in plain or v != plain[k]}


conv_general_dilated_p = Conv("conv_general_dilated")


def conv_general_dilated(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: Pads,
    lhs_dilation: Sequence[int] | None,
    rhs_dilation: Sequence[int] | None,
    dimension_numbers: ConvDimensionNumbers,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """`conv_general_dilated_p` from sequences and names. Raises TypeError for dtypes, ValueError for sizes that do not fit."""
    ones = (1,) * len(window_strides)
    precision = as_precision(precision)
    return conv_general_dilated_p(
        lhs,
        rhs,
        window_strides=tuple(map(int, window_strides)),
        padding=tuple((size(low), size(high)) for low, high in padding),
        lhs_dilation=ones if lhs_dilation is None else tuple(map(int, lhs_dilation)),
        rhs_dilation=ones if rhs_dilation is None else tuple(map(int, rhs_dilation)),
        dimension_numbers=dimension_numbers,
        feature_group_count=int(feature_group_count),
        batch_group_count=int(batch_group_count),
        precision=None if is_algorithm(precision) else precision,  # they say how dot products are computed
        preferred_element_type=None if preferred_element_type is None else dtypes.explicit(preferred_element_type),
    )


# Shapes --------------------------------------------------------------------------------------------------------------


def _sizes(aval: ShapedArray, spec: Sequence[int]) -> list[int]:
    return [aval.shape[a] for a in spec]


def _result_shape(x, y, /, *, window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers,
                  feature_group_count, batch_group_count):  # fmt: skip
    x_spec, y_spec, out_spec = dimension_numbers
    (batch, _, *x_sizes), (features, _, *y_sizes) = _sizes(x, x_spec), _sizes(y, y_spec)
    sizes = [batch // batch_group_count, features]
    for n, k, stride, (low, high), spread, apart in zip(
        x_sizes, y_sizes, window_strides, padding, lhs_dilation, rhs_dilation
    ):
        room = low + reach(n, spread) + high
        if is_static((room,)) and room < 0:
            raise ValueError(f"conv_general_dilated: padding {padding} cuts more from {x.short()} than it has")
        sizes.append(max_dim(0, (room - reach(k, apart)) // stride + 1))
    shape = [0] * len(sizes)
    for axis, n in zip(out_spec, sizes):
        shape[axis] = n
    return tuple(shape)


def _check(x, y, /, *, window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers,
           feature_group_count, batch_group_count):  # fmt: skip
    what = f"conv_general_dilated of {x.short()} and {y.short()}"
    if x.ndim != y.ndim or x.ndim < 2:
        raise ValueError(f"{what}: both need one rank, of 2 or more (batch or output features, features, space)")
    for spec in dimension_numbers:
        if sorted(spec) != list(range(x.ndim)):
            raise ValueError(f"{what}: dimension numbers {spec} do not name each of {x.ndim} axes once")
    given = {"window_strides": window_strides, "padding": padding, "lhs_dilation": lhs_dilation,
             "rhs_dilation": rhs_dilation}  # fmt: skip
    for name, values in given.items():
        if len(values) != x.ndim - 2:
            raise ValueError(f"{what}: {name}={values} should have one entry for each of {x.ndim - 2} spatial axes")
        if name != "padding" and any(v < 1 for v in values):
            raise (TypeError if name.endswith("dilation") else ValueError)(
                f"{what}: {name}={values} should be positive"
            )
    (batch, features, *_), (out, inner, *_) = _sizes(x, dimension_numbers[0]), _sizes(y, dimension_numbers[1])
    _check_groups(what, batch, features, out, inner, feature_group_count, batch_group_count)


def _check_groups(what, batch, features, out, inner, feature_group_count, batch_group_count):
    if feature_group_count < 1 or batch_group_count < 1 or (feature_group_count > 1 and batch_group_count > 1):
        raise ValueError(
            f"{what}: feature_group_count={feature_group_count} and batch_group_count={batch_group_count} should be "
            "positive, and one of them 1"
        )
    if features != inner * feature_group_count:
        raise ValueError(
            f"{what}: the left operand has {features} features, the right one takes {inner}"
            + (f" in each of {feature_group_count} groups" if feature_group_count > 1 else "")
        )
    for name, groups in (("feature_group_count", feature_group_count), ("batch_group_count", batch_group_count)):
        if out % groups:
            raise ValueError(f"{what}: {out} output features do not divide into {name}={groups} groups")
    if batch % batch_group_count:
        raise ValueError(
            f"{what}: a batch of {batch} does not divide into batch_group_count={batch_group_count} groups"
        )


def _result_dtype(dtype: Any, preferred: Any, x: ShapedArray, y: ShapedArray) -> Any:
    if dtypes.kind(dtype) not in "biufc":
        raise TypeError(f"conv_general_dilated multiplies numbers; it got {x.short()} and {y.short()}")
    if preferred is None or preferred == dtype:
        return dtype
    allowed = {"b": "biufc", "i": "ifc", "u": "uifc", "f": "fc", "c": "c"}[dtypes.kind(dtype)]
    if dtypes.kind(preferred) not in allowed or preferred.itemsize < dtype.itemsize:
        raise TypeError(
            f"conv_general_dilated of {x.short()} and {y.short()} cannot give {preferred.name}, which does not hold "
            f"{dtype.name}: convert the result with .astype({preferred.name!r})"
        )
    return preferred


# Rules ---------------------------------------------------------------------------------------------------------------


class _Algorithm(NamedTuple):
    """A way to compute a convolution that is written here: in words, by which rule, whether it is for a geometry, and what lowers it."""

    words: str
    rule: Tuning
    holds: Callable[[Any, Geometry], bool]
    lowered: Callable[[Any, Geometry, Any, Any], Any]


_ALGORITHMS = (
    _Algorithm(
        "written as a loop over the window: each feature has one of its own",
        CONVOLUTIONS_IN_LOOPS,
        is_in_a_loop,
        in_a_loop,
    ),
    _Algorithm(
        "written as a loop over the examples: each feature has a window of its own",
        WINDOW_GRADIENTS_IN_LOOPS,
        is_summed_by_rows,
        summed_by_rows,
    ),
    _Algorithm(
        "computed by Winograd's minimal filtering: 0.25 to 0.7 of the multiplications",
        MINIMAL_FILTERING,
        is_filtered,
        filtered,
    ),
    _Algorithm(
        "computed by Winograd's minimal filtering: 0.25 to 0.7 of the multiplications, window by window",
        MINIMAL_FILTERING,
        is_filtered_gradient,
        filtered_gradient,
    ),
    _Algorithm(
        "written as a loop over the groups, each computed by Winograd's minimal filtering: 0.25 to 0.7 of the multiplications",
        GROUPS_IN_A_LOOP,
        is_loop_over_groups,
        over_groups,
    ),
)


def _algorithm(ctx, geometry):
    return next((a for a in _ALGORITHMS if a.holds(ctx, geometry)), None)


def _convolution(ctx, x, y, result, precision, /, *, window_strides, padding, lhs_dilation, rhs_dilation,
                 dimension_numbers, feature_group_count, batch_group_count):  # fmt: skip
    x_spec, y_spec, out_spec = dimension_numbers
    numbers = ctx.hlo.ConvDimensionNumbers.get(
        input_batch_dimension=x_spec[0],
        input_feature_dimension=x_spec[1],
        input_spatial_dimensions=list(x_spec[2:]),
        kernel_output_feature_dimension=y_spec[0],
        kernel_input_feature_dimension=y_spec[1],
        kernel_spatial_dimensions=list(y_spec[2:]),
        output_batch_dimension=out_spec[0],
        output_feature_dimension=out_spec[1],
        output_spatial_dimensions=list(out_spec[2:]),
    )
    static = all(map(is_static, padding))
    return (ctx.hlo.convolution if static else ctx.hlo.dynamic_conv)(
        result,
        x,
        y,
        *([] if static else [ctx.sizes.padding(padding)]),
        numbers,
        ctx.int(feature_group_count),
        ctx.int(batch_group_count),
        window_strides=ctx.ints(window_strides),
        **(
            {"padding": ctx.ir.DenseIntElementsAttr.get(np.asarray(padding, np.int64).reshape(-1, 2))} if static else {}
        ),
        lhs_dilation=ctx.ints(lhs_dilation),
        rhs_dilation=ctx.ints(rhs_dilation),
        precision_config=precision and ctx.ir.ArrayAttr.get([ctx.hlo.PrecisionAttr.get(p.name) for p in precision]),
    )


def _complex(x, y, dtype, **params):
    """A complex product in three real ones."""
    x, y = convert(x, dtype), convert(y, dtype)

    def real_conv(a, b):
        return conv_general_dilated_p(a, b, preferred_element_type=None, **params)

    (a, b), (c, d) = (real_p(x), imag_p(x)), (real_p(y), imag_p(y))
    both, right, left = (
        real_conv(add_p(a, b), c),
        real_conv(a, sub_p(d, c)),
        real_conv(b, add_p(c, d)),
    )
    return complex_p(sub_p(both, left), add_p(both, right))


def _left_factor(ct, aval, y, /, *, window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers,
                 feature_group_count, batch_group_count, precision):  # fmt: skip
    """The cotangent of lhs (of `aval`): the window, turned round, moves over the cotangent with the strides as gaps."""
    x_spec, y_spec, out_spec = dimension_numbers
    x_sizes, y_sizes, out_sizes = (_sizes(a, s[2:]) for a, s in zip((aval, aval_of(y), aval_of(ct)), dimension_numbers))
    pads = []
    for n, k, m, stride, (low, _), spread, apart in zip(
        x_sizes, y_sizes, out_sizes, window_strides, padding, lhs_dilation, rhs_dilation
    ):
        before = reach(k, apart) - 1 - low
        pads.append((before, reach(n, spread) - 1 + reach(k, apart) - reach(m, stride) - before))
    groups = max(feature_group_count, batch_group_count)
    if groups > 1:  # the groups of the output features become groups of the input features
        y = folded(divided(y, y_spec[0], groups), y_spec[0], y_spec[1])
    if y_spec[2:]:
        y = rev_p(y, dimensions=tuple(y_spec[2:]))
    out = conv_general_dilated_p(
        ct,
        y,
        window_strides=lhs_dilation,
        padding=tuple(pads),
        lhs_dilation=window_strides,
        rhs_dilation=rhs_dilation,
        dimension_numbers=ConvDimensionNumbers(out_spec, (y_spec[1], y_spec[0], *y_spec[2:]), x_spec),
        feature_group_count=groups,
        batch_group_count=1,
        precision=precision,
        preferred_element_type=None,
    )
    if batch_group_count > 1:
        out = folded(divided(out, x_spec[1], batch_group_count), x_spec[1], x_spec[0])
    return out


def _right_factor(ct, x, aval, /, *, window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers,
                  feature_group_count, batch_group_count, precision):  # fmt: skip
    """The cotangent of rhs (of `aval`): the cotangent, as a window, moves over lhs; the batch takes the place of features."""
    x_spec, y_spec, out_spec = dimension_numbers
    x_sizes, y_sizes, out_sizes = (_sizes(a, s[2:]) for a, s in zip((aval_of(x), aval, aval_of(ct)), dimension_numbers))
    pads = []
    for n, k, m, stride, (low, _), spread, apart in zip(
        x_sizes, y_sizes, out_sizes, window_strides, padding, lhs_dilation, rhs_dilation
    ):
        pads.append((low, reach(m, stride) + reach(k, apart) - 1 - reach(n, spread) - low))
    return conv_general_dilated_p(
        x,
        ct,
        window_strides=rhs_dilation,
        padding=tuple(pads),
        lhs_dilation=lhs_dilation,
        rhs_dilation=window_strides,
        dimension_numbers=ConvDimensionNumbers(
            (x_spec[1], x_spec[0], *x_spec[2:]),
            (out_spec[1], out_spec[0], *out_spec[2:]),
            (y_spec[1], y_spec[0], *y_spec[2:]),
        ),
        feature_group_count=batch_group_count,
        batch_group_count=feature_group_count,
        precision=swapped(precision),
        preferred_element_type=None,
    )


def _one_dtype(ct, other, aval):
    """The cotangent and the other factor in the wider of their dtypes (small floats may be summed in float32)."""
    given, own = aval_of(ct).dtype, aval.dtype
    dtype = given if given.itemsize > own.itemsize else own
    return convert(ct, dtype), convert(other, dtype)


def _without(aval: ShapedArray, dim: int | None) -> ShapedArray:
    return aval if dim is None else aval.update(shape=aval.shape[:dim] + aval.shape[dim + 1 :])


def _fold_within(x: Any, axis: int, into: int, groups: int) -> Any:
    """`folded` inside each group of the other axis."""
    if groups == 1:
        return folded(x, axis, into)
    x = folded(divided(moveaxis(x, axis, 0), into + 1, groups), 0, into + 1)
    return folded(x, into, into)
