"""Objects that stand in the place of Python functions."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any


def stand_for(wrapper: Any, fun: Callable[..., Any]) -> None:
    """Give `wrapper` the name, the documentation and the other attributes of `fun`, which it calls."""
    functools.update_wrapper(wrapper, fun)
    if not hasattr(wrapper, "__annotations__"):  # from Python 3.14 on, which has `__annotate__` in their place
        with contextlib.suppress(AttributeError, NameError):  # there are none, or they speak of what is not defined yet
            wrapper.__annotations__ = fun.__annotations__
