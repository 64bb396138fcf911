"""The place of the greatest or least element along a long axis that is not the last, in two steps: which block of the axis has it, then
where in that block.

The greatest elements of blocks are a plain reduction, which XLA runs in vectors; that of pairs of an element and its place is left with one
element of each block, and with those of one block. The first block whose greatest element equals that of all has the first of these. Floats
are compared as integers in the same order (all NaNs the greatest, or the least, both zeros one): the library that XLA takes for the greatest
of floats loses NaN, and pairs of floats, each of which is looked at for being NaN, take longer.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.avals import ShapedArray
from ..symbolic.dimension import is_static
from ..xla.cpu_tuning import ARG_BY_BLOCKS
from .sort_keys import nan_beyond, with_one_zero


_INTEGERS = {"float32": np.dtype(np.int32), "float64": np.dtype(np.int64)}


def block_length(x: ShapedArray, axis: int, platform: str) -> int:
    """How long the blocks are into which an axis is cut; 0 where it stays whole."""
    if not ARG_BY_BLOCKS.holds(platform) or not is_static(x.shape) or x.dtype.name not in _INTEGERS:
        return 0
    n, least = x.shape[axis], ARG_BY_BLOCKS.value
    if n < least["length"] or x.size < least["elements"] or math.prod(x.shape[axis + 1 :]) < least["row"]:
        return 0
    lengths = [d for d in range(least["block"], math.isqrt(n) + 1) if n % d == 0]
    lengths += [n // d for d in lengths]
    return min(lengths, key=lambda d: abs(math.log(d * d / n)), default=0)


def place_by_blocks(ctx: Any, x: Any, axis: int, length: int, choose: Any, direction: str) -> Any:
    """The index (of the dtype of the context's result) along `axis` of the floats `x`, an MLIR value of the context's operand, by blocks of
    such a length. `choose` builds the greater (or lesser) of two scalars."""
    aval, out = ctx.avals_in[0], ctx.avals_out[0]
    shape, dtype, index = aval.shape, _INTEGERS[aval.dtype.name], out.dtype
    x = ctx.inline(lambda x: nan_beyond(with_one_zero(x), greatest=direction == "GT"), x)
    limits = np.iinfo(dtype)
    identity = limits.min if direction == "GT" else limits.max
    before, after = shape[:axis], shape[axis + 1 :]
    blocks = shape[axis] // length
    whole = ShapedArray((*before, blocks, length, *after), dtype)
    best = ShapedArray((*before, blocks, *after), dtype)
    one = ShapedArray((*before, length, *after), dtype)
    x = ctx.reshape(x, whole)
    ctx.avals_in, ctx.avals_out = [whole], [best]
    greatest = ctx.reduce(x, identity, choose, (axis + 1,))
    block = _place(ctx, greatest, best, axis, out, identity, direction)
    within = _place(ctx, _block(ctx, x, whole, block, axis, out, one), one, axis, out, identity, direction)
    return ctx.hlo.add(ctx.hlo.multiply(block, ctx.full(length, ShapedArray(out.shape, index))), within)


def _place(ctx: Any, x: Any, aval: ShapedArray, axis: int, out: ShapedArray, identity: Any, direction: str) -> Any:
    ctx.avals_in, ctx.avals_out = [aval], [out]
    places = ctx.iota(ShapedArray(aval.shape, out.dtype), axis)
    return ctx.reduce_pair(x, places, identity, direction, axis, aval.dtype, out.dtype)


def _block(ctx: Any, x: Any, whole: ShapedArray, block: Any, axis: int, out: ShapedArray, one: ShapedArray) -> Any:
    """`x` at one block of `axis`, for each place of the other axes its own."""
    others = [i for i in range(whole.ndim) if i not in (axis, axis + 1)]
    numbers = ctx.hlo.GatherDimensionNumbers.get(
        offset_dims=[axis],
        collapsed_slice_dims=[axis],
        operand_batching_dims=others,
        start_indices_batching_dims=list(range(out.ndim)),
        start_index_map=[axis],
        index_vector_dim=out.ndim,
    )
    sizes = [whole.shape[axis + 1] if i == axis + 1 else 1 for i in range(whole.ndim)]
    starts = ctx.reshape(block, ShapedArray((*out.shape, 1), out.dtype))
    return ctx.hlo.gather(x, starts, numbers, ctx.ints(sizes))
