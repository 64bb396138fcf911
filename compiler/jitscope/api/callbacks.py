"""Calling Python functions from compiled programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import tree
from ..backend.callbacks import HostFunction, host_function
from ..control.bodies import check_leaves, name_of
from ..control.callbacks import METHODS, io_callback_p, pure_callback_p
from ..core import dtypes
from ..core.annotations import PyTree, Sharding
from ..core.avals import ShapedArray
from ..core.errors import later
from ._flat import check_callable


def pure_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: PyTree,
    *args: PyTree,
    sharding: Sharding | None = None,
    vmap_method: str | None = None,
    **kwargs: PyTree,
) -> PyTree:
    """`callback(*args, **kwargs)`, a Python function of arrays, called when the program runs.

    `result_shape_dtypes` is a tree of what the results are like (anything with `shape` and `dtype`, such as
    ShapeDtypeStruct). The function gets and gives trees of arrays and has no effects: it may be called several times, or
    never if nobody reads what it gives. Other shapes, dtypes or structures than promised raise CallbackResultError; what
    the function raises is raised by the call that runs the program.

    Under vmap, `vmap_method` decides: "sequential" calls it once for each example, in a loop ("sequential_unrolled": written
    out); for the others it is called once, with the examples along a new first axis, which its results must have, too:
    "broadcast_all" gives all arguments that axis in full, "expand_dims" those that are not mapped with size 1,
    "legacy_vectorized" leaves those alone. Without it vmap raises NotImplementedError. It cannot be differentiated
    (ValueError), but called in a custom_jvp or custom_vjp function. `sharding` is for several devices: a later release.
    """
    check_callable(callback, "pure_callback")
    if sharding is not None:
        raise later("pure_callback's sharding")
    if vmap_method is not None and vmap_method not in METHODS:
        raise ValueError(
            f"pure_callback: vmap_method must be one of {', '.join(map(repr, METHODS))} or None, not {vmap_method!r}"
        )
    host, leaves, avals, out_tree = _prepare("pure_callback", callback, result_shape_dtypes, args, kwargs)
    outs = pure_callback_p.bind(*leaves, callback=host, result_avals=avals, vmap_method=vmap_method)
    return out_tree.unflatten(outs)


def io_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: PyTree,
    *args: PyTree,
    sharding: Sharding | None = None,
    ordered: bool = False,
    **kwargs: PyTree,
) -> PyTree:
    """`callback(*args, **kwargs)`, a Python function that may have effects, called each time the program comes by.

    Arguments and results are those of `pure_callback`; a function that gives nothing promises None. With `ordered` all such
    calls happen in the order of the program. Under vmap it is called once for each example; if `ordered`, vmap raises
    ValueError, as derivatives do.
    """
    check_callable(callback, "io_callback")
    if sharding is not None:
        raise later("io_callback's sharding")
    host, leaves, avals, out_tree = _prepare("io_callback", callback, result_shape_dtypes, args, kwargs)
    outs = io_callback_p.bind(*leaves, callback=host, result_avals=avals, ordered=bool(ordered))
    return out_tree.unflatten(outs)


def _prepare(
    what: str, callback: Any, result_shape_dtypes: Any, args: Sequence[Any], kwargs: dict[str, Any]
) -> tuple[HostFunction, list[Any], tuple[ShapedArray, ...], Any]:
    """The function as programs call it, the leaves of its arguments, the avals and the structure of its results."""
    leaves, in_tree = tree.flatten((tuple(args), kwargs))
    check_leaves(leaves, (tuple(args), kwargs), f"{what} of {name_of(callback)} got, at (args, kwargs)")
    promised, out_tree = tree.flatten(result_shape_dtypes)
    avals = tuple([_promised(what, x) for x in promised])
    return host_function(what, callback, in_tree, out_tree), leaves, avals, out_tree


def _promised(what: str, x: Any) -> ShapedArray:
    """The aval of a promised result."""
    try:
        shape, dtype = tuple(map(int, x.shape)), x.dtype
    except (AttributeError, TypeError):
        raise TypeError(
            f"{what}: result_shape_dtypes must be a tree of objects with a shape and a dtype, such as jitscope.ShapeDtypeStruct("
            f"shape, dtype); it contains {x!r}"
        ) from None
    if not dtypes.is_extended(dtype):
        dtype = np.dtype(dtype)
        if not dtypes.is_supported(dtype):
            raise TypeError(f"{what}: result_shape_dtypes names dtype {dtype}, which no array has")
        if dtypes.canonicalize(dtype) != dtype:
            raise ValueError(
                f"{what}: result_shape_dtypes names {dtype}, but 64-bit dtypes are off (enable_x64): promise "
                f"{dtypes.canonicalize(dtype)}"
            )
    return ShapedArray(shape, dtype)
