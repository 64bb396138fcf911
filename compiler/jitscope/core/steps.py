"""The transformations that a trace goes through, recorded while somebody asks: the program before and after each of them.

Off, it costs one look at a context variable for each transformation. On, a function that is transformed is traced by itself first, and what
was recorded is transformed in its place: its code runs no more often than it does otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ..named_tuple import NamedTuple
from .avals import aval_of
from .jaxpr import ClosedJaxpr, DebugInfo, Jaxpr, JaxprEqn
from .staging import jaxpr_as_fun, trace_to_jaxpr


class Batched(NamedTuple):
    """What became of an equation of one example: the axes along which the examples lie in its operands and in its results (None: the
    same for all of them), and the equations that were made for all examples."""

    eqn: JaxprEqn
    operands: tuple[int | None, ...]
    results: tuple[int | None, ...]
    made: tuple[JaxprEqn, ...]


class Step(NamedTuple):
    """One transformation: its name, the function's, the program before and the programs after, each with what it is; `depth` counts
    the transformations round it. Of a vmap `batched` tells what became of each equation."""

    transform: str
    function: str
    before: Jaxpr
    after: tuple[tuple[str, Jaxpr], ...]
    depth: int
    batched: tuple[Batched, ...] = ()


class Recorder:
    """The steps so far, at most `most`; `left_out` counts others, `missed` has why functions could not be traced alone."""

    def __init__(self, most: int):
        self.steps: list[Step] = []
        self.most, self.left_out, self.depth = most, 0, 0
        self.missed: list[str] = []

    def add(
        self, transform: str, function: str, before: Jaxpr, *after: tuple[str, Jaxpr], batched: Sequence[Batched] = ()
    ) -> None:
        if len(self.steps) < self.most:
            self.steps.append(Step(transform, function, before, after, self.depth, tuple(batched)))
        else:
            self.left_out += 1

    def instead(self, transform: str, closed: ClosedJaxpr) -> Callable[..., list[Any]]:
        """What is transformed in the place of the function that was traced."""
        return jaxpr_as_fun(closed)


_recorder: ContextVar[Recorder | None] = ContextVar("jitscope_steps", default=None)
recorder = _recorder.get
"""Who records now; None: nobody."""


@contextmanager
def recording_steps(steps: Recorder) -> Iterator[Recorder]:
    """Transformations inside are recorded."""
    token = _recorder.set(steps)
    try:
        yield steps
    finally:
        _recorder.reset(token)


@contextmanager
def without_steps() -> Iterator[None]:
    """What is transformed inside is transformed to be looked at."""
    token = _recorder.set(None)
    try:
        yield
    finally:
        _recorder.reset(token)


def traced_alone(
    steps: Recorder, transform: str, name: str, fun: Callable[..., Sequence[Any]], values: Sequence[Any]
) -> ClosedJaxpr | None:
    """The program of a flat function that is about to be transformed, on values like these; None where it cannot be traced alone: it
    asks for their values, or takes what is not an array. Its own transformations are recorded first."""
    steps.depth += 1
    try:
        return trace_to_jaxpr(fun, [aval_of(x) for x in values], DebugInfo(name))
    except Exception as error:
        first = str(error).strip().split("\n", 1)[0]
        steps.missed.append(f"{transform} of {name}: it cannot be traced apart from its values ({first})")
        return None
    finally:
        steps.depth -= 1
