"""Operations that a cell runs outside of jit, one by one: how many, from which lines. A Python loop over elements is told of so."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from types import CodeType

from jitscope.core import source
from jitscope.core.source import Position, position_in
from jitscope.core.words import cut, duration
from jitscope.eager.running import count_runs
from jitscope_scope import observe
from jitscope_scope.source_code.frames import outwards


MANY = 500
"""So many operations from one function are told of."""
_LEAST_SECONDS, _LEAST_SHARE = 0.05, 0.3
"""And no fewer seconds than these went by from one to the next, in all and as a share of what the cell took without compiling."""
_PAUSE = 5e-3
"""After so many seconds without an operation something else ran. (Seconds are those of this thread: other processes may be busy.)"""


class EagerRuns:
    """Counts runs of programs outside of jit in this thread from `begin` to `end`, jitscope's own and those of watched jax. A run costs
    about a microsecond more meanwhile."""

    def __init__(self, ledger: observe.Ledger) -> None:
        self._ledger, self._since = ledger, ledger.mark()
        self.lines: Counter[tuple[CodeType, int]] = Counter()
        self.seconds = 0.0
        self._thread = threading.get_ident()
        self._began = self._last = 0.0
        self._undo: Callable[[], None] | None = None

    def begin(self) -> None:
        self._began = time.thread_time()
        self._undo = count_runs(self.ran)

    def end(self) -> str:
        """What is to be told of them: a sentence or ""."""
        undo, self._undo = self._undo, None
        if undo is None:
            return ""
        undo()
        compiling = sum(one.seconds for one in self._ledger.small_since(self._since))
        compiling += sum(row.spent for row in self._ledger.since(self._since))
        whole = time.thread_time() - self._began
        if self.seconds < max(_LEAST_SECONDS, _LEAST_SHARE * (whole - compiling)):
            return ""
        return sentence(Counter({position_in(*at): count for at, count in self.lines.items()}), self.seconds)

    def ran(self) -> None:
        """An operation runs, of a line of the user's further out: the one that called a library, where a library runs it."""
        if threading.get_ident() != self._thread:
            return
        frame = next((one for one in outwards(sys._getframe(1)) if source.in_program(one.f_code.co_filename)), None)
        if frame is None:
            return
        self.lines[frame.f_code, frame.f_lasti] += 1
        now = time.thread_time()
        if now - self._last < _PAUSE:
            self.seconds += now - self._last
        self._last = now


def sentence(runs: Counter[Position], seconds: float) -> str:
    """`means ran 1,200 operations outside jit …` of the function that ran most of them, if those are many; else ""."""
    of_function: Counter[tuple[str, str]] = Counter()
    of_line: dict[tuple[str, str], Counter[int]] = {}
    for where, count in runs.items():
        of_function[where.file, where.function] += count
        of_line.setdefault((where.file, where.function), Counter())[where.line] += count
    (place, count) = max(of_function.items(), key=lambda item: item[1], default=(("", ""), 0))
    if count < MANY:
        return ""
    line, most = of_line[place].most_common(1)[0]
    where = next(one for one in runs if (one.file, one.function) == place and one.line == line)
    who = "This cell" if place[1] == "<module>" else place[1]
    share = "all of them" if most == count else f"{most:,} of them"
    return (
        f"{who} ran {count:,} operations outside jit, one by one, in {duration(seconds)}: {share} in {source.place(where)} "
        f"({cut(where.text.strip(), 60)}). Each is a program of its own that makes new arrays. In a function that is jitted they are one "
        "program; a Python loop over elements is best one operation on whole arrays there, or vmap, lax.fori_loop or lax.scan."
    )
