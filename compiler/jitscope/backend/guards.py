"""Options that keep XLA from giving wrong results.

XLA on the CPU (jaxlib 0.10.2) merges reductions and elementwise operations of some 10,000 elements into library kernels; two
logarithms whose operands differ by a constant factor become one there: sum(log(x) + log(2 x)) gives 2 sum(log(x)). The same
goes for log1p and expm1. A program with more than one of a kind therefore keeps the library for matrix products alone.
JAX 0.10.2 gives the wrong result.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..core.jaxpr import Jaxpr, subjaxprs
from ..core.primitive import Primitive
from ..ops import elementwise as ew
from ..special.primitive import Special


_KINDS: dict[Primitive, tuple[str, ...]] = {
    ew.log_p: ("log",),
    ew.log1p_p: ("log1p",),
    ew.expm1_p: ("expm1",),
    ew.sinh_p: ("expm1",),
}
_KINDS |= dict.fromkeys(
    (ew.erf_inv_p, ew.lgamma_p, ew.digamma_p, ew.polygamma_p, ew.asinh_p, ew.acosh_p, ew.atanh_p), ("log", "log1p")
)
"""The operations concerned, with those that XLA computes by them."""

_UNKNOWN = ("call_exported",)
"""Operations of which nobody knows what they compute."""

_PRODUCTS_ALONE = {"xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_DOT,LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT"}


def guards(jaxpr: Jaxpr) -> dict[str, Any]:
    """XLA flags for a program."""
    return _PRODUCTS_ALONE if max(_counts(jaxpr, {}).values(), default=0) > 1 else {}


def _counts(jaxpr: Jaxpr, known: dict[Jaxpr, Counter[str]]) -> Counter[str]:
    """How many of each kind there are at all levels; those of a loop count twice, since it may be unrolled."""
    if jaxpr not in known:
        count: Counter[str] = Counter()
        for _, eqn in jaxpr.live()[0]:
            count.update(_KINDS.get(eqn.primitive, ("log", "log") if eqn.primitive.name in _UNKNOWN else ()))
            if isinstance(eqn.primitive, Special):
                count.update(_counts(eqn.primitive.program([x.aval for x in eqn.invars]).jaxpr, known))
            turns = 2 if eqn.primitive.name in ("scan", "while") else 1
            for _, held in subjaxprs(eqn.params):
                for _ in range(turns):
                    count.update(_counts(held.jaxpr, known))
        known[jaxpr] = count
    return known[jaxpr]
