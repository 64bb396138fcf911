"""Objects that stand in the place of Python functions."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any, TypeVar


Wrapper = TypeVar("Wrapper", bound=Callable[..., Any])


def stand_for(wrapper: Any, fun: Callable[..., Any]) -> None:
    """Give `wrapper` the name, the documentation and the other attributes of `fun`, which it calls."""
    named = [
        n for n in functools.WRAPPER_ASSIGNMENTS if n not in _TYPES or isinstance(getattr(fun, n, None), _TYPES[n])
    ]
    functools.update_wrapper(wrapper, fun, named)
    if not hasattr(wrapper, "__annotations__"):  # from Python 3.14 on, which has `__annotate__` in their place
        with contextlib.suppress(AttributeError, NameError):  # there are none, or they speak of what is not defined yet
            wrapper.__annotations__ = fun.__annotations__


_TYPES = {"__name__": str, "__qualname__": str, "__annotations__": dict, "__type_params__": tuple}
"""What a function takes only of these types: other objects that are called may have something else there, such as a method."""


def wraps(fun: Callable[..., Any]) -> Callable[[Wrapper], Wrapper]:
    """Decorator: `functools.wraps`, of anything that can be called."""

    def put(wrapper: Wrapper) -> Wrapper:
        stand_for(wrapper, fun)
        return wrapper

    return put


def own_name(fun: Any) -> str | None:
    """The name of a function, or of the one that a `functools.partial` calls, if it has one."""
    for named in (fun, getattr(fun, "func", None)):
        name = getattr(named, "__name__", None)
        if name and isinstance(name, str):
            return name
    return None
