"""What rules of users get and give: zeros, pairs, results in the avals of the function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import tree
from ..core import call_sites, dtypes, source
from ..core.annotations import PyTree
from ..core.avals import ShapedArray, aval_of
from ..core.jaxpr import ClosedJaxpr
from ..core.part_types import varying
from ..core.references import OfAval
from ..core.zeros import Zero, zero_of
from ..ops.linear import convert, instantiate


__all__ = ["SymbolicZero", "zero_from_primal"]


def settled_results(outs: Sequence[Any], fun: Any, what: str) -> list[Any]:
    """Results of a rule in the avals of the function itself, where those are known. Raises TypeError where shape or
    dtype differ; `what` names the rule and its function."""
    if not isinstance(fun, ClosedJaxpr):
        return list(outs)
    wanted = fun.out_avals
    if len(outs) != len(wanted):
        raise TypeError(f"{what} gives {len(outs)} results, the function itself {len(wanted)}")
    settled = []
    for x, aval in zip(outs, wanted):
        own = aval_of(x)
        if (own.shape, own.dtype) != (aval.shape, aval.dtype):
            raise TypeError(f"{what} gives {own.short()} where the function itself gives {aval.short()}")
        settled.append(x if own.weak_type == aval.weak_type else convert(x, aval.dtype, aval.weak_type))
    return settled


def called_like(fun: Callable[..., Any], rule: Any) -> Callable[..., Any]:
    """`fun` under the name of the rule it was made from, as jaxprs show it."""
    fun.__qualname__ = getattr(rule, "__qualname__", None) or repr(rule)
    if hasattr(rule, "backward"):
        fun.backward = rule.backward  # pyright: ignore[reportFunctionMemberAccess]
    return fun


def as_zero(x: Any) -> Any:
    """A tangent or cotangent, as Zero if it is of dtype float0."""
    if getattr(x, "dtype", None) == dtypes.float0:
        return Zero(ShapedArray(tuple(x.shape), dtypes.float0))
    return x


class SymbolicZero(OfAval):
    """What a rule gets, with symbolic_zeros, in place of a tangent or cotangent that is zero. It has `aval`, `shape`,
    `dtype`, `ndim` and `size`, and no values."""

    __slots__ = ("aval",)

    def __init__(self, aval: ShapedArray):
        self.aval = aval

    def __repr__(self) -> str:
        return f"SymbolicZero({self.aval.short()})"


def zero_from_primal(val: PyTree, symbolic_zeros: bool = False) -> PyTree:
    """The zero tangent of each array in a tree: zeros of its shape and dtype (float0 for integers), or a `SymbolicZero` that says so."""

    def zero_tangent(x: Any) -> Any:
        zero = zero_of(x)
        return SymbolicZero(zero.aval) if symbolic_zeros else instantiate(zero)

    return tree.map(zero_tangent, val)


def call_rule(rule: Callable[..., Any], *args: Any) -> Any:
    """Run a user's rule. What it computes was written in its lines; what a library's rule computes, where the function
    was called."""
    if source.position_of_function(rule) is None:
        return rule(*args)
    with call_sites.written_here():
        return rule(*args)


def vary_unlike(rule: Callable[..., Any], found: Any, wanted: Any) -> bool:
    """Whether what a user's rule gives varies over other mesh axes than it must. (The library's own rules are not asked.)"""
    return varying(found) != varying(wanted) and source.position_of_function(rule) is not None


def pair_of(out: Any, what: str, parts: str) -> tuple[Any, Any]:
    """The two parts a rule returned. Raises TypeError naming the rule and what the parts are."""
    if not isinstance(out, (tuple, list)) or len(out) != 2:
        raise TypeError(f"{what} must return a pair, {parts}; it returned {_told(out)}")
    return out[0], out[1]


def _told(x: Any) -> str:
    if isinstance(x, (tuple, list)):
        return f"a {type(x).__name__} of {len(x)}"
    aval = getattr(x, "aval", None)
    return aval.short() if aval is not None else repr(x) if x is None else f"a {type(x).__name__}"
