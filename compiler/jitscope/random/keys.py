"""Making and splitting keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.avals import aval_of
from ..core.config import settings
from ..ops.linear import add_p, convert, reshape, slice_in_dim
from ..ops.rng import (
    KeyDType,
    random_clone_p,
    random_fold_in_p,
    random_seed_p,
    random_split_p,
    random_unwrap_p,
    random_wrap_p,
    rbg,
    threefry,
    unsafe_rbg,
)


_IMPLEMENTATIONS = {dtype.impl: dtype for dtype in (threefry, rbg, unsafe_rbg)}


def _implementation(impl: Any) -> KeyDType:
    if isinstance(impl, KeyDType):
        return impl
    name = settings().default_prng_impl if impl is None else impl
    if name not in _IMPLEMENTATIONS:
        raise ValueError(f"there is no generator {impl!r}; there are {', '.join(map(repr, _IMPLEMENTATIONS))}")
    return _IMPLEMENTATIONS[name]


def key_dtype(impl: Any = None) -> KeyDType:
    """The dtype of the keys of a generator (None: the option default_prng_impl). Raises ValueError for an unknown one."""
    return _implementation(impl)


def _chosen(impl: Any, dtype: Any) -> KeyDType:
    """The generator that `impl` or `dtype` names, one of them at most."""
    if dtype is None:
        return _implementation(impl)
    if impl is not None:
        raise ValueError("give the generator as impl or as dtype, not as both")
    if not isinstance(dtype, KeyDType):
        raise TypeError(f"dtype is that of keys (random.key_dtype()), not {dtype!r}")
    return dtype


def key(seed: Any, *, impl: str | None = None, dtype: Any = None) -> Any:
    """A key (a scalar of dtype `key<fry>`) from an integer seed, or an array of keys from an array of seeds.

    The option random_seed_offset is added to the seed; `impl` or `dtype` names the generator (None: the option
    default_prng_impl). Raises TypeError for seeds that are no integers, ValueError for an unknown `impl`.
    """
    return random_seed_p(_seed(seed), impl=_chosen(impl, dtype))


def _seed(seed: Any) -> Any:
    if isinstance(seed, (bool, np.bool_)):
        raise TypeError("a seed is an integer, not a bool")
    offset = settings().random_seed_offset
    if isinstance(seed, int):
        seed += offset
        if not -(2**63) <= seed < 2**64:
            raise OverflowError(f"the seed {seed} does not fit 64 bits")
        wide = np.uint64(seed % 2**64).astype(np.int64)
        return wide if settings().enable_x64 else wide.astype(np.int32)
    dtype = aval_of(seed).dtype
    if not dtypes.is_integer(dtype):
        raise TypeError(f"a seed is an integer; it got {aval_of(seed).short()}")
    return add_p(seed, np.asarray(offset).astype(dtype)[()]) if offset else seed


def PRNGKey(seed: Any, *, impl: str | None = None) -> Any:
    """A key as its words, uint32[2] (uint32[4] for some generators): JAX's older form. All functions here take both, and
    count raw words as the generator's that the option default_prng_impl names."""
    return random_unwrap_p(key(seed, impl=impl))


def typed(key: Any) -> tuple[Any, bool]:
    """A key in its typed form, and whether it came that way. Raises TypeError for what is no key."""
    aval = aval_of(key)
    if isinstance(aval.dtype, KeyDType):
        return key, True
    impl = _implementation(None)
    if aval.dtype == dtypes.uint32 and aval.shape[-1:] == impl.element_shape:
        return random_wrap_p(key, impl=impl), False
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
    """The words of keys, uint32[..., 2] (4 for some generators)."""
    return random_unwrap_p(typed(keys)[0])


def wrap_key_data(key_bits_array: Any, *, impl: str | None = None, dtype: Any = None) -> Any:
    """Keys from their words, uint32[..., 2] (4 for some generators); `impl` or `dtype` names the generator. Raises TypeError for other arrays."""
    return random_wrap_p(key_bits_array, impl=_chosen(impl, dtype))


def key_impl(keys: Any) -> str:
    """The name of the keys' generator."""
    return aval_of(typed(keys)[0]).dtype.impl


def clone(key: Any) -> Any:
    """The same key again, for those who mean to use it twice: `debug_key_reuse` counts it as a new one."""
    own, was_typed = typed(key)
    new = random_clone_p(own)
    return new if was_typed else random_unwrap_p(new)
