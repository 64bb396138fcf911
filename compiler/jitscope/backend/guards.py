"""Options that keep XLA from giving wrong results.

XLA on the CPU (jaxlib 0.10.2) merges reductions and elementwise operations of some 10,000 elements into library kernels; two
logarithms whose operands differ by a constant factor become one there: sum(log(x) + log(2 x)) gives 2 sum(log(x)). A program
with more than one logarithm therefore keeps the library for matrix products alone. JAX 0.10.2 gives the wrong result.
"""

from __future__ import annotations

from typing import Any

from ..core.jaxpr import Jaxpr, subjaxprs
from ..ops import elementwise as ew


_LOGARITHMS = {ew.log_p: 1, ew.log1p_p: 1, ew.erf_inv_p: 1}
_LOGARITHMS |= dict.fromkeys((ew.lgamma_p, ew.digamma_p, ew.polygamma_p, ew.asinh_p, ew.acosh_p, ew.atanh_p), 2)
"""Operations that XLA computes by logarithms, and how many at least."""

_UNKNOWN = ("call_exported",)
"""Operations of which nobody knows what they compute."""

_PRODUCTS_ALONE = {"xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_DOT,LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT"}


def guards(jaxpr: Jaxpr) -> dict[str, Any]:
    """XLA flags for a program."""
    return _PRODUCTS_ALONE if _logarithms(jaxpr, {}) > 1 else {}


def _logarithms(jaxpr: Jaxpr, known: dict[Jaxpr, int]) -> int:
    """The number of logarithms at all levels; those of a loop count twice, since it may be unrolled."""
    if jaxpr not in known:
        count = 0
        for _, eqn in jaxpr.live()[0]:
            count += _LOGARITHMS.get(eqn.primitive, 2 * (eqn.primitive.name in _UNKNOWN))
            turns = 2 if eqn.primitive.name in ("scan", "while") else 1
            count += sum(turns * _logarithms(held.jaxpr, known) for _, held in subjaxprs(eqn.params))
        known[jaxpr] = count
    return known[jaxpr]
