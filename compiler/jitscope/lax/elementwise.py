"""Elementwise functions: operands of one shape (scalars go with any) and one dtype; the result has that shape."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import tree
from ..core import dtypes
from ..core.avals import aval_of
from ..core.primitive import Primitive
from ..ops import elementwise as ops, linear
from ._operands import operands


def _unary(primitive: Primitive, what: str, of: str) -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        return primitive(x)

    return _named(function, primitive, f"{what}, element by element. x: {of}. Raises TypeError for other dtypes.")


def _binary(primitive: Primitive, what: str, of: str) -> Callable[[Any, Any], Any]:
    def function(x: Any, y: Any) -> Any:
        return primitive(*operands(function.__name__, x, y))

    return _named(
        function,
        primitive,
        f"{what}, element by element. x, y: {of}, of one shape (or scalars) and one dtype. "
        "Raises TypeError where they differ.",
    )


def _named(function: Callable[..., Any], primitive: Primitive, doc: str) -> Any:
    name = primitive.name + "_" * (primitive.name in ("and", "or", "not"))
    function.__name__ = function.__qualname__ = {
        "and_": "bitwise_and",
        "or_": "bitwise_or",
        "not_": "bitwise_not",
        "xor": "bitwise_xor",
    }.get(name, name)
    function.__doc__ = doc
    return function


_FLOAT, _INEXACT, _NUMBER, _BITS = "floats", "floats or complex", "numbers", "integers or booleans"

# From one operand

exp = _unary(ops.exp_p, "The exponential", _INEXACT)
exp2 = _unary(ops.exp2_p, "2 to the power x", _INEXACT)
expm1 = _unary(ops.expm1_p, "exp(x) - 1, exact for small x", _INEXACT)
log = _unary(ops.log_p, "The natural logarithm", _INEXACT)
log1p = _unary(ops.log1p_p, "log(1 + x), exact for small x", _INEXACT)
logistic = _unary(ops.logistic_p, "1 / (1 + exp(-x))", _INEXACT)
sin = _unary(ops.sin_p, "The sine", _INEXACT)
cos = _unary(ops.cos_p, "The cosine", _INEXACT)
tan = _unary(ops.tan_p, "The tangent", _INEXACT)
asin = _unary(ops.asin_p, "The inverse sine", _INEXACT)
acos = _unary(ops.acos_p, "The inverse cosine", _INEXACT)
atan = _unary(ops.atan_p, "The inverse tangent", _INEXACT)
sinh = _unary(ops.sinh_p, "The hyperbolic sine", _INEXACT)
cosh = _unary(ops.cosh_p, "The hyperbolic cosine", _INEXACT)
tanh = _unary(ops.tanh_p, "The hyperbolic tangent", _INEXACT)
asinh = _unary(ops.asinh_p, "The inverse hyperbolic sine", _INEXACT)
acosh = _unary(ops.acosh_p, "The inverse hyperbolic cosine", _INEXACT)
atanh = _unary(ops.atanh_p, "The inverse hyperbolic tangent", _INEXACT)
sqrt = _unary(ops.sqrt_p, "The square root", _INEXACT)
rsqrt = _unary(ops.rsqrt_p, "1 / sqrt(x)", _INEXACT)
cbrt = _unary(ops.cbrt_p, "The cube root", _FLOAT)
square = _unary(ops.square_p, "x * x", _NUMBER)
neg = _unary(linear.neg_p, "-x", _NUMBER)
sign = _unary(ops.sign_p, "-1, 0 or 1; of a complex number, x / |x|", _NUMBER)
floor = _unary(ops.floor_p, "The greatest integer not above x", _FLOAT)
ceil = _unary(ops.ceil_p, "The least integer not below x", _FLOAT)
is_finite = _unary(ops.is_finite_p, "Whether x is neither infinite nor NaN", _FLOAT)
abs = _unary(ops.abs_p, "The absolute value; of a complex number, a float", _NUMBER)
erf = _unary(ops.erf_p, "The error function", _FLOAT)
erfc = _unary(ops.erfc_p, "1 - erf(x), exact for large x", _FLOAT)
erf_inv = _unary(ops.erf_inv_p, "The inverse of erf", _FLOAT)
lgamma = _unary(ops.lgamma_p, "The logarithm of |Γ(x)|", _FLOAT)
digamma = _unary(ops.digamma_p, "The derivative of lgamma", _FLOAT)
real = _unary(ops.real_p, "The real part", "complex")
imag = _unary(ops.imag_p, "The imaginary part", "complex")
bitwise_not = _unary(ops.not_p, "All bits inverted", _BITS)
population_count = _unary(ops.population_count_p, "The number of set bits", "integers")
clz = _unary(ops.clz_p, "The number of leading zero bits", "integers")

# From two

add = _binary(linear.add_p, "The sum", _NUMBER)
sub = _binary(linear.sub_p, "The difference", _NUMBER)
mul = _binary(linear.mul_p, "The product", _NUMBER)
div = _binary(ops.div_p, "The quotient; of integers, rounded towards zero", _NUMBER)
rem = _binary(ops.rem_p, "The remainder, with the sign of x", "real numbers")
max = _binary(ops.max_p, "The greater one; NaN if either is", "real numbers")
min = _binary(ops.min_p, "The lesser one; NaN if either is", "real numbers")
atan2 = _binary(ops.atan2_p, "The angle of the point (y, x)", _FLOAT)
nextafter = _binary(ops.nextafter_p, "The float after x towards y", _FLOAT)
polygamma = _binary(ops.polygamma_p, "The x-th derivative of digamma at y", _FLOAT)
bitwise_and = _binary(ops.and_p, "Bitwise and", _BITS)
bitwise_or = _binary(ops.or_p, "Bitwise or", _BITS)
bitwise_xor = _binary(ops.xor_p, "Bitwise exclusive or", _BITS)
shift_left = _binary(ops.shift_left_p, "x moved y bits to the left", "integers")
shift_right_logical = _binary(ops.shift_right_logical_p, "x moved y bits to the right, zeros coming in", "integers")
shift_right_arithmetic = _binary(
    ops.shift_right_arithmetic_p, "x moved y bits to the right, the sign coming in", "integers"
)
eq = _binary(ops.eq_p, "Whether x = y", _NUMBER)
ne = _binary(ops.ne_p, "Whether x ≠ y", _NUMBER)
lt = _binary(ops.lt_p, "Whether x < y", "real numbers")
le = _binary(ops.le_p, "Whether x ≤ y", "real numbers")
gt = _binary(ops.gt_p, "Whether x > y", "real numbers")
ge = _binary(ops.ge_p, "Whether x ≥ y", "real numbers")
complex = _binary(ops.complex_p, "x + i·y", _FLOAT)

# With parameters


def pow(x: Any, y: Any) -> Any:
    """x to the power y, element by element; an int y repeats multiplication. Raises TypeError for dtypes that differ."""
    if isinstance(y, int):
        return integer_pow(x, y)
    return ops.pow_p(*operands("pow", x, y))


def integer_pow(x: Any, y: int) -> Any:
    """x to the power of the int y, by multiplication. Raises TypeError for a negative power of integers."""
    return ops.integer_pow(x, int(y))


def reciprocal(x: Any) -> Any:
    """1 / x. x: floats or complex."""
    return integer_pow(x, -1)


def clamp(min: Any, x: Any, max: Any) -> Any:
    """x limited to [min, max]; the limits have x's shape or are scalars."""
    return ops.clamp_p(*_like(x, min, x, max))


def _like(x: Any, *values: Any) -> list[Any]:
    return operands("clamp", x, *values)[1:]


def select(pred: Any, on_true: Any, on_false: Any) -> Any:
    """on_true where pred (booleans, of their shape or a scalar) holds, else on_false; both of one shape and dtype."""
    return linear.select_n_p(pred, *operands("select", on_false, on_true))


def select_n(which: Any, *cases: Any) -> Any:
    """cases[which], element by element; which is boolean for two cases, else int32, and may be a scalar."""
    return linear.select_n_p(which, *operands("select_n", *cases))


def round(x: Any, rounding_method: Any = 0) -> Any:
    """To the nearest integer: halves away from zero (rounding_method 0) or to the even one (1). x: floats."""
    return ops.round_p(x, rounding_method=int(getattr(rounding_method, "value", rounding_method)))


def conj(x: Any) -> Any:
    """The complex conjugate, element by element; complex in any case."""
    return ops.conj_p(x, input_dtype=aval_of(x).dtype)


def convert_element_type(operand: Any, new_dtype: Any) -> Any:
    """The values in another dtype; complex numbers lose their imaginary part on the way to reals. A Python type (int,
    float) gives its default dtype, weakly typed."""
    return linear.convert(operand, dtypes.canonicalize(new_dtype), new_dtype in (int, float, builtins.complex))


def bitcast_convert_type(operand: Any, new_dtype: Any) -> Any:
    """The same bits read as another dtype of the same width. Raises TypeError if the widths differ."""
    return ops.bitcast_convert_type_p(operand, new_dtype=np.dtype(new_dtype))


def stop_gradient(x: Any) -> Any:
    """A tree with the same values, whose derivative is zero."""
    return tree.map(lambda leaf: ops.stop_gradient_p(leaf) if dtypes.is_inexact(aval_of(leaf).dtype) else leaf, x)
