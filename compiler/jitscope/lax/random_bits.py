"""XLA's own generators of random bits and numbers. Programs use `jitscope.random`; these are its lower level."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..backend.placement import laid
from ..core import dtypes
from ..core.annotations import Array, ArrayLike, DTypeLike, PartitionSpec, Sharding
from ..ops.generators import RandomAlgorithm, rng_bit_generator_p, rng_uniform_p


def _shape(name: str, shape: Any) -> tuple[int, ...]:
    sizes = (shape,) if isinstance(shape, int) else shape
    try:
        found = tuple(map(operator.index, sizes))
    except TypeError:
        raise TypeError(f"lax.{name}: shape is a sequence of ints, not {shape!r}") from None
    if any(n < 0 for n in found):
        raise ValueError(f"lax.{name}: shape {found} has a negative size")
    return found


def rng_bit_generator(
    key: ArrayLike, shape: Sequence[int], dtype: DTypeLike = np.uint32, algorithm: RandomAlgorithm = RandomAlgorithm.RNG_DEFAULT, *,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> tuple[Array, Array]:  # fmt: skip
    """The next state of one of XLA's generators, and random bits of `shape` from the state `key`, uint32[4] or uint64[2].

    `dtype`: an unsigned integer type. Bits of RNG_DEFAULT may differ between platforms and releases; under vmap the first
    state draws for all. Raises TypeError for other dtypes and states.
    """
    if out_sharding is not None:
        whole = rng_bit_generator(key, shape, dtype, algorithm)
        return whole[0], laid(out_sharding, lambda: whole[1])
    to = dtypes.explicit(dtype)
    if to not in (dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64):
        raise TypeError(f"lax.rng_bit_generator gives unsigned integers of 8 to 64 bits, not {to.name}")
    state, bits = rng_bit_generator_p(
        key, shape=_shape("rng_bit_generator", shape), dtype=to, algorithm=RandomAlgorithm(algorithm)
    )
    return state, bits


def rng_uniform(a: ArrayLike, b: ArrayLike, shape: Sequence[int]) -> Array:
    """Numbers of `shape` uniform in [a, b), of the scalars' dtype, from a generator with a state of its own: others at each
    run. It has no derivative and no map (NotImplementedError). Raises ValueError for bounds that are not scalars of one
    dtype, TypeError for a shape that is one number.
    """
    if isinstance(shape, int):
        raise TypeError(f"lax.rng_uniform: shape is a sequence of ints, not {shape}")
    return rng_uniform_p(a, b, shape=_shape("rng_uniform", shape))
