"""Pictures of how arrays lie on devices: `jax.debug.visualize_sharding`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jitscope.api.layouts import inspect_array_sharding
from jitscope.core.avals import ShapedArray, aval_of

from ..annotations import ShardingDocument
from .sharding import cells_of, drawing, sharding_document


__all__ = ["visualize_array_sharding", "visualize_sharding"]


def visualize_array_sharding(arr: Any, **kwargs: Any) -> None:
    """Show which device has which part of an array of one or two axes; in a compiled function, when that is compiled. Other
    arguments are those of `visualize_sharding`."""
    aval = aval_of(arr)
    _check(aval.shape)
    inspect_array_sharding(arr, callback=lambda sharding: visualize_sharding(aval, sharding, **kwargs))


def visualize_sharding(
    shape: Sequence[int] | ShapedArray,
    sharding: Any,
    *,
    use_color: bool = True,
    scale: float = 1.0,
    min_width: int = 9,
    max_width: int = 80,
    color_map: Any = None,
) -> None:
    """Show which device has which part of an array of `shape` (or of an aval, whose dtype is told, too), as boxes: rows and
    columns are its axes. In a notebook where jitscope is loaded it is a picture in colours, elsewhere plain text.

    `min_width` and `max_width` are those of one box and of all, in characters; `scale` stretches them. `use_color` and
    `color_map` change nothing. Raises ValueError for shapes of no or more than two axes.
    """
    aval = shape if isinstance(shape, ShapedArray) else None
    sizes = tuple(shape) if aval is None else aval.shape  # pyright: ignore[reportArgumentType]
    _check(sizes)
    document = sharding_document("", sizes, sharding, aval)
    if shown_by:
        shown_by[-1](document)
    else:
        cells = cells_of(document["tiles"], document["rows"], document["columns"])
        print(drawing(cells, sizes, scale, min_width, max_width))


shown_by: list[Callable[[ShardingDocument], None]] = []
"""What shows the document of a layout (see `sharding`) where that can be more than text; the last of them is asked."""


def _check(shape: tuple[int, ...]) -> None:
    if len(shape) not in (1, 2) or 0 in shape:
        raise ValueError(f"only arrays of one or two axes that are not empty can be drawn, not shape {shape}")
