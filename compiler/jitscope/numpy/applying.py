"""Applying functions along axes, by signatures, and by pieces."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..api import vmap
from ..api.gradients import of_arguments
from ..core.annotations import Array, ArrayLike, DTypeLike
from ..core.avals import aval_of
from ..core.wrapping import wraps
from .creation import asarray
from .logic import select
from .operands import broadcast_shape, check_ranks, listed, one_axis, shape_of
from .ranges import arange
from .structure import array_operand, broadcast_to, expand_dims, squeeze


def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: ArrayLike, *args: object, **kwargs: object) -> Array:
    """`func1d(vector, *args, **kwargs)` on every vector along `axis`; its result takes the axis's place."""
    x = array_operand("apply_along_axis", arr)
    rank = aval_of(x).ndim
    axis = one_axis("apply_along_axis", axis, rank)

    def on_vector(v: Any) -> Any:
        return func1d(v, *args, **kwargs)

    mapped = on_vector
    for _ in range(rank - axis - 1):
        mapped = vmap(mapped, in_axes=-1, out_axes=-1)
    for _ in range(axis):
        mapped = vmap(mapped)
    return mapped(x)


def apply_over_axes(func: Callable[[Any, int], Any], a: ArrayLike, axes: Sequence[int] | int) -> Array:
    """`func(array, axis)` for each of the axes in turn; an axis that `func` reduces stays with size 1. Raises
    ValueError where `func` changes the number of axes otherwise."""
    x = array_operand("apply_over_axes", a)
    for axis in listed(axes):
        axis = one_axis("apply_over_axes", axis, aval_of(x).ndim)
        result = array_operand("apply_over_axes", func(x, axis))
        if aval_of(result).ndim == aval_of(x).ndim - 1:
            result = expand_dims(result, axis)
        elif aval_of(result).ndim != aval_of(x).ndim:
            raise ValueError(f"apply_over_axes: the function gave shape {aval_of(result).shape} for {aval_of(x).shape}")
        x = result
    return x


def piecewise(
    x: ArrayLike, condlist: ArrayLike | Sequence[ArrayLike], funclist: Sequence[Any], *args: object, **kw: object
) -> Array:
    """The value, or function of `x`, that goes with the condition which holds: an array of the shape and dtype of `x`
    [...].

    `condlist` are booleans that broadcast to the shape of `x`, one array or several; where several hold, the last of them
    counts. One more piece than conditions is for the rest (default 0). All functions are computed everywhere. Raises
    ValueError for another number of pieces.
    """
    x = array_operand("piecewise", x)
    given: Any = condlist
    one = not isinstance(given, (list, tuple)) and aval_of(given).shape == aval_of(x).shape
    conditions: list[Any] = [given] if one else list(given)
    if len(funclist) not in (len(conditions), len(conditions) + 1):
        raise ValueError(
            f"piecewise: {len(conditions)} conditions and {len(funclist)} pieces; there must be as many, or one "
            "piece more"
        )
    values: list[Any] = [f(x, *args, **kw) if callable(f) else f for f in funclist]
    rest = values.pop() if len(values) > len(conditions) else 0
    everywhere = [broadcast_to(condition, aval_of(x).shape) for condition in conditions[::-1]]
    return select(everywhere, values[::-1], rest).astype(aval_of(x).dtype)


def fromfunction(
    function: Callable[..., Any], shape: int | Sequence[int], *, dtype: DTypeLike = float, **kwargs: object
) -> Array:
    """`function` of the index along each axis, numbers of `dtype`, for all places of an array of `shape`: the axes of its
    result, an array or a tree of arrays, come behind those of `shape`. Keyword arguments are handed on as they are. Raises
    ValueError for a negative size."""
    sizes = shape_of("fromfunction", shape)

    def of_numbers(*index: Any) -> Any:
        return function(*index, **kwargs)

    mapped = of_numbers
    for axis in reversed(range(len(sizes))):
        mapped = vmap(mapped, in_axes=tuple([0 if i == axis else None for i in range(len(sizes))]))
    return mapped(*[arange(size, dtype=dtype) for size in sizes])


# vectorize -----------------------------------------------------------------------------------------------------------

_DIMENSIONS = r"\(\s*(?:\w+(?:\s*,\s*\w+)*)?\s*\)"
_SIDE = rf"\s*{_DIMENSIONS}(?:\s*,\s*{_DIMENSIONS})*\s*"


def _core_dims(signature: str) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    if not re.fullmatch(f"{_SIDE}->{_SIDE}", signature):
        raise ValueError(f"vectorize: {signature!r} is not a signature such as '(n,m),(m)->(n)'")
    sides = signature.split("->")
    return tuple([tuple(re.findall(r"\w+", group)) for group in re.findall(_DIMENSIONS, side)] for side in sides)  # pyright: ignore[reportReturnType]


def vectorize(
    pyfunc: Callable[..., Any], *, excluded: Iterable[int | str] = frozenset(), signature: str | None = None
) -> Callable[..., Any]:
    """`pyfunc` on every element, or on the last axes that `signature` names: "(n,m),(m)->(n)" is for arrays [..., n, m]
    and [..., m], and gives [..., n]. All further axes broadcast.

    It is mapped with vmap. Arguments in `excluded` (positions and names), and None, are passed on as they are. Raises
    ValueError for sizes that disagree and for a text that is not a signature, TypeError for another number of arguments or
    results than it names, for arguments by name that are not excluded and where `excluded` holds anything else.
    """
    names = frozenset(excluded)
    if wrong := [n for n in names if not isinstance(n, (int, str))]:
        raise TypeError(f"vectorize: excluded holds positions and names of arguments, not {wrong[0]!r}")
    if wrong := [n for n in names if isinstance(n, int) and n < 0]:
        raise ValueError(f"vectorize: excluded holds positions from 0 on, not {wrong[0]}")

    @wraps(pyfunc)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        given = [i for i in range(len(args)) if i not in names and args[i] is not None]

        if unexpected := set(kwargs) - {n for n in names if isinstance(n, str)}:
            raise TypeError(f"vectorize: arguments by name must be excluded; {', '.join(sorted(unexpected))} is not")
        inputs, results = _core_dims(signature) if signature else ([()] * len(given), None)
        if signature:
            inputs = _of_arrays(signature, inputs, [i for i in range(len(args)) if i not in names], given)
        arrays = [asarray(args[i]) for i in given]
        return _map_outer(of_arguments(pyfunc, given, args, kwargs), arrays, inputs, results)

    return wrapped


def _of_arrays(
    signature: str, inputs: list[tuple[str, ...]], mapped: list[int], given: list[int]
) -> list[tuple[str, ...]]:
    """The dimensions of the arguments that are given: None may stand for one without dimensions. Raises TypeError for
    another number of arguments than the signature has, ValueError for None where it has dimensions."""
    if len(inputs) != len(mapped):
        raise TypeError(
            f"vectorize: the signature {signature!r} is for {len(inputs)} arguments, {len(mapped)} were given"
        )
    if missing := [i for i, dims in zip(mapped, inputs) if dims and i not in given]:
        raise ValueError(
            f"vectorize: arguments {missing} are None; the signature {signature!r} has dimensions for them"
        )
    return [dims for i, dims in zip(mapped, inputs) if i in given]


def _agreeing(out: Any, results: list[tuple[str, ...]], sizes: dict[str, int]) -> Any:
    """What a function gave, if it is as its signature says. Raises TypeError for another number of results, ValueError for
    other shapes."""
    outs = list(out) if isinstance(out, (tuple, list)) else [out]
    if len(outs) != len(results) or (len(results) > 1 and len(outs) == 1):
        raise TypeError(f"vectorize: the function gave {len(outs)} results, its signature names {len(results)}")
    known = dict(sizes)
    for x, dims in zip(outs, results):
        shape = aval_of(x).shape
        if len(shape) != len(dims) or any(known.setdefault(name, n) != n for name, n in zip(dims, shape)):
            raise ValueError(f"vectorize: the function gave shape {shape} for ({','.join(dims)}) of its signature")
    return out


def _map_outer(
    fun: Callable[..., Any],
    arrays: list[Any],
    core: list[tuple[str, ...]],
    results: list[tuple[str, ...]] | None,
) -> Any:
    sizes: dict[str, int] = {}
    outers = []
    for x, dims in zip(arrays, core):
        shape = aval_of(x).shape
        if len(shape) < len(dims):
            raise ValueError(f"vectorize: an array of shape {shape} has fewer axes than ({','.join(dims)})")
        split = len(shape) - len(dims)
        outers.append(shape[:split])
        for name, n in zip(dims, shape[split:]):
            if sizes.setdefault(name, n) != n:
                raise ValueError(f"vectorize: dimension {name} is {sizes[name]} in one argument and {n} in another")
    check_ranks("vectorize", [aval_of(x).shape for x in arrays], list(map(len, core)))
    outer = broadcast_shape(*outers)
    mapped = fun if results is None else lambda *given: _agreeing(fun(*given), results, sizes)
    axes = []
    for k, (x, own) in enumerate(zip(arrays, outers)):
        # Axes that are missing or of size 1 are not mapped at all.
        axes.append(
            [
                None if i < len(outer) - len(own) or (own[i - len(outer)] == 1 != outer[i]) else 0
                for i in range(len(outer))
            ]
        )
        thin = tuple(i for i, n in enumerate(own) if n == 1 != outer[i + len(outer) - len(own)])
        arrays[k] = squeeze(x, thin) if thin else x
    for place in reversed(range(len(outer))):
        mapped = vmap(mapped, in_axes=tuple(a[place] for a in axes), axis_size=outer[place])
    return mapped(*arrays)


__all__ = ["apply_along_axis", "apply_over_axes", "fromfunction", "piecewise", "vectorize"]
