"""Asked for one program: a call of a function written for jax, lowered and compiled and not run, and its row in the ledger."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from ..core.errors import Unavailable
from ..core.jaxpr import Jaxpr
from ..observe.ledger import Ledger, Row
from . import private
from .programs import Given
from .translating import Translation
from .watching import attach


class Asked(NamedTuple):
    """The program of a call: its row, what jax gives for it, and the call's arrays (None: those of the row, since a wrapper hands on
    others)."""

    row: Row
    lowered: Any
    compiled: Any
    given: Given | None


_STATIC = (str, bytes, type)


def jitted(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What can lower the function; text, types and functions among the arguments are static where it was not jitted before."""
    if hasattr(function, "lower"):
        return function
    numbers = tuple(i for i, value in enumerate(args) if _is_static(value))
    names = tuple(name for name, value in kwargs.items() if _is_static(value))
    return private.module("jax").jit(functools.partial(function), static_argnums=numbers, static_argnames=names)


def _is_static(value: Any) -> bool:
    return isinstance(value, _STATIC) or (callable(value) and hasattr(value, "__qualname__"))


def ask(ledger: Ledger, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Asked:
    """The program of `function(*args, **kwargs)`, which is not run. Raises what tracing it raises, and Unavailable where jax had the
    program before it was watched and will not compile it again."""
    watcher = attach()
    watcher.mend()
    since = ledger.mark()
    with ledger.looking():
        lowered = _inner(jitted(function, args, kwargs).lower(*args, **kwargs), "lowered")
        compiled = _inner(lowered.compile(), "compiled")
        row = _row_of(ledger, compiled)
        if row is None and getattr(function, "_fun", None) is not None:
            again = private.again(function)
            lowered = again.lower(*args, **kwargs)
            compiled = lowered.compile()
            row = _row_of(ledger, compiled)
    if row is None:
        new = [one for one in ledger.since(since) if one.library and one.entry is not None]
        if not new:
            raise Unavailable(
                f"jax compiled {getattr(function, '__name__', 'the function')} before it was watched: make the function again (run the "
                "cell that defines it), and ask then"
            )
        row = new[-1]
    known = not hasattr(function, "lower") or hasattr(function, "_fun")
    return Asked(row, lowered, compiled, _given(args, kwargs) if known else None)


def _given(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Given:
    """The arrays of a call, to run its program on."""
    return Given(private.module("jax.tree_util").tree_leaves((args, kwargs)))


def _inner(stage: Any, name: str) -> Any:
    """A stage of jax's inside that of another library."""
    for _ in range(3):
        if type(stage).__module__.partition(".")[0] == "jax" or not hasattr(stage, name):
            return stage
        stage = getattr(stage, name)
    return stage


def run_again(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """The leaves of what a call gives with the code that its functions have now, traced and compiled apart from all that jax keeps, on
    copies of the arrays."""
    jax = private.module("jax")
    args, kwargs = jax.tree_util.tree_map(lambda x: x.copy() if isinstance(x, jax.Array) else x, (args, kwargs))
    with attach().looking_away(), private.apart(), private.without_debugging():
        return jax.tree_util.tree_leaves(jitted(function, args, kwargs)(*args, **kwargs))


def _row_of(ledger: Ledger, compiled: Any) -> Row | None:
    try:
        executable = compiled.runtime_executable()
    except Exception:
        return None
    rows = [row for row in ledger if row.library and row.entry is not None]
    return next((row for row in reversed(rows) if row.entry.executable.is_of(executable)), None)


def traced(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Jaxpr, str]:
    """The closed jaxpr of a call as jax has it and as ours, and the function's name. Raises AttributeError where what jitted it
    cannot be traced alone."""
    attach()
    stage = jitted(function, args, kwargs).trace(*args, **kwargs)
    return stage.jaxpr, Translation(stage.jaxpr.jaxpr).jaxpr, str(stage.fun_name)
