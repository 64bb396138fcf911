"""`reshard`: a value laid out otherwise over the devices of a mesh, which its type says."""

from __future__ import annotations

from typing import Any

from .avals import ShapedArray, aval_of, cotangent_aval
from .effects import no_effects
from .meshes import AbstractMesh, AxisType
from .part_types import PartType, Sums, laid_of, sums_of, with_mark, without_sums
from .primitive import Primitive
from .shardings import UNCONSTRAINED, NamedSharding, PartitionSpec, explicit_part, names_of
from .zeros import Zero, is_zero


class Reshard(Primitive):
    """`x`, laid out as `sharding` says; on one device nothing happens."""

    types_itself = True

    def abstract(self, x, /, *, sharding):
        return typed_as(x, sharding), no_effects

    def lower(self, ctx, x, /, *, sharding):
        meshes, mesh = ctx.module.meshes, sharding.mesh
        taken = sums_of(ctx.avals_in[0]).unreduced
        left_to_compiler = isinstance(mesh, AbstractMesh) and not mesh.explicit_axes and not taken
        if meshes.group is None or mesh.size == 1 or left_to_compiler:
            return x
        spec, rank = outside(sharding.spec, meshes.manual), ctx.rank(x)
        open_axes = range(rank) if mesh.auto_axes and (mesh.explicit_axes or taken) else ()
        steps = [spec]
        if (
            taken - spec.unreduced and spec.unreduced - taken
        ):  # XLA ends the process where some are taken and others made in one step
            steps = [spec.update(unreduced=spec.unreduced & taken), spec]
        for step in steps:
            attribute = meshes.sharding(mesh, step, rank, open_axes)
            x = ctx.module.mlir.sdy.ShardingConstraintOp(x, attribute).result
        return x

    def jvp(self, primals, tangents, /, *, sharding):
        (x,), (t,) = primals, tangents
        out = self.bind(x, sharding=sharding)
        return out, Zero(aval_of(out)) if is_zero(t) else self.bind(t, sharding=sharding)

    def transpose(self, ct, x, /, *, sharding):
        return [as_typed(ct, cotangent_aval(x.aval))]

    def batch(self, axis, args, dims, /, *, sharding):
        (x,), (d,) = args, dims
        spec = list(sharding.spec.partitions)
        spec += [None] * (aval_of(x).ndim - 1 - len(spec))
        spec.insert(d, axis.names or (None if sharding.mesh.explicit_axes else UNCONSTRAINED))
        return self.bind(x, sharding=sharding.with_spec(sharding.spec.update(partitions=spec))), d


reshard_p = Reshard("reshard")


def outside(spec: PartitionSpec, manual: Any) -> PartitionSpec:
    """A spec without the axes over which the code at hand is one device's."""
    if not manual:
        return spec
    entries = [e if e is UNCONSTRAINED else tuple(n for n in names_of(e) if n not in manual) for e in spec.partitions]
    return spec.update(partitions=entries)


def typed_as(aval: ShapedArray, sharding: Any) -> ShapedArray:
    """The aval of an array in that layout: types say what lies along Explicit axes."""
    part = explicit_part(sharding, aval.ndim) if isinstance(sharding, NamedSharding) else None
    if type(aval.mark) is not PartType:
        return aval if aval.mark is part else aval.update(sharding=part)
    mark, said = aval.mark, sums_of(aval.update(sharding=part))
    sums = Sums(mark.unreduced | said.unreduced, mark.reduced | said.reduced)
    return with_mark(aval, mark.varying, sums, without_sums(part))


def as_typed(x: Any, aval: ShapedArray) -> Any:
    """`x` laid out as the type of another value says."""
    own, wanted = laid_of(aval_of(x)), laid_of(aval)
    if own is wanted:
        return x
    return with_auto_layout(x) if wanted is None else reshard_p(x, sharding=wanted)


def with_auto_layout(x: Any, axes: Any = None) -> Any:
    """`x`, whose type says no longer how it lies along `axes` (all, for None): the compiler decides, here and in what follows. Sums that
    are open are taken."""
    laid = laid_of(aval_of(x))
    if laid is None:
        return x
    mesh = laid.mesh.update_axis_types(dict.fromkeys(laid.mesh.explicit_axes if axes is None else axes, AxisType.Auto))
    return reshard_p(x, sharding=NamedSharding(mesh, PartitionSpec(*laid.spec.partitions)))
