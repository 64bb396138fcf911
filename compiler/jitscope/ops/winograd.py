"""Convolutions with a window of 3 × 3, and their gradients by the window, with fewer multiplications: Winograd's minimal filtering F(2 × 2, 3 × 3)
(Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", CVPR 2016, section 4.1).

A tile of 2 × 2 results y sees a tile d of 4 × 4. With the matrices below, y = A' ((G w G') * (B' d B)) A, where * multiplies element by element:
16 multiplications in place of 36. Summed over the features, each of the 16 elements is a product of matrices, (tiles × features) (features × results'
features). The gradient by the window is the transpose, G' ((A y A') * (B' d B)) G, summed over the tiles.

What a tile sees beside a result's own window cancels out up to rounding, so that errors are relative to the largest numbers of the tile; where these are of
one size, the error (root mean square) was seen to be 0.6 to 2.3 of that of XLA's sums. Infinities and NaN reach all results of the tile.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.avals import ShapedArray, aval_of
from ..xla.cpu_tuning import MINIMAL_FILTERING
from .conv_forms import Geometry
from .dot import dot_general_p
from .families import scalar_like
from .linear import add_p, broadcast_in_dim, mul_p, pad_p, reshape, slice_in_dim, slice_p, transpose
from .marks import in_memory, optimization_barrier_p
from .precision import Precision
from .small_products import at_place


_B = np.array([[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]])
_G = np.array([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]])
_A = np.array([[1, 1, 1, 0], [0, 1, -1, -1]])
"""What stands at the left: the transposes of B and A, and G."""
_INDEX = np.dtype(np.int32)
_COUNT = ShapedArray((), _INDEX)


class Tiles:
    """How images of results are cut: into `rows` × `columns` tiles each, so many `images` in a block, which one turn of a loop takes."""

    __slots__ = ("columns", "images", "rows")

    def __init__(self, count: int, sizes: tuple[int, ...], features: int):
        self.rows, self.columns = (-(-n // 2) for n in sizes)
        wanted = -(-MINIMAL_FILTERING.value["numbers"] // (self.rows * self.columns * features))
        self.images = next(n for n in range(min(wanted, count), count + 1) if count % n == 0)

    @property
    def of_block(self) -> int:
        return self.images * self.rows * self.columns


def is_filtered(ctx: Any, geometry: Geometry) -> bool:
    """Whether a convolution is computed so, in programs for one device."""
    count, features, *_ = geometry.x_shape
    return geometry.window == (3, 3) and _holds(ctx, geometry, features, count, geometry.sizes)


def is_filtered_gradient(ctx: Any, geometry: Geometry) -> bool:
    """Whether a convolution has the form of the gradient by such a window (features and examples in each other's places), and is computed so."""
    features, count, *_ = geometry.x_shape
    return geometry.sizes == (3, 3) and _holds(ctx, geometry, features, count, geometry.window)


def _holds(ctx: Any, geometry: Geometry, features: int, count: int, sizes: tuple[int, ...]) -> bool:
    if not MINIMAL_FILTERING.holds(ctx.module.platform) or ctx.module.meshes.group is not None:
        return False
    p, limits, most = geometry.params, MINIMAL_FILTERING.value, max(features, geometry.y_shape[0])
    tiles = Tiles(count, sizes, most)
    plain = all(set(p[name]) == {1} for name in ("window_strides", "lhs_dilation", "rhs_dilation"))
    return (
        plain
        and geometry.groups == 1
        and set(p["precision"] or ()) <= {Precision.DEFAULT}
        and min(features, geometry.y_shape[0]) >= limits["features"]
        and geometry.products() >= limits["products"]
        and count * tiles.rows * tiles.columns >= limits["tiles"]
        and 4 * tiles.rows * tiles.columns <= limits["filled"] * math.prod(sizes)
        and tiles.of_block * most <= limits["most"]
    )


def filtered(ctx: Any, geometry: Geometry, x: Any, y: Any) -> Any:
    """The result of a convolution, MLIR values of the context's operands."""
    (count, features, *space), made = geometry.x_shape, geometry.y_shape[0]
    x_spec, y_spec, _ = geometry.specs
    tiles = Tiles(count, geometry.sizes, max(features, made))
    images, windows = _of_type(ctx, (count, *space, features), (16, features, made))
    out = windows.update(shape=(count, *geometry.sizes, made))

    def prepared(x: Any, y: Any) -> list[Any]:
        # A window is transformed when its images are there: all at once would fill memory.
        x, y = optimization_barrier_p(x, y)
        window = transpose(y, (*y_spec[2:], y_spec[1], y_spec[0]))
        return [transpose(x, (x_spec[0], *x_spec[2:], x_spec[1])), reshape(_of_window(window, _G), windows.shape)]

    x, y = ctx.inline(prepared, x, y)

    def block(x: Any, y: Any) -> Any:
        seen = _of_tiles(_padded(x, tiles, geometry.params["padding"]), _B, tiles)
        return _results(_product(seen, y, 2), tiles, geometry.sizes)

    def part(first: Any, made: Any) -> Any:
        at = [first, *[ctx.scalar(0, _INDEX)] * 3]
        seen, aval = _images(ctx, x, images, first, tiles)
        one = ctx.inline(block, seen, y, avals=[aval, windows])
        return one if tiles.images == count else ctx.hlo.dynamic_update_slice(made, one, at)

    begun = ctx.inline(lambda x: _filled_with_first(x, out.shape), x, avals=[images])
    return ctx.inline(geometry.placed, _over_blocks(ctx, tiles, count, out, begun, part), avals=[out])


def filtered_gradient(ctx: Any, geometry: Geometry, x: Any, y: Any) -> Any:
    """The result of a convolution that has the form of the gradient by a window, MLIR values of the context's operands."""
    (features, count, *space), made = geometry.x_shape, geometry.y_shape[0]
    x_spec, y_spec, _ = geometry.specs
    tiles = Tiles(count, geometry.window, max(features, made))
    images, cotangents, sums = _of_type(
        ctx, (count, *space, features), (count, *geometry.window, made), (16, features, made)
    )

    def prepared(x: Any, y: Any) -> list[Any]:
        return [transpose(a, (spec[1], *spec[2:], spec[0])) for a, spec in ((x, x_spec), (y, y_spec))]

    x, y = ctx.inline(prepared, x, y)

    def block(x: Any, y: Any) -> Any:
        seen = _of_tiles(_padded(x, tiles, geometry.params["padding"]), _B, tiles)
        seen = in_memory(transpose(seen, (0, 2, 1)))  # else XLA has one core multiply
        return _product(seen, _of_tiles(_padded(y, tiles), _A.T, tiles), 2)

    def part(first: Any, total: Any) -> Any:
        both = [_images(ctx, a, aval, first, tiles) for a, aval in ((x, images), (y, cotangents))]
        one = ctx.inline(block, *[a for a, _ in both], avals=[aval for _, aval in both])
        return one if tiles.images == count else ctx.hlo.add(total, one)

    def gradient(total: Any) -> Any:
        window = _of_window(reshape(total, (4, 4, features, made)), _G.T)
        return geometry.placed(transpose(window, (2, 0, 1, 3)))

    return ctx.inline(gradient, _over_blocks(ctx, tiles, count, sums, ctx.zeros(sums), part), avals=[sums])


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


def _padded(x: Any, tiles: Tiles, padding: Sequence[tuple[int, int]] | None = None) -> Any:
    """What tiles see of images, or images of results (no padding), with zeros where they reach beyond."""
    sizes = aval_of(x).shape[1:3]
    pads = []
    for size, number, low in zip(sizes, (tiles.rows, tiles.columns), [p[0] for p in padding or ((0, 0), (0, 0))]):
        pads.append((low, 2 * number + 2 * (padding is not None) - low - size, 0))
    return pad_p(x, scalar_like(x, 0), padding_config=((0, 0, 0), *pads, (0, 0, 0)))


def _of_tiles(x: Any, matrix: np.ndarray, tiles: Tiles) -> Any:
    """The tiles, which begin at each second place of both axes of images, between a matrix and its transpose: (elements, tiles, features)."""
    reach, (rows, columns) = matrix.shape[1], (2 * tiles.rows - 1, 2 * tiles.columns - 1)
    x = _combined(matrix, [slice_in_dim(x, i, i + rows, 2, 1) for i in range(reach)], 0)
    x = in_memory(x)
    x = _combined(matrix, [slice_in_dim(x, i, i + columns, 2, 3) for i in range(reach)], 1)
    shape = aval_of(x).shape
    return reshape(x, (math.prod(shape[:2]), math.prod(shape[2:-1]), shape[-1]))


def _of_window(w: Any, matrix: np.ndarray) -> Any:
    """The first two axes of an array between a matrix and its transpose."""
    for axis in (0, 1):
        w = in_memory(_combined(matrix, _along(w, axis), axis))
    return w


def _product(x: Any, y: Any, contracted: int) -> Any:
    """The products of matrices, one for each element of a tile, over an axis of x and the features or the tiles of y."""
    numbers = ((contracted,), (1,)), ((0,), (0,))
    return dot_general_p(x, y, dimension_numbers=numbers, precision=None, preferred_element_type=None)


def _results(x: Any, tiles: Tiles, sizes: Sequence[int]) -> Any:
    """The images of results of the products for each element of a tile."""
    made = aval_of(x).shape[-1]
    x = reshape(x, (4, 4, tiles.images, tiles.rows, tiles.columns, made))
    x = in_memory(_combined(_A, _along(x, 0), 3))
    x = _combined(_A, _along(x, 0), 4)
    x = reshape(x, (tiles.images, 2 * tiles.rows, 2 * tiles.columns, made))
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
