"""What types say of several devices: for each operation it follows from its operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..named_tuple import NamedTuple
from .effects import Effects
from .meshes_in_force import abstract
from .part_types import NO_SUMS, laid_of, nothing, sums_of, varying, with_mark
from .primitive import Primitive
from .sums import open_after


class TypedResults(NamedTuple):
    """The results of an operation, with what their types say; operands are to vary over `axes`."""

    out: Any
    effects: Effects
    axes: frozenset


def abstract_results(primitive: Primitive, avals: Sequence[Any], params: dict[str, Any]) -> TypedResults:
    """`primitive.abstract`, and what types say of several devices."""
    if primitive.types_itself:
        return TypedResults(*primitive.abstract(*avals, **params), nothing)
    if all(getattr(a, "mark", None) is None for a in avals):
        out, effects = primitive.abstract(*avals, **params)
        return TypedResults(out if abstract.get() is None else _whole(primitive, out), effects, nothing)
    plain = [a if a.mark is None else a.update(sharding=None) for a in avals]
    out, effects = primitive.abstract(*plain, **params)
    outs = list(out) if primitive.multiple_results else [out]
    laid = outs
    if any(laid_of(a) is not None for a in avals):
        from .explicit import laid_out  # of several devices

        laid = laid_out(primitive, avals, outs, params)
    elif abstract.get() is not None:
        laid = _whole(primitive, out) if primitive.multiple_results else [_whole(primitive, out)]
    axes = frozenset().union(*map(varying, avals))
    open_sums = [NO_SUMS] * len(outs)
    if any(any(sums_of(a)) for a in avals) or "unreduced" in params:
        open_sums = open_after(primitive, avals, outs, params, axes)
    if axes or any(map(any, open_sums)):
        laid = [with_mark(a, axes, sums, laid_of(a)) for a, sums in zip(laid, open_sums)]
    return TypedResults(laid if primitive.multiple_results else laid[0], effects, axes)


def _whole(primitive: Primitive, out: Any) -> Any:
    """The results of an operation on values that say nothing, where a mesh is in force: all devices have them."""
    from .explicit import explicit_in_force, whole_results

    mesh = explicit_in_force()
    if mesh is None:
        return out
    return whole_results(out, mesh) if primitive.multiple_results else whole_results([out], mesh)[0]
