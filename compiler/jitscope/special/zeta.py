"""The Hurwitz zeta function."""

from __future__ import annotations

import math
from typing import Any

from ..ops.elementwise import exp_p, log_p
from ..ops.families import Elementwise
from ..ops.linear import mul_p
from .approximations import by_width
from .primitive import differentiated


def _euler_maclaurin(x: Any, q: Any) -> Any:
    """ζ(x, q) for x > 1 and positive q (DLMF 25.11.28)."""
    terms, count = by_width(x, (8, 5), (12, 10))
    total = 0.5 * exp_p(-x * log_p(q + float(terms)))
    for k in range(terms):
        total = total + exp_p(-x * log_p(q + float(k)))
    far = q + float(terms)
    log_far = log_p(far)
    total = total + exp_p((1.0 - x) * log_far) / (x - 1.0)
    factor = x * exp_p((-1.0 - x) * log_far)
    down = 1.0 / (far * far)
    for m in range(1, count + 1):
        total = total + (BERNOULLI[m - 1] / math.factorial(2 * m)) * factor
        factor = factor * ((x + (2.0 * m - 1)) * (x + 2.0 * m)) * down
    return total


BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330)
"""B₂, B₄, …"""


def _by_exponent(t: Any, out: Any, x: Any, q: Any) -> Any:
    return mul_p(t, zeta_grad_p(x, q))


def _by_start(t: Any, out: Any, x: Any, q: Any) -> Any:
    return mul_p(t, -x * zeta_p(x + 1.0, q))


zeta_p = Elementwise("zeta", _by_exponent, _by_start, accepts="f", hlo="chlo.zeta")
zeta_grad_p = differentiated("zeta_grad_0", _euler_maclaurin, 0, 2)
