"""Common divisors and multiples, and bytes as bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..control.while_loop import while_loop
from ..core import dtypes
from ..core.annotations import Array, ArrayLike
from ..core.avals import aval_of
from ..eager.functions import eager_jit
from ..ops.elementwise import and_p, div_p, eq_p, ne_p, rem_p, shift_left_p
from ..ops.families import scalar_like
from ..ops.indexing import iota
from ..ops.linear import (
    broadcast_in_dim_p,
    convert,
    mul_p,
    pad_p,
    reduce_sum_p,
    reshape,
    slice_in_dim,
    sub_p,
    where as choose,
)
from ..ops.reduce import reduce_or_p
from ._ufunc import kind_of
from .arithmetic import absolute
from .operands import broadcast, integer, lenient, one_axis, promoted, same_shape, weak_as
from .reductions import strong
from .structure import array_operand, moveaxis, ravel


# Divisors ------------------------------------------------------------------------------------------------------------


def _whole(name: str, x1: Any, x2: Any) -> list[Any]:
    """Two integer arrays of one dtype and shape. Raises ValueError for other dtypes."""
    values, avals, dtype, _ = promoted(name, (x1, x2))
    if dtypes.kind(dtype) not in "iu":
        raise ValueError(f"{name} takes integers, not {avals[0].short()} and {avals[1].short()}")
    xs = [array_operand(name, v) for v in values]
    xs = same_shape(name, xs, [aval_of(x) for x in xs])
    shape = max((aval_of(x).shape for x in xs), key=len)
    return [absolute(x if aval_of(x).shape == shape else strong(broadcast(x, aval_of(x).shape, shape))) for x in xs]


@lenient
@eager_jit()
def gcd(x1: ArrayLike, x2: ArrayLike) -> Array:
    """The greatest common divisor, not negative, element by element [...]; 0 of two zeros. Raises ValueError for dtypes
    that are not integers."""
    return _gcd(*_whole("gcd", x1, x2))


def _gcd(x: Any, y: Any) -> Any:
    """By Euclid's algorithm, until every element is done."""

    def rests(pair: tuple[Any, Any]) -> tuple[Any, Any]:
        x, y = pair
        going = ne_p(y, scalar_like(y, 0))
        return choose(going, y, x), choose(going, rem_p(x, y), y)

    def going(pair: tuple[Any, Any]) -> Any:
        left = ne_p(pair[1], scalar_like(pair[1], 0))
        return reduce_or_p(left, axes=tuple(range(aval_of(left).ndim)))

    return while_loop(going, rests, (x, y))[0]


@lenient
@eager_jit()
def lcm(x1: ArrayLike, x2: ArrayLike) -> Array:
    """The least common multiple, not negative, element by element [...]; 0 where one is 0. Raises ValueError for dtypes
    that are not integers."""
    x, y = _whole("lcm", x1, x2)
    divisor = _gcd(x, y)
    none = eq_p(divisor, scalar_like(divisor, 0))
    out = choose(none, divisor, mul_p(x, div_p(y, choose(none, scalar_like(divisor, 1), divisor))))
    return weak_as(out, x, y)


# Bits ----------------------------------------------------------------------------------------------------------------


def _in_bytes(name: str, x: Any, axis: int | None, bitorder: str) -> tuple[Any, int, Callable[[Any], Any]]:
    """The array with its bits along the last axis, the axis asked for, and what gives the places of the bits of bytes, an
    array like one whose last axis has eight elements."""
    if bitorder not in ("big", "little"):
        raise ValueError(f"{name}: bitorder is 'big' or 'little', not {bitorder!r}")
    x, axis = (ravel(x), 0) if axis is None else (x, one_axis(name, axis, aval_of(x).ndim))

    def places(bits: Any) -> Any:
        shape = aval_of(bits).shape
        upwards = iota(np.dtype(np.uint8), shape, len(shape) - 1)
        return sub_p(np.uint8(7), upwards) if bitorder == "big" else upwards

    return moveaxis(x, axis, -1), axis, places


@eager_jit(static="axis bitorder")
def packbits(a: ArrayLike, axis: int | None = None, bitorder: str = "big") -> Array:
    """Eight elements along `axis` (None: of the raveled array) as the bits of one uint8: 1 where they are not zero.
    Zeros fill up the last byte. The first element is the highest bit, or with `bitorder` "little" the lowest.

    Raises TypeError for arrays of neither integers nor booleans, ValueError for other orders.
    """
    x = array_operand("packbits", a)
    if kind_of(x) not in "biu":
        raise TypeError(f"packbits takes integers or booleans, not {aval_of(x).short()}")
    bits, axis, places = _in_bytes("packbits", x, axis, bitorder)
    bits = bits if kind_of(bits) == "b" else ne_p(bits, scalar_like(bits, 0))
    shape = aval_of(bits).shape
    count = -(-shape[-1] // 8)
    if missing := 8 * count - shape[-1]:
        bits = pad_p(bits, np.False_, padding_config=(*[(0, 0, 0)] * (len(shape) - 1), (0, missing, 0)))
    bits = convert(reshape(bits, (*shape[:-1], count, 8)), np.dtype(np.uint8))
    packed = reduce_sum_p(shift_left_p(bits, places(bits)), axes=(len(shape),))
    return moveaxis(packed, -1, axis)


@eager_jit(static="axis count bitorder")
def unpackbits(a: ArrayLike, axis: int | None = None, count: int | None = None, bitorder: str = "big") -> Array:
    """The bits of bytes along `axis` (None: of the raveled array), each a uint8 of 0 or 1: eight times as many
    elements.

    Of these the first `count`, zeros if there are not so many; a negative `count` leaves out that many at the end.
    Order and errors as in `packbits`; raises TypeError for other dtypes than uint8.
    """
    x = array_operand("unpackbits", a)
    if aval_of(x).dtype != np.uint8:
        raise TypeError(f"unpackbits takes bytes (uint8), not {aval_of(x).short()}")
    x, axis, places = _in_bytes("unpackbits", x, axis, bitorder)
    own = aval_of(x).shape
    spread = broadcast_in_dim_p(x, shape=(*own, 8), broadcast_dimensions=tuple(range(len(own))))
    # Single bytes are not shifted in vectors: the masks are constants.
    masks = shift_left_p(np.uint8(1), places(spread))
    bits = convert(ne_p(and_p(spread, masks), scalar_like(spread, 0)), np.dtype(np.uint8))
    size = 8 * own[-1]
    bits = reshape(bits, (*own[:-1], size))
    if count is not None:
        count = integer("unpackbits", count, "count")
        count = count if count >= 0 else max(size + count, 0)
        if count > size:
            bits = pad_p(bits, np.uint8(0), padding_config=(*[(0, 0, 0)] * (len(own) - 1), (0, count - size, 0)))
        else:
            bits = slice_in_dim(bits, 0, count, axis=len(own) - 1)
    return moveaxis(bits, -1, axis)
