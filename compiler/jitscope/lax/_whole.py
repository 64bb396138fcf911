"""Functions composed of many operations, run as one program where nothing is being traced.

Under `jit` their equations land in the program at hand. Outside, and under eager derivatives and maps, a function is one
nested call, whose program is kept by the avals of its operands.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import tree
from ..backend.evaluate import caches
from ..control.call import call
from ..core.avals import aval_of
from ..core.config import settings
from ..core.jaxpr import DebugInfo
from ..core.recent import Recent
from ..core.staging import JaxprTrace, trace_to_jaxpr
from ..core.trace import current_trace


_MAX_PROGRAMS = 512


def whole(fun: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator: a function of arrays (positional; a tree of them where there are several in one) and of hashable options
    (by keyword), one call outside of any trace that records equations."""
    programs = Recent(_MAX_PROGRAMS)
    caches.append(programs)

    @functools.wraps(fun)
    def wrapper(*args: Any, **options: Any) -> Any:
        if settings().disable_jit or _recording():
            return fun(*args, **options)
        leaves, structure = tree.flatten(args)
        avals = tuple(map(aval_of, leaves))
        key = (settings(), structure, avals, tuple(options.items()))
        found = programs.get(key) or programs.again(key)
        if found is None:
            found = programs.keep(key, _traced(functools.partial(fun, **options), fun.__name__, structure, avals))
        closed, out_tree = found
        return out_tree.unflatten(call(closed, leaves, fun.__name__))

    return wrapper


def _recording() -> bool:
    """Whether the operations of this moment end up in a program under construction."""
    trace = current_trace()
    while (parent := getattr(trace, "parent", None)) is not None:
        trace = parent
    return isinstance(trace, JaxprTrace)


def _traced(fun: Callable[..., Any], name: str, structure: Any, avals: tuple[Any, ...]) -> tuple[Any, Any]:
    trees: list[Any] = []

    def flat(*leaves: Any) -> list[Any]:
        found, out_tree = tree.flatten(fun(*structure.unflatten(leaves)))
        trees.append(out_tree)
        return found

    return trace_to_jaxpr(flat, avals, DebugInfo(name)), trees[0]
