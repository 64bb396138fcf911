"""Arrays side by side along a new axis, an axis taken apart, and an array repeated."""

from __future__ import annotations

from ..core.avals import ShapedArray, aval_of
from .families import Linear, Structural, is_linear, is_zero, pure, same_dtype, zero_of
from .linear import instantiate, reduce_sum_p, reshape


class Stack(Linear):
    """Arrays of one shape, one after another along a new axis `axis`."""

    sums = "all"

    def abstract(self, /, *avals, axis):
        dtype, shape = same_dtype("stack", avals), avals[0].shape
        if any(a.shape != shape for a in avals) or not 0 <= axis <= len(shape):
            raise ValueError(
                f"stack along a new axis {axis}: {', '.join(a.short() for a in avals)} should have one shape"
            )
        return pure(ShapedArray((*shape[:axis], len(avals), *shape[axis:]), dtype, all(a.weak_type for a in avals)))

    def lower(self, ctx, /, *values, axis):
        shape = ctx.avals_out[0].shape
        thin = ctx.avals_out[0].update(shape=(*shape[:axis], 1, *shape[axis + 1 :]))
        parts = [ctx.reshape(v, thin) for v in values]
        return ctx.hlo.concatenate(parts, ctx.int(axis)) if len(parts) > 1 else parts[0]

    def jvp(self, primals, tangents, /, *, axis):
        out = stack_p(*primals, axis=axis)
        return out, zero_of(out) if all(map(is_zero, tangents)) else stack_p(*map(instantiate, tangents), axis=axis)

    def transpose(self, ct, /, *args, axis):
        return [part if is_linear(x) else None for part, x in zip(unstack_p(ct, axis=axis), args)]

    def batch(self, mapped, args, dims, /, *, axis):
        to = next(d for d in dims if d is not None)
        moved = [mapped.move(x, d, to) for x, d in zip(args, dims)]
        return stack_p(*moved, axis=axis + (axis > to)), to + (axis <= to)


class Unstack(Linear):
    """The parts along `axis`, which goes."""

    sums = "each"

    multiple_results = True

    def abstract(self, x, /, *, axis):
        if not 0 <= axis < x.ndim:
            raise ValueError(f"unstack: {x.short()} has no axis {axis}")
        return pure([x.update(shape=(*x.shape[:axis], *x.shape[axis + 1 :]))] * x.shape[axis])

    def lower(self, ctx, x, /, *, axis):
        shape, parts = list(ctx.avals_in[0].shape), []
        for i, out in enumerate(ctx.avals_out):
            starts, limits = [0] * len(shape), list(shape)
            starts[axis], limits[axis] = i, i + 1
            parts.append(ctx.reshape(ctx.slice(x, starts, limits, None), out))
        return parts

    def jvp(self, primals, tangents, /, *, axis):
        outs, (t,) = unstack_p(*primals, axis=axis), tangents
        return outs, [zero_of(out) for out in outs] if is_zero(t) else unstack_p(t, axis=axis)

    def transpose(self, cts, x, /, *, axis):
        return [stack_p(*map(instantiate, cts), axis=axis)]

    def batch(self, mapped, args, dims, /, *, axis):
        (x,), (dim,) = args, dims
        count = aval_of(x).shape[axis + (axis >= dim)]
        return unstack_p(x, axis=axis + (axis >= dim)), [dim - (axis < dim)] * count


class Tile(Structural):
    """`reps[i]` copies one after another along each axis i."""

    def abstract(self, x, /, *, reps):
        if len(reps) != x.ndim or any(r < 0 for r in reps):
            raise ValueError(f"tile of {x.short()}: reps={reps} should be {x.ndim} numbers that are not negative")
        return pure(x.update(shape=tuple(n * r for n, r in zip(x.shape, reps))))

    def lower(self, ctx, x, /, *, reps):
        aval, out = ctx.avals_in[0], ctx.avals_out[0]
        spread = [v for n, r in zip(aval.shape, reps) for v in (r, n)]
        copies = ctx.broadcast_in_dim(x, aval.update(shape=tuple(spread)), range(1, len(spread), 2))
        return ctx.reshape(copies, out)

    def transpose_to(self, ct, aval, /, *, reps):
        spread = tuple(v for n, r in zip(aval.shape, reps) for v in (r, n))
        return reduce_sum_p(reshape(ct, spread), axes=tuple(range(0, len(spread), 2)))

    def batch(self, mapped, args, dims, /, *, reps):
        (x,), (dim,) = args, dims
        return tile_p(x, reps=(*reps[:dim], 1, *reps[dim:])), dim


stack_p, unstack_p, tile_p = Stack("stack"), Unstack("unstack"), Tile("tile")
