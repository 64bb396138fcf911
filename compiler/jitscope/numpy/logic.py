"""Comparisons, logic, bits, and choosing by conditions, element by element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.annotations import Array, ArrayLike, Binary, UnaryOut
from ..core.avals import aval_of, is_python_scalar
from ..core.config import settings
from ..core.errors import ShapeError, TypePromotionError
from ..eager.functions import eager_jit, elementwise
from ..ops.elementwise import (
    abs_p,
    and_p,
    eq_p,
    ge_p,
    gt_p,
    imag_p,
    is_finite_p,
    le_p,
    lt_p,
    ne_p,
    not_p,
    or_p,
    population_count_p,
    real_p,
    shift_left_p,
    shift_right_arithmetic_p,
    shift_right_logical_p,
    xor_p,
)
from ..ops.families import scalar_like
from ..ops.linear import add_p, convert, full, mul_p, select_n_p, sub_p
from ..ops.reduce import reduce_and_p
from ._ufunc import binary_of, describe, kind_of, not_complex, numeric
from .creation import asarray
from .operands import (
    broadcast,
    broadcast_shape,
    cast,
    lenient,
    lies_explicitly,
    number_like,
    operand,
    operand_and_aval,
    operands,
    promoted,
    same_shape,
    unsupported,
    weak_as,
)


__all__ = ["allclose", "array_equal", "array_equiv", "bitwise_count", "equal", "greater", "greater_equal", "invert",
           "isclose", "iscomplex", "isfinite", "isinf", "isnan", "isneginf", "isposinf", "isreal", "left_shift",
           "less", "less_equal", "logical_not", "not_equal", "right_shift", "select"]  # fmt: skip


# Comparisons ---------------------------------------------------------------------------------------------------------


def greater_complex(x: Any, y: Any) -> Any:
    """The order of complex numbers: by real part, then by imaginary part."""
    return _ordered(gt_p, gt_p, x, y)


def less_complex(x: Any, y: Any) -> Any:
    """The order of complex numbers the other way round."""
    return _ordered(lt_p, lt_p, x, y)


def _ordered(strict: Any, compare: Any, x: Any, y: Any) -> Any:
    same = eq_p(real_p(x), real_p(y))
    return or_p(strict(real_p(x), real_p(y)), and_p(same, compare(imag_p(x), imag_p(y))))


_ORDER = "Complex numbers compare by real part, then by imaginary part."
equal = binary_of("equal", eq_p, "x == y, as booleans.")
not_equal = binary_of("not_equal", ne_p, "x != y, as booleans.")
less = binary_of("less", lt_p, f"x < y, as booleans. {_ORDER}", complex_rule=less_complex)
less_equal = binary_of(
    "less_equal", le_p, f"x <= y, as booleans. {_ORDER}", complex_rule=lambda x, y: _ordered(lt_p, le_p, x, y)
)
greater = binary_of("greater", gt_p, f"x > y, as booleans. {_ORDER}", complex_rule=greater_complex)
greater_equal = binary_of(
    "greater_equal", ge_p, f"x >= y, as booleans. {_ORDER}", complex_rule=lambda x, y: _ordered(gt_p, ge_p, x, y)
)


def _isclose(a: Any, b: Any, rtol: Any, atol: Any, equal_nan: bool) -> Any:
    if any(dtypes.is_extended(aval_of(v).dtype) for v in (a, b)):
        return a == b
    x, y = operands("isclose", a, b)
    if kind_of(x) not in "fc":
        x, y = operands("isclose", a, b, inexact=True)
    real = dtypes.real_part(aval_of(x).dtype)
    rtol, atol = (cast(*operand_and_aval("isclose", t), real) for t in (rtol, atol))
    near = le_p(abs_p(sub_p(x, y)), add_p(atol, mul_p(rtol, abs_p(y))))
    # An infinity is close to an equal one only: inf - inf is NaN, and inf <= inf would hold for any pair.
    close = or_p(eq_p(x, y), and_p(near, isfinite(y)))
    if equal_nan:
        close = or_p(close, and_p(ne_p(x, x), ne_p(y, y)))
    return close


@eager_jit(static="equal_nan")
def isclose(
    a: ArrayLike, b: ArrayLike, rtol: ArrayLike = 1e-05, atol: ArrayLike = 1e-08, equal_nan: bool = False
) -> Array:
    """|a - b| <= atol + rtol * |b|, as booleans, element by element [...]. Equal infinities are close; NaN is only with
    `equal_nan`. Of keys: whether they are equal."""
    return _isclose(a, b, rtol, atol, equal_nan)


@eager_jit(static="equal_nan")
def allclose(
    a: ArrayLike, b: ArrayLike, rtol: ArrayLike = 1e-05, atol: ArrayLike = 1e-08, equal_nan: bool = False
) -> Array:
    """Whether all elements are close, see `isclose`: one boolean []."""
    return every(_isclose(a, b, rtol, atol, equal_nan))


@eager_jit(static="equal_nan")
def array_equal(a1: ArrayLike, a2: ArrayLike, equal_nan: bool = False) -> Array:
    """Whether shapes and all elements are equal: one boolean. Sequences are taken as arrays."""
    a1, a2 = asarray(a1), asarray(a2)
    if operand_and_aval("array_equal", a1)[1].shape != operand_and_aval("array_equal", a2, 1)[1].shape:
        return full((), False, dtypes.bool_)
    return every(_equal(a1, a2, equal_nan))


@lenient
@eager_jit()
def array_equiv(a1: ArrayLike, a2: ArrayLike) -> Array:
    """Whether the shapes broadcast and all elements are then equal: one boolean. Sequences are taken as arrays."""
    a1, a2 = asarray(a1), asarray(a2)
    try:
        broadcast_shape(operand_and_aval("array_equiv", a1)[1].shape, operand_and_aval("array_equiv", a2, 1)[1].shape)
    except ValueError:
        return full((), False, dtypes.bool_)
    try:
        return every(_equal(a1, a2, False))
    except TypePromotionError:
        return full((), False, dtypes.bool_)


def _equal(a1: Any, a2: Any, equal_nan: bool) -> Any:
    x, y = operands("array_equal", a1, a2)
    same = eq_p(x, y)
    if equal_nan and kind_of(x) in "fc":
        same = or_p(same, and_p(ne_p(x, x), ne_p(y, y)))
    return same


def every(x: Any) -> Any:
    """Whether all of a boolean array holds."""
    return reduce_and_p(x, axes=tuple(range(aval_of(x).ndim)))


# Logic ---------------------------------------------------------------------------------------------------------------


def truth(name: str, x: Any) -> Any:
    """`x` as booleans: what is not zero holds."""
    x = operand(name, x)
    if kind_of(x) == "b":
        return x
    if hasattr(x, "aval") or is_python_scalar(x):
        return ne_p(x, scalar_like(x, 0) if aval_of(x).shape else number_like(x, 0))
    return np.asarray(x) != 0 if isinstance(x, np.ndarray) else np.bool_(x != 0)


def _logical(name: str, primitive: Any, doc: str) -> Binary:
    def fun(x: Any, y: Any, /) -> Any:
        if settings().numpy_dtype_promotion == "strict":
            promoted(name, (x, y))  # raises
        if kind_of(x) == kind_of(y) == "b":
            return primitive.bind(*operands(name, x, y))
        values = [truth(name, x), truth(name, y)]
        return primitive.bind(*same_shape(name, values, [aval_of(v) for v in values]))

    return elementwise(describe(fun, name, doc))


logical_and = _logical("logical_and", and_p, "Whether both hold (are not zero), as booleans, element by element [...].")
logical_or = _logical("logical_or", or_p, "Whether one holds (is not zero), as booleans, element by element [...].")
logical_xor = _logical(
    "logical_xor", xor_p, "Whether exactly one holds (is not zero), as booleans, element by element [...]."
)


@elementwise
def logical_not(x: ArrayLike, /) -> Array:
    """Whether each element [...] is zero, as booleans."""
    return not_p(truth("logical_not", x))


@elementwise
def isnan(x: ArrayLike, /) -> Array:
    """Whether each element [...] is NaN, as booleans."""
    x = operand("isnan", x)
    return ne_p(x, x)


@elementwise
def isfinite(x: ArrayLike, /) -> Array:
    """Whether each element [...] is neither infinite nor NaN, as booleans."""
    x = operand("isfinite", x)
    if kind_of(x) == "c":
        return and_p(is_finite_p(real_p(x)), is_finite_p(imag_p(x)))
    return is_finite_p(x) if kind_of(x) == "f" else full(aval_of(x).shape, True, dtypes.bool_)


@elementwise
def isinf(x: ArrayLike, /) -> Array:
    """Whether each element [...] is infinite, as booleans."""
    x = operand("isinf", x)
    if kind_of(x) == "c":
        return or_p(_infinite(real_p(x)), _infinite(imag_p(x)))
    return _infinite(x) if kind_of(x) == "f" else full(aval_of(x).shape, False, dtypes.bool_)


def _infinite(x: Any) -> Any:
    return eq_p(abs_p(x), scalar_like(x, np.inf))


def _signed_infinity(name: str, sign: int) -> UnaryOut:
    def fun(x: Any, /, out: None = None) -> Any:
        unsupported(name, out=out)
        x = not_complex(name, operand(name, x), ValueError)
        return (
            eq_p(x, scalar_like(x, sign * np.inf)) if kind_of(x) == "f" else full(aval_of(x).shape, False, dtypes.bool_)
        )

    doc = f"Whether x [...] is {'' if sign > 0 else 'minus '}infinity, as booleans [...]. Raises ValueError for complex x."
    return eager_jit(static="out")(describe(fun, name, doc))


isposinf, isneginf = _signed_infinity("isposinf", 1), _signed_infinity("isneginf", -1)


@eager_jit()
def iscomplex(x: ArrayLike) -> Array:
    """Whether the imaginary part of each element [...] is not zero, as booleans."""
    x = operand("iscomplex", x)
    if kind_of(x) != "c":
        out = full(aval_of(x).shape, False, dtypes.bool_)
        return out if aval_of(x).shape else weak_as(out, x)
    part = imag_p(x)
    return ne_p(part, number_like(part, 0))


@eager_jit()
def isreal(x: ArrayLike) -> Array:
    """Whether the imaginary part of each element [...] is zero, as booleans."""
    x = operand("isreal", x)
    if kind_of(x) != "c":
        out = full(aval_of(x).shape, True, dtypes.bool_)
        return out if aval_of(x).shape else weak_as(out, x)
    part = imag_p(x)
    return eq_p(part, number_like(part, 0))


# Bits ----------------------------------------------------------------------------------------------------------------

bitwise_and = binary_of("bitwise_and", and_p, "x & y. Raises TypeError for floats.")
bitwise_or = binary_of("bitwise_or", or_p, "x | y. Raises TypeError for floats.")
bitwise_xor = binary_of("bitwise_xor", xor_p, "x ^ y. Raises TypeError for floats.")


@elementwise
def invert(x: ArrayLike, /) -> Array:
    """All bits of each element [...] flipped; of booleans, not x. Raises TypeError for floats."""
    return not_p(operand("invert", x))


@elementwise
def left_shift(x: ArrayLike, y: ArrayLike, /) -> Array:
    """The bits of x moved y places up, element by element [...]. Raises TypeError for floats."""
    return shift_left_p(*numeric("left_shift", x, y))


@elementwise
def right_shift(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The bits of x1 moved x2 places down, element by element [...]; the sign stays. Raises TypeError for floats."""
    x, y = numeric("right_shift", x1, x2)
    return shift_right_logical_p(x, y) if kind_of(x) == "u" else shift_right_arithmetic_p(x, y)


@elementwise
def bitwise_count(x: ArrayLike, /) -> Array:
    """The number of 1 bits of |x|, as uint8, element by element [...]. Raises TypeError for floats."""
    x = operand("bitwise_count", x)
    if kind_of(x) == "b":
        return convert(x, dtypes.uint8)
    return convert(population_count_p(abs_p(x) if kind_of(x) == "i" else x), dtypes.uint8)


# Choosing ------------------------------------------------------------------------------------------------------------


def chosen(name: str, condition: Any, x: Any, y: Any) -> Any:
    """`x` where `condition` holds, else `y`, after promotion and broadcasting."""
    condition = truth(name, condition)
    (x, y), avals, _, _ = promoted(name, (x, y))
    try:
        shape = broadcast_shape(aval_of(condition).shape, *[a.shape for a in avals])
    except ValueError as error:
        raise ShapeError(f"{name}: {error}") from None
    own = [aval_of(v).shape for v in (condition, x, y)]
    condition, x, y = (broadcast(v, s, shape) if s else v for v, s in zip((condition, x, y), own))
    if len(set(own[not own[0] :])) > 1 and any(lies_explicitly(v) for v in (condition, x, y)):
        from ..core.explicit import merged  # of several devices

        condition, x, y = merged(
            name, [condition, *[v if aval_of(v).ndim else broadcast(v, (), shape) for v in (x, y)]]
        )
    return select_n_p(condition, y, x)


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: ArrayLike = 0) -> Array:
    """Element by element [...], from the first choice whose condition holds, else `default`; all broadcast, in their
    common dtype. Raises ValueError if the lists differ in length or are empty."""
    condlist, choicelist = ([*v] for v in (condlist, choicelist))
    if len(condlist) != len(choicelist) or not condlist:
        raise ValueError(
            f"select needs as many conditions as choices, at least one: {len(condlist)} and "
            f"{len(choicelist)} were given"
        )
    return _select(condlist, choicelist, default)


@eager_jit()
def _select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any) -> Any:
    values, _, _, _ = promoted("select", [*choicelist, default])
    result = values[-1]
    for condition, choice in zip(reversed(condlist), reversed(values[:-1])):
        result = chosen("select", condition, choice, result)
    return result
