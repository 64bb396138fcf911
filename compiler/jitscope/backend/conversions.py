"""How long it took to make arrays of large NumPy values: the first call of a function says so beside its other steps."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

import numpy as np


LARGE = 1 << 20
"""Bytes from which on it is noted."""
_MOST = 64
_noted: OrderedDict[int, tuple[weakref.ref[np.ndarray], float]] = OrderedDict()


def note(value: np.ndarray, seconds: float) -> None:
    """An array was made of a value. Holds neither of them."""
    _noted[id(value)] = weakref.ref(value), seconds
    while len(_noted) > _MOST:
        _noted.popitem(last=False)


def seconds_of(values: Iterable[Any]) -> float:
    """The seconds that were noted for these values, for the last time each; they are not told again."""
    found = {id(x): x for x in values if type(x) is np.ndarray and x.nbytes >= LARGE}
    told = [(x, _noted.pop(key, None)) for key, x in found.items()]
    return sum(entry[1] for x, entry in told if entry is not None and entry[0]() is x)
