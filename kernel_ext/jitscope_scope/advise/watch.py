"""Watching code run: the sharp bits that traces, misses, errors and checks of runs show."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

from jitscope.core import config, notices, source

from .. import jaxwatch
from ..observe.ledger import Ledger, Row, ledger as session_ledger
from ..source_code.edits import Span
from ..source_code.names import imported_in
from .catalogue import CATALOGUE
from .diagnostic import Diagnostic, Fix, distinct
from .run import squares
from .run.captures import Captures
from .run.errors import explained, in_text_of_error, says_what_is_meant, whole_call
from .run.jax_runs import JaxLooks
from .run.misses import recompilations_paid
from .run.programs import of_program
from .run.values import look_at_run
from .silencing import heard


class NoticeCollector:
    """Collects what is told in silence, one for each id and place, from its making until `stop`. What costs something to look for is told
    only while someone is `thorough`."""

    def __init__(self, thorough: bool = False) -> None:
        self._found: dict[tuple[str, str, Span], Diagnostic] = {}
        self.stop = notices.listen(self._hear, thorough)

    @property
    def found(self) -> list[Diagnostic]:
        """What was told so far."""
        return list(self._found.values())

    def forget(self, file: str) -> None:
        """Let go of what was told of a file: it runs again, or is another one now."""
        self._found = {place: one for place, one in self._found.items() if one.file != file}

    def _hear(self, notice: notices.Notice) -> None:
        where = notice.where
        if where is not None and not _is_meant(notice.sharp_bit, where):
            span = Span.of(whole_call(where) if notice.sharp_bit == "trace-time-print" else where)
            lower = "warning" if CATALOGUE[notice.sharp_bit].severity == "error" else None  # the program went on
            one = Diagnostic(notice.sharp_bit, where.file, span, notice.message, Fix(notice.fix), (), "run", lower)
            place = one.id, one.file, span
            if notice.sharp_bit in _OF_TODAY or place not in self._found:
                self._found[place] = one


class Watch:
    """Collects the diagnostics of the code that runs while it is open (`with Watch() as watch: …`); with `values` it looks at
    what runs compute, which makes them slow."""

    def __init__(self, ledger: Ledger | None = None, values: bool = False) -> None:
        self._values, self._option = values, None
        self._ledger = ledger or session_ledger()
        self._rows: list[Row] = []
        self._failed: list[Diagnostic] = []
        self._captures = Captures()
        self._jax = jaxwatch.Runs(JaxLooks(self._captures))
        self._stop: list[Callable[[], None]] = []

    def __enter__(self) -> Watch:
        self._noticed = NoticeCollector(thorough=True)
        self._stop = [self._noticed.stop, self._ledger.listen(self._rows.append)]
        if self._values:
            notices.run_listeners += [look_at_run, self._captures.ran]
            notices.trace_listeners.append(self._captures.traced)
            self._show_warning, warnings.showwarning = warnings.showwarning, self._warned
            self._option = config.override(sharp_bits=True)
            self._option.__enter__()
        return self

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        for stop in self._stop:
            stop()
        self._jax.end()
        if self._option is not None:
            warnings.showwarning = self._show_warning
            self._option.__exit__(None, None, None)
            notices.trace_listeners.remove(self._captures.traced)
            for listener in (look_at_run, self._captures.ran):
                notices.run_listeners.remove(listener)
        if error is not None:
            self.failed(error)

    def look_at_jax(self) -> None:
        """Watch what jax traces and compiles from now on, and with `values` what it runs; for when the code has imported it."""
        jaxwatch.attach()
        if self._values:
            self._jax.begin()

    def failed(self, error: BaseException) -> None:
        """Take in an error that ended a piece of the code."""
        one = explained(error)
        if one is None or (one.id == "silent-nan" and any(other.id in _OF_NANS for other in self._noticed.found)):
            return  # jax raises where the program ran; the run told what made the NaN
        self._failed.append(one)

    def _warned(self, message: Warning | str, *args: Any, **kwargs: Any) -> None:
        """A warning is shown as ever; one of jax's may tell of a sharp bit."""
        kind = jaxwatch.warned(str(message))
        if kind:
            notices.tell(
                kind,
                str(message).partition("\n")[0].partition(" See ")[0],
                _FIXES[kind],
                jaxwatch.users_position(sys._getframe()),
            )
        self._show_warning(message, *args, **kwargs)

    def found(self) -> list[Diagnostic]:
        """What was found so far, one for each id and place, without what comments in the code silence."""
        rows = list({row.id: row for row in self._rows}.values())
        every = [
            *self._noticed.found,
            *self._failed,
            *recompilations_paid(rows),
            *(one for row in rows for one in of_program(row)),
        ]
        found = distinct(every)
        texts = {one.file: source.code_of(one.file) for one in found}
        names = {file: imported_in(file) for file in texts}
        told = [one.in_names(names[one.file]) for one in found]
        return [one for file, text in texts.items() for one in heard([o for o in told if o.file == file], text)]


_OF_TODAY = ("stale-capture", "static-mutable-stale")
"""What is told of again with other values; of all else the first stands: a trace knows the user's code best."""
_OF_NANS = ("silent-nan", "where-grad-nan", "grad-singular-point")
_FIXES = {
    "x64-truncation": "Turn jax_enable_x64 on before the first array, or ask for 32 bits.",
    "donation-misuse": "Do not donate them.",
}


def _is_meant(id: str, where: source.Position) -> bool:
    """Whether the code shows that it is meant so."""
    if id == "trace-time-print":
        return in_text_of_error(where)
    if id == "silent-broadcast":
        return squares.is_meant(where)
    return id == "oob-index" and says_what_is_meant(where)
