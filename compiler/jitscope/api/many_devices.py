"""What needs several devices: it comes in a later release, and says so."""

from __future__ import annotations

import functools
from typing import Any


__all__ = ["make_mesh", "pmap", "shard_map"]


def later(what: str) -> NotImplementedError:
    return NotImplementedError(
        f"{what}: computations over several devices come in a later release. On one device jit compiles whole programs, and "
        "vmap(..., axis_name=...) has the collectives (lax.psum, …)"
    )


def make_mesh(axis_shapes: Any, axis_names: Any, axis_types: Any = None, *, devices: Any = None) -> Any:
    """A mesh of devices. Raises NotImplementedError: it comes in a later release."""
    raise later("make_mesh")


def pmap(
    fun: Any,
    axis_name: Any = None,
    *,
    in_axes: Any = 0,
    out_axes: Any = 0,
    static_broadcasted_argnums: Any = (),
    devices: Any = None,
    backend: str | None = None,
    axis_size: int | None = None,
    donate_argnums: Any = (),
) -> Any:
    """`fun` mapped over devices. It comes in a later release: calling what this gives raises NotImplementedError, but code
    that only makes such functions runs."""

    @functools.wraps(fun)
    def mapped(*_: Any, **__: Any) -> Any:
        raise later("pmap")

    return mapped


def shard_map(
    f: Any = None,
    /,
    *,
    out_specs: Any,
    in_specs: Any = None,
    mesh: Any = None,
    axis_names: Any = frozenset(),
    check_vma: bool = True,
) -> Any:
    """`f` run on each device's shard. Raises NotImplementedError: it comes in a later release."""
    raise later("shard_map")
