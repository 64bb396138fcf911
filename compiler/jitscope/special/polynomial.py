"""Polynomials by Horner's rule, as one operation: its derivative is a polynomial of a lower degree."""

from __future__ import annotations

from typing import Any

from ..control.scan import scan
from ..core.avals import aval_of
from ..core.zeros import is_linear, is_zero, zero_of
from ..ops.elementwise import times
from ..ops.families import Elementwise, add_tangents, scalar_like
from ..ops.linear import add_p, full, mul_p, unbroadcast
from ..ops.stacking import stack_p
from .approximations import spread


WRITTEN_OUT = 8
"""How many coefficients are written out where nobody says; more are run through in a loop that takes so many at a time."""


class Polynomial(Elementwise):
    """The sum of coefficients[k] xᵏ, for operands x, coefficients[0], coefficients[1], … of one dtype. The parameter `unroll` is there where it
    was given."""

    def lower(self, ctx, x, /, *coefficients, unroll=WRITTEN_OUT):
        horner = _written_out if len(coefficients) <= unroll else _in_a_loop(unroll)
        return ctx.inline(horner, x, *coefficients)

    def jvp(self, primals, tangents, /, **params):
        (x, *coefficients), (t, *changes) = primals, tangents
        out = self.bind(*primals, **params)
        total: Any = zero_of(out)
        if not is_zero(t) and len(coefficients) > 1:
            slopes = [times(c, k) for k, c in enumerate(coefficients[1:], 1)]
            total = mul_p(t, self.bind(x, *slopes, **params))
        if not all(map(is_zero, changes)):
            given = [scalar_like(x, 0) if is_zero(change) else change for change in changes]
            total = add_tangents(total, self.bind(x, *given, **params))
        return out, total

    def transpose(self, ct, x, /, *coefficients, **params):
        found, power = [None], ct
        for c in coefficients:
            found.append(unbroadcast(power, c.aval) if is_linear(c) else None)
            power = mul_p(power, x)
        return found


def _written_out(x: Any, *coefficients: Any) -> Any:
    *others, value = coefficients
    for c in reversed(others):
        value = add_p(mul_p(value, x), c)
    return spread(value, _shape(x, *coefficients))


def _in_a_loop(unroll: int) -> Any:
    def horner(x: Any, *coefficients: Any) -> Any:
        shape = _shape(x, *coefficients)
        rows = stack_p(*(spread(c, shape) for c in reversed(coefficients)), axis=0)
        start = full(shape, 0, aval_of(x).dtype)
        return scan(lambda value, c: (add_p(mul_p(value, x), c), None), start, rows, unroll=unroll)[0]

    return horner


def _shape(*operands: Any) -> tuple[int, ...]:
    return next((aval_of(v).shape for v in operands if aval_of(v).shape), ())


polynomial_p = Polynomial("polynomial", accepts="iufc")
