"""All running results of an associative operation on several arrays together, in logarithmic depth: the odd-even reduction
of Ladner and Fischer (Parallel prefix computation, 1980)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.avals import aval_of
from ..symbolic.dimension import is_symbolic_dim
from .linear import add_p, concatenate_p, mul_p, reshape, slice_in_dim


Combine = Callable[[list[Any], list[Any]], list[Any]]


def odd_even(combine: Combine, elems: list[Any], axes: Sequence[int]) -> list[Any]:
    """The results of combining the first 1, 2, 3, … elements along each array's axis: neighbours are combined in pairs,
    their running results found by recursion; those in between need one more step. Some 2 n combinations in 2 log₂ n
    steps."""
    n = aval_of(elems[0]).shape[axes[0]]
    if is_symbolic_dim(n):
        raise NotImplementedError(
            f"the running results of an operation along an axis of symbolic size {n} take a program that depends on the size: "
            "use cumsum, cumprod, cummax or cummin where one of them will do, or lax.scan"
        )
    if n < 2:
        return elems
    pairs = combine(_every_second(elems, axes, 0, n - n % 2), _every_second(elems, axes, 1, n))
    odd = odd_even(combine, pairs, axes)
    first = _part(elems, axes, 0, 1)
    if n == 2:
        return _joined(first, odd, axes)
    before = odd if n % 2 else _part(odd, axes, 0, n // 2 - 1)
    even = combine(before, _every_second(elems, axes, 2, n))
    return _interleaved(_joined(first, even, axes), odd, axes)


def recurrence(a: Any, b: Any, axis: int) -> Any:
    """s[i] = a[i] s[i - 1] + b[i] along an axis, from s[-1] = 0; linear in b."""
    combine = lambda x, y: [mul_p(x[0], y[0]), add_p(mul_p(x[1], y[0]), y[1])]
    return odd_even(combine, [a, b], [axis, axis])[1]


def _part(xs: Sequence[Any], axes: Sequence[int], start: int, stop: int) -> list[Any]:
    return [slice_in_dim(x, start, stop, 1, a) for x, a in zip(xs, axes)]


def _every_second(xs: Sequence[Any], axes: Sequence[int], start: int, stop: int) -> list[Any]:
    return [slice_in_dim(x, start, stop, 2, a) for x, a in zip(xs, axes)]


def _joined(xs: Sequence[Any], ys: Sequence[Any], axes: Sequence[int]) -> list[Any]:
    return [concatenate_p(x, y, dimension=a) for x, y, a in zip(xs, ys, axes)]


def _interleaved(xs: Sequence[Any], ys: Sequence[Any], axes: Sequence[int]) -> list[Any]:
    """x[0], y[0], x[1], y[1], …; there may be one more x."""
    return [_weave(x, y, a) for x, y, a in zip(xs, ys, axes)]


def _weave(x: Any, y: Any, axis: int) -> Any:
    n = aval_of(y).shape[axis]
    pairs = concatenate_p(*[_with_axis(slice_in_dim(z, 0, n, 1, axis), axis + 1) for z in (x, y)], dimension=axis + 1)
    shape = aval_of(y).shape
    woven = reshape(pairs, (*shape[:axis], 2 * n, *shape[axis + 1 :]))
    if aval_of(x).shape[axis] == n:
        return woven
    return concatenate_p(woven, slice_in_dim(x, n, n + 1, 1, axis), dimension=axis)


def _with_axis(x: Any, axis: int) -> Any:
    shape = aval_of(x).shape
    return reshape(x, (*shape[:axis], 1, *shape[axis:]))
