"""The key of a call: what is known of it without flattening all of it, tracing or looking at a device.

A key holds the options in force, the names of arguments by name, and for each argument its aval (arrays and numbers), its
structure and the avals of its leaves (trees), or its type and value (static arguments).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import tree
from ..core.config import settings
from .array import Array, array_from_numpy, scalar_array, to_array
from .static import StaticSpec, is_static_kind


MAKERS: dict[type, Callable[[Any], Array]] = {
    np.ndarray: array_from_numpy,
    **dict.fromkeys((float, int, bool, complex), scalar_array),
}
"""What is always data, and how it becomes an array."""


def call_key(spec: StaticSpec, auto: bool, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, list[Any]] | None:
    """The key of a call and the buffers of its arrays, in the order they are written in. `auto`: arguments whose kind says so
    are static (`is_static_kind`), and a call without any array has no key.

    None for a call with anything else than arrays, numbers, trees of those and static values.
    """
    key: list[Any] = [settings(), len(args), *kwargs]
    bufs: list[Any] = []
    static = spec.static_among(len(args)) if spec.from_the_end else spec.static
    for i, x in enumerate(args):
        if i in static:
            key += type(x), x
        elif type(x) is Array:
            key.append(x.aval)
            bufs.append(x.buf)
        elif not _add(key, bufs, x, auto):
            return None
    for name in kwargs:
        if name in static:
            key += type(kwargs[name]), kwargs[name]
        elif not _add(key, bufs, kwargs[name], auto):
            return None
    return None if auto and not bufs else (tuple(key), bufs)


def _add(key: list[Any], bufs: list[Any], x: Any, auto: bool) -> bool:
    """Add what is not static by its place; False where that cannot be done."""
    kind = type(x)
    if kind is Array:
        key.append(x.aval)
        bufs.append(x.buf)
        return True
    if auto and is_static_kind(x):
        key += kind, x
        return True
    make = MAKERS.get(kind)
    if make is not None:
        try:
            x = make(x)
        except (TypeError, OverflowError):
            return False
        key.append(x.aval)
        bufs.append(x.buf)
        return True
    leaves, structure = tree.flatten_leaves(x)
    key.append(structure)
    try:
        avals, found = [leaf.aval for leaf in leaves], [leaf.buf for leaf in leaves]
    except AttributeError:  # not all of them are arrays yet
        try:
            leaves = list(map(to_array, leaves))
            avals, found = [leaf.aval for leaf in leaves], [leaf.buf for leaf in leaves]
        except (TypeError, OverflowError, AttributeError):
            return False
    key += avals
    bufs += found
    return True
