"""Convolutions, and the ways to say which axis is what and how much to pad."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..backend.placement import laid
from ..core.annotations import Array, ArrayLike, DTypeLike, PartitionSpec, PrecisionLike, Sharding
from ..core.avals import ShapedArray, aval_of
from ..ops import conv as convolution
from ..ops.conv import ConvDimensionNumbers
from ..ops.windows import dilated
from ..symbolic.dimension import max_dim, size


__all__ = ["ConvDimensionNumbers", "ConvGeneralDilatedDimensionNumbers", "conv", "conv_dimension_numbers",
           "conv_general_dilated", "conv_with_general_padding", "padtype_to_pads"]  # fmt: skip


ConvGeneralDilatedDimensionNumbers = None | ConvDimensionNumbers | tuple[str, str, str]
"""How to say which axis of a convolution is what."""


def conv_dimension_numbers(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    dimension_numbers: ConvGeneralDilatedDimensionNumbers | Sequence[Sequence[int]],
) -> ConvDimensionNumbers:
    """What each axis is, from three strings ("NHWC", "HWIO", "NHWC"), three sequences of axes, or None: batch and features
    first ("NCHW", "OIHW", "NCHW").

    In the strings N is the batch, C features, O and I output and input features; any other letters are spatial axes. Raises
    TypeError for operands of different ranks and for strings that do not say what each axis is.
    """
    if isinstance(dimension_numbers, ConvDimensionNumbers):
        return dimension_numbers
    rank = len(lhs_shape)
    if len(rhs_shape) != rank:
        raise TypeError(
            f"a convolution needs operands of one rank, it got shapes {tuple(lhs_shape)} and {tuple(rhs_shape)}"
        )
    if dimension_numbers is None:
        axes = tuple(range(rank))
        return ConvDimensionNumbers(axes, axes, axes)
    if not isinstance(dimension_numbers, (list, tuple)) or len(dimension_numbers) != 3:
        raise TypeError(
            "dimension_numbers is None or three strings, those of lhs, rhs and the result, as ('NHWC', 'HWIO', 'NHWC'); "
            f"it was {dimension_numbers!r}"
        )
    if all(isinstance(spec, str) for spec in dimension_numbers):
        return _from_strings(rank, *dimension_numbers)  # pyright: ignore[reportArgumentType]
    lhs, rhs, out = (tuple(int(a) for a in spec) for spec in dimension_numbers)
    return ConvDimensionNumbers(lhs, rhs, out)


def _from_strings(rank: int, lhs: str, rhs: str, out: str) -> ConvDimensionNumbers:
    for spec, name, needed in ((lhs, "lhs", "NC"), (rhs, "rhs", "OI"), (out, "result", "NC")):
        if len(spec) != rank or len(set(spec)) != rank or not set(needed) <= set(spec):
            raise TypeError(
                f"dimension_numbers: {spec!r} should name each of the {rank} axes of the {name} with a letter of its own, "
                f"{needed[0]} and {needed[1]} among them"
            )
    space = [letter for letter in rhs if letter not in "OI"]
    for spec, name in ((lhs, "lhs"), (out, "result")):
        if set(spec) - set("NC") != set(space):
            raise TypeError(f"dimension_numbers: the spatial axes of the {name}, {spec!r}, are not those of {rhs!r}")
    return ConvDimensionNumbers(
        tuple(lhs.index(letter) for letter in ("N", "C", *space)),
        tuple(rhs.index(letter) for letter in ("O", "I", *space)),
        tuple(out.index(letter) for letter in ("N", "C", *space)),
    )


def padtype_to_pads(
    in_shape: Sequence[int], window_shape: Sequence[int], window_strides: Sequence[int], padding: str
) -> list[tuple[int, int]]:
    """(low, high) for each spatial axis: none for "VALID"; for "SAME" as much as makes the result ceil(size / stride)
    long, where an odd number has one more at the end ("SAME_LOWER": at the start). Raises RuntimeError for other names,
    TypeError for what is no name, ValueError for strides that are not positive."""
    if not isinstance(padding, str):
        raise TypeError(f"padding is 'VALID', 'SAME' or 'SAME_LOWER', not {padding!r}")
    kind = padding.upper()
    if any(stride < 1 for stride in window_strides):
        raise ValueError(f"padding={padding!r}: strides are positive; they are {tuple(window_strides)}")
    if kind not in ("VALID", "SAME", "SAME_LOWER"):
        raise RuntimeError(f"padding is 'VALID', 'SAME', 'SAME_LOWER' or pairs of numbers, not {padding!r}")
    pads = []
    for n, window, stride in zip(in_shape, window_shape, window_strides):
        out = (n + stride - 1) // stride
        total = 0 if kind == "VALID" else max_dim((out - 1) * stride + window - n, 0)
        less, more = size(total // 2), size(total - total // 2)
        pads.append((less, more) if kind == "SAME" else (more, less))
    return pads


def window_padding(
    x: ShapedArray, sizes: Sequence[int], numbers: ConvDimensionNumbers, strides: Sequence[int], padding: Any,
    lhs_dilation: Sequence[int] | None, rhs_dilation: Sequence[int] | None,
) -> tuple[tuple[int, int], ...]:  # fmt: skip
    """(low, high) for each spatial axis of lhs, of aval `x`, from pairs or a name. Raises ValueError for names that say
    nothing."""
    if not isinstance(padding, str):
        try:
            return tuple((size(low), size(high)) for low, high in padding)
        except TypeError:
            raise ValueError(
                f"padding is a name or (low, high) pairs, one for each spatial axis, not {padding!r}"
            ) from None
    if lhs_dilation is not None and any(d != 1 for d in lhs_dilation):
        raise ValueError(
            f"padding={padding!r} says nothing where lhs is dilated ({tuple(lhs_dilation)}): give (low, high) pairs"
        )
    apart = (1,) * len(sizes) if rhs_dilation is None else rhs_dilation
    return tuple(padtype_to_pads([x.shape[a] for a in numbers.lhs_spec[2:]], dilated(sizes, apart), strides, padding))


def conv_general_dilated(
    lhs: ArrayLike,
    rhs: ArrayLike,
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: ConvGeneralDilatedDimensionNumbers | Sequence[Sequence[int]] | None = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """The convolution (without turning the window round) of arrays of rank n + 2 along n spatial axes.

    lhs: batch and input features; rhs: output features, and input features divided by feature_group_count.
    window_strides, lhs_dilation and rhs_dilation have one positive number for each spatial axis, padding one (low, high), or
    is "VALID", "SAME" or "SAME_LOWER". dimension_numbers as in `conv_dimension_numbers`. Both operands have one dtype; the
    result has it too, or preferred_element_type. Raises TypeError for dtypes, ValueError for sizes that do not fit.
    """
    if out_sharding is not None:
        rest = (
            lhs_dilation, rhs_dilation, dimension_numbers, feature_group_count, batch_group_count, precision,
            preferred_element_type,
        )  # fmt: skip
        return laid(out_sharding, lambda x, y: conv_general_dilated(x, y, window_strides, padding, *rest), lhs, rhs)
    x, y = aval_of(lhs), aval_of(rhs)
    numbers = conv_dimension_numbers(x.shape, y.shape, dimension_numbers)
    sizes = [y.shape[a] for a in numbers.rhs_spec[2:]]
    return convolution.conv_general_dilated(
        lhs,
        rhs,
        window_strides,
        window_padding(x, sizes, numbers, window_strides, padding, lhs_dilation, rhs_dilation),
        lhs_dilation,
        rhs_dilation,
        numbers,
        feature_group_count,
        batch_group_count,
        precision,
        preferred_element_type,
    )


def conv(
    lhs: ArrayLike,
    rhs: ArrayLike,
    window_strides: Sequence[int],
    padding: str,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """`conv_general_dilated` with batch and features first, and padding "SAME" or "VALID": [n, c, ...] and [k, c, ...]
    to [n, k, ...]."""
    return conv_general_dilated(
        lhs, rhs, window_strides, padding, precision=precision, preferred_element_type=preferred_element_type
    )


def conv_with_general_padding(
    lhs: ArrayLike,
    rhs: ArrayLike,
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int] | None,
    rhs_dilation: Sequence[int] | None,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """`conv_general_dilated` with batch and features first: [n, c, ...] and [k, c, ...] to [n, k, ...]."""
    return conv_general_dilated(
        lhs,
        rhs,
        window_strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )
