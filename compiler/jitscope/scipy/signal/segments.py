"""A signal as overlapping stretches, and such stretches as one signal again: along the last axis, with one number of equations
for any overlap. Both see the stretches as blocks as long as a step, and move rows of blocks against each other by reading
an array with rows of another length."""

from __future__ import annotations

from typing import Any

from ... import lax, numpy as jnp
from ...xla.cpu_tuning import WRITTEN_OUT_STRETCHES


def _filled(x: Any, axis: int, more: int) -> Any:
    """x with zeros at the end of an axis; what is beyond, for a negative number, goes."""
    if not more:
        return x
    ends = [(0, more if i == axis % x.ndim else 0, 0) for i in range(x.ndim)]
    return lax.pad(x, x.dtype.type(0), ends)


def framed(x: Any, size: int, step: int) -> Any:
    """Every stretch of `size` elements that begins at a multiple of `step`: [..., n] to [..., count, size]."""
    *outer, n = x.shape
    count, blocks = (n - size) // step + 1, -(-size // step)
    if size == step:
        return lax.slice_in_dim(x, 0, count * size, axis=-1).reshape(*outer, count, size)
    length = count + blocks - 1
    x = _filled(x, -1, length * step - n)
    if WRITTEN_OUT_STRETCHES.reaches(blocks):
        rows = x.reshape(*outer, length, step)
        parts = [lax.slice_in_dim(rows, j, j + count, axis=-2) for j in range(blocks)]
        return _filled(jnp.concatenate(parts, -1), -1, size - blocks * step)
    # Row j of rows that are one block longer begins j blocks later.
    copies = jnp.broadcast_to(x[..., None, :], (*outer, blocks + 1, length * step)).reshape(*outer, -1)
    rows = lax.slice_in_dim(copies, 0, blocks * (length + 1) * step, axis=-1).reshape(*outer, blocks, length + 1, step)
    stretches = jnp.swapaxes(lax.slice_in_dim(rows, 0, count, axis=-2), -2, -3).reshape(*outer, count, blocks * step)
    return _filled(stretches, -1, size - blocks * step)


def overlapped(frames: Any, step: int) -> Any:
    """The sum of stretches that begin `step` elements one after the other: [..., count, size] to [..., (count - 1) step + size]."""
    *outer, count, size = frames.shape
    blocks = -(-size // step)
    if size == step:
        return frames.reshape(*outer, count * size)
    rows = _filled(frames, -1, blocks * step - size).reshape(*outer, count, blocks, step)
    length = count + blocks - 1
    # Row j of rows that are one block shorter begins j blocks later.
    rows = _filled(jnp.swapaxes(rows, -2, -3), -2, blocks).reshape(*outer, blocks * (length + 1) * step)
    shifted = lax.slice_in_dim(rows, 0, blocks * length * step, axis=-1).reshape(*outer, blocks, length * step)
    return _filled(jnp.sum(shifted, -2), -1, size - blocks * step)
