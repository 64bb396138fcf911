"""Whether a program may have so long a chain of operations that XLA's recursion over it would end the process, or that what XLA fuses
is computed again and again."""

from __future__ import annotations

from collections.abc import Callable
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


MOST_FUSED = 128
"""Of operations in a chain of which each makes the loop that they are fused into compute its operands several times."""
_SEVERAL_TIMES = {"concatenate", "gather", "pad", "reduce_sum", "reduce_max", "reduce_min", "reduce_prod"}
_APART = frozenset(
    "dot_general conv_general_dilated scan while sort scatter scatter-add cumsum optimization_barrier".split()
)
"""Operations that no loop of others is fused with: a chain ends there."""

_Weight = Callable[[JaxprEqn], "int | None"]
"""What an equation adds to a chain; None: a chain ends there."""


def may_be_too_long(jaxpr: Jaxpr) -> bool:
    """Whether some chain of operations, each an operand of the next, may be longer than `MOST`."""
    return _is_longer(jaxpr, MOST, _own)


def is_better_not_fused(jaxpr: Jaxpr) -> bool:
    """Whether some chain has more than `MOST_FUSED` operations that compute their operands several times."""
    return _is_longer(jaxpr, MOST_FUSED, _times)


def _is_longer(jaxpr: Jaxpr, most: int, weight: _Weight) -> bool:
    return _most(jaxpr, weight, {}) > most and _longest(jaxpr, weight, {}, {}) > most


def _most(jaxpr: Jaxpr, weight: _Weight, known: dict[Jaxpr, int]) -> int:
    """How many operations there are, those of inner jaxprs each time: no chain is longer, and they are quickly counted."""
    if jaxpr not in known:
        known[jaxpr] = sum(
            (weight(eqn) or 0) + sum(_most(inner, weight, known) for inner in _inner(eqn)) for eqn in jaxpr.eqns
        )
    return known[jaxpr]


def _longest(jaxpr: Jaxpr, weight: _Weight, known: dict[Jaxpr, int], ending: dict[Jaxpr, bool]) -> int:
    if jaxpr not in known:
        ends: dict[Any, int] = {}
        longest = 0
        # A value that such an operation reads is in memory, and is not computed again for the others that read it.
        ended = [eqn for eqn in jaxpr.eqns if _has_end(eqn, weight, ending)]
        stored = {a for eqn in ended for a in eqn.invars if not isinstance(a, Literal)}
        for eqn in jaxpr.eqns:
            own, inside = weight(eqn), max((_longest(inner, weight, known, ending) for inner in _inner(eqn)), default=0)
            before = max((ends.get(a, 0) for a in eqn.invars if not isinstance(a, Literal)), default=0)
            length = 0 if own is None else own + inside + before
            ends.update((var, 0 if var in stored else length) for var in eqn.outvars)
            longest = max(longest, length, inside)
        known[jaxpr] = longest
    return known[jaxpr]


def _has_end(eqn: JaxprEqn, weight: _Weight, known: dict[Jaxpr, bool]) -> bool:
    """Whether a chain ends at an equation, or at one inside of it."""
    for inner in _inner(eqn):
        if inner not in known:
            known[inner] = any(_has_end(one, weight, known) for one in inner.eqns)
    return weight(eqn) is None or any(known[inner] for inner in _inner(eqn))


def _times(eqn: JaxprEqn) -> int | None:
    return None if eqn.primitive.name in _APART else int(eqn.primitive.name in _SEVERAL_TIMES)


def _own(eqn: JaxprEqn) -> int:
    if (exported := eqn.params.get("exported")) is not None:
        return len(exported.mlir_module_serialized) // _BYTES
    return _SERIES if eqn.primitive in _BY_SERIES or isinstance(eqn.primitive, Special) else _EACH


def _inner(eqn: JaxprEqn) -> list[Jaxpr]:
    return [inner.jaxpr for _, inner in subjaxprs(eqn.params)]
