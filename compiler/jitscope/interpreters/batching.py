"""`jitscope.interpreters.batching`: how operations are mapped. A rule of `primitive_batchers` takes the operands with the
mapped axis, where each has it (None: it does not), and the parameters; it gives the results and where they have the axis.
In `fancy_primitive_batchers` rules get the axis first (`size`, `name`), in `axis_primitive_batchers` its size, its name and
None."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.annotations import Array, ArrayLike
from ..core.avals import aval_of
from ..core.primitive import Primitive
from ..transforms import vmappable
from ..transforms.vmap import BatchAxis
from .tables import RuleTable


Rule = Callable[..., Any]
not_mapped = None


def _plain(rule: Rule) -> Rule:
    return lambda axis, args, dims, /, **params: rule(args, dims, **params)


def _from_plain(batch: Rule) -> Rule:
    def rule(args, dims, /, **params):
        size = next(aval_of(x).shape[d] for x, d in zip(args, dims) if d is not None)
        return batch(BatchAxis(None, size), args, dims, **params)

    return rule


def _with_axis(rule: Rule) -> Rule:
    return lambda axis, args, dims, /, **params: rule(axis.size, axis.name, None, args, dims, **params)


def _from_axis(batch: Rule) -> Rule:
    return lambda size, name, _, args, dims, /, **params: batch(BatchAxis(name, size), args, dims, **params)


primitive_batchers = RuleTable("batch", _plain, _from_plain)
axis_primitive_batchers = RuleTable("batch", _with_axis, _from_axis)
fancy_primitive_batchers = RuleTable("batch")


def defvectorized(prim: Primitive) -> None:
    """An operation that works on each element by itself, or takes leading axes: it is bound to operands whose mapped axes
    were brought to one place."""

    def batch(axis, args, dims, /, **params):
        args, to = axis.align(args, dims)
        out = prim.bind(*args, **params)
        return (out, [to] * len(out)) if prim.multiple_results else (out, to)

    fancy_primitive_batchers[prim] = batch


defbroadcasting = defvectorized


def defreducer(prim: Primitive) -> None:
    """An operation of one operand that reduces over the axes in its parameter `axes`."""

    def batch(axis, args, dims, /, *, axes, **params):
        (x,), (dim,) = args, dims
        over = tuple(a + (a >= dim) for a in axes)
        return prim.bind(x, axes=over, **params), dim - sum(a < dim for a in over)

    fancy_primitive_batchers[prim] = batch


def broadcast(x: ArrayLike, sz: int, axis: int, mesh_axis: Any = None) -> Array:
    """`x` repeated `sz` times along a new axis."""
    return BatchAxis(None, sz).move(x, None, axis)


def bdim_at_front(x: ArrayLike, bdim: int | None, size: int, mesh_axis: Any = None) -> Array:
    """`x` with its mapped axis in front, where it is repeated if it has none."""
    return BatchAxis(None, size).move(x, bdim, 0)


def register_vmappable(
    data_type: type,
    spec_type: type,
    axis_size_type: type,
    to_elt: Callable[..., Any],
    from_elt: Callable[..., Any],
    make_iota: Callable[[Any], Any] | None,
) -> None:
    """Let `vmap` take values of `data_type` as they are, mapped as an entry of `spec_type` in `in_axes` says.

    `to_elt(cont, get_idx, x, spec)` gives one example of `x`: `cont(part, axis)` is that of one of its parts, `get_idx()` the
    number of the example. `from_elt(cont, axis_size, x, spec)` makes the result of all examples, `cont(axis_size, part, axis)`
    that of a part. `make_iota(axis_size)` numbers the examples, where a size is no int.
    """
    vmappable.kinds[data_type] = vmappable.Kind(spec_type, axis_size_type, to_elt, from_elt)
    if make_iota is not None:
        vmappable.make_iota[axis_size_type] = make_iota


def unregister_vmappable(data_type: type) -> None:
    """Take `register_vmappable` back: values of that type are leaves or trees again, as they were."""
    vmappable.kinds.pop(data_type, None)


def is_vmappable(x: object) -> bool:
    """Whether a value is of a type that `register_vmappable` was told of."""
    return vmappable.is_vmappable(x)


__all__ = ["axis_primitive_batchers", "bdim_at_front", "broadcast", "defbroadcasting", "defreducer", "defvectorized",
           "fancy_primitive_batchers", "is_vmappable", "not_mapped", "primitive_batchers", "register_vmappable",
           "unregister_vmappable"]  # fmt: skip
