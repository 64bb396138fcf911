"""Counts the calls of jitted functions that jax answers from its caches, while it is asked to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from jitscope.backend.function_objects import function_object

from ..observe import made_by
from . import private
from .signatures import fun_name
from .watching import definition, is_small


class Calls:
    """Calls of this thread by function, from `begin` to `end`; those that compile something are not among them. `small` is called at each
    call of a function of jax's own, an operation outside of jit. It costs some tenths of a microsecond for each call."""

    def __init__(self, small: Callable[[], None] | None = None) -> None:
        self._small = small
        self._are_small: dict[int, bool] = {}
        self._objects: Counter[int] = Counter()
        self._names: dict[int, Any] = {}
        self._hook = private.Hook(self._called)

    def begin(self) -> bool:
        """Whether calls are counted: not where `debug_nans` is on, or this jax has no way to tell."""
        try:
            return private.there() and self._hook.on()
        except (AttributeError, TypeError):  # a jax whose hook is another
            return False

    def end(self) -> dict[str, int]:
        """The counts."""
        self._hook.off()
        found: Counter[str] = Counter()
        for key, count in self._objects.items():
            inner = getattr(self._names[key], "__wrapped__", None)
            if inner is not None and not is_small(inner):
                found[_title(inner)] += count
        self._objects.clear()
        self._names.clear()
        return dict(found)

    def _called(self, fun: Any, *_: Any) -> None:
        key = id(fun)
        self._objects[key] += 1
        if self._names.setdefault(key, fun) is fun and self._small is not None and self._is_small(key, fun):
            self._small()

    def _is_small(self, key: int, fun: Any) -> bool:
        known = self._are_small.get(key)
        if known is None:
            inner = getattr(fun, "__wrapped__", None)
            known = self._are_small[key] = inner is not None and is_small(inner)
        return known


def _title(function: Any) -> str:
    """A function's name, with the transformations that made it: "grad of f"."""
    return made_by.named(fun_name(function), made_by.of_function(function_object(function), definition(function)))
