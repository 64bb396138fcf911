"""How an array lies over devices: which part each of them has, as a document and as a drawing in plain text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from jitscope.core.avals import ShapedArray
from jitscope.core.meshes import AbstractMesh
from jitscope.core.shardings import NamedSharding, PartitionSpec, names_of
from jitscope.xla import client

from ..annotations import ShardingDocument, Tile


MOST = 512
"""Parts that a document holds; how many more there are stands beside them."""


def sharding_document(
    title: str, shape: Sequence[int], sharding: Any, aval: ShapedArray | None = None
) -> ShardingDocument:
    """Which device has which part of an array of that shape (and aval, if known). Two axes are drawn: those that are cut, or the
    first ones; where more than two are cut, none."""
    shape = tuple(shape)
    tiles = _tiles(shape, sharding)
    counts = [1 + max(tile["at"][axis] for tile in tiles) for axis in range(len(shape))]
    rows, columns = _axes_drawn(counts)
    copies = {len(tile["devices"]) for tile in tiles}
    part = tuple(-(-n // c) for n, c in zip(shape, counts))
    named = isinstance(sharding, NamedSharding) and not isinstance(sharding.mesh, AbstractMesh)
    along = [names_of(entry) for entry in sharding.spec.partitions] if named else []
    drawn = rows is not None or columns is not None or not shape
    return {
        "kind": "sharding",
        "version": 1,
        "title": title,
        "type": _typed(shape, aval),
        "spec": spec_text(sharding.spec) if named else None,
        "mesh": [{"name": str(n), "size": s} for n, s in sharding.mesh.shape.items()] if named else [],
        "memory": getattr(sharding, "memory_kind", None),
        "devices": len({name for tile in tiles for name in tile["devices"]}),
        "axes": [
            {"size": n, "parts": c, "along": [str(name) for name in (along[i] if i < len(along) else ())]}
            for i, (n, c) in enumerate(zip(shape, counts))
        ],
        "part": _typed(part, aval),
        "bytes": None if aval is None else math.prod(part) * aval.dtype.itemsize,
        "copies": copies.pop() if len(copies) == 1 else None,
        "drawn": drawn,
        "rows": rows,
        "columns": columns,
        "drawing": _drawn(tiles, shape, rows, columns) if drawn and len(tiles) <= MOST else [],
        "tiles": tiles[:MOST],
        "left_out": max(0, len(tiles) - MOST),
    }


def _typed(shape: Sequence[int], aval: ShapedArray | None) -> str:
    """`f32[8,4]`, `[8,4]`"""
    text = f"[{','.join(map(str, shape))}]"
    return text if aval is None else aval.update(shape=tuple(shape), sharding=None).short()


def _axes_drawn(counts: Sequence[int]) -> tuple[int | None, int | None]:
    """The axes of the array that are the picture's rows and columns; None for neither where more than two are cut."""
    cut = [axis for axis, count in enumerate(counts) if count > 1]
    if len(cut) > 2 or not counts:
        return None, None
    if len(counts) == 1:
        return None, 0
    chosen = sorted([*cut, *[axis for axis in range(len(counts)) if axis not in cut][: 2 - len(cut)]])
    return chosen[0], chosen[1]


def _tiles(shape: tuple[int, ...], sharding: Any) -> list[Tile]:
    """Each part: its place in the grid of parts, its indices, and the devices that have it."""
    device = client.device_of_sharding(sharding)
    found: dict[tuple[tuple[int, int], ...], list[Any]] = {}
    if device is not None:
        found[tuple((0, n) for n in shape)] = [device]
    else:
        for owner, index in sharding.devices_indices_map(shape).items():
            found.setdefault(tuple(s.indices(n)[:2] for s, n in zip(index, shape)), []).append(owner)
    begins = [{b: i for i, b in enumerate(sorted({spans[axis][0] for spans in found}))} for axis in range(len(shape))]
    return [
        {
            "at": [begins[axis][begin] for axis, (begin, _) in enumerate(spans)],
            "index": [f"{begin}:{end}" for begin, end in spans],
            "devices": [name_of(d) for d in owners],
        }
        for spans, owners in sorted(found.items())
    ]


def name_of(device: Any) -> str:
    """`CPU 0`"""
    return f"{device.platform.upper()} {device.id}"


# The drawing ---------------------------------------------------------------------------------------------------------


def _drawn(tiles: Sequence[Tile], shape: Sequence[int], rows: int | None, columns: int | None) -> list[str]:
    sizes = [shape[axis] for axis in (rows, columns) if axis is not None]
    return drawing(cells_of(tiles, rows, columns), sizes).splitlines()


def cells_of(tiles: Sequence[Tile], rows: int | None, columns: int | None) -> list[list[str]]:
    """The devices of each part, in rows and columns of parts: `CPU 0,1`."""
    place = lambda tile: tuple(0 if axis is None else tile["at"][axis] for axis in (rows, columns))
    found = {place(tile): tile["devices"] for tile in tiles}
    size = [1 + max(at[i] for at in found) for i in range(2)]
    return [[_owners(found.get((row, column), [])) for column in range(size[1])] for row in range(size[0])]


def _owners(devices: Sequence[str]) -> str:
    """`CPU 0,1,2`; of many the first and the last."""
    if not devices:
        return "?"
    first, *rest = devices
    numbers = [name.rpartition(" ")[2] for name in rest]
    return ",".join([first, *numbers]) if len(numbers) < 8 else f"{first},{numbers[0]},…,{numbers[-1]}"


def drawing(cells: list[list[str]], sizes: Sequence[int], scale: float = 1.0, least: int = 9, most: int = 80) -> str:
    """Boxes in plain text, of the shape that JAX's have; `sizes` are those of the axes drawn (of one axis alone it is the columns),
    `least` and `most` the width of one box and of all, in characters."""
    base = int(10 * scale)
    across = int(base * ((sizes[1] if len(sizes) == 2 else 1) / max(1, sizes[0]))) if sizes else base
    width = min(max(int(across / len(cells[0]) * 2.5), least), most)
    above = max((int(base / len(cells)) - 2) // 2, 0) if len(sizes) == 2 else 0
    below = max(int(base / len(cells)) - 2 - above, 0) if len(sizes) == 2 else 0
    padded = [[_padded(cell, width) for cell in row] for row in cells]
    widths = [max(len(row[i]) for row in padded) for i in range(len(cells[0]))]
    if sum(widths) + len(widths) >= most:
        widths = [
            max(len(text) for row in cells for text in row[i : i + 1] + [" " * ((most - 1) // len(widths) - 1)])
            for i in range(len(widths))
        ]
        padded = cells
    edge = lambda left, middle, right: left + middle.join("─" * n for n in widths) + right
    lines = [edge("┌", "┬", "┐")]
    for i, row in enumerate(padded):
        blank = "│" + "│".join(" " * n for n in widths) + "│"
        named = (
            "│"
            + "│".join(
                " " * ((n - len(text)) // 2) + text + " " * -(-(n - len(text)) // 2) for n, text in zip(widths, row)
            )
            + "│"
        )
        lines += [*[blank] * above, named, *[blank] * below]
        lines.append(edge("├", "┼", "┤") if i + 1 < len(cells) else edge("└", "┴", "┘"))
    return "\n".join(lines)


def _padded(text: str, width: int) -> str:
    left, odd = divmod(width - len(text) - 2, 2)
    return " " * left + text + " " * (left + odd)


def spec_text(spec: PartitionSpec) -> str:
    """As short as it can be written: `P('data')` for `P('data', None)`, which says the same of an array."""
    if spec.unreduced or spec.reduced:
        return str(spec)
    entries = list(spec.partitions)
    while entries and entries[-1] is None:
        entries.pop()
    return f"P({', '.join(map(repr, entries))})"
