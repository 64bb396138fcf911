"""Looking at programs without running them: make_jaxpr, eval_shape."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import tree
from ..backend.stages import struct_of
from ..backend.static import StaticSpec
from ..core.avals import aval_of
from ..core.jaxpr import ClosedJaxpr, DebugInfo
from ..core.staging import trace_to_jaxpr
from ._flat import name_of


def make_jaxpr(fun: Callable[..., Any], static_argnums: Any = (), return_shape: bool = False) -> Callable[..., Any]:
    """The function that gives the jaxpr of `fun` for its arguments (arrays or ShapeDtypeStructs); nothing is run.

    With `return_shape`, (jaxpr, shapes and dtypes of the result).
    """
    spec = StaticSpec(fun, static_argnums)

    @functools.wraps(fun)
    def jaxpr_of(*args: Any, **kwargs: Any) -> Any:
        dynamic, statics = spec.bind(args, kwargs, False)
        leaves, in_tree = tree.flatten(dynamic)
        out_trees: list[Any] = []

        def flat_fun(*tracers: Any) -> list[Any]:
            positional, named = statics.merge(in_tree.unflatten(tracers))
            outs, out_tree = tree.flatten(fun(*positional, **named))
            out_trees.append(out_tree)
            return outs

        debug = DebugInfo(name_of(fun), tuple(spec.leaf_names(dynamic, statics)))
        closed: ClosedJaxpr = trace_to_jaxpr(flat_fun, [aval_of(x) for x in leaves], debug)
        if return_shape:
            return closed, out_trees[0].unflatten([struct_of(a) for a in closed.out_avals])
        return closed

    return jaxpr_of


def eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Shapes and dtypes of `fun(*args, **kwargs)`, as ShapeDtypeStructs; nothing is computed."""
    return make_jaxpr(fun, return_shape=True)(*args, **kwargs)[1]
