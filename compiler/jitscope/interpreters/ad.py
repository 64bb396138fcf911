"""`jitscope.interpreters.ad`: derivative rules. A rule of `primitive_jvps` takes primals, tangents and the parameters and
gives the primal and tangent results; one of `primitive_transposes` takes the cotangents and the operands, of which those the
operation is linear in are `UndefinedPrimal`. Tangents and cotangents may be `Zero`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import tree
from ..core.annotations import Array, ArrayLike
from ..core.primitive import Primitive
from ..core.zeros import UndefinedPrimal, Zero, is_linear as is_undefined_primal, is_zero, zero_of
from ..ops.families import add_any_p as add_jaxvals_p, add_tangents
from ..ops.linear import instantiate as instantiate_zeros, zeros as zeros_like_aval
from ..transforms.jvp import *
from .tables import RuleTable


Rule = Callable[..., Any]

# Rules pass them through functions of trees.
tree.register_pytree_node(Zero, lambda zero: ((), zero.aval), lambda aval, _: Zero(aval))
tree.register_pytree_node(UndefinedPrimal, lambda x: ((), x.aval), lambda aval, _: UndefinedPrimal(aval))

primitive_jvps = RuleTable("jvp")
primitive_transposes = RuleTable("transpose")


def get_primitive_transpose(p: Primitive) -> Rule:
    """The transpose rule. Raises NotImplementedError if there is none."""
    if p not in primitive_transposes:
        raise p.missing("transpose")
    return primitive_transposes[p]


def add_jaxvals(x: ArrayLike | Zero, y: ArrayLike | Zero) -> Array | Zero:
    """The sum of two tangents or cotangents of one aval."""
    return add_jaxvals_p.bind(x, y)


def defjvp(primitive: Primitive, *jvprules: Rule | None) -> None:
    """The derivative as a sum over operands: `rule(tangent, *operands, **params)` for each (None: it is zero)."""
    defjvp2(primitive, *[None if rule is None else _without_result(rule) for rule in jvprules])


def _without_result(rule: Rule) -> Rule:
    return lambda tangent, result, *operands, **params: rule(tangent, *operands, **params)


def defjvp2(primitive: Primitive, *jvprules: Rule | None) -> None:
    """As `defjvp`, with the result: `rule(tangent, result, *operands, **params)`."""

    def jvp(primals, tangents, /, **params):
        out = primitive.bind(*primals, **params)
        parts = [
            rule(t, out, *primals, **params)
            for rule, t in zip(jvprules, tangents)
            if rule is not None and not is_zero(t)
        ]
        return out, functools.reduce(add_tangents, parts, zero_of(out))

    primitive_jvps[primitive] = jvp


def deflinear2(primitive: Primitive, transpose_rule: Rule) -> None:
    """An operation that is linear in all its operands together; `transpose_rule(cotangent, *operands, **params)`."""

    def jvp(primals, tangents, /, **params):
        out = primitive.bind(*primals, **params)
        if all(map(is_zero, tangents)):
            return out, [zero_of(x) for x in out] if primitive.multiple_results else zero_of(out)
        return out, primitive.bind(*map(instantiate_zeros, tangents), **params)

    def transposed(ct, /, *operands, **params):
        return [None] * len(operands) if is_zero(ct) else transpose_rule(ct, *operands, **params)

    primitive_jvps[primitive] = jvp
    primitive_transposes[primitive] = transposed


def deflinear(primitive: Primitive, transpose_rule: Rule) -> None:
    """As `deflinear2`, for a rule that does not ask for the operands: `transpose_rule(cotangent, **params)`."""
    deflinear2(primitive, lambda ct, *operands, **params: transpose_rule(ct, **params))


def defbilinear(prim: Primitive, lhs_rule: Rule, rhs_rule: Rule) -> None:
    """An operation of two operands, linear in each: `lhs_rule(cotangent, x, y, **params)` and `rhs_rule` give the cotangents."""
    defjvp(
        prim,
        lambda t, x, y, **params: prim.bind(t, y, **params),
        lambda t, x, y, **params: prim.bind(x, t, **params),
    )

    def transpose(ct, x, y, /, **params):
        if is_zero(ct):
            return [None, None]
        return [lhs_rule(ct, x, y, **params), None] if is_undefined_primal(x) else [None, rhs_rule(ct, x, y, **params)]

    primitive_transposes[prim] = transpose


__all__ = ["JVPTrace", "JVPTracer", "UndefinedPrimal", "Zero", "add_jaxvals", "add_jaxvals_p", "add_tangents",
           "defbilinear", "defjvp", "defjvp2", "deflinear", "deflinear2", "get_primitive_transpose",
           "instantiate_zeros", "is_undefined_primal", "primitive_jvps", "primitive_transposes", "zeros_like_aval"]  # fmt: skip
