"""Filters of minimal filtering (`ops.winograd`), along one axis and along two: the matrices, what they make of rounding errors, and which there are for a
convolution.

One filter for four results takes polynomials modulo x, x - 1, x + 1, x^2 + 1 and at infinity, with seven products: all zeros but 0 are on the unit circle, so
that it enlarges rounding errors as little as that for two results (1.35 and 1.29 along an axis, `Line.error`). The other takes values at 0, 5/8, -5/8, 3/2, -3/2
and infinity, with six (2.19; the usual points 1, -1, 2 and -2: 3.28).

Where the window moves by two, its outer elements meet what stands at even places alone: a window of two that moves by one; its inner one meets the rest. With two
results along each axis there are 25 multiplications in place of 36. Where it sees elements with gaps, as in the gradient by the image of such a
convolution, outer and inner elements give other results (1.15 along an axis, both).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ..named_tuple import NamedTuple
from ..xla.cpu_tuning import (
    FILTERING_BY_FOUR,
    FILTERING_IN_STEPS,
    FILTERING_WITH_GAPS,
    FILTERING_WITH_SIX,
    MINIMAL_FILTERING,
    Tuning,
)
from .conv_forms import Geometry


class Line(NamedTuple):
    """A filter along one axis: what stands at the left, the transposes of B and A, and G; and how far apart tiles are in what they see."""

    b: np.ndarray
    g: np.ndarray
    a: np.ndarray
    apart: int

    def error(self) -> float:
        """By how much it enlarges rounding errors of its products (root mean square), beside that of the sums that they give."""
        terms = np.einsum("ip,pk,ps->iks", self.a, self.g, self.b) ** 2
        products = (self.g**2).sum(1) * (self.b**2).sum(1)
        return math.sqrt((self.a**2 @ products / terms.sum((1, 2))).mean())


class Filter(NamedTuple):
    """How results in a tile of `side` × `side` are computed, and by which rule: a filter along each axis. `limit`: what the rule calls the least number of features."""

    side: int
    rule: Tuning
    lines: tuple[Line, Line]
    limit: str = "features"

    @property
    def shape(self) -> tuple[int, int]:
        """How many products there are along each axis, for each feature."""
        first, second = (len(line.b) for line in self.lines)
        return first, second

    @property
    def features(self) -> int:
        """With how many features, on both sides, it is worth it."""
        return self.rule.value[self.limit]

    @property
    def elements(self) -> int:
        return math.prod(self.shape)

    @property
    def apart(self) -> tuple[int, int]:
        """How far apart tiles are in what they see, along each axis."""
        first, second = (line.apart for line in self.lines)
        return first, second

    def errs_little(self, terms: int) -> bool:
        """Whether errors of sums of so many products, as they are enlarged, stay within the rule's limit."""
        error = math.prod(line.error() for line in self.lines) * math.sqrt(terms)
        return error <= self.rule.value.get("error", math.inf)


_TWO = Line(
    np.array([[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]]),
    np.array([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]]),
    np.array([[1, 1, 1, 0], [0, 1, -1, -1]]),
    2,
)
_FOUR_OF_SEVEN = Line(
    np.array(
        [
            [1, 0, 0, 0, -1, 0],
            [0, 1, 1, 1, 1, 0],
            [0, -1, 1, -1, 1, 0],
            [0, 1, -1, -1, 1, 0],
            [0, 1, 0, -1, 0, 0],
            [0, 0, 1, 0, -1, 0],
            [0, -1, 0, 0, 0, 1],
        ]
    ),
    np.array([[4, 0, 0], [1, 1, 1], [1, -1, 1], [2, 2, -2], [2, 0, -2], [0, 2, 0], [0, 0, 4]]) / 4,
    np.array([[1, 1, 1, 1, -1, 1, 0], [0, 1, -1, 0, 1, 1, 0], [0, 1, 1, -1, 1, -1, 0], [0, 1, -1, 0, -1, -1, 1]]),
    4,
)


def _by_points(results: int, points: Sequence[float], window: int = 3) -> Line:
    """The filter for so many results and a window of so many elements that takes the values of polynomials at these points and at infinity."""
    p = np.array(points)
    others = [np.delete(p, i) for i in range(len(p))]
    powers = np.vander(p, results, increasing=True)
    b = np.array([np.poly(o)[::-1] for o in others])  # of the polynomials with zeros at all other points
    b = np.vstack([np.hstack([b, np.zeros((len(p), 1))]), np.poly(p)[::-1]])
    g = np.vander(p, window, increasing=True) / np.array([np.prod(x - o) for x, o in zip(p, others)])[:, None]
    return Line(b, np.vstack([g, np.eye(window)[-1]]), np.vstack([powers, np.eye(results)[-1]]).T, results)


def _in_steps(line: Line) -> Line:
    """The filter of a window of three that moves by two, of that of a window of two: what stands at even places meets the outer
    elements, the rest the inner one."""
    results, products = line.a.shape
    b = np.zeros((products + results, products + results))
    b[:products, ::2], b[products:, 1::2] = line.b, np.eye(results)
    return Line(b, _outer_and_inner(line), np.hstack([line.a, np.eye(results)]), 2 * results)


def _with_gaps(line: Line, low: int) -> Line:
    """The filter of a window of three over what has a gap behind each element, of that of a window of two; `low` gaps and elements stand before the
    first."""
    results, products = line.a.shape
    outer, odd = low % 2, 1 - low % 2
    b = np.vstack([line.b, np.eye(results, products, odd)])
    a = np.zeros((2 * results, products + results))
    a[outer::2, :products], a[odd::2, products:] = line.a, np.eye(results)
    return Line(b, _outer_and_inner(line), a, results)


def _outer_and_inner(line: Line) -> np.ndarray:
    """What a filter of a window of two makes of the outer elements of one of three, and the inner one for each of its results."""
    g = np.zeros((len(line.g) + len(line.a), 3))
    g[: len(line.g), ::2], g[len(line.g) :, 1] = line.g, 1
    return g


_FOUR_OF_SIX = _by_points(4, (0, 0.625, -0.625, 1.5, -1.5))
_ONE_BY_ONE = (
    Filter(2, MINIMAL_FILTERING, (_TWO, _TWO)),
    Filter(4, FILTERING_BY_FOUR, (_FOUR_OF_SEVEN, _FOUR_OF_SEVEN)),
    Filter(4, FILTERING_WITH_SIX, (_FOUR_OF_SIX, _FOUR_OF_SEVEN)),
    Filter(4, FILTERING_WITH_SIX, (_FOUR_OF_SIX, _FOUR_OF_SIX)),
)
_OF_TWO = _by_points(2, (1, -1), 2)
"""The filter of a window of two, for two results."""
_BY_TWO = _in_steps(_OF_TWO)
_OF_STEPS: Mapping[tuple[int, ...], Sequence[Filter]] = {
    (1, 1, 1): _ONE_BY_ONE,
    (2, 1, 1): (Filter(2, FILTERING_IN_STEPS, (_BY_TWO, _BY_TWO)),),
}
_OF_STEPS_OF_GRADIENT: Mapping[tuple[int, ...], Sequence[Filter]] = {
    (1, 1, 1): _ONE_BY_ONE,
    (1, 1, 2): (Filter(2, FILTERING_IN_STEPS, (_BY_TWO, _BY_TWO), "features of gradient"),),
}


def filters_of(geometry: Geometry) -> Sequence[Filter]:
    """Those for a convolution that has a window of 3 × 3."""
    steps = _steps(geometry)
    if steps == (1, 2, 1):
        first, second = (_with_gaps(_OF_TWO, low) for low, _ in geometry.params["padding"])
        return (Filter(4, FILTERING_WITH_GAPS, (first, second)),)
    return _OF_STEPS.get(steps, ())


def filters_of_gradient(geometry: Geometry) -> Sequence[Filter]:
    """Those for a convolution that gives one."""
    return _OF_STEPS_OF_GRADIENT.get(_steps(geometry), ())


def _steps(geometry: Geometry) -> tuple[int, ...]:
    """By how much the window moves, and how far apart are the elements that it sees, and its own; 0 where this is not the same along both axes."""
    p = geometry.params
    along = (p["window_strides"], p["lhs_dilation"], p["rhs_dilation"])
    return tuple(first if first == second else 0 for first, second in along)
