"""The arguments of a call, remembered without keeping the user's arrays alive."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.avals import is_python_scalar
from ..core.formats import Layout
from ..xla import client
from .array import Array, array_on
from .compile import Program
from .input_layouts import taken_so


class CallArguments:
    """The leaves of a call's arguments: arrays weakly, numbers as they are."""

    __slots__ = ("_device", "_leaves")

    def __init__(self, leaves: Sequence[Any], device: Any = None):
        self._device = device.group if isinstance(device, (client.Spread, client.MeshLayouts)) else device
        self._leaves = [kept_weakly(x) for x in leaves]

    def held(self) -> list[Any]:
        """The arguments that are still there; they stay while somebody has this list."""
        return [leaf() for leaf in self._leaves]

    def arrays(self) -> list[Array] | None:
        """The arguments as arrays on the call's device; None where one of them is gone, was deleted since, or
        never was an array (a ShapeDtypeStruct)."""
        leaves = [leaf() for leaf in self._leaves]
        if any(x is None or (isinstance(x, Array) and x.is_deleted()) for x in leaves):
            return None
        try:
            return [array_on(x, self._device or client.default_device()) for x in leaves]
        except TypeError:  # only a shape and a dtype were given
            return None


class ProgramArguments:
    """What a program takes, remembered without keeping it: which of the call's arguments, and its captured arrays weakly."""

    __slots__ = ("_donated", "_hidden", "_kept", "_orders", "_place")

    def __init__(self, program: Program):
        self._kept, self._donated, self._place = list(program.kept), list(program.donated), program.executable.device
        self._hidden = [weakref.ref(buf) for buf in program.hidden]
        self._orders = program.orders and program.orders[0]

    @property
    def arguments(self) -> tuple[int, list[int]]:
        """How many captured arrays come first, and which of the call's arguments follow."""
        return len(self._hidden), list(self._kept)

    @property
    def donated(self) -> list[int]:
        """The call's arguments whose memory results take."""
        return list(self._donated)

    def captured(self) -> list[Any] | None:
        """The arrays that it captured, which stay while somebody has this list; None where one is gone."""
        hidden = [buf() for buf in self._hidden]
        return None if any(buf is None for buf in hidden) else hidden

    def buffers(self, arrays: Sequence[Array]) -> list[Any] | None:
        """What its executable runs on, for a call with these arguments; of what it would take over, copies. None where an array
        that it captured is gone."""
        hidden = self.captured()
        if hidden is None:
            return None
        bufs = [a.buf for a in arrays]
        for i in self._donated:
            bufs[i] = copy_of(bufs[i])
        found = laid_out([*hidden, *[bufs[i] for i in self._kept]], self._place)
        return found if self._orders is None else [taken_so(x, Layout(*at)) for x, at in zip(found, self._orders)]

    def placed(self, arrays: Sequence[Array]) -> list[Array]:
        """The arguments of a call, those that it takes as they lie then."""
        found = list(arrays)
        if type(self._place) is client.Spread:
            bufs = laid_out([found[i].buf for i in self._kept], self._place, len(self._hidden))
            for i, buf in zip(self._kept, bufs):
                found[i] = Array(buf, found[i].aval)
        return found


def laid_out(bufs: list[Any], place: Any, first: int = 0) -> list[Any]:
    """Buffers as an executable at this place takes them, from its parameter `first` on: over several devices, in its layouts. (Of
    others jaxlib ends the process.)"""
    if type(place) is not client.Spread:
        return bufs
    from ..xla.resharding import in_layout

    return [in_layout(buf, at) for buf, at in zip(bufs, place.ins[first:], strict=True)]


def copy_of(buf: Any) -> Any:
    """A copy of a buffer where it lies."""
    if client.is_spread(buf):
        from ..xla.parts import relaid  # of several devices

        return relaid(buf, buf._sharding)
    return client.copy_to_device(buf, client.device_of(buf))


def kept_weakly(leaf: Any) -> Callable[[], Any]:
    """What gives an argument, or None where it is gone: numbers are kept, arrays are not kept alive."""
    if is_python_scalar(leaf) or isinstance(leaf, np.generic):
        return lambda: leaf
    try:
        return weakref.ref(leaf)
    except TypeError:
        return lambda: None
