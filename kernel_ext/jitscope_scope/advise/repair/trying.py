"""Trying a rewrite: the trace that failed is run once more with the rewritten code in the place of the user's.

The functions of the file get the code of the rewritten text while that trace runs, so that helpers, methods and functions inside
others are tried as they are called; nothing is compiled or run. Code that does something a second trace would repeat is not tried.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from types import FunctionType
from typing import Any

from jitscope.core import source
from jitscope.core.jaxpr import Var
from jitscope.core.source import Position
from jitscope.core.staging import trace_to_jaxpr
from jitscope.core.unfinished_traces import UnfinishedTrace, is_of_python, unfinished

from ... import jaxwatch
from ...source_code.edits import applied
from ...source_code.frames import entries
from ...source_code.names import imported
from ...source_code.places import path_at, path_in
from ...source_code.text import Code
from ..code.trial import holding, runs_elsewhere, silence, with_code_of
from ..diagnostic import Fix
from .candidates import Candidate, candidates
from .side_effects import acts
from .static import HELPED, as_static


MOST = 3
_TRIED = "It was traced with this change."
_FURTHER = " (No whole fix: with this change the trace gets past this line, and stops later, in line {}.)"
_SHAPES = (
    "Give both branches one shape: theirs differ, and which one is taken is not known. Neither lax.cond nor jnp.where can give now one, now the "
    "other."
)
_TAKES_SHAPE = "a number takes the shape of the array that it is chosen beside"
_UNTRIED = " (Not checked: a second trace would repeat what the code does besides computing.)"


def repairs(error: BaseException, known: str, where: Position) -> list[Fix]:
    """Up to three rewrites for an error that ended a trace in a line of the user's, `where`, at the sharp bit `known`. Those that
    could be tried and failed are left out; `Fix.checked` tells how each was proved."""
    traces = unfinished(error)
    text = source.code_of(where.file)
    if not traces or not text:
        return []
    try:
        path = path_at(where)
        functions = holding(path, where)
        given = functions[0].__globals__ if functions else {}
        code = Code(text, where.file, known=imported(given))
    except (SyntaxError, ValueError, RecursionError):
        return []
    found: list[Fix] = []
    own = path_in(code.tree, where)
    quiet = not _does_more(code, own, traces)
    if traces[-1].again is not None:
        code.names.library = "jax"
    values = {**given, **_locals(error, where)}
    with jaxwatch.unwatched():
        in_while = any(isinstance(one, ast.While) for one in path[:2])
        made = list(_static(known, code, traces[-1], quiet, in_while))
        for one in candidates(known, code, own, values) if functions else ():
            if traces[-1].reverse and one.counts_no_turns:
                continue
            said = _try(one, code, functions, traces[-1], where) if quiet else _UNTRIED
            if said == _TRIED and one.of_one_shape:
                alike = one._replace(edits=one.of_one_shape)
                if _try(alike, code, functions, traces[-1], where) != _TRIED:
                    if not one.of_numbers:
                        found.append(Fix(code.names.own(_SHAPES), tried=True))
                        continue
                    one = one._replace(differs=_TAKES_SHAPE)
            if said == _TRIED and one.differs:
                found.append(
                    Fix(
                        f"{one.text} (Not checked: it can be traced, and may give other values: {one.differs}.)",
                        one.edits,
                    )
                )
            elif said == _TRIED:
                found.append(Fix(one.text, one.edits, said))
            elif said and not (quiet and one.hands_on):
                found.append(Fix(one.text + said, one.edits))
    both = [*made, *found] if known in ("flag-arg-traced", "traced-shape-arg") else [*found, *made]
    return both[:MOST]


def _static(known: str, code: Code, trace: UnfinishedTrace, quiet: bool, in_while: bool) -> Iterator[Fix]:
    """The arguments that the failing operation was given, or was given something computed of, as static ones; where the trace then stops
    at others, these as well, and none that it does without. What the test of a `while` is computed of is no count."""
    if known not in HELPED or trace.debug.defined is None:
        return
    places = _numbers_among(trace, trace.guilty if in_while else _with_what_made(trace), [], trace)
    while quiet and len(places) <= _MOST_STATIC and (error := _traced_with(trace, places)) is not None:
        later = unfinished(error)[-1:]
        more = [at for each in later for at in _numbers_among(each, _with_what_made(each), places, trace)]
        if not more:
            return
        places = sorted([*places, *more])
    for at in places if quiet and 1 < len(places) <= _MOST_STATIC else ():
        fewer = [other for other in places if other != at]
        places = fewer if _traced_with(trace, fewer) is None else places
    if not places or len(places) > (_MOST_STATIC if quiet else 1):
        return
    if one := as_static(code, [trace.debug.arg_names[at] for at in places], trace.debug.defined):
        yield Fix(one.text, one.edits, _TRIED) if quiet else Fix(one.text + _UNTRIED, one.edits)


_MOST_STATIC = 4
"""Arguments that are made static together at most."""


def _numbers_among(
    trace: UnfinishedTrace, asked: Sequence[Var], given: Sequence[int], first: UnfinishedTrace
) -> list[int]:
    """The places of the arguments among these variables that are numbers of Python's and have names. `given`: those of the `first` trace
    that this one did not get."""
    left = [at for at in range(len(first.invars)) if at not in given]
    places = [left[trace.invars.index(one)] for one in asked if one in trace.invars]
    names = first.debug.arg_names
    return [
        at
        for at in dict.fromkeys(places)
        if at in first.numbers and at < len(names) and names[at].isidentifier() and is_of_python(first.invars[at].aval)
    ]


def _traced_with(trace: UnfinishedTrace, places: Sequence[int]) -> Exception | None:
    """Trace once more with the values of the arguments at these places, for what it raises: the user's code meets values that were tracers."""
    values = {at: trace.numbers[at] for at in places}

    def fun(*others: Any) -> Any:
        rest = iter(others)
        return trace.fun(*(values[at] if at in values else next(rest) for at in range(len(trace.avals))))

    try:
        with silence():
            if trace.again is not None:
                trace.again(values)
            else:
                trace_to_jaxpr(fun, [aval for at, aval in enumerate(trace.avals) if at not in values], trace.debug)
    except Exception as error:
        if trace.again is not None:
            jaxwatch.keep(error)
        return error
    return None


def _with_what_made(trace: UnfinishedTrace) -> list[Var]:
    """The variables that the failing operation was given, and all that they were computed of."""
    found = dict.fromkeys(trace.guilty)
    for eqn in reversed(trace.eqns):
        if not found.keys().isdisjoint(eqn.outvars):
            found |= dict.fromkeys(one for one in eqn.invars if isinstance(one, Var))
    return list(found)


# --- trying ---------------------------------------------------------------------------------------------------------------------


def _try(one: Candidate, code: Code, functions: Sequence[FunctionType], trace: UnfinishedTrace, where: Position) -> str:
    """`_TRIED`, or how far the trace went; "" if it failed."""
    text = applied(code.text, one.edits)
    try:
        with with_code_of(functions, text, code.file) as able:
            if not able:
                return ""
            if trace.again is not None:
                trace.again({})
            else:
                trace_to_jaxpr(trace.fun, trace.avals, trace.debug)
            return _TRIED
    except Exception as error:
        return _later(error, one, where)


def _later(error: Exception, one: Candidate, where: Position) -> str:
    """Whether the trace went on beyond the rewritten lines before it failed."""
    lines = [one.tb_lineno for one in entries(error.__traceback__) if one.tb_frame.f_code.co_filename == where.file]
    edit = one.edits[0]
    grown = edit.text.count("\n") - (edit.span.end_line - edit.span.line)
    last = edit.span.end_line + grown
    return _FURTHER.format(lines[-1] - grown) if lines and lines[-1] > last else ""


def _locals(error: BaseException, where: Position) -> Mapping[str, Any]:
    """The names of the function that was at a position when the error arose, and their values."""
    for one in entries(error.__traceback__):
        if (one.tb_frame.f_code.co_filename, one.tb_lineno) == (where.file, where.line):
            return one.tb_frame.f_locals
    return {}


def _does_more(code: Code, path: list[ast.AST], traces: Sequence[UnfinishedTrace]) -> bool:
    """Whether the code does something besides computing that a second trace would repeat, or other threads run it now."""
    if any(eqn.effects for trace in traces for eqn in trace.eqns):
        return True
    defined = [trace.debug.defined for trace in traces if trace.debug.defined is not None]
    return acts(code, path, defined) or runs_elsewhere(code.file)
