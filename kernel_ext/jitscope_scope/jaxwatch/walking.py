"""The inner jaxprs of jax's equations, whatever container of parameters holds them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


_SIMPLE = (int, str, bool, float, type(None))


def is_jaxpr(value: Any) -> bool:
    """Whether a value is a jaxpr of jax's, not closed."""
    return hasattr(value, "eqns") and hasattr(value, "invars") and hasattr(value, "outvars")


def is_closed(value: Any) -> bool:
    """Whether a value is a closed jaxpr of jax's."""
    return hasattr(value, "consts") and is_jaxpr(getattr(value, "jaxpr", None))


def jaxprs_in(value: Any) -> Iterator[tuple[Any, Any]]:
    """The jaxprs in a parameter, each with the closed jaxpr that it is of, or None."""
    if type(value) in _SIMPLE:
        return
    if isinstance(value, (tuple, list)):
        for part in value:
            yield from jaxprs_in(part)
    elif is_closed(value):
        yield value.jaxpr, value
    elif is_jaxpr(value):
        yield value, None


def inner_jaxprs(params: dict[str, Any]) -> list[tuple[str, Any, Any]]:
    """The inner jaxprs of an equation with these parameters: (name of the parameter, jaxpr, closed jaxpr or None)."""
    return [(name, jaxpr, closed) for name, value in params.items() for jaxpr, closed in jaxprs_in(value)]
