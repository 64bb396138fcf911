"""The shapes of convolutions, worked out without making one."""

from __future__ import annotations

from collections.abc import Sequence

from .convolution_forms import transposed_padding
from .convolutions import padtype_to_pads


def conv_general_permutations(dimension_numbers: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """For lhs, rhs and the result, where the axes lie that are first by default: batch and features (of rhs output and
    input features), then the spatial axes in the order of rhs. Raises TypeError for strings that do not name each axis
    once."""
    lhs, rhs, out = dimension_numbers
    for spec, (first, second) in ((lhs, "NC"), (rhs, "OI"), (out, "NC")):
        if len(set(spec)) != len(spec) or first not in spec or second not in spec:
            raise TypeError(f"dimension_numbers: {spec!r} should have {first} and {second}, and no letter twice")
    space = [letter for letter in rhs if letter not in "OI"]
    if not set(lhs) - set("NC") == set(space) == set(out) - set("NC"):
        raise TypeError(f"dimension_numbers: the spatial axes differ in {tuple(dimension_numbers)}")
    return tuple(
        tuple(spec.index(s) for s in (*first, *space)) for spec, first in ((lhs, "NC"), (rhs, "OI"), (out, "NC"))
    )


def conv_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    strides: Sequence[int],
    pads: str | Sequence[tuple[int, int]],
    batch_group_count: int = 1,
) -> tuple[int, ...]:
    """The shape of a convolution with batch and features first. Raises TypeError for another number of pads than spatial
    axes, ValueError for pads that cut more than there is, and for groups that do not divide the batch."""
    if isinstance(pads, str):
        pads = padtype_to_pads(lhs_shape[2:], rhs_shape[2:], strides, pads)
    if len(pads) != len(lhs_shape) - 2:
        raise TypeError(
            f"a convolution of shape {tuple(lhs_shape)} needs {len(lhs_shape) - 2} pads, it got {len(pads)}"
        )
    rooms = [n + low + high for n, (low, high) in zip(lhs_shape[2:], pads)]
    if any(room < 0 for room in rooms):
        raise ValueError(f"padding {tuple(pads)} cuts more from shape {tuple(lhs_shape)} than it has")
    if lhs_shape[0] % batch_group_count:
        raise ValueError(f"a batch of {lhs_shape[0]} does not divide into {batch_group_count} groups")
    space = [max(0, (room - k) // s + 1) for room, k, s in zip(rooms, rhs_shape[2:], strides)]
    return (lhs_shape[0] // batch_group_count, rhs_shape[0], *space)


def conv_general_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    dimension_numbers: Sequence[str],
) -> tuple[int, ...]:
    """The shape of a convolution whose axes lie as `dimension_numbers`, three strings, say."""
    lhs, rhs, out = conv_general_permutations(dimension_numbers)
    shape = conv_shape_tuple([lhs_shape[a] for a in lhs], [rhs_shape[a] for a in rhs], window_strides, padding)
    return _at(shape, out)


def conv_transpose_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    dimension_numbers: Sequence[str],
) -> tuple[int, ...]:
    """The shape of `conv_transpose`, with the padding of the convolution with fractional strides."""
    lhs, rhs, out = conv_general_permutations(dimension_numbers)
    x, y = [lhs_shape[a] for a in lhs], [rhs_shape[a] for a in rhs]
    if isinstance(padding, str):
        padding = [transposed_padding(k, s, padding) for k, s in zip(y[2:], window_strides)]
    space = [(n - 1) * s - k + 2 + sum(pads) for n, k, s, pads in zip(x[2:], y[2:], window_strides, padding)]
    return _at((x[0], y[0], *space), out)


def _at(shape: Sequence[int], places: Sequence[int]) -> tuple[int, ...]:
    """Sizes put where their axes lie."""
    found = [0] * len(shape)
    for place, n in zip(places, shape):
        found[place] = n
    return tuple(found)
