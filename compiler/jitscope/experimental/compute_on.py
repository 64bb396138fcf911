"""`jitscope.experimental.compute_on`: where a part of a program runs. On a CPU that is where all of it runs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


__all__ = ["compute_on"]


def compute_on(
    f: Callable[..., Any] | None = None,
    *,
    compute_type: str,
    out_memory_spaces: Any,
    compiler_options: dict[str, Any] | None = None,
) -> Callable[..., Any]:
    """A function that runs on the host ("device_host") or on the device ("device"), its results in the given memories. On a CPU these are
    the same, so that it changes nothing. Also a decorator. Raises TypeError for what is no text, ValueError for other places."""
    if not isinstance(compute_type, str):
        raise TypeError(f"compute_on: compute_type is a text, not {type(compute_type).__name__}")
    if compute_type not in ("device_host", "device"):
        raise ValueError(
            f"compute_on: this release runs on CPUs, which have 'device_host' and 'device', not {compute_type!r}"
        )
    if f is None:
        return functools.partial(
            compute_on,
            compute_type=compute_type,
            out_memory_spaces=out_memory_spaces,
            compiler_options=compiler_options,
        )
    if not callable(f):
        raise TypeError(f"compute_on takes a function, not {f!r}: the place is compute_type=...")
    return f
