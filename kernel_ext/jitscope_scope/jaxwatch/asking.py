"""Asked for one program: a call of a function written for jax, lowered and compiled and not run, and its row in the ledger."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from jitscope.core.errors import Unavailable
from jitscope.core.jaxpr import Jaxpr

from .. import asked_calls
from ..observe.ledger import Ledger, Row
from . import private
from .programs import CallArguments
from .translating import Translation
from .watching import attach, unwatched


class ProgramOfCall(NamedTuple):
    """The program of a call: its row, what jax gives for it, and the arrays that it is given (None: those of the row); what was lowered,
    which keeps alive what it captured."""

    row: Row
    lowered: Any
    compiled: Any
    given: CallArguments | None
    jitted: Any


def _by(use: Callable[..., Any], function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What `use` gives for what can lower the function, and the arguments. One that was not jitted is jitted as a function of its arrays
    (`asked_calls`); integers are no data where it cannot be traced for any."""
    if hasattr(function, "lower"):
        return use(function, *args, **kwargs)
    if hasattr(function, "runtime_executable"):
        raise Unavailable("it is compiled already: ask for the function that was lowered, %hlo f(x) or inspect(f)(x)")
    for kinds in ((), (int,)):
        asked = asked_calls.of_arrays(function, args, kwargs, private.module("jax").tree, kinds)
        called: Any = functools.partial(asked.function)
        called.__name__ = asked_calls.name_of(asked.function)
        try:
            return use(private.module("jax").jit(called), *asked.args, **asked.kwargs)
        except (TypeError, IndexError):
            if kinds or not any(isinstance(leaf, int) for leaf in private.module("jax").tree.leaves((args, kwargs))):
                raise


def with_options(asked: ProgramOfCall, options: dict[str, Any]) -> Callable[..., Any]:
    """The function of a program, jitted anew with options for XLA. Raises Unavailable where another library than jax jitted it."""
    if getattr(asked.jitted, "_jit_info", None) is None:
        raise Unavailable(
            "it is jitted by another library than jax: which compiler_options that hands on to XLA is not known here"
        )
    return private.again(asked.jitted, compiler_options=options)


def ask(ledger: Ledger, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> ProgramOfCall:
    """The program of `function(*args, **kwargs)`, which is not run. Raises what tracing it raises, and Unavailable where jax had the
    program before it was watched and will not compile it again."""
    watcher = attach()
    watcher.mend()
    since = ledger.mark()
    with ledger.looking():
        with private.handed_on() as leaves:
            jitted, lowered = _by(lambda f, /, *args, **kwargs: (f, f.lower(*args, **kwargs)), function, args, kwargs)
        lowered = _inner(lowered, "lowered")
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
    return ProgramOfCall(row, lowered, compiled, CallArguments(leaves) if leaves else None, jitted)


def _inner(stage: Any, name: str) -> Any:
    """A stage of jax's inside that of another library."""
    for _ in range(3):
        if type(stage).__module__.partition(".")[0] == "jax" or not hasattr(stage, name):
            return stage
        stage = getattr(stage, name)
    return stage


def may_change_objects(function: Callable[..., Any]) -> bool:
    """Whether a call may change objects of the user's: one of a function that another library than jax jitted."""
    return hasattr(function, "lower") and not hasattr(function, "_fun")


def run_again(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """The leaves of what a call gives with the code that its functions have now, traced and compiled apart from all that jax keeps, on
    copies of the arrays."""
    jax = private.module("jax")
    args, kwargs = jax.tree_util.tree_map(lambda x: x.copy() if isinstance(x, jax.Array) else x, (args, kwargs))
    with attach().looking_away(), private.apart(), private.without_debugging():
        return jax.tree_util.tree_leaves(_by(lambda f, /, *args, **kwargs: f(*args, **kwargs), function, args, kwargs))


def _row_of(ledger: Ledger, compiled: Any) -> Row | None:
    try:
        executable = compiled.runtime_executable()
    except Exception:  # not every compiled stage of jax's has one
        return None
    rows = [row for row in ledger if row.library and row.entry is not None]
    return next((row for row in reversed(rows) if row.entry.executable.is_of(executable)), None)


def trace_call(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Jaxpr, str]:
    """The closed jaxpr of a call as jax has it and as ours, and the function's name. Raises Unavailable where what jitted it cannot be
    traced alone."""
    attach()
    if hasattr(function, "lower") and not hasattr(function, "trace"):
        raise Unavailable(f"{getattr(function, '__name__', 'the function')} is jitted by a library that only lowers")
    stage = _by(lambda f, /, *args, **kwargs: f.trace(*args, **kwargs), function, args, kwargs)
    return stage.jaxpr, Translation(stage.jaxpr.jaxpr).jaxpr, str(stage.fun_name)


def trace_anew(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Trace a call as if it were the first: its Python code runs, on tracers. Of functions that are called inside and were traced before,
    jax has the trace already. Nothing of it is filed. Raises what tracing raises."""
    python = getattr(function, "__wrapped__", function) if hasattr(function, "lower") else function
    with unwatched():
        _by(lambda f, /, *args, **kwargs: getattr(f, "trace", f.lower)(*args, **kwargs), python, args, kwargs)
