"""Devices, and moving values to and from them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import tree
from ..backend.array import Array, to_array
from ..core.trace import Tracer
from ..xla import client


def devices(backend: str | None = None) -> list[Any]:
    """The devices of this process. Raises RuntimeError for a backend that is not there."""
    if backend not in (None, "cpu"):
        raise RuntimeError(f"there is no backend {backend!r}: this release runs on 'cpu'")
    return list(client.cpu_devices())


def device_put(x: Any, device: Any = None) -> Any:
    """A tree with its arrays on a device (the default one)."""

    def put(leaf: Any) -> Any:
        if isinstance(leaf, Tracer):
            return leaf
        array = to_array(leaf)
        if device is None or array.device == device:
            return array
        return Array(client.copy_to_device(array.buf, device), array.aval)

    return tree.map(put, x)


def device_get(x: Any) -> Any:
    """A tree with its arrays as NumPy arrays."""
    return tree.map(lambda leaf: np.asarray(leaf) if isinstance(leaf, Array) else leaf, x)


def block_until_ready(x: Any) -> Any:
    """Wait until all arrays of a tree are computed; gives the tree."""
    client.block_until_ready([leaf.buf for leaf in tree.leaves(x) if isinstance(leaf, Array)])
    return x


def live_arrays() -> list[Any]:
    """The buffers alive on the devices."""
    return client.live_buffers()
