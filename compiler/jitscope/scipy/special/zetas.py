"""The zeta function and Bernoulli's numbers."""

from __future__ import annotations

import math

from ...core.annotations import Array, ArrayLike
from ...eager.functions import eager_jit
from ...numpy.creation import asarray
from ...numpy.operands import integer
from ...special.approximations import riemann_zeta
from ...special.zeta import zeta_p
from ._operands import real_operands


__all__ = ["bernoulli", "zeta"]


@eager_jit(nested=True)
def zeta(x: ArrayLike, q: ArrayLike | None = None) -> Array:
    """The Hurwitz zeta function, the sum of (q + k)⁻ˣ over k = 0, 1, …, element by element [...]; ∞ at x = 1, NaN for x
    < 1.

    Raises NotImplementedError for q = None, Riemann's function, which is zeta(x, 1) for x > 1; TypeError for complex
    numbers.
    """
    if q is None:
        raise NotImplementedError("zeta without q, Riemann's function, is not there: for x > 1 it is zeta(x, 1)")
    return zeta_p(*real_operands("zeta", x, q, error=TypeError))


def bernoulli(n: int) -> Array:
    """Bernoulli's numbers B₀, …, Bₙ (B₁ is -½) as floats, of shape [n + 1]. n: an int; raises ValueError for negative
    ones, TypeError for others (a traced n is unknown)."""
    n = integer("bernoulli", n, "n")
    if n < 0:
        raise ValueError(f"bernoulli: n must not be negative, it is {n}")
    numbers = [1.0, -0.5, *([0.0] * max(n - 1, 0))]
    size = 2.0  # 2 m! / (2 π)ᵐ up to its sign
    for m in range(2, n + 1, 2):
        size *= -(m - 1) * m / (4 * math.pi**2)
        numbers[m] = -size * riemann_zeta(m)
    return asarray(numbers[: n + 1], float)
