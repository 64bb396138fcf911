"""Named axes that `vmap(axis_name=...)` opens: their names and sizes, for this thread or task."""

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


AxisEnv = tuple[tuple[Hashable, int], ...]
_env: ContextVar[AxisEnv] = ContextVar("jitscope_axes", default=())


class UnboundAxisError(NameError):
    """No named axis of that name is in scope."""


def current_axes() -> AxisEnv:
    """The named axes in scope with their sizes, outermost first."""
    return _env.get()


def axis_size(name: Hashable) -> int:
    """The size of the named axis in scope. Raises NameError if there is none of that name."""
    for bound, size in reversed(_env.get()):
        if bound == name:
            return size
    known = ", ".join(repr(bound) for bound, _ in _env.get()) or "none"
    raise UnboundAxisError(
        f"no axis is called {name!r} here; in scope: {known}. vmap(..., axis_name={name!r}) opens one"
    )


@contextmanager
def bind_axis(name: Hashable, size: int) -> Iterator[None]:
    """Put an axis in scope inside the block; None stands for an axis without a name."""
    if name is None:
        yield
        return
    token = _env.set((*_env.get(), (name, size)))
    try:
        yield
    finally:
        _env.reset(token)


@contextmanager
def use_axes(env: AxisEnv) -> Iterator[None]:
    """Replace the axes in scope inside the block."""
    token = _env.set(env)
    try:
        yield
    finally:
        _env.reset(token)
