"""A user's call as it is written: of what wraps a jitted function the executable is only a part."""

from __future__ import annotations

import copy
import functools
import sys
import time
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import jitscope
from jitscope.backend.dispatch import JitFunction
from jitscope.backend.function_objects import function_object
from jitscope.core.words import counted, duration
from jitscope_scope import jaxwatch, observe
from jitscope_scope.observe import made_by
from jitscope_scope.observe.ledger import Row

from .eager_runs import EagerRuns


_SECONDS, _MOST_CALLS, _DEEPEST = 0.5, 100, 3
_NEARLY_ALL = 0.95
"""A share that repeated measurements do not tell from all of it."""


def sentence(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], row: Row, steady: float) -> str:
    """`fe as it is called takes 207 µs (median of 100 calls): 20 µs of that is the executable, the rest …` for what wraps a jitted
    function; "" for others, and where the call cannot be made again: its arguments are donated, have no copies, or it raises. Of what a
    transformation gave for a function that is not jitted, which would run operation by operation, only that is said.

    `row` is the program that was measured, `steady` what it takes. The function is called on copies of the arguments, and what it
    assigns to attributes of its object is set back."""
    transformed = made_by.of_wrappers(function_object(function).wrappers[:1], None) and not is_jitted(function)
    if not wraps_jitted(function):
        return f"This is {row.title} as jit makes it. {_OUTSIDE}" if transformed else ""
    if row.takes is not None and row.takes.donated:
        return ""
    state = [(one, dict(vars(one))) for one in _objects(function)]
    try:
        with jaxwatch.unwatched():  # a copy of an array is a program
            args, kwargs = copy.deepcopy((args, kwargs), {id(one): one for one in _wrapped((args, kwargs))})
        call = functools.partial(_waited, function, args, kwargs, _waiter(row))
        with observe.ledger().looking():
            call()
            programs, operations = _ran(call, row)
            seconds = _timed(call)
    except Exception:  # of the user's code, or what has no copy
        return ""
    finally:
        for one, held in state:
            vars(one).clear()
            vars(one).update(held)
    if not programs and not transformed:
        return ""
    took = f"{row.title if transformed else _name(function)} as it is called takes {duration(seconds)} (median of calls on copies of the arguments)"
    if programs == 1 and not operations and not transformed:
        if steady > seconds / _NEARLY_ALL:  # beside other work, and not both alike
            return f"{took}, less than its executable by itself ({duration(steady)}): the machine was not equally free for both."
        if steady > _NEARLY_ALL * seconds:
            return f"{took}: nearly all of that is the executable."
        return f"{took}: {duration(steady)} of that is the executable, the rest is Python and the way to it."
    if transformed:
        return f"{took}. {_OUTSIDE} The executable of the whole as one program takes {duration(steady)}."
    inside = counted(programs, "call") + " of compiled functions"
    inside += f" and {counted(operations, 'operation')} outside jit" if operations else ""
    return f"{took}: it makes {inside}; the executable of the whole as one program takes {duration(steady)}."


_OUTSIDE = (
    "It is called outside jit here, where each operation, and each compiled function, runs as a program of its own."
)


def wraps_jitted(function: Any, depth: int = _DEEPEST) -> bool:
    """Whether a function is none that jit gave, but holds one: a partial, an object with `__call__`, a decorator's function, another
    library's jit."""
    if is_jitted(function):
        return _of_another_library(function)
    return any(is_jitted(one) or (depth > 0 and wraps_jitted(one, depth - 1)) for one in _held(function))


def is_jitted(x: Any) -> bool:
    """Whether jit, of jitscope, jax or another library, gave this."""
    return isinstance(x, JitFunction) or (callable(x) and not isinstance(x, type) and hasattr(x, "lower"))


def _of_another_library(function: Any) -> bool:
    return not isinstance(function, JitFunction) and not type(function).__module__.startswith("jax")


def _held(function: Any) -> Iterator[Any]:
    """What a function calls in the end, as far as its parts show."""
    if isinstance(function, functools.partial):
        yield function.func
    elif isinstance(function, types.MethodType):
        yield function.__func__
        yield from _values(function.__self__)
    elif isinstance(function, types.FunctionType):
        if (inner := getattr(function, "__wrapped__", None)) is not None:
            yield inner
        yield from (cell.cell_contents for cell in function.__closure__ or () if cell != types.CellType())
    elif callable(function) and not isinstance(function, (type, types.BuiltinFunctionType)):
        yield from _values(function)
        yield type(function).__call__


def _values(one: Any) -> Iterator[Any]:
    yield from (x for x in getattr(one, "__dict__", {}).values() if callable(x))


def _objects(function: Any) -> list[Any]:
    """The user's objects whose method or `__call__` a call is."""
    one = function.__self__ if isinstance(function, types.MethodType) else function
    plain = isinstance(one, (types.FunctionType, functools.partial)) or is_jitted(one)
    return [one] if not plain and isinstance(getattr(one, "__dict__", None), dict) else []


def _wrapped(x: Any, seen: set[int] | None = None) -> Iterator[Any]:
    """What is called inside of arguments and wraps a function, such as `jax.nn.relu` in a model: a copy of it would be another function,
    and the program with it another program."""
    seen = set() if seen is None else seen
    if id(x) in seen or isinstance(x, type | types.ModuleType):
        return
    seen.add(id(x))
    if callable(x) and hasattr(x, "__wrapped__"):
        yield x
        return
    inside = x.values() if isinstance(x, dict) else x if isinstance(x, (list, tuple)) else ()
    for one in (*inside, *getattr(x, "__dict__", {}).values()):
        yield from _wrapped(one, seen)


def _name(function: Any) -> str:
    if isinstance(function, functools.partial):
        return f"partial({_name(function.func)}, …)"
    return getattr(function, "__name__", None) or type(function).__name__


def _waited(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], wait: Callable[[Any], Any]) -> None:
    wait(function(*args, **kwargs))


def _waiter(row: Row) -> Callable[[Any], Any]:
    return sys.modules["jax"].block_until_ready if row.library else jitscope.block_until_ready


def _ran(call: Callable[[], None], row: Row) -> tuple[int, int]:
    """How many calls of compiled functions a call makes, and how many operations outside jit."""
    ledger = observe.ledger()
    mark, eager = ledger.mark(), EagerRuns(ledger)
    calls = jaxwatch.Calls(eager.ran) if row.library else None
    if calls is not None and not calls.begin():
        return 0, 0
    eager.begin()
    try:
        call()
    finally:
        eager.end()
        made = calls.end() if calls is not None else ledger.called_since(mark)
    return sum(made.values()), sum(eager.lines.values())


def _timed(call: Callable[[], None]) -> float:
    found: list[float] = []
    deadline = time.perf_counter() + _SECONDS
    while not found or (len(found) < _MOST_CALLS and time.perf_counter() < deadline):
        begun = time.perf_counter()
        call()
        found.append(time.perf_counter() - begun)
    return float(np.median(found))
