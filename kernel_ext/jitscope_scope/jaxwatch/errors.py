"""An error that ended a trace of jax's: what was traced up to it, found in the frames of its traceback.

Nothing is kept: the tracers in those frames are let go with the frames.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import FrameType, SimpleNamespace
from typing import Any, NamedTuple

from jitscope.core import call_sites, source
from jitscope.core.errors import Unavailable
from jitscope.core.jaxpr import Var
from jitscope.core.source import Position
from jitscope.core.unfinished_traces import LAST, MOST, UnfinishedTrace

from ..annotations import StoppedDocument
from ..observe.stopped import stopped_document
from ..source_code.frames import entries, position_of, value_in
from ..source_code.places import path_at
from . import private
from .library_arguments import renamed
from .retracing import raised_by_jax, remembered
from .translating import Translation, debug_of


class _TraceStop(Exception):
    """Carries what was traced, as an error of the compiler's own does."""

    def __init__(self, unfinished: list[UnfinishedTrace]) -> None:
        super().__init__()
        self.unfinished = unfinished


class _Frame(NamedTuple):
    """A frame of the user's that an error went through."""

    frame: FrameType
    where: Position


def document_of_stop(error: BaseException) -> StoppedDocument | None:
    """The document of an error of jax's that ended a trace (see `observe.stopped_document`); None for other errors."""
    found = _unfinished(error) if private.there() and raised_by_jax(error) else []
    return stopped_document(_TraceStop(found)) if found else None


def keep(error: BaseException) -> None:
    """Keep on an error of jax's what was traced up to it, as on one of the compiler's own."""
    if not private.there():
        return
    again = remembered(error)
    raised = raised_by_jax(error) or (again is not None and again.by_jax)
    found = _unfinished(error) if raised else []
    if found:
        if again is not None:
            last = found[-1]
            found[-1] = last._replace(numbers=again.numbers, again=again, debug=renamed(last.debug, again.names))
        error.unfinished = found  # pyright: ignore[reportAttributeAccessIssue]


def is_tracer(value: Any) -> bool:
    """Whether a value is one that jax traces."""
    return private.there() and isinstance(value, private.module("jax").core.Tracer)


def made_at(tracer: Any) -> Position | None:
    """The user's line that made a value that jax traces, if it is known."""
    return call_sites.user_position(private.made_by(tracer))


def frames_made_at(tracer: Any) -> list[Position]:
    """The user's lines in which a value was made that jax traces, the innermost first."""
    return call_sites.user_frames(private.made_by(tracer))


def is_array(value: Any) -> bool:
    """Whether a value is an array of jax's that has numbers: neither traced nor random keys."""
    jax = private.jax()
    known = jax is not None and isinstance(value, jax.Array) and not isinstance(value, jax.core.Tracer)
    return known and hasattr(value.dtype, "kind")


def is_tree(value: Any) -> bool:
    """Whether a value is no leaf but a node of jax's trees."""
    jax = private.jax()
    return jax is not None and not jax.tree_util.all_leaves([value])


def is_flag(value: Any) -> bool:
    """Whether a value is an argument of a function that jax traces now, a single boolean or integer."""
    if not is_tracer(value):
        return False
    trace, of = private.recorded(value)
    given = trace is not None and any(of is getattr(one, "val", one) for one in trace.invars)
    return given and not value.shape and getattr(value.dtype, "kind", "") in "biu"


def _is_jaxs(error: BaseException) -> bool:
    """Whether an error is of a kind of jax's: these are about one traced value that Python was to know."""
    return type(error).__module__.startswith("jax")


def _unfinished(error: BaseException) -> list[UnfinishedTrace]:
    """The traces that the error ended, the innermost first."""
    found: list[UnfinishedTrace] = []
    met: set[int] = set()
    for one in _frames(error):
        trace = _trace(one.frame)
        if trace is not None and id(trace) not in met:
            met.add(id(trace))
            found.append(_one(trace, one, misused=not found and _is_jaxs(error)))
    return found


def _frames(error: BaseException) -> list[_Frame]:
    """The user's frames, the innermost first."""
    found = [_Frame(one.tb_frame, position_of(one)) for one in entries(error.__traceback__)]
    return [one for one in reversed(found) if source.in_program(one.where.file)]


def _trace(frame: FrameType) -> Any:
    """The trace in which a function runs: that of its arguments, else of other values of its own."""
    code = frame.f_code
    local = frame.f_locals
    names = [*code.co_varnames[: code.co_argcount], *code.co_varnames[code.co_argcount :], *code.co_cellvars]
    for name in names:
        for tracer in _tracers(local.get(name)):
            if (trace := private.recorded(tracer)[0]) is not None:
                return trace
    return None


def _tracers(value: Any, depth: int = 4) -> Iterator[Any]:
    """The tracers in a value, containers and trees included."""
    tracer = private.module("jax").core.Tracer
    if isinstance(value, tracer):
        yield value
    elif depth and isinstance(value, (list, tuple)) and len(value) < 1000:
        for part in value:
            yield from _tracers(part, depth - 1)
    elif depth and isinstance(value, dict) and len(value) < 1000:
        for part in list(value.values()):
            yield from _tracers(part, depth - 1)


def _one(trace: Any, one: _Frame, misused: bool) -> UnfinishedTrace:
    eqns = private.equations(trace)
    left_out = max(0, len(eqns) - LAST) if len(eqns) > MOST else 0
    eqns = eqns[left_out:]
    program = SimpleNamespace(
        constvars=[], invars=list(trace.invars), outvars=[], eqns=eqns, debug_info=trace.debug_info
    )
    translated = Translation(program)
    guilty = _guilty(translated, trace, one, misused)
    jaxpr = translated.jaxpr
    return UnfinishedTrace(
        jaxpr.invars, jaxpr.constvars, jaxpr.eqns, guilty, one.where, debug_of(program), _stopped_here, (), left_out, [], True
    )  # fmt: skip


def _stopped_here(*_: Any) -> None:
    raise Unavailable("this trace was jax's")


def _guilty(translated: Translation, trace: Any, one: _Frame, misused: bool) -> list[Var]:
    """The variables that the failing operation was given: what the line computed last, and the values that it names; of one that
    was misused, what was computed last alone."""
    last = translated.jaxpr.eqns[-1] if translated.jaxpr.eqns else None
    where = call_sites.user_position(last.traceback) if last is not None else None
    found = []
    if last is not None and where is not None and _within(where, one.where):
        found += last.outvars[:1]
        if misused:
            return found
    for node in _named(one.where):
        for tracer in _tracers(value_in(one.frame, node)):
            of, known = private.recorded(tracer)
            var = translated.variables.get(id(known))
            if var is not None and of is trace and var not in found:
                found.append(var)
    return found or (last.outvars[:1] if last is not None else [])


def _within(inner: Position, outer: Position) -> bool:
    """Whether an operation stands in a piece of code: beside it in its line is not inside of it."""
    if inner.file != outer.file:
        return False
    if not (inner.end_column and outer.end_column):
        return outer.line <= inner.line <= outer.end_line
    starts = (outer.line, outer.column) <= (inner.line, inner.column)
    return starts and (inner.end_line, inner.end_column) <= (outer.end_line, outer.end_column)


def _named(where: Position) -> list[ast.AST]:
    """The names, and the attributes of objects, in what a line asked."""
    path = path_at(where)
    if not path:
        return []
    asked = getattr(path[0], "test", getattr(path[0], "iter", path[0]))  # of a statement, what it asked
    return [node for node in ast.walk(asked) if isinstance(node, ast.Name | ast.Attribute)]
