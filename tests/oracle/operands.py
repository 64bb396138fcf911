"""The operands of samples, by letter: NumPy arrays that follow the dtype under test, and some of fixed dtype.

`variant` gives other numbers of the same shapes and domains: for mapping over two at once.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes  # noqa: F401  (gives NumPy the name bfloat16)
import numpy


NARROW = ("bool", "uint8", "int32", "bfloat16", "float32", "complex64")
WIDE = ("int64", "float64")
"""Tested with 64 bits allowed."""
VALUED = ("bool", "int32", "float32", "complex64")
"""Those of which values are compared, too."""

_SHAPES = {
    "x": (3, 4), "y": (3, 4), "u": (3, 4), "q": (3, 4), "o": (3, 4), "v": (4,), "w": (4,), "t": (5,), "s": (), "b": (2, 3, 4),
    "r": (3, 2), "a": (3, 3), "h": (3, 3), "g": (6,), "e": (0, 4), "n": (0,), "z": (8,), "img": (2, 6, 5, 3), "ker": (3, 2, 3, 4),
}  # fmt: skip
FOLLOWING = tuple(_SHAPES)
FIXED = ("m", "mv", "i", "iv", "k", "c", "key", "kd")
_TIES = (3, 1, 2, 1, 3, 0)
_EXTREMES = {"uint8": (0, 255), "int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}


def operands(dtype: str, variant: int = 0) -> dict[str, numpy.ndarray]:
    """All operands but the keys."""
    found = {name: _following(name, dtype, variant) for name in FOLLOWING}
    random = numpy.random.default_rng(100 + variant)
    wide = dtype in WIDE
    found["m"] = random.random((3, 4)) < 0.6
    found["mv"] = numpy.array([True, False, True, True]) if variant == 0 else numpy.array([False, True, True, False])
    found["i"] = random.integers(0, 3, (3, 4)).astype("int32")
    found["iv"] = numpy.array([2, -1, 0, -3] if variant == 0 else [1, 3, -2, 0], "int32")
    found["k"] = numpy.array(2 - variant, "int32")
    found["c"] = (random.normal(size=(3, 4)) + 1j * random.normal(size=(3, 4))).astype(
        "complex128" if wide else "complex64"
    )
    return found


def _following(name: str, dtype: str, variant: int) -> numpy.ndarray:
    random = numpy.random.default_rng([ord(name[0]), len(name), variant])
    shape, kind = _SHAPES[name], _kind(dtype)
    if name == "z":
        return _specials(dtype, kind)
    if name == "g":
        return numpy.array(_TIES if variant == 0 else _TIES[::-1]).astype(dtype)
    if kind == "b":
        return random.random(shape) < 0.5
    if kind in "iu":
        return _whole(name, random, shape, kind).astype(dtype)
    drawn = _real(name, random, shape)
    if kind == "c":
        turned = 0 if name == "t" else 0.6 * random.normal(size=shape)
        drawn = drawn + 1j * (turned - turned.T if name == "h" else turned)
    return drawn.astype(dtype)


def _kind(dtype: str) -> str:
    return "f" if dtype == "bfloat16" else numpy.dtype(dtype).kind


def _specials(dtype: str, kind: str) -> numpy.ndarray:
    if kind == "b":
        return numpy.array([True, False] * 4)
    if kind in "iu":
        low, high = _EXTREMES[dtype]
        return numpy.array([low, high, 0, 1, 2, 3, 7, 5], dtype)
    return numpy.array([-numpy.inf, -1.5, -0.0, 0, 0.5, 2, numpy.inf, numpy.nan]).astype(dtype)


def _whole(name: str, random: Any, shape: tuple[int, ...], kind: str) -> numpy.ndarray:
    if name == "t":
        return numpy.cumsum(random.integers(1, 3, shape))
    if name in ("y", "w", "q", "o"):
        drawn = random.integers(1, 5, shape)
        return drawn if kind == "u" or name in ("q", "o") else drawn * random.choice([-1, 1], shape)
    if name == "u":
        return random.integers(0, 2, shape)
    if name in ("a", "h"):
        return random.integers(0, 2, shape) + 3 * numpy.eye(3, dtype=int)
    return random.integers(0 if kind == "u" else -5, 6, shape)


def _real(name: str, random: Any, shape: tuple[int, ...]) -> numpy.ndarray:
    if name == "u":
        return random.uniform(0.05, 0.95, shape)
    if name == "q":
        return random.uniform(0.5, 3, shape)
    if name == "o":
        return random.uniform(1.2, 4, shape)
    if name == "t":
        return numpy.cumsum(random.uniform(0.3, 1, shape))
    if name == "a":
        return random.normal(size=shape) * 0.5 + 2 * numpy.eye(3)
    if name == "h":
        drawn = random.normal(size=shape) * 0.4
        return drawn + drawn.T + 3 * numpy.eye(3)
    return random.normal(size=shape) * (1.5 if len(shape) < 4 else 0.7)
