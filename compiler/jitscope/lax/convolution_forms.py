"""What is made of convolutions: fractional strides, windows cut out as features, a window of its own for each place."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..core import dtypes
from ..core.annotations import Array, ArrayLike, DTypeLike
from ..core.avals import aval_of
from ..eager.functions import eager_jit
from ..ops.conv import ConvDimensionNumbers
from ..ops.linear import convert, pad_p, reshape, rev_p, scalar_zero, slice_in_dim, transpose
from ..ops.precision import as_precision, is_algorithm
from ..ops.stacking import stack_p
from ..ops.windows import dilated
from ..symbolic.dimension import reach
from .convolutions import (
    ConvGeneralDilatedDimensionNumbers,
    conv_dimension_numbers,
    conv_general_dilated,
    window_padding,
)
from .products import Precision, PrecisionLike, dot_general


_FEATURES_LAST = {
    2: ("NC", "IO", "NC"),
    3: ("NHC", "HIO", "NHC"),
    4: ("NHWC", "HWIO", "NHWC"),
    5: ("NHWDC", "HWDIO", "NHWDC"),
}


def conv_transpose(
    lhs: ArrayLike,
    rhs: ArrayLike,
    strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: ConvGeneralDilatedDimensionNumbers = None,
    transpose_kernel: bool = False,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    use_consistent_padding: bool = False,
) -> Array:
    """A convolution with fractional strides: the elements of lhs are `strides` apart (a "transposed convolution").

    padding: "SAME" or "VALID" mean those of the convolution that goes the other way; pairs of numbers are added as they
    are, or, with `use_consistent_padding`, mean the other way's, too. `transpose_kernel`: the window is turned round and
    its features exchanged, so that the result is the gradient of the other way's. Features come last by default; the rest
    as in `conv_general_dilated`. Raises ValueError for ranks without a default and for unknown paddings.
    """
    x, y = aval_of(lhs), aval_of(rhs)
    if dimension_numbers is None:
        if x.ndim not in _FEATURES_LAST:
            raise ValueError(f"conv_transpose of {x.short()}: give dimension_numbers, there is no default for its rank")
        dimension_numbers = _FEATURES_LAST[x.ndim]
    numbers = conv_dimension_numbers(x.shape, y.shape, dimension_numbers)
    space = numbers.rhs_spec[2:]
    apart = (1,) * len(space) if rhs_dilation is None else tuple(rhs_dilation)
    if use_consistent_padding or padding in ("SAME", "VALID"):
        each = [padding] * len(space) if isinstance(padding, str) else padding
        sizes = dilated([y.shape[a] for a in space], apart)
        padding = [transposed_padding(k, s, p) for k, s, p in zip(sizes, strides, each)]
    if transpose_kernel:
        out, inner = numbers.rhs_spec[:2]
        rhs = rev_p(rhs, dimensions=tuple(space)) if space else rhs
        order = list(range(y.ndim))
        order[out], order[inner] = inner, out
        rhs = transpose(rhs, tuple(order))
    return conv_general_dilated(
        lhs, rhs, (1,) * len(space), padding, strides, apart, numbers,
        precision=precision, preferred_element_type=preferred_element_type,
    )  # fmt: skip


def transposed_padding(window: int, stride: int, padding: Any) -> tuple[int, int]:
    """(low, high) of the convolution with fractional strides, from the padding of the one that goes the other way."""
    if padding == "SAME":
        total = window + stride - 2
        low = window - 1 if stride > window - 1 else -(-total // 2)
        return low, total - low
    if padding == "VALID":
        return window - 1, stride - 1 + max(window - stride, 0)
    if isinstance(padding, str):
        raise ValueError(f"padding is 'SAME', 'VALID' or pairs of numbers, not {padding!r}")
    low, high = padding
    return window - 1 - low, window - 1 - high


def conv_general_dilated_patches(
    lhs: ArrayLike,
    filter_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: ConvGeneralDilatedDimensionNumbers | None = None,
    precision: Precision | None = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """What a window of `filter_shape` sees at each place, as features: input features, then the window's axes in the order
    of dimension_numbers, the last one fastest. The rest as in `conv_general_dilated`."""
    x, sizes = aval_of(lhs), tuple(int(n) for n in filter_shape)
    numbers = conv_dimension_numbers(x.shape, (1, 1, *sizes), dimension_numbers)
    ones = (1,) * len(sizes)
    apart = ones if rhs_dilation is None else tuple(rhs_dilation)
    pads = window_padding(x, sizes, numbers, window_strides, padding, lhs_dilation, apart)
    as_precision(precision)  # nothing is multiplied; it is checked all the same
    preferred = x.dtype if preferred_element_type is None else dtypes.explicit(preferred_element_type)
    return _patches(
        lhs, sizes=sizes, strides=tuple(window_strides), pads=pads, numbers=numbers, apart=apart, dtype=preferred,
        spread=ones if lhs_dilation is None else tuple(lhs_dilation),
    )  # fmt: skip


@eager_jit(static="sizes strides pads spread apart numbers dtype", nested=True)
def _patches(
    x: Any, *, sizes: tuple[int, ...], strides: tuple[int, ...], pads: Any, spread: tuple[int, ...],
    apart: tuple[int, ...], numbers: ConvDimensionNumbers, dtype: Any,
) -> Any:  # fmt: skip
    """Slices put side by side, axis by axis: nothing is multiplied, as it would be by windows of zeros and a one."""
    batch, features, *space = numbers.lhs_spec
    config = [(0, 0, 0)] * aval_of(x).ndim
    for a, (low, high), d in zip(space, pads, spread):
        config[a] = (low, high, d - 1)
    x = transpose(pad_p(x, scalar_zero(aval_of(x).dtype), padding_config=tuple(config)), (batch, features, *space))
    for i, (k, stride, d) in enumerate(zip(sizes, strides, apart)):
        room = aval_of(x).shape[2 + 2 * i]
        count = max(0, (room - reach(k, d)) // stride + 1)
        stops = [j * d + (count - 1) * stride + 1 if count else j * d for j in range(k)]
        parts = [slice_in_dim(x, min(j * d, room), min(stop, room), stride, 2 + 2 * i) for j, stop in enumerate(stops)]
        x = stack_p(*parts, axis=2 + i)  # batch, features, window axes so far, places so far, space to come
    rank = len(sizes)
    shape = aval_of(x).shape
    flat = reshape(x, (shape[0], math.prod(shape[1 : 2 + rank]), *shape[2 + rank :]))
    order = sorted(range(2 + rank), key=numbers.out_spec.__getitem__)
    return convert(transpose(flat, tuple(order)), dtype)


def conv_general_dilated_local(
    lhs: ArrayLike,
    rhs: ArrayLike,
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    filter_shape: Sequence[int],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: ConvGeneralDilatedDimensionNumbers | None = None,
    precision: PrecisionLike = None,
) -> Array:
    """A convolution with a window of its own at each place. rhs: spatial axes as the result's, output features, and as
    input features the elements of a patch in the order of `conv_general_dilated_patches`. Raises ValueError for an
    algorithm as precision."""
    exact = as_precision(precision)
    if is_algorithm(exact):
        raise ValueError(f"conv_general_dilated_local takes a Precision, or one for each operand, not {precision}")
    own = exact[0] if isinstance(exact, tuple) else None
    patches = conv_general_dilated_patches(
        lhs, filter_shape, window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers, own
    )
    numbers = conv_dimension_numbers(aval_of(lhs).shape, (1, 1, *filter_shape), dimension_numbers)
    pairs = sorted(zip(numbers.out_spec[2:], numbers.rhs_spec[2:]))
    batching = tuple(a for a, _ in pairs), tuple(b for _, b in pairs)
    contracting = (numbers.out_spec[1],), (numbers.rhs_spec[1],)
    out = dot_general(
        patches, rhs, (contracting, batching), precision
    )  # places in the result's order, batch, output features
    batch, features = numbers.out_spec[:2]
    rank = aval_of(out).ndim
    order = list(range(rank - 2))
    for at, axis in sorted(((batch, rank - 2), (features, rank - 1))):
        order.insert(at, axis)
    return transpose(out, tuple(order))
