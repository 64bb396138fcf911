"""Layouts asked for inside a program: what the compiler is told, and what types say."""

from __future__ import annotations

from typing import Any

from ..core.avals import ShapedArray, aval_of
from ..core.effects import no_effects
from ..core.explicit import entries_of
from ..core.part_types import laid_of, sums_of
from ..core.primitive import Primitive
from ..core.resharding import Reshard, reshard_p
from ..core.shardings import UNCONSTRAINED, NamedSharding, SingleDeviceSharding, names_of, padded
from ..core.trace import Tracer, evaluating
from .array import Array, is_put
from .spreading import moved_to, place_of


class Constraint(Reshard):
    """`x`, which the compiler lays out as `sharding` says. Outside of programs it is moved."""

    evaluates = True

    def abstract(self, x, /, *, sharding):
        return x, no_effects

    def evaluate(self, args, /, *, sharding):
        return moved_to(args[0], sharding)

    def lower(self, ctx, x, /, *, sharding):
        return x if isinstance(sharding, SingleDeviceSharding) else super().lower(ctx, x, sharding=sharding)

    def transpose(self, ct, x, /, *, sharding):
        return [self.bind(ct, sharding=sharding)]

    def batch(self, axis, args, dims, /, *, sharding):
        if isinstance(sharding, SingleDeviceSharding):
            return self.bind(*args, sharding=sharding), dims[0]
        return super().batch(axis, args, dims, sharding=sharding)


sharding_constraint_p = Constraint("sharding_constraint")


def constrained(x: Any, sharding: NamedSharding | SingleDeviceSharding) -> Any:
    """A value, traced or not, laid out so. Raises ValueError for shapes that do not fit and for arrays that stay on other devices."""
    one = isinstance(sharding, SingleDeviceSharding)
    if not one and laid_of(aval_of(x)) is not None and sharding.mesh.are_all_axes_explicit:
        return check_claim(x, sharding)
    if type(x) is Array and is_put(x.memory) and x.place is not (sharding._device if one else place_of(sharding.mesh)):
        raise ValueError(
            f"incompatible devices: with_sharding_constraint asks for {sharding}, and the array stays on {x.place}: move it there with "
            "device_put(x, sharding)"
        )
    return _bound(sharding_constraint_p, x, sharding)


def check_claim(x: Any, sharding: NamedSharding) -> Any:
    """A value that lies so, as its type says (one that says nothing is whole). Raises AssertionError where that is false."""
    aval = aval_of(x)
    sharding.check(aval.shape)
    said = zip(entries_of(aval), padded(sharding.spec, aval.ndim))
    sums = (sharding.spec.unreduced, sharding.spec.reduced)
    if sums != sums_of(aval) or any(e is not UNCONSTRAINED and names_of(e) != names for names, e in said):
        raise AssertionError(
            f"with_sharding_constraint: the value is {aval.short()}, and does not lie as {sharding.spec}. Over Explicit axes types say how "
            "values lie, and a constraint only claims it. What to do: move it with jitscope.sharding.reshard(x, spec)"
        )
    return x


def resharded(x: Any, sharding: NamedSharding) -> Any:
    """The same, and its type says so."""
    return _bound(reshard_p, x, sharding)


def _bound(primitive: Primitive, x: Any, sharding: NamedSharding | SingleDeviceSharding) -> Any:
    if evaluating() and not isinstance(x, Tracer):
        return moved_to(x, sharding)
    aval: ShapedArray = aval_of(x)
    if isinstance(sharding, NamedSharding) and len(aval.shape) < len(sharding.spec):
        sharding.check(aval.shape)
    return primitive.bind(x, sharding=sharding)
