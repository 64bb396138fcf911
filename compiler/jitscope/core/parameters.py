"""The parameters of a Python function: what its arguments are called."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from inspect import Parameter
from typing import Any


_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


class Parameters:
    """The parameters of `fun`, read when they are first asked for; of callables without a signature nothing is known."""

    def __init__(self, fun: Callable[..., Any]):
        self.fun = fun

    @functools.cached_property
    def signature(self) -> inspect.Signature | None:
        """The function's signature, or None for callables that have none."""
        try:
            return inspect.signature(self.fun)
        except (ValueError, TypeError):
            return None

    @functools.cached_property
    def names(self) -> list[str]:
        """Their names, in order."""
        return list(self.signature.parameters) if self.signature else []

    @functools.cached_property
    def positional(self) -> list[str]:
        """The names of those that take an argument by position."""
        return [name for name in self.names if self._kind(name) in _POSITIONAL]

    @functools.cached_property
    def rest(self) -> str | None:
        """The name of `*args`."""
        return next((name for name in self.names if self._kind(name) is Parameter.VAR_POSITIONAL), None)

    @functools.cached_property
    def any_name(self) -> bool:
        """Whether there is `**kwargs`."""
        return any(self._kind(name) is Parameter.VAR_KEYWORD for name in self.names)

    def _kind(self, name: str) -> Any:
        assert self.signature is not None  # else there are no names
        return self.signature.parameters[name].kind

    def name(self, i: int) -> str:
        """What the argument in position `i` is called in the function."""
        known = self.positional
        return known[i] if 0 <= i < len(known) else f"{self.rest or 'args'}[{i - len(known) if i > 0 else i}]"
