"""The logarithm of the gamma function of float32 arrays, in float64.

With a at least a half, Γ(a) = Γ(a + 7) / (a (a + 1) … (a + 6)), and Stirling's series gives log Γ from 7 on; Γ(1 - a) Γ(a) = π / sin π a leads to the others
(Abramowitz and Stegun, "Handbook of Mathematical Functions", 6.1.15 to 6.1.17 and 6.1.41). Near zeros terms cancel that a float64 holds to some 1e-14: what is
rounded is off by that, 2 units in the last place for the neighbours of 1 and less than 0.501 where the result is above 1e-4.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ...linear import add_p, mul_p, sub_p, where
from ..comparison import eq_p, lt_p
from ..division import div_p
from ..extremes import abs_p
from ..powers import log_p
from ..rounding import round_p
from .arithmetic import double, exact, polynomial, single


_STEPS = 7
_STIRLING = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360]
"""B(2k) / (2k (2k - 1))."""
_HALF_LOG_2_PI = 0.5 * math.log(2 * math.pi)
_SINE = [(-1) ** k * math.pi ** (2 * k + 1) / math.factorial(2 * k + 1) for k in range(12)]
"""sin π x / x, by powers of x**2."""


def lgamma(x: Any) -> Any:
    """log |Γ(x)|, infinite at poles and at both infinities."""
    wide = exact(x)
    left = lt_p(wide, double(0.5))
    right = where(left, sub_p(double(1), wide), wide)
    low = lt_p(right, double(_STEPS))
    factors = functools.reduce(mul_p, [add_p(right, double(k)) for k in range(_STEPS)])
    z = where(low, add_p(right, double(_STEPS)), right)
    inverse = div_p(double(1), z)
    rest = mul_p(inverse, polynomial(mul_p(inverse, inverse), _STIRLING))
    stirling = add_p(sub_p(mul_p(sub_p(z, double(0.5)), log_p(z)), z), add_p(rest, double(_HALF_LOG_2_PI)))
    factors = where(low, factors, double(1))
    part = sub_p(wide, round_p(wide, rounding_method=1))
    sine = abs_p(mul_p(part, polynomial(mul_p(part, part), _SINE)))
    other = log_p(where(left, div_p(mul_p(factors, double(math.pi)), sine), factors))
    found = single(where(left, sub_p(other, stirling), sub_p(stirling, other)))
    found = where(eq_p(abs_p(sub_p(x, np.float32(1.5))), np.float32(0.5)), np.float32(0), found)  # 1 and 2
    return where(eq_p(abs_p(x), np.float32(math.inf)), np.float32(math.inf), found)
