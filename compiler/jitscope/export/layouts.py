"""How the arguments and results of an exported function lie, over a mesh whose devices are named when it is called."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from ..core.jaxpr import ClosedJaxpr
from ..core.meshes import AbstractMesh, Mesh
from ..core.messages import with_advice
from ..core.shardings import NamedSharding
from ..named_tuple import NamedTuple
from ..xla.spread import Spread


class Layouts(NamedTuple):
    """A NamedSharding over an AbstractMesh for each argument and result, None where nothing is said. `mesh`: that of the program,
    None on one device."""

    ins: tuple[Any, ...]
    outs: tuple[Any, ...]
    mesh: Any = None

    @property
    def devices(self) -> int:
        return 1 if self.mesh is None else self.mesh.size

    def of_pullback(self) -> Layouts:
        """Cotangents lie as what they belong to."""
        return Layouts((*self.ins, *self.outs), self.ins, self.mesh)

    def without(self, unused: Collection[int]) -> Layouts:
        """Of arguments that the program does not take, nothing is said."""
        return self._replace(ins=tuple(None if i in unused else s for i, s in enumerate(self.ins)))

    def spread(self, kept: Sequence[int]) -> Spread | None:
        """For lowering: of the arguments that are kept."""
        if self.mesh is None:
            return None
        return Spread(self.mesh, tuple(_said(self.ins[i]) for i in kept), tuple(map(_said, self.outs)), self.mesh, None)


class AbstractLayout(NamedTuple):
    """A layout without devices, as lowering reads it."""

    said: NamedSharding
    kind: str | None


def _said(sharding: NamedSharding | None) -> AbstractLayout | None:
    return None if sharding is None else AbstractLayout(sharding, sharding.memory_kind)


def layouts_of(asked: Sequence[Any], device: Any, results: int) -> Layouts:
    """Of a traced function: `asked` are the shardings of its arguments (None: nothing is said), `device` is where it would run."""
    ins = tuple(map(_abstract, asked))
    if not isinstance(device, Spread):
        return Layouts(ins, (None,) * results)
    outs = tuple(None if at is None else _abstract(at.said) for at in device.outs)
    return Layouts(ins, outs, device.mesh.abstract_mesh)


def without_devices(sharding: Any) -> bool:
    """Whether it lays out over an AbstractMesh of Auto axes."""
    return isinstance(sharding, NamedSharding) and isinstance(sharding.mesh, AbstractMesh) and sharding.mesh.are_all_axes_auto  # fmt: skip


def abstract_layouts(asked: Sequence[Any], results: Sequence[Any], closed: ClosedJaxpr) -> Layouts:
    """The same of a function that was traced for devices that are not there. Raises ValueError for shapes that do not fit, and for
    layouts over different numbers of devices."""
    ins = tuple(map(_abstract, asked))
    outs = tuple(map(_abstract, results or [None] * len(closed.out_avals)))
    meshes = []
    for s, aval in zip((*ins, *outs), (*closed.in_avals, *closed.out_avals)):
        if s is not None:
            s.check(aval.shape)
            meshes.append(s.mesh)
    if len({mesh.size for mesh in meshes}) > 1:
        raise ValueError(f"arguments and results lie over different numbers of devices: {list(dict.fromkeys(meshes))}")
    return Layouts(ins, outs, meshes[0] if meshes[0].size > 1 else None)


def _abstract(sharding: Any) -> NamedSharding | None:
    if not isinstance(sharding, NamedSharding):
        return None
    return NamedSharding(sharding.mesh.abstract_mesh, sharding.spec, memory_kind=sharding.memory_kind)


def over(sharding: NamedSharding | None, mesh: Mesh | AbstractMesh) -> NamedSharding | None:
    """The layout over another mesh. Raises ValueError for one of other sizes, names or types of axes."""
    if sharding is None:
        return None
    one, other = sharding.mesh, mesh.abstract_mesh
    if (one.shape_tuple, one.axis_types) != (other.shape_tuple, other.axis_types):
        raise ValueError(f"the mesh {mesh} does not match the mesh of the export, {one}: sizes, names and types of axes must be the same")  # fmt: skip
    devices_own = isinstance(mesh, Mesh) and sharding.memory_kind == "device"
    return NamedSharding(mesh, sharding.spec, memory_kind=None if devices_own else sharding.memory_kind)


def laid(ctx: Any, values: Sequence[Any], shardings: Sequence[NamedSharding | None]) -> list[Any]:
    """Values laid out so, in a program that is being lowered."""
    meshes = ctx.module.meshes
    return [
        x
        if s is None or s.mesh.size <= 1
        else ctx.module.mlir.sdy.ShardingConstraintOp(x, meshes.sharding(s.mesh, s.spec, ctx.rank(x))).result
        for x, s in zip(values, shardings)
    ]


def check_devices(ctx: Any, exported: Any) -> None:
    """Raises ValueError in a program over another number of devices than the function was exported for."""
    meshes = ctx.module.meshes
    here = 1 if meshes.group is None else meshes.mesh.size
    if exported.nr_devices not in (1, here):
        raise ValueError(
            with_advice(
                f"Function {exported.fun_name} was exported for {exported.nr_devices} devices and is called in a context with {here} "
                "devices, which is not allowed.",
                "give it arguments that lie over a mesh of "
                f"{exported.nr_devices} devices: device_put(x, NamedSharding(mesh, spec)), where in_shardings_jax(mesh) says how",
            )
        )
    if exported.nr_devices > 1 and meshes.manual:
        raise NotImplementedError(
            f"{exported.fun_name} was exported for {exported.nr_devices} devices, and a shard_map calls it for one of them. Call it "
            "outside of the shard_map"
        )
