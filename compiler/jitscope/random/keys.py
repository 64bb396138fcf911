"""Making and splitting keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.avals import aval_of
from ..core.config import settings
from ..core.trace import Tracer
from ..ops.linear import convert, reshape, slice_in_dim
from ..ops.rng import (
    KeyDType,
    random_fold_in_p,
    random_seed_p,
    random_split_p,
    random_unwrap_p,
    random_wrap_p,
    threefry,
)


_IMPLEMENTATIONS = {None: threefry, "threefry2x32": threefry}


def _implementation(impl: Any) -> KeyDType:
    if isinstance(impl, KeyDType):
        return impl
    if impl not in _IMPLEMENTATIONS:
        raise ValueError(f"there is no generator {impl!r}; there is 'threefry2x32'")
    return _IMPLEMENTATIONS[impl]


def key(seed: Any, *, impl: str | None = None) -> Any:
    """A key (a scalar of dtype `key<fry>`) from an integer seed, or an array of keys from an array of seeds.

    Raises TypeError for seeds that are no integers, ValueError for an unknown `impl`.
    """
    return random_seed_p(_seed(seed), impl=_implementation(impl))


def _seed(seed: Any) -> Any:
    if isinstance(seed, (bool, np.bool_)):
        raise TypeError("a seed is an integer, not a bool")
    if isinstance(seed, int):
        if not -(2**63) <= seed < 2**64:
            raise OverflowError(f"the seed {seed} does not fit 64 bits")
        wide = np.uint64(seed % 2**64).astype(np.int64)
        return wide if settings().enable_x64 else wide.astype(np.int32)
    if not dtypes.is_integer(aval_of(seed).dtype):
        raise TypeError(f"a seed is an integer; it got {aval_of(seed).short()}")
    return seed


def PRNGKey(seed: Any, *, impl: str | None = None) -> Any:
    """A key as its two words, uint32[2]: JAX's older form. All functions here take both."""
    return random_unwrap_p(key(seed, impl=impl))


def typed(key: Any) -> tuple[Any, bool]:
    """A key in its typed form, and whether it came that way. Raises TypeError for what is no key."""
    aval = aval_of(key)
    if isinstance(aval.dtype, KeyDType):
        return key, True
    if aval.dtype == dtypes.uint32 and aval.shape[-1:] == (2,):
        return random_wrap_p(key, impl=threefry), False
    raise TypeError(f"a random key is needed (random.key(seed)); it got {aval.short()}")


def single(key: Any, name: str) -> Any:
    """One typed key. Raises TypeError for an array of keys."""
    key, _ = typed(key)
    if aval_of(key).shape:
        raise TypeError(f"random.{name} takes one key, it got {aval_of(key).shape} of them: use vmap, or split them up")
    return key


def split(key: Any, num: int | Sequence[int] = 2) -> Any:
    """`num` new keys (an int or a shape), independent of each other; do not use `key` itself again."""
    shape = (int(num),) if isinstance(num, (int, np.integer)) else tuple(int(n) for n in num)
    own, was_typed = typed(key)
    if aval_of(own).shape:
        raise TypeError(f"random.split takes one key, it got {aval_of(own).shape} of them: use vmap")
    keys = random_split_p(own, shape=shape)
    return keys if was_typed else random_unwrap_p(keys)


def pair(key: Any) -> tuple[Any, Any]:
    """Two new typed keys from one."""
    both = random_split_p(key, shape=(2,))
    first, second = (reshape(slice_in_dim(both, i, i + 1), ()) for i in range(2))
    return first, second


def fold_in(key: Any, data: Any) -> Any:
    """A new key from a key and an integer, for instance the number of a step."""
    own, was_typed = typed(key)
    if aval_of(own).shape:
        raise TypeError(f"random.fold_in takes one key, it got {aval_of(own).shape} of them: use vmap")
    if aval_of(data).shape or not dtypes.is_integer(aval_of(data).dtype):
        raise TypeError(f"fold_in takes one integer; it got {aval_of(data).short()}")
    word = np.uint32(data % 2**32) if isinstance(data, int) else convert(data, dtypes.uint32)
    new = random_fold_in_p(own, word)
    return new if was_typed else random_unwrap_p(new)


def key_data(keys: Any) -> Any:
    """The words of keys, uint32[..., 2]."""
    return random_unwrap_p(typed(keys)[0])


def wrap_key_data(key_bits_array: Any, *, impl: str | None = None) -> Any:
    """Keys from their words, uint32[..., 2]."""
    return random_wrap_p(key_bits_array, impl=_implementation(impl))


def key_impl(keys: Any) -> str:
    """The name of the keys' generator."""
    return aval_of(typed(keys)[0]).dtype.impl


def clone(key: Any) -> Any:
    """The same key again, for those who mean to use it twice."""
    return reshape(key, aval_of(key).shape) if isinstance(key, Tracer) else key
