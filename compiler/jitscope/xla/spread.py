"""Arrays and programs over several devices: what tells them from those on one. (What is done with them: `parts`.)

A `Group` is a list of devices that one program runs on; a `Layout` says which part of an array each of them has. Both are made
once for what they say, so that `is` compares.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..named_tuple import NamedTuple
from .runtime import xc


__all__ = ["Group", "Layout", "MeshLayouts", "Spread", "called", "is_spread"]


class Group:
    """Several devices in the order of a mesh; it stands where a single device can stand. `mesh` is one of them, for names;
    `meshes` are others."""

    __slots__ = ("device_kind", "device_list", "devices", "id", "local", "mesh", "meshes", "platform")

    def __init__(self, devices: tuple[Any, ...]):
        self.devices, self.mesh, self.meshes = devices, None, []
        self.device_list = xc.DeviceList(devices)
        own = devices[0].client.process_index()
        self.local = [d for d in devices if d.process_index == own]
        self.id = ",".join(str(d.id) for d in devices)
        self.device_kind, self.platform = devices[0].device_kind, devices[0].platform

    def __repr__(self) -> str:
        return f"{len(self.devices)} devices ({self.id})"


class Layout(xc.GSPMDSharding):
    """Which part of an array each device of a group has. `said` is what a user knows it by."""

    def __init__(self, group: Group, hlo: Any, kind: str | None):
        super().__init__(group.device_list, hlo, kind)
        self._device, self.hlo, self.kind = group, hlo, kind
        self.said: Any = None

    memory_kind = None
    __eq__, __hash__ = object.__eq__, object.__hash__  # equal parts that are known otherwise are not the same
    terms = False
    """Whether what the devices have are terms of a sum that nobody took yet."""

    def _to_xla_hlo_sharding(self, ndim: int) -> Any:
        return self.hlo

    def __repr__(self) -> str:
        return f"Layout({self.hlo})"


def is_spread(buf: Any) -> bool:
    """Whether the buffer is laid out over several devices."""
    return type(buf._sharding) is Layout


def called(buf: Any, at: Any) -> Any:
    """The buffer, known by that layout on its device."""
    return buf if buf._sharding is at else buf._rewrap_with_aval_and_sharding(buf.aval, at)


class Spread(NamedTuple):
    """Where a program runs that is spread over a group: the layouts of its arguments and results. It stands where a device
    stands. Of a result whose layout is None XLA chooses: `choose(proto, shape, group, mesh, like)` gives the `Layout` of what it
    chose; `like` is the layout of the first argument that lies by names, and its rank."""

    group: Group
    ins: tuple[Any, ...]
    outs: tuple[Any, ...]
    mesh: Any
    choose: Callable[..., Layout] | None
    shardy: bool = True
    like: tuple[Layout, int] | None = None

    @property
    def id(self) -> str:
        said = lambda side: ",".join("?" if x is None else f"{x.hlo}{x.kind or ''}" for x in side)
        return f"{self.group.id} {said(self.ins)}->{said(self.outs)}"

    @property
    def device_kind(self) -> str:
        return self.group.device_kind

    @property
    def platform(self) -> str:
        return self.group.platform

    def __str__(self) -> str:
        return repr(self.group)

    __repr__ = __str__


class MeshLayouts(NamedTuple):
    """Where a program runs that is on one device (`group`), some of whose arguments or results are known by a mesh of it: how
    they lie."""

    group: Any
    ins: tuple[Any, ...]
    outs: tuple[Any, ...]
