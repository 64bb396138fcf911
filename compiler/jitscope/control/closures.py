"""custom_gradient, and closures made explicit: what rules of their own need from the values a function captures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar, overload

from .. import tree
from ..core import dtypes, source
from ..core.annotations import PyTree
from ..core.avals import aval_of, tangent_aval
from ..core.jaxpr import DebugInfo, Jaxpr
from ..core.staging import eval_jaxpr, trace_to_jaxpr
from ..core.trace import Tracer
from ..core.wrapping import wraps
from .bodies import check_leaves, flattened, name_of
from .custom_vjp import custom_vjp
from .rule_values import pair_of


P = ParamSpec("P")
S = TypeVar("S")


__all__ = ["closure_convert", "custom_gradient"]


@overload
def custom_gradient(fun: Callable[P, tuple[S, Any]]) -> custom_vjp[P, S]: ...
@overload
def custom_gradient(fun: None = None) -> Callable[[Callable[P, tuple[S, Any]]], custom_vjp[P, S]]: ...
def custom_gradient(fun: Callable[..., Any] | None = None) -> Any:
    """Decorator: `fun` returns (result, pullback), where `pullback(cotangent)` gives a tuple with the cotangent of each
    argument (of one argument, also the cotangent itself). The pullback may capture what fun computed; it is traced.

    Also `@custom_gradient()`. Raises TypeError where fun or the pullback returns something else.
    """
    if fun is None:
        return custom_gradient

    def run(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        parts = "the result and a function from its cotangent to those of the arguments"
        out, pullback = pair_of(fun(*args, **kwargs), f"the custom_gradient function {name_of(fun)}", parts)
        if not callable(pullback):
            raise TypeError(
                f"the custom_gradient function {name_of(fun)} must return {parts}; the second it returned is a "
                f"{type(pullback).__name__}"
            )
        return out, pullback

    @wraps(fun)
    def result_alone(*args: Any, **kwargs: Any) -> Any:
        return run(*args, **kwargs)[0]

    @wraps(fun)
    def forward(*args: Any, **kwargs: Any) -> tuple[Any, _Pullback]:
        out, pullback = run(*args, **kwargs)
        return out, _Pullback.of(pullback, out)

    def backward(residuals: _Pullback, cotangent: Any) -> Any:
        return residuals(cotangent)

    wrapped = custom_vjp(result_alone)
    wrapped.defvjp(forward, backward)
    return wrapped


@tree.register_pytree_node_class
class _Pullback:
    """A traced pullback; its leaves are the values it captured."""

    def __init__(self, consts: Sequence[Any], jaxpr: Jaxpr, in_tree: Any):
        self.consts, self.jaxpr, self.in_tree = consts, jaxpr, in_tree

    @classmethod
    def of(cls, pullback: Callable[[Any], Any], out: Any) -> _Pullback:
        leaves, out_tree = tree.flatten(out)
        trees: list[Any] = []

        def flat(*cts: Any) -> list[Any]:
            given = pullback(out_tree.unflatten(cts))
            found, in_tree = tree.flatten(given, lambda x: x is None)
            check_leaves([x for x in found if x is not None], given, f"{name_of(pullback)} returned, at result")
            trees.append((in_tree, [x is None for x in found]))
            return [x for x in found if x is not None]

        debug = DebugInfo(name_of(pullback), defined=source.position_of_function(pullback))
        closed = trace_to_jaxpr(flat, [tangent_aval(aval_of(x)) for x in leaves], debug)
        return cls(closed.consts, closed.jaxpr, trees[0])

    def __call__(self, cotangent: Any) -> Any:
        in_tree, missing = self.in_tree
        found = iter(eval_jaxpr(self.jaxpr, self.consts, *tree.leaves(cotangent)))
        cts = in_tree.unflatten([None if m else next(found) for m in missing])
        return cts if isinstance(cts, (tuple, list)) else (cts,)

    def tree_flatten(self) -> tuple[Sequence[Any], Any]:
        return self.consts, (self.jaxpr, self.in_tree)

    @classmethod
    def tree_unflatten(cls, data: Any, consts: Sequence[Any]) -> _Pullback:
        return cls(consts, *data)


def closure_convert(fun: Callable[..., Any], *example_args: PyTree) -> tuple[Callable[..., Any], list[Any]]:
    """`fun` with the values it captures that may have a derivative as further arguments, and those values.

    `example_args` say what its own arguments are like; the new function takes such arguments, then the values. So a
    function with rules of its own can take a function: it passes the values on as its arguments. Values are hoisted if
    they are traced floats or complex numbers; others stay captured. The new function raises TypeError for arguments of
    another structure.
    """
    leaves, in_tree = tree.flatten(example_args)
    flat, trees = flattened(fun, in_tree)
    avals = check_leaves(leaves, example_args, "closure_convert was called with, at example arguments")
    closed = trace_to_jaxpr(flat, avals, DebugInfo(name_of(fun), defined=source.position_of_function(fun)))
    hoisted = [isinstance(c, Tracer) and dtypes.is_inexact(aval_of(c).dtype) for c in closed.consts]
    kept = [None if h else c for c, h in zip(closed.consts, hoisted)]
    values = [c for c, h in zip(closed.consts, hoisted) if h]

    def converted(*args: Any) -> Any:
        count = len(args) - len(values)
        given, own_tree = tree.flatten(tuple(args[:count]))
        if count < 0 or own_tree != in_tree:
            raise TypeError(
                f"{name_of(fun)}, converted by closure_convert, takes arguments of structure {in_tree} and then the "
                f"{len(values)} values it captured; it got {tree.structure(args)}"
            )
        hoisted_values = iter(args[count:])
        consts = [next(hoisted_values) if h else c for c, h in zip(kept, hoisted)]
        return trees[0].unflatten(eval_jaxpr(closed.jaxpr, consts, *given))

    converted.__name__ = name_of(fun)
    return converted, values
