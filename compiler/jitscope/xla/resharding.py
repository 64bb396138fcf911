"""Buffers from one layout to another. Over the same devices a program of XLA's exchanges what is missing."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from . import buffers, mlir
from .devices import sharding_of
from .parts import assembled, index_map, put_pieces, relaid, replicated
from .program import Executable, compile_options
from .reading import to_numpy
from .spread import Group, Layout, Spread, called


def on(buf: Any, place: Any) -> Any:
    """The buffer on a device, or on a group; itself if it is there, in whatever layout."""
    if buf._sharding._device is place:
        return buf
    return in_layout(buf, replicated(place) if isinstance(place, Group) else sharding_of(place))


def in_layout(buf: Any, at: Any) -> Any:
    """The contents of a buffer in a layout. Raises DeletedBufferError."""
    old = buf._sharding
    if old is at:
        return buf
    if isinstance(old, Layout) and old.terms:
        raise NotImplementedError(
            "the devices have terms of a sum that is still to be taken, so that there is no value to move. What to do: take the sum first, with "
            "jitscope.sharding.reshard(x, spec)"
        )
    buffers.block_until_ready([buf])
    shape, dtype = buf.aval.shape, buf.aval.dtype
    if not isinstance(at, Layout):
        return _on_one(buf, dtype, at)
    if isinstance(old, Layout) and old._device is at._device:
        return relaid(buf, at) if str(old.hlo) == str(at.hlo) else exchanged(buf, shape, dtype, at)
    if not isinstance(old, Layout) and str(at.hlo) == "{replicated}" and at.kind is None:
        parts = [buf if d == old._device else buffers.copy_to_device(buf, d) for d in at._device.local]
        return assembled(shape, dtype, at, parts)
    value = to_numpy(buf, dtype)
    return put_value(value, at)


def _on_one(buf: Any, dtype: Any, at: Any) -> Any:
    if isinstance(buf._sharding, Layout):
        made = buffers.put(np.asarray(to_numpy(buf, dtype)), at._device)
    else:
        made = buf if buf._sharding._device == at._device else buffers.copy_to_device(buf, at._device)
    return called(made, at)


def put_value(value: np.ndarray, at: Layout) -> Any:
    """A buffer in a layout with a NumPy value."""
    mine = set(at._device.local)
    index = index_map(at, value.shape)
    parts = [np.ascontiguousarray(value[i]) for i, d in zip(index, at._device.devices) if d in mine]
    return put_pieces(value.shape, value.dtype, at, parts)


def exchanged(buf: Any, shape: tuple[int, ...], dtype: np.dtype, to: Layout) -> Any:
    """A buffer with the contents of another (of that shape and dtype) in a layout over the same devices."""
    return _program(shape, dtype, buf._sharding, to).run([buf])[0]


@lru_cache(maxsize=512)
def _program(shape: tuple[int, ...], dtype: np.dtype, source: Layout, to: Layout) -> Executable:
    with mlir.context(), mlir.location():
        kind = str(mlir.tensor_type(shape, dtype))
    text = (
        f'module @reshard {{ func.func public @main(%x: {kind} {{mhlo.sharding = "{source.hlo}"}}) -> '
        f'({kind} {{mhlo.sharding = "{to.hlo}"}}) {{ return %x : {kind} }} }}'
    )
    place = Spread(to._device, (source,), (to,), None, None, shardy=False)
    return Executable.compile(text, [(shape, dtype)], place, compile_options())
