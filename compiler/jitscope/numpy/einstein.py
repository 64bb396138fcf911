"""Einstein summation: products and sums by axis labels, contracted in pairs in a good order."""

from __future__ import annotations

import functools
import string
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from ..backend.placement import laying
from ..core import dtypes
from ..core.annotations import Array, ArrayLike, DTypeLike, PartitionSpec, PrecisionLike, Sharding
from ..core.avals import aval_of
from ..eager.functions import eager_jit
from ..ops.dot import dot_general
from ..ops.linear import broadcast_in_dim_p, mul_p, reduce_sum_p, squeeze_p, transpose as permute
from ..ops.reduce import reduce_or_p
from ..symbolic.dimension import is_symbolic_dim
from .dtypes import requested
from .linear import factors, product
from .operands import cast, unsupported
from .structure import array_operand
from .triangles import diagonal


__all__ = ["einsum", "einsum_path"]


def _strategy(optimize: Any, count: int) -> Any:
    """`optimize` as opt_einsum takes it: False is from left to right, in pairs."""
    if optimize is True:
        return "auto"
    if optimize is False:
        return [(0, 1)] * (count - 1) or [(0,)]
    return list(optimize) if isinstance(optimize, tuple) else optimize


@lru_cache(1024)
def _steps(
    subscripts: str, shapes: tuple[tuple[int, ...], ...], optimize: Any
) -> tuple[tuple[tuple[int, ...], str], ...]:
    """The contractions in order: which operands are taken, and what is done with them."""
    import opt_einsum  # its import takes longer than most programs need it for

    shapes = tuple(tuple(8 if is_symbolic_dim(n) else n for n in shape) for shape in shapes)
    chosen = _strategy(optimize, len(shapes))
    steps: Any = opt_einsum.contract_path(subscripts, *shapes, shapes=True, einsum_call=True, optimize=chosen)[1]
    return tuple((tuple(step[0]), step[2]) for step in steps)


def _einsum(
    subscripts: str,
    *operands: Any,
    out: None = None,
    optimize: Any = "auto",
    precision: Any = None,
    preferred_element_type: Any = None,
    times: Any = None,
) -> Any:
    unsupported("einsum", out=out)
    values = factors("einsum", operands, preferred_element_type)
    if preferred_element_type is not None and len(values) == 1:  # no product: what is added up has the dtype of the sum
        values = [cast(values[0], aval_of(values[0]), requested(preferred_element_type, "preferred_element_type"))]
    xs = [array_operand("einsum", x) for x in values]
    shapes = tuple(aval_of(x).shape for x in xs)
    try:
        steps = _steps(subscripts.replace(" ", ""), shapes, tuple(optimize) if isinstance(optimize, list) else optimize)
    except ValueError as error:
        raise ValueError(f"einsum {subscripts!r} of shapes {', '.join(map(str, shapes))}: {error}") from None
    for taken, formula in steps:
        inputs, result = formula.split("->")
        parts = [xs[i] for i in taken]
        xs = [x for i, x in enumerate(xs) if i not in taken]
        xs.append(_contract(parts, inputs.split(","), result, (precision, preferred_element_type, times)))
    return xs[0]


_fused_einsum = eager_jit(static="subscripts out optimize precision preferred_element_type")(_einsum)


@laying
def einsum(
    subscripts: str | ArrayLike,
    /,
    *operands: ArrayLike | Sequence[object],
    out: None = None,
    optimize: bool | str | Sequence[tuple[int, ...]] = "auto",
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    _dot_general: Callable[..., Any] = dot_general,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """The sum of products that `subscripts` names: "ij,jk->ik" is the matrix product of [i, j] and [j, k], "ii" the
    trace of [i, i].

    Also einsum(x, [0, 1], y, [1, 2], [0, 2]). `optimize` chooses the order of contraction ("auto", "optimal", "greedy",
    or a path). `_dot_general` computes the product of two operands in place of `lax.dot_general`. Raises ValueError for
    labels that do not fit the shapes.
    """
    if not isinstance(subscripts, str):
        subscripts, operands = _as_text(subscripts, *operands)
    run = _fused_einsum if _dot_general is dot_general else functools.partial(_einsum, times=_dot_general)
    return run(
        subscripts,
        *operands,
        out=out,
        optimize=optimize,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def _as_text(*args: Any) -> tuple[str, tuple[Any, ...]]:
    labels = dict(enumerate(string.ascii_letters))
    sublists = args[1::2] if len(args) % 2 == 0 else (*args[1:-1:2], args[-1])
    named = dict.fromkeys(n for sublist in sublists for n in sublist if n is not Ellipsis)
    if not named.keys() <= labels.keys():  # labels may be anything with a hash: opt_einsum's are
        labels = dict(zip(named, string.ascii_letters, strict=False))

    def text(sublist: Sequence[Any]) -> str:
        return "".join("..." if n is Ellipsis else labels[n] for n in sublist)

    inputs = (
        ",".join(text(sublist) for sublist in args[1::2])
        if len(args) % 2 == 0
        else ",".join(text(sublist) for sublist in args[1:-1:2])
    )
    operands = args[::2] if len(args) % 2 == 0 else args[:-1:2]
    return (inputs if len(args) % 2 == 0 else f"{inputs}->{text(args[-1])}"), operands


def einsum_path(
    subscripts: str | ArrayLike,
    /,
    *operands: ArrayLike | Sequence[object],
    optimize: bool | str | Sequence[tuple[int, ...]] = "auto",
) -> tuple[list[tuple[int, ...]], Any]:
    """The order of contraction that `einsum` takes for operands of these shapes, as a list of tuples of positions, and
    a description with its cost. Raises ValueError for labels that do not fit."""
    import opt_einsum

    if not isinstance(subscripts, str):
        subscripts, operands = _as_text(subscripts, *operands)
    shapes = [aval_of(x).shape for x in operands]
    chosen = _strategy(optimize, len(shapes))
    path, description = opt_einsum.contract_path(subscripts, *shapes, shapes=True, optimize=chosen)
    return [tuple(step) for step in path], description


def _contract(parts: list[Any], inputs: list[str], result: str, how: tuple[Any, Any, Any]) -> Any:
    """One contraction of one or two operands; `how`: precision, dtype of the result, the function for products (None:
    `lax.dot_general`)."""
    singles = [_without_repeats(x, names) for x, names in zip(parts, inputs)]
    if len(singles) == 1:
        ((x, names),) = singles
        return _arranged(*_summed(x, names, result), result)
    if len(singles) > 2:
        left = _contract_pair(singles[0], singles[1], _needed(singles[2:], result), how)
        rest = [left, *singles[2:]]
        return _contract([x for x, _ in rest], [n for _, n in rest], result, how)
    return _arranged(*_contract_pair(singles[0], singles[1], result, how), result)


def _needed(rest: Sequence[tuple[Any, str]], result: str) -> str:
    return result + "".join(names for _, names in rest)


def _without_repeats(x: Any, names: str) -> tuple[Any, str]:
    """Labels that stand twice in one operand pick the diagonal."""
    for name in dict.fromkeys(names):
        while names.count(name) > 1:
            i = names.index(name)
            j = names.index(name, i + 1)
            if aval_of(x).shape[i] != aval_of(x).shape[j]:
                raise ValueError(
                    f"einsum: label {name!r} stands for axes of sizes {aval_of(x).shape[i]} and {aval_of(x).shape[j]}"
                )
            x = diagonal(x, 0, i, j)
            names = names[:i] + names[i + 1 : j] + names[j + 1 :] + name
    return x, names


def _summed(x: Any, names: str, kept: str) -> tuple[Any, str]:
    """The sum over the axes whose labels are not kept."""
    axes = tuple(i for i, name in enumerate(names) if name not in kept)
    add_up = reduce_or_p if aval_of(x).dtype == dtypes.bool_ else reduce_sum_p
    return (add_up(x, axes=axes) if axes else x), "".join(name for name in names if name in kept)


def _arranged(x: Any, names: str, result: str) -> Any:
    return permute(x, tuple(names.index(name) for name in result))


def _contract_pair(
    left: tuple[Any, str], right: tuple[Any, str], kept: str, how: tuple[Any, Any, Any]
) -> tuple[Any, str]:
    precision, preferred, times = how
    (x, a), (y, b) = _thin(left, right[1], right[0]), right
    (y, b) = _thin((y, b), a, x)
    (x, a), (y, b) = _summed(x, a, kept + b), _summed(y, b, kept + a)
    if aval_of(x).dtype != aval_of(y).dtype:  # a product before had the dtype that is preferred
        x, y = factors("einsum", (x, y), preferred)
    contracting = [name for name in a if name in b and name not in kept]
    batch = [name for name in a if name in b and name in kept]
    only_a, only_b = ([n for n in own if n not in other] for own, other in ((a, b), (b, a)))
    names = "".join([*batch, *only_a, *only_b])
    if not contracting and preferred is None and times is None:
        shape = [aval_of(x).shape[a.index(n)] if n in a else aval_of(y).shape[b.index(n)] for n in names]
        return mul_p(_spread(x, a, names, shape), _spread(y, b, names, shape)), names
    swapped = "".join([*batch, *only_b, *only_a])
    if swapped == kept != names:
        (x, a), (y, b), names = (y, b), (x, a), swapped
    contracted = [a.index(n) for n in contracting], [b.index(n) for n in contracting]
    batched = [a.index(n) for n in batch], [b.index(n) for n in batch]
    if times is not None:
        out = aval_of(x).dtype if preferred is None else preferred
        return times(x, y, (contracted, batched), precision=precision, preferred_element_type=out), names
    return product(x, y, contracted, batched, precision, preferred), names


def _thin(own: tuple[Any, str], other_names: str, other: Any) -> tuple[Any, str]:
    """An axis of size 1 that meets a longer one of that label is left out."""
    x, names = own
    thin = tuple(
        i
        for i, name in enumerate(names)
        if name in other_names and aval_of(x).shape[i] == 1 and aval_of(other).shape[other_names.index(name)] != 1
    )
    if not thin:
        return own
    return squeeze_p(x, dimensions=thin), "".join(n for i, n in enumerate(names) if i not in thin)


def _spread(x: Any, own: str, names: str, shape: Sequence[int]) -> Any:
    order = tuple(own.index(name) for name in names if name in own)
    x = permute(x, order)
    places = tuple(i for i, name in enumerate(names) if name in own)
    return x if len(places) == len(names) else broadcast_in_dim_p(x, shape=tuple(shape), broadcast_dimensions=places)
