"""Convolutions with a window of 3 × 3, and their gradients by the window, with fewer multiplications: minimal filtering (Winograd, "Arithmetic Complexity of
Computations", 1980; Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", CVPR 2016, section 4.1).

A tile of n × n results y sees a tile d of (n + 2) × (n + 2). With matrices of filters along the rows and the columns, y = A' ((G w H') * (B' d C)) D, where *
multiplies element by element: for n = 2, 16 multiplications in place of 36; for n = 4, 36, 42 or 49 in place of 144. Summed over the features, each of these
elements is a product of matrices, (tiles × features) (features × results' features). The gradient by the window is the transpose, G' ((A y D') * (B' d C)) H,
summed over the tiles.

The filters stand in `ops.minimal_filters`. Which of those for n = 4 stands along which axis is told by the error: that of the products grows with the root of how
many are added up, and times what the filters make of it is kept within the rule's limit.

What a tile sees beside a result's own window cancels out up to rounding, so that errors are relative to the largest numbers of the tile; where these are of
one size, the error (root mean square) was seen to be 0.2 to 4.2 times that of XLA's sums (to 3 times on a processor with vectors of 512
bits, where XLA adds up in another order). Infinities and NaN reach all results of the tile.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.avals import ShapedArray, aval_of
from ..xla.cpu_tuning import HAS_OLDER_EMITTER, MINIMAL_FILTERING
from .conv_forms import Geometry
from .dot import dot_general_p
from .families import scalar_like
from .linear import add_p, broadcast_in_dim, mul_p, pad_p, reshape, rev_p, slice_in_dim, slice_p, transpose
from .marks import in_memory, optimization_barrier_p
from .minimal_filters import Filter, filters_of, filters_of_gradient
from .precision import Precision
from .small_products import at_place


_INDEX = np.dtype(np.int32)
_COUNT = ShapedArray((), _INDEX)


class Tiles:
    """How images of results are cut for a filter: into `rows` × `columns` tiles each, so many `images` in a block, which one turn of a loop takes."""

    __slots__ = ("columns", "filter", "images", "rows")

    def __init__(self, filter: Filter, count: int, sizes: tuple[int, ...], features: int):
        self.filter = filter
        self.rows, self.columns = (-(-n // filter.side) for n in sizes)
        # Products with few rows would read the windows too often.
        tiles = max(MINIMAL_FILTERING.value["numbers"] // (filter.elements * features), features // 2)
        wanted = max(1, round(tiles / self.of_image))
        self.images = next(n for n in range(min(wanted, count), count + 1) if count % n == 0)

    @classmethod
    def of(
        cls,
        ctx: Any,
        filters: Sequence[Filter],
        count: int,
        sizes: tuple[int, ...],
        features: tuple[int, int],
        terms: int | None = None,
    ) -> Tiles | None:
        """Those with the fewest multiplications; None: too few, or too large ones. So many `terms` are added up in a product (None: the tiles of a block)."""
        limits, most = MINIMAL_FILTERING.value, max(features)
        filters = [f for f in filters if f.rule.holds(ctx.module.platform) and min(features) >= f.features]
        found = [
            tiles
            for tiles in (cls(one, count, sizes, most) for one in filters)
            if count * tiles.of_image >= tiles.filter.rule.value["tiles"]
            and tiles.filter.side**2 * tiles.of_image <= limits["filled"] * math.prod(sizes)
            and tiles.filter.elements * tiles.of_block * most <= limits["most"]
            and tiles.filter.errs_little(tiles.of_block if terms is None else terms)
        ]
        return min(found, key=lambda tiles: tiles.of_image * tiles.filter.elements, default=None)

    @property
    def of_image(self) -> int:
        return self.rows * self.columns

    @property
    def of_block(self) -> int:
        return self.images * self.of_image


def is_filtered(ctx: Any, geometry: Geometry, products: int | None = None) -> bool:
    """Whether a convolution is computed so, in programs for one device. So many `products` are worth compiling it for (None: its own)."""
    return geometry.window == (3, 3) and _holds(ctx, geometry, products) and _tiles(ctx, geometry) is not None


def is_filtered_gradient(ctx: Any, geometry: Geometry, products: int | None = None) -> bool:
    """Whether a convolution has the form of the gradient by such a window (features and examples in each other's places), and is computed so."""
    return (
        geometry.sizes == (3, 3) and _holds(ctx, geometry, products) and _tiles_of_gradient(ctx, geometry) is not None
    )


def _holds(ctx: Any, geometry: Geometry, products: int | None) -> bool:
    if not MINIMAL_FILTERING.holds(ctx.module.platform) or ctx.module.meshes.group is not None:
        return False
    p = geometry.params
    return (
        geometry.groups == 1
        and set(p["precision"] or ()) <= {Precision.DEFAULT}
        and (products or geometry.products()) >= MINIMAL_FILTERING.value["products"]
    )


def _tiles(ctx: Any, geometry: Geometry) -> Tiles | None:
    count, features, *_ = geometry.x_shape
    return Tiles.of(ctx, filters_of(geometry), count, geometry.sizes, (features, geometry.y_shape[0]), features)


def _tiles_of_gradient(ctx: Any, geometry: Geometry) -> Tiles | None:
    features, count, *_ = geometry.x_shape
    return Tiles.of(ctx, filters_of_gradient(geometry), count, geometry.window, (features, geometry.y_shape[0]))


def filtered(ctx: Any, geometry: Geometry, x: Any, y: Any, avals: Sequence[ShapedArray] | None = None) -> Any:
    """The result of a convolution of MLIR values of these avals (None: the context's operands)."""
    (count, features, *space), made = geometry.x_shape, geometry.y_shape[0]
    x_spec, y_spec, _ = geometry.specs
    tiles = _tiles(ctx, geometry)
    assert tiles is not None
    filter = tiles.filter
    turned = y_spec[0] < y_spec[1]  # a transpose of windows would take as long as what they are transformed to
    both = (made, features) if turned else (features, made)
    images, windows = _of_type(ctx, (count, *space, features), (filter.elements, *both))
    out = windows.update(shape=(count, *geometry.sizes, made))

    y, axes = _without_reverse(ctx, y)

    def prepared(x: Any, y: Any) -> list[Any]:
        y = transpose(rev_p(y, dimensions=axes) if axes else y, (*y_spec[2:], *sorted(y_spec[:2])))
        window = _of_window(y, [line.g for line in filter.lines])
        return [transpose(x, (x_spec[0], *x_spec[2:], x_spec[1])), reshape(window, windows.shape)]

    x, y = _prepared_in_turn(ctx, prepared, [x, y], avals)

    def block(x: Any, y: Any) -> Any:
        seen = _of_tiles(_seen(x, tiles, geometry.params), [line.b for line in filter.lines], tiles, filter.apart)
        made = _results(_product(seen, y, 2, 2 if turned else 1), tiles, geometry.sizes)
        return in_memory(made) if tiles.images == count else made  # each loop that reads it would compute it again

    def part(first: Any, made: Any) -> Any:
        at = [first, *[ctx.scalar(0, _INDEX)] * 3]
        seen, aval = _images(ctx, x, images, first, tiles)
        one = ctx.inline(block, seen, y, avals=[aval, windows])
        return one if tiles.images == count else ctx.hlo.dynamic_update_slice(made, one, at)

    begun = ctx.inline(lambda x: _filled_with_first(x, out.shape), x, avals=[images])
    result = _done(ctx, _over_blocks(ctx, tiles, count, out, begun, part), out)
    return ctx.inline(geometry.placed, result, avals=[out])


def filtered_gradient(ctx: Any, geometry: Geometry, x: Any, y: Any, avals: Sequence[ShapedArray] | None = None) -> Any:
    """The result of a convolution that has the form of the gradient by a window."""
    (features, count, *space), made = geometry.x_shape, geometry.y_shape[0]
    x_spec, y_spec, _ = geometry.specs
    tiles = _tiles_of_gradient(ctx, geometry)
    assert tiles is not None
    filter = tiles.filter
    images, cotangents, sums = _of_type(
        ctx, (count, *space, features), (count, *geometry.window, made), (filter.elements, features, made)
    )

    def prepared(x: Any, y: Any, zero: Any) -> list[Any]:
        both = [transpose(a, (spec[1], *spec[2:], spec[0])) for a, spec in ((x, x_spec), (y, y_spec))]
        return [*both, broadcast_in_dim(zero, sums.shape, ())]

    scalar = sums.update(shape=())
    operands = [x, y, ctx.scalar(0, scalar.dtype)]
    x, y, begun = _prepared_in_turn(ctx, prepared, operands, [*(avals or ctx.avals_in), scalar])

    def block(x: Any, y: Any) -> Any:
        seen = _of_tiles(_seen(x, tiles, geometry.params), [line.b for line in filter.lines], tiles, filter.apart)
        y = _of_tiles(_whole(y, tiles), [line.a.T for line in filter.lines], tiles, (filter.side,) * 2)
        if HAS_OLDER_EMITTER:  # it would compute each number again where the transpose is
            return _product(seen, y, 1)
        return _product(in_memory(transpose(seen, (0, 2, 1))), y, 2)  # else one core multiplies

    def part(first: Any, total: Any) -> Any:
        both = [_images(ctx, a, aval, first, tiles) for a, aval in ((x, images), (y, cotangents))]
        one = ctx.inline(block, *[a for a, _ in both], avals=[aval for _, aval in both])
        return one if tiles.images == count else ctx.hlo.add(total, one)

    def gradient(total: Any) -> Any:
        window = _of_window(reshape(total, (*filter.shape, features, made)), [line.g.T for line in filter.lines])
        return geometry.placed(transpose(window, (2, 0, 1, 3)))

    total = _done(ctx, _over_blocks(ctx, tiles, count, sums, begun, part), sums)
    return ctx.inline(gradient, total, avals=[sums])


# One after the other --------------------------------------------------------------------------------------------------


def _prepared_in_turn(
    ctx: Any, prepared: Callable[..., list[Any]], operands: Sequence[Any], avals: Sequence[ShapedArray] | None
) -> list[Any]:
    """What a filtered convolution reads, made when all operands are there and the filtered one before it is done: XLA begins with what needs only arguments and what
    the forward pass has, and the tiles of many would fill memory."""

    def waiting(*values: Any) -> list[Any]:
        return prepared(*optimization_barrier_p(*values)[: len(operands)])

    values, avals, last = list(operands), list(avals or ctx.avals_in), ctx.module.last_filtered
    if last is not None and last[0] == ctx.ir.InsertionPoint.current.block:
        values.append(last[1])
        avals.append(last[2])
    return ctx.inline(waiting, *values, avals=avals)


def _done(ctx: Any, result: Any, aval: ShapedArray) -> Any:
    """The result of a filtered convolution, for which the next one in its block waits."""
    ctx.module.last_filtered = ctx.ir.InsertionPoint.current.block, result, aval
    return result


def _without_reverse(ctx: Any, value: Any) -> tuple[Any, tuple[int, ...]]:
    """The operand of the `reverse` that made a value, and its axes; the value and none if it was made otherwise."""
    owner = value.owner
    if getattr(owner, "name", None) != "stablehlo.reverse":
        return value, ()
    return owner.operands[0], tuple(ctx.ir.DenseI64ArrayAttr(owner.attributes["dimensions"]))


# Blocks of images -----------------------------------------------------------------------------------------------------


def _of_type(ctx: Any, *shapes: tuple[int, ...]) -> list[ShapedArray]:
    return [ShapedArray(shape, ctx.avals_in[0].dtype) for shape in shapes]


def _over_blocks(
    ctx: Any, tiles: Tiles, count: int, out: ShapedArray, begun: Any, part: Callable[[Any, Any], Any]
) -> Any:
    """What `part` makes, in turns, of a block's first image and what was made before it."""
    zero = ctx.scalar(0, _INDEX)
    if tiles.images == count:
        return part(zero, None)

    def going(first: Any, _: Any) -> Any:
        return ctx.compare(first, ctx.scalar(count, _INDEX), "LT")

    def body(first: Any, made: Any) -> list[Any]:
        return [ctx.hlo.add(first, ctx.scalar(tiles.images, _INDEX)), part(first, made)]

    return ctx.while_loop([_COUNT, out], [zero, begun], going, body)[-1]


def _images(ctx: Any, x: Any, aval: ShapedArray, first: Any, tiles: Tiles) -> tuple[Any, ShapedArray]:
    """The images of a block, and their aval."""
    own = aval.update(shape=(tiles.images, *aval.shape[1:]))
    at = [first, *[ctx.scalar(0, _INDEX)] * (aval.ndim - 1)]
    return (x if own.shape == aval.shape else ctx.dynamic_slice(x, aval, at, own.shape)), own


def _filled_with_first(x: Any, shape: Sequence[int]) -> Any:
    """An array to be written over. (Zeros, which all loops would share, would be copied for each.)"""
    first = slice_p(x, start_indices=(0,) * 4, limit_indices=(1,) * 4, strides=None)
    return broadcast_in_dim(reshape(first, ()), tuple(shape), ())


# Transforms -----------------------------------------------------------------------------------------------------------


def _seen(x: Any, tiles: Tiles, params: dict[str, Any]) -> Any:
    """What tiles see of images, with zeros where they reach beyond."""
    lows = [low // gap for (low, _), gap in zip(params["padding"], params["lhs_dilation"])]
    sizes = [line.apart * (n - 1) + line.b.shape[1] for line, n in zip(tiles.filter.lines, (tiles.rows, tiles.columns))]
    return _padded(x, lows, sizes)


def _whole(y: Any, tiles: Tiles) -> Any:
    """Images of results, with zeros where tiles reach beyond."""
    return _padded(y, (0, 0), [tiles.filter.side * n for n in (tiles.rows, tiles.columns)])


def _padded(x: Any, lows: Sequence[int], sizes: Sequence[int]) -> Any:
    pads = [(low, size - low - own, 0) for low, size, own in zip(lows, sizes, aval_of(x).shape[1:3])]
    return pad_p(x, scalar_like(x, 0), padding_config=((0, 0, 0), *pads, (0, 0, 0)))


def _of_tiles(x: Any, matrices: Sequence[np.ndarray], tiles: Tiles, apart: Sequence[int]) -> Any:
    """The tiles, so far `apart` in images, between a matrix and the transpose of another: (elements, tiles, features)."""
    first, second = matrices
    rows, columns = (step * (n - 1) + 1 for step, n in zip(apart, (tiles.rows, tiles.columns)))
    x = _combined(first, [slice_in_dim(x, i, i + rows, apart[0], 1) for i in range(first.shape[1])], 0)
    x = in_memory(x)
    x = _combined(second, [slice_in_dim(x, i, i + columns, apart[1], 3) for i in range(second.shape[1])], 1)
    shape = aval_of(x).shape
    return reshape(x, (math.prod(shape[:2]), math.prod(shape[2:-1]), shape[-1]))


def _of_window(w: Any, matrices: Sequence[np.ndarray]) -> Any:
    """The first two axes of an array between a matrix and the transpose of another."""
    for axis, matrix in enumerate(matrices):
        w = in_memory(_combined(matrix, _along(w, axis), axis))
    return w


def _product(x: Any, y: Any, x_axis: int, y_axis: int = 1) -> Any:
    """The products of matrices, one for each element of a tile, over an axis of each."""
    numbers = ((x_axis,), (y_axis,)), ((0,), (0,))
    return dot_general_p(x, y, dimension_numbers=numbers, precision=None, preferred_element_type=None)


def _results(x: Any, tiles: Tiles, sizes: Sequence[int]) -> Any:
    """The images of results of the products for each element of a tile."""
    made, side = aval_of(x).shape[-1], tiles.filter.side
    first, second = (line.a for line in tiles.filter.lines)
    x = reshape(x, (*tiles.filter.shape, tiles.images, tiles.rows, tiles.columns, made))
    x = in_memory(_combined(first, _along(x, 0), 3))
    x = _combined(second, _along(x, 0), 4)
    x = reshape(x, (tiles.images, side * tiles.rows, side * tiles.columns, made))
    return slice_in_dim(slice_in_dim(x, 0, sizes[0], axis=1), 0, sizes[1], axis=2)


def _along(x: Any, axis: int) -> list[Any]:
    """The parts of an array at each place along an axis, without it."""
    return [at_place(x, axis, i) for i in range(aval_of(x).shape[axis])]


def _combined(matrix: np.ndarray, parts: Sequence[Any], axis: int) -> Any:
    """For each row of a matrix the sum of the parts times the row's numbers, along a new axis."""
    total = None
    for column, part in zip(matrix.T, parts, strict=True):
        aval = aval_of(part)
        shape = (*aval.shape[:axis], len(column), *aval.shape[axis:])
        wide = broadcast_in_dim(part, shape, tuple(i + (i >= axis) for i in range(aval.ndim)))
        term = mul_p(wide, broadcast_in_dim(column.astype(aval.dtype), shape, (axis,)))
        total = term if total is None else add_p(total, term)
    return total
