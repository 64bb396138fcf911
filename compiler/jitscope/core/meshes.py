"""Meshes: devices in a grid whose axes have names, or the grid alone; and which of them is in force."""

from __future__ import annotations

import enum
import math
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from ..named_tuple import NamedTuple
from ..xla.devices import all_devices
from .config import override
from .meshes_in_force import a_mesh_is_made, abstract, concrete, mesh_in_force, summed_later
from .trace import evaluating


class AxisType(enum.Enum):
    """Who decides how arrays lie along a mesh axis: the compiler (Auto), the types of the values (Explicit), or the function
    itself, which sees one device's part (Manual)."""

    Auto = enum.auto()
    Explicit = enum.auto()
    Manual = enum.auto()

    def __repr__(self) -> str:
        return self.name


class AbstractDevice(NamedTuple):
    """What is known of devices that are not there."""

    device_kind: str
    num_cores: int | None
    platform: str | None

    def _words(self) -> str:
        return f"device_kind={self.device_kind}, num_cores={self.num_cores}, platform={self.platform}"

    def __repr__(self) -> str:
        return f"AbstractDevice({self._words()})"


def _axis_types(names: tuple, types: Any, what: str) -> tuple[AxisType, ...]:
    usual = AxisType.Explicit if what == "AbstractMesh" else AxisType.Auto
    types = (usual,) * len(names) if types is None else types
    types = tuple(types) if isinstance(types, (tuple, list)) else (types,)
    if not all(isinstance(t, AxisType) for t in types):
        raise TypeError(f"axis_types of {what} must be members of jitscope.sharding.AxisType, not {types}")
    if len(types) != len(names):
        raise ValueError(f"{what}: there are {len(names)} axes {names} and {len(types)} axis_types {types}")
    return types


class _Grid:
    """What meshes of devices and abstract ones have in common. Equal meshes are one object."""

    axis_names: tuple[Hashable, ...]
    axis_sizes: tuple[int, ...]
    axis_types: tuple[AxisType, ...]

    @property
    def size(self) -> int:
        """The number of devices; 0 of the empty mesh."""
        return math.prod(self.axis_sizes) if self.axis_names else 0

    @property
    def empty(self) -> bool:
        """Whether it has no devices."""
        return self.size == 0

    @property
    def shape_tuple(self) -> tuple[tuple[Hashable, int], ...]:
        """(name, size) of each axis."""
        return tuple(zip(self.axis_names, self.axis_sizes))

    @property
    def shape(self) -> OrderedDict[Hashable, int]:
        """The size of each axis, by name."""
        return OrderedDict(self.shape_tuple)

    def _of_type(self, kind: AxisType) -> tuple[Hashable, ...]:
        return tuple(name for name, t in zip(self.axis_names, self.axis_types) if t is kind)

    @property
    def auto_axes(self) -> tuple[Hashable, ...]:
        """The names of the axes that the compiler lays arrays along by itself."""
        return self._of_type(AxisType.Auto)

    @property
    def explicit_axes(self) -> tuple[Hashable, ...]:
        """The names of the axes along which the types of arrays say how they lie."""
        return self._of_type(AxisType.Explicit)

    @property
    def manual_axes(self) -> tuple[Hashable, ...]:
        """The names of the axes along which a function sees the part of one device (inside shard_map)."""
        return self._of_type(AxisType.Manual)

    @property
    def are_all_axes_auto(self) -> bool:
        """Whether every axis is Auto."""
        return all(t is AxisType.Auto for t in self.axis_types)

    @property
    def are_all_axes_explicit(self) -> bool:
        """Whether every axis is Explicit."""
        return all(t is AxisType.Explicit for t in self.axis_types)

    @property
    def are_all_axes_manual(self) -> bool:
        """Whether every axis is Manual."""
        return all(t is AxisType.Manual for t in self.axis_types)

    def _axes_text(self) -> str:
        return ", ".join(f"'{name}': {size}" for name, size in self.shape_tuple)


_meshes: WeakValueDictionary[Any, Any] = WeakValueDictionary()


class Mesh(_Grid):
    """Devices in a grid with named axes: `Mesh(devices, ("data", "model"))`, where `devices` is an array of as many axes.

    `axis_types`: an `AxisType` for each (Auto if left out). Raises ValueError for names that do not fit.
    """

    devices: np.ndarray

    def __new__(
        cls,
        devices: np.ndarray | Sequence[Any],
        axis_names: str | Sequence[Hashable],
        axis_types: AxisType | Sequence[AxisType] | None = None,
    ) -> Mesh:
        devices = devices if isinstance(devices, np.ndarray) else np.array(devices)
        names = (axis_names,) if isinstance(axis_names, str) else tuple(axis_names)
        if any(name is None for name in names):
            raise ValueError(f"the axes of a mesh need names, not None: {names}")
        if devices.ndim != len(names):
            raise ValueError(
                f"a mesh has a name for each axis of its devices: there are {devices.ndim} axes and {len(names)} names {names}"
            )
        if len(set(names)) != len(names):
            raise ValueError(f"two axes of a mesh have one name: {names}")
        types = _axis_types(names, axis_types, "Mesh")
        key = (tuple(devices.flat), devices.shape, names, types)
        found = _meshes.get(key)
        if found is None:
            if devices.size:
                a_mesh_is_made()
            made = object.__new__(cls)
            made.devices = np.array(devices, dtype=object, copy=True)
            made.devices.flags.writeable = False
            made.axis_names, made.axis_sizes, made.axis_types = names, devices.shape, types
            found = _meshes.setdefault(key, made)
        return found

    def __reduce__(self) -> Any:
        return _with_ids, (self.device_ids, self.axis_names, self.axis_types)

    def update(
        self,
        devices: np.ndarray | Sequence[Any] | None = None,
        axis_names: str | Sequence[Hashable] | None = None,
        axis_types: AxisType | Sequence[AxisType] | None = None,
    ) -> Mesh:
        """A mesh with some parts changed. Raises ValueError where they do not fit."""
        given: Any = (devices, axis_names, axis_types)
        return Mesh(*[old if new is None else new for new, old in zip(given, (self.devices, self.axis_names, self.axis_types))])  # fmt: skip  # pyright: ignore[reportArgumentType]

    @property
    def device_ids(self) -> np.ndarray:
        """The ids of the devices, in the same grid."""
        return np.array([d.id for d in self.devices.flat], int).reshape(self.devices.shape)

    @property
    def is_multi_process(self) -> bool:
        """Whether devices of several processes are among them."""
        return len({d.process_index for d in self.devices.flat}) > 1

    @property
    def local_devices(self) -> list[Any]:
        """The devices of this process."""
        return [d for d in self.devices.flat if d.process_index == d.client.process_index()]

    @property
    def local_mesh(self) -> Mesh:
        """The part of the grid that this process has. Raises ValueError where that is not a grid."""
        if self.empty or not self.is_multi_process:
            return self
        mine = np.vectorize(lambda d: d.process_index == d.client.process_index(), otypes=[bool])(self.devices)
        places = np.nonzero(mine)
        block = tuple(slice(int(p.min()), int(p.max()) + 1) for p in places)
        if not mine[block].all():
            raise ValueError("the devices of this process are not a block of the mesh")
        return Mesh(self.devices[block], self.axis_names, self.axis_types)

    @property
    def abstract_mesh(self) -> AbstractMesh:
        """The grid without its devices."""
        if self.empty:
            return EMPTY
        d = self.devices.flat[0]
        return AbstractMesh(
            self.axis_sizes,
            self.axis_names,
            self.axis_types,
            abstract_device=AbstractDevice(d.device_kind, None, d.platform),
        )

    def __enter__(self) -> Mesh:
        self._entered = [*getattr(self, "_entered", ()), set_mesh(self)]
        return self

    def __exit__(self, *problem: Any) -> None:
        self._entered.pop().__exit__(*problem)

    def __str__(self) -> str:
        return "Mesh()" if self.empty else f"Mesh({self._axes_text()}, axis_types={self.axis_types})"

    def __repr__(self) -> str:
        if self.empty:
            return "Mesh(axis_sizes=(), axis_names=())"
        return f"Mesh(axis_sizes={self.axis_sizes}, axis_names={self.axis_names}, axis_types={self.axis_types})"


def _with_ids(ids: np.ndarray, names: Any, types: Any) -> Mesh:
    known = {d.id: d for d in all_devices()}
    return Mesh(np.array([known[i] for i in ids.flat], dtype=object).reshape(ids.shape), names, types)


class AbstractMesh(_Grid):
    """The sizes and names of a mesh's axes, without devices; they are Explicit unless `axis_types` says otherwise. Raises ValueError for
    names that do not fit."""

    abstract_device: AbstractDevice | None

    def __new__(
        cls,
        axis_sizes: Sequence[int] = (),
        axis_names: str | Sequence[Hashable] = (),
        axis_types: AxisType | Sequence[AxisType] | None = None,
        *,
        abstract_device: Any = None,
    ) -> AbstractMesh:
        names = (axis_names,) if isinstance(axis_names, str) else tuple(axis_names)
        sizes = tuple(axis_sizes)
        if len(names) != len(sizes):
            raise ValueError(f"an AbstractMesh has a name for each axis: there are sizes {sizes} and names {names}")
        types = _axis_types(names, axis_types, "AbstractMesh")
        key = (sizes, names, types, abstract_device)
        found = _meshes.get(key)
        if found is None:
            made = object.__new__(cls)
            made.axis_names, made.axis_sizes, made.axis_types, made.abstract_device = (
                names,
                sizes,
                types,
                abstract_device,
            )
            found = _meshes.setdefault(key, made)
        return found

    def __reduce__(self) -> Any:
        return _abstract, (self.axis_sizes, self.axis_names, self.axis_types, self.abstract_device)

    def update(
        self,
        axis_sizes: Sequence[int] | None = None,
        axis_names: str | Sequence[Hashable] | None = None,
        axis_types: AxisType | Sequence[AxisType] | None = None,
        **abstract_device: Any,
    ) -> AbstractMesh:
        """A mesh with some parts changed; `abstract_device=None` says nothing of devices. Raises ValueError where they do not fit, TypeError
        for other names."""
        given = (axis_sizes, axis_names, axis_types)
        old = (self.axis_sizes, self.axis_names, self.axis_types)
        parts: list[Any] = [b if a is None else a for a, b in zip(given, old)]
        return AbstractMesh(*parts, **{"abstract_device": self.abstract_device, **abstract_device})

    def update_axis_types(self, name_to_type: dict[Hashable, AxisType]) -> AbstractMesh:
        """A mesh whose axes of these names have other types."""
        return self.update(axis_types=tuple(name_to_type.get(n, t) for n, t in zip(self.axis_names, self.axis_types)))

    @property
    def abstract_mesh(self) -> AbstractMesh:
        """The mesh itself."""
        return self

    def _none(self) -> Any:
        """Of a `Mesh` alone. Raises ValueError: there are no devices."""
        raise ValueError("an AbstractMesh has no devices")

    devices = device_ids = local_devices = local_mesh = is_multi_process = property(_none)  # pyright: ignore

    def __repr__(self) -> str:
        device = "" if self.abstract_device is None else f", {self.abstract_device._words()}"
        return f"AbstractMesh({self._axes_text() or '()'}, axis_types={self.axis_types}{device})"


def _abstract(sizes: Any, names: Any, types: Any, device: Any) -> AbstractMesh:
    return AbstractMesh(sizes, names, types, abstract_device=device)


EMPTY = AbstractMesh()
EMPTY_MESH = Mesh(np.empty((), object), ())


# Which mesh is in force ----------------------------------------------------------------------------------------------


def get_mesh() -> Mesh:
    """The mesh of devices in force; empty where there is none."""
    return concrete.get() or EMPTY_MESH


def get_abstract_mesh() -> AbstractMesh:
    """The mesh in force, without its devices; empty where there is none."""
    return abstract.get() or EMPTY


class set_mesh:
    """Put a mesh of devices in force, from now on, or with `with` inside the block. None: no mesh. Raises ValueError for
    anything else, for a mesh with Manual axes, and while a function is traced."""

    def __init__(self, mesh: Mesh | None):
        if mesh is not None and not isinstance(mesh, Mesh):
            raise ValueError(f"set_mesh takes a jitscope.sharding.Mesh or None, not {type(mesh).__name__}")
        if mesh is not None and mesh.manual_axes:
            raise ValueError(f"{mesh} has Manual axes: inside shard_map alone axes are manual")
        if not evaluating():
            raise ValueError(
                "set_mesh is for outside of functions that are traced: inside, use_abstract_mesh changes the types of axes"
            )
        self._before = concrete.get(), abstract.get()
        mesh = None if mesh is None or mesh.empty else mesh
        concrete.set(mesh)
        abstract.set(mesh and mesh.abstract_mesh)
        self._scope = override.unchecked(mesh=mesh_in_force())
        self._scope.__enter__()

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: Any) -> None:
        self._scope.__exit__()
        mesh, grid = self._before
        concrete.set(mesh)
        abstract.set(grid)


class use_abstract_mesh:
    """Context manager: an `AbstractMesh` in force inside the block. Raises ValueError for anything else, and for one of another size
    than the mesh in force before, whose devices it is a grid of."""

    def __init__(self, mesh: AbstractMesh):
        if not isinstance(mesh, AbstractMesh):
            raise ValueError(f"use_abstract_mesh takes a jitscope.sharding.AbstractMesh, not {type(mesh).__name__}")
        self.mesh = mesh

    def __enter__(self) -> AbstractMesh:
        before = get_abstract_mesh()
        if not before.empty and not self.mesh.empty and before.size != self.mesh.size:
            raise ValueError(
                f"use_abstract_mesh: {self.mesh} has {self.mesh.size} devices, the mesh in force, {before}, has {before.size}. What to do: "
                "give the same number of devices in another grid, or put another mesh in force with jitscope.set_mesh(mesh)"
            )
        self._token = abstract.set(self.mesh)
        self._scope = override.unchecked(mesh=mesh_in_force())
        self._scope.__enter__()
        return self.mesh

    def __exit__(self, *_: Any) -> None:
        self._scope.__exit__()
        abstract.reset(self._token)


@contextmanager
def summing_later(axes: frozenset) -> Iterator[None]:
    """Inside the block products whose factors are cut alike along what is summed leave the sums over these axes open."""
    token = summed_later.set(axes)
    try:
        with override.unchecked(mesh=mesh_in_force()):
            yield
    finally:
        summed_later.reset(token)


def ordered(mesh: Any, names: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """Names of mesh axes in the order of the mesh."""
    names = set(names)
    return tuple(name for name in mesh.axis_names if name in names)
