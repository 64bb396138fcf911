"""Calls of native functions that were registered with XLA."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .. import tree
from ..core.annotations import PyTree
from ..core.avals import ShapedArray, aval_of
from ..core.dtypes import canonicalize
from ..core.effects import Effect
from ..core.primitive import Primitive
from ..named_tuple import NamedTuple
from ..ops.linear import reshape
from .bodies import check_leaves
from .fori_loop import map as map_one_by_one


VMAP_METHODS = ("sequential", "expand_dims", "broadcast_all")


_effect = Effect("FFI")
"""Something a native function does beside giving its results."""


class FFICall(Primitive):
    """A call of the native function `target`, which gives arrays of the avals `results`.

    `attributes` are (name, value) pairs; `vmap_method` says how it is mapped; `aliases` are (operand, result) that share
    memory; `layouts` are the axes of each operand, and of each result, the slowest first.
    """

    multiple_results = True

    def abstract(self, /, *avals, results, side_effect, **params):
        return list(results), frozenset([_effect] if side_effect else [])

    def lower(self, ctx, /, *values, target, results, attributes, side_effect, aliases, layouts, **params):
        return ctx.foreign(target, values, ctx.avals_in, results, dict(attributes), side_effect, aliases, layouts)

    def jvp(self, primals, tangents, /, *, target, **params):
        raise NotImplementedError(
            f"the native function {target!r} has no derivative: wrap the call in a function with custom_jvp or custom_vjp"
        )

    def batch(self, axis, args, dims, /, *, target, results, vmap_method, layouts, **params):
        if vmap_method == "sequential":
            return self._one_by_one(
                axis, args, dims, target=target, results=results, vmap_method=vmap_method, layouts=layouts, **params
            )
        if vmap_method is None:
            raise NotImplementedError(
                f"ffi_call of {target!r} does not say how it is mapped: give vmap_method, one of {', '.join(VMAP_METHODS)}"
            )
        if vmap_method == "broadcast_all":
            args = [axis.move(x, d, 0) for x, d in zip(args, dims)]
        else:
            args = [axis.move(x, d, 0) if d is not None else _with_leading_one(x) for x, d in zip(args, dims)]
        mapped = tuple(ShapedArray((axis.size, *a.shape), a.dtype) for a in results)
        moved = tuple(tuple((0, *[i + 1 for i in order]) for order in side) for side in layouts)
        outs = self.bind(*args, target=target, results=mapped, vmap_method=vmap_method, layouts=moved, **params)
        return outs, [0] * len(outs)

    def _one_by_one(self, axis: Any, args: Any, dims: Any, **params: Any) -> tuple[list[Any], list[int]]:
        mapped_args = [axis.move(x, d, 0) for x, d in zip(args, dims) if d is not None]

        def one(xs):
            given = iter(xs)
            return self.bind(*[x if d is None else next(given) for x, d in zip(args, dims)], **params)

        outs = list(map_one_by_one(one, mapped_args))
        return outs, [0] * len(outs)

    def shown_params(self, params):
        shown = {"target": params["target"], **dict(params["attributes"])}
        if any(order != _rows_first(len(order)) for side in params["layouts"] for order in side):
            shown["layouts"] = params["layouts"]
        return {**shown, "vmap_method": params["vmap_method"]} if params["vmap_method"] else shown


def _with_leading_one(x: Any) -> Any:
    return reshape(x, (1, *aval_of(x).shape))


ffi_call_p = FFICall("ffi_call")


def ffi_call(
    target_name: str,
    result_shape_dtypes: PyTree,
    *,
    has_side_effect: bool = False,
    vmap_method: str | None = None,
    input_layouts: Sequence[Any] | None = None,
    output_layouts: Sequence[Any] | None = None,
    input_output_aliases: Mapping[int, int] | None = None,
    custom_call_api_version: int = 4,
    legacy_backend_config: str | None = None,
) -> Callable[..., Any]:
    """The function that calls the native function registered as `target_name`.

    It takes arrays (or trees of them), and the native function's attributes by name: bool, int (64 bits), float (64 bits),
    text, NumPy scalars and arrays. Its results have the shapes and dtypes of `result_shape_dtypes` (a tree of
    ShapeDtypeStructs). Arrays lie in row-major order, or as `input_layouts` (one for each array) and `output_layouts` (one for each
    result) say: the axes, the slowest first, or None. `vmap_method`: "sequential" (one call for each example),
    "expand_dims" or "broadcast_all" (one call; arguments get a leading axis, of size 1 where they are not mapped, or
    repeated). `input_output_aliases` {operand: result} share memory. Raises ValueError for another method and for layouts that do not
    fit, TypeError for attributes of other types, NotImplementedError for the older ways of calling, `custom_call_api_version`
    below 4 with `legacy_backend_config`.
    """
    if custom_call_api_version != 4 or legacy_backend_config is not None:
        raise NotImplementedError(
            f"ffi_call of {target_name!r}: only version 4 of XLA's interface is here, which takes attributes by name and no "
            "legacy_backend_config"
        )
    if vmap_method is not None and vmap_method not in VMAP_METHODS:
        raise ValueError(f"ffi_call: vmap_method must be one of {', '.join(VMAP_METHODS)} or None, not {vmap_method!r}")
    wanted, out_tree = tree.flatten(result_shape_dtypes)
    results = tuple(ShapedArray(tuple(s.shape), canonicalize(s.dtype)) for s in wanted)

    # A layout of the only result need not stand in a sequence.
    outs_lie = [output_layouts] if out_tree.num_leaves == 1 and _is_layout(output_layouts) else output_layouts

    def call(*args: Any, **attributes: Any) -> Any:
        leaves = tree.leaves(args)
        check_leaves(leaves, args, f"ffi_call of {target_name!r}: the arguments have, at args")
        ranks = [aval_of(x).ndim for x in leaves], [a.ndim for a in results]
        outs = ffi_call_p.bind(
            *leaves,
            target=target_name,
            results=results,
            attributes=tuple((name, _attribute(name, value)) for name, value in sorted(attributes.items())),
            side_effect=has_side_effect,
            vmap_method=vmap_method,
            aliases=tuple((input_output_aliases or {}).items()),
            layouts=(_layouts("input", input_layouts, ranks[0]), _layouts("output", outs_lie, ranks[1])),
        )
        return out_tree.unflatten(outs)

    return call


def _rows_first(rank: int) -> tuple[int, ...]:
    return tuple(range(rank))


def _is_layout(x: Any) -> bool:
    return x is not None and all(isinstance(i, int) for i in x)


def _layouts(which: str, given: Sequence[Any] | None, ranks: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """The axes of each array, the slowest first. Raises ValueError where what was given does not fit."""
    if given is None:
        return tuple(map(_rows_first, ranks))
    if len(given) != len(ranks):
        raise ValueError(f"ffi_call: {len(given)} {which}_layouts for {len(ranks)} arrays")
    found = tuple(_rows_first(rank) if order is None else tuple(order) for order, rank in zip(given, ranks))
    for order, rank in zip(found, ranks):
        if sorted(order) != list(range(rank)):
            raise ValueError(
                f"ffi_call: {which}_layouts has {order} for an array of {rank} axes; name each of them once"
            )
    return found


def _attribute(name: str, value: Any) -> Any:
    """An attribute as a hashable value."""
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (np.generic, np.ndarray)) and value.dtype.kind in "biuf":
        return Values.of(value)
    raise TypeError(
        f"ffi_call: the attribute {name!r} is a bool, an int, a float, a string, or a NumPy scalar or vector of those, not "
        f"{type(value).__name__}"
    )


class Values(NamedTuple):
    """A NumPy scalar or vector as an attribute."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes

    @staticmethod
    def of(array: Any) -> Values:
        array = np.asarray(array)
        return Values(array.dtype.str, array.shape, array.tobytes())

    @property
    def array(self) -> np.ndarray:
        return np.frombuffer(self.data, self.dtype).reshape(self.shape)

    def __repr__(self) -> str:
        return repr(self.array.tolist())
