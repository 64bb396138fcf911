"""Numbers beside arrays, for derivative rules."""

from __future__ import annotations

from ...core import dtypes
from ...core.avals import aval_of
from ..families import scalar_like
from ..linear import add_p, full, mul_p


__all__ = ["number_like", "spread", "times"]


def number_like(x, value):
    """`scalar_like` for derivative rules: a weak number beside a weak value, so that its derivative is weak, too."""
    number = scalar_like(x, value)
    if aval_of(x).weak_type and dtypes.python_dtype(type(number.item())) == number.dtype:
        return number.item()
    return number


def times(t, value):
    """A tangent times a number."""
    return mul_p(t, number_like(t, value))


def spread(t, out):
    """A tangent of a scalar operand in the shape of the result."""
    shape = aval_of(out).shape
    return add_p(t, full(shape, 0, aval_of(t).dtype)) if aval_of(t).shape != shape else t
