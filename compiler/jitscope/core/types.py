"""What types say of several devices: for each operation it follows from its operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .effects import Effects
from .primitive import Primitive
from .varying import nothing, varying, with_varying


class Typed(NamedTuple):
    """The results of an operation, with what their types say; operands are to vary over `axes`."""

    out: Any
    effects: Effects
    axes: frozenset


def typed(primitive: Primitive, avals: Sequence[Any], params: dict[str, Any]) -> Typed:
    """`primitive.abstract`, and what types say of several devices."""
    if primitive.types_itself or all(getattr(a, "sharding", None) is None for a in avals):
        return Typed(*primitive.abstract(*avals, **params), nothing)
    axes = frozenset().union(*map(varying, avals))
    out, effects = primitive.abstract(*[a if a.sharding is None else a.update(sharding=None) for a in avals], **params)
    if axes:
        out = [with_varying(a, axes) for a in out] if primitive.multiple_results else with_varying(out, axes)
    return Typed(out, effects, axes)
