"""Notices: what happens in silence and may not be meant, told to whoever listens.

Nothing is looked for while nobody listens: a place that has something to tell asks `listeners` first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from ..named_tuple import NamedTuple
from . import call_sites, records
from .dtypes import short_name
from .source import Position


class Notice(NamedTuple):
    """A sharp bit (an id of `advise.catalogue`) stepped on at a position of the user's code; `fix` says what to do."""

    sharp_bit: str
    message: str
    where: Position | None
    fix: str = ""


listeners: list[Callable[[Notice], None]] = []
thorough_listeners: list[Callable[[Notice], None]] = []
"""Those for whom eager operations look at each index and each cut integer."""
run_listeners: list[Callable[[Any, str, list[Any], list[Any]], None]] = []
"""With the option `sharp_bits`, called after each run with the closed jaxpr, its name, copies of the arguments, and the results."""
trace_listeners: list[Callable[[Any, Any, tuple, dict[str, Any]], None]] = []
"""Called after each trace of a jitted function with its closed jaxpr, the Python function, and the arguments it was called with."""
number_listeners: list[Callable[[float, Position | None], None]] = []
"""Called with a NaN or an infinity that Python takes from an array as a number or as text, and the user's line that does."""
MOST_COPIED = 256 << 20
"""Bytes of arguments up to which runs are shown."""


def tell(sharp_bit: str, message: str, fix: str = "", where: Position | None = None) -> None:
    """Tell the listeners; `where` is the line that runs now, if it is not given."""
    if records.trying.get() or records.unseen.get():
        return
    records.publish(listeners, Notice(sharp_bit, message, _place.get() or where or call_sites.here(), fix))


_PAIRED = {
    **dict.fromkeys(("sub", "subtract"), "subtracted"),
    **dict.fromkeys(("eq", "equal", "ne", "not_equal"), "compared"),
}


def tell_square(operation: str, one: Any, other: Any, where: Position | None = None) -> None:
    """Tell of two arrays (anything with `shape` and `dtype`) outside of jit, a column and a row of one length, that an operation on pairs
    of elements makes a square of."""
    column, row = (one, other) if len(one.shape) == 2 else (other, one)
    if operation not in _PAIRED or len(row.shape) != 1 or row.shape[0] < 2 or column.shape != (*row.shape, 1):
        return
    size = row.shape[0]
    message = (
        f"{short_name(column.dtype)}[{size},1] and {short_name(row.dtype)}[{size}] are {_PAIRED[operation]} as [{size},{size}]: each element "
        "with each of the other, and not with its own."
    )
    tell("silent-broadcast", message, "Give both one shape: x[:, 0] of the one, or y[:, None] of the other.", where)


def tell_trace(closed: Any, fun: Any, args: tuple, kwargs: dict[str, Any]) -> None:
    """Show a trace to the listeners. What one of them raises goes no further."""
    if not records.unseen.get():
        records.publish(trace_listeners, closed, fun, args, kwargs)


_place: ContextVar[Position | None] = ContextVar("jitscope_place_of_run", default=None)


def tell_run(closed: Any, name: str, args: list[Any], outs: list[Any], where: Position | None = None) -> None:
    """Show a run to the listeners; what they tell of it is at `where`, if that is given. What one of them raises goes no
    further."""
    if records.unseen.get():
        return
    with placed(where):
        records.publish(run_listeners, closed, name, args, outs)


@contextmanager
def placed(where: Position | None) -> Iterator[None]:
    """What is told inside is at `where`, if that is given."""
    token = _place.set(where)
    try:
        yield
    finally:
        _place.reset(token)


class Among(float):
    """A number that is one of an array's."""


def tell_text(values: np.ndarray) -> None:
    """Show the listeners that an array is made a text with a number in it that is not finite: one that is a number by itself, or a NaN."""
    if values.size == 1:
        tell_number(values.item())
    elif 0 < values.size <= np.get_printoptions()["threshold"] and values.dtype.kind in "fc" and np.isnan(values).any():
        records.publish(number_listeners, Among("nan"), call_sites.here())


def tell_number(value: Any) -> None:
    """Show a number that was taken from an array to the listeners, if it is not finite."""
    if isinstance(value, float) and not math.isfinite(value):
        records.publish(number_listeners, value, call_sites.here())


def listen(listener: Callable[[Notice], None], thorough: bool = True) -> Callable[[], None]:
    """Call `listener` with each notice from now on; gives the function that stops it. What costs something to look for outside of
    traces is told only while a listener is `thorough`."""
    stop = records.subscribe(listeners, listener)
    leave = records.subscribe(thorough_listeners, listener) if thorough else None

    def both() -> None:
        stop()
        if leave is not None:
            leave()

    return both
