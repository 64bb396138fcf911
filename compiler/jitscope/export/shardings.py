"""Shardings in the file form of exported functions: NamedShardings over abstract meshes, each written once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.meshes import AbstractDevice, AbstractMesh, AxisType
from ..core.shardings import UNCONSTRAINED, NamedSharding, PartitionSpec, names_of
from .flatbuffer import Number, Numbers, Reader, Table


_TYPES = {AxisType.Auto: 1, AxisType.Explicit: 2, AxisType.Manual: 3}
_TYPE_OF = {n: kind for kind, n in _TYPES.items()}
_NAMED = 2


class ShardingsToWrite:
    """The distinct shardings of a function, and their meshes."""

    def __init__(self, shardings: Sequence[NamedSharding | None]):
        self.distinct = list(dict.fromkeys(s for s in shardings if s is not None))
        self.meshes = list(dict.fromkeys(s.mesh for s in self.distinct))

    @property
    def empty(self) -> bool:
        return not self.distinct

    def numbers(self, shardings: Sequence[NamedSharding | None]) -> list[int]:
        """The number of each, from 1; 0 for none."""
        return [0 if s is None else 1 + self.distinct.index(s) for s in shardings]

    def either(self, sharding: NamedSharding | None) -> Table:
        """A sharding or none, in full, for readers that know no numbers."""
        return {} if sharding is None else {0: Number("b", _NAMED), 2: self._table(sharding)}

    def tables(self) -> list[Table]:
        return list(map(self._table, self.distinct))

    def mesh_tables(self) -> list[Table]:
        return list(map(_mesh_table, self.meshes))

    def _table(self, sharding: NamedSharding) -> Table:
        number = self.meshes.index(sharding.mesh)
        return {0: _mesh_table(sharding.mesh), 1: _spec_table(sharding.spec), 2: sharding.memory_kind, 3: Number("I", number)}  # fmt: skip


def _mesh_table(mesh: AbstractMesh) -> Table:
    device = mesh.abstract_device
    return {
        0: Numbers("I", mesh.axis_sizes),
        1: [_name(n) for n in mesh.axis_names],
        2: Numbers("b", [_TYPES[kind] for kind in mesh.axis_types]),
        3: None if device is None else _device_table(device),
    }


def _device_table(device: AbstractDevice) -> Table:
    cores = None if device.num_cores is None else Number("I", device.num_cores)
    return {0: device.device_kind, 1: cores, 2: device.platform}


def _spec_table(spec: PartitionSpec) -> Table:
    if UNCONSTRAINED in spec.partitions:
        raise ValueError(
            f"{spec} leaves an axis unconstrained: a layout of an argument or result cannot be written so. Use None for it"
        )
    entries = [{0: [_name(n) for n in names_of(entry)]} for entry in spec.partitions]
    return {0: entries, 1: sorted(map(_name, spec.reduced)), 2: sorted(map(_name, spec.unreduced))}


def _name(name: Any) -> str:
    if not isinstance(name, str):
        raise TypeError(f"the axes of a mesh have texts as names where a function is serialized, not {name!r}")
    return name


def read_shardings(root: Reader) -> tuple[list[Any], list[Any]]:
    """Those of the arguments and of the results; empty where the file has none."""
    meshes = list(map(_mesh, root.tables(20)))
    distinct = [_sharding(t, meshes) for t in root.tables(21)]
    found = []
    for whole, numbers in ((7, 24), (8, 25)):
        chosen = root.numbers(numbers, "I")
        if chosen:
            found.append([distinct[n - 1] if n else None for n in chosen])
        else:
            found.append([None if (t := either.table(2)) is None else _sharding(t, meshes) for either in root.tables(whole)])  # fmt: skip
    return found[0], found[1]


def _sharding(table: Reader, meshes: Sequence[AbstractMesh]) -> NamedSharding:
    own, spec = table.table(0), table.table(1)
    if spec is None or (own is None and not meshes):
        raise ValueError("a sharding without mesh or spec")
    mesh = meshes[table.number(3, "I")] if meshes or own is None else _mesh(own)
    entries = [tuple(entry.texts(0)) for entry in spec.tables(0)]
    reduced, unreduced = frozenset(spec.texts(1)), frozenset(spec.texts(2))
    asked = PartitionSpec(*entries, reduced=reduced, unreduced=unreduced)
    return NamedSharding(mesh, asked, memory_kind=table.text(2) or None)


def _mesh(table: Reader) -> AbstractMesh:
    kinds, device = table.numbers(2, "b"), table.table(3)
    if any(kind not in _TYPE_OF for kind in kinds):
        raise ValueError("a mesh with axes of a type that this release does not have")
    types = tuple(_TYPE_OF[kind] for kind in kinds)
    return AbstractMesh(table.numbers(0, "I"), table.texts(1), types, abstract_device=None if device is None else _device(device))  # fmt: skip


def _device(table: Reader) -> AbstractDevice:
    cores = table.number(1, "I", -1)
    return AbstractDevice(table.text(0), None if cores < 0 else cores, table.text(2) or None)
