"""Windows and the sizes of stretches: what `stft`, `istft`, `csd` and `welch` are told in the same words."""

from __future__ import annotations

import functools
import importlib
import warnings
from typing import Any

import numpy as np

from ...core.avals import aval_of
from ...numpy.operands import integer


@functools.lru_cache(64)
def named_window(window: Any, size: int) -> np.ndarray:
    """The window that a word, or a tuple of a word and numbers, means to `scipy.signal.get_window`; sin² for "hann"."""
    if window == "hann":
        return np.sin(np.linspace(0, np.pi, size, endpoint=False)) ** 2 if size > 1 else np.ones(1)
    return importlib.import_module("scipy.signal").get_window(window, size)


def is_named(window: Any) -> bool:
    return isinstance(window, (str, tuple))


def whole(name: str, x: Any, what: str) -> int:
    """A Python int, also from a float. Raises ConcretizationTypeError for tracers."""
    return int(x) if isinstance(x, float) else integer(name, x, what)


def segment_size(name: str, window: Any, nperseg: Any, length: int) -> int:
    """The number of elements of a stretch of a signal of `length` elements. Raises ValueError where it does not fit the window
    or the signal; a word's window is made shorter where the signal is, with a warning."""
    size = None if nperseg is None else whole(name, nperseg, "nperseg")
    if size is not None and size < 1:
        raise ValueError(f"{name}: nperseg must be positive, not {size}")
    if not is_named(window):
        return _window_size(name, window, size, length)
    if size is not None and size > length:
        warnings.warn(
            f"{name}: nperseg={size} is more than the {length} elements of the signal: these are taken", UserWarning, 3
        )
    return length if size is None else min(size, length)


def _window_size(name: str, window: Any, size: int | None, length: int) -> int:
    shape = aval_of(window).shape if hasattr(window, "aval") else np.shape(window)
    if len(shape) != 1:
        raise ValueError(f"{name}: a window is a vector; this one has shape {shape}")
    if shape[0] > length:
        raise ValueError(f"{name}: the window has {shape[0]} elements, the signal only {length}")
    if size not in (None, shape[0]):
        raise ValueError(f"{name}: the window has {shape[0]} elements, nperseg is {size}")
    return shape[0]
