"""`jitscope.experimental.shard_map`: the older form of `jitscope.shard_map`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..api.sharded import shard_map as _shard_map


__all__ = ["shard_map"]


def shard_map(f: Callable[..., Any], mesh: Any, in_specs: Any, out_specs: Any, check_rep: bool = True) -> Any:
    """`jitscope.shard_map`; `check_rep` is `check_vma`."""
    return _shard_map(f, mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_vma=check_rep)
