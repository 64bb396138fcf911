"""The register of samples, and the source of their values."""

from __future__ import annotations

import dataclasses
import importlib
import math
import pkgutil
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

from jitscope import ops
from jitscope.core.dtypes import bfloat16, bool_, complex64, complex128, float32, float64, int32, kind, uint32
from jitscope.core.primitive import Primitive


NATIVE = {"f": (float32, bfloat16), "i": (int32,), "u": (uint32,), "b": (bool_,), "c": (complex64,)}
WIDE = {"f": (float64,), "c": (complex128,)}
"""Dtypes by kind: those of everyday, and those in which derivatives are compared with finite differences."""

EVERYTHING = "biufc"
"""The kinds of dtype that operations work on which only move elements."""

SHAPES = {"scalar": (), "empty": (2, 0, 3), "rank 3": (2, 3, 2), "ones": (1, 3, 1)}


@dataclasses.dataclass
class Sample:
    """One call of a primitive.

    `oracle` gives the result, or a list of results, for the arguments and no parameters; `result` their dtypes, if they are
    not that of the first argument. Derivatives are tried in the operands in `smooth` (by default those of floats and complex
    numbers); those in `flat` count as constant though the oracle says otherwise. `linear`: sets of operands in which it is
    linear. `holomorphic`: whether complex derivatives are complex-linear. `axis`: the primitive runs inside a mapped axis of
    that name, along axis 0 of all arguments. `fun` stands for the primitive where its arguments are no arrays. `loose`
    multiplies tolerances; results count as no smaller than `least`, as the rounding of sums is that of their terms. `rules`
    are the only ones tried.
    """

    label: str
    args: list[Any]
    oracle: Callable[..., Any]
    params: dict[str, Any] = dataclasses.field(default_factory=dict)
    result: Any = None
    smooth: Sequence[int] | None = None
    flat: Sequence[int] = ()
    linear: Sequence[Sequence[int]] = ()
    holomorphic: bool = True
    axis: str | None = None
    fun: Callable[..., Any] | None = None
    loose: float = 1
    least: float = 1e-3
    rules: Sequence[str] | None = None

    def __post_init__(self):
        self.args = [np.asarray(a) for a in self.args]
        if self.smooth is None:
            self.smooth = [i for i, a in enumerate(self.args) if kind(a.dtype) in "fc" and i not in self.flat]


class Draw:
    """Random values of a dtype, the same ones for the same seed."""

    def __init__(self, dtype: np.dtype, seed: Any):
        self.dtype = dtype
        self.random = np.random.default_rng(zlib.crc32(repr(seed).encode()))

    def __call__(self, shape: Sequence[int], low: float = -2, high: float = 2, dtype: Any = None) -> np.ndarray:
        """Numbers from `low` to `high`; of complex ones both parts, off the real axis."""
        dtype = np.dtype(dtype or self.dtype)
        if kind(dtype) == "b":
            return self.random.random(shape) < 0.5
        if kind(dtype) in "iu":
            low = max(low, 0) if kind(dtype) == "u" else low
            return self.random.integers(math.ceil(low), math.floor(high), shape, endpoint=True).astype(dtype)
        values = self.random.uniform(low, high, shape)
        if kind(dtype) == "c":
            values = values + 1j * self.random.uniform(0.2, 0.8, shape)
        return np.asarray(values).astype(dtype)

    def distinct(self, shape: Sequence[int]) -> np.ndarray:
        """Numbers no two of which are equal or close."""
        n = math.prod(shape)
        values = self.random.permutation(n).reshape(shape) - n // 2
        if kind(self.dtype) == "u":
            values = values + n // 2
        return values.astype(self.dtype) if kind(self.dtype) != "b" else values > 0

    def among(self, shape: Sequence[int], values: Sequence[Any], dtype: Any = None) -> np.ndarray:
        """Values out of a list."""
        return self.random.choice(np.asarray(values), shape).astype(dtype or self.dtype)

    def bits(self, shape: Sequence[int], dtype: Any = None) -> np.ndarray:
        """Integers of all sizes."""
        dtype = np.dtype(dtype or self.dtype)
        sizes = self.random.integers(0, 32, shape, dtype=np.uint64)
        raw = self.random.integers(0, 2**32, shape, dtype=np.uint64) >> sizes
        return raw.astype(np.uint32).astype(dtype) if kind(dtype) != "b" else raw % 2 == 1


Maker = Callable[[Draw, np.dtype], Iterator[Sample]]
_makers: dict[int, tuple[Primitive, list[tuple[str, Maker]]]] = {}


def samples(primitive: Primitive, kinds: str) -> Callable[[Maker], Maker]:
    """Decorator: register a function that gives samples of the primitive for dtypes of the given kinds."""

    def register(maker: Maker) -> Maker:
        _makers.setdefault(id(primitive), (primitive, []))[1].append((kinds, maker))
        return maker

    return register


def all_primitives() -> dict[str, Primitive]:
    """Every primitive of `jitscope.ops`, under its variable's name."""
    found: dict[int, tuple[str, Primitive]] = {}
    for info in pkgutil.iter_modules(ops.__path__):
        module = importlib.import_module(f"{ops.__name__}.{info.name}")
        for name, value in vars(module).items():
            if isinstance(value, Primitive):
                found.setdefault(id(value), (name, value))
    return dict(found.values())


def kinds_of(primitive: Primitive) -> str:
    """The kinds of dtype there are samples of; none if there are no samples."""
    if id(primitive) not in _makers:
        return ""
    return "".join(dict.fromkeys(k for kinds, _ in _makers[id(primitive)][1] for k in kinds))


def dtypes_of(primitive: Primitive, wide: bool = False) -> list[np.dtype]:
    """The dtypes to try a primitive with."""
    return list(_dtypes_of(primitive, wide))


@cache
def _dtypes_of(primitive: Primitive, wide: bool) -> tuple[np.dtype, ...]:
    """A maker may give no samples for a dtype: asking makes them."""
    found = [d for k in kinds_of(primitive) for d in (WIDE if wide else NATIVE).get(k, ())]
    return tuple(d for d in found if next(_made(primitive, d), None))


def samples_of(primitive: Primitive, dtype: np.dtype, seed: int = 0) -> list[Sample]:
    """The samples for a dtype; another seed gives other values in the same shapes."""
    return list(_made(primitive, dtype, seed))


def _made(primitive: Primitive, dtype: np.dtype, seed: int = 0) -> Iterator[Sample]:
    for i, (kinds, maker) in enumerate(_makers[id(primitive)][1]):
        if kind(dtype) in kinds:
            yield from maker(Draw(dtype, (primitive.name, dtype.name, i, seed)), dtype)
