"""A line of warning while a Python loop unrolls: tracing runs every pass of it, and each adds its equations.

The compiler calls `Watch` every thousand equations of a growing program. It looks at a sample of them, finds the loop they
come from, and says so once for each loop.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Callable
from typing import Any

from jitscope.core import source
from jitscope.core.source import Position
from jitscope.core.staging import JaxprTrace, trace_to_jaxpr
from jitscope.core.words import cut
from jitscope.xla import tracebacks
from jitscope_scope.source_code.places import loop_around

from .output import say


PER_LINE = 1_000
IN_ALL = 20_000
_EVERY = 8  # of the equations, one in so many is looked at

Line = tuple[str, int]


class Watch:
    """To be put into `jitscope.core.staging.watcher`. `tell` is given the warning; `label` names a file for people."""

    def __init__(self, label: Callable[[str], str], tell: Callable[[str], None] = say) -> None:
        self._label = label
        self._tell = tell
        self._growing: weakref.WeakKeyDictionary[Any, _ProgramGrowth] = weakref.WeakKeyDictionary()
        self._said: set[Any] = set()

    def __call__(self, trace: JaxprTrace) -> None:
        try:
            self._look(trace)
        except Exception as error:  # a view that fails never reaches the user's call
            self._once("failed", f"jitscope cannot tell which loop unrolls here: {error!r}")

    def _look(self, trace: JaxprTrace) -> None:
        growing = self._growing.get(trace)
        if growing is None:
            growing = self._growing[trace] = _ProgramGrowth()
        growing.look(trace.eqns)
        function, count = trace.debug.name or "this function", len(trace.eqns)
        for line, of_line in list(growing.lines.items()):
            if of_line >= PER_LINE:
                loop = growing.loops.get(line)
                self._once(loop or line, f"{self._where(line)}: {_unrolled(function, loop, of_line)} {_ADVICE}")
        if count >= IN_ALL and growing.lines:
            most = self._where(growing.lines.most_common(1)[0][0])
            message = f"{function} has {count:,} equations so far, most of them from {most}."
            self._once((function, "size"), f"{message} The more there are, the longer it compiles. {_STOP}")

    def _where(self, line: Line) -> str:
        file, number = line
        return f"{self._label(file)}, line {number}"

    def _once(self, what: Any, message: str) -> None:
        if what not in self._said:
            self._said.add(what)
            self._tell(message)


_STOP = "Interrupt the kernel (Ctrl-C) to stop."
_ADVICE = f"Tracing runs a Python loop pass by pass, and each pass adds its equations. {_STOP}"


def _unrolled(function: str, loop: Loop | None, count: int) -> str:
    so_far = f"about {round(count, -2):,} equations of {function} so far"
    if loop is None:
        return f"this line made {so_far}."
    return f"the loop in line {loop.line}, `{loop.text}`, unrolls; this line made {so_far}."


class _ProgramGrowth:
    """One program as it grows: how many equations each source line made, and the loop round the line."""

    def __init__(self) -> None:
        self.seen = 0
        self.lines: Counter[Line] = Counter()
        self.loops: dict[Line, Loop | None] = {}

    def look(self, equations: list[Any]) -> None:
        for equation in equations[self.seen :: _EVERY]:
            frames = _frames_of_trace(equation.traceback)
            if not frames:
                continue
            line = (frames[0].file, frames[0].line)
            self.lines[line] += _EVERY
            if line not in self.loops:
                self.loops[line] = next(filter(None, map(_loop_around, frames)), None)
        self.seen = len(equations)


def _frames_of_trace(handle: Any) -> list[Position]:
    """The user's lines from the equation outwards to where the trace was begun."""
    if handle is None:
        return []
    found = []
    for code, lasti in tracebacks.frames(handle):
        if code is trace_to_jaxpr.__code__:
            break
        if not source.is_internal(code.co_filename):
            found.append(source.position_in(code, lasti))
    return found


class Loop(tuple):
    """(file, line): a loop of the user's code."""

    __slots__ = ()

    @property
    def line(self) -> int:
        return self[1]

    @property
    def text(self) -> str:
        return cut(source.line_of(*self).strip(), 60)


def _loop_around(where: Position) -> Loop | None:
    loop = loop_around(where)
    return Loop((where.file, loop.lineno)) if loop is not None else None
