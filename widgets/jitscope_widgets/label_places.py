"""Where the types below boxes are written: to the right of the line that leaves a box; to its left where lines cross the right side and none
the left one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise


Point = tuple[float, float]
Rectangle = tuple[float, float, float, float]  # left, top, right, bottom

_ASIDE, _ABOVE, _BELOW = 6.0, 9.0, 2.0
"""How far a text is from its line, and how far it reaches above and below the place where it is written."""
_BAND = 32.0
_STEPS = 8


def places(
    labels: Mapping[str, tuple[Point, float]], routes: Iterable[list[Point]], taken: Iterable[Rectangle]
) -> dict[str, Point]:
    """Where each label begins; `labels` are the places where lines begin, and widths. Nothing is written over what is `taken`, nor over a
    label to the right of its line."""
    lines = _Bands(piece for route in routes for piece in _pieces(route))
    texts = _Bands([*taken, *(_box(x + _ASIDE, y, width) for (x, y), width in labels.values())])
    found: dict[str, Point] = {}
    for ident, ((x, y), width) in labels.items():
        right, left = x + _ASIDE, x - _ASIDE - width
        turned = _box(left, y, width)
        if left >= 4.0 and lines.meet(_box(right, y, width)) and not lines.meet(turned) and not texts.meet(turned):
            right = left
            texts.add(turned)
        found[ident] = right, y
    return found


def _box(left: float, y: float, width: float) -> Rectangle:
    return left, y - _ABOVE, left + width, y + _BELOW


def _pieces(points: list[Point]) -> Iterator[Rectangle]:
    """A route as small rectangles round it: straight between points with the same x, curved between others."""
    for (x, y), (right, down) in pairwise(points):
        if x == right:
            yield x - 1, min(y, down), x + 1, max(y, down)
            continue
        curve = [_on_curve(x, y, right, down, at / _STEPS) for at in range(_STEPS + 1)]
        for (one_x, one_y), (other_x, other_y) in pairwise(curve):
            yield min(one_x, other_x) - 1, min(one_y, other_y), max(one_x, other_x) + 1, max(one_y, other_y)


def _on_curve(x: float, y: float, right: float, down: float, at: float) -> Point:
    """A point of the curve that leaves and arrives vertically."""
    before, after = (1 - at) ** 2, at**2
    first, second, middle = (1 - at) * before, at * after, (y + down) / 2
    inner = 3 * at * before, 3 * (1 - at) * after
    return (first + inner[0]) * x + (inner[1] + second) * right, first * y + sum(inner) * middle + second * down


class _Bands:
    """Rectangles by the horizontal bands that they touch."""

    def __init__(self, rectangles: Iterable[Rectangle]) -> None:
        self._found: defaultdict[int, list[Rectangle]] = defaultdict(list)
        for one in rectangles:
            self.add(one)

    def add(self, one: Rectangle) -> None:
        for band in _bands(one):
            self._found[band].append(one)

    def meet(self, one: Rectangle) -> bool:
        """Whether one of them overlaps it."""
        left, top, right, bottom = one
        return any(
            other[0] < right and left < other[2] and other[1] < bottom and top < other[3]
            for band in _bands(one)
            for other in self._found.get(band, ())
        )


def _bands(one: Rectangle) -> range:
    return range(int(one[1] // _BAND), int(one[3] // _BAND) + 1)
