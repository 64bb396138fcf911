"""linear_call: a linear function that comes with its transpose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import tree
from ..core.annotations import PyTree
from ..core.primitive import HigherOrder
from ..core.staging import jaxpr_as_fun
from ..core.zeros import Zero, is_linear, is_zero
from ..ops.families import add_tangents
from ..ops.linear import instantiate
from ..transforms.jvp import jvp_jaxpr
from ..transforms.vmap import vmap_jaxpr
from .bodies import check_leaves, lift_constants, name_of, short, trace_body


__all__ = ["linear_call"]


class LinearCall(HigherOrder):
    """The program `callee`, linear in all operands but the first `fixed`, whose transpose with respect to the others is the program
    `transposed`: it takes the same fixed operands, then cotangents."""

    idle = frozenset(("transposed",))

    def abstract(self, /, *avals, callee, **params):
        return callee.out_avals, callee.effects

    def lower(self, ctx, /, *values, callee, **params):
        return ctx.inner_jaxpr(callee, list(values), "callee")

    def jvp(self, primals, tangents, /, *, callee, fixed, **params):
        outs = self.bind(*primals, callee=callee, fixed=fixed, **params)
        dots, lines = tangents[:fixed], tangents[fixed:]
        found = [Zero(a) for a in callee.out_avals]
        if not all(map(is_zero, lines)):
            found = self.bind(*primals[:fixed], *map(instantiate, lines), callee=callee, fixed=fixed, **params)
        if all(map(is_zero, dots)):
            return outs, found
        both, moved = jvp_jaxpr(callee, [*[not is_zero(t) for t in dots], *[False] * len(lines)])
        more = iter(jaxpr_as_fun(both)(*primals, *[t for t in dots if not is_zero(t)])[len(outs) :])
        return outs, [add_tangents(t, next(more)) if m else t for t, m in zip(found, moved)]

    def transpose(self, cts, /, *args, callee, transposed, fixed):
        if any(map(is_linear, args[:fixed])):
            raise NotImplementedError(
                "linear_call is transposed with respect to its linear arguments, not to residuals"
            )
        given = [instantiate(ct) for ct in cts]
        found = self.bind(*args[:fixed], *given, callee=transposed, transposed=callee, fixed=fixed)
        return [None] * fixed + [ct if is_linear(x) else None for ct, x in zip(found, args[fixed:])]

    def batch(self, axis, args, dims, /, *, callee, transposed, fixed):
        # What it is linear in is mapped in both programs, along axis 0.
        linear = [axis.move(x, d, 0) for x, d in zip(args[fixed:], dims[fixed:])]

        def mapped(closed: Any, inputs: int) -> Any:
            return vmap_jaxpr(closed, axis, [*dims[:fixed], *[0] * inputs], [True] * len(closed.out_avals))[0]

        callee, transposed = mapped(callee, len(linear)), mapped(transposed, len(callee.out_avals))
        outs = self.bind(*args[:fixed], *linear, callee=callee, transposed=transposed, fixed=fixed)
        return outs, [0] * len(outs)

    def shown_params(self, params):
        return {name: params[name] for name in ("callee", "transposed")}


linear_call_p = LinearCall("linear_call")


def linear_call(
    fun: Callable[[Any, Any], Any], fun_transpose: Callable[[Any, Any], Any], residual_args: PyTree, linear_args: PyTree
) -> PyTree:
    """`fun(residual_args, linear_args)`, linear in `linear_args`, whose transpose is `fun_transpose(residual_args, cotangent)`.

    Arguments and results are trees of arrays; `fun_transpose` takes a cotangent like fun's result and gives one like `linear_args`.
    It is what reverse mode and `linear_transpose` use, and its own transpose is `fun`. Derivatives with respect to residuals are
    those of fun. Raises TypeError where a transpose gives another structure, ValueError where it gives other shapes or dtypes.
    """
    trees = [tree.flatten(x) for x in (residual_args, linear_args)]
    (residuals, res_tree), (linear, lin_tree) = trees
    res_avals = check_leaves(residuals, residual_args, "linear_call got, at residual_args")
    lin_avals = check_leaves(linear, linear_args, "linear_call got, at linear_args")
    body = trace_body(fun, tree.treedef_tuple((res_tree, lin_tree)), [*res_avals, *lin_avals])
    out_avals = body.closed.out_avals
    back = trace_body(fun_transpose, tree.treedef_tuple((res_tree, body.out_tree)), [*res_avals, *out_avals])
    if back.out_tree != lin_tree:
        raise TypeError(
            f"linear_call: {name_of(fun_transpose)} must give a tree like linear_args, of structure {lin_tree}; it gave {back.out_tree}"
        )
    wanted, found = ([a.strong() for a in avals] for avals in (lin_avals, back.closed.out_avals))
    if wanted != found:
        raise ValueError(
            f"linear_call: {name_of(fun_transpose)} must give arrays like linear_args, {', '.join(short(wanted))}; it gave "
            f"{', '.join(short(found))}"
        )
    consts, (callee, transposed) = lift_constants([body.closed, back.closed])
    fixed = [*consts, *residuals]
    return body.out_tree.unflatten(
        linear_call_p.bind(*fixed, *linear, callee=callee, transposed=transposed, fixed=len(fixed))
    )
