"""How far functions of float32 are off, in units in the last place: `python -m benchmarks.ulps [COUNT]`, with the rule that computes them in
float64 and with XLA's own. Over COUNT numbers of each of three kinds: all bit patterns, a few turns, and thousands of them; beside glibc's
functions of 80-bit numbers. (Results too small for a normal float32, which both drop, are left out.)
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np


os.environ["JITSCOPE_COMPILATION_CACHE"] = "0"

import jitscope as jx
import jitscope.numpy as jnp
from jitscope.xla.cpu_tuning import IN_DOUBLE, POWERS_IN_DOUBLE


FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any], int]] = {
    "sin": (jnp.sin, np.sin, 1),
    "cos": (jnp.cos, np.cos, 1),
    "tan": (jnp.tan, np.tan, 1),
    "arcsin": (jnp.arcsin, np.arcsin, 1),
    "arccos": (jnp.arccos, np.arccos, 1),
    "arctan": (jnp.arctan, np.arctan, 1),
    "arctan2": (jnp.arctan2, np.arctan2, 2),
    "cbrt": (jnp.cbrt, np.cbrt, 1),
    "x ** y": (jnp.power, np.power, 2),
    "x ** 2.2": (lambda x: x**2.2, lambda x: x ** np.longdouble(np.float32(2.2)), 1),
    "x ** -2.0": (lambda x: x**-2.0, lambda x: 1 / (x * x), 1),
    "x ** 1.5": (lambda x: x**1.5, lambda x: x * np.sqrt(x), 1),
    "x ** -1.5": (lambda x: x**-1.5, lambda x: 1 / (x * np.sqrt(x)), 1),
    "x ** 2.5": (lambda x: x**2.5, lambda x: x * x * np.sqrt(x), 1),
}
"""Ours, that of 80-bit numbers, and how many operands they take."""


def numbers(count: int, seed: int) -> np.ndarray:
    """So many float32 of each kind; none infinite or NaN."""
    random = np.random.default_rng(seed)
    bits = random.integers(0, 2**32, count, dtype=np.uint64).astype(np.uint32).view(np.float32)
    found = np.concatenate(
        [bits, *(random.standard_normal(count, np.float32) * s for s in (np.float32(5), np.float32(1e4)))]
    )
    return found[np.isfinite(found) & (np.abs(found) >= np.finfo(np.float32).tiny)]


def worst(name: str, xs: tuple[np.ndarray, ...], off: bool) -> float:
    """The greatest distance from the exact result."""
    function, exact, _ = FUNCTIONS[name]
    IN_DOUBLE.off = POWERS_IN_DOUBLE.off = off
    try:
        jx.clear_caches()
        got = np.asarray(jx.jit(lambda *xs: function(*xs))(*xs))
    finally:
        IN_DOUBLE.off = POWERS_IN_DOUBLE.off = False
        jx.clear_caches()
    with np.errstate(all="ignore"):
        wanted = exact(*[x.astype(np.longdouble) for x in xs])
        nearest = wanted.astype(np.float32)
        told = np.isfinite(nearest) & np.isfinite(got) & (np.abs(nearest) >= 2 * np.finfo(np.float32).tiny)
        return float(np.max(np.abs(got - wanted)[told] / np.spacing(np.abs(nearest[told]))))


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    for name, (_, _, operands) in FUNCTIONS.items():
        columns = [numbers(count, seed) for seed in range(operands)]
        size = min(map(len, columns))
        xs = tuple(x[:size] for x in columns)
        print(f"{name:10} {worst(name, xs, False):.4f}  XLA's own {worst(name, xs, True):.4f}", flush=True)
