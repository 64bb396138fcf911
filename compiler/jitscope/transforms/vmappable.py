"""Types of values that say themselves what one example of them is, and how examples come together: what
`interpreters.batching.register_vmappable` was told. `api.vmappable` maps over them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..named_tuple import NamedTuple


class Kind(NamedTuple):
    """`to_elt(cont, get_idx, x, spec)` gives one example of `x`: `cont(part, axis)` is that of a part along its axis.
    `from_elt(cont, axis_size, x, spec)` is the way back, with `cont(axis_size, part, axis)`. `spec_type` is the type of the
    entries of `in_axes` and `out_axes` for such values."""

    spec_type: type
    axis_size_type: type
    to_elt: Callable[..., Any]
    from_elt: Callable[..., Any]


kinds: dict[type, Kind] = {}
make_iota: dict[type, Callable[[Any], Any]] = {}
"""How the numbers of the examples are made, by the type of an axis' size."""


def is_vmappable(x: Any) -> bool:
    """Whether a value is of such a type."""
    return type(x) in kinds


def is_spec(x: Any) -> bool:
    """Whether a value says how one of such a type is mapped."""
    return any(type(x) is kind.spec_type for kind in kinds.values())
