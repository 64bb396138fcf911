"""One program for a whole function under eager derivatives and maps, too.

`jit(grad(f))` and `jit(f)` record a function's equations one by one. But `grad(f)(x)` and `vmap(f)(x)` outside of jit would run
and compile them one by one; here the function is one operation, whose derivative and map are programs as well.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

from .. import tree
from ..control.call import call
from ..core.avals import aval_of
from ..core.config import settings
from ..core.jaxpr import DebugInfo
from ..core.staging import JaxprTrace, trace_to_jaxpr
from ..core.trace import current_trace, evaluating
from ._fused import fused, program_cache


def only_transforming() -> bool:
    """Whether operations end up evaluated, after the transformations under way (and may be compiled together)."""
    if settings().disable_jit:
        return False
    trace = current_trace()
    while (parent := getattr(trace, "parent", None)) is not None:
        trace = parent
    return not isinstance(trace, JaxprTrace)


def compiled(*, static: str = "") -> Callable[[Any], Any]:
    """Decorator: `fused` (see there), and under transformations of what is evaluated one call of a program."""
    names = frozenset(static.split())

    def decorate(fun: FunctionType) -> Callable[..., Any]:
        direct = fused(static=static)(fun)
        code = fun.__code__
        rest = bool(code.co_flags & inspect.CO_VARARGS)
        named_first = [name in names for name in code.co_varnames[: code.co_argcount]]
        programs = program_cache()

        @functools.wraps(fun)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            more = len(args) - len(named_first)
            if evaluating() or (more > 0 and not rest) or not only_transforming():
                return direct(*args, **kwargs)
            fixed = named_first + [False] * more
            still = [x if f else None for x, f in zip(args, fixed)]
            named = {name: x for name, x in kwargs.items() if name in names}
            given = [None if f else x for x, f in zip(args, fixed)], {k: x for k, x in kwargs.items() if k not in names}
            leaves, structure = tree.flatten(given)
            try:
                avals = tuple(aval_of(x) for x in leaves)
                values = tuple((type(x), x) for x in [*still, *named.values()])
                key = (settings(), structure, avals, values, tuple(named))
                found = programs.get(key)
            except TypeError:  # not an array, or a static argument that is not hashable
                return direct(*args, **kwargs)
            if found is None:
                found = programs.again(key) or programs.keep(key, _traced(fun, fixed, still, named, structure, avals))
            closed, out_tree = found
            return out_tree.unflatten(call(closed, leaves, fun.__name__))

        return wrapper

    return decorate


def _traced(fun: Any, fixed: list[bool], still: list[Any], named: dict[str, Any], structure: Any, avals: Any) -> Any:
    """The program of a call, and the structure of its result."""
    trees: list[Any] = []

    def flat(*leaves: Any) -> list[Any]:
        arrays, more = structure.unflatten(leaves)
        out = fun(*[s if f else x for s, f, x in zip(still, fixed, arrays)], **named, **more)
        found, out_tree = tree.flatten(out)
        trees.append(out_tree)
        return found

    return trace_to_jaxpr(flat, avals, DebugInfo(fun.__name__)), trees[0]
