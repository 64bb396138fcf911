"""Reductions by any associative function: over axes, and over windows that move over an array."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .. import tree
from ..core.avals import ShapedArray, aval_of
from ..core.jaxpr import ClosedJaxpr
from ..core.primitive import HigherOrder
from ..core.staging import jaxpr_as_fun
from ..core.trace import Tracer
from ..ops import taps
from ..ops.linear import broadcast_in_dim, concatenate_p, reshape, slice_in_dim, transpose
from ..ops.windows import check_windows, lower_windows, with_axis
from ..transforms.jvp import jvp_flat
from ..transforms.vmap import BatchAxis, vmap_flat, vmap_jaxpr
from .bodies import check_leaves, name_of, trace_body


class ReducePrimitive(HigherOrder):
    """The base of both. Operands: arrays of one shape, then a scalar for each, with which the reduction starts (it may
    come in more than once, so it must change nothing). `jaxpr` combines elements of all arrays on one side with those on
    the other. Derivatives and maps over starts are those of the same reduction composed of array operations."""

    def composed(self, xs: Sequence[Any], starts: Sequence[Any], /, **params: Any) -> list[Any]:
        """The reduction as operations on whole arrays."""
        raise self.missing("jvp")

    def jvp(self, primals, tangents, /, **params):
        n = len(primals) // 2
        return jvp_flat(lambda *args: self.composed(args[:n], args[n:], **params), primals, tangents)

    def starts_mapped(self, axis, args, dims, /, **params):
        """Where starts differ between examples."""
        n = len(args) // 2
        return vmap_flat(lambda *xs: self.composed(xs[:n], xs[n:], **params), axis, args, dims)


class ReduceWith(ReducePrimitive):
    """The reduction over the axes in `dimensions`."""

    def abstract(self, /, *avals, jaxpr, dimensions):
        xs = _arrays(self.name, avals)
        if len(set(dimensions)) != len(dimensions) or any(not 0 <= d < xs[0].ndim for d in dimensions):
            raise ValueError(f"{self.name}: dimensions {dimensions} do not name distinct axes of {xs[0].short()}")
        shape = tuple(n for i, n in enumerate(xs[0].shape) if i not in dimensions)
        return [ShapedArray(shape, x.dtype, x.weak_type) for x in xs], jaxpr.effects

    def lower(self, ctx, /, *values, jaxpr, dimensions):
        n, outs = len(values) // 2, ctx.avals_out
        operation = ctx.hlo.ReduceOp(
            [ctx.type(a) for a in outs], list(values[:n]), list(values[n:]), ctx.ints(sorted(dimensions))
        )
        scalars = [ShapedArray((), a.dtype) for a in outs]
        ctx.region(operation, 0, [*scalars, *scalars], lambda *elements: ctx.inline_jaxpr(jaxpr, *elements))
        return list(operation.results)

    def composed(self, xs, starts, /, *, jaxpr, dimensions):
        rank = aval_of(xs[0]).ndim
        kept = [i for i in range(rank) if i not in dimensions]
        rows = []
        for x in xs:
            shape = aval_of(x).shape
            count = math.prod(shape[d] for d in dimensions)
            rows.append(reshape(transpose(x, (*sorted(dimensions), *kept)), (count, *[shape[i] for i in kept])))
        shape = aval_of(rows[0]).shape
        spread = [broadcast_in_dim(x, shape[1:], ()) for x in starts]
        if not shape[0]:
            return spread
        found = [reshape(x, shape[1:]) for x in _by_halves(jaxpr, rows)]
        return elementwise(jaxpr, spread, found)

    def batch(self, axis, args, dims, /, *, jaxpr, dimensions):
        n = len(args) // 2
        if any(d is not None for d in dims[n:]):
            return self.starts_mapped(axis, args, dims, jaxpr=jaxpr, dimensions=dimensions)
        moved = [axis.move(x, d, 0) for x, d in zip(args[:n], dims)]
        return self.bind(*moved, *args[n:], jaxpr=jaxpr, dimensions=tuple(d + 1 for d in dimensions)), [0] * n


class ReduceWindowWith(ReducePrimitive):
    """The reduction over windows (see `ops.windows`)."""

    def abstract(self, /, *avals, jaxpr, **window):
        xs = _arrays(self.name, avals)
        shape = check_windows(self.name, xs[0], **window)
        return [ShapedArray(shape, x.dtype, x.weak_type) for x in xs], jaxpr.effects

    def lower(self, ctx, /, *values, jaxpr, **window):
        n, outs = len(values) // 2, ctx.avals_out
        if taps.few(window["window_dimensions"], ctx.module.platform) or not ctx.avals_in[0].size:
            return ctx.inline(lambda *args: self.composed(args[:n], args[n:], jaxpr=jaxpr, **window), *values)
        return lower_windows(ctx, values[:n], values[n:], outs, lambda *es: ctx.inline_jaxpr(jaxpr, *es), window)

    def composed(self, xs, starts, /, *, jaxpr, **window):
        shape = check_windows(self.name, aval_of(xs[0]), **window)
        spread = [broadcast_in_dim(x, shape, ()) for x in starts]
        if not math.prod(shape) or not aval_of(xs[0]).size:
            return spread
        return elementwise(jaxpr, spread, taps.fold(xs, starts, lambda a, b: elementwise(jaxpr, a, b), window))

    def batch(self, axis, args, dims, /, *, jaxpr, **window):
        n = len(args) // 2
        if any(d is not None for d in dims[n:]):
            return self.starts_mapped(axis, args, dims, jaxpr=jaxpr, **window)
        moved = [axis.move(x, d, 0) for x, d in zip(args[:n], dims)]
        return self.bind(*moved, *args[n:], jaxpr=jaxpr, **with_axis(window, 0)), [0] * n


reduce_p = ReduceWith("reduce")
reduce_window_p = ReduceWindowWith("reduce_window")


def _arrays(name: str, avals: Sequence[ShapedArray]) -> Sequence[ShapedArray]:
    """The arrays among the operands. Raises TypeError where they and their starts do not fit."""
    n = len(avals) // 2
    for x, start in zip(avals[:n], avals[n:]):
        if x.shape != avals[0].shape:
            raise TypeError(f"{name} takes arrays of one shape; it got {avals[0].short()} and {x.short()}")
        if start.shape or start.dtype != x.dtype:
            raise TypeError(f"{name} of {x.short()} needs a scalar of its dtype as initial value, not {start.short()}")
    return avals[:n]


def elementwise(jaxpr: ClosedJaxpr, xs: Sequence[Any], ys: Sequence[Any]) -> list[Any]:
    """A program of scalars, on two sides of arrays of one shape, element by element."""
    shape = aval_of(xs[0]).shape
    count = math.prod(shape)
    axis = BatchAxis(None, count)
    batched, _ = vmap_jaxpr(jaxpr, axis, [0] * (2 * len(xs)), [True] * len(xs))
    flat = jaxpr_as_fun(batched)(*[reshape(v, (count,)) for v in (*xs, *ys)])
    return [reshape(v, shape) for v in flat]


def _by_halves(jaxpr: ClosedJaxpr, rows: Sequence[Any]) -> list[Any]:
    """All along axis 0 combined, neighbours with neighbours, until one is left: order is kept, in log n steps."""
    rows = list(rows)
    while (n := aval_of(rows[0]).shape[0]) > 1:
        even = [slice_in_dim(x, 0, n - n % 2, 2) for x in rows]
        odd = [slice_in_dim(x, 1, n, 2) for x in rows]
        pairs = elementwise(jaxpr, even, odd)
        rest = [slice_in_dim(x, n - 1, n) for x in rows] if n % 2 else None
        rows = pairs if rest is None else [concatenate_p(x, y, dimension=0) for x, y in zip(pairs, rest)]
    return rows


# What users call --------------------------------------------------------------------------------------------------------


def combining(name: str, computation: Callable[[Any, Any], Any], operands: Any, init_values: Any) -> Any:
    """The program of a reduction's function on scalars, the flat operands and starts, and their structure.

    Raises ValueError where the operands, the starts and the function's result differ in structure, TypeError for what is
    no array, NotImplementedError for a function that captures traced values.
    """
    xs, structure = tree.flatten(operands)
    starts, start_tree = tree.flatten(init_values)
    if structure != start_tree:
        raise ValueError(
            f"{name}: the operands have structure {structure}, the initial values {start_tree}; they must agree"
        )
    if not xs:
        raise ValueError(f"{name} needs an operand")
    check_leaves(xs, operands, f"{name} got, at operands")
    avals = check_leaves(starts, init_values, f"{name} got, at init_values")
    for aval in avals:
        if aval.shape:
            kind = TypeError if name == "reduce_window" else ValueError  # as in JAX
            raise kind(f"{name}: initial values must be scalars, not {aval.short()}")
    pair = tree.structure((init_values, init_values))
    body = trace_body(computation, pair, [*avals, *avals])
    if body.out_tree != structure:
        raise ValueError(
            f"{name}: {name_of(computation)} must give what it takes on one side, a tree of structure {structure}; it gave "
            f"{body.out_tree}"
        )
    for aval, out in zip(avals, body.closed.out_avals):
        if (out.shape, out.dtype) != ((), aval.dtype):
            raise TypeError(
                f"{name}: {name_of(computation)} must give {aval.short()} from {aval.short()}; it gave {out.short()}"
            )
    if any(isinstance(c, Tracer) for c in body.closed.consts):
        raise NotImplementedError(
            f"{name}: {name_of(computation)} uses a traced value from outside; the function of a reduction may use its arguments only"
        )
    return body.closed, xs, starts, structure


__all__ = ["combining", "reduce_p", "reduce_window_p"]
