"""An array cut along an axis. One operation, and not a slice for each part: its cotangents are put side by side again, where
those of slices would be padded and added up."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.annotations import Array, ArrayLike
from ..core.avals import aval_of
from ..symbolic.dimension import size
from .families import Linear, is_zero, pure, zero_of
from .linear import concatenate_p, instantiate


__all__ = ["split"]


class Split(Linear):
    """Parts of the given `sizes`, one after the other along `axis`."""

    sums = "each"

    multiple_results = True

    def abstract(self, x, /, *, sizes, axis):
        if not 0 <= axis < x.ndim or any(n < 0 for n in sizes) or sum(sizes) != x.shape[axis]:
            raise ValueError(f"split of {x.short()} along axis {axis}: the sizes {sizes} do not make up that axis")
        return pure([x.update(shape=(*x.shape[:axis], n, *x.shape[axis + 1 :])) for n in sizes])

    def lower(self, ctx, x, /, *, sizes, axis):
        shape, start, parts = list(ctx.avals_in[0].shape), 0, []
        for n in sizes:
            starts, limits = [0] * len(shape), list(shape)
            starts[axis], limits[axis] = start, start + n
            parts.append(ctx.slice(x, starts, limits, None))
            start += n
        return parts

    def jvp(self, primals, tangents, /, **params):
        outs = self.bind(*primals, **params)
        (t,) = tangents
        return outs, [zero_of(out) for out in outs] if is_zero(t) else self.bind(t, **params)

    def transpose(self, cts, x, /, *, sizes, axis):
        return [concatenate_p(*map(instantiate, cts), dimension=axis)]

    def batch(self, mapped, args, dims, /, *, sizes, axis):
        (x,), (dim,) = args, dims
        return self.bind(x, sizes=sizes, axis=axis + (axis >= dim)), [dim] * len(sizes)


split_p = Split("split")


def split(operand: ArrayLike, sizes: Sequence[int], axis: int = 0) -> list[Array]:
    """Parts of `operand` of the given sizes, which add up to the axis. Raises ValueError where they do not."""
    rank = aval_of(operand).ndim
    if not -rank <= axis < rank:
        raise ValueError(f"split: axis {axis} is out of bounds for {aval_of(operand).short()}")
    return split_p(operand, sizes=tuple(map(size, sizes)), axis=int(axis) % rank)
