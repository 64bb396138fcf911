"""`jitscope.experimental.multihost_utils`: what all processes of a computation do together. With one process, each is its own."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import tree
from ..api.devices import devices
from ..api.jit import jit
from ..api.many_devices import make_array_from_callback, make_array_from_process_local_data
from ..api.processes import process_count, process_index
from ..backend.array import Array
from ..backend.spreading import moved_to
from ..core.annotations import PyTree
from ..core.meshes import Mesh
from ..core.shardings import NamedSharding, PartitionSpec
from ..xla import processes


__all__ = ["ProcessFailureError", "assert_equal", "broadcast_one_to_all", "global_array_to_host_local_array",
           "host_local_array_to_global_array", "live_devices", "process_allgather", "reached_preemption_sync_point",
           "sync_global_devices"]  # fmt: skip

SECONDS = 300
"""How long a process waits for the others."""


def _grid() -> Mesh:
    """The first device of each process."""
    first: dict[int, Any] = {}
    for d in devices():
        first.setdefault(d.process_index, d)
    grid = np.empty(len(first), object)
    grid[:] = [first[i] for i in sorted(first)]
    return Mesh(grid, ("processes",))


def _rows(x: np.ndarray, mesh: Mesh) -> Array:
    """One row from each process."""
    sharding = NamedSharding(mesh, PartitionSpec("processes"))
    return make_array_from_callback((mesh.size, *x.shape), sharding, lambda _: x[None], x.dtype)


def _on_all(fun: Any, x: np.ndarray) -> np.ndarray:
    mesh = _grid()
    out = jit(fun, out_shardings=NamedSharding(mesh, PartitionSpec()))(_rows(x, mesh))
    return np.asarray(out)


def sync_global_devices(name: str) -> None:
    """Wait until all processes are here, at the place of that name. Raises XlaError where one does not come or is gone,
    ValueError where one is at another place."""
    if process_count() == 1:
        return
    processes.meet(f"sync_global_devices:{name}", SECONDS)
    assert_equal(np.uint32(zlib.crc32(name.encode())), f"the processes are at different places; this one at {name!r}")


class ProcessFailureError(Exception):
    """Processes died in the body of `live_devices`. `failed_devices`: theirs, a set."""

    def __init__(self, failed_devices: set[Any]):
        self.failed_devices = failed_devices
        which = ", ".join(str(i) for i in sorted({d.process_index for d in failed_devices}))
        names = ", ".join(map(str, sorted(failed_devices, key=lambda d: d.id)))
        super().__init__(
            f"process {which} died while the others computed with it, and its devices are gone: {names}. What was computed in this "
            "block may be missing on some processes. What to do: enter live_devices again, and compute it anew on the devices that it gives"
        )


@contextmanager
def live_devices(devices: Sequence[Any]) -> Iterator[list[Any]]:
    """Those of these devices whose processes live, sorted by number, in a `with` statement whose body computes on them.

    All processes with one of the devices enter it together and leave it together, as far as they live, and see the same devices.
    Where one dies in between, the body raises XlaError in those that wait for it, and all raise ProcessFailureError at the end,
    also those whose body was done.

    Raises RuntimeError before `distributed.initialize`, ValueError for no devices and for none of this process, XlaError where the
    service that knows of the processes is gone.
    """
    if processes.joined is None:
        raise RuntimeError("live_devices is for processes that compute together: call distributed.initialize before")
    if not devices:
        raise ValueError("live_devices needs devices, and was given none: jax.devices() are all")
    numbers = {d.process_index for d in devices}
    if process_index() not in numbers:
        raise ValueError(
            f"live_devices needs a device of this process, {process_index()}: these are of {sorted(numbers)}"
        )

    def living() -> list[Any]:
        alive = processes.agree(list(numbers))
        return sorted((d for d in devices if d.process_index in alive), key=lambda d: d.id)

    before, problem = living(), None
    try:
        yield before
    except Exception as error:
        problem = error
    if failed := set(before) - set(living()):
        raise ProcessFailureError(failed) from problem
    if problem is not None:
        raise problem


def reached_preemption_sync_point(step_id: int) -> bool:
    """Whether all processes are to save their state at this step, since one of them is about to be stopped. This release is not told of
    that: False for one process. Raises RuntimeError for several."""
    if processes.joined is None:
        return False
    raise RuntimeError(
        f"this release hears of no preemption, so that it cannot say whether step {step_id} is the one to save at: save regularly"
    )


def broadcast_one_to_all(in_tree: PyTree, is_source: bool | None = None) -> PyTree:
    """A tree of arrays of one process (number 0, or the one that says `is_source`), for all; the others give one of the same
    shapes and dtypes."""
    if process_count() == 1:
        return tree.map(np.asarray, in_tree)
    mine = process_index() == 0 if is_source is None else bool(is_source)

    def one(x: Any) -> np.ndarray:
        x = np.asarray(x)
        flat = x.view(np.uint8) if x.dtype == bool else x
        found = _on_all(lambda rows: rows.sum(0), flat if mine else np.zeros_like(flat)).astype(flat.dtype)
        return found.view(bool) if x.dtype == bool else found

    return tree.map(one, in_tree)


def process_allgather(in_tree: PyTree, tiled: bool = False) -> PyTree:
    """A tree of arrays of all processes: along a new first axis, or, `tiled`, one after another along the first. Arrays that are
    spread over processes are given whole. As NumPy arrays."""

    def one(x: Any) -> np.ndarray:
        if isinstance(x, Array) and not x.is_fully_addressable:
            mesh = x.sharding.mesh  # pyright: ignore[reportAttributeAccessIssue]
            return np.asarray(jit(lambda a: a, out_shardings=NamedSharding(mesh, PartitionSpec()))(x))
        x = np.asarray(x)
        if process_count() == 1:
            return x if tiled else x[None]
        rows = _on_all(lambda a: a, x)
        return rows.reshape(-1, *x.shape[1:]) if tiled and x.ndim else rows

    return tree.map(one, in_tree)


def assert_equal(in_tree: PyTree, fail_message: str = "") -> None:
    """Raises AssertionError where the processes have different values."""
    theirs = broadcast_one_to_all(in_tree)
    same = all(np.array_equal(np.asarray(a), np.asarray(b)) for a, b in zip(tree.leaves(in_tree), tree.leaves(theirs)))
    everywhere = process_allgather(np.asarray(same))
    if not np.all(everywhere):
        raise AssertionError(
            f"{fail_message or 'the processes have different values'}: here {in_tree}, in process 0 {theirs}"
        )


def host_local_array_to_global_array(local_inputs: PyTree, global_mesh: Mesh, pspecs: PyTree) -> PyTree:
    """Trees of what each process has as arrays over all of them."""
    leaves, treedef = tree.flatten(local_inputs)
    specs = tree.broadcast_prefix(pspecs, treedef, "pspecs")
    pairs = zip(leaves, specs)
    return treedef.unflatten([make_array_from_process_local_data(NamedSharding(global_mesh, s or PartitionSpec()), np.asarray(x)) for x, s in pairs])  # fmt: skip


def global_array_to_host_local_array(global_inputs: PyTree, global_mesh: Mesh, pspecs: PyTree) -> PyTree:
    """Trees of arrays over all processes as what this process has of them: arrays over its own devices of the mesh."""
    local = global_mesh.local_mesh

    def one(x: Any, spec: Any) -> Array:
        shards = x.addressable_shards
        begins = [min(s.index[i].indices(n)[0] for s in shards) for i, n in enumerate(x.shape)]
        ends = [max(s.index[i].indices(n)[1] for s in shards) for i, n in enumerate(x.shape)]
        out = np.empty([e - b for b, e in zip(begins, ends)], x.dtype)
        for s in shards:
            spans = [part.indices(n) for part, n in zip(s.index, x.shape)]
            out[tuple(slice(a - b, e - b) for (a, e, _), b in zip(spans, begins))] = np.asarray(s.data)
        return moved_to(out, NamedSharding(local, spec or PartitionSpec()))

    leaves, treedef = tree.flatten(global_inputs)
    specs = tree.broadcast_prefix(pspecs, treedef, "pspecs")
    return treedef.unflatten(list(map(one, leaves, specs)))
