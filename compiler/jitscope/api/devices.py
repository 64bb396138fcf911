"""Devices, and moving values to and from them."""

from __future__ import annotations

import gc
from typing import Any, TypeVar, overload

import numpy as np

from .. import tree
from ..backend.array import Array, array_on, stays, to_array, unshared
from ..backend.guarding import guard, without_guards
from ..backend.input_layouts import ArrayInLayout, in_order
from ..backend.placement import by_device, device_of_request, is_layout, laid_out, moved
from ..core import config, dtypes
from ..core.annotations import Array as AnyArray, ArrayLike, PyTree
from ..core.formats import Format, Layout
from ..core.memory_spaces import MemorySpace
from ..core.staging import capturing
from ..core.trace import Tracer
from ..xla import client, processes


T = TypeVar("T")


__all__ = ["Device", "block_until_ready", "device_get", "device_put", "devices", "live_arrays"]


Device = client.Device


def devices(backend: str | None = None) -> list[Device]:
    """The devices of all processes (see the option num_cpu_devices). Raises RuntimeError for a backend that is not there."""
    if backend not in (None, "cpu"):
        raise RuntimeError(f"there is no backend {backend!r}: this release runs on 'cpu'")
    return list(client.all_devices())


@overload
def device_put(
    x: ArrayLike, device: PyTree = None, *, src: PyTree = None, donate: PyTree = False, may_alias: bool | None = None
) -> AnyArray: ...
@overload
def device_put(
    x: PyTree, device: PyTree = None, *, src: PyTree = None, donate: PyTree = False, may_alias: bool | None = None
) -> PyTree: ...
def device_put(
    x: PyTree, device: PyTree = None, *, src: PyTree = None, donate: PyTree = False, may_alias: bool | None = None
) -> PyTree:
    """A tree with its arrays on a device. NumPy arrays and numbers become arrays there.

    `device` is a device, a sharding, a PartitionSpec (for the mesh in force), a `memory.Space` (which names the memory that an array over a mesh
    is in, and nothing on one device), None (stay, or the default device), or a tree of those that is a prefix of `x`. An array that is there already is given back itself, unless `may_alias` is False. `donate` frees the arrays that
    were copied. `src` is where the values are, which is known anyway. Differentiable, and under vmap it moves all rows.

    Raises ValueError for a `device` that is none, or no prefix, TypeError for leaves that are not arrays.
    """
    if donate is True and may_alias:
        raise ValueError("device_put takes donate or may_alias, not both")
    leaves, treedef = tree.flatten(x)
    wanted = tree.broadcast_prefix(device, treedef, "device_put: device")
    freed = tree.broadcast_prefix(donate, treedef, "device_put: donate")
    return treedef.unflatten(
        [_put_formatted(leaf, to, bool(free), may_alias) for leaf, to, free in zip(leaves, wanted, freed)]
    )


def _put_formatted(leaf: Any, wanted: Any, free: bool, may_alias: bool | None) -> Any:
    wanted = _in_space(leaf, wanted) if isinstance(wanted, MemorySpace) else wanted
    layout = wanted.layout if isinstance(wanted, Format) else None
    to = device_of_request(wanted.sharding if isinstance(wanted, Format) else wanted)
    if layout is Layout.AUTO:
        raise ValueError(f"device_put: {wanted} leaves the layout to XLA, which does that for programs alone")
    keys = dtypes.is_extended(getattr(leaf, "dtype", None))  # these lie as they do
    if isinstance(leaf, Tracer) or keys or (layout is None and type(leaf) is not ArrayInLayout):
        return _put(leaf, to, free, may_alias)
    there = isinstance(leaf, Array) and to in (None, leaf.place, leaf.sharding)
    keeps = type(leaf) is ArrayInLayout and (there or not is_layout(to))
    layout = layout or (leaf.layout if keeps and isinstance(leaf, ArrayInLayout) else Layout(range(np.ndim(leaf))))
    layout.check(np.shape(leaf), "device_put: the array")
    if there and leaf.format.layout == layout and may_alias is not False:
        return leaf
    if there and not layout.is_default:
        return _freed(leaf, stays(in_order(leaf, layout, always=may_alias is False)), free)
    new = _put(Array(leaf.buf, leaf.aval) if type(leaf) is ArrayInLayout else leaf, to, False, may_alias)
    return _freed(leaf, stays(in_order(new, layout)), free and isinstance(leaf, Array))


def _in_space(leaf: Any, space: MemorySpace) -> Any:
    """The layout of an array over a mesh in that kind of memory; None on one device, whose memory is the host's."""
    kind = space.kind
    laid = leaf.sharding if isinstance(leaf, Array) else None
    return laid.with_memory_kind(kind) if laid is not None and hasattr(laid, "mesh") else None


def _put(leaf: Any, device: Any, free: bool, may_alias: bool | None) -> Any:
    if (trace := capturing()) is not None and not isinstance(leaf, Tracer):
        leaf = trace.tracer(to_array(leaf))
    if isinstance(leaf, Tracer):
        return leaf if device is None else moved(leaf, device)
    if getattr(leaf, "dtype", None) == dtypes.float0:
        return leaf
    if config.guarding:
        kind = (
            "host_to_device"
            if not isinstance(leaf, Array)
            else "device_to_device"
            if device not in (None, leaf.device)
            else ""
        )
        if kind:
            guard(kind, lambda: repr(leaf), explicit=True)
        with without_guards():
            return _moved(leaf, device, free, may_alias)
    return _moved(leaf, device, free, may_alias)


def _moved(leaf: Any, device: Any, free: bool, may_alias: bool | None) -> Any:
    array = to_array(leaf)
    if array is not leaf:
        array = Array(unshared(array.buf), array.aval)
    home = array.place
    if is_layout(device):
        if array is not leaf and processes.joined is not None:
            _check_alike(array, device)
        new = laid_out(array, device)
        if may_alias is False and new.buf is array.buf:
            new = stays(Array(client.copy_to_device(array.buf, home), array.aval))
        return _freed(array, new, free and array is leaf)
    if (device is None or home == device) and (may_alias is not False or array is not leaf):
        return array if device is None else by_device(array)
    if device is None or device == home:
        new = Array(client.copy_to_device(array.buf, home), array.aval)
    else:
        new = array_on(array, device)
    if device is not None:
        new = by_device(new)
    return _freed(array, new, free and array is leaf)


def _check_alike(array: Array, sharding: Any) -> None:
    from ..backend.spreading import place_of
    from ..xla.joint_programs import check_alike  # of several processes

    place = place_of(sharding.mesh)
    if isinstance(place, client.Group) and not dtypes.is_extended(array.aval.dtype):
        check_alike(np.asarray(array), place)


def _freed(old: Array, new: Array, free: bool) -> Array:
    if free and new.memory is not old.memory:
        client.block_until_ready([new.memory])
        old.delete()
    return new


def device_get(x: PyTree) -> PyTree:
    """A tree with its arrays as NumPy arrays (without a copy). Keys, and leaves that are not arrays, stay as they are."""

    def get(leaf: Any) -> Any:
        known = isinstance(leaf, Array) and not dtypes.is_extended(leaf.aval.dtype)
        return np.asarray(leaf) if known else leaf

    return tree.map(get, x)


def block_until_ready(x: T) -> T:
    """Wait until all arrays of a tree are computed, and other leaves that have a method of this name; gives the tree. Raises
    DeletedArrayError for arrays that are gone."""
    leaves = tree.leaves(x)
    client.block_until_ready([leaf.memory for leaf in leaves if isinstance(leaf, Array)])
    for leaf in leaves:
        if not isinstance(leaf, Array) and (wait := getattr(leaf, "block_until_ready", None)) is not None:
            wait()
    return x


def live_arrays(platform: str | None = None) -> list[AnyArray]:
    """The arrays of this process whose memory is not freed, each buffer once. Raises RuntimeError for another platform
    than 'cpu'."""
    if platform not in (None, "cpu"):
        raise RuntimeError(f"there is no platform {platform!r}: this release runs on 'cpu'")
    arrays = [x for x in gc.get_objects() if (type(x) is Array and hasattr(x, "buf")) or type(x) is ArrayInLayout]
    return list({id(x.memory): x for x in arrays if not x.is_deleted()}.values())  # pyright: ignore[reportReturnType]
