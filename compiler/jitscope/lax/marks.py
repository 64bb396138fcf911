"""Operations that compute nothing and say something to the compiler."""

from __future__ import annotations

from typing import Any

from .. import tree
from ..control.bodies import check_leaves
from ..ops.marks import optimization_barrier_p


def optimization_barrier(operand: Any) -> Any:
    """The same tree of arrays. The compiler moves nothing across and merges no operation behind it with an equal one
    before; nothing behind is computed before all of the operand is there. Raises TypeError for what is no array.

    On the CPU XLA takes barriers out early; they say what is meant, and hold where a compiler keeps to them.
    """
    leaves, structure = tree.flatten(operand)
    check_leaves(leaves, operand, "optimization_barrier got, at operand")
    return structure.unflatten(optimization_barrier_p(*leaves)) if leaves else operand
