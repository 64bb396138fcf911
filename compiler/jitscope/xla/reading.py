"""The contents of buffers as NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import dlpack, forks, processes, spread
from .buffers import Buffer, block_until_ready, capsule, is_ready
from .dtypes import PACKED
from .errors import XlaError
from .packed import widened


__all__ = ["memory_of", "to_numpy"]


def memory_of(buf: Buffer) -> memoryview:
    """The buffer's memory, read-only; waits until its contents are there. While the view exists no donation reuses the memory.

    Raises BufferError where Python has no such numbers, or several devices hold them, or the buffer is deleted, and XlaError
    when the computation that was to fill the buffer failed.
    """
    if processes.joined is not None:
        block_until_ready([buf])
    return memoryview(buf)


def _memory_in_child(buf):
    if not is_ready(buf):
        forks.refuse()
    return memoryview(buf)


forks.guard(memory_of, instead=_memory_in_child)


def to_numpy(buf: Buffer, dtype: np.dtype | None = None) -> np.ndarray:
    """The buffer's contents as a read-only array; waits until they are there.

    No copy is made, except for dtypes that are packed on the device (int4, …). The array keeps the buffer alive, and
    while it exists the buffer's memory is not reused by a donation. `dtype` is the buffer's, by default as it says.
    Raises DeletedBufferError, or XlaError when the computation that was to fill the buffer failed.
    """
    try:
        return np.asarray(memory_of(buf))
    except BufferError:
        return _read_otherwise(buf, dtype if isinstance(dtype, np.dtype) else buf.aval.dtype)


def _read_otherwise(buf: Buffer, dtype: np.dtype) -> np.ndarray:
    block_until_ready([buf])
    if spread.is_spread(buf):
        return _gathered(buf, dtype)
    shape = buf.aval.shape
    if 0 in shape:
        return _read_only(np.empty(shape, dtype))
    if dtype in PACKED:
        return _read_only(to_numpy(widened(buf, dtype)).astype(dtype))
    return np.asarray(_Memory(capsule(buf), f"|V{dtype.itemsize}", shape)).view(dtype)


def _gathered(buf: Buffer, dtype: np.dtype) -> np.ndarray:
    """The contents of a buffer on several devices, put together."""
    from .parts import index_map, pieces

    layout, parts = buf._sharding, pieces(buf)
    shape = buf.aval.shape
    if parts and parts[0].aval.shape == shape:
        return to_numpy(parts[0], dtype)
    group = layout._device
    if len(group.local) < len(group.devices):
        raise XlaError(
            f"{len(group.devices) - len(group.local)} of the {len(group.devices)} devices that hold the array belong to other "
            "processes, so that its values are not all here. What to do: read its addressable_shards, or gather it with "
            "multihost_utils.process_allgather"
        )
    whole = np.empty(shape, dtype)
    done = set()
    for index, part in zip(index_map(layout, shape), parts):
        begin = tuple(s.start for s in index)
        if begin not in done:
            done.add(begin)
            whole[index] = to_numpy(part, dtype)
    return _read_only(whole)


class _Memory:
    """A buffer's memory through numpy's array interface; arrays made from it hold it, and it holds the capsule.

    The DLPack capsule is what tells XLA about the view: without it a donation would overwrite what the view shows.
    jaxlib's own `unsafe_buffer_pointer` looks for jax at the first question about each buffer, so the address is taken
    from the capsule, too.
    """

    __slots__ = ("__array_interface__", "capsule")

    def __init__(self, capsule: Any, typestr: str, shape: tuple[int, ...]):
        self.capsule = capsule
        data = (dlpack.address(self.capsule), True)
        self.__array_interface__ = {"version": 3, "typestr": typestr, "shape": shape, "data": data}


def _read_only(x: np.ndarray) -> np.ndarray:
    x.flags.writeable = False
    return x
