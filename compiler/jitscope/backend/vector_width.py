"""How wide the vectors are that XLA computes a program for the CPU with (`xla.cpu_tuning.VECTORS_OF_512`): an option of XLA's that holds for the
whole of a program.

Functions that are sums and products of many, such as exponentials, gain by wide vectors; programs that mostly move elements, such as finite
differences, lose, since a wide vector that begins anywhere spans two lines of the cache; so do products of vectors with matrices whose rows are no whole
number of wide vectors: with rows of 8 they take 2.7 times as long. Short loops are written out more often with them, which takes
LLVM some milliseconds: programs with few such numbers do without."""

from __future__ import annotations

import math
import os
from typing import Any

from ..core.jaxpr import Jaxpr, JaxprEqn, subjaxprs
from ..ops import elementwise as ew
from ..symbolic.dimension import is_static
from ..xla.cpu_tuning import VECTORS_OF_512
from .disk.machine import has_wide_vectors


_GAIN = frozenset(
    (ew.erf_p, ew.erfc_p, ew.erf_inv_p, ew.exp_p, ew.exp2_p, ew.expm1_p, ew.log_p, ew.log1p_p, ew.logistic_p, ew.pow_p, ew.tanh_p)
)  # fmt: skip
"""Operations that are such functions; draws are integers' sums and products."""
_DRAWN = "random_bits"
_LOST = 4
"""Such functions that have to be there for each element of the matrix in such a product."""
_LANES = 16
_TURNS = 16
"""Of a loop that ends by a value, as nobody knows better."""


def vector_width(jaxpr: Jaxpr) -> dict[str, Any]:
    """The flag of XLA's for a program; none where its default is best, or the user has said one."""
    name, width = VECTORS_OF_512.value["flag"]
    if not VECTORS_OF_512.holds() or not has_wide_vectors() or name in os.environ.get("XLA_FLAGS", ""):
        return {}
    return {name: width} if _numbers(jaxpr, {}) >= VECTORS_OF_512.value["numbers"] else {}


def _numbers(jaxpr: Jaxpr, known: dict[Jaxpr, int]) -> int:
    """How many numbers such functions make in a run; `known` are those of the programs inside."""
    if jaxpr not in known:
        known[jaxpr] = 0
        for _, eqn in jaxpr.live()[0]:
            known[jaxpr] += _made(eqn) + sum(
                turns_of(eqn) * _numbers(inner.jaxpr, known) for _, inner in subjaxprs(eqn.params)
            )
    return known[jaxpr]


def _made(eqn: JaxprEqn) -> int:
    if eqn.primitive.name == "dot_general":
        return -_LOST * _elements_in_broken_rows(eqn)
    if eqn.primitive not in _GAIN and eqn.primitive.name != _DRAWN:
        return 0
    shape = eqn.outvars[0].aval.shape
    return math.prod(shape) if is_static(shape) else 0


def _elements_in_broken_rows(eqn: JaxprEqn) -> int:
    """How many elements the matrix has in a product with a vector, if its rows are no whole number of wide vectors."""
    (contracting, batch), shapes = eqn.params["dimension_numbers"], [a.aval.shape for a in eqn.invars]
    if not all(map(is_static, shapes)):
        return 0
    free = [math.prod(n for i, n in enumerate(s) if i not in (*c, *b)) for s, c, b in zip(shapes, contracting, batch)]
    if min(free) != 1:
        return 0
    matrix = max(shapes, key=math.prod)
    return math.prod(matrix) if matrix and matrix[-1] % _LANES else 0


def turns_of(eqn: JaxprEqn) -> int:
    """How often what is inside an equation runs, in a loop."""
    match eqn.primitive.name:
        case "scan":
            length = eqn.params["length"]
            return length if is_static((length,)) else _TURNS
        case "while":
            return _TURNS
    return 1
