"""Shardings: how an array is laid out over devices."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterator, Sequence, Set
from enum import Enum
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from ..xla.devices import all_devices
from .annotations import Device
from .meshes import AbstractMesh, AxisType, Mesh
from .part_types import sums_text


class _Unconstrained:
    def __repr__(self) -> str:
        return "UNCONSTRAINED"

    def __reduce__(self) -> Any:
        return _unconstrained, ()


UNCONSTRAINED = _Unconstrained()


def _unconstrained() -> _Unconstrained:
    return UNCONSTRAINED


def _entry(part: Any) -> Any:
    """One axis of a spec in its shortest form: a name, a tuple of several names, or None."""
    if isinstance(part, list):
        part = tuple(part)
    if isinstance(part, tuple):
        if any(isinstance(name, tuple) for name in part):
            raise ValueError(f"an axis is spread over mesh axes by name: {part!r} has a tuple in a tuple")
        return None if not part else part[0] if len(part) == 1 else part
    return part


_specs: WeakValueDictionary[Any, PartitionSpec] = WeakValueDictionary()


class UnreducedKind(Enum):
    """What is still to be done with the values of several devices, where an array is unreduced. Here they are terms of a sum."""

    sum = 1
    max = 2
    min = 3


class PartitionSpec:
    """Which mesh axes each axis of an array is spread over: a name, a tuple of names, or None. Axes that are not mentioned are
    whole. `unreduced`: mesh axes over which sums are still to be taken; `reduced`: those over which they were. Equal ones are
    one object.

    Raises ValueError for an axis that is both spread and unreduced or reduced, and for tuples in tuples, TypeError where
    these are no sets, NotImplementedError for an `unreduced_kind` other than sums.
    """

    UNCONSTRAINED = UNCONSTRAINED
    partitions: tuple[Any, ...]
    unreduced: frozenset
    reduced: frozenset

    def __new__(
        cls,
        *partitions: Hashable | Sequence[Hashable],
        unreduced: Set[Hashable] = frozenset(),
        reduced: Set[Hashable] = frozenset(),
        unreduced_kind: UnreducedKind | None = None,
    ) -> PartitionSpec:
        for name, given in (("unreduced", unreduced), ("reduced", reduced)):
            if not isinstance(given, (set, frozenset)):
                raise TypeError(f"{name} of a PartitionSpec is a set of mesh axes, not {type(given).__name__}")
        if unreduced_kind is not None:
            _check_sum(unreduced_kind, unreduced)
        parts, unreduced, reduced = tuple(map(_entry, partitions)), frozenset(unreduced), frozenset(reduced)
        key = (parts, unreduced, reduced)
        found = _specs.get(key)
        if found is None:
            _check_sums(parts, unreduced, reduced)
            made = object.__new__(cls)
            made.partitions, made.unreduced, made.reduced = key
            found = _specs.setdefault(key, made)
        return found

    @property
    def unreduced_kind(self) -> UnreducedKind | None:
        """`UnreducedKind.sum` where sums are still to be taken."""
        return UnreducedKind.sum if self.unreduced else None

    def __init_subclass__(cls, **_: Any) -> None:
        raise TypeError("PartitionSpec has no subclasses")

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return hash((self.partitions, self.unreduced, self.reduced))

    def __reduce__(self) -> Any:
        return _spec, (self.partitions, self.unreduced, self.reduced)

    def __repr__(self) -> str:
        sums = [f"{name}={set(given)!r}" for name in ("unreduced", "reduced") if (given := getattr(self, name))]
        if not sums:
            return f"P({repr(self.partitions)[1:-1]})"
        kind = ["unreduced_kind=sum"] if self.unreduced else []
        return f"P({', '.join([*map(repr, self.partitions), *sums, *kind])})"

    def __iter__(self) -> Iterator[Any]:
        return iter(self.partitions)

    def __getitem__(self, i: Any) -> Any:
        return self.partitions[i]

    def __len__(self) -> int:
        return len(self.partitions)

    def __add__(self, other: Any) -> PartitionSpec:
        if isinstance(other, PartitionSpec):
            partitions = (*self.partitions, *other.partitions)
            return PartitionSpec(
                *partitions, unreduced=self.unreduced | other.unreduced, reduced=self.reduced | other.reduced
            )
        return PartitionSpec(*self.partitions, *other) if isinstance(other, tuple) else NotImplemented

    def __radd__(self, other: Any) -> PartitionSpec:
        return PartitionSpec(*other, *self.partitions) if isinstance(other, tuple) else NotImplemented

    def index(self, value: str | tuple[str, ...] | None) -> int:
        """The first axis of the array that lies along `value` (a name, a tuple of names, None). Raises ValueError if none
        does."""
        return self.partitions.index(_entry(value))

    def count(self, value: str | tuple[str, ...] | None) -> int:
        """How many axes of the array lie along `value` (a name, a tuple of names, None)."""
        return self.partitions.count(_entry(value))

    def update(
        self,
        partitions: Sequence[Any] | None = None,
        unreduced: Set[Hashable] | None = None,
        reduced: Set[Hashable] | None = None,
        unreduced_kind: UnreducedKind | None = None,
    ) -> PartitionSpec:
        """A spec with some parts changed. Raises TypeError, ValueError as `PartitionSpec`."""
        return PartitionSpec(
            *(self.partitions if partitions is None else partitions),
            unreduced=self.unreduced if unreduced is None else unreduced,
            reduced=self.reduced if reduced is None else reduced,
            unreduced_kind=unreduced_kind,
        )


def _spec(partitions: tuple, unreduced: frozenset, reduced: frozenset) -> PartitionSpec:
    return PartitionSpec(*partitions, unreduced=unreduced, reduced=reduced)


def _check_sum(kind: Any, unreduced: Set[Hashable]) -> None:
    if not isinstance(kind, UnreducedKind):
        raise TypeError(f"unreduced_kind of a PartitionSpec is an UnreducedKind, not {type(kind).__name__}")
    if not unreduced:
        raise ValueError(f"unreduced_kind is {kind}, and the PartitionSpec is unreduced over no axis")
    if kind is not UnreducedKind.sum:
        raise NotImplementedError(f"{kind}: arrays here are unreduced over sums alone")


def _check_sums(parts: tuple, unreduced: frozenset, reduced: frozenset) -> None:
    used = {name for part in parts for name in names_of(part)}
    if unreduced & reduced:
        raise ValueError(f"a PartitionSpec cannot be both unreduced and reduced over {set(unreduced & reduced)}")
    for word, given in (("unreduced", unreduced), ("reduced", reduced)):
        if None in given:
            raise ValueError(f"{word} names mesh axes, None is none")
        if used & given:
            raise ValueError(f"a PartitionSpec cannot be spread over and {word} over {set(used & given)}: {parts}")


P = PartitionSpec


def names_of(entry: Any) -> tuple[Any, ...]:
    """The mesh axes that one entry of a spec names."""
    if entry is None or entry is UNCONSTRAINED:
        return ()
    return entry if isinstance(entry, tuple) else (entry,)


def mentioned(spec: PartitionSpec) -> frozenset:
    """All mesh axes that a spec spreads over."""
    return frozenset(name for entry in spec.partitions for name in names_of(entry))


class DuplicateSpecError(Exception):
    """A spec that names one mesh axis twice."""


class IndivisibleError(ValueError):
    """A size that the devices along its axis do not divide."""


class Sharding:
    """Base of layouts over devices."""

    @property
    def device_set(self) -> set[Any]:
        """The devices. Raises NotImplementedError here, in the base class."""
        raise NotImplementedError

    def devices_indices_map(self, global_shape: Sequence[int]) -> dict[Any, tuple[slice, ...]]:
        """For each device the slices, one for each axis, of an array of that shape that it has. Raises IndivisibleError
        for sizes that the devices do not divide, ValueError for a shape of too few axes; NotImplementedError in the
        base class."""
        raise NotImplementedError

    def shard_shape(self, global_shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of each device's part of an array of that shape. Raises IndivisibleError for sizes that the devices do
        not divide, ValueError for a shape of too few axes; NotImplementedError in the base class."""
        raise NotImplementedError

    @property
    def memory_kind(self) -> str | None:
        """The kind of memory the array is in. Raises NotImplementedError in the base class."""
        raise NotImplementedError

    def with_memory_kind(self, kind: str) -> Sharding:
        """The same layout in another kind of memory. Raises ValueError for a kind that the devices do not have;
        NotImplementedError in the base class."""
        raise NotImplementedError

    @property
    def addressable_devices(self) -> set[Any]:
        """The devices of this process."""
        return {d for d in self.device_set if d.process_index == d.client.process_index()}

    def addressable_devices_indices_map(self, global_shape: Sequence[int]) -> dict[Any, tuple[slice, ...]]:
        """`devices_indices_map`, of the devices of this process."""
        mine = self.addressable_devices
        return {d: index for d, index in self.devices_indices_map(global_shape).items() if d in mine}

    @property
    def num_devices(self) -> int:
        """The number of devices."""
        return len(self.device_set)

    @property
    def has_addressable_devices(self) -> bool:
        """Whether one of its devices, or more, is of this process."""
        return bool(self.addressable_devices)

    @property
    def is_fully_addressable(self) -> bool:
        """Whether all its devices are of this process."""
        return len(self.addressable_devices) == len(self.device_set)

    @property
    def is_fully_replicated(self) -> bool:
        """Whether each device has all of the array."""
        return False

    def is_equivalent_to(self, other: Sharding, ndim: int) -> bool:
        """Whether both lay out arrays of `ndim` axes in the same way."""
        shape = (math.lcm(self.num_devices, other.num_devices),) * ndim
        return self.devices_indices_map(shape) == other.devices_indices_map(shape)


_shardings: WeakValueDictionary[Any, NamedSharding] = WeakValueDictionary()


class NamedSharding(Sharding):
    """A layout by names of mesh axes: `NamedSharding(mesh, P("data", None))`. Equal ones are one object.

    Raises ValueError for axes that the mesh does not have and for a kind of memory that its devices do not have, DuplicateSpecError for
    a spec that names an axis twice, TypeError for what is no mesh or no spec.
    """

    mesh: Any
    spec: PartitionSpec
    _memory_kind: str | None
    _layouts: dict[int, Any]

    def __new__(
        cls, mesh: Mesh | AbstractMesh, spec: PartitionSpec, *, memory_kind: str | None = None
    ) -> NamedSharding:
        spec = PartitionSpec() if spec is None else spec
        if not isinstance(spec, PartitionSpec):
            raise TypeError(f"the spec of a NamedSharding is a PartitionSpec, not {type(spec).__name__}: {spec!r}")
        if not isinstance(mesh, (Mesh, AbstractMesh)):
            raise TypeError(f"the mesh of a NamedSharding is a Mesh or an AbstractMesh, not {type(mesh).__name__}")
        if memory_kind is not None:
            _check_kind(
                memory_kind, mesh.devices.flat[0] if isinstance(mesh, Mesh) and not mesh.empty else all_devices()[0]
            )
        if memory_kind == "device" and isinstance(mesh, Mesh):
            memory_kind = None  # the devices' own
        key = (mesh, spec, memory_kind)
        found = _shardings.get(key)
        if found is None:
            _check_names(mesh, spec)
            made = object.__new__(cls)
            made.mesh, made.spec, made._memory_kind = key
            made._layouts = {}
            found = _shardings.setdefault(key, made)
        return found

    def _key(self) -> Any:
        return self.mesh, self.spec, self._memory_kind

    def __eq__(self, other: object) -> bool:
        return self is other or (type(other) is NamedSharding and self._key() == other._key())

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> Any:
        return _named, (self.mesh, self.spec, self._memory_kind)

    @property
    def memory_kind(self) -> str | None:
        """The kind of memory: what was asked for, else the devices' own ("device")."""
        return self._memory_kind or (None if isinstance(self.mesh, AbstractMesh) else "device")

    def with_memory_kind(self, kind: str) -> NamedSharding:
        """The same layout in another kind of memory. Raises ValueError for a kind that the devices do not have."""
        return NamedSharding(self.mesh, self.spec, memory_kind=kind)

    def with_spec(self, spec: PartitionSpec | Sequence[str | tuple[str, ...] | None]) -> NamedSharding:
        """Another layout over the same mesh, a spec or its entries. Raises ValueError, DuplicateSpecError as
        `NamedSharding`."""
        return NamedSharding(self.mesh, spec if isinstance(spec, PartitionSpec) else PartitionSpec(*spec), memory_kind=self._memory_kind)  # fmt: skip

    def update(
        self,
        *,
        mesh: Mesh | AbstractMesh | None = None,
        spec: PartitionSpec | Sequence[Any] | None = None,
        memory_kind: str | None = None,
    ) -> NamedSharding:
        """A layout with another mesh, spec (or its entries) or kind of memory. Raises ValueError, TypeError, DuplicateSpecError as
        `NamedSharding`."""
        spec = self.spec if spec is None else spec
        return NamedSharding(
            self.mesh if mesh is None else mesh,
            spec if isinstance(spec, PartitionSpec) else PartitionSpec(*spec),
            memory_kind=memory_kind or self._memory_kind,
        )

    @property
    def abstract(self) -> NamedSharding:
        """The same without devices."""
        return NamedSharding(self.mesh.abstract_mesh, self.spec)

    @property
    def device_set(self) -> set[Any]:
        """The devices of its mesh."""
        return set(self.mesh.devices.flat)

    @property
    def _device_assignment(self) -> tuple[Any, ...]:
        return tuple(self.mesh.devices.flat)

    def factors(self, ndim: int) -> list[int]:
        """For each of `ndim` axes, how many parts it is cut into."""
        sizes = self.mesh.shape
        found = [math.prod(sizes[name] for name in names_of(entry)) for entry in self.spec.partitions]
        return found + [1] * (ndim - len(found))

    def check(self, shape: tuple[int, ...]) -> None:
        """Raises ValueError for an array of fewer axes than the spec has, IndivisibleError for sizes that the devices do not
        divide."""
        if len(shape) < len(self.spec):
            raise ValueError(
                f"{self} is for arrays of at least {len(self.spec)} axes, and this one has the shape {shape}"
                + ("; for scalars the spec is P()" if not shape else "")
            )
        for axis, (size, parts) in enumerate(zip(shape, self.factors(len(shape)))):
            if size % parts != 0:
                raise IndivisibleError(
                    f"{self} cuts axis {axis} into {parts} parts, which do not divide its size {size} evenly (the shape is {shape})"
                )

    def shard_shape(self, global_shape: Sequence[int]) -> tuple[int, ...]:
        shape = tuple(global_shape)
        self.check(shape)
        return tuple(n // parts for n, parts in zip(shape, self.factors(len(shape))))

    def devices_indices_map(self, global_shape: Sequence[int]) -> dict[Any, tuple[slice, ...]]:
        shape = tuple(global_shape)
        self.check(shape)
        if self.spec.unreduced:
            raise NotImplementedError(
                f"{self}: no device has a part of the array, each has a term of the sum over {', '.join(map(str, self.spec.unreduced))}"
            )
        found: dict[Any, tuple[slice, ...]] = {}
        sizes = self.mesh.shape
        for place in np.ndindex(*self.mesh.axis_sizes):
            at = dict(zip(self.mesh.axis_names, place))
            index = []
            for axis, n in enumerate(shape):
                names = names_of(self.spec.partitions[axis]) if axis < len(self.spec) else ()
                parts, number = 1, 0
                for name in names:
                    parts, number = parts * sizes[name], number * sizes[name] + at[name]
                index.append(slice(None) if parts == 1 else slice(number * (n // parts), (number + 1) * (n // parts)))
            found[self.mesh.devices[place]] = tuple(index)
        return found

    @property
    def is_fully_replicated(self) -> bool:
        return not self.spec.unreduced and all(n == 1 for n in self.factors(0))

    def is_equivalent_to(self, other: Sharding, ndim: int) -> bool:
        if self is other:
            return True
        if isinstance(other, NamedSharding) and self.mesh is other.mesh:
            return _normal(self.spec, self.mesh) == _normal(other.spec, other.mesh)
        if self.spec.unreduced or (isinstance(other, NamedSharding) and other.spec.unreduced):
            return False
        return super().is_equivalent_to(other, ndim)

    def is_whole_along(self, axis: int) -> bool:
        """Whether the devices do not divide this axis."""
        return axis >= len(self.spec) or not names_of(self.spec[axis])

    def without(self, axis: int) -> NamedSharding:
        """Of a value without one of its axes."""
        entries = list(self.spec.partitions)
        return self.with_spec(self.spec.update(partitions=(*entries[:axis], *entries[axis + 1 :])))

    def beside(self, axis: int, names: tuple[Any, ...] = ()) -> NamedSharding:
        """Of a value with one more axis, which lies along `names`."""
        entries = list(self.spec.partitions)
        return self.with_spec(self.spec.update(partitions=(*entries[:axis], names, *entries[axis:])))

    def within(self, manual: Collection[Hashable]) -> NamedSharding:
        """Inside of a function that sees one device along the axes `manual`: how its part lies along the others."""
        if not manual:
            return self
        mesh = self.mesh.abstract_mesh.update_axis_types(dict.fromkeys(manual, AxisType.Manual))
        entries = [tuple(n for n in names_of(e) if n not in manual) for e in self.spec.partitions]
        return NamedSharding(mesh, PartitionSpec(*entries))

    def swapped(self) -> NamedSharding:
        """Of cotangents: where sums are open, those of cotangents were taken, and the other way round."""
        return self.with_spec(self.spec.update(unreduced=self.spec.reduced, reduced=self.spec.unreduced))

    def shape_text(self, shape: tuple[Any, ...]) -> str:
        """A shape as types show it: [8@x,4]{U:y}."""
        return self.cut_text(shape) + sums_text(frozenset(), self.spec.unreduced, self.spec.reduced)

    def cut_text(self, shape: tuple[Any, ...]) -> str:
        """How a shape is cut: [8@x,4]."""
        entries = [*self.spec.partitions, *[None] * (len(shape) - len(self.spec))]
        return f"[{','.join(_size_text(n, e) for n, e in zip(shape, entries))}]"

    def __repr__(self) -> str:
        kind = "" if self.memory_kind is None else f", memory_kind={self.memory_kind}"
        return f"NamedSharding(mesh={self.mesh}, spec={self.spec}{kind})"


def _size_text(size: Any, entry: Any) -> str:
    names = names_of(entry)
    return (
        f"{size}" if not names else f"{size}@{names[0]}" if len(names) == 1 else f"{size}@({','.join(map(str, names))})"
    )


def _named(mesh: Any, spec: PartitionSpec, kind: str | None) -> NamedSharding:
    return NamedSharding(mesh, spec, memory_kind=kind)


def _check_kind(kind: str, device: Any) -> None:
    kinds = [memory.kind for memory in device.addressable_memories()]
    if kind not in kinds:
        raise ValueError(f"{device} has the kinds of memory {', '.join(kinds)}, not {kind!r}")


def _check_names(mesh: Any, spec: PartitionSpec) -> None:
    seen: set[Any] = set()
    if UNCONSTRAINED in spec.partitions and AxisType.Auto not in mesh.axis_types and not mesh.empty:
        raise ValueError(f"{spec} leaves an axis to the compiler, and the mesh has no Auto axes: {mesh.axis_types}")
    for name in [n for entry in spec.partitions for n in names_of(entry)] + [*spec.unreduced, *spec.reduced]:
        if name not in mesh.axis_names:
            raise ValueError(f"{spec} names the axis {name!r}, which the mesh does not have: {mesh.axis_names}")
        if name in seen:
            raise DuplicateSpecError(
                f"{spec} names the mesh axis {name!r} twice: it can cut one axis of an array alone"
            )
        seen.add(name)
    if other := (spec.unreduced | spec.reduced) - set(mesh.explicit_axes):
        raise ValueError(f"{spec}: unreduced and reduced are for Explicit axes, and {set(other)} of {mesh} is none")


def _normal(spec: PartitionSpec, mesh: Any) -> tuple[Any, ...]:
    """A spec without what changes nothing: trailing whole axes, mesh axes of size one."""
    sizes = mesh.shape
    entries = [tuple(n for n in names_of(entry) if sizes[n] > 1) for entry in spec.partitions]
    while entries and not entries[-1]:
        entries.pop()
    return (*entries, spec.unreduced)


def padded(spec: PartitionSpec, ndim: int) -> PartitionSpec:
    """A spec with an entry for each axis."""
    return spec.update(partitions=(*spec.partitions, *[None] * (ndim - len(spec))))


def explicit_part(sharding: NamedSharding, ndim: int) -> NamedSharding | None:
    """What the type of an array says of its layout: the Explicit axes of the mesh; None where there are none."""
    mesh = sharding.mesh
    if AxisType.Explicit not in mesh.axis_types:
        return None
    shown = frozenset(mesh.explicit_axes)
    entries = [tuple(n for n in names_of(e) if n in shown) for e in sharding.spec.partitions]
    entries += [()] * (ndim - len(entries))
    return NamedSharding(mesh.abstract_mesh, sharding.spec.update(partitions=entries))


_single: WeakValueDictionary[Any, SingleDeviceSharding] = WeakValueDictionary()


class SingleDeviceSharding(Sharding):
    """All of an array on one device. Equal ones are one object. Raises ValueError for a kind of memory that it does not have."""

    _device: Any
    _memory_kind: str | None

    def __new__(cls, device: Device, *, memory_kind: str | None = None) -> SingleDeviceSharding:
        key = (device, memory_kind)
        found = _single.get(key)
        if found is None:
            if memory_kind is not None:
                _check_kind(memory_kind, device)
            made = object.__new__(cls)
            made._device, made._memory_kind = key
            found = _single.setdefault(key, made)
        return found

    def __reduce__(self) -> Any:
        return _on_device, (self._device.id, self._memory_kind)

    @property
    def memory_kind(self) -> str:
        """The kind of memory: what was asked for, else the device's own ("device")."""
        return self._memory_kind or "device"

    def with_memory_kind(self, kind: str) -> SingleDeviceSharding:
        """The same device, another kind of memory. Raises ValueError for a kind that it does not have."""
        return SingleDeviceSharding(self._device, memory_kind=kind)

    @property
    def device_set(self) -> set[Any]:
        """A set of the one device."""
        return {self._device}

    @property
    def _device_assignment(self) -> tuple[Any, ...]:
        return (self._device,)

    def devices_indices_map(self, global_shape: Sequence[int]) -> dict[Any, tuple[slice, ...]]:
        return {self._device: (slice(None),) * len(tuple(global_shape))}

    def shard_shape(self, global_shape: Sequence[int]) -> tuple[int, ...]:
        return tuple(global_shape)

    @property
    def is_fully_replicated(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"SingleDeviceSharding(device={self._device!r}, memory_kind={self.memory_kind})"


def _on_device(number: int, kind: str | None) -> SingleDeviceSharding:
    return SingleDeviceSharding({d.id: d for d in all_devices()}[number], memory_kind=kind)


def make_single_device_sharding(device: Device, *, memory_kind: str | None = None) -> SingleDeviceSharding:
    """The layout of arrays that are on one device."""
    return SingleDeviceSharding(device, memory_kind=memory_kind)
