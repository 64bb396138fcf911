"""Whether a program may have so long a chain of operations that XLA's recursion over it would end the process."""

from __future__ import annotations

from typing import Any

from ..core.jaxpr import Jaxpr, JaxprEqn, Literal, subjaxprs
from ..core.primitive import Primitive
from ..ops import elementwise as ew
from ..special.primitive import Special


MOST = 16_000
"""Of operations of XLA's in a chain; it ends at some 21,000."""

_EACH = 4  # operations of XLA's that an equation becomes, one after the other; most become one or two
_SERIES = 64  # that one becomes which is computed by a series
_BY_SERIES = frozenset[Primitive](
    (ew.erf_inv_p, ew.lgamma_p, ew.digamma_p, ew.polygamma_p, ew.asinh_p, ew.acosh_p, ew.atanh_p)
)
_BYTES = 4  # of a module for each operation in it, at least


def may_be_too_long(jaxpr: Jaxpr) -> bool:
    """Whether some chain of operations, each an operand of the next, may be longer than `MOST`."""
    return _most(jaxpr, {}) > MOST and _longest(jaxpr, {}) > MOST


def _most(jaxpr: Jaxpr, known: dict[Jaxpr, int]) -> int:
    """How many operations there are, those of inner jaxprs each time: no chain is longer, and they are quickly counted."""
    if jaxpr not in known:
        known[jaxpr] = sum(_own(eqn) + sum(_most(inner, known) for inner in _inner(eqn)) for eqn in jaxpr.eqns)
    return known[jaxpr]


def _longest(jaxpr: Jaxpr, known: dict[Jaxpr, int]) -> int:
    if jaxpr not in known:
        before: dict[Any, int] = {}
        for eqn in jaxpr.eqns:
            own = _own(eqn) + max((_longest(inner, known) for inner in _inner(eqn)), default=0)
            length = own + max((before.get(a, 0) for a in eqn.invars if not isinstance(a, Literal)), default=0)
            before.update(dict.fromkeys(eqn.outvars, length))
        known[jaxpr] = max(before.values(), default=0)
    return known[jaxpr]


def _own(eqn: JaxprEqn) -> int:
    if (exported := eqn.params.get("exported")) is not None:
        return len(exported.mlir_module_serialized) // _BYTES
    return _SERIES if eqn.primitive in _BY_SERIES or isinstance(eqn.primitive, Special) else _EACH


def _inner(eqn: JaxprEqn) -> list[Jaxpr]:
    return [inner.jaxpr for _, inner in subjaxprs(eqn.params)]
