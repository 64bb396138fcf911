"""Calls of native functions that were registered with XLA."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from .. import tree
from ..core.avals import ShapedArray, aval_of
from ..core.dtypes import canonicalize
from ..core.effects import Effect
from ..core.primitive import Primitive
from ..ops.linear import reshape
from .bodies import check_leaves
from .fori_loop import map as map_one_by_one


VMAP_METHODS = ("sequential", "expand_dims", "broadcast_all")


_effect = Effect("FFI")
"""Something a native function does beside giving its results."""


class FFICall(Primitive):
    """A call of the native function `target`, which gives arrays of the avals `results`.

    `attributes` are (name, value) pairs; `vmap_method` says how it is mapped; `aliases` are (operand, result) that share
    memory.
    """

    multiple_results = True

    def abstract(self, /, *avals, results, side_effect, **params):
        return list(results), frozenset([_effect] if side_effect else [])

    def lower(self, ctx, /, *values, target, results, attributes, side_effect, aliases, **params):
        return ctx.foreign(target, values, ctx.avals_in, results, dict(attributes), side_effect, aliases)

    def jvp(self, primals, tangents, /, *, target, **params):
        raise NotImplementedError(
            f"the native function {target!r} has no derivative: wrap the call in a function with custom_jvp or custom_vjp"
        )

    def batch(self, axis, args, dims, /, *, target, results, vmap_method, **params):
        if vmap_method == "sequential":
            return self._one_by_one(axis, args, dims, target=target, results=results, vmap_method=vmap_method, **params)
        if vmap_method is None:
            raise NotImplementedError(
                f"ffi_call of {target!r} does not say how it is mapped: give vmap_method, one of {', '.join(VMAP_METHODS)}"
            )
        if vmap_method == "broadcast_all":
            args = [axis.move(x, d, 0) for x, d in zip(args, dims)]
        else:
            args = [axis.move(x, d, 0) if d is not None else _with_leading_one(x) for x, d in zip(args, dims)]
        mapped = tuple(ShapedArray((axis.size, *a.shape), a.dtype) for a in results)
        outs = self.bind(*args, target=target, results=mapped, vmap_method=vmap_method, **params)
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
        return {**shown, "vmap_method": params["vmap_method"]} if params["vmap_method"] else shown


def _with_leading_one(x: Any) -> Any:
    return reshape(x, (1, *aval_of(x).shape))


ffi_call_p = FFICall("ffi_call")


def ffi_call(
    target_name: str,
    result_shape_dtypes: Any,
    *,
    has_side_effect: bool = False,
    vmap_method: str | None = None,
    input_output_aliases: Mapping[int, int] | None = None,
) -> Callable[..., Any]:
    """The function that calls the native function registered as `target_name`.

    It takes arrays (or trees of them), and the native function's attributes by name: bool, int (64 bits), float (64 bits),
    text, NumPy scalars and arrays. Its results have the shapes and dtypes of `result_shape_dtypes` (a tree of
    ShapeDtypeStructs). Arrays lie in row-major order. `vmap_method`: "sequential" (one call for each example),
    "expand_dims" or "broadcast_all" (one call; arguments get a leading axis, of size 1 where they are not mapped, or
    repeated). `input_output_aliases` {operand: result} share memory. Raises ValueError for another method, TypeError for
    attributes of other types.
    """
    if vmap_method is not None and vmap_method not in VMAP_METHODS:
        raise ValueError(f"ffi_call: vmap_method must be one of {', '.join(VMAP_METHODS)} or None, not {vmap_method!r}")
    wanted, out_tree = tree.flatten(result_shape_dtypes)
    results = tuple(ShapedArray(tuple(s.shape), canonicalize(s.dtype)) for s in wanted)

    def call(*args: Any, **attributes: Any) -> Any:
        leaves = tree.leaves(args)
        check_leaves(leaves, args, f"ffi_call of {target_name!r}: the arguments have, at args")
        outs = ffi_call_p.bind(
            *leaves,
            target=target_name,
            results=results,
            attributes=tuple((name, _attribute(name, value)) for name, value in sorted(attributes.items())),
            side_effect=has_side_effect,
            vmap_method=vmap_method,
            aliases=tuple((input_output_aliases or {}).items()),
        )
        return out_tree.unflatten(outs)

    return call


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
