"""Arrays of jax's that are made a text: a number in it that is not finite is told, as one of jitscope's own is."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from jitscope.core import notices

from . import private


def install() -> Callable[[], None]:
    """Look at the arrays of which jax makes a text; gives the function that stops it."""
    kind = private.array_class()
    before = {
        name: vars(kind)[name]
        for name in ("__str__", "__repr__", "__format__")
        if kind is not None and name in vars(kind)
    }
    for name, method in before.items():
        setattr(kind, name, _looking(method))

    def stop() -> None:
        for name, method in before.items():
            if getattr(vars(kind).get(name), "__wrapped__", None) is method:  # nobody else has put another there
                setattr(kind, name, method)

    return stop


def _looking(method: Any) -> Any:
    @functools.wraps(method)
    def text(self: Any, *args: Any) -> Any:
        if notices.number_listeners:
            with suppress(Exception):  # an array that is gone, or lies elsewhere: its text says so
                _look(self)
        return method(self, *args)

    return text


def _look(array: Any) -> None:
    if array.size <= np.get_printoptions()["threshold"] and array.dtype.kind in "fc" and array.is_fully_addressable:
        notices.tell_text(np.asarray(array))
