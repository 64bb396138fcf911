"""What programs of special functions are made of: polynomials, Chebyshev sums, choices, limits of a dtype.

Coefficients are Python or NumPy numbers; they take the dtype of x.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.avals import aval_of
from ..ops.elementwise import eq_p, floor_p, log1p_p
from ..ops.families import scalar_like
from ..ops.linear import broadcast_in_dim, full, where


Numbers = Sequence[float]


def polynomial(x: Any, coefficients: Numbers) -> Any:
    """The polynomial in `x` by Horner's rule, the highest power first."""
    total: Any = scalar_like(x, coefficients[0])
    for c in coefficients[1:]:
        total = total * x + scalar_like(x, c)
    return total


def chebyshev(x: Any, low: float, high: float, coefficients: Numbers) -> Any:
    """c₀/2 + c₁ T₁ + c₂ T₂ + … in x, scaled from [low, high] to [-1, 1], by Clenshaw's recurrence.

    Terms too small for the dtype are left out.
    """
    least = epsilon(x) / 8 * max(map(abs, coefficients))
    count = max(i for i, c in enumerate(coefficients) if abs(c) >= least) + 1
    twice = x * (4 / (high - low)) - 2 * (high + low) / (high - low)
    last, before = constant_like(x, coefficients[count - 1]), scalar_like(x, 0)
    for c in coefficients[count - 2 : 0 : -1]:
        last, before = twice * last - before + scalar_like(x, c), last
    return 0.5 * twice * last - before + scalar_like(x, coefficients[0] / 2)


def choose(*pairs: Any) -> Any:
    """`choose(c1, x1, c2, x2, …, otherwise)`: the first value whose condition holds. Numbers take the dtype of the
    arrays."""
    conditions, values = pairs[:-1:2], [*pairs[1::2], pairs[-1]]
    like = next((v for v in values if hasattr(v, "aval")), None)
    if like is None:
        like = next((v for v in values if isinstance(v, (np.generic, np.ndarray))), values[-1])
    *values, out = [v if hasattr(v, "dtype") else scalar_like(like, v) for v in values]
    for condition, value in zip(conditions[::-1], values[::-1]):
        out = where(condition, value, out)
    return out


def spread(x: Any, shape: tuple[int, ...]) -> Any:
    """A scalar repeated to a shape; what has the shape stays as it is."""
    return x if aval_of(x).shape == shape else broadcast_in_dim(x, shape, ())


def constant_like(x: Any, value: float) -> Any:
    """An array like x, all of whose elements are `value`."""
    return full(aval_of(x).shape, value, aval_of(x).dtype)


def is_nan(x: Any) -> Any:
    return x != x


def is_integer(x: Any) -> Any:
    return eq_p(floor_p(x), x)


def is_double(x: Any) -> bool:
    """Whether the numbers are of 64 bits (or 128, for complex ones)."""
    return aval_of(x).dtype in (np.float64, np.complex128)


def by_width(x: Any, single: Any, double: Any) -> Any:
    """A table for single or for double precision."""
    return double if is_double(x) else single


def epsilon(x: Any) -> float:
    return float(np.finfo(aval_of(x).dtype).eps)


def largest(x: Any) -> float:
    return float(np.finfo(aval_of(x).dtype).max)


def smallest(x: Any) -> float:
    """The smallest normal number."""
    return float(np.finfo(aval_of(x).dtype).tiny)


def bend_of_log(x: Any) -> Any:
    """(log(1 + x) - x) / x² for x from -0.5 to 0.8, exact near 0, too.

    With s = x / (2 + x), log(1 + x) = 2 artanh(s), whose series starts with x - s x.
    """
    down = 1.0 / (2.0 + x)
    s = x * down
    terms = by_width(x, 9, 20)
    return s * down * down * polynomial(s * s, [2 / (2 * k + 3) for k in range(terms, -1, -1)]) - down


def excess_of_log(x: Any) -> Any:
    """log(1 + x) - x, exact for small x, too."""
    small = (x > -0.5) & (x < 0.8)
    safe = choose(small, x, 0.0)
    return choose(small, safe * safe * bend_of_log(safe), log1p_p(x) - x)


@functools.cache
def riemann_zeta(k: int) -> float:
    """ζ(k) for an integer k > 1, by Euler and Maclaurin's formula (DLMF 25.2.9)."""
    n = 20
    total = math.fsum(j**-k for j in range(1, n)) + n ** (1 - k) / (k - 1) + 0.5 * n**-k
    factor = k * n ** (-k - 1)
    for m, b in enumerate((1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66), 1):
        total += b / math.factorial(2 * m) * factor
        factor *= (k + 2 * m - 1) * (k + 2 * m) / n**2
    return total
