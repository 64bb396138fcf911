"""Data in and out of the devices' buffers, and questions about these.

A *buffer* is jaxlib's runtime array. Never truth-test one (jax, when present, gives it `__bool__`), never call
`np.asarray` on one (a deleted one becomes an object array), and ask for its state through the functions below only:
jaxlib crashes on several questions about a deleted buffer.
"""

from __future__ import annotations

import math
import threading
from functools import partial
from typing import Any

import numpy as np

from . import devices, dlpack, forks, processes, spread
from .devices import Aval, Device, aval_of, sharding_of
from .dtypes import PACKED, SUPPORTED, acceptable
from .errors import XlaError, deletion_error, translate
from .runtime import RuntimeFailure, _jax, xc
from .versions import same_memory


__all__ = ["block_until_ready", "copy_to_device", "delete", "device_of", "from_dlpack", "is_deleted", "is_ready",
           "layout_of", "live_buffers", "nbytes", "pointer", "put", "putting", "share", "to_dlpack"]  # fmt: skip

Buffer = Any
Order = tuple[tuple[int, ...], tuple[tuple[int, ...], ...], int]
_COPY = xc.HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL  # the default aliases aligned numpy arrays
_batched_device_put = xc.batched_device_put


@forks.guard
def put(x: np.ndarray, device: Device | None = None, aval: Aval | None = None) -> Buffer:
    """A buffer on `device` (default: the default device) with a copy of `x`, of the same shape and dtype.

    Writing to `x` afterwards does not change the buffer. Any strides and byte order will do; float64 stays float64.
    `aval` is what `putting(shape, dtype)` said, for who asked before. Raises TypeError for dtypes without an XLA counterpart, XlaError where
    memory is short.
    """
    if aval is None:
        if type(x) is not np.ndarray or x.dtype not in SUPPORTED:
            x = acceptable(x)
        aval = aval_of(x.shape, x.dtype)
    sharding, targets = (devices.home or devices.make_home()) if device is None else devices.placement(device)
    try:
        return _batched_device_put(aval, sharding, [x], targets, True, False, _COPY, True)  # committed, force_copy, x64
    except RuntimeFailure as error:
        raise translate(error) from None


@forks.guard
def share(x: np.ndarray, device: Device | None = None) -> Buffer:
    """A buffer on `device` (default: the default device) that shares the memory of `x` where this is aligned, and keeps it; nobody
    may write to it. A donation of the buffer leaves the memory alone. Raises TypeError as `put`."""
    x = acceptable(x)
    sharding, targets = (devices.home or devices.make_home()) if device is None else devices.placement(device)
    aval = aval_of(x.shape, x.dtype)
    return _batched_device_put(aval, sharding, [x], targets, True, False, xc.HostBufferSemantics.ZERO_COPY, True)


def putting(shape: tuple[int, ...], dtype: np.dtype) -> Aval | None:
    """What `put` needs to know of arrays that it takes as they are; None for those it has to look at."""
    return aval_of(shape, dtype) if dtype in SUPPORTED else None


def capsule(buf: Buffer, stream: int | None = None) -> Any:
    """A DLPack capsule of the buffer's memory, which outlives the buffer.

    It is made of another object for the same memory: where the very buffer that a capsule was made of goes first, the
    process aborts.
    """
    try:
        with _freeing:
            return _jax.buffer_to_dlpack_managed_tensor(same_memory(buf), stream=stream)
    except RuntimeFailure as error:
        raise translate(error, [buf]) from None


def _new_lock() -> None:
    global _freeing
    _freeing = threading.RLock()


_freeing = threading.RLock()
"""Held while memory is handed out or freed: jaxlib crashes where one thread does the one and another the other. (One thread may do both: a
collection of garbage frees.)"""
forks.run_in_children(_new_lock)  # a thread that held it in the parent is gone


def _check_alive(buf: Buffer) -> None:
    if buf.is_deleted():
        raise deletion_error(buf)


def is_deleted(buf: Buffer) -> bool:
    """Whether the buffer was deleted or donated."""
    return buf.is_deleted()


def delete(buf: Buffer) -> None:
    """Free the buffer's memory now; deleting twice is allowed.

    Said to another object for the same memory: the very object would lose what it points to, which crashes a thread that is
    just reading it.
    """
    with _freeing:
        if not buf.is_deleted():
            same_memory(buf).delete()


def is_ready(buf: Buffer) -> bool:
    """Whether the contents are there. Raises DeletedBufferError."""
    _check_alive(buf)  # jaxlib crashes on the question otherwise
    return buf.is_ready()


def block_until_ready(bufs: list[Buffer]) -> None:
    """Wait for the contents of all buffers. Raises DeletedBufferError, or XlaError for a failed computation."""
    for buf in bufs:
        _check_alive(buf)
    try:
        if processes.joined is None or all(buf.is_ready() for buf in bufs):
            xc.batched_block_until_ready(bufs)
        else:
            processes.answer_of(partial(xc.batched_block_until_ready, bufs))
    except RuntimeFailure as error:
        raise translate(error) from None


def _block_in_child(bufs):
    if not all(is_ready(buf) for buf in bufs):
        forks.refuse()


forks.guard(block_until_ready, instead=_block_in_child)


def pointer(buf: Buffer) -> int:
    """The address of the contents, once they are there.

    Raises DeletedBufferError, XlaError for a failed computation, TypeError for dtypes that are packed on the device.
    """
    block_until_ready([buf])
    if spread.is_spread(buf):
        raise TypeError("the contents are on several devices: ask its addressable_shards")
    if buf.aval.dtype in PACKED:
        raise TypeError(f"buffers of dtype {buf.aval.dtype} have no address for their elements")
    return dlpack.address(capsule(buf))


def nbytes(buf: Buffer) -> int:
    """The bytes the contents take on the device (packed dtypes: as packed). Raises DeletedBufferError."""
    _check_alive(buf)
    if spread.is_spread(buf):
        from .parts import pieces

        return sum(map(nbytes, pieces(buf)))
    dtype = buf.aval.dtype
    bits = PACKED.get(dtype) or 8 * dtype.itemsize
    return -(-math.prod(buf.aval.shape) * bits // 8)


def layout_of(buf: Buffer) -> Order:
    """In which order the axes lie in memory, as `order_of` says. Raises DeletedBufferError."""
    _check_alive(buf)
    return order_of(buf._pjrt_layout)


def order_of(layout: Any) -> Order:
    """A layout of the runtime: its axes, the slowest first; the shapes of its tiles; and the bits of an element where it is
    packed."""
    found = layout._xla_layout()
    return tuple(found.minor_to_major()[::-1]), tuple(map(tuple, found.tiling())), found.element_size_in_bits()


def device_of(buf: Buffer) -> Any:
    """The device of a buffer, or the group that it is spread over."""
    return buf._sharding._device


@forks.guard
def copy_to_device(buf: Buffer, device: Device) -> Buffer:
    """A copy of the buffer on `device`; in its own layout where that is the group it is spread over. Raises
    DeletedBufferError."""
    _check_alive(buf)
    if spread.is_spread(buf):
        if buf._sharding._device is not device:
            raise XlaError("a buffer on several devices is moved by resharding")
        from .parts import relaid

        return relaid(buf, buf._sharding)
    copies = xc.batched_copy_array_to_devices_with_sharding(
        [buf], [xc.DeviceList((device,))], [sharding_of(device)], [xc.ArrayCopySemantics.ALWAYS_COPY]
    )
    same = buf._sharding._device == device
    return spread.called(copies[0], buf._sharding) if same else copies[0]


def live_buffers() -> list[Buffer]:
    """All live buffers of this process; none when no client was made."""
    return devices.live_arrays()


def to_dlpack(buf: Buffer, stream: int | None = None) -> Any:
    """A DLPack capsule that shares the buffer's memory. Raises DeletedBufferError, XlaError for dtypes without DLPack."""
    _check_alive(buf)
    block_until_ready([buf])
    return capsule(buf, stream)


def from_dlpack(x: Any, device: Device | None = None) -> Buffer:
    """A buffer with a copy of what `x` (an object with `__dlpack__`, in host memory) holds.

    Raises TypeError for dtypes without an XLA counterpart, ValueError for memory that is not the host's.
    """
    return put(dlpack.read(x), device)
