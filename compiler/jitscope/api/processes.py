"""Which devices and processes there are. This release has the CPU."""

from __future__ import annotations

import contextlib
import warnings
from typing import Any, TypeVar

from .. import tree
from ..core.annotations import Device
from ..xla import client, processes
from ..xla.errors import XlaError


T = TypeVar("T")


__all__ = ["copy_to_host_async", "default_backend", "device_count", "effects_barrier", "host_count", "host_id",
           "host_ids", "local_device_count", "local_devices", "process_count", "process_index", "process_indices"]  # fmt: skip


def check_backend(backend: Any) -> None:
    """Raises RuntimeError for a backend that is not there."""
    if backend not in (None, "cpu"):
        raise RuntimeError(f"there is no backend {backend!r}: this release runs on 'cpu'")


def default_backend() -> str:
    """The name of the platform that computations run on: "cpu"."""
    return "cpu"


def device_count(backend: str | None = None) -> int:
    """The number of devices of all processes. Raises RuntimeError for an unknown backend."""
    check_backend(backend)
    return len(client.all_devices())


def local_device_count(backend: str | None = None) -> int:
    """The number of devices of this process. Raises RuntimeError for an unknown backend."""
    check_backend(backend)
    return len(client.cpu_devices())


def local_devices(
    process_index: int | None = None, backend: str | None = None, host_id: int | None = None
) -> list[Device]:
    """The devices of a process (of this one, if left out). `host_id` is the old name of `process_index`. Raises RuntimeError for
    an unknown backend, ValueError for a process that is not there."""
    if host_id is not None:
        warnings.warn("local_devices: host_id is now process_index", UserWarning, stacklevel=2)
        process_index = host_id
    check_backend(backend)
    if process_index is None:
        return list(client.cpu_devices())
    if not 0 <= process_index < process_count():
        raise ValueError(f"there is no process {process_index}: there are {process_count()}")
    return [d for d in client.all_devices() if d.process_index == process_index]


def process_index(backend: str | None = None) -> int:
    """The number of this process among those that compute together."""
    check_backend(backend)
    return processes.joined.number if processes.joined is not None else 0


def process_count(backend: str | None = None) -> int:
    """The number of processes that compute together."""
    check_backend(backend)
    return processes.joined.count if processes.joined is not None else 1


def process_indices(backend: str | None = None) -> list[int]:
    """The numbers of all processes."""
    return list(range(process_count(backend)))


host_count, host_id, host_ids = process_count, process_index, process_indices
"""What processes were called before."""


def copy_to_host_async(x: T) -> T:
    """Start copying the arrays of a tree to the host, where reading them then waits less; gives the tree. Values without a
    `copy_to_host_async` are passed over. Raises DeletedArrayError."""
    for leaf in tree.leaves(x):
        if hasattr(leaf, "copy_to_host_async"):
            leaf.copy_to_host_async()
    return x


def effects_barrier() -> None:
    """Wait until everything that was started is done. (Programs that call Python are over when the call returns.) Of a computation that failed
    its result tells, to who reads it."""
    for buf in client.live_buffers():
        if not client.is_deleted(buf):
            with contextlib.suppress(XlaError):
                client.block_until_ready([buf])
