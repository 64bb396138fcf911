"""Functions that should be linear: traced, checked, and transposed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import tree
from ..core import call_sites, dtypes, source
from ..core.avals import ShapedArray
from ..core.jaxpr import ClosedJaxpr, DebugInfo, JaxprEqn, Var
from ..core.messages import with_advice
from ..core.primitive import FunctionCall
from ..core.staging import JaxprTrace, as_function
from ..core.trace import using
from ..core.zeros import UndefinedPrimal
from ..ops.families import Bilinear
from ..ops.linear import instantiate
from ..transforms.dce import dce_jaxpr
from ..transforms.jvp import jvp_jaxpr
from ..transforms.steps import transpose_step
from ..transforms.transpose import backward_pass
from .bodies import check_leaves, name_of
from .discharge import flattened


class _OpenTrace(JaxprTrace):
    """Records a program in which functions with rules of their own run in place: their rules do not concern a
    transpose."""

    __slots__ = ()

    def process(self, primitive, args, params):
        if isinstance(primitive, FunctionCall) and "fun" in params:
            with using(self):
                return as_function(params["fun"])(*args)
        return super().process(primitive, args, params)


class LinearFunction:
    """A function of trees that was found linear in all its arguments: `closed` on flat leaves, and the trees."""

    __slots__ = ("closed", "in_tree", "name", "out_tree")

    def __init__(self, fun: Callable[..., Any], in_tree: Any, avals: Sequence[ShapedArray]):
        """`in_tree` is the structure of the arguments, a tuple. Raises TypeError if the function is not linear, or
        if arguments and results are neither all floats or complex numbers nor all integers."""
        self.in_tree, self.name = in_tree, name_of(fun)
        self.closed = self._traced(fun, avals)
        self._check_dtypes()
        self._check_linear()

    def _traced(self, fun: Callable[..., Any], avals: Sequence[ShapedArray]) -> ClosedJaxpr:
        trace = _OpenTrace(DebugInfo(self.name, defined=source.position_of_function(fun)))
        args = [trace.argument(aval) for aval in avals]
        try:
            with using(trace):
                out = fun(*self.in_tree.unflatten(args))
                leaves, self.out_tree = tree.flatten(out)
                check_leaves(leaves, out, f"{self.name} returned, at result")
                return flattened(trace.close(leaves))[0]
        finally:
            trace.ended = True

    def _check_dtypes(self) -> None:
        avals = [*self.closed.in_avals, *self.closed.out_avals]
        if not any(all(map(kind, [a.dtype for a in avals])) for kind in (dtypes.is_inexact, dtypes.is_integer)):
            takes, gives = (
                ", ".join(a.short() for a in found) for found in (self.closed.in_avals, self.closed.out_avals)
            )
            raise TypeError(
                "linear_transpose works on functions of floats and complex numbers alone, or of integers alone; "
                f"{self.name} takes {takes} and gives {gives}"
            )

    def _check_linear(self) -> None:
        """The derivative of a linear function does not depend on where it is taken."""
        closed = self.closed
        n = len(closed.in_avals)
        if any(dtypes.is_integer(a.dtype) for a in closed.in_avals):
            return self._check_products()
        both, out_nonzero = jvp_jaxpr(closed, [True] * n)
        tangents, kept = dce_jaxpr(both, [False] * len(out_nonzero) + [True] * sum(out_nonzero))
        if any(kept[:n]):
            raise self._not_linear(_first_mixed(tangents, sum(kept[:n])))

    def _check_products(self) -> None:
        """Integers have no derivative: no product may have two factors that depend on the arguments."""
        dependent = set(self.closed.jaxpr.invars)
        for eqn in self.closed.eqns:
            depends = [isinstance(a, Var) and a in dependent for a in eqn.invars]
            if isinstance(eqn.primitive, Bilinear) and all(depends):
                raise self._not_linear(eqn)
            if any(depends):
                dependent.update(eqn.outvars)

    def _not_linear(self, eqn: JaxprEqn | None) -> TypeError:
        where = call_sites.user_position(eqn.traceback) if eqn is not None else None
        line = source.position_text(where, "\n  the derivative depends on the argument in ")
        return TypeError(
            with_advice(
                f"linear_transpose needs a function that is linear in its arguments, and {self.name} is not.{line}",
                "for the transpose of the derivative at a point, take vjp",
            )
        )

    def transpose(self, cts: Sequence[Any], consts: Sequence[Any] | None = None) -> list[Any]:
        """Cotangents of the flat arguments, from those of the flat results. `consts`: the values the function captured, where they
        are not the ones it was traced with."""
        jaxpr, consts = self.closed.jaxpr, self.closed.consts if consts is None else consts
        args = [UndefinedPrimal(a) for a in self.closed.in_avals]
        try:
            transpose_step(jaxpr, consts, args, cts, self.name)
            found = backward_pass(jaxpr, consts, args, cts)
        except NotImplementedError as error:
            if getattr(error, "missing_rule", None) != "transpose":
                raise
            raise TypeError(
                f"linear_transpose needs a function that is linear in its arguments, and {self.name} is not: {error}"
            ) from error
        return [instantiate(ct) for ct in found]


def _first_mixed(closed: ClosedJaxpr, primals: int) -> JaxprEqn | None:
    """The first equation that joins a tangent (the arguments from number `primals` on) with something of the primals."""
    jaxpr = closed.jaxpr
    tangents, fixed = set(jaxpr.invars[primals:]), set(jaxpr.invars[:primals])
    for eqn in jaxpr.eqns:
        read = [a for a in eqn.invars if isinstance(a, Var)]
        if any(a in tangents for a in read):
            if any(a in fixed for a in read):
                return eqn
            tangents.update(eqn.outvars)
        elif any(a in fixed for a in read):
            fixed.update(eqn.outvars)
    return None
