"""Layouts asked for inside a program: what the compiler is told, and what types say."""

from __future__ import annotations

from typing import Any

from ..core.avals import ShapedArray, aval_of
from ..core.effects import no_effects
from ..core.primitive import Primitive
from ..core.shardings import UNCONSTRAINED, NamedSharding, PartitionSpec, names_of
from ..core.trace import Tracer, evaluating
from ..core.zeros import Zero, is_zero
from .spreading import moved_to, typed


class Layout(Primitive):
    """`x`, laid out as `sharding` says. Outside of programs it is moved; on one device nothing happens."""

    evaluates = True

    def __init__(self, name: str, changes_type: bool):
        super().__init__(name)
        self.changes_type = changes_type

    def abstract(self, x, /, *, sharding):
        return typed(x, sharding) if self.changes_type else x, no_effects

    def evaluate(self, args, /, *, sharding):
        return moved_to(args[0], sharding)

    def lower(self, ctx, x, /, *, sharding):
        meshes = ctx.module.meshes
        if meshes.group is None or sharding.mesh.size == 1:
            return x
        spec = outside(sharding.spec, meshes.manual)
        return ctx.module.mlir.sdy.ShardingConstraintOp(x, meshes.sharding(sharding.mesh, spec, ctx.rank(x))).result

    def jvp(self, primals, tangents, /, *, sharding):
        (x,), (t,) = primals, tangents
        out = self.bind(x, sharding=sharding)
        return out, Zero(aval_of(out)) if is_zero(t) else self.bind(t, sharding=sharding)

    def transpose(self, ct, x, /, *, sharding):
        if not self.changes_type:
            return [self.bind(ct, sharding=sharding)]
        before = x.aval.sharding
        return [ct if before is None else self.bind(ct, sharding=before)]

    def batch(self, axis, args, dims, /, *, sharding):
        (x,), (d,) = args, dims
        spec = list(sharding.spec.partitions)
        spec += [None] * (aval_of(x).ndim - 1 - len(spec))
        spec.insert(d, UNCONSTRAINED)
        return self.bind(x, sharding=sharding.with_spec(PartitionSpec(*spec))), d


sharding_constraint_p = Layout("sharding_constraint", changes_type=False)
reshard_p = Layout("reshard", changes_type=True)


def outside(spec: PartitionSpec, manual: Any) -> PartitionSpec:
    """A spec without the axes over which the code at hand is one device's."""
    if not manual:
        return spec
    return PartitionSpec(*[e if e is UNCONSTRAINED else tuple(n for n in names_of(e) if n not in manual) for e in spec.partitions])  # fmt: skip


def constrained(x: Any, sharding: NamedSharding) -> Any:
    """A value, traced or not, laid out so. Raises ValueError for shapes that do not fit."""
    return _bound(sharding_constraint_p, x, sharding)


def resharded(x: Any, sharding: NamedSharding) -> Any:
    """The same, and its type says so."""
    return _bound(reshard_p, x, sharding)


def _bound(primitive: Layout, x: Any, sharding: NamedSharding) -> Any:
    if evaluating() and not isinstance(x, Tracer):
        return moved_to(x, sharding)
    aval: ShapedArray = aval_of(x)
    if len(aval.shape) < len(sharding.spec):
        sharding.check(aval.shape)
    return primitive.bind(x, sharding=sharding)
