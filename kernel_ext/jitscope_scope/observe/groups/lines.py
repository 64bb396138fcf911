"""What stands beside each other in a long level, by the line that wrote it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from types import CodeType
from typing import NamedTuple

from ..stacks import EquationOrigin, Frame
from .blocks import Block, Item, leaves
from .names import name_of_line
from .runs import shared_depth


MOST = 30
"""So many items may a level have, of those that follow each other and are of one line none is folded."""


class Line(NamedTuple):
    code: CodeType
    number: int
    backward: bool


def by_line(items: list[Item], places: Sequence[EquationOrigin]) -> list[Item]:
    """The items of a level; of a long one, what follows each other and was written in one line of its function is one block. What has
    a name already, a call or a named scope, stays by itself."""
    if len(items) <= MOST:
        return items
    stacks = [places[n].stack for item in items for n in leaves([item])]
    depth = shared_depth([stack for stack in stacks if stack] or [()])
    runs = [(line, list(same)) for line, same in itertools.groupby(items, _line_of(places, depth))]
    if len(runs) == 1:
        return items
    found: list[Item] = []
    for line, own in runs:
        frames = dict.fromkeys(places[n].stack[depth] for n in leaves(own)) if line and len(own) > 1 else {}
        label = name_of_line(frames)
        if line is None or not label:
            found += own
        else:
            found.append(Block("line", f"{label} (backward)" if line.backward else label, own, [next(iter(frames))]))
    return found


def _line_of(places: Sequence[EquationOrigin], depth: int) -> Callable[[Item], Line | None]:
    known: dict[Frame, int] = {}

    def line(number: int) -> Line | None:
        place = places[number]
        if len(place.stack) <= depth:
            return None
        frame = place.stack[depth]
        if frame not in known:
            known[frame] = frame.position.line
        return Line(frame.code, known[frame], place.backward)

    def of(item: Item) -> Line | None:
        if isinstance(item, Block) and item.what != "repeat":
            return None
        lines = {line(number) for number in leaves([item])}
        return lines.pop() if len(lines) == 1 else None

    return of
