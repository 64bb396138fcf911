"""The key of a call: what is known of it without flattening all of it, tracing or looking at a device.

A key holds the options in force, and for each argument its aval (arrays and numbers), its structure and the avals of its leaves
(trees), or its type and value (static arguments); those by name behind their name.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import tree
from ..core.config import settings
from .array import Array, to_array
from .static import StaticSpec, is_static_kind


_NUMBERS = frozenset({float, int, bool, complex, np.ndarray})


def call_key(spec: StaticSpec, auto: bool, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, list[Any]] | None:
    """The key of a call and the buffers of its arrays, in the order they are written in. `auto`: arguments whose kind says so
    are static (`is_static_kind`), and a call without any array has no key.

    None for a call with anything else than arrays, numbers, trees of those and static values.
    """
    key: list[Any] = [settings(), len(args)]
    bufs: list[Any] = []
    static, names = spec.positions, spec.names
    if spec.from_the_end:
        static = spec.static_positions(len(args))
    for i, x in enumerate(args):
        if i in static:
            key.append((type(x), x))
        elif type(x) is Array:
            key.append(x.aval)
            bufs.append(x.buf)
        elif not _add(key, bufs, x, auto):
            return None
    for name, x in kwargs.items():
        key.append(name)
        if name in names:
            key.append((type(x), x))
        elif type(x) is Array:
            key.append(x.aval)
            bufs.append(x.buf)
        elif not _add(key, bufs, x, auto):
            return None
    return None if auto and not bufs else (tuple(key), bufs)


def _add(key: list[Any], bufs: list[Any], x: Any, auto: bool) -> bool:
    """Add what is no array, or not one alone; False where that cannot be done."""
    kind = type(x)
    if auto and is_static_kind(x):
        key.append((kind, x))
        return True
    if kind in _NUMBERS:
        try:
            x = to_array(x)
        except (TypeError, OverflowError):
            return False
    if type(x) is Array:
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
