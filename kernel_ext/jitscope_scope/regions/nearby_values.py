"""Values near those that were seen: floating numbers moved by a small share, whole numbers and truth values kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from . import ties
from .homes import attributes_of, data_of, is_array, is_users_object, keep_attributes
from .watching import snapshot


MOVED = 1e-3
"""The share of a floating number by which it is moved at most."""
Share = Callable[[np.ndarray], np.ndarray]
"""What each element of an array is multiplied by."""
_TOLERANCES = frozenset("tol eps epsilon rtol atol tolerance".split())
"""Names of numbers that stay as they are: moved, a loop that stops by value may stop elsewhere for good reasons."""


def perturbed(
    values: Mapping[str, object], seed: int, in_range: bool = False, by: float = MOVED, alike: bool = False
) -> dict[str, object]:
    """The same names with nearby values: floating numbers moved by up to a share `by`, whole numbers and truth values kept. With
    `in_range` numbers that stand alone stay themselves, and arrays stay between their smallest and largest value; with `alike` equal ones stay equal."""
    random = np.random.default_rng(seed)
    share: Share = lambda x: 1 + by * (ties.share(x, seed) if alike else random.uniform(-1, 1, x.shape))
    moved = {n: v if n in _TOLERANCES else _moved(v, share) for n, v in snapshot(values).items()}
    return {n: _held_in(values[n], v) for n, v in moved.items()} if in_range else moved


def _held_in(value: object, moved: object) -> object:
    """The array that was moved, between the smallest and the largest value that it had before."""
    if isinstance(value, (float, np.floating)):
        return value
    if isinstance(value, np.ndarray) and isinstance(moved, np.ndarray) and value.dtype.kind == "f" and value.size:
        np.clip(moved, value.min(), value.max(), out=moved)
    return moved


def _moved(value: object, share: Share) -> object:
    if isinstance(value, (float, np.floating)):
        return type(value)(value * float(share(np.array(value))))
    if isinstance(value, np.ndarray) and value.dtype.kind in "fc":
        value *= share(value).astype(value.real.dtype)
    elif is_array(value) and data_of(value) is value and np.dtype(value.dtype).kind in "fc":  # type: ignore[attr-defined]
        x = np.asarray(value)
        return value * share(x).astype(x.real.dtype)  # type: ignore[operator]
    elif type(value) is list:
        value[:] = [_moved(v, share) for v in value]
    elif type(value) is dict:
        value.update({k: _moved(v, share) for k, v in value.items()})
    elif is_users_object(value):
        keep_attributes(value, {k: _moved(v, share) for k, v in attributes_of(value).items()})
    return value
