"""Elementwise primitives. A regular one is a statement: name, partials, accepted kinds, builder."""

from __future__ import annotations

import math

import numpy as np

from ..core import dtypes
from ..core.avals import ShapedArray, aval_of
from ..core.config import enable_x64
from .families import (
    DiscreteElementwise,
    Elementwise,
    check_kind,
    is_linear,
    is_zero,
    pure,
    scalar_like,
    zero_of,
)
from .linear import (
    LinearElementwise,
    add_p,
    convert,
    convert_element_type_p,
    full,
    instantiate,
    mul_p,
    neg_p,
    sub_p,
    unbroadcast,
    where,
)


def number_like(x, value):
    """`scalar_like` for derivative rules: a weak number beside a weak value, so that its derivative is weak, too."""
    number = scalar_like(x, value)
    if aval_of(x).weak_type and dtypes.python_dtype(type(number.item())) == number.dtype:
        return number.item()
    return number


def times(t, value):
    """A tangent times a number."""
    return mul_p(t, number_like(t, value))


def _boolean(dtype):
    return dtypes.bool_


# Comparison ----------------------------------------------------------------------------------------------------------


class Compare(DiscreteElementwise):
    """A comparison; complex numbers and keys only for equality."""

    def __init__(self, name: str, direction: str, accepts: str = "biuf"):
        super().__init__(name, accepts=accepts, result=_boolean)
        self.direction = direction

    def lower(self, ctx, x, y, /):
        compared = ctx.compare(*ctx.broadcast_scalars((x, y)), self.direction)
        return _of_elements(ctx, compared, self.direction) if dtypes.is_extended(ctx.avals_in[0].dtype) else compared


def _of_elements(ctx, compared, direction):
    """Whether keys are equal, from whether their words are: all of them, or any that is not."""
    out, scalar = ctx.avals_out[0], ShapedArray((), dtypes.bool_)
    axes = list(range(out.ndim, len(compared.type.shape)))
    identity, combine = (np.True_, ctx.hlo.and_) if direction == "EQ" else (np.False_, ctx.hlo.or_)
    operation = ctx.hlo.ReduceOp([ctx.type(out)], [compared], [ctx.full(identity, scalar)], ctx.ints(axes))
    ctx.region(operation, 0, [scalar, scalar], combine)
    return operation.result


eq_p = Compare("eq", "EQ", "biufck")
ne_p = Compare("ne", "NE", "biufck")
lt_p, le_p = Compare("lt", "LT"), Compare("le", "LE")
gt_p, ge_p = Compare("gt", "GT"), Compare("ge", "GE")

# Exponentials and logarithms -----------------------------------------------------------------------------------------

exp_p = Elementwise("exp", lambda t, y, x: mul_p(t, y), hlo="exponential")
expm1_p = Elementwise("expm1", lambda t, y, x: mul_p(t, add_p(y, number_like(y, 1))), hlo="exponential_minus_one")
log_p = Elementwise("log", lambda t, y, x: div_p(t, x), hlo="log")
log1p_p = Elementwise("log1p", lambda t, y, x: div_p(t, add_p(x, number_like(x, 1))), hlo="log_plus_one")
logistic_p = Elementwise("logistic", lambda t, y, x: mul_p(t, mul_p(y, sub_p(number_like(y, 1), y))))


class Exp2(Elementwise):
    """2 to the power x, as exp(x log 2)."""

    def lower(self, ctx, x, /):
        aval = ctx.avals_in[0]
        return ctx.hlo.exponential(ctx.hlo.multiply(x, ctx.full(math.log(2), aval)))


exp2_p = Exp2("exp2", lambda t, y, x: times(mul_p(t, y), math.log(2)))

# Trigonometric and hyperbolic ----------------------------------------------------------------------------------------


class Circular(Elementwise):
    """sin, cos, sinh or cosh. `of_complex`: the parts of the result from sin (times what it is given) and cos of one
    part of the operand and sinh and cosh of the other.

    The usual (exp z - exp -z) / 2 of complex numbers loses digits near 0.
    """

    def __init__(self, name, partial, hlo, along, of_complex):
        super().__init__(name, partial, hlo=hlo)
        self.along, self.of_complex = along, of_complex

    def lower(self, ctx, x, /):
        return ctx.inline(self._parts, x) if dtypes.is_complex(ctx.avals_in[0].dtype) else super().lower(ctx, x)

    def _parts(self, z):
        angle, height = (real_p(z), imag_p(z)) if self.along == "real" else (imag_p(z), real_p(z))
        sin, cos = sin_p(angle), cos_p(angle)
        up, down = expm1_p(height), expm1_p(neg_p(height))
        sinh, cosh = times(sub_p(up, down), 0.5), add_p(times(add_p(up, down), 0.5), scalar_like(up, 1))
        # At 0 the sine is 0, and so is its product with a factor that is infinite or NaN.
        still, one = eq_p(angle, scalar_like(angle, 0)), scalar_like(angle, 1)
        times_sine = lambda h: mul_p(sin, where(is_finite_p(h), h, where(still, one, h)))
        return complex_p(*self.of_complex(times_sine, cos, sinh, cosh))


sin_p = Circular("sin", lambda t, y, x: mul_p(t, cos_p(x)), "sine", "real", lambda s, c, sh, ch: (s(ch), mul_p(c, sh)))
cos_p = Circular(
    "cos",
    lambda t, y, x: neg_p(mul_p(t, sin_p(x))),
    "cosine",
    "real",
    lambda s, c, sh, ch: (mul_p(c, ch), neg_p(s(sh))),
)
tan_p = Elementwise("tan", lambda t, y, x: mul_p(t, add_p(number_like(y, 1), mul_p(y, y))))
asin_p = Elementwise("asin", lambda t, y, x: mul_p(t, rsqrt_p(_one_minus_square(x))), hlo="chlo.asin")
acos_p = Elementwise("acos", lambda t, y, x: neg_p(mul_p(t, rsqrt_p(_one_minus_square(x)))), hlo="chlo.acos")
atan_p = Elementwise("atan", lambda t, y, x: div_p(t, add_p(number_like(x, 1), mul_p(x, x))), hlo="chlo.atan")
sinh_p = Circular(
    "sinh", lambda t, y, x: mul_p(t, cosh_p(x)), "chlo.sinh", "imag", lambda s, c, sh, ch: (mul_p(sh, c), s(ch))
)
cosh_p = Circular(
    "cosh", lambda t, y, x: mul_p(t, sinh_p(x)), "chlo.cosh", "imag", lambda s, c, sh, ch: (mul_p(ch, c), s(sh))
)
tanh_p = Elementwise("tanh", lambda t, y, x: mul_p(t, _one_minus_square(y)))
asinh_p = Elementwise(
    "asinh", lambda t, y, x: mul_p(t, rsqrt_p(add_p(mul_p(x, x), number_like(x, 1)))), hlo="chlo.asinh"
)
acosh_p = Elementwise("acosh", lambda t, y, x: mul_p(t, _acosh_slope(x)), hlo="chlo.acosh")
atanh_p = Elementwise("atanh", lambda t, y, x: div_p(t, _one_minus_square(x)), hlo="chlo.atanh")
atan2_p = Elementwise(
    "atan2",
    lambda t, z, x, y: mul_p(t, div_p(y, _square_sum(x, y))),
    lambda t, z, x, y: neg_p(mul_p(t, div_p(x, _square_sum(x, y)))),
)


def _one_minus_square(x):
    return sub_p(number_like(x, 1), mul_p(x, x))


def _acosh_slope(x):
    one = number_like(x, 1)
    return mul_p(rsqrt_p(sub_p(x, one)), rsqrt_p(add_p(x, one)))


def _square_sum(x, y):
    return add_p(mul_p(x, x), mul_p(y, y))


# Roots and powers ----------------------------------------------------------------------------------------------------

sqrt_p = Elementwise("sqrt", lambda t, y, x: div_p(t, times(y, 2)))
rsqrt_p = Elementwise("rsqrt", lambda t, y, x: mul_p(t, times(div_p(y, x), -0.5)))
cbrt_p = Elementwise("cbrt", lambda t, y, x: times(div_p(t, square_p(y)), 1 / 3), accepts="f")


class Square(Elementwise):
    """x times x."""

    def lower(self, ctx, x, /):
        # The real part of a complex square is (a - b)(a + b), which is right where a² and b² are both infinite.
        return ctx.chlo.square(x) if dtypes.is_complex(ctx.avals_in[0].dtype) else ctx.hlo.multiply(x, x)


square_p = Square("square", lambda t, y, x: mul_p(t, times(x, 2)), accepts="iufc")


class IntegerPow(Elementwise):
    """x to the integer power in the parameter `y`, by repeated squaring."""

    def abstract(self, x, /, *, y):
        if y < 0 and not dtypes.is_inexact(x.dtype):
            raise TypeError(f"an integer to the negative power {y} is not an integer: convert {x.short()} to floats")
        check_kind(self.name, x, self.accepts)
        return pure(x)

    def lower(self, ctx, x, /, *, y):
        one = ctx.full(1, ctx.avals_in[0])
        power, square, n = None, x, abs(y)
        while n:
            if n & 1:
                power = square if power is None else ctx.hlo.multiply(power, square)
            n >>= 1
            square = ctx.hlo.multiply(square, square) if n else square
        power = one if power is None else power
        return ctx.hlo.divide(one, power) if y < 0 else power


def _integer_pow_partial(t, out, x, *, y):
    return zero_of(out) if y == 0 else mul_p(t, times(integer_pow(x, y - 1), y))


integer_pow_p = IntegerPow("integer_pow", _integer_pow_partial, accepts="iufc")


def integer_pow(x, y: int):
    """`x ** y` for an int y."""
    if y == 0:
        return convert(full(aval_of(x).shape, 1, aval_of(x).dtype), aval_of(x).dtype, aval_of(x).weak_type)
    return x if y == 1 else square_p(x) if y == 2 else integer_pow_p(x, y=y)


def _pow_base_partial(t, z, x, y):
    exponent = sub_p(y, scalar_like(y, 1))
    # Where y is 0 the slope is 0 for every base, 0 itself included.
    slope = where(eq_p(y, scalar_like(y, 0)), scalar_like(x, 0), mul_p(y, pow_p(x, exponent)))
    return mul_p(t, slope)


def _pow_exponent_partial(t, z, x, y):
    # 0 ** y has slope 0 in y > 0, where log alone would give NaN.
    zero = number_like(x, 0)
    safe = where(eq_p(x, zero), number_like(x, 1), x)
    log_x = (
        where(eq_p(x, zero), where(ge_p(y, zero), zero, number_like(x, float("nan"))), log_p(safe))
        if not dtypes.is_complex(aval_of(x).dtype)
        else log_p(x)
    )
    return mul_p(t, mul_p(log_x, z))


pow_p = Elementwise("pow", _pow_base_partial, _pow_exponent_partial, hlo="power")

# Division ------------------------------------------------------------------------------------------------------------


class Divide(Elementwise):
    """Base of quotient and remainder. XLA dies when it folds an integer constant divided by zero, so it must not see that
    such a divisor is constant; run as code it gives -1 and the dividend."""

    def lower(self, ctx, x, y, /):
        x, y = ctx.broadcast_scalars((x, y))
        if dtypes.is_integer(ctx.avals_in[1].dtype):
            divisors = _constants(ctx, y)
            if (_constants(ctx, x) is not None) if divisors is None else 0 in divisors:
                y = ctx.hlo.OptimizationBarrierOp([y]).results[0]
        return ctx.builder(self.builder)(x, y)


def _constants(ctx, value):
    """The numbers in a constant (or one repeated), or None if the value is computed."""
    owner = value.owner
    while getattr(owner, "name", None) == "stablehlo.broadcast_in_dim":
        owner = owner.operands[0].owner
    if getattr(owner, "name", None) != "stablehlo.constant":
        return None
    constant = ctx.ir.DenseIntElementsAttr(owner.attributes["value"])
    return {constant.get_splat_value().value} if constant.is_splat else set(constant)


class Div(Divide):
    """The quotient; of integers, rounded towards zero."""

    def transpose(self, ct, x, y, /):
        return [unbroadcast(div_p(ct, y), x.aval), None]


div_p = Div(
    "div", lambda t, z, x, y: div_p(t, y), lambda t, z, x, y: neg_p(mul_p(t, div_p(z, y))), accepts="iufc", hlo="divide"
)
rem_p = Divide(
    "rem",
    lambda t, z, x, y: _spread(t, z),
    lambda t, z, x, y: neg_p(mul_p(t, trunc(div_p(x, y)))),
    accepts="iuf",
    hlo="remainder",
)


def _spread(t, out):
    """A tangent of a scalar operand in the shape of the result."""
    shape = aval_of(out).shape
    return add_p(t, full(shape, 0, aval_of(t).dtype)) if aval_of(t).shape != shape else t


# Sign, size, rounding ------------------------------------------------------------------------------------------------


class Sign(DiscreteElementwise):
    """-1, 0 or 1; of a complex number, the number of size 1 in its direction."""

    def lower(self, ctx, x, /):
        if dtypes.kind(ctx.avals_in[0].dtype) == "u":
            return ctx.hlo.minimum(x, ctx.full(1, ctx.avals_in[0]))
        return ctx.hlo.sign(x)


sign_p = Sign("sign", accepts="iufc")
floor_p = DiscreteElementwise("floor", accepts="f")
ceil_p = DiscreteElementwise("ceil", accepts="f")
is_finite_p = DiscreteElementwise("is_finite", accepts="f", result=_boolean)


class Round(DiscreteElementwise):
    """To the nearest integer; halves away from zero (`rounding_method` 0) or to even (1)."""

    def lower(self, ctx, x, /, *, rounding_method):
        return ctx.hlo.round_nearest_even(x) if rounding_method else ctx.hlo.round_nearest_afz(x)


round_p = Round("round", accepts="f")


class ReducePrecision(LinearElementwise):
    """The nearest number with `exponent_bits` and `mantissa_bits`, infinite beyond their range; so is the tangent."""

    def abstract(self, x, /, *, exponent_bits, mantissa_bits):
        if exponent_bits < 1 or mantissa_bits < 0:
            raise ValueError(
                f"reduce_precision of {x.short()}: numbers have at least one bit of exponent, and no negative number of "
                f"mantissa bits; exponent_bits={exponent_bits}, mantissa_bits={mantissa_bits}"
            )
        return super().abstract(x)

    def lower(self, ctx, x, /, *, exponent_bits, mantissa_bits):
        i32 = ctx.ir.IntegerType.get_signless(32)
        bits = [ctx.ir.IntegerAttr.get(i32, n) for n in (exponent_bits, mantissa_bits)]
        return ctx.hlo.reduce_precision(x, *bits)

    def jvp(self, primals, tangents, /, **params):
        out, (t,) = self.bind(*primals, **params), tangents
        return out, zero_of(out) if is_zero(t) else self.bind(t, **params)

    def transpose(self, ct, x, /, **params):
        return [self.bind(ct, **params)]


reduce_precision_p = ReducePrecision("reduce_precision", 1, accepts="f")


def trunc(x):
    """Towards zero."""
    return where(lt_p(x, scalar_like(x, 0)), ceil_p(x), floor_p(x))


class Abs(Elementwise):
    """The absolute value; of a complex number, its modulus (a real number)."""

    def lower(self, ctx, x, /):
        return x if dtypes.kind(ctx.avals_in[0].dtype) == "u" else ctx.hlo.abs(x)

    def jvp(self, primals, tangents, /):
        (x,), (t,) = primals, tangents
        out = abs_p(x)
        if is_zero(t):
            return out, zero_of(out)
        if not dtypes.is_complex(aval_of(x).dtype):
            return out, where(ge_p(x, number_like(x, 0)), t, neg_p(t))
        along = add_p(mul_p(real_p(t), real_p(x)), mul_p(imag_p(t), imag_p(x)))
        size = where(eq_p(out, number_like(out, 0)), number_like(out, 1), out)
        return out, div_p(along, size)


abs_p = Abs("abs", accepts="iufc", result=dtypes.real_part)


def _balanced(name: str, compare):
    """Partials of max and min: where both operands are equal each gets half."""

    def partial(t, out, mine, other):
        half = where(eq_p(mine, other), number_like(out, 0.5), number_like(out, 1))
        wins = eq_p(mine, out) if dtypes.is_complex(aval_of(out).dtype) else compare(mine, other)
        return mul_p(t, where(wins, half, number_like(out, 0)))

    def second(t, out, x, y):
        return partial(t, out, y, x)

    return Elementwise(name, partial, second, accepts="biufc", hlo={"max": "maximum", "min": "minimum"}[name])


max_p = _balanced("max", lambda mine, other: ge_p(mine, other))
min_p = _balanced("min", lambda mine, other: le_p(mine, other))


class Clamp(Elementwise):
    """`x` limited to [low, high]; the limits may be scalars."""

    def lower(self, ctx, low, x, high, /):
        low, x, high = ctx.broadcast_scalars((low, x, high))
        if dtypes.kind(ctx.avals_in[0].dtype) in "bc":
            return ctx.builder("minimum")(ctx.builder("maximum")(low, x), high)
        return ctx.hlo.clamp(low, x, high)


def _greater(x, y):
    """Of complex numbers the greater real part decides, then the imaginary part."""
    return ne_p(max_p(x, y), y) if dtypes.kind(aval_of(x).dtype) == "c" else gt_p(x, y)


def _inside(low, x, high):
    return and_p(_greater(x, low), _greater(high, x))


clamp_p = Clamp(
    "clamp",
    lambda t, z, low, x, high: _spread(where(_greater(low, x), _spread(t, z), number_like(t, 0)), z),
    lambda t, z, low, x, high: where(_inside(low, x, high), t, number_like(t, 0)),
    lambda t, z, low, x, high: _spread(where(_greater(x, high), _spread(t, z), number_like(t, 0)), z),
    accepts="biufc",
)


nextafter_p = DiscreteElementwise("nextafter", accepts="f", hlo="chlo.next_after")

# Special functions ---------------------------------------------------------------------------------------------------

_TWO_OVER_SQRT_PI = 2 / math.sqrt(math.pi)


def _erf_slope(x):
    return times(exp_p(neg_p(mul_p(x, x))), _TWO_OVER_SQRT_PI)


erf_p = Elementwise("erf", lambda t, y, x: mul_p(t, _erf_slope(x)), accepts="f", hlo="chlo.erf")
erfc_p = Elementwise("erfc", lambda t, y, x: neg_p(mul_p(t, _erf_slope(x))), accepts="f", hlo="chlo.erfc")
erf_inv_p = Elementwise(
    "erf_inv",
    lambda t, y, x: times(mul_p(t, exp_p(mul_p(y, y))), math.sqrt(math.pi) / 2),
    accepts="f",
    hlo="chlo.erf_inv",
)
digamma_p = Elementwise(
    "digamma", lambda t, y, x: mul_p(t, polygamma_p(number_like(x, 1), x)), accepts="f", hlo="chlo.digamma"
)
lgamma_p = Elementwise("lgamma", lambda t, y, x: mul_p(t, digamma_p(x)), accepts="f", hlo="chlo.lgamma")


def _no_order(t, y, n, x):
    raise ValueError("polygamma has no derivative with respect to its order: differentiate with respect to x")


polygamma_p = Elementwise(
    "polygamma",
    _no_order,
    lambda t, y, n, x: mul_p(t, polygamma_p(add_p(n, number_like(n, 1)), x)),
    accepts="f",
    hlo="chlo.polygamma",
)

# Complex numbers -----------------------------------------------------------------------------------------------------


class Part(Elementwise):
    """The real or the imaginary part: a real-linear map, transposed by JAX's convention (no conjugation)."""

    def jvp(self, primals, tangents, /):
        (x,), (t,) = primals, tangents
        out = self.bind(x)
        return out, zero_of(out) if is_zero(t) else self.bind(t)

    def transpose(self, ct, x, /):
        nothing = full(aval_of(ct).shape, 0, aval_of(ct).dtype)
        return [complex_p(ct, nothing) if self is real_p else complex_p(nothing, neg_p(ct))]


real_p = Part("real", accepts="c", result=dtypes.real_part)
imag_p = Part("imag", accepts="c", result=dtypes.real_part)


class Complex(Elementwise):
    """A complex number from its real and imaginary part."""

    def jvp(self, primals, tangents, /):
        out = complex_p(*primals)
        if all(map(is_zero, tangents)):
            return out, zero_of(out)
        return out, complex_p(*map(instantiate, tangents))

    def transpose(self, ct, x, y, /):
        return [
            unbroadcast(real_p(ct), x.aval) if is_linear(x) else None,
            unbroadcast(neg_p(imag_p(ct)), y.aval) if is_linear(y) else None,
        ]


complex_p = Complex("complex", accepts="f", result=dtypes.complex_of)


class Conj(Elementwise):
    """The complex conjugate (of a real number: the number as a complex one)."""

    def lower(self, ctx, x, /, *, input_dtype):
        if not dtypes.is_complex(ctx.avals_in[0].dtype):
            return ctx.hlo.complex(x, ctx.full(0, ctx.avals_in[0]))
        return ctx.hlo.complex(ctx.hlo.real(x), ctx.hlo.negate(ctx.hlo.imag(x)))

    def jvp(self, primals, tangents, /, *, input_dtype):
        out, (t,) = conj_p(*primals, input_dtype=input_dtype), tangents
        return out, zero_of(out) if is_zero(t) else conj_p(t, input_dtype=input_dtype)

    def transpose(self, ct, x, /, *, input_dtype):
        conjugate = conj_p(ct, input_dtype=aval_of(ct).dtype)
        return [real_p(conjugate) if not dtypes.is_complex(input_dtype) else conjugate]


conj_p = Conj("conj", accepts="fc", result=dtypes.complex_of)

# Bits ----------------------------------------------------------------------------------------------------------------

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
    width = 4 if dtype in dtypes.WIDER else 8 * dtype.itemsize
    wide = np.dtype(f"{dtypes.kind(dtype)}{2 * dtype.itemsize}")
    product = mul_p(*[convert_element_type_p(v, new_dtype=wide, weak_type=False) for v in (x, y)])
    shift = shift_right_arithmetic_p if dtypes.kind(dtype) == "i" else shift_right_logical_p
    return convert_element_type_p(shift(product, wide.type(width)), new_dtype=dtype, weak_type=False)


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
        old, new = _bits(x.dtype), _bits(new_dtype)
        if old >= new:
            return pure(ShapedArray(x.shape if old == new else (*x.shape, old // new), new_dtype))
        if not x.shape or x.shape[-1] * old != new:
            raise ValueError(f"{said}: the last axis would have to be of {new // old} elements, {new} bits together")
        return pure(ShapedArray(x.shape[:-1], new_dtype))

    def lower(self, ctx, x, /, *, new_dtype):
        return ctx.hlo.bitcast_convert(ctx.type(ctx.avals_out[0]), x)

    def batch(self, axis, args, dims, /, *, new_dtype):
        return bitcast_convert_type_p(axis.move(args[0], dims[0], 0), new_dtype=new_dtype), 0


def _bits(dtype):
    return 4 if dtype in dtypes.WIDER else 8 * dtype.itemsize


bitcast_convert_type_p = BitcastConvertType("bitcast_convert_type", accepts="iuf")

# Control of derivatives ----------------------------------------------------------------------------------------------


class StopGradient(DiscreteElementwise):
    """The value itself, with derivative zero."""

    def abstract(self, x, /):
        check_kind(self.name, x, self.accepts)
        return pure(x)

    def lower(self, ctx, x, /):
        return x

    def transpose(self, ct, x, /):
        return [None]  # nothing flows back, neither in a linear program


stop_gradient_p = StopGradient("stop_gradient", accepts="biufck")
