"""The layouts of arrays over several devices, their parts, and the guard of programs over them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np

from . import forks, versions
from .devices import aval_of, placement_in, sharding_of
from .runtime import RuntimeFailure, _jax, xc
from .spread import Group, Layout, is_spread


_COPY = xc.HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL


@cache
def group_of(devices: tuple[Any, ...]) -> Group:
    """The group of these devices."""
    return Group(devices)


@lru_cache(1 << 14)
def _layout(group: Group, text: str, said: Any, kind: str | None) -> Layout:
    made = Layout(group, _hlo(text), kind)
    made.said = said
    return made


def _hlo(text: str) -> Any:
    return xc.HloSharding.replicate() if text == "{replicated}" else xc.HloSharding.from_string(text)


def layout(
    group: Group, sizes: Sequence[int], axes: Sequence[Sequence[int]], said: Any, kind: str | None = None
) -> Layout:
    """The layout over a grid of these `sizes` in which axis i of the array is cut by the grid's axes `axes[i]`."""
    return _layout(group, _text(sizes, axes), said, kind)


def hlo_sharding(sizes: Sequence[int], axes: Sequence[Sequence[int]]) -> Any:
    """The same as XLA has it, which names no devices."""
    return _hlo(_text(sizes, axes))


def _text(sizes: Sequence[int], axes: Sequence[Sequence[int]]) -> str:
    cut = [[a for a in entry if sizes[a] > 1] for entry in axes]
    tiles = [int(np.prod([sizes[a] for a in entry], dtype=int)) for entry in cut]
    used = [a for entry in cut for a in entry]
    rest = [a for a in range(len(sizes)) if a not in used]
    left = int(np.prod([sizes[a] for a in rest], dtype=int))
    if not used:
        return "{replicated}"
    dims = [*tiles, left] if left > 1 else tiles
    order = [*used, *rest]
    turned = "" if order == sorted(order) else f"T({','.join(map(str, order))})"
    source = ",".join(map(str, sizes)) if turned else str(int(np.prod(sizes, dtype=int)))
    last = " last_tile_dim_replicate" if left > 1 else ""
    return f"{{devices=[{','.join(map(str, dims))}]<=[{source}]{turned}{last}}}"


def layout_of_tiles(group: Group, dims: tuple[int, ...], numbers: np.ndarray, said: Any) -> Layout:
    """The layout whose parts lie as `tiles` gave them."""
    last = " last_tile_dim_replicate" if dims[-1] > 1 else ""
    shown = dims if dims[-1] > 1 else dims[:-1]
    devices = ",".join(str(int(n)) for n in numbers.ravel())
    return _layout(group, f"{{devices=[{','.join(map(str, shown))}]{devices}{last}}}", said, None)


def replicated(group: Group) -> Layout:
    """All of an array on each device."""
    return _layout(group, "{replicated}", None, None)


def tiles(proto: Any) -> tuple[tuple[int, ...], np.ndarray] | None:
    """Of a layout that XLA chose: into how many parts each axis is cut (and, last, how many devices have each part), and the
    devices' numbers in that grid. None where all devices have all."""
    hlo = xc.HloSharding.from_proto(proto)
    if hlo.is_replicated() or hlo.is_maximal() or not hlo.tile_assignment_dimensions():
        return None
    dims = tuple(hlo.tile_assignment_dimensions())
    if hlo.replicate_on_last_tile_dim() and all(n == 1 for n in dims[:-1]):
        return None
    devices = np.asarray(hlo.tile_assignment_devices()).reshape(dims)
    return (dims, devices) if hlo.replicate_on_last_tile_dim() else ((*dims, 1), devices[..., None])


@forks.guard
def put_pieces(shape: tuple[int, ...], dtype: np.dtype, layout: Layout, values: Sequence[np.ndarray]) -> Any:
    """A buffer of that shape laid out so, with a copy of the part in `values` for each device of this process."""
    # One by one: several parts with one address, given together, are refused ("bad_function_call").
    parts = [
        xc.batched_device_put(aval_of(value.shape, dtype), sharding_of(d), [value], [d], True, False, _COPY, True)
        for value, d in zip(values, layout._device.local)
    ]
    if layout.kind in (None, "device"):
        return assembled(shape, dtype, layout, parts)
    return relaid(assembled(shape, dtype, _plain(layout), parts), layout)


def _plain(layout: Layout) -> Layout:
    return _layout(layout._device, str(layout.hlo), layout.said, None)


def assembled(shape: tuple[int, ...], dtype: np.dtype, layout: Layout, parts: Sequence[Any]) -> Any:
    """A buffer of the buffers that the devices of this process have, in the order of the group; no copy."""
    return xc.ArrayImpl(aval_of(shape, dtype), layout, list(parts), committed=True, _skip_checks=True)


def pieces(buf: Any) -> list[Any]:
    """The parts of a buffer that this process has, each a buffer on one device."""
    if not is_spread(buf):
        return [buf]
    parts = buf._arrays
    devices = buf._sharding._device.local
    shape, dtype = buf.aval.shape, buf.aval.dtype
    mine = set(devices)
    indices = [i for i, d in zip(index_map(buf._sharding, shape), buf._sharding._device.devices) if d in mine]
    sizes = [tuple(len(range(*s.indices(n))) for s, n in zip(index, shape)) for index in indices]
    kind = buf._sharding.kind
    return [_piece(p, aval_of(size, dtype), d, kind) for p, d, size in zip(parts, devices, sizes)]


def _piece(part: Any, aval: Any, device: Any, kind: str | None) -> Any:
    try:
        return part._rewrap_with_aval_and_sharding(aval, sharding_of(device))
    except RuntimeFailure:  # a program put it into another kind of memory
        return part._rewrap_with_aval_and_sharding(aval, placement_in(device, kind))


@forks.guard
def relaid(buf: Any, layout: Any) -> Any:
    """A copy of a buffer in another kind of memory, or on other devices in the same parts."""
    made = xc.batched_copy_array_to_devices_with_sharding(
        [buf], [layout._device.device_list], [layout], [xc.ArrayCopySemantics.ALWAYS_COPY]
    )
    return made[0]


def result_handler(shape: tuple[int, ...], dtype: np.dtype, layout: Layout) -> Any:
    """jaxlib's result handler for one result in that layout."""
    return versions.result_handler(aval_of(shape, dtype), layout)


def index_map(layout: Layout, shape: tuple[int, ...]) -> list[tuple[slice, ...]]:
    """For each device of the layout's group, in order, which part of an array of that shape it has."""
    count = len(layout._device.devices)
    found = tiles(layout.hlo.to_proto())
    if found is None:
        return [(slice(None),) * len(shape)] * count
    dims, numbers = found
    parts: list[Any] = [None] * count
    for place, number in np.ndenumerate(numbers):
        cut = [(-(-n // t), i, t) for n, i, t in zip(shape, place, dims)]
        parts[int(number)] = tuple(slice(None) if t == 1 else slice(i * step, min((i + 1) * step, n))
                                   for (step, i, t), n in zip(cut, shape))  # fmt: skip
    return parts


class GuardedExecutable:
    """`execute_sharded` of a program over several devices, behind a look at its arguments: jaxlib ends the process where one
    was given away before, or is given away and read in one call."""

    __slots__ = ("donated", "run")

    def __init__(self, run: Any, donated: Sequence[int]):
        self.run, self.donated = run, tuple(donated)

    def __call__(self, bufs: Sequence[Any]) -> Any:
        for buf in bufs:
            if buf.is_deleted():
                raise _jax.JaxRuntimeError("INVALID_ARGUMENT: Buffer has been deleted or donated.")
        if self.donated:
            given = {id(bufs[i]) for i in self.donated}
            if len(given) < len(self.donated) or sum(id(buf) in given for buf in bufs) > len(given):
                raise _jax.JaxRuntimeError("INVALID_ARGUMENT: Buffer was previously donated in the same call.")
        return self.run(bufs)
