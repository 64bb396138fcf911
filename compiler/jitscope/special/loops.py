"""Sums and continued fractions that go on until all elements of an array have converged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..control.while_loop import while_loop
from ..core.avals import aval_of
from ..ops.elementwise import abs_p, eq_p, lt_p, min_p
from ..ops.families import scalar_like
from ..ops.linear import where
from ..ops.reduce import reduce_or_p
from .approximations import constant_like, epsilon, smallest


STEPS = 4
"""Steps between two looks at whether all have converged: a pass over memory costs more than a few terms."""
EXTRA = 1 / 16
"""Sums go on until terms are smaller than this many roundings: those of the derivatives lag behind."""


def some(condition: Any) -> Any:
    """Whether a condition holds anywhere: a scalar."""
    rank = aval_of(condition).ndim
    return reduce_or_p(condition, axes=tuple(range(rank))) if rank else condition


def repeat(
    step: Callable[..., Sequence[Any]],
    state: Sequence[Any],
    going: Callable[..., Any],
    limit: int,
    first: int = 0,
    steps: int = STEPS,
) -> tuple[Any, ...]:
    """`state = step(k, *state)` for k = first, first + 1, … while `going(*state)` holds anywhere, some `limit` times at
    most.

    k is a float of the state's dtype. Elements that have converged go on as well; steps must not harm them.
    """
    zero = scalar_like(state[0], first)

    def more(carry: tuple[Any, ...]) -> Any:
        k, unsettled, *_ = carry
        return unsettled & (k < scalar_like(k, first + limit))

    def body(carry: tuple[Any, ...]) -> tuple[Any, ...]:
        k, _, *now = carry
        for _ in range(steps):
            now = step(k, *now)
            k = k + 1.0
        return k, some(going(*now)), *now

    return while_loop(more, body, (zero, some(going(*state)), *state))[2:]


def series(first: Any, ratio: Callable[[Any], Any], limit: int = 10000) -> Any:
    """The sum of the terms c₀ = `first`, cₖ₊₁ = cₖ · ratio(k), for k = 0, 1, …"""

    def step(k: Any, term: Any, total: Any) -> tuple[Any, Any]:
        term = term * ratio(k)
        return term, total + term

    least = epsilon(first) * EXTRA
    return repeat(step, (first, first), lambda term, total: abs_p(term) > least * abs_p(total), limit)[1]


def continued_fraction(start: Any, pair: Callable[[Any], tuple[Any, Any, Any]], active: Any, limit: int = 10000) -> Any:
    """b₀ + a₁ / (b₁ + a₂ / (b₂ + …)) where `start` is b₀ and `pair(k)` gives aₖ, bₖ and a bound of |aₖ|, for k = 1, 2, …;
    elsewhere than `active` anything.

    By Lentz's method as modified by Thompson and Barnett (Numerical Recipes, 5.2). Where an aₖ is 0 the value is there, but its
    derivatives are not: the bound stays above 0, and what it leaves of a first error must vanish, too.
    """
    tiny, one = scalar_like(start, smallest(start) / epsilon(start)), scalar_like(start, 1)

    def off_zero(x: Any) -> Any:
        return where(lt_p(abs_p(x), tiny), tiny, x)

    def step(k: Any, c: Any, d: Any, value: Any, last: Any, left: Any) -> tuple[Any, ...]:
        a, b, bound = pair(k)
        before, d = d, one / off_zero(b + a * d)
        c = off_zero(b + a / c)
        left = min_p(left * abs_p(bound * before * d), one)
        return c, d, value * (c * d), c * d, where(eq_p(before, constant_like(d, 0)), one, left)

    def going(c: Any, d: Any, value: Any, last: Any, left: Any) -> Any:
        return active & ((abs_p(last - 1.0) > least) | (left > least))

    least = epsilon(start) * 2
    value, zero = off_zero(start), constant_like(start, 0)
    return repeat(step, (value, zero, value, zero, zero + 1.0), going, limit, first=1)[2]
