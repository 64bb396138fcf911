"""`jitscope.experimental.mesh_utils`: devices in a grid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..api.devices import devices as _all


__all__ = ["create_device_mesh", "create_hybrid_device_mesh"]


def create_device_mesh(
    mesh_shape: Sequence[int],
    devices: Sequence[Any] | None = None,
    *,
    contiguous_submeshes: bool = False,
    allow_split_physical_axes: bool = False,
) -> np.ndarray:
    """All devices (or `devices`) in a grid of that shape, in their order; the last two arguments are for TPUs. Raises ValueError for another number of them."""
    given = list(_all() if devices is None else devices)
    if math.prod(mesh_shape) != len(given):
        raise ValueError(
            f"a grid of shape {tuple(mesh_shape)} needs {math.prod(mesh_shape)} devices, and there are {len(given)}"
        )
    grid = np.empty(len(given), object)
    grid[:] = given
    return grid.reshape(mesh_shape)


def create_hybrid_device_mesh(
    mesh_shape: Sequence[int],
    dcn_mesh_shape: Sequence[int],
    devices: Sequence[Any] | None = None,
    *,
    process_is_granule: bool = False,
    should_sort_granules_by_key: bool = True,
    allow_split_physical_axes: bool = False,
) -> np.ndarray:
    """A grid whose axes are those of `dcn_mesh_shape`, along processes (slow connections), times those of `mesh_shape`, inside of
    each; the last three arguments are for TPUs. Raises ValueError for numbers that do not fit."""
    given = sorted(_all() if devices is None else devices, key=lambda d: (d.process_index, d.id))
    inner, outer = tuple(mesh_shape), tuple(dcn_mesh_shape)
    if math.prod(inner) * math.prod(outer) != len(given) or len(inner) != len(outer):
        raise ValueError(f"grids of shapes {outer} and {inner} do not fit {len(given)} devices")
    grid = create_device_mesh((*outer, *inner), given)
    rank = len(inner)
    order = [axis for i in range(rank) for axis in (i, rank + i)]
    return grid.transpose(order).reshape([a * b for a, b in zip(outer, inner)])
