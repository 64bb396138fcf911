"""`shard_map` and `pmap`."""

from __future__ import annotations

from typing import Any

from .many_devices import later


__all__ = ["pmap", "shard_map"]


def pmap(fun: Any, *_: Any, **__: Any) -> Any:
    """`fun` mapped over devices. Raises NotImplementedError."""
    raise later("pmap")


def shard_map(*_: Any, **__: Any) -> Any:
    """A function run on each device's shard. Raises NotImplementedError."""
    raise later("shard_map")
