"""`reshard`: a value laid out otherwise over the devices of a mesh, which its type says."""

from __future__ import annotations

from typing import Any

from .avals import ShapedArray, aval_of
from .effects import no_effects
from .meshes import AbstractMesh, AxisType
from .primitive import Primitive
from .shardings import UNCONSTRAINED, NamedSharding, PartitionSpec, explicit_part, names_of
from .zeros import Zero, is_zero


class Laid(Primitive):
    """`x`, laid out as `sharding` says; on one device nothing happens."""

    types_itself = True

    def abstract(self, x, /, *, sharding):
        return typed_as(x, sharding), no_effects

    def lower(self, ctx, x, /, *, sharding):
        meshes, mesh = ctx.module.meshes, sharding.mesh
        left_to_compiler = isinstance(mesh, AbstractMesh) and not mesh.explicit_axes
        if meshes.group is None or mesh.size == 1 or left_to_compiler:
            return x
        spec, rank = outside(sharding.spec, meshes.manual), ctx.rank(x)
        open_axes = range(rank) if mesh.explicit_axes and mesh.auto_axes else ()
        attribute = meshes.sharding(mesh, spec, rank, open_axes)
        return ctx.module.mlir.sdy.ShardingConstraintOp(x, attribute).result

    def jvp(self, primals, tangents, /, *, sharding):
        (x,), (t,) = primals, tangents
        out = self.bind(x, sharding=sharding)
        return out, Zero(aval_of(out)) if is_zero(t) else self.bind(t, sharding=sharding)

    def transpose(self, ct, x, /, *, sharding):
        return [as_typed(ct, x.aval)]

    def batch(self, axis, args, dims, /, *, sharding):
        (x,), (d,) = args, dims
        spec = list(sharding.spec.partitions)
        spec += [None] * (aval_of(x).ndim - 1 - len(spec))
        spec.insert(d, axis.names or (None if sharding.mesh.explicit_axes else UNCONSTRAINED))
        return self.bind(x, sharding=sharding.with_spec(PartitionSpec(*spec))), d


reshard_p = Laid("reshard")


def outside(spec: PartitionSpec, manual: Any) -> PartitionSpec:
    """A spec without the axes over which the code at hand is one device's."""
    if not manual:
        return spec
    return PartitionSpec(*[e if e is UNCONSTRAINED else tuple(n for n in names_of(e) if n not in manual) for e in spec.partitions])  # fmt: skip


def typed_as(aval: ShapedArray, sharding: Any) -> ShapedArray:
    """The aval of an array in that layout: types say what lies along Explicit axes."""
    part = explicit_part(sharding, aval.ndim) if isinstance(sharding, NamedSharding) else None
    return aval if aval.sharding is part else aval.update(sharding=part)


def as_typed(x: Any, aval: ShapedArray) -> Any:
    """`x` laid out as the type of another value says."""
    own, wanted = aval_of(x).sharding, aval.sharding
    if own is wanted or type(own if wanted is None else wanted) is not NamedSharding:
        return x
    return unsaid(x) if wanted is None else reshard_p(x, sharding=wanted)


def unsaid(x: Any, axes: Any = None) -> Any:
    """`x`, whose type says no longer how it lies along `axes` (all, for None): the compiler decides, here and in what follows."""
    mark = getattr(aval_of(x), "sharding", None)
    if type(mark) is not NamedSharding:
        return x
    mesh = mark.mesh.update_axis_types(dict.fromkeys(mark.mesh.explicit_axes if axes is None else axes, AxisType.Auto))
    return reshard_p(x, sharding=NamedSharding(mesh, mark.spec))
