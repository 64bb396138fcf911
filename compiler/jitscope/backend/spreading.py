"""Arrays over several devices: their layouts, moving them from one to another, and where a program runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..core.avals import ShapedArray, physical
from ..core.jaxpr import ClosedJaxpr, walk
from ..core.meshes import AbstractMesh, Mesh
from ..core.meshes_in_force import abstract, current_mesh
from ..core.part_types import sums_of
from ..core.resharding import reshard_p, typed_as as typed
from ..core.shardings import UNCONSTRAINED, NamedSharding, PartitionSpec, SingleDeviceSharding, names_of
from ..core.trace import evaluating
from ..core.varying import manual
from ..xla import client, parts
from ..xla.resharding import in_layout
from ..xla.spread import Group, Layout, MeshLayouts, Spread
from .array import Array, put_on, stays, to_array


# Layouts -------------------------------------------------------------------------------------------------------------


def said_of(at: Any) -> Any:
    """What a user knows a layout over several devices by; None for others."""
    return (at.said or NamedSharding(at._device.mesh, PartitionSpec())) if isinstance(at, Layout) else None  # pyright: ignore[reportArgumentType]


def place_of(mesh: Any) -> Any:
    """Where the programs of a mesh run: a group, or its only device."""
    devices = tuple(mesh.devices.flat)
    if len(devices) == 1:
        return devices[0]
    group = parts.group_of(devices)
    group.mesh = group.mesh or mesh
    if mesh not in group.meshes and len(group.meshes) < 8:
        group.meshes.append(mesh)
    return group


def layout_for(sharding: Any, aval: ShapedArray) -> Any:
    """What the runtime knows a layout by, for arrays of an aval. Raises ValueError for shapes that do not fit."""
    if isinstance(sharding, SingleDeviceSharding):
        return client.named_placement(sharding._device, sharding)
    if not isinstance(sharding, NamedSharding):
        raise ValueError(f"an array lies on a device or as a sharding says; this is neither: {sharding!r}")
    ndim = physical(aval).ndim
    sharding.check(aval.shape)
    found = sharding._layouts.get(ndim)
    if found is None:
        found = sharding._layouts[ndim] = _made(sharding, ndim)
    return found


def _made(sharding: NamedSharding, ndim: int) -> Any:
    mesh = sharding.mesh
    if isinstance(mesh, AbstractMesh):
        raise ValueError(f"{sharding} says no devices: give a NamedSharding of a Mesh")
    place = place_of(mesh)
    if not isinstance(place, Group):
        return client.named_placement(place, sharding)
    found = parts.layout(place, mesh.axis_sizes, _cuts(sharding, ndim), sharding, sharding._memory_kind)
    found.terms = bool(sharding.spec.unreduced)
    return found


def _cuts(sharding: NamedSharding, ndim: int) -> list[tuple[int, ...]]:
    """By which axes of its mesh, as numbers, each axis of an array is cut."""
    number = {name: i for i, name in enumerate(sharding.mesh.axis_names)}
    axes = [tuple(number[name] for name in names_of(entry)) for entry in sharding.spec.partitions]
    return axes + [()] * (ndim - len(axes))


def hlo_sharding(sharding: NamedSharding, ndim: int) -> Any:
    """A layout as XLA has it, of arrays of `ndim` axes."""
    return parts.hlo_sharding(sharding.mesh.axis_sizes, _cuts(sharding, ndim))


def chosen(
    proto: Any, shape: tuple[int, ...], group: Group, mesh: Any, like: tuple[Layout, int] | None = None
) -> Layout:
    """The layout that XLA chose for a result: that of the argument `like` (with its rank) if it lies so, as in JAX; else by the names of
    the mesh; of another mesh of these devices, where that one has none."""
    found = parts.tiles(proto)
    if like is not None and like[1] == len(shape) and like[0].said.mesh is mesh:
        own = parts.tiles(like[0].hlo.to_proto())
        if own is found is None or (own is not None and found is not None and _same(like[0], found)):
            return like[0]
    if found is None:
        return parts.layout(group, mesh.axis_sizes, [()] * len(shape), NamedSharding(mesh, PartitionSpec()))
    named = (at for m in (mesh, *group.meshes) if (at := _by_names(found, shape, group, m)) is not None)
    return next(named, None) or _unnamed(group, found)


def _by_names(
    found: tuple[tuple[int, ...], np.ndarray], shape: tuple[int, ...], group: Group, mesh: Any
) -> Layout | None:
    """A layout by the names of a mesh; None where these do not say it."""
    sizes = mesh.axis_sizes
    axes: list[tuple[int, ...]] = [()] * len(shape)
    dims, numbers = found
    places = np.empty((numbers.size, len(dims)), int)
    for place, number in np.ndenumerate(numbers):
        places[int(number)] = place
    grid = places.reshape(*sizes, len(dims))
    for i in range(len(shape)):
        steps = [(int(grid[(*[0] * a, 1, *[0] * (len(sizes) - a - 1))][i]), a) for a, n in enumerate(sizes) if n > 1]
        axes[i] = tuple(a for step, a in sorted(steps, key=lambda s: -s[0]) if step)
    names = [tuple(mesh.axis_names[a] for a in entry) for entry in axes]
    while names and not names[-1]:
        names.pop()
    made = parts.layout(group, sizes, axes, NamedSharding(mesh, PartitionSpec(*names)))
    return made if _same(made, found) else None


def _same(made: Layout, wanted: tuple[tuple[int, ...], np.ndarray]) -> bool:
    one = parts.tiles(made.hlo.to_proto())
    # Copies of a part may be numbered in any order.
    return one is not None and one[0] == wanted[0] and bool((np.sort(one[1], -1) == np.sort(wanted[1], -1)).all())


def _unnamed(group: Group, found: tuple[tuple[int, ...], np.ndarray]) -> Layout:
    """A layout that the mesh has no names for, by a mesh of its own."""
    dims, numbers = found
    devices = np.array(group.devices, dtype=object)[numbers.ravel()].reshape(dims)
    names = tuple(f"part{i}" for i in range(len(dims) - 1))
    said = NamedSharding(
        Mesh(devices, (*names, "copy")), PartitionSpec(*[n if d > 1 else None for n, d in zip(names, dims)])
    )
    return parts.layout_of_tiles(group, dims, numbers, said)


def says_nothing(sharding: Any) -> bool:
    """Whether it is what types say that say nothing: a sharding over no axes."""
    return isinstance(sharding, NamedSharding) and isinstance(sharding.mesh, AbstractMesh) and sharding.mesh.empty


class NoMeshError(RuntimeError):
    """A PartitionSpec that speaks of no mesh, since none is in force."""


def requested_sharding(x: Any) -> Any:
    """The sharding that a user means, or the device: None, a device, a sharding, or a spec for the mesh in force. Raises
    ValueError for others."""
    if isinstance(x, PartitionSpec):
        here = manual()
        mesh = here.mesh if here is not None else current_mesh()
        if mesh is None:
            raise NoMeshError(
                f"a PartitionSpec ({x}) needs a mesh in force: use jitscope.set_mesh(mesh), or give a NamedSharding(mesh, spec)"
            )
        return NamedSharding(_as_in_force(mesh), x)
    return x


def _as_in_force(mesh: Mesh) -> Mesh:
    """The mesh, in the grid and with the types of axes that `use_abstract_mesh`, `auto_axes` and `explicit_axes` put in force."""
    grid = abstract.get()
    if grid is None or grid.manual_axes or grid == mesh.abstract_mesh or grid.size != mesh.size:
        return mesh
    return Mesh(mesh.devices.reshape(grid.axis_sizes), grid.axis_names, grid.axis_types)


# Moving --------------------------------------------------------------------------------------------------------------


def moved_to(x: Any, sharding: Any) -> Array:
    """Any value as an array in a layout, which the user asks for."""
    array, sharding = to_array(x), _settled(sharding)
    own = getattr(array.sharding, "mesh", None)
    if own is not None and own.abstract_mesh == getattr(
        sharding, "mesh", None
    ):  # as the type of another array over it says
        sharding = NamedSharding(own, sharding.spec)
    if sums_of(array.aval).unreduced or (type(sharding) is NamedSharding and sharding.spec.unreduced):
        return _summed(array, sharding)
    at = layout_for(sharding, array.aval)
    aval = typed(array.aval, sharding)
    if array.buf._sharding is at:
        return array if aval is array.aval else Array(array.buf, aval)
    return stays(Array(in_layout(array.buf, at), aval))


def _summed(array: Array, sharding: Any) -> Array:
    """The same where terms of sums are added up, or made: a program does that."""
    if type(sharding) is not NamedSharding or not evaluating():
        raise NotImplementedError(
            f"{array.aval.short()} to {sharding}: devices have terms of a sum. What to do: jitscope.sharding.reshard(x, spec)"
        )
    if getattr(array.buf._sharding, "_device", None) is not place_of(sharding.mesh):
        array = moved_to(array, sharding.with_spec(sharding.spec.update(unreduced=frozenset())))
    return array if array.sharding is sharding else reshard_p.bind(array, sharding=sharding)


def _settled(sharding: Any) -> Any:
    """A sharding that says all: what it leaves open is whole."""
    if type(sharding) is not NamedSharding or UNCONSTRAINED not in sharding.spec.partitions:
        return sharding
    entries = [None if e is UNCONSTRAINED else e for e in sharding.spec.partitions]
    return sharding.with_spec(sharding.spec.update(partitions=entries))


def put_pieces_of(at: Any, aval: ShapedArray, values: Sequence[np.ndarray]) -> Any:
    """A buffer in a layout, of the values that each of this process's devices is to have."""
    if isinstance(at, Layout):
        return parts.put_pieces(aval.shape, aval.dtype, at, values)
    return in_layout(client.put(values[0], at._device), at)


# Programs ------------------------------------------------------------------------------------------------------------


def meshes_of(closed: ClosedJaxpr) -> Iterator[Any]:
    """The meshes of devices that a program's equations name."""
    for _, eqn in walk(closed.jaxpr):
        for value in eqn.params.values():
            mesh = value.mesh if isinstance(value, NamedSharding) else value
            if isinstance(mesh, Mesh) and not mesh.empty:
                yield mesh


def _device_named(closed: ClosedJaxpr) -> Any:
    """The device that a program's equations name, if there is one. Raises ValueError for several."""
    if "device" not in closed.derived:
        shardings = (value for _, eqn in walk(closed.jaxpr) for value in eqn.params.values())
        found = list(dict.fromkeys(s._device for s in shardings if isinstance(s, SingleDeviceSharding)))
        if len(found) > 1:
            raise ValueError(
                f"incompatible devices: {closed.jaxpr.debug.name} names {found}, and a program on one device runs there alone"
            )
        closed.derived["device"] = found[0] if found else None
    return closed.derived["device"]


def mesh_of_program(closed: ClosedJaxpr) -> Mesh | None:
    """The mesh of several devices that a program names, if there is one."""
    if "mesh" not in closed.derived:
        closed.derived["mesh"] = next((m for m in meshes_of(closed) if m.size > 1), None)
    return closed.derived["mesh"]


def spread_for(
    closed: ClosedJaxpr, layouts: Sequence[Any], device: Any, outs: Sequence[Any] = (), by_itself: bool = False
) -> Any:
    """Where a program runs: the device, or, where an argument (`layouts`: as the runtime says it; None anywhere), a result
    (`outs`: shardings or None) or an equation asks for several, how it is spread over them. Raises ValueError where some are on
    other devices; of arguments on one device, those that were put there. `by_itself`: it is one eager operation."""
    wanted = [s.mesh for s in outs if isinstance(s, NamedSharding) and s.mesh.size > 1]
    # What is whole everywhere says least of how the others are to be named.
    given = [_mesh_of(at) for at in sorted((at for at in layouts if isinstance(at, Layout)), key=_is_whole)]
    mesh = next(iter([*wanted, *given]), None) or _named(closed)
    if mesh is None and not isinstance(device, Group):
        return _on_one(closed, layouts, device, outs, by_itself)
    mesh = _of_types(closed, mesh or device.mesh)
    group = place_of(mesh)
    for named in (_device_named(closed), *[s._device for s in outs if isinstance(s, SingleDeviceSharding)]):
        if named is not None:
            raise ValueError(f"incompatible devices: {closed.jaxpr.debug.name} names {named}, and runs on {group}")
    _check_devices(closed, layouts, [*wanted, *meshes_of(closed)], group)
    ins = tuple(at if at is not None and at._device is group else parts.replicated(group) for at in layouts)
    results = [_said(s, a, mesh) for s, a in zip(outs or [None] * len(closed.out_avals), closed.out_avals)]
    found = tuple(None if s is None else layout_for(s, a) for s, a in zip(results, closed.out_avals))
    return Spread(group, ins, found, mesh, chosen, like=_first_named(closed, layouts, group))


def _first_named(closed: ClosedJaxpr, layouts: Sequence[Any], group: Group) -> tuple[Layout, int] | None:
    """The layout of the first argument that lies over the group by names, and its rank."""
    for at, aval in zip(layouts, closed.in_avals):
        if isinstance(at, Layout) and at._device is group and at.said is not None:
            return (at, physical(aval).ndim) if at.kind is None and not at.terms else None
    return None


def _on_one(closed: ClosedJaxpr, layouts: Sequence[Any], device: Any, outs: Sequence[Any], by_itself: bool) -> Any:
    """The device, and how the results are known where a mesh of it is named: as asked, as their types say, as the first argument
    (of an operation by itself, the first that has a name) where all that have a name have its, else whole."""
    said = [getattr(at, "said", None) for at in layouts]
    told = [s for s in said if isinstance(s, NamedSharding)]
    if told and not by_itself and isinstance(said[0], SingleDeviceSharding):
        told = []  # the first argument was put on the device itself
    asked = [s for s in outs if isinstance(s, NamedSharding)]
    mesh = next((s.mesh for s in [*asked, *told]), None) or next(meshes_of(closed), None) or current_mesh()
    device = _where_named(closed, said, outs, device)
    home = client.sharding_of(device)
    ins = tuple(home if at is None or at._device is not device else at for at in layouts)
    if mesh is None or place_of(mesh) is not device:
        put = _device_named(closed) is not None or any(isinstance(s, SingleDeviceSharding) for s in (*said, *outs))
        return MeshLayouts(device, ins, (put_on(device),) * len(closed.out_avals)) if put else device
    mesh = _of_types(closed, mesh)
    first = said.index(told[0]) if told and by_itself else 0
    alike = told and said[first] is not None and not mesh.explicit_axes and all(s is said[first] for s in told)
    like, rank = (said[first], closed.in_avals[first].ndim) if alike else (None, None)
    results = [
        _said(s, a, mesh) or (like if a.ndim == rank else NamedSharding(mesh, PartitionSpec()))
        for s, a in zip(outs or [None] * len(closed.out_avals), closed.out_avals)
    ]
    return MeshLayouts(device, ins, tuple(map(layout_for, results, closed.out_avals)))


def _where_named(closed: ClosedJaxpr, said: Sequence[Any], outs: Sequence[Any], device: Any) -> Any:
    """The device that the program or what is asked of its results names, else the given one. Raises ValueError where several are
    named, or an argument was put on another."""
    names = [_device_named(closed), *[s._device for s in outs if isinstance(s, SingleDeviceSharding)]]
    named = next((d for d in names if d is not None), device)
    here = [*[d for d in names if d is not None], *[device for s in said if s is not None]]
    if other := next((d for d in here if d is not named), None):
        raise ValueError(
            f"incompatible devices: {closed.jaxpr.debug.name} names {named}, and others of its values are on {other}"
        )
    return named


def _named(closed: ClosedJaxpr) -> Mesh | None:
    """The mesh that a program's equations name, where the one in force differs from it in types of axes alone that one, which knows
    how its results are known; else the one in force."""
    named, here = mesh_of_program(closed), _mesh_in_force()
    if named is None or here is None:
        return named or here
    return here if here.shape_tuple == named.shape_tuple and place_of(here) is place_of(named) else named


def _mesh_in_force() -> Mesh | None:
    """The mesh of several devices in force, over which programs run that name no other one."""
    mesh = current_mesh()
    return mesh if mesh is not None and mesh.size > 1 else None


def _of_types(closed: ClosedJaxpr, mesh: Any) -> Any:
    """The mesh, with the types of axes that the types of values speak of."""
    marks = (a.mark for a in (*closed.out_avals, *closed.in_avals) if type(getattr(a, "mark", None)) is NamedSharding)
    said = next((mark.mesh for mark in marks), None)
    if said is None or said.axis_types == mesh.axis_types or said.shape_tuple != mesh.shape_tuple:
        return mesh
    return mesh.update(axis_types=said.axis_types)


def _over(aval: Any, mesh: Any) -> bool:
    mark = aval.mark
    return type(mark) is NamedSharding and mark.mesh.shape_tuple == mesh.shape_tuple


def _said(asked: Any, aval: Any, mesh: Any) -> Any:
    """The sharding of a result: as asked for, else as its type says, where the type says all."""
    if asked is not None or not mesh.are_all_axes_explicit or not _over(aval, mesh):
        return asked
    return NamedSharding(mesh, aval.mark.spec)


def _is_whole(at: Layout) -> bool:
    return at.said is None or at.said.is_fully_replicated


def _mesh_of(at: Layout) -> Any:
    mesh = at.said and at.said.mesh
    return mesh if mesh is not None and place_of(mesh) is at._device else at._device.mesh


def _check_devices(closed: ClosedJaxpr, layouts: Sequence[Any], meshes: Sequence[Any], group: Group) -> None:
    name = closed.jaxpr.debug.name
    for mesh in meshes:
        if mesh.size > 1 and place_of(mesh) is not group:
            raise ValueError(
                f"incompatible devices: {name} names the mesh {mesh} of the devices {mesh.device_ids.ravel().tolist()}, and runs "
                f"on {group}"
            )
    names = closed.jaxpr.debug.arg_names
    for i, at in enumerate(layouts):
        if at is not None and at._device is not group and (isinstance(at, Layout) or at.said is not None):
            raise ValueError(
                f"incompatible devices: argument {names[i] if i < len(names) else i} of {name} is on {at._device}, and the program "
                f"runs on {group}: move it there with device_put"
            )
