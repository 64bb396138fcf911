"""Shapes that were padded after all: a cell's calls give one size, or few, where an earlier cell's gave many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from jitscope.core.source import Position

from ...source_code.places import path_at
from ...source_code.tree import LOOPS
from ..ledger import Row
from .sizes import bucket


def are_padded(rows: Sequence[Row]) -> bool:
    """Whether the programs of one function that one cell made for new shapes, after those of earlier cells, are what padding these gives:
    sizes that were to be padded to, or one size in each of several calls that is no smaller than those before. Nothing is left to do then."""
    if any(row.cause != "shape" or row.signature is None for row in rows):
        return False
    cell = rows[0].cell
    before = [one for row in rows for one in _before(row) if one.cell != cell]
    if cell is None or not before or any(row.cell != cell for row in rows):
        return False
    paths = {one.path for row in rows for one in row.differences if one.part == "shape"}
    sizes = [(size, earlier) for row in rows for path in paths for size, earlier in _sizes(row, path, before)]
    if not sizes or any(not earlier for _, earlier in sizes):
        return False
    advised = all(len(set(earlier)) > 1 and size in {max(earlier), *map(bucket, earlier)} for size, earlier in sizes)
    if advised:
        return True
    return len(rows) == 1 and _is_called_often(rows[0]) and all(size >= max(earlier) for size, earlier in sizes)


def _before(row: Row) -> Iterator[Row]:
    """The programs before it, each the one that the next was compared with."""
    met = {row.id}
    while (base := row.against) is not None and base.id not in met:
        met.add(base.id)
        yield base
        row = base


def _sizes(row: Row, path: str, before: Sequence[Row]) -> Iterator[tuple[int, list[int]]]:
    """Each size of an argument that changed, and those that it had before; no sizes before where it had another number of axes."""
    shape = _shape(row, path)
    earlier = [found for one in before if (found := _shape(one, path)) is not None]
    if shape is None or any(len(found) != len(shape) for found in earlier):
        yield 0, []
        return
    for axis, size in enumerate(shape):
        had = [found[axis] for found in earlier]
        if any(one != size for one in had):
            yield size, had


def _shape(row: Row, path: str) -> tuple[int, ...] | None:
    leaves = row.signature.leaves if row.signature else ()
    return next((leaf.shape for leaf in leaves if leaf.path == path), None)


def _is_called_often(row: Row) -> bool:
    """Whether one program served several calls: those that were counted, or those of a loop."""
    return row.calls > 1 or any(_is_in_a_loop(where) for where in (row.place, row.led) if where is not None)


def _is_in_a_loop(where: Position) -> bool:
    return any(isinstance(node, LOOPS) for node in path_at(where))


def without_settled(rows: Iterable[Row]) -> list[Row]:
    """The rows without those of cells whose shapes are settled."""
    alike: dict[tuple[Any, str, Any], list[Row]] = {}
    for row in rows:
        alike.setdefault((row.identity, row.cause, row.cell), []).append(row)
    return [row for those in alike.values() if not are_padded(those) for row in those]
