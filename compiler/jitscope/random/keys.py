"""Making and splitting keys."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NewType

import numpy as np

from ..backend.array import Array
from ..core import dtypes
from ..core.annotations import Array as AnyArray, ArrayLike, DTypeLike
from ..core.avals import aval_of
from ..core.config import settings
from ..eager.functions import eager_jit
from ..numpy.operands import shape_of
from ..ops.linear import add_p, convert, reshape, slice_in_dim
from ..ops.rng import (
    GENERATORS,
    KeyDType,
    random_clone_p,
    random_fold_in_p,
    random_seed_p,
    random_split_p,
    random_unwrap_p,
    random_wrap_p,
)


__all__ = ["Key", "PRNGKey", "clone", "fold_in", "key", "key_data", "key_dtype", "key_impl", "split", "wrap_key_data"]


Key = NewType("Key", Array)
"""An array of keys, for annotations."""


def _implementation(impl: Any) -> KeyDType:
    if isinstance(impl, KeyDType):
        return impl
    name = settings().default_prng_impl if impl is None else impl
    if not isinstance(name, str):
        raise TypeError(f"a generator is given by name ({', '.join(map(repr, GENERATORS))}) or dtype, not by {name!r}")
    if name not in GENERATORS:
        raise ValueError(f"there is no generator {impl!r}; there are {', '.join(map(repr, GENERATORS))}")
    return GENERATORS[name]


def key_dtype(impl_spec: str | None = None) -> KeyDType:
    """The dtype of the keys of a generator (None: the option default_prng_impl). Raises ValueError for an unknown one."""
    return _implementation(impl_spec)


def _chosen(impl: Any, dtype: Any) -> KeyDType:
    """The generator that `impl` or `dtype` names, one of them at most."""
    if dtype is None:
        return _implementation(impl)
    if impl is not None:
        raise ValueError("give the generator as impl or as dtype, not as both")
    if not isinstance(dtype, (KeyDType, str)):
        raise TypeError(f"dtype is that of keys (random.key_dtype(), or the name of a generator), not {dtype!r}")
    return _implementation(dtype)


def key(seed: int | ArrayLike, *, impl: str | None = None, dtype: DTypeLike | None = None) -> AnyArray:
    """A key (a scalar of dtype `key<fry>`) from an integer seed.

    The option random_seed_offset is added to the seed; `impl` or `dtype` names the generator (None: the option
    default_prng_impl). Raises TypeError for seeds that are not integer scalars (vmap goes over several), OverflowError for ints
    of more than 64 bits, ValueError for an unknown `impl`.
    """
    return random_seed_p(_seed(seed), impl=_chosen(impl, dtype))


def _seed(seed: Any) -> Any:
    offset = settings().random_seed_offset
    if isinstance(seed, int):
        seed += offset
        if not -(2**63) <= seed < 2**63:
            raise OverflowError(f"the seed {seed} does not fit an int64")
        wide = np.uint64(seed % 2**64).astype(np.int64)
        return wide if settings().enable_x64 else wide.astype(np.int32)
    aval = aval_of(seed)
    dtype = aval.dtype
    if aval.shape:
        raise TypeError(f"a seed is one integer; it got {aval.short()}: use vmap(random.key)(seeds)")
    if not dtypes.is_integer(dtype):
        raise TypeError(f"a seed is an integer; it got {aval.short()}")
    return add_p(seed, np.asarray(offset).astype(dtype)[()]) if offset else seed


def PRNGKey(seed: int | ArrayLike, *, impl: str | None = None) -> AnyArray:
    """A key as its words, uint32[2] (uint32[4] for some generators): JAX's older form. All functions here take both, and
    count raw words as the generator's that the option default_prng_impl names."""
    return random_unwrap_p(key(seed, impl=impl))


def _generator(key: Any, quietly: bool = False) -> KeyDType | None:
    """The generator of a raw key; None for a typed one. Raises TypeError for what is not a key."""
    aval = aval_of(key)
    if isinstance(aval.dtype, KeyDType):
        return None
    impl = _implementation(None)
    if aval.dtype != dtypes.uint32 or aval.shape[-1:] != impl.element_shape:
        raise TypeError(f"a random key is needed (random.key(seed)); it got {aval.short()}")
    if settings().legacy_prng_key == "error" or (settings().legacy_prng_key == "warn" and not quietly):
        _object_to_raw_keys()
    return impl


def _object_to_raw_keys() -> None:
    message = (
        "a raw uint32 key was passed to a function of jitscope.random. Make keys with random.key(seed), or set the option "
        "legacy_prng_key to 'allow' if it was meant"
    )
    if settings().legacy_prng_key == "error":
        raise ValueError(message)
    warnings.warn(message, UserWarning, stacklevel=4)


def typed_key(key: Any) -> tuple[Any, bool]:
    """A key in its typed form, and whether it came that way. Raises TypeError for what is not a key."""
    impl = _generator(key)
    return (key, True) if impl is None else (random_wrap_p(key, impl=impl), False)


def check_single(key: Any, name: str) -> None:
    """Raise TypeError for what is not a key, ValueError for an array of keys."""
    shape = aval_of(key).shape
    shape = shape if _generator(key, quietly=True) is None else shape[:-1]
    if shape:
        raise ValueError(f"random.{name} takes one key, it got {shape} of them: use vmap, or split them up")


def single(key: Any, name: str) -> Any:
    """One typed key. Raises as `check_single` does."""
    check_single(key, name)
    return typed_key(key)[0]


def split(key: ArrayLike, num: int | Sequence[int] = 2) -> AnyArray:
    """`num` new keys (an int or a shape), independent of each other; do not use `key` itself again.

    Raises ValueError for an array of keys, TypeError for a `num` that is not an int.
    """
    check_single(key, "split")
    return _split(key, shape_of("random.split", num))


@eager_jit(static="shape")
def _split(key: Any, shape: tuple[int, ...]) -> Any:
    own, was_typed = typed_key(key)
    keys = random_split_p(own, shape=shape)
    return keys if was_typed else random_unwrap_p(keys)


def several(key: Any, count: int) -> list[Any]:
    """New typed keys from one."""
    found = random_split_p(key, shape=(count,))
    return [reshape(slice_in_dim(found, i, i + 1), ()) for i in range(count)]


def pair(key: Any) -> tuple[Any, Any]:
    """Two new typed keys from one."""
    first, second = several(key, 2)
    return first, second


def fold_in(key: ArrayLike, data: ArrayLike) -> AnyArray:
    """A new key from a key and a number, for instance that of a step (converted to uint32).

    Raises ValueError for an array of keys, TypeError for data that is not a real scalar, OverflowError for Python ints that do
    not fit a uint32.
    """
    check_single(key, "fold_in")
    if aval_of(data).shape:
        raise TypeError(f"random.fold_in takes one number, it got {aval_of(data).short()}: use vmap")
    if isinstance(data, int):
        if not 0 <= data < 2**32:
            raise OverflowError(f"random.fold_in takes a number that fits a uint32, not {data}")
        data = np.uint32(data)
    elif dtypes.is_complex(aval_of(data).dtype):
        raise TypeError(f"random.fold_in takes a real number, it got {aval_of(data).short()}")
    return _folded(key, data)


@eager_jit()
def _folded(key: Any, data: Any) -> Any:
    own, was_typed = typed_key(key)
    word = data if aval_of(data).dtype == dtypes.uint32 else convert(data, dtypes.uint32)
    new = random_fold_in_p(own, word)
    return new if was_typed else random_unwrap_p(new)


def key_data(keys: ArrayLike) -> AnyArray:
    """The words of keys, uint32[..., 2] (4 for some generators)."""
    return random_unwrap_p(typed_key(keys)[0])


def wrap_key_data(key_bits_array: ArrayLike, *, impl: str | None = None, dtype: DTypeLike | None = None) -> AnyArray:
    """Keys from their words, uint32[..., 2] (4 for some generators); `impl` or `dtype` names the generator. Raises TypeError for other arrays."""
    return random_wrap_p(key_bits_array, impl=_chosen(impl, dtype))


def key_impl(keys: ArrayLike) -> str:
    """The name of the generator of keys [...] (arrays of typed keys), such as "threefry2x32"."""
    return aval_of(typed_key(keys)[0]).dtype.impl


def clone(key: ArrayLike) -> AnyArray:
    """The same keys [...] again, for those who mean to use them twice: `debug_key_reuse` counts them as new."""
    own, was_typed = typed_key(key)
    new = random_clone_p(own)
    return new if was_typed else random_unwrap_p(new)
