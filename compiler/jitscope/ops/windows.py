"""Reductions over windows that move over an array: sums, maxima and minima, and what their derivatives need.

`window_dimensions`: the window's size along each axis; `window_strides`: how far it moves; `padding`: (low, high) around the
array, negative ones cut; `base_dilation` and `window_dilation` spread the elements of the array, and of the window, apart.
Windows start in bounds of the padded array and end there. What padding and dilation put in counts as the identity.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.avals import ShapedArray, aval_of
from ..core.primitive import Primitive
from ..symbolic.dimension import is_static, max_dim, reach
from ..xla.cpu_tuning import WINDOWS_BY_SLICES
from . import taps
from .elementwise import max_p, min_p
from .families import Linear, Structural, check_kind, is_zero, pure, zero_of
from .linear import broadcast_in_dim, pad_p, reshape, scalar_zero
from .reduce import highest, lowest
from .small_floats import are_small, in_single


def dilated(sizes: Sequence[int], dilation: Sequence[int]) -> list[int]:
    """The lengths of axes whose elements are so far apart."""
    return [reach(n, d) for n, d in zip(sizes, dilation)]


def windows_of(
    shape: Sequence[int],
    *,
    window_dimensions: Sequence[int],
    window_strides: Sequence[int],
    padding: Sequence[tuple[int, int]],
    base_dilation: Sequence[int],
    window_dilation: Sequence[int],
) -> tuple[int, ...]:
    """The number of windows along each axis."""
    sizes = [n + low + high for n, (low, high) in zip(dilated(shape, base_dilation), padding)]
    reach = dilated(window_dimensions, window_dilation)
    return tuple(max_dim(0, (n - k) // s + 1) for n, k, s in zip(sizes, reach, window_strides))


def check_windows(name: str, x: ShapedArray, **window: Any) -> tuple[int, ...]:
    """The shape of the result. Raises TypeError where the window does not fit the array's rank, or has sizes, strides or
    dilations that are not positive."""
    for what, values in window.items():
        if len(values) != x.ndim:
            raise TypeError(f"{name} of {x.short()}: {what}={values} should have one entry for each of {x.ndim} axes")
        if what != "padding" and any(v < 1 for v in values):
            raise TypeError(f"{name} of {x.short()}: {what}={values} should be positive")
    return windows_of(x.shape, **window)


def with_axis(window: dict[str, Any], dim: int) -> dict[str, Any]:
    """The window once the array has one more axis at `dim`, along which it has size 1."""
    return {k: (*v[:dim], (0, 0) if k == "padding" else 1, *v[dim:]) for k, v in window.items()}


def lower_windows(
    ctx: Any, operands: Sequence[Any], identities: Sequence[Any], outs: Sequence[ShapedArray],
    body: Callable[..., Any], window: dict[str, Any],
) -> list[Any]:  # fmt: skip
    """Operands of one shape reduced together: `body` gets as many elements of one side, then of the other."""
    if not all(is_static(v) for v in (window["window_dimensions"], *window["padding"])):
        return ctx.sizes.reduce_windows(operands, identities, outs, body, window)
    operation = ctx.hlo.ReduceWindowOp(
        [ctx.type(a) for a in outs],
        list(operands),
        list(identities),
        ctx.ints(window["window_dimensions"]),
        window_strides=ctx.ints(window["window_strides"]),
        base_dilations=ctx.ints(window["base_dilation"]),
        window_dilations=ctx.ints(window["window_dilation"]),
        padding=ctx.ir.DenseIntElementsAttr.get(np.asarray(window["padding"], np.int64).reshape(-1, 2)),
    )
    scalars = [ShapedArray((), a.dtype) for a in outs]
    ctx.region(operation, 0, [*scalars, *scalars], body)
    return list(operation.results)


class ReduceWindow(Primitive):
    """The reduction of one array by an operation of StableHLO."""

    accepts = "biuf"

    def __init__(self, name: str, builder: str, identity: Callable[[Any], Any]):
        super().__init__(name)
        self.builder, self.identity = builder, identity

    def abstract(self, x, /, **window):
        check_kind(self.name, x, self.accepts)
        return pure(ShapedArray(check_windows(self.name, x, **window), x.dtype, x.weak_type))

    def lower(self, ctx, x, /, **window):
        aval, out = ctx.avals_in[0], ctx.avals_out[0]
        identity = self.identity(aval.dtype)
        if not aval.size or not out.size or not aval.ndim:
            return x if not aval.ndim else ctx.full(identity, out)
        if taps.few(window["window_dimensions"], ctx.module.platform):
            ctx.rewritten("written slice by slice of its windows", WINDOWS_BY_SLICES)
            written = lambda x: self.by_taps(x, window)
            return ctx.inline(in_single(written) if are_small(aval) else written, x)
        start = ctx.full(identity, ShapedArray((), aval.dtype))
        return lower_windows(ctx, [x], [start], [out], ctx.builder(self.builder), window)[0]

    def by_taps(self, x: Any, window: dict[str, Any], /) -> Any:
        """The reduction as operations on slices."""
        raise self.missing("lower")

    def batch(self, axis, args, dims, /, **window):
        return self.bind(*args, **with_axis(window, dims[0])), dims[0]


class ReduceWindowSum(ReduceWindow, Structural):
    """The sum over each window."""

    accepts = "iufc"

    def by_taps(self, x, window, /):
        return taps.summed(x, window)

    def transpose_to(self, ct, aval, /, *, window_dimensions, window_strides, padding, base_dilation, window_dilation):
        plain = {*base_dilation, *window_dilation} == {1} and is_static((*aval.shape, *aval_of(ct).shape))
        if plain and all(k <= s for k, s in zip(window_dimensions, window_strides)):
            return _over_windows(ct, aval, window_dimensions, window_strides, padding)
        reach = dilated(window_dimensions, window_dilation)
        spread, apart = dilated(aval.shape, base_dilation), dilated(aval_of(ct).shape, window_strides)
        config = []
        for n, k, m, (low, _), stride in zip(spread, reach, apart, padding, window_strides):
            before = k - 1 - low
            config.append((before, n + k - 1 - m - before, stride - 1))
        padded = pad_p(ct, scalar_zero(aval.dtype), padding_config=tuple(config))
        return reduce_window_sum_p(
            padded, window_dimensions=window_dimensions, window_strides=base_dilation,
            padding=((0, 0),) * aval.ndim, base_dilation=(1,) * aval.ndim, window_dilation=window_dilation,
        )  # fmt: skip


def _over_windows(
    ct: Any, aval: ShapedArray, sizes: Sequence[int], strides: Sequence[int], padding: Sequence[tuple[int, int]]
) -> Any:
    """An array of `aval` with each element of `ct` wherever its window was, windows that do not overlap; 0 elsewhere."""
    shape = aval_of(ct).shape
    apart = [axis for axis, s in enumerate(strides) if s > 1]
    at = {axis: axis + sum(a < axis for a in apart) for axis in range(len(shape))}
    wide, gaps = [0] * (len(shape) + len(apart)), [(0, 0, 0)] * (len(shape) + len(apart))
    for axis, n in enumerate(shape):
        wide[at[axis]] = n
        if axis in apart:
            wide[at[axis] + 1] = sizes[axis]
            gaps[at[axis] + 1] = (0, strides[axis] - sizes[axis], 0)
    zero = scalar_zero(aval.dtype)
    ct = broadcast_in_dim(ct, tuple(wide), tuple(at.values()))
    if any(map(any, gaps)):
        ct = pad_p(ct, zero, padding_config=tuple(gaps))
    flat = [n * s for n, s in zip(shape, strides)]
    ct = reshape(ct, tuple(flat))
    config = tuple((-low, n + low - m, 0) for n, m, (low, _) in zip(aval.shape, flat, padding))
    return pad_p(ct, zero, padding_config=config) if any(map(any, config)) else ct


class ReduceWindowChoose(ReduceWindow):
    """The greatest or the least element of each window. The tangent is that of the first such element."""

    def by_taps(self, x, window, /):
        combine = max_p if self is reduce_window_max_p else min_p
        return taps.reduced(x, self.identity(aval_of(x).dtype), combine, window)

    def jvp(self, primals, tangents, /, **window):
        (x,), (t,) = primals, tangents
        out = self.bind(x, **window)
        if is_zero(t):
            return out, zero_of(out)
        return out, select_and_gather_add_p(t, x, greatest=self is reduce_window_max_p, **window)


reduce_window_sum_p = ReduceWindowSum("reduce_window_sum", "add", scalar_zero)
reduce_window_max_p = ReduceWindowChoose("reduce_window_max", "maximum", lowest)
reduce_window_min_p = ReduceWindowChoose("reduce_window_min", "minimum", highest)


# What derivatives of maxima and minima need ---------------------------------------------------------------------------


class SelectInWindows(Linear):
    """Base of operations linear in `x` that choose by `key`; `transposed` is the other one."""

    transposed: Any

    def transpose(self, ct, x, key, /, **params):
        return [self.transposed(ct, key, **params), None]

    def batch(self, axis, args, dims, /, *, greatest, **window):
        moved = [axis.move(x, d, 0) for x, d in zip(args, dims)]
        return self.bind(*moved, greatest=greatest, **with_axis(window, 0)), 0


class SelectAndGather(SelectInWindows):
    """The element of `x` where `key`, an array of its shape, is greatest (or least) in each window; the first such."""

    def abstract(self, x, key, /, *, greatest, **window):
        if x.shape != key.shape:
            raise TypeError(f"{self.name}: {x.short()} and {key.short()} should have one shape")
        return pure(ShapedArray(check_windows(self.name, key, **window), x.dtype, x.weak_type))

    def lower(self, ctx, x, key, /, *, greatest, **window):
        (aval, key_aval), out = ctx.avals_in, ctx.avals_out[0]
        if not aval.size or not out.size or not aval.ndim:
            return x if not aval.ndim else ctx.full(0, out)
        identity = (lowest if greatest else highest)(key_aval.dtype)
        if taps.few(window["window_dimensions"], ctx.module.platform):
            ctx.rewritten("written slice by slice of its windows", WINDOWS_BY_SLICES)
            return ctx.inline(lambda x, key: taps.chosen(x, key, identity, greatest, window), x, key)
        starts = [ctx.full(v, ShapedArray((), a.dtype)) for v, a in ((identity, key_aval), (0, aval))]

        def better(key_one, one, key_other, other):
            first = ctx.compare(key_one, key_other, "GE" if greatest else "LE")
            return [ctx.hlo.select(first, key_one, key_other), ctx.hlo.select(first, one, other)]

        outs = [out.update(dtype=key_aval.dtype), out]
        return lower_windows(ctx, [key, x], starts, outs, better, window)[1]


class SelectAndScatter(SelectInWindows):
    """The transpose of SelectAndGather: each element of `x` is added where `key` is greatest (or least) in its window."""

    def abstract(self, x, key, /, *, greatest, **window):
        shape = check_windows(self.name, key, **window)
        if x.shape != shape:
            raise TypeError(f"{self.name}: {x.short()} should have shape {shape}, one element for each window")
        return pure(ShapedArray(key.shape, x.dtype, x.weak_type))

    def lower(self, ctx, x, key, /, *, greatest, **window):
        (aval, key_aval), out = ctx.avals_in, ctx.avals_out[0]
        if not aval.ndim:
            return x
        if not aval.size or not key_aval.size:
            return ctx.full(0, out)
        identity = (lowest if greatest else highest)(key_aval.dtype)
        dilated_somewhere = any(d != 1 for d in (*window["base_dilation"], *window["window_dilation"]))
        if dilated_somewhere or taps.few(
            window["window_dimensions"], ctx.module.platform
        ):  # XLA scatters only where nothing is apart
            return ctx.inline(lambda x, key: taps.scattered(x, key, identity, greatest, window), x, key)
        # Its own padding fails on the CPU: pad before, cut after.
        pads = window["padding"]
        shape = tuple(n + low + high for n, (low, high) in zip(key_aval.shape, pads))
        padded = ctx.pad(key, ctx.full(identity, ShapedArray((), key_aval.dtype)), [(a, b, 0) for a, b in pads])
        scalar, key_scalar = ShapedArray((), aval.dtype), ShapedArray((), key_aval.dtype)
        operation = ctx.hlo.SelectAndScatterOp(
            ctx.type(out.update(shape=shape)), padded, x, ctx.full(0, scalar),
            window_dimensions=ctx.ints(window["window_dimensions"]), window_strides=ctx.ints(window["window_strides"]),
        )  # fmt: skip
        ctx.region(operation, 0, [key_scalar] * 2, lambda a, b: ctx.compare(a, b, "GE" if greatest else "LE"))
        ctx.region(operation, 1, [scalar] * 2, ctx.hlo.add)
        back = [(-low, -high, 0) for low, high in pads]
        return ctx.pad(operation.result, ctx.full(0, scalar), back) if any(map(any, back)) else operation.result


select_and_gather_add_p = SelectAndGather("select_and_gather_add")
select_and_scatter_add_p = SelectAndScatter("select_and_scatter_add")
select_and_gather_add_p.transposed = select_and_scatter_add_p
select_and_scatter_add_p.transposed = select_and_gather_add_p
