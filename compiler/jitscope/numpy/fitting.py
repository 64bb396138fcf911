"""Polynomials: from their zeros, their zeros, division, and fits by least squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.annotations import Array, ArrayLike
from ..core.avals import aval_of
from ..core.errors import ConcretizationTypeError
from ..core.messages import message_here
from ..eager.functions import eager_jit
from ..ops.elementwise import div_p, eq_p, lt_p, sqrt_p
from ..ops.families import scalar_like
from ..ops.indexing import iota
from ..ops.linear import (
    concatenate_p,
    convert,
    full,
    mul_p,
    neg_p,
    pad_p,
    reduce_sum_p,
    reshape,
    scalar_zero,
    slice_in_dim,
    sub_p,
    where as choose,
)
from ..ops.reduce import reduce_and_p
from ..ops.sort import sort_p
from .at import At
from .factoring import eigvals
from .indexing import getitem
from .joining import stack
from .linear import dot, outer
from .logic import chosen
from .operands import finite_info, integer, lenient, operand, operand_and_aval, operands, promoted
from .polynomials import vander
from .reductions import argmin
from .repeating import roll
from .selecting import concrete_value, is_traced, is_unknown
from .solving import inv, lstsq
from .structure import array_operand, atleast_1d
from .triangles import diag


@eager_jit()
def poly(seq_of_zeros: ArrayLike) -> Array:
    """The coefficients, highest power first, of the polynomial with these zeros and leading coefficient 1; of a
    square matrix those of its characteristic polynomial. Without zeros it is 1, of shape ().

    Raises ValueError for arrays that are neither vectors nor square matrices, TypeError for matrices in half precision.
    Complex zeros give complex coefficients, also where they come in conjugate pairs (NumPy drops the imaginary parts then).
    """
    z = atleast_1d(operand("poly", seq_of_zeros, inexact=True))
    shape = aval_of(z).shape
    if len(shape) == 2 and shape[0] == shape[1] and shape[0]:
        z = eigvals(z)
    elif len(shape) != 1:
        raise ValueError(f"poly takes a vector or a square matrix that is not empty; it got shape {shape}")
    dtype, count = aval_of(z).dtype, aval_of(z).size
    if not count:
        return full((), 1, dtype)
    a = full((1,), 1, dtype)
    zero = scalar_zero(dtype)
    for k in range(count):
        below = mul_p(*operands("poly", a, getitem(z, k)))
        a = sub_p(pad_p(a, zero, padding_config=((0, 1, 0),)), pad_p(below, zero, padding_config=((1, 0, 0),)))
    return a


def polydiv(u: ArrayLike, v: ArrayLike, *, trim_leading_zeros: bool = False) -> tuple[Array, Array]:
    """(quotient [m - n + 1], remainder [m]) of polynomials `u` [m] and `v` [n] by their coefficients, highest power
    first, in floats.

    The remainder has zeros in front; `trim_leading_zeros` takes away those that are zero up to rounding (less than the
    root of eps), which needs concrete values: it raises ConcretizationTypeError while tracing. Raises ValueError for
    coefficients that are no vectors.
    """
    quotient, rest = _divided(u, v)
    if not trim_leading_zeros:
        return quotient, rest
    if is_traced(rest):
        raise _needs_values("polydiv", "trim_leading_zeros=True")
    values = np.abs(np.asarray(concrete_value(rest)))
    (there,) = np.nonzero(~(values < np.sqrt(np.asarray(finite_info(aval_of(rest).dtype).eps, values.dtype))))
    return quotient, getitem(rest, slice(int(there[0]) if there.size else values.size, None))


def _needs_values(name: str, what: str) -> ConcretizationTypeError:
    return ConcretizationTypeError(
        message_here(
            f"{name}: with {what} the size of the result depends on values, which are not known while tracing.",
            f"pass {what.partition('=')[0]}={'False' if what.endswith('True') else 'True'}",
        )
    )


@eager_jit()
def _divided(u: Any, v: Any) -> tuple[Any, Any]:
    (rest, divisor), _, dtype, _ = promoted("polydiv", (u, v), inexact=True)
    rest, divisor = (array_operand("polydiv", p) for p in (rest, divisor))
    shapes = [aval_of(p).shape for p in (rest, divisor)]
    if any(len(shape) != 1 for shape in shapes):
        raise ValueError(f"polydiv takes the coefficients as vectors; it got shapes {shapes[0]} and {shapes[1]}")
    m, n = (size - 1 for (size,) in shapes)
    scale = div_p(scalar_like(divisor, 1), getitem(divisor, 0))
    factors = []
    for k in range(m - n + 1):
        factors.append(mul_p(scale, getitem(rest, k)))
        rest = At(rest)[k : k + n + 1].subtract(mul_p(*operands("polydiv", factors[-1], divisor)))
    return stack(factors) if factors else full((1,), 0, dtype), rest


def roots(p: ArrayLike, *, strip_zeros: bool = True) -> Array:
    """The zeros [n - 1] of the polynomial with coefficients `p` [n], highest power first: complex, as many as its
    degree.

    Leading zeros are left out, which needs concrete values; with `strip_zeros` False there are always n - 1 zeros, and
    those that do not exist are NaN. They are the eigenvalues of the companion matrix. Raises ValueError for arrays that
    are not vectors, ConcretizationTypeError while tracing with `strip_zeros`.
    """
    aval = operand_and_aval("roots", p)[1]
    if aval.ndim > 1:
        raise ValueError(f"roots takes the coefficients as a vector; it got shape {aval.shape}")
    if aval.size < 2:
        return full((0,), 0, dtypes.complex_of(dtypes.to_inexact(aval.dtype)))
    if not strip_zeros:
        return _all_roots(p)
    if is_unknown(p):
        raise _needs_values("roots", "strip_zeros=True")
    (there,) = np.nonzero(np.asarray(concrete_value(operand_and_aval("roots", p)[0])))
    return _roots(p, int(there[0]) if there.size else aval.size)


@eager_jit(static="first")
def _roots(p: Any, first: int) -> Any:
    return _companion_values(
        slice_in_dim(operand("roots", p, inexact=True), first, operand_and_aval("roots", p)[1].size)
    )


def _companion_values(p: Any) -> Any:
    size, dtype = aval_of(p).size, aval_of(p).dtype
    if size < 2:
        return full((0,), 0, dtypes.complex_of(dtype))
    row = div_p(*operands("roots", neg_p(slice_in_dim(p, 1, size)), getitem(p, 0)))
    below = diag(full((size - 2,), 1, dtype), -1)
    below = slice_in_dim(below, 1, size - 1) if size > 2 else full((0, 1), 0, dtype)
    return eigvals(concatenate_p(reshape(row, (1, size - 1)), below, dimension=0))


@eager_jit()
def _all_roots(p: Any) -> Any:
    p = operand("roots", p, inexact=True)
    size, index = aval_of(p).size, dtypes.default_int()
    zero = eq_p(p, scalar_like(p, 0))
    none = reduce_and_p(zero, axes=(0,))
    leading = choose(none, np.asarray(size, index)[()], argmin(zero))
    p = roll(chosen("roots", none, scalar_like(p, 1), p), neg_p(leading))
    found = _companion_values(p)
    # Those of the zeros that were moved to the end are zero: they come last, as NaN.
    _, found = sort_p(eq_p(found, scalar_like(found, 0)), found, dimension=0, is_stable=True, num_keys=1)
    there = lt_p(*operands("roots", iota(index, (size - 1,)), sub_p(scalar_like(leading, size - 1), leading)))
    return chosen("roots", there, found, scalar_like(found, complex(np.nan, np.nan)))


@lenient
@eager_jit(static="deg rcond full cov")
def polyfit(
    x: ArrayLike,
    y: ArrayLike,
    deg: int,
    rcond: float | None = None,
    full: bool = False,
    w: ArrayLike | None = None,
    cov: bool | str = False,
) -> Array | tuple[Array, ...]:
    """The polynomial of degree `deg` for which the squares of its differences from `y` [n] or [n, k] at `x` [n] are
    least in sum: its coefficients [deg + 1] or [deg + 1, k], highest power first.

    `w` [n] weighs the differences. `full`: also the sums of squares that remain, the rank, the singular values and
    `rcond` (see `linalg.lstsq`; default n eps). Else `cov`: also the covariance of the coefficients, "unscaled"
    without the factor of the remaining squares. Raises ValueError for a negative degree and too few points for `cov`,
    TypeError for wrong shapes.
    """
    order = integer("polyfit", deg, "deg", ValueError) + 1
    if order < 1:
        raise ValueError(f"polyfit: the degree is {deg}; it must not be negative")
    places, right = array_operand("polyfit", x), array_operand("polyfit", y)
    points, values = aval_of(places), aval_of(right)
    if points.ndim != 1 or not points.size or values.ndim not in (1, 2) or values.shape[0] != points.size:
        raise TypeError(
            "polyfit takes a vector x that is not empty and y of one or two axes and as many rows; they have shapes "
            f"{points.shape} and {values.shape}"
        )
    if rcond is None:
        if not dtypes.is_inexact(points.dtype):
            raise ValueError(f"polyfit: x is {points.short()}: convert it to floats, or give rcond")
        rcond = points.size * float(finite_info(points.dtype).eps)
    left = vander(places, order)
    if w is not None:
        weights = operand("polyfit", w, inexact=True)
        if aval_of(weights).shape != points.shape:
            raise TypeError(f"polyfit: weights of shape {aval_of(weights).shape} for {points.size} points")
        left = left * reshape(weights, (points.size, 1))
        right = right * (reshape(weights, (points.size, 1)) if values.ndim == 2 else weights)
    scale = sqrt_p(operand("polyfit", reduce_sum_p(mul_p(left, left), axes=(0,)), inexact=True))
    left = left / scale
    c, rest, rank, s = lstsq(left, right, rcond)
    c = c / (reshape(scale, (order, 1)) if values.ndim == 2 else scale)
    if full:
        return c, rest, rank, s, convert(array_operand("polyfit", rcond), dtypes.default_float())
    if not cov:
        return c
    spread = inv(dot(left.T, left)) / outer(scale, scale)
    if cov == "unscaled":
        return c, spread if values.ndim == 1 else reshape(spread, (order, order, 1))
    if points.size <= order:
        raise ValueError(f"polyfit: {points.size} points are too few for the covariance of {order} coefficients")
    rest = rest / (points.size - order)
    return c, spread * rest if values.ndim == 1 else reshape(spread, (order, order, 1)) * rest
