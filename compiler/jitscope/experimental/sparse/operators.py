"""What `+`, `@`, `[…]` and the others do with sparse arrays: what sparsify makes of the same for dense ones."""

from __future__ import annotations

import operator
from typing import Any

from ... import numpy as jnp
from .arrays import BCOO, JAXSparse
from .rules import sparsify


_OF_JNP = {
    "add": jnp.add, "sub": jnp.subtract, "mul": jnp.multiply, "truediv": jnp.true_divide, "pow": jnp.power,
    "matmul": jnp.matmul, "neg": jnp.negative, "pos": jnp.positive, "abs": jnp.abs, "gt": jnp.greater,
    "ge": jnp.greater_equal, "lt": jnp.less, "le": jnp.less_equal, "eq": jnp.equal, "ne": jnp.not_equal,
}  # fmt: skip


def apply(name: str, *operands: Any) -> Any:
    """The result of an operator. Matrices of other layouts are taken as BCOO."""
    mats = [x for x in operands if isinstance(x, JAXSparse)]
    if name == "getitem":
        mat, key = operands
        return sparsify(lambda x: x[key])(mat)
    if name == "pos":
        return operands[0]
    if name == "pow" and isinstance(operands[1], (int, float)) and operands[1] <= 0:
        raise NotImplementedError(
            "a power with an exponent that is not positive would be dense: use todense() if that is meant"
        )
    for x in operands:
        if not isinstance(x, JAXSparse) and not jnp.isscalar(x) and not hasattr(x, "shape"):
            return NotImplemented
    out = sparsify(_OF_JNP[name] if name != "pow" else operator.pow)(*operands)
    to_own = getattr(type(mats[0]), "from_bcoo", None)
    return out if to_own is None or not isinstance(out, BCOO) else to_own(out)
