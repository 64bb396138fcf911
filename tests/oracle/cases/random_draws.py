"""Draws that give JAX's bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np


SEEDS = (0, 1, 42, -1, 2**31 - 1, -(2**31))
SEEDS64 = (0, 2**40 + 3, -(2**63), 2**63 - 1)
SHAPES: tuple[tuple[int, ...], ...] = ((), (7,), (3, 5), (0, 4))
FLOATS = (np.dtype("float32"), np.dtype("float16"), np.dtype(ml_dtypes.bfloat16))
INTEGERS = tuple(np.dtype(f"{sign}int{width}") for sign in ("", "u") for width in (8, 16, 32))
UNSIGNED = tuple(np.dtype(f"uint{width}") for width in (8, 16, 32))

Draw = Callable[[Any], Any]
DRAWS: dict[str, Draw] = {}
WIDE_DRAWS: dict[str, Draw] = {}
"""These need 64-bit dtypes."""


def ranges(dtype: np.dtype) -> dict[str, tuple[int, int]]:
    """Bounds worth a draw: small, whole, negative, empty, beyond the dtype."""
    info = np.iinfo(dtype)
    low = -5 if info.min < 0 else 3
    return {"small": (low, 10), "one": (7, 8), "empty": (5, 5), "reversed": (9, 2), "whole": (int(info.min), int(info.max)),
            "beyond": (int(info.min), int(info.max) + 1), "half": (0, int(info.max) // 2 + 2)}  # fmt: skip


def _fill(cases: dict[str, Draw], seeds: tuple[int, ...], floats: Any, integers: Any, unsigned: Any) -> None:
    for seed in seeds:
        cases[f"key {seed}"] = lambda r, seed=seed: r.key(seed)
        cases[f"PRNGKey {seed}"] = lambda r, seed=seed: r.PRNGKey(seed)
        cases[f"bits of seed {seed}"] = lambda r, seed=seed: r.bits(r.key(seed), (4,))
    for dtype in unsigned:
        for shape in SHAPES:
            cases[f"bits {dtype} {shape}"] = lambda r, d=dtype, s=shape: r.bits(r.key(7), s, d)
    for dtype in floats:
        for shape in SHAPES:
            cases[f"uniform {dtype} {shape}"] = lambda r, d=dtype, s=shape: r.uniform(r.key(8), s, d)
        cases[f"uniform {dtype} in range"] = lambda r, d=dtype: r.uniform(r.key(9), (50,), d, -2.5, 7.25)
        cases[f"normal {dtype}"] = lambda r, d=dtype: r.normal(r.key(10), (200,), d)
    for dtype in integers:
        for name, (low, high) in ranges(dtype).items():
            cases[f"randint {dtype} {name}"] = lambda r, d=dtype, a=low, b=high: r.randint(r.key(11), (30,), a, b, d)


_fill(DRAWS, SEEDS, FLOATS, INTEGERS, UNSIGNED)
_fill(WIDE_DRAWS, SEEDS64, (np.dtype("float64"),), (np.dtype("int64"), np.dtype("uint64")), (np.dtype("uint64"),))
WIDE_DRAWS = {f"x64 {name}": draw for name, draw in WIDE_DRAWS.items()}

for _impl in ("rbg", "unsafe_rbg", "threefry4x32", "philox2x32", "philox4x32"):
    _key = lambda r, seed=3, impl=_impl: r.key(seed, impl=impl)
    DRAWS |= {
        f"{_impl} key": _key,
        f"{_impl} split": lambda r, key=_key: r.split(key(r)),
        f"{_impl} split (2, 3)": lambda r, key=_key: r.split(key(r), (2, 3)),
        f"{_impl} fold_in": lambda r, key=_key: r.fold_in(key(r), 12345),
        f"{_impl} bits 8": lambda r, key=_key: r.bits(key(r), (5,), np.uint8),
        f"{_impl} bits 16": lambda r, key=_key: r.bits(key(r), (5,), np.uint16),
        f"{_impl} bits 32": lambda r, key=_key: r.bits(key(r), (3, 2)),
        f"{_impl} uniform": lambda r, key=_key: r.uniform(key(r), (7,)),
        f"{_impl} normal": lambda r, key=_key: r.normal(key(r), (7,)),
        f"{_impl} randint": lambda r, key=_key: r.randint(key(r), (7,), 0, 1000),
        f"{_impl} a chain": lambda r, key=_key: r.bits(r.fold_in(r.split(r.split(key(r))[1], 3)[2], 8), (5,)),
    }
WIDE_DRAWS |= {
    f"x64 {_impl} bits": lambda r, impl=_impl: r.bits(r.key(2**40 + 3, impl=impl), (4,), np.uint64)
    for _impl in ("rbg", "threefry4x32", "philox2x32", "philox4x32")
}

DRAWS |= {
    "split": lambda r: r.split(r.key(3)),
    "split 5": lambda r: r.split(r.key(3), 5),
    "split (2, 3)": lambda r: r.split(r.key(3), (2, 3)),
    "split of an old key": lambda r: r.split(r.PRNGKey(3), 4),
    "split 1": lambda r: r.split(r.key(3), 1),
    "fold_in 0": lambda r: r.fold_in(r.key(3), 0),
    "fold_in 12345": lambda r: r.fold_in(r.key(3), 12345),
    "fold_in 2**32 - 1": lambda r: r.fold_in(r.key(3), np.uint32(2**32 - 1)),
    "fold_in of an old key": lambda r: r.fold_in(r.PRNGKey(3), 9),
    "a chain": lambda r: r.bits(r.fold_in(r.split(r.split(r.key(0))[1], 3)[2], 8), (5,)),
    "wrapped": lambda r: r.bits(r.wrap_key_data(np.array([1, 2], np.uint32)), (3,)),
    "bernoulli": lambda r: r.bernoulli(r.key(4), 0.3, (40,)),
    "bernoulli of array": lambda r: r.bernoulli(r.key(4), np.linspace(0, 1, 20, dtype=np.float32)),
    "normal complex64": lambda r: r.normal(r.key(12), (50,), np.complex64),
    "randint of arrays": lambda r: r.randint(
        r.key(13), (3, 4), np.arange(3, dtype=np.int32)[:, None], np.array([5, 50, 500, 0], np.int32)
    ),
    "uniform of arrays": lambda r: r.uniform(
        r.key(14), (3, 4), minval=np.arange(3, dtype=np.float32)[:, None], maxval=np.float32(9)
    ),
}


def _older(width: int, count: int) -> Callable[[Any], Any]:
    """Bits before threefry was made to be split over devices, alone and mapped."""

    def draw(o: Any) -> Any:
        key, bits = o.random.key(42), lambda key: o.random.bits(key, (count,), f"uint{width}")
        with o.jx.threefry_partitionable(False):
            return bits(key), o.jx.jit(o.jx.vmap(bits))(key[None])

    return draw


def _older_keys(o: Any) -> Any:
    with o.jx.threefry_partitionable(False):
        key = o.random.key(42)
        return o.random.split(key, 3), o.random.split(o.random.key(42, impl="rbg")), o.random.permutation(key, 6)


OLDER = {f"older bits {width} {count}": _older(width, count) for width in (8, 16, 32, 64) for count in (1, 3, 6)}
CASES = {name: lambda o, draw=draw: draw(o.random) for name, draw in {**DRAWS, **WIDE_DRAWS}.items()} | OLDER
CASES["older keys"] = _older_keys
WIDE = (*WIDE_DRAWS, *OLDER)
OPTIMIZED = True


def tolerance(name: str) -> float:
    """None, but for the polynomial of erf_inv, which may be contracted otherwise, and for half precision, which some processors
    compute in."""
    return 4 if "normal" in name or "float16 in range" in name else 0


def sample(name: str) -> bool:
    """All: other tests read these answers, too."""
    return True
