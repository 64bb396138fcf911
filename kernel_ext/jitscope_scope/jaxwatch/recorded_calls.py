"""Calls of jax's jitted functions, recorded so that an edited program can be run on them, and what their programs give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..observe.ledger import Row
from ..observe.recorded_calls import Copy, Lost, RecordedCall, Restore, Trees
from . import private
from .private import TracedCall


def record(entered: TracedCall, leaves: Sequence[Any]) -> RecordedCall | None:
    """A call whose program is traced now; `leaves` are the arrays among its arguments. None where it cannot be copied."""
    trees, info = _trees(), entered.info
    static = {name: tuple(getattr(info, name) or ()) for name in ("static_argnums", "static_argnames")}
    try:
        call = RecordedCall(entered.fun, _jit(static), entered.args, entered.kwargs, trees)
        call.leaves = copy = Copy(list(leaves), trees)
        call.bytes += copy.bytes
    except Exception:  # of classes of the user's
        return None
    return call


def results_of(row: Row, call: RecordedCall) -> list[Any]:
    """What the program of a recorded call gives for its arguments. Raises Lost where the program is not there any more, or takes
    others."""
    arrays = private.module("jax.numpy").asarray
    leaves = [arrays(x) for x in call.leaves()] if call.leaves is not None else None
    bufs = row.takes.buffers(leaves) if leaves is not None and row.takes is not None and row.entry is not None else None
    if bufs is None:
        raise Lost("the program of a call is gone")
    entry = row.entry
    return [] if entry is None else [np.asarray(one) for one in entry.executable.run(bufs)]


def _jit(static: dict[str, tuple[Any, ...]]) -> Callable[[Any], Any]:
    return lambda fun: private.module("jax").jit(fun, **static)


def _trees() -> Trees:
    tree = private.module("jax.tree_util")
    return Trees(tree.tree_flatten, tree.tree_unflatten, _array)


def _array(x: Any) -> tuple[Restore, int] | None:
    jax = private.module("jax")
    if not isinstance(x, jax.Array):
        return None
    if len(x.devices()) > 1 or jax.numpy.issubdtype(x.dtype, jax.dtypes.extended):
        raise Lost("an argument is no plain array on one device")
    value = np.array(x)
    if not getattr(x, "weak_type", False):
        return lambda: jax.numpy.asarray(value), value.nbytes
    if value.shape:
        raise Lost("an argument is weakly typed")
    return lambda: jax.numpy.asarray(value.item()), value.nbytes
