"""Records: what each step of the compiler writes down for the ledger.

A record is small: what, for which function, where, how long. The steps `emit`; the ledger, which the first record loads, and anyone
else listens. Heavy things (the jaxpr, the executable) are offered as `payload`, which listeners may keep within bounds.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from importlib import import_module
from typing import Any

from .source import Position


_numbers = itertools.count(1)


class Record:
    """One step. `seconds` is its duration, `program` ties the steps of one compilation together.

    `step`: "trace", "derive" (a program made by a transformation outside jit), "lower", "compile", "arguments" (large ones were made arrays of), "run" (the first
    one; `detail["watched"]`: what looked at it took its part of the seconds), "reuse" (a known program was found for a new trace),
    "program" (the compiled program is there), "foreign" (that of another library), "error", "small" (an operation outside of jit was compiled, a program of number 0; all its steps are one).
    """

    __slots__ = (
        "at", "call_site", "detail", "function", "number", "payload", "position", "program", "seconds", "step",
    )  # fmt: skip

    def __init__(
        self,
        step: str,
        function: str,
        program: int,
        seconds: float = 0.0,
        position: Position | None = None,
        call_site: Position | None = None,
        detail: dict[str, Any] | None = None,
        payload: Any = None,
    ):
        self.step, self.function, self.program, self.seconds = step, function, program, seconds
        self.position, self.call_site, self.payload = position, call_site, payload
        self.detail = {} if detail is None else detail
        self.at, self.number = time.time(), next(_numbers)

    def __repr__(self) -> str:
        return f"Record({', '.join(f'{name}={getattr(self, name)!r}' for name in ('number', 'step', 'function', 'program', 'seconds'))})"

    def step_of(self, step: str, seconds: float, detail: dict[str, Any] | None = None, payload: Any = None) -> Record:
        """Another step of the same program."""
        return Record(step, self.function, self.program, seconds, self.position, self.call_site, detail, payload)


after_compiling: list[Callable[[Any, int], None]] = []
"""Called when a jitted function was compiled, with it and the program's number, before it runs: budgets. What they raise is the
user's to see."""


before_running: list[Callable[[Any, int, Sequence[Any], dict[str, Any]], Callable[[Any], None]]] = []
"""Called before a program runs for the first time, with the jitted function, the program's number and the arguments; what they give is
called with the result."""


class TracingRefused(RuntimeError):
    """A function was to be traced while the option `no_tracing` is set."""


_listeners: list[Callable[[Record], None]] = []
_programs = itertools.count(1)


def new_program() -> int:
    """The number under which the steps of one compilation are filed."""
    return next(_programs)


def subscribe(listeners: list[Any], listener: Any) -> Callable[[], None]:
    """Add a listener; gives the function that takes it away again."""
    listeners.append(listener)
    return lambda: listeners.remove(listener) if listener in listeners else None


def publish(listeners: Sequence[Callable[..., None]], *news: Any) -> None:
    """Call each listener with the news. What one of them raises is printed and goes no further."""
    for listener in tuple(listeners):
        try:
            listener(*news)
        except Exception as error:
            print(f"jitscope: a listener failed: {error!r}", file=sys.stderr)


def listen(listener: Callable[[Record], None]) -> Callable[[], None]:
    """Call `listener` with every record from now on; gives the function that stops it."""
    return subscribe(_listeners, listener)


trying: ContextVar[bool] = ContextVar("jitscope_trying", default=False)
"""Whether code is traced to see if that works: nobody is told, and nothing is remembered."""


unseen: ContextVar[bool] = ContextVar("jitscope_unseen", default=False)
"""Whether code is traced and run to see what it gives: it is remembered as any other, and nobody is told."""


LEDGER = "jitscope_scope.observe.ledger"
"""What listens to every record of the session; the first one loads it."""


def emit(record: Record) -> None:
    """Hand a record to the listeners. What a listener raises never reaches the user's call."""
    if not trying.get() and not unseen.get():
        import_module(LEDGER)  # which waits where another thread is loading it
        publish(_listeners, record)
