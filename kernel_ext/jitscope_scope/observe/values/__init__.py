"""The values of a program on its real arguments: `evaluation` (equation by equation), `summary` (what is said of an array),
`document` (all of it as plain data)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from jitscope.backend.array import Array, to_array
from jitscope.backend.call_arguments import CallArguments
from jitscope.control.callbacks import calls_python
from jitscope.control.discharge import uses_refs
from jitscope.core.errors import Unavailable
from jitscope.core.jaxpr import ClosedJaxpr, Var, backward_slice, count, walk

from ...annotations import ValuesDocument
from ..graph import result_names
from ..ledger import Row
from ..positions import positions_of
from .constants import written
from .difference import said
from .document import SMALL, Values
from .evaluation import Evaluation, EvaluationStop, place_of
from .summary import numbers


__all__ = ["Evaluable", "instrument"]

SECONDS, MEMORY = 60.0, 4e9


def instrument(
    row: Row,
    given: CallArguments | None = None,
    path: str | None = None,
    result: int = 0,
    iteration: int | None = None,
    callbacks: bool = False,
    seconds: float = SECONDS,
) -> ValuesDocument:
    """The values document: the program is run equation by equation. With the `path` of an equation (or of an input), a document with a
    closer look at its `result` alone, in loops in that `iteration` of the innermost one. Raises Unavailable
    where the program or its arguments are gone, and where it calls Python functions (unless `callbacks`), has effects or
    references: it is not run again then."""
    program = (
        row.entry.evaluable(row, given, callbacks) if row.library and row.entry else _program(row, given, callbacks)
    )
    closed, arrays = program.closed, program.arrays
    evaluation = program.evaluation(seconds, MEMORY, iteration)
    constants = set(written(closed.jaxpr, evaluation.called))
    values = Values(closed, count(closed.jaxpr) <= SMALL, program.kind, constants)
    if path is not None:
        values.asked, values.iteration = (path, int(result)), iteration
    evaluation.followers.append(values)
    start = time.perf_counter()
    remarks, outs = [], None
    try:
        outs = evaluation.program(closed, arrays, _needed(closed, path))
    except EvaluationStop as stopped:
        remarks.append(f"The evaluation {stopped}; later values are missing.")
    if path is not None and values.asked not in values.details:
        raise Unavailable(
            f"{path} was not evaluated: it is in a branch that was not taken, or in an iteration that the loop did not make"
        )
    equations = dict(walk(closed.jaxpr)) if evaluation.rows else {}
    remarks += [_of_rows(place_of(equations[at], at), ran, needed) for at, (ran, needed) in evaluation.rows.items()]
    for why in dict.fromkeys(evaluation.whole_at.values()):
        places = ", ".join(path for path, one in evaluation.whole_at.items() if one == why)
        remarks.append(f"The inside of {places} is run as a whole: {why} is not listed.")
    differs = _difference(row, program, outs) if outs and path is None else ""
    spent = time.perf_counter() - start
    positions = positions_of(closed.jaxpr, row.cell_of)
    document = values.document(row.title, positions, list(evaluation.loops.values()), remarks, spent, differs, outs)
    return document if path is None else {**document, "rows": [], "lines": [], "first_bad": None}


def _of_rows(where: str, ran: int, needed: np.ndarray) -> str:
    """How many iterations of a loop that `vmap` mapped were needed, and how many ran."""
    rows, least, most = needed.size, int(needed.min(initial=ran)), int(needed.max(initial=0))
    each = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    return (
        f"The loop {where} ran {ran:,} {'iteration' if ran == 1 else 'iterations'} for each of its {rows:,} rows, until the last was done; the rows "
        f"needed {each}, {int(needed.sum()):,} of the {ran * rows:,} that were computed."
    )


class Evaluable(NamedTuple):
    """A program that can be evaluated: with its arguments, what evaluates it, what tells the type of a value, and what makes an array
    of a result of its compiled program, like one that was evaluated. `compiled` gives values of variables of the outermost program,
    computed by one compiled program; None where there is no such way."""

    closed: ClosedJaxpr
    arrays: list[Any]
    evaluation: Callable[..., Evaluation] = Evaluation
    kind: Callable[[Any], str] | None = None
    like: Callable[[Any, Any], Any] = lambda buf, out: Array(buf, to_array(out).aval)
    compiled: Callable[[Sequence[Var]], list[Any]] | None = None


def _program(row: Row, given: CallArguments | None, callbacks: bool) -> Evaluable:
    closed = row.needed("closed")
    if uses_refs(closed.jaxpr):
        raise Unavailable(
            f"{row.function} takes or captures references, which a second run would change: it is not run again"
        )
    if calls_python(closed.jaxpr) and not callbacks:
        raise Unavailable(f"{row.function} calls Python functions, which may have effects: it is not run again")
    if closed.effects and not callbacks:
        raise Unavailable(f"{row.function} has effects: it is not run again")
    given = given or row.given
    arrays = given.arrays() if given is not None else None
    if arrays is None:
        raise Unavailable(
            f"the arguments of the call of {row.function} are gone: ask with others, by %values f(x) or inspect(f)(x).values"
        )
    placed = arrays if row.takes is None else row.takes.placed(arrays)
    return Evaluable(closed, [Array(a.buf, v.aval) for a, v in zip(placed, closed.jaxpr.invars, strict=True)])


def _needed(closed: ClosedJaxpr, path: str | None) -> list[int] | None:
    """The equations, at the top, that the value of a path needs."""
    if path is None:
        return None
    top = path.split("/")[0]
    if not top.startswith("e") or not top[1:].isdigit() or int(top[1:]) >= len(closed.eqns):
        return []
    return backward_slice(closed.jaxpr, {int(top[1:])})


def _difference(row: Row, program: Evaluable, outs: Sequence[Any]) -> str:
    """How the results differ from those of the compiled program."""
    entry, takes = row.entry, row.takes
    buffers = takes.buffers(program.arrays) if entry is not None and takes is not None else None
    if entry is None or buffers is None:
        return "The results were not compared with the compiled program's: it is no longer there."
    compiled = [numbers(program.like(buf, out)) for buf, out in zip(entry.executable.run(buffers), outs)]
    pairs = {
        at: (a, b)
        for at, (a, out) in enumerate(zip(compiled, outs))
        if a is not None and (b := numbers(out)) is not None and a.shape == b.shape
    }
    if len(pairs) < sum(numbers(out) is not None for out in outs):
        return "The results were not compared with the compiled program's, which lie in parts on several devices."
    if all(a.tobytes() == b.tobytes() for a, b in pairs.values()):
        return "The results are those of the compiled program, bit by bit."
    return said(list(result_names(program.closed.jaxpr)), pairs)
