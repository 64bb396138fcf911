"""What types say of several devices: for each operation it follows from its operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .effects import Effects
from .meshes_in_force import abstract
from .primitive import Primitive
from .varying import Varying, nothing, varying, with_varying


class Typed(NamedTuple):
    """The results of an operation, with what their types say; operands are to vary over `axes`."""

    out: Any
    effects: Effects
    axes: frozenset


def typed(primitive: Primitive, avals: Sequence[Any], params: dict[str, Any]) -> Typed:
    """`primitive.abstract`, and what types say of several devices."""
    if primitive.types_itself:
        return Typed(*primitive.abstract(*avals, **params), nothing)
    marks = {type(mark) for a in avals if (mark := getattr(a, "sharding", None)) is not None}
    if not marks:
        out, effects = primitive.abstract(*avals, **params)
        return Typed(out if abstract.get() is None else _whole(primitive, out), effects, nothing)
    plain = [a if a.sharding is None else a.update(sharding=None) for a in avals]
    out, effects = primitive.abstract(*plain, **params)
    if Varying not in marks:
        from .explicit import laid_out  # of several devices

        outs = laid_out(primitive, avals, out if primitive.multiple_results else [out], params)
        return Typed(outs if primitive.multiple_results else outs[0], effects, nothing)
    axes = frozenset().union(*map(varying, avals))
    if axes:
        out = [with_varying(a, axes) for a in out] if primitive.multiple_results else with_varying(out, axes)
    return Typed(out, effects, axes)


def _whole(primitive: Primitive, out: Any) -> Any:
    """The results of an operation on values that say nothing, where a mesh is in force: all devices have them."""
    from .explicit import explicit_in_force, whole_results

    mesh = explicit_in_force()
    if mesh is None:
        return out
    return whole_results(out, mesh) if primitive.multiple_results else whole_results([out], mesh)[0]
