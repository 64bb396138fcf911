"""`jitscope.find_nan(f)(x)`: where the first NaN of a call comes from, as an object that shows itself."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from jitscope.backend.hunt import HasCallbacks, nans as no_nans
from jitscope.backend.signature import message_of
from jitscope.backend.tracing import Arguments
from jitscope.backend.watching import is_bad
from jitscope.core import config, notices
from jitscope.core.jaxpr import ClosedJaxpr
from jitscope.core.messages import with_advice
from jitscope_scope import asked_calls, jaxwatch, observe
from jitscope_scope.advise import nans
from jitscope_scope.advise.nans import by_parts
from jitscope_widgets.documents.annotations import NanHuntDocument

from . import output
from .document_views import DocumentView
from .uses import call_is_for_jax


class NanHunt(DocumentView["NanHuntDocument"]):
    """What was found. Arguments are not donated; the function's Python code is traced, not run with values. `name` is what
    the function is called, its own name by default. Raises ValueError for a function that calls Python or has effects, unless
    `callbacks` is True."""

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        callbacks: bool = False,
        name: str = "",
    ):
        begun = time.perf_counter()
        if call_is_for_jax(function, args, kwargs):
            asked = jaxwatch.ask(observe.ledger(), function, args, kwargs)
            plain = not jaxwatch.may_change_objects(function)
            again = functools.partial(jaxwatch.run_again, function, args, kwargs) if plain else None
            if asked.row.entry.executable.calls_python and not callbacks:
                raise _runs_python_again(name or asked.row.function)
            self.report: Any = by_parts.hunt(asked.row, asked.given, callbacks, again, name)
            super().__init__(nans.hunt_document(self.report, observe.ledger().cell_of, begun))
            return
        python = getattr(function, "_fun", function)
        name = name or getattr(python, "__name__", type(python).__name__)
        jitted, args, kwargs = asked_calls.jitted(function, args, kwargs)
        leaves = Arguments(jitted._spec, args, kwargs, jitted._auto).leaves

        def trace() -> Any:
            return jitted.trace(*args, **kwargs).jaxpr

        try:
            self.report = nans.hunt(trace(), leaves, name, callbacks, retrace=trace)
        except HasCallbacks:
            raise _runs_python_again(name) from None
        super().__init__(nans.hunt_document(self.report, observe.ledger().cell_of, begun))

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
        self.runs = 0
        self._option = config.override(sharp_bits=True)
        self._option.__enter__()
        notices.run_listeners.append(self._ran)

    def _ran(self, closed: ClosedJaxpr, name: str, args: list[Any], outs: list[Any]) -> None:
        self.runs += 1
        bad = any(is_bad(x, no_nans) for x in outs)
        if bad and self._first is None and not any(is_bad(x, no_nans) for x in args):
            self._first = closed, args, name, outs

    def close(self) -> NanHuntDocument | None:
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


def hunt_of_rows(rows: list[observe.Row]) -> NanHuntDocument | None:
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


def _runs_python_again(name: str) -> ValueError:
    return ValueError(
        with_advice(
            f"{name} calls Python functions or has effects, and the hunt would run them again, several times",
            "find_nan(f, callbacks=True), or %nans --callbacks f(x)",
        )
    )


def find_nan(function: Callable[..., Any], *, callbacks: bool = False) -> Callable[..., NanHunt]:
    """`find_nan(f)(x)` says where the first NaN in the results of `f(x)` comes from (if there is none: the first infinity).

    Raises ValueError for functions with callbacks or effects unless `callbacks`: they are run again, several times.
    """

    def hunt(*args: Any, **kwargs: Any) -> NanHunt:
        return NanHunt(function, args, kwargs, callbacks)

    return hunt
