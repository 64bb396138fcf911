"""The remainder of float32 arrays, in float64."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core import dtypes
from ....core.avals import aval_of
from ...linear import add_p, convert, mul_p, reduce_sum_p, sub_p, where
from ..bits import and_p, not_p
from ..comparison import ge_p, lt_p
from ..division import div_p
from ..extremes import abs_p
from ..rounding import floor_p
from .arithmetic import below_zero, double, signed, single, widened


_QUOTIENTS = 2.0**28
"""Below, a quotient times a float32 is exact in float64."""
_DIVISORS = 2.0**-100
"""From here on remainders are no numbers that a processor may drop."""


def remainder(x: Any, y: Any) -> tuple[Any, Any]:
    """What x / y leaves, exact where quotients are less than 2**28 and divisors neither NaN nor tiny; and at how many places they are not."""
    dividend, divisor = abs_p(x), abs_p(y)
    wide, step = widened(dividend), widened(divisor)
    quotient = div_p(wide, step)
    left = sub_p(wide, mul_p(floor_p(quotient), step))
    left = where(lt_p(left, double(0)), add_p(left, step), left)  # where the quotient was rounded up to an integer
    found = where(lt_p(dividend, divisor), x, signed(below_zero(x), single(left)))
    near = and_p(lt_p(quotient, double(_QUOTIENTS)), ge_p(divisor, np.float32(_DIVISORS)))
    far = convert(not_p(near), dtypes.float32)  # counted by XLA's library, in one call
    return found, convert(reduce_sum_p(far, axes=tuple(range(aval_of(far).ndim))), dtypes.int32)
