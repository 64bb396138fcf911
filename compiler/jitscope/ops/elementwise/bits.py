"""Operations on bits: logic, shifts, the upper half of products, bits read as another dtype."""

from __future__ import annotations

import numpy as np

from ...core import dtypes
from ...core.avals import ShapedArray
from ...core.config import enable_x64
from ..families import DiscreteElementwise, pure
from ..linear import add_p, convert_element_type_p, mul_p


__all__ = ["BitcastConvertType", "MulHigh", "and_p", "bitcast_convert_type_p", "clz_p", "mulhi_p", "not_p", "or_p",
           "population_count_p", "shift_left_p", "shift_right_arithmetic_p", "shift_right_logical_p", "xor_p"]  # fmt: skip

and_p = DiscreteElementwise("and", accepts="biu", hlo="and_")
or_p = DiscreteElementwise("or", accepts="biu", hlo="or_")
xor_p = DiscreteElementwise("xor", accepts="biu")
not_p = DiscreteElementwise("not", accepts="biu", hlo="not_")
shift_left_p = DiscreteElementwise("shift_left", accepts="iu")
shift_right_logical_p = DiscreteElementwise("shift_right_logical", accepts="iu")
shift_right_arithmetic_p = DiscreteElementwise("shift_right_arithmetic", accepts="iu")
population_count_p = DiscreteElementwise("population_count", accepts="iu", hlo="popcnt")
clz_p = DiscreteElementwise("clz", accepts="iu", hlo="count_leading_zeros")


class MulHigh(DiscreteElementwise):
    """The upper half of the bits of the product. XLA has no such operation on the CPU: numbers of twice the width are
    multiplied, of 64 bits their halves."""

    def lower(self, ctx, x, y, /):
        dtype = ctx.avals_out[0].dtype
        with enable_x64():
            return ctx.inline(lambda x, y: (_upper_of_64 if dtype.itemsize == 8 else _upper)(x, y, dtype), x, y)


def _upper(x, y, dtype):
    wide = np.dtype(f"{dtypes.kind(dtype)}{2 * dtype.itemsize}")
    product = mul_p(*[convert_element_type_p(v, new_dtype=wide, weak_type=False) for v in (x, y)])
    shift = shift_right_arithmetic_p if dtypes.kind(dtype) == "i" else shift_right_logical_p
    return convert_element_type_p(shift(product, wide.type(dtypes.width(dtype))), new_dtype=dtype, weak_type=False)


def _upper_of_64(x, y, dtype):
    """Four products of halves, of which those with a lower half are carried over; the upper halves keep their sign."""
    shift = shift_right_arithmetic_p if dtypes.kind(dtype) == "i" else shift_right_logical_p
    width, mask = dtype.type(32), dtype.type(2**32 - 1)
    (x_low, x_high), (y_low, y_high) = ((and_p(v, mask), shift(v, width)) for v in (x, y))
    carried = shift_right_logical_p(mul_p(x_low, y_low), width)
    middle = add_p(mul_p(x_high, y_low), carried)
    other = add_p(mul_p(x_low, y_high), and_p(middle, mask))
    return add_p(mul_p(x_high, y_high), add_p(shift(middle, width), shift(other, width)))


mulhi_p = MulHigh("mulhi", accepts="iu")


class BitcastConvertType(DiscreteElementwise):
    """The same bits read as `new_dtype`: of narrower elements there are several, along a new last axis; wider ones take
    those along the last axis together."""

    def abstract(self, x, /, *, new_dtype):
        said = f"bitcast_convert_type from {x.short()} to {new_dtype.name}"
        if x.dtype != new_dtype and not all(dtypes.kind(d) in self.accepts for d in (x.dtype, new_dtype)):
            raise TypeError(
                f"bitcast_convert_type to {new_dtype.name} works on integers and floats; it got {x.short()}: "
                "x.view(dtype) works on all numbers"
            )
        old, new = dtypes.width(x.dtype), dtypes.width(new_dtype)
        if old >= new:
            return pure(ShapedArray(x.shape if old == new else (*x.shape, old // new), new_dtype))
        if not x.shape or x.shape[-1] * old != new:
            raise ValueError(f"{said}: the last axis would have to be of {new // old} elements, {new} bits together")
        return pure(ShapedArray(x.shape[:-1], new_dtype))

    def lower(self, ctx, x, /, *, new_dtype):
        return ctx.hlo.bitcast_convert(ctx.type(ctx.avals_out[0]), x)

    def batch(self, axis, args, dims, /, *, new_dtype):
        return bitcast_convert_type_p(axis.move(args[0], dims[0], 0), new_dtype=new_dtype), 0


bitcast_convert_type_p = BitcastConvertType("bitcast_convert_type", accepts="iuf")
