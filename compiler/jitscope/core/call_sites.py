"""Call sites: which line of the user's code an equation came from, in which named scopes, through which transformations.

A call site is captured as a traceback handle (a fraction of a microsecond) and resolved to positions only when somebody looks.
"""

import functools
import itertools
from contextvars import ContextVar
from operator import itemgetter
from types import CodeType
from typing import Any

from ..named_tuple import NamedTuple
from ..xla import tracebacks
from .source import Position, is_internal, is_stdlib, position_in


_written: ContextVar[Any] = ContextVar("jitscope_written", default=None)
"""Where equations stem from that are made now: a handle; or what is around the code that runs, an `_Around`; or None."""


def capture() -> Any:
    """A handle of the current call stack and named scopes, or of where the equation now transformed was written."""
    written = _written.get()
    if written is None:
        return tracebacks.capture()
    if type(written) is _Around:
        return ScopedHandle((tracebacks.capture(), written.names, written.transforms))
    return written


# Named scopes are what users call parts of their programs. The names travel with the position, and so does what made an
# equation from the one that was written there.


class ScopedHandle(tuple):
    """A handle of a position with the named scopes it was in, outermost first, and the transformations that made the equation
    from the one written there. (A tuple, since nothing is made faster.)"""

    __slots__ = ()
    handle: Any = property(itemgetter(0))
    names: tuple[str, ...] = property(itemgetter(1))  # pyright: ignore
    transforms: tuple[str, ...] = property(itemgetter(2))  # pyright: ignore

    def raw_frames(self) -> Any:
        return self.handle.raw_frames() if self.handle is not None else ([], [])


class _Around(NamedTuple):
    names: tuple[str, ...]
    transforms: tuple[str, ...] = ()


class within:
    """Context manager: positions captured inside are in these named scopes, and no others. (Equations that stem from others
    stay where those were written.)"""

    __slots__ = ("names", "token")

    def __init__(self, names: tuple[str, ...]):
        self.names = names

    def __enter__(self) -> None:
        written = _written.get()
        around = self.names or (type(written) is _Around and written.transforms)
        if _is_handle(written):
            self.token = _written.set(written)
        else:
            self.token = _written.set(_Around(self.names, written.transforms if written else ()) if around else None)

    def __exit__(self, *_: object) -> None:
        _written.reset(self.token)


def _is_handle(written: Any) -> bool:
    return written is not None and type(written) is not _Around


def names_now() -> tuple[str, ...]:
    """The named scopes around the code that runs now, outermost first."""
    written = _written.get()
    return written.names if type(written) is _Around else ()


def names_of(handle: Any) -> tuple[str, ...]:
    """The named scopes that the equation of this handle was written in, outermost first."""
    return handle.names if type(handle) is ScopedHandle else ()


def transforms_of(handle: Any) -> tuple[str, ...]:
    """What made the equation of this handle from the one written there: any of "jvp", "transpose", "vmap"."""
    return handle.transforms if type(handle) is ScopedHandle else ()


def made_by(transform: str, handle: Any) -> ScopedHandle:
    """The handle of an equation that a transformation makes from the one at `handle`."""
    if type(handle) is not ScopedHandle:
        return ScopedHandle((handle, (), _ALONE[transform]))
    handle, names, others = handle
    return ScopedHandle((handle, names, in_order((*others, transform))))


def moved(handle: Any, to: Any) -> ScopedHandle:
    """The handle of the same equation as it would be if it had been written at `to`."""
    place = to.handle if type(to) is ScopedHandle else to
    return ScopedHandle((place, names_of(handle), transforms_of(handle)))


TRANSFORMS = ("jvp", "transpose", "vmap")
_ALONE = {name: (name,) for name in TRANSFORMS}


@functools.cache
def in_order(transforms: tuple[str, ...]) -> tuple[str, ...]:
    """Transformations, each once, always in the same order."""
    return tuple(t for t in TRANSFORMS if t in transforms)


def replaying() -> bool:
    """Whether the equations made now stem from others, and not from code that runs."""
    return _is_handle(_written.get())


rules_run_by: dict[CodeType, str] = {}
"""The transformation whose rules some code runs. What was made below it, unless it passed the operation on, was made by it."""


class written_here:
    """Context manager: equations made inside were written by the code that runs now, a rule of the user's. They count as made
    by the transformation that runs it."""

    __slots__ = ("token",)

    def __enter__(self) -> None:
        transforms = transforms_of(_written.get())
        self.token = _written.set(_Around((), transforms) if transforms else None)

    def __exit__(self, *_: object) -> None:
        _written.reset(self.token)


class written_at:
    """Context manager: equations made inside stem from an equation written at `handle`."""

    __slots__ = ("handle", "token")

    def __init__(self, handle: tracebacks.Handle | None):
        self.handle = handle

    def __enter__(self) -> None:
        self.token = _written.set(self.handle)

    def __exit__(self, *_: object) -> None:
        _written.reset(self.token)


def user_frames(handle: Any) -> list[Position]:
    """The frames that are not the library's own, innermost first."""
    if handle is None:
        return []
    frames = tracebacks.frames(handle)
    return [position_in(code, lasti) for code, lasti in frames if not is_internal(code.co_filename)]


def user_position(handle: Any) -> Position | None:
    """The innermost frame that is not the library's own, or None."""
    if handle is None:
        return None
    for code, lasti in tracebacks.frames(handle):
        if not is_internal(code.co_filename):
            return position_in(code, lasti)
    return None


def qualified_position(handle: Any) -> Position | None:
    """As `user_position`, with the function's qualified name."""
    frames = tracebacks.frames(handle) if handle is not None else []
    users = ((code, lasti) for code, lasti in frames if not is_internal(code.co_filename))
    return next((position_in(c, lasti)._replace(function=c.co_qualname) for c, lasti in users), None)


def user_calls(handle: Any) -> list[Position]:
    """The innermost frame that is not the library's own and those that called it, up to the first of the library's."""
    frames = tracebacks.frames(handle) if handle is not None else []
    users = itertools.dropwhile(lambda frame: is_internal(frame[0].co_filename), frames)
    own = itertools.takewhile(lambda frame: not is_internal(frame[0].co_filename), users)
    return [position_in(code, lasti) for code, lasti in own]


def here() -> Position | None:
    """The user's line that is running now."""
    return user_position(capture())


def calling() -> Position | None:
    """The line of the user's that runs now; None where Python's library runs a function by itself, as a thread does."""
    return next((where for where in user_frames(capture()) if not is_stdlib(where.file)), None)
