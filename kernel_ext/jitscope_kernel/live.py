"""One output that is kept up to date while its cell runs: what was compiled again so far."""

from __future__ import annotations

import time
from collections.abc import Callable

from jitscope_widgets.answers import SILENT, Answers

from . import output
from .output import Document


_AFTER = 1.0  # seconds that a cell runs before it is told anything
_PAUSE = 0.5  # seconds between two updates, at least
_SHARE = 0.05  # of the time, that updating may take


class Live:
    """The output of a running cell. `document` makes what is shown so far; nothing is shown before the cell has run for a while."""

    def __init__(self, document: Callable[[], Document]) -> None:
        self._document = document
        self._next = time.monotonic() + _AFTER
        self._place: output.Place | None = None

    def changed(self) -> None:
        """There is something new. Called in the thread of the cell, in the middle of its work: it shows it now and then."""
        if time.monotonic() < self._next:
            return
        start = time.perf_counter()
        self._show()
        spent = time.perf_counter() - start
        self._next = time.monotonic() + max(_PAUSE, spent / _SHARE)

    @output.never_raising("showing what was compiled again")
    def _show(self) -> None:
        document = self._document()
        if not document["cards"]:  # what is told in `%recompiles` alone: two shapes that two lines give
            return
        if self._place is None:
            self._place = output.Place()
        self._place.show_still(document)

    def close(self, document: Document, answers: Answers = SILENT) -> None:
        """Show the last document, in the place of what was shown before."""
        show = output.show if self._place is None else self._place.show
        show(document, answers)
