"""A breakpoint inside a compiled function: the program stops there when it runs, and a debugger shows the values of the frames
in which it was traced."""

from __future__ import annotations

import dataclasses
import inspect
import sys
import threading
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, TypeVar

from .. import tree
from ..backend.callbacks import host_function
from ..control.callbacks import debug_callback_p, pure_callback_p
from ..core import source
from ..core.avals import aval_of
from ..core.staging import JaxprTrace
from ..core.trace import Tracer
from .command_line import run_debugger


T = TypeVar("T")


__all__ = ["breakpoint", "register_debugger"]


@dataclasses.dataclass(frozen=True)
class Frame:
    """A frame of Python as it was when the breakpoint was traced, with the values its variables have when the program runs.

    `source` are the lines of its function, the first of which is line `first`.
    """

    filename: str
    function: str
    lineno: int
    first: int
    source: tuple[str, ...]
    locals: dict[str, Any]
    globals: dict[str, Any]


Debugger = Callable[..., None]
"""Called with the frames, innermost first, the number of the thread (None: the main one), and what else was passed."""
_debuggers: dict[str, tuple[int, Debugger]] = {"cli": (-1, run_debugger)}
_one_at_a_time = threading.RLock()


def register_debugger(name: str, debugger: Debugger, priority: int) -> None:
    """Let breakpoints open `debugger`: those that name it, and if it has the highest priority, those that name none. Raises
    ValueError for a name that is taken."""
    if name in _debuggers:
        raise ValueError(f"there is a debugger called {name!r} already")
    _debuggers[name] = (priority, debugger)


def breakpoint(
    *,
    backend: str | None = None,
    filter_frames: bool = True,
    num_frames: int | None = None,
    ordered: bool = False,
    token: T = None,
    **kwargs: object,
) -> T:
    """Stop here when the program runs, in a debugger that knows the values of the variables around.

    The debugger on the command line (`backend` "cli") evaluates expressions and knows p, pp, list, up, down, where, continue,
    quit and help. `filter_frames` leaves out the library's own frames, `num_frames` all but the innermost ones. `ordered`
    keeps the order of the program. A `token` (a tree of arrays) is given back: the program stops once it is computed, if
    what uses it is. Other arguments go to the debugger (`stdin`, `stdout`). Raises ValueError for a `token` with `ordered`,
    and for a debugger that there is not.
    """
    if token is not None and ordered:
        raise ValueError("breakpoint takes ordered or token, not both")
    if backend is not None and backend not in _debuggers:
        raise ValueError(f"breakpoint: there is no debugger {backend!r}; there are {', '.join(map(repr, _debuggers))}")
    frames = _frames(sys._getframe(1), filter_frames, num_frames)
    leaves, structure = tree.flatten([list(_safe(frame.locals).items()) for frame in frames])
    traced = [x for x in leaves if isinstance(x, Tracer)]
    stop = _Stop(frames, structure, leaves, backend, kwargs)
    if token is None:
        host = host_function(
            "debug.breakpoint", stop, tree.structure((tuple(traced), {})), tree.structure(None), (stop,)
        )
        debug_callback_p.bind(*traced, callback=host, result_avals=(), ordered=bool(ordered))
        return token
    given, token_tree = tree.flatten(token)
    avals = tuple(aval_of(x).strong() for x in given)

    def hand_on(token: Any, *values: Any) -> Any:
        stop(*values)
        return token

    host = host_function("debug.breakpoint", hand_on, tree.structure(((token, *traced), {})), token_tree, (stop,))
    return token_tree.unflatten(
        pure_callback_p.bind(*given, *traced, callback=host, result_avals=avals, vmap_method="sequential")
    )


class _Stop:
    """Opens the debugger, given the values that were traced."""

    __name__ = "breakpoint"

    def __init__(
        self, frames: Sequence[Frame], structure: Any, leaves: list[Any], backend: str | None, options: dict[str, Any]
    ):
        self.frames, self.structure, self.backend, self.options = frames, structure, backend, options
        self.leaves = [None if isinstance(x, Tracer) else x for x in leaves]
        self.traced = [isinstance(x, Tracer) for x in leaves]

    def __call__(self, *traced: Any) -> None:
        values = iter(traced)
        whole = self.structure.unflatten([next(values) if t else x for x, t in zip(self.leaves, self.traced)])
        frames = [dataclasses.replace(f, locals=dict(items)) for f, items in zip(self.frames, whole)]
        best = max(_debuggers.values(), key=lambda known: known[0])
        _, debugger = best if self.backend is None else _debuggers[self.backend]
        own = threading.current_thread() is threading.main_thread()
        with _one_at_a_time:
            debugger(frames, None if own else threading.get_ident(), **self.options)


def _frames(frame: FrameType | None, filtered: bool, count: int | None) -> list[Frame]:
    found: list[Frame] = []
    while frame is not None and (count is None or len(found) < count):
        if not (filtered and source.is_internal(frame.f_code.co_filename)):
            found.append(_frame(frame))
        frame = frame.f_back
    return found


def _frame(frame: FrameType) -> Frame:
    code = frame.f_code
    try:
        lines, first = inspect.getsourcelines(frame)
    except (OSError, TypeError):
        lines, first = [source.line_of(code.co_filename, frame.f_lineno)], frame.f_lineno
    text = tuple(line.rstrip("\n") for line in lines)
    return Frame(
        code.co_filename, code.co_name, frame.f_lineno, max(first, 1), text, dict(frame.f_locals), frame.f_globals
    )


class _Gone:
    """Stands for a traced value whose trace has ended."""

    def __init__(self, x: Tracer):
        self.text = f"<{x.aval.short()} of a trace that has ended>"

    def __repr__(self) -> str:
        return self.text


def _safe(variables: dict[str, Any]) -> dict[str, Any]:
    """The variables of a frame, those that are not trees, or hold values that are gone, as they read."""
    found = {}
    for name, value in variables.items():
        try:
            found[name] = tree.map(lambda x: _Gone(x) if _ended(x) else x, value)
        except Exception:  # a node of the user's that does not flatten
            found[name] = repr(value)
    return found


def _ended(x: Any) -> bool:
    return isinstance(x, Tracer) and isinstance(x.tracing, JaxprTrace) and x.tracing.ended
