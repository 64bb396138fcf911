"""How wide the vectors are that XLA computes a program for the CPU with (`xla.cpu_tuning.VECTORS_OF_512`): an option of XLA's that holds for the
whole of a program.

Functions that are sums and products of many, such as exponentials, gain by wide vectors; programs that mostly move elements, such as finite
differences, lose, since a wide vector that begins anywhere spans two lines of the cache."""

from __future__ import annotations

import math
import os
from typing import Any

from ..core.jaxpr import Jaxpr, JaxprEqn, equations_in
from ..ops import elementwise as ew
from ..symbolic.dimension import is_static
from ..xla.cpu_tuning import VECTORS_OF_512
from .disk.machine import has_wide_vectors


_GAIN = frozenset(
    (ew.erf_p, ew.erfc_p, ew.erf_inv_p, ew.exp_p, ew.exp2_p, ew.expm1_p, ew.log_p, ew.log1p_p, ew.logistic_p, ew.pow_p, ew.tanh_p)
)  # fmt: skip
_DRAWN = "random_bits"


def vector_width(jaxpr: Jaxpr) -> dict[str, Any]:
    """The flag of XLA's for a program; none where its default is best, or the user has said one."""
    name, width = VECTORS_OF_512.value["flag"]
    if not VECTORS_OF_512.holds() or not has_wide_vectors() or name in os.environ.get("XLA_FLAGS", ""):
        return {}
    return {name: width} if any(map(_gains, equations_in(jaxpr))) else {}


def _gains(eqn: JaxprEqn) -> bool:
    """Whether it is such a function of many elements."""
    if eqn.primitive not in _GAIN and eqn.primitive.name != _DRAWN:
        return False
    shape = eqn.outvars[0].aval.shape
    return is_static(shape) and math.prod(shape) >= VECTORS_OF_512.value["elements"]
