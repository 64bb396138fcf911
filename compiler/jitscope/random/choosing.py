"""Choosing among given things: permutations, choices with and without replacement, categories."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import lax, numpy as jnp
from ..backend.placement import laying
from ..core import dtypes
from ..core.annotations import Array, ArrayLike, PartitionSpec, Sharding
from ..core.avals import aval_of
from ..eager.functions import eager_jit
from ..numpy.operands import lenient, one_axis, operand_and_aval, promoted
from ..ops.linear import convert
from ..ops.rng import random_bits_p
from ..symbolic.dimension import is_symbolic_dim
from .arguments import shape_over
from .continuous import gumbel
from .keys import check_single, pair, single
from .samplers import Shape, randint, uniform


__all__ = ["categorical", "choice", "permutation"]


def _array(name: str, x: Any) -> tuple[Any, tuple[int, ...], Any]:
    """An array (numbers, too) with its shape and dtype. Raises TypeError for lists."""
    x, aval = operand_and_aval(f"random.{name}", x)
    return x, aval.shape, aval.dtype


def _count(name: str, x: Any, dtype: Any) -> int:
    """The integer that stands for range(x). Raises TypeError for other numbers and for traced ones."""
    if not dtypes.is_integer(dtype):
        raise TypeError(f"random.{name} takes an integer or an array of at least one axis, not {aval_of(x).short()}")
    return int(x)


# Permutations --------------------------------------------------------------------------------------------------------


@laying
def permutation(
    key: ArrayLike,
    x: int | ArrayLike,
    axis: int = 0,
    independent: bool = False,
    *,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """`x` [..., n, ...] in random order along `axis`, all orders equally likely; an integer x stands for arange(x).

    `independent`: each row along the axis gets an order of its own. Raises TypeError for lists and numbers that are not
    integers, ValueError for an axis that there is not; a traced integer cannot be a size.
    """
    check_single(key, "permutation")
    x, shape, dtype = _array("permutation", x)
    axis = one_axis("random.permutation", axis, len(shape) or 1)
    if not shape:
        return _shuffled_range(key, _count("permutation", x, dtype))
    return _permuted(key, x, axis, independent)


@eager_jit(static="n", nested=True)
def _shuffled_range(key: Any, n: int) -> Any:
    return _shuffled(single(key, "permutation"), jnp.arange(n), 0)


@eager_jit(static="axis independent", nested=True)
def _permuted(key: Any, x: Any, axis: int, independent: bool) -> Any:
    key, shape = single(key, "permutation"), aval_of(x).shape
    if independent or len(shape) == 1:
        return _shuffled(key, x, axis)
    order = _shuffled(key, jnp.arange(shape[axis]), 0)
    return jnp.take(x, order, axis, unique_indices=True)


def _shuffled(key: Any, x: Any, axis: int) -> Any:
    """`x` sorted by random numbers, so often that two equal ones in all rounds are less likely than one in size³."""
    size = math.prod(aval_of(x).shape)
    if is_symbolic_dim(size):
        raise NotImplementedError(
            f"shuffling {aval_of(x).short()}, an array of symbolic size, takes a program that depends on the size: sort by "
            "random numbers in place of it, with jnp.argsort(random.uniform(key, (n,)))"
        )
    for _ in range(math.ceil(3 * math.log(max(1, size)) / math.log(2**32 - 1))):
        key, own = pair(key)
        x = lax.sort_key_val(random_bits_p(own, bit_width=32, shape=aval_of(x).shape), x, axis)[1]
    return x


# Choices -------------------------------------------------------------------------------------------------------------


def choice(
    key: ArrayLike,
    a: int | ArrayLike,
    shape: Sequence[int] = (),
    replace: bool = True,
    p: ArrayLike | None = None,
    axis: int = 0,
    mode: str | None = None,
) -> Array:
    """Elements of `a` along `axis`, or of arange(a) for an integer, in an array whose `shape` stands in the place of that axis.

    `replace`: whether an element may be chosen more than once. `p`: the probabilities, of a's size along the axis (equal
    ones by default). `mode`: how the Gumbel numbers are drawn that decide with p and without replacement, see `gumbel`.
    Raises TypeError for a shape that is not a sequence and for lists, ValueError for probabilities of another shape, and where
    there is too little to choose from.
    """
    if not isinstance(shape, Sequence):
        raise TypeError(f"random.choice: shape is a sequence of ints, not {shape!r}")
    check_single(key, "choice")
    among, own, dtype = _array("choice", a)
    drawn = shape_over("choice", shape)
    axis = one_axis("random.choice", axis, len(own)) if own else 0
    n = own[axis] if own else int(among)
    if math.prod(drawn) == 0:
        return jnp.zeros(drawn, dtype)
    if n <= 0:
        raise ValueError("random.choice: there is nothing to choose from")
    if not replace and math.prod(drawn) > n:
        raise ValueError(f"random.choice: {math.prod(drawn)} of {n} cannot be chosen without replacement")
    if p is not None:
        p, of_p, _ = _array("choice", p)
        if of_p != (n,):
            raise ValueError(f"random.choice: p has the shape {of_p}; it needs ({n},), a number for each element")
    if own:
        return _chosen(key, among, p, drawn, replace, axis, mode)
    return _chosen_indices(key, p, n, drawn, replace, mode)


@eager_jit(static="n shape replace mode", nested=True)
def _chosen_indices(key: Any, p: Any, n: int, shape: tuple[int, ...], replace: bool, mode: Any) -> Any:
    if p is None and not replace:
        return lax.slice_in_dim(_shuffled(single(key, "choice"), jnp.arange(n), 0), 0, math.prod(shape)).reshape(shape)
    return _indices(single(key, "choice"), p, n, shape, replace, mode).reshape(shape)


@eager_jit(static="shape replace axis mode", nested=True)
def _chosen(key: Any, a: Any, p: Any, shape: tuple[int, ...], replace: bool, axis: int, mode: Any) -> Any:
    own = aval_of(a).shape
    if p is None and not replace:
        found = lax.slice_in_dim(_permuted(key, a, axis, False), 0, math.prod(shape), axis=axis)
    else:
        found = jnp.take(a, _indices(single(key, "choice"), p, own[axis], shape, replace, mode), axis)
    return found.reshape(*own[:axis], *shape, *own[axis + 1 :])


def _indices(key: Any, p: Any, n: int, shape: tuple[int, ...], replace: bool, mode: Any) -> Any:
    """Indices below `n`: of `shape`, or without replacement in a row."""
    if p is None:
        return randint(key, shape, 0, n)
    (p,), _, dtype, _ = promoted("random.choice", (p,), inexact=True)
    if replace:
        sums = jnp.cumsum(p)
        found = jnp.searchsorted(sums, sums[-1] * (1 - uniform(key, shape, dtype)))
    else:
        # The largest of log p + Gumbel numbers are a draw without replacement.
        found = lax.top_k(gumbel(key, (n,), dtype, mode) + jnp.log(p), math.prod(shape))[1]
    return convert(found, dtypes.default_int())


# Categories ----------------------------------------------------------------------------------------------------------


@laying
@lenient
@eager_jit(static="axis shape replace mode", nested=True)
def categorical(
    key: ArrayLike, logits: ArrayLike, axis: int = -1, shape: Shape | None = None, replace: bool = True, mode: str | None = None, *,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:  # fmt: skip
    """Indices along `axis`, with probabilities in proportion to exp(logits).

    `shape`: that of the result; it ends with that of logits without the axis, which it is by default. `replace`: without
    it, the draws along the leading axes of `shape` differ from each other. `mode`: see `gumbel`. Raises TypeError for lists,
    IndexError for an axis that there is not, ValueError for logits that are not floats, other shapes, and more draws without replacement than there are categories.
    """
    key = single(key, "categorical")
    logits, own, dtype = _array("categorical", logits)
    if not -len(own) <= axis < len(own):
        raise IndexError(f"random.categorical: logits of shape {own} have no axis {axis}")
    axis %= len(own)
    batch = own[:axis] + own[axis + 1 :]
    shape = shape_over("categorical", shape, batch)
    prefix = shape[: len(shape) - len(batch)]
    if replace:
        noise = gumbel(key, (*prefix, *own), dtype, mode)
        return jnp.argmax(noise + logits, axis - len(own))
    count = math.prod(prefix)
    if count > own[axis]:
        raise ValueError(f"random.categorical: {count} of {own[axis]} categories cannot be drawn without replacement")
    found = lax.top_k(jnp.moveaxis(logits + gumbel(key, own, dtype, mode), axis, -1), count)[1]
    return jnp.moveaxis(found, -1, 0).reshape(shape)
