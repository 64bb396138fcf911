"""Showing how arrays are laid out over devices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import tree
from ..backend.array import to_array
from ..control.inspecting import inspect_sharding_p
from ..core.avals import aval_of
from ..xla import client


__all__ = ["inspect_array_sharding", "visualize_array_sharding", "visualize_sharding"]


def inspect_array_sharding(value: Any, *, callback: Any) -> None:
    """Call `callback(sharding)` for each array of a tree: at once, or for values of a compiled function when that is compiled
    (not again while its program is known). Raises TypeError for a `callback` that is no function."""
    if not callable(callback):
        raise TypeError(
            f"inspect_array_sharding: callback must be a function of a sharding, not {type(callback).__name__}"
        )
    for leaf in tree.leaves(value):
        inspect_sharding_p.bind(leaf, callback=callback, layout_of=_layout_of)


def _layout_of(x: Any) -> Any:
    from ..core.shardings import SingleDeviceSharding

    return SingleDeviceSharding(client.default_device()) if x is None else to_array(x).sharding


def visualize_array_sharding(arr: Any, **kwargs: Any) -> None:
    """Print which device has which part of an array of one or two axes; in a compiled function, when that is compiled. Other
    arguments are those of `visualize_sharding`."""
    shape = aval_of(arr).shape
    _check(shape)
    inspect_array_sharding(arr, callback=lambda sharding: visualize_sharding(shape, sharding, **kwargs))


def visualize_sharding(
    shape: Sequence[int],
    sharding: Any,
    *,
    use_color: bool = True,
    scale: float = 1.0,
    min_width: int = 9,
    max_width: int = 80,
    color_map: Any = None,
) -> None:
    """Print which device has which part of an array of `shape`, as boxes: rows and columns are its axes.

    `min_width` and `max_width` are those of one box and of all, in characters; `scale` stretches them. The drawing is plain
    text: `use_color` and `color_map` change nothing. Raises ValueError for shapes of no or more than two axes.
    """
    _check(tuple(shape))
    print(_drawing(_owners(tuple(shape), sharding), scale, min_width, max_width))


def _check(shape: tuple[int, ...]) -> None:
    if len(shape) not in (1, 2) or 0 in shape:
        raise ValueError(f"only arrays of one or two axes that are not empty can be drawn, not shape {shape}")


def _owners(shape: tuple[int, ...], sharding: Any) -> list[list[str]]:
    """The names of the devices that have each part, in rows and columns of parts."""
    parts = _parts(shape, sharding)
    starts = [sorted({part[axis] for part in parts}) for axis in range(2)]
    return [[",".join(parts.get((row, column), ["?"])) for column in starts[1]] for row in starts[0]]


def _parts(shape: tuple[int, ...], sharding: Any) -> dict[tuple[int, int], list[str]]:
    """For each part, by where it begins, the devices that have it."""
    device = client.device_of_sharding(sharding)
    if device is not None:
        return {(0, 0): [_name(device)]}
    parts: dict[tuple[int, int], list[str]] = {}
    for owner, index in sharding.devices_indices_map(shape).items():
        begins = [s.start or 0 for s in index]
        begin = (0, begins[0]) if len(shape) == 1 else (begins[0], begins[1])
        owners = parts.setdefault(begin, [])
        owners.append(str(owner.id) if owners else _name(owner))
    return parts


def _name(device: Any) -> str:
    return f"{device.platform.upper()} {device.id}"


def _drawing(cells: list[list[str]], scale: float, least: int, most: int) -> str:
    columns = len(cells[0])
    text = max(len(cell) for row in cells for cell in row) + 2
    width = max(text, least, min(math.floor(24 * scale), most // columns - 1))
    height = max(1, round(width / 8))
    edge = lambda left, middle, right: left + middle.join(["─" * width] * columns) + right
    lines = [edge("┌", "┬", "┐")]
    for i, row in enumerate(cells):
        blank = "│" + "│".join([" " * width] * columns) + "│"
        named = "│" + "│".join(cell.center(width) for cell in row) + "│"
        lines += [*[blank] * ((height - 1) // 2 + 1), named, *[blank] * (height // 2 + 1)]
        lines.append(edge("├", "┼", "┤") if i + 1 < len(cells) else edge("└", "┴", "┘"))
    return "\n".join(lines)
