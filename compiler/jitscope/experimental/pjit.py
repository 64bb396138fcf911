"""`jitscope.experimental.pjit`: the older name of `jit`."""

from __future__ import annotations

import warnings
from typing import Any

from ..api.jit import jit


def __getattr__(name: str) -> Any:
    if name != "pjit":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warnings.warn("experimental.pjit.pjit is jit: write that", DeprecationWarning, stacklevel=2)
    return jit


__all__ = ["pjit"]  # noqa: F822  # pyright: ignore[reportUnsupportedDunderAll]
