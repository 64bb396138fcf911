"""Terms of open sums inside of one equation: each operation on the way from its operands to its results gets and gives terms, too.

XLA's partitioner knows of terms only where it is told. Of a value of which nothing is said it takes the sum, and gives that back as if it
were one device's term. Types say it of an equation's results; this says it of what an equation that is several operations computes between.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.jaxpr import JaxprEqn, subjaxprs
from ..core.part_types import laid_of, sums_of
from ..core.shardings import PartitionSpec, names_of


def is_linear_in_terms(eqn: JaxprEqn) -> bool:
    """Whether an equation gives terms of a sum by operations of its own, not by those of an inner jaxpr."""
    return any(_laid_terms(v.aval) for v in eqn.outvars) and not subjaxprs(eqn.params)


def say_terms(ctx: Any, eqn: JaxprEqn, values: Sequence[Any], results: Sequence[Any], before: int) -> None:
    """Say of the operations of the current block after the first `before` which of their results are terms. `values`: the operands,
    `results` those of the equation, of which types say it."""
    module, avals = ctx.module, [v.aval for v in (*eqn.outvars, *eqn.invars) if _laid_terms(v.aval)]
    terms = {v for a, v in zip(eqn.invars, values) if sums_of(a.aval).unreduced}
    for op in list(ctx.ir.InsertionPoint.current.block.operations)[before:]:
        makes = not terms and op.operation.name == "stablehlo.dot_general"
        if not makes and not any(v in terms for v in op.operation.operands):
            continue
        with ctx.ir.InsertionPoint.after(op):
            for value in [v for v in op.operation.results if v not in results]:
                attribute = module.meshes.sharding(_laid_terms(avals[0]).mesh, _spec(value, avals), ctx.rank(value))
                said = module.mlir.sdy.ShardingConstraintOp(value, attribute)
                value.replace_all_uses_except(said.result, said.operation)
                terms |= {value, said.result}


def _spec(value: Any, avals: Sequence[Any]) -> PartitionSpec:
    """How terms on the way lie: as an operand or a result whose cut axes it has, else whole. (A constraint that leaves all axes to the
    compiler is dropped, and with it that these are terms.)"""
    shape = tuple(value.type.shape)
    for aval in avals:
        spec = _laid_terms(aval).spec
        cuts = [i for i, entry in enumerate(spec.partitions) if names_of(entry)]
        if len(shape) == aval.ndim and all(shape[i] == aval.shape[i] for i in cuts):
            return spec
    return PartitionSpec(unreduced=_laid_terms(avals[0]).spec.unreduced)


def _laid_terms(aval: Any) -> Any:
    """How a value lies that is terms of a sum; None for others."""
    laid = laid_of(aval)
    return laid if laid is not None and laid.spec.unreduced else None
