"""Calls of native functions that were registered with XLA."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .. import tree
from ..core.annotations import PyTree
from ..core.avals import ShapedArray, physical
from ..core.effects import Effect
from ..core.primitive import Primitive
from .attributes import frozen, thawed
from .bodies import check_leaves
from .callbacks import METHODS, WHOLE, with_examples
from .effects import example_by_example


_effect = Effect("FFI")
"""Something a native function does beside giving its results."""


class FFICall(Primitive):
    """A call of the native function `target`, which gives arrays of the avals `results`.

    `attributes` are (name, value) pairs, or a text for interfaces of a `version` below 4; `vmap_method` says how it is mapped;
    `aliases` are (operand, result) that share memory; `layouts` are the axes of each operand, and of each result, the slowest first.
    """

    multiple_results = True

    def abstract(self, /, *avals, results, side_effect, **params):
        return list(results), frozenset([_effect] if side_effect else [])

    def lower(self, ctx, /, *values, target, results, attributes, side_effect, aliases, layouts, version, **params):
        given = attributes if isinstance(attributes, str) else {name: thawed(value) for name, value in attributes}
        return ctx.foreign(target, values, ctx.avals_in, results, given, side_effect, aliases, layouts, version)

    def jvp(self, primals, tangents, /, *, target, **params):
        raise ValueError(
            f"the native function {target!r} cannot be differentiated: wrap the call in a function with custom_jvp or custom_vjp"
        )

    def batch(self, axis, args, dims, /, *, target, results, vmap_method, layouts, **params):
        params.update(target=target, vmap_method=vmap_method)
        if vmap_method in ("sequential", "sequential_unrolled"):
            params.update(results=results, layouts=layouts)
            return example_by_example(self, axis, args, dims, params, vmap_method == "sequential_unrolled")
        if vmap_method not in WHOLE:
            raise NotImplementedError(
                f"ffi_call of {target!r} does not say how it is mapped: give vmap_method, one of {', '.join(METHODS)}"
            )
        whole = [with_examples(axis, x, d, vmap_method) for x, d in zip(args, dims)]
        left = [d is None and vmap_method == "legacy_vectorized" for d in dims]
        ins, outs = ([(0, *[i + 1 for i in order]) for order in side] for side in layouts)
        moved = tuple([old if same else new for old, new, same in zip(layouts[0], ins, left)]), tuple(outs)
        mapped = tuple([ShapedArray((axis.size, *a.shape), a.dtype) for a in results])
        return self.bind(*whole, results=mapped, layouts=moved, **params), [0] * len(results)

    def shown_params(self, params):
        given = params["attributes"]
        shown = {"target": params["target"], **({"config": given} if isinstance(given, str) else dict(given))}
        if any(order != _rows_first(len(order)) for side in params["layouts"] for order in side):
            shown["layouts"] = params["layouts"]
        return {**shown, "vmap_method": params["vmap_method"]} if params["vmap_method"] else shown


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
    text, NumPy scalars and arrays, sequences and dicts of those. Its results have the shapes and dtypes of `result_shape_dtypes` (a tree
    of ShapeDtypeStructs), with 64 bits where that says so. Arrays lie in row-major order, or as `input_layouts` (one for each array) and
    `output_layouts` (one for each result) say: the axes, the slowest first, or None. `vmap_method`: as of `pure_callback`.
    `input_output_aliases` {operand: result} share memory. Of older interfaces, a `custom_call_api_version` below 4, attributes are one
    text, `legacy_backend_config`. Raises ValueError for another method, for layouts and aliases that do not fit, for results without
    a shape, and for attributes of the other kind, TypeError for attributes of other types.
    """
    if custom_call_api_version >= 4 and legacy_backend_config is not None:
        raise ValueError(
            f"ffi_call of {target_name!r}: legacy_backend_config is for a custom_call_api_version below 4, not "
            f"{custom_call_api_version}; attributes are passed by name"
        )
    if vmap_method is not None and vmap_method not in METHODS:
        raise ValueError(f"ffi_call: vmap_method must be one of {', '.join(METHODS)} or None, not {vmap_method!r}")
    wanted, out_tree = tree.flatten(result_shape_dtypes)
    results = _result_avals(result_shape_dtypes, wanted)

    # A layout of the only result need not stand in a sequence.
    outs_lie = [output_layouts] if out_tree.num_leaves == 1 and _is_layout(output_layouts) else output_layouts

    def call(*args: Any, **attributes: Any) -> Any:
        if attributes and custom_call_api_version < 4:
            raise ValueError(
                f"ffi_call of {target_name!r}: attributes by name need a custom_call_api_version of at least 4, not "
                f"{custom_call_api_version}"
            )
        leaves = tree.leaves(args)
        avals = check_leaves(leaves, args, f"ffi_call of {target_name!r}: the arguments have, at args")
        layouts = (
            _layouts("input", input_layouts, [physical(a).ndim for a in avals]),
            _layouts("output", outs_lie, [physical(a).ndim for a in results]),
        )
        given = [(name, frozen(f"ffi_call: the attribute {name!r}", x)) for name, x in sorted(attributes.items())]
        outs = ffi_call_p.bind(
            *leaves,
            target=target_name,
            results=results,
            attributes=tuple(given) if custom_call_api_version >= 4 else legacy_backend_config or "",
            side_effect=has_side_effect,
            vmap_method=vmap_method,
            aliases=_aliases(input_output_aliases or {}, avals, results, layouts),
            layouts=layouts,
            version=custom_call_api_version,
        )
        return out_tree.unflatten(outs)

    return call


def _result_avals(whole: Any, leaves: Sequence[Any]) -> tuple[ShapedArray, ...]:
    """The avals of results. Raises ValueError for what has no shape and dtype."""
    parts = whole if isinstance(whole, (tuple, list)) else [whole]
    for i, part in enumerate(parts):
        if not tree.leaves(part) or not all(hasattr(x, "shape") and hasattr(x, "dtype") for x in tree.leaves(part)):
            raise ValueError(
                f"ffi_call: results are told by a shape and a dtype, which {part!r} at position {i} has not"
            )
    return tuple([ShapedArray(tuple(s.shape), np.dtype(s.dtype)) for s in leaves])


def _aliases(
    given: Mapping[int, int], avals: Sequence[Any], results: Sequence[Any], layouts: Sequence[Sequence[Any]]
) -> tuple[tuple[int, int], ...]:
    """The pairs (operand, result). Raises ValueError for those that cannot be one memory."""
    for i, j in given.items():
        if not (0 <= i < len(avals) and 0 <= j < len(results)):
            raise ValueError(
                f"ffi_call: input_output_aliases {{{i}: {j}}} is outside of {len(avals)} operands and {len(results)} results"
            )
        if (avals[i].shape, avals[i].dtype) != (results[j].shape, results[j].dtype) or layouts[0][i] != layouts[1][j]:
            raise ValueError(
                f"ffi_call: operand {i}, {avals[i].short()}, and result {j}, {results[j].short()}, cannot share memory: shape, "
                "dtype and layout must be the same"
            )
    return tuple(given.items())


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
    found = tuple(
        _rows_first(rank) if order is None else tuple(getattr(order, "major_to_minor", order))
        for order, rank in zip(given, ranks)
    )
    for order, rank in zip(found, ranks):
        if sorted(order) != list(range(rank)):
            raise ValueError(
                f"ffi_call: {which}_layouts has {order} for an array of {rank} axes; name each of them once"
            )
    return found
