"""What a trace had recorded when an error ended it: kept on the exception, and gone with it.

Nothing is kept while traces succeed. Of the values that the failing operation was given only the variables are kept, no arrays and
no frames.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any

import numpy as np

from ..named_tuple import NamedTuple
from . import source, users_source
from .annotations import JaxprTrace
from .jaxpr import JaxprEqn, Var
from .source import Position
from .stale_operands import remember_stale_operand


MOST, LAST = 3_000, 1_000
"""Equations up to which all are kept; of more, those that lead to the error, and so many that were recorded last."""

DEEPEST = 16
"""So many traces inside one another are kept: deeper than that is endless recursion, and to look at all frames for each of them is slow."""


class UnfinishedTrace(NamedTuple):
    """A trace that an error ended. `guilty` are the variables that the failing operation was given, `where` the user's line that
    failed. `fun` and `avals` are those of `staging.trace_to_jaxpr`, to try again; `left_out` counts equations that are not kept."""

    invars: list[Var]
    constvars: list[Var]
    eqns: list[JaxprEqn]
    guilty: list[Var]
    where: Position | None
    debug: Any
    fun: Callable[..., Any]
    avals: Sequence[Any]
    left_out: int
    reads: list[Any]
    """What the trace took from traces around it; emptied once those have looked."""
    in_library: bool
    """Whether an operation of the library raised the error, and not the user's code."""
    numbers: dict[int, Any] = {}
    """The values of the arguments that are single booleans and integers, and no arrays, by their place."""
    reverse: bool = False
    """Whether it was called to be differentiated in reverse, which no loop can be whose turns are not counted before it runs."""
    again: Callable[..., None] | None = None
    """Traces a function of another library once more (see `jaxwatch.retracing`)."""


def unfinished(error: BaseException) -> list[UnfinishedTrace]:
    """The traces that an error ended, the innermost first."""
    return getattr(error, "unfinished", [])


def keep(
    error: BaseException, trace: JaxprTrace, fun: Callable[..., Any], avals: Sequence[Any], of: Callable[[Any], Any]
) -> None:
    """Keep a trace on the error that ends it; `of` gives the variable of this trace that stands for a value, or None."""
    with suppress(Exception):  # an error on its way must not become another
        inner = unfinished(error)
        if len(inner) == DEEPEST:
            return
        frames = _inside(error)
        guilty, where = _guilty(frames, of)
        if inner:  # the library's frame that has some need not have all that the call was given
            guilty += _guilty([one for one in frames if _is_written(one[0])], of)[0]
        guilty += [v for x in (inner[-1].reads if inner else ()) if (v := of(x)) is not None]
        if not inner:  # later the values of the inner one look stale
            remember_stale_operand(error, _operands(frames))
        if inner:
            inner[-1].reads.clear()
        needed = list(dict.fromkeys(guilty))
        eqns = _kept(trace.eqns, needed)
        captured = list(trace.constants.values())
        one = UnfinishedTrace(
            list(trace.invars), [v for v, _ in captured], eqns, needed, where, trace.debug, fun, avals,
            len(trace.eqns) - len(eqns), [x for _, x in captured if hasattr(x, "tracing")],
            inner[0].in_library if inner else _is_ours(error, frames),
        )  # fmt: skip
        error.unfinished = [*inner, one]  # pyright: ignore[reportAttributeAccessIssue]


def keep_numbers(error: BaseException, leaves: Sequence[Any]) -> None:
    """Keep the values of booleans and integers that the outermost trace was called with, and whether it is differentiated in reverse."""
    traces = unfinished(error)
    if 0 < len(traces) < DEEPEST:
        with suppress(Exception):  # likewise
            numbers = {i: x if isinstance(x, int) else x.item() for i, x in enumerate(leaves) if is_count(x)}
            traces[-1] = traces[-1]._replace(numbers=numbers, reverse=any(map(_is_linearized, leaves)))


def is_count(x: Any) -> bool:
    """Whether a value is a whole number or a truth value of Python's or NumPy's, and no array: those have no hash."""
    return isinstance(x, (int, np.bool_, np.integer))


def _is_linearized(x: Any) -> bool:
    """Whether a value stands for one with a derivative that is taken in reverse, at any depth of transformations."""
    while hasattr(x, "tracing"):
        if getattr(x.tracing, "linear", False):
            return True
        x = x.underlying()
    return False


def is_of_python(aval: Any) -> bool:
    """Whether an argument may be a number of Python's, which can be static, where an array never is: an integer that is weakly typed."""
    return bool(getattr(aval, "weak_type", False)) or getattr(getattr(aval, "dtype", None), "kind", "") == "b"


def _kept(eqns: list[JaxprEqn], needed: list[Var]) -> list[JaxprEqn]:
    if len(eqns) <= MOST:
        return list(eqns)
    wanted, kept = set(needed), []
    for i in range(len(eqns) - 1, -1, -1):
        if i >= len(eqns) - LAST or not wanted.isdisjoint(eqns[i].outvars):
            kept.append(eqns[i])
            wanted.update(v for v in eqns[i].invars if isinstance(v, Var))
    return kept[::-1]


# --- which values the failing operation was given ---------------------------------------------------------------------------------


Frames = list[tuple[FrameType, int]]
"""Frames with the instruction that runs, the innermost first."""


def _inside(error: BaseException) -> Frames:
    """The frames from the innermost to the outermost of the user's function: without those that called it to trace it."""
    frames: Frames = []
    traceback = error.__traceback__
    while traceback is not None:
        frames.append((traceback.tb_frame, traceback.tb_lasti))
        traceback = traceback.tb_next
    while frames and _is_internal(frames[0][0]):
        del frames[0]
    return frames[::-1]


def _is_ours(error: BaseException, frames: Frames) -> bool:
    """Whether the library raised an error. (Where it left a transformation, the library's frames were taken out.)"""
    return type(error).__module__.startswith("jitscope.") or (bool(frames) and _is_internal(frames[0][0]))


def _is_internal(frame: FrameType) -> bool:
    return source.is_internal(frame.f_code.co_filename)


def _is_written(frame: FrameType) -> bool:
    return source.in_program(frame.f_code.co_filename)


def _guilty(frames: Frames, of: Callable[[Any], Any]) -> tuple[list[Var], Position | None]:
    """The variables of a trace that the innermost call with some of them was given, and the user's line around it."""
    for at, (frame, lasti) in enumerate(frames):
        values = _named(frame, lasti) if _is_written(frame) else _arguments(frame)
        found = [v for x in values if (v := of(x)) is not None]
        if found:
            return found, _user(frames[at:])
    return [], _user(frames)


def operands(error: BaseException) -> Iterator[Any]:
    """What the operation of the library was given in which an error arose."""
    return _operands(_inside(error))


def _operands(frames: Frames) -> Iterator[Any]:
    for frame, _ in frames:
        if not _is_internal(frame):
            return
        yield from _arguments(frame)


def _user(frames: Frames) -> Position | None:
    """The innermost line of the user's; of an installed library's, where all are."""
    found = [one for one in frames if not _is_internal(one[0])]
    frame, lasti = next((one for one in found if _is_written(one[0])), found[0] if found else (None, 0))
    return source.position_in(frame.f_code, lasti) if frame is not None else None


def _arguments(frame: FrameType) -> Iterator[Any]:
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    local = frame.f_locals
    for name in code.co_varnames[:count]:
        yield from _parts(local.get(name))


def _named(frame: FrameType, lasti: int) -> Iterator[Any]:
    """The values of the names in the expression that failed in a function of the user's."""
    local = frame.f_locals
    for name in _names(frame.f_code, lasti):
        yield from _parts(local.get(name))


@lru_cache(maxsize=64)  # traces inside one another are asked about the same frames
def _names(code: CodeType, lasti: int) -> list[str]:
    path = users_source.path_at(source.position_in(code, lasti))
    return [node.id for node in ast.walk(path[0]) if isinstance(node, ast.Name)] if path else []


def _parts(x: Any, depth: int = 2) -> Iterator[Any]:
    if isinstance(x, (tuple, list)) and depth and len(x) < 1000:
        for part in x:
            yield from _parts(part, depth - 1)
    elif isinstance(x, dict) and depth and len(x) < 1000:
        yield from _parts(list(x.values()), depth)
    elif isinstance(x, slice):
        yield from _parts((x.start, x.stop, x.step), 1)
    elif x is not None:
        yield x
