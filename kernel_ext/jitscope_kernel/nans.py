"""`jitscope.find_nan(f)(x)`: where the first NaN of a call comes from, as an object that shows itself."""

from __future__ import annotations

import ast
import functools
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

import jitscope
from jitscope import jaxwatch, observe, tree
from jitscope.advise import nans
from jitscope.advise.code.ipython import python_of
from jitscope.advise.nans import by_parts
from jitscope.backend.dispatch import JitFunction
from jitscope.backend.hunt import HasCallbacks, nans as no_nans
from jitscope.backend.signature import message_of
from jitscope.backend.tracing import Arguments
from jitscope.backend.watching import is_bad
from jitscope.core import config, notices
from jitscope.core.errors import explained
from jitscope.core.trace import Tracer

from . import output
from .inspection import Shown
from .uses import call_is_for_jax


class NanHunt(Shown):
    """What was found. Arguments are not donated; the function's Python code is traced, not run with values."""

    def __init__(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], callbacks: bool = False
    ):
        if call_is_for_jax(function, args, kwargs):
            asked = jaxwatch.ask(observe.ledger(), function, args, kwargs)
            plain = asked.given is not None  # of others, a run may change objects of the user's
            again = functools.partial(jaxwatch.run_again, function, args, kwargs) if plain else None
            self.report: Any = by_parts.hunt(asked.row, asked.given, callbacks, again)
            super().__init__(nans.hunt_document(self.report, observe.ledger().cell_of))
            return
        python = getattr(function, "_fun", function)
        name = getattr(python, "__name__", type(python).__name__)
        jitted = function if isinstance(function, JitFunction) else jitscope.jit(function, auto_static=True)
        leaves = Arguments(jitted._spec, args, kwargs, jitted._auto).leaves

        def trace() -> Any:
            return jitted.trace(*args, **kwargs).jaxpr

        try:
            self.report = nans.hunt(trace(), leaves, name, callbacks, retrace=trace)
        except HasCallbacks:
            raise explained(
                ValueError,
                f"{name} calls Python functions or has effects, and the hunt would run them again, several times",
                "find_nan(f, callbacks=True), or %nans --callbacks f(x)",
            ) from None
        super().__init__(nans.hunt_document(self.report, observe.ledger().cell_of))

    @property
    def found(self) -> bool:
        """Whether there is a NaN or an infinity in the results."""
        return self.report.found

    @property
    def primitive(self) -> str | None:
        """The operation that made the first one."""
        return self.report.finding.primitive if self.report.finding else None

    @property
    def line(self) -> int | None:
        """The line of the user's code in which it was written."""
        where = self.report.finding.position if self.report.finding else None
        return where.line if where else None

    @property
    def inputs(self) -> tuple[np.ndarray, ...]:
        """The operands it was given, in that iteration."""
        return self.report.finding.operands if self.report.finding else ()

    @property
    def outputs(self) -> tuple[np.ndarray, ...]:
        """Its results."""
        return self.report.finding.results if self.report.finding else ()

    @property
    def index(self) -> tuple[int, ...] | None:
        """The index of the first bad element of its result."""
        bad = [~np.isfinite(nans.wide(x)) for x in self.outputs]
        return tuple(int(i) for i in np.argwhere(bad[0])[0]) if bad and bad[0].any() else None

    @property
    def iterations(self) -> tuple[int, ...]:
        """The iterations of the loops around it, outer ones first, from 0."""
        return tuple(one.number for one in self.report.finding.iterations) if self.report.finding else ()


class NanWatch:
    """Looks at the results of what a cell runs, and keeps the first run that gave a NaN, with its arguments."""

    def __init__(self) -> None:
        self._first: tuple[Any, list[Any], str, list[Any]] | None = None
        self._option = config.override(sharp_bits=True)
        self._option.__enter__()
        notices.run_listeners.append(self._ran)

    def _ran(self, closed: Any, name: str, args: list[Any], outs: list[Any]) -> None:
        bad = any(is_bad(x, no_nans) for x in outs)
        if bad and self._first is None and not any(is_bad(x, no_nans) for x in args):
            self._first = closed, args, name, outs

    def close(self) -> dict[str, Any] | None:
        """Stop, and hunt; the document, or None where no run gave a NaN of arguments without one."""
        notices.run_listeners.remove(self._ran)
        self._option.__exit__(None, None, None)
        if self._first is None:
            return None
        closed, args, name, outs = self._first
        try:
            return nans.hunt_document(nans.hunt(closed, args, name, results=outs), observe.ledger().cell_of)
        except HasCallbacks:
            return None


def hunt_of_rows(rows: list[observe.Row]) -> dict[str, Any] | None:
    """The document of the first program of another library's with a NaN or an infinity in its results; says which could not be
    looked at."""
    for row in rows:
        if not row.library or row.entry is None or row.looked:
            continue
        try:
            report = by_parts.hunt(row)
        except (observe.Unavailable, ValueError, RuntimeError) as problem:
            output.say(f"jitscope: no NaN is looked for in {row.function}: {message_of(problem)}")
            continue
        if report.found:
            return nans.hunt_document(report, observe.ledger().cell_of)
    return None


_MOST = 1_000_000
"""Elements of a shown result that are looked at."""


def offer(cell: str, result: Any, error: BaseException | None, names: Mapping[str, Any]) -> str:
    """How to hunt, in a line, for a cell whose shown result has a NaN, that took a number which is none from an array, or that
    `debug_nans` stopped; "" where there is nothing to say. `names` are those of the session."""
    if isinstance(error, FloatingPointError) and config.settings().debug_nans:
        return f"With the numbers, the way to the result and a fix: {_asking(cell)}"
    if error is not None or _MEANT.search(cell):
        return ""
    python = python_of(cell)
    body = ast.parse(python.text).body if python else []
    for name, call in _numbers_taken(body):
        value = names.get(name)
        if type(value) is float and not math.isfinite(value):
            what = "NaN" if value != value else "infinite"
            return f"{name} is {what}. Where that comes from: %nans {ast.unparse(call)}"
    if type(result) is float and not math.isfinite(result):
        what = "a NaN" if result != result else "an infinity"
        return f"This result is {what}. Where it comes from: {_asking(cell)}"
    if not isinstance(result, (jitscope.Array, tuple, list, dict)):
        return ""
    arrays = [x for x in tree.leaves(result) if isinstance(x, jitscope.Array) and not isinstance(x, Tracer)]
    if sum(x.size for x in arrays) > _MOST or not any(map(_is_nan, arrays)):
        return ""
    return f"There is a NaN in this result. Where the first one comes from: {_asking(cell)}"


_MEANT = re.compile(r"\b(?:nan|inf)\b|%nans|--nans")
"""Cells that speak of NaNs and infinities themselves."""


def _is_nan(x: Any) -> bool:
    return x.is_fully_addressable and not x.is_deleted() and is_bad(x, no_nans)


def _numbers_taken(body: list[ast.stmt]) -> Iterator[tuple[str, ast.Call]]:
    """The names that a cell gives numbers taken from arrays, in loops too, and the call that made the array."""
    for statement in body:
        for node in ast.walk(statement) if not isinstance(statement, ast.FunctionDef | ast.ClassDef) else ():
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if (call := _taken_from(value)) is not None:
                    yield name, call


def _taken_from(value: ast.expr) -> ast.Call | None:
    """The call in `float(f(x))` and in `f(x).item()`."""
    match value:
        case ast.Call(func=ast.Name(id="float"), args=[ast.Call() as call]):
            return call
        case ast.Call(func=ast.Attribute(value=ast.Call() as call, attr="item"), args=[]):
            return call
    return None


def _asking(cell: str) -> str:
    """`%nans loss(params, x)`: the last call that the cell shows, or gave the name it shows."""
    python = python_of(cell)
    body = ast.parse(python.text).body if python else []
    shown = body[-1].value if body and isinstance(body[-1], ast.Expr) else None
    if isinstance(shown, ast.Name):
        made = [one.value for one in body if isinstance(one, ast.Assign) and shown.id in map(ast.unparse, one.targets)]
        shown = made[-1] if made else None
    if shown is not None:
        shown = _taken_from(shown) or shown
    call = ast.unparse(shown) if isinstance(shown, ast.Call) else "f(x)"
    return f"%nans {call}"


def find_nan(function: Callable[..., Any], *, callbacks: bool = False) -> Callable[..., NanHunt]:
    """`find_nan(f)(x)` says where the first NaN in the results of `f(x)` comes from (if there is none: the first infinity).

    Raises ValueError for functions with callbacks or effects unless `callbacks`: they are run again, several times.
    """

    def hunt(*args: Any, **kwargs: Any) -> NanHunt:
        return NanHunt(function, args, kwargs, callbacks)

    return hunt
