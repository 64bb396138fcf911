"""How jax's arrays lie on devices."""

from __future__ import annotations

from typing import Any

from jitscope.backend.signature import as_written
from jitscope.core.shardings import NamedSharding, PartitionSpec
from jitscope.sharding import Mesh

from ..annotations import ShardingDocument
from ..observe.sharding import sharding_document
from . import private
from .translating import OtherAval, aval_of, one_line


def layout_text(sharding: Any) -> str:
    """`P('data', None) of Mesh('data': 4)`, what is cut first; other shardings as jax prints them."""
    spec, mesh, memory = (getattr(sharding, name, None) for name in ("spec", "mesh", "memory_kind"))
    if spec is None or mesh is None:
        return one_line(sharding)
    return one_line(f"{as_written(str(spec))} of {mesh}{'' if memory in (None, 'device') else f' in {memory}'}")


def arrays_of(value: Any) -> list[tuple[str, Any]]:
    """The arrays of jax's in a tree that jax knows, each with the way to it; none where jax is not there."""
    if private.jax() is None:
        return []
    tree, kind = private.module("jax.tree_util"), private.module("jax").Array
    leaves, _ = tree.tree_flatten_with_path(value)
    return [(tree.keystr(path), leaf) for path, leaf in leaves if isinstance(leaf, kind)]


def layout_document(title: str, array: Any) -> ShardingDocument:
    """Which device has which part of an array of jax's."""
    found = aval_of(private.module("jax").typeof(array))
    aval = None if isinstance(found, OtherAval) else found
    return sharding_document(title, array.shape, _ours(array.sharding), aval)


def _ours(sharding: Any) -> Any:
    """The layout of a named sharding as ours; others, which tell the devices of each part in the same words, as they are."""
    spec, mesh = getattr(sharding, "spec", None), getattr(sharding, "mesh", None)
    if spec is None or mesh is None or not hasattr(mesh, "devices"):
        return sharding
    return NamedSharding(Mesh(mesh.devices, mesh.axis_names), PartitionSpec(*spec), memory_kind=sharding.memory_kind)
