"""Generators of NumPy's and Python's random numbers that are made while tracing, of no seed."""

from __future__ import annotations

from collections.abc import Iterator

from ..code.walk import Event, Walk
from ..diagnostic import Diagnostic
from .diagnostics import diagnostic, short


_MADE = {"numpy.random.default_rng", "numpy.random.RandomState", "random.Random"}


def unseeded(event: Event, walk: Walk) -> Iterator[Diagnostic]:
    """host-nondeterminism of `np.random.default_rng().normal()`: what it gives is a constant of the program. One of a fixed seed gives
    the same without `jit`."""
    traced = event.region.traced
    if event.what != "call" or event.dotted not in _MADE or event.node.args or event.node.keywords:
        return
    if traced is None or not traced.kept:
        return
    what = short(walk.code, event.node)
    if traced.by == "vmap":
        message = f"`{what}` is made once for all rows: each row has the same random numbers."
        fix = "Map over keys as well, and draw with jax.random: jax.vmap(f)(jax.random.split(key, n), xs)."
    else:
        message = (
            f"`{what}` is made once, while tracing: every call of the compiled function has the same random numbers."
        )
        fix = "Take a key as an argument and use jax.random; or pass the numbers as an argument."
    yield diagnostic(walk.code, "host-nondeterminism", event.node, message, fix)
