"""Names for parts of programs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ContextDecorator
from typing import Any

from ..control.bodies import name_of
from ..core import call_sites
from ..core.wrapping import wraps
from ._flat import check_callable


__all__ = ["named_call", "named_scope"]


class named_scope(ContextDecorator):
    """Context manager and decorator: the equations written inside are in the scope `name`, and in those around it.

    The names stand with the positions in jaxprs and in all documents made from them (graphs, fusions, kernels), as
    "outer/inner"; compiled programs do not depend on them. Raises TypeError for a name that is not a str.
    """

    def __init__(self, name: str):
        if not isinstance(name, str):
            raise TypeError(f"named_scope: the name must be a str, not {type(name).__name__}")
        self.name = name
        self._entered: list[Any] = []

    def __enter__(self) -> None:
        scope = call_sites.within((*call_sites.names_now(), self.name))
        scope.__enter__()
        self._entered.append(scope)

    def __exit__(self, *_: Any) -> None:
        self._entered.pop().__exit__()

    def _recreate_cm(self) -> named_scope:
        return named_scope(self.name)


def named_call(fun: Callable[..., Any], *, name: str | None = None) -> Callable[..., Any]:
    """`fun` in the named scope `name`, by default the function's own name."""
    check_callable(fun, "named_call")
    scope = name_of(fun) if name is None else name
    named_scope(scope)

    @wraps(fun)
    def named(*args: Any, **kwargs: Any) -> Any:
        with named_scope(scope):
            return fun(*args, **kwargs)

    return named
