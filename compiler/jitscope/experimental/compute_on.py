"""`jitscope.experimental.compute_on`: where a part of a program runs. On a CPU that is where all of it runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


__all__ = ["compute_on"]


@contextmanager
def compute_on(compute_type: str) -> Iterator[None]:
    """Context manager, or decorator: what is computed inside runs on the host ("device_host") or on the device ("device"). On a CPU
    these are the same, so that it changes nothing. Raises TypeError for what is no text, ValueError for other places."""
    if not isinstance(compute_type, str):
        raise TypeError(f"compute_on: compute_type is a text, not {type(compute_type).__name__}")
    if compute_type not in ("device_host", "device"):
        raise ValueError(
            f"compute_on: this release runs on CPUs, which have 'device_host' and 'device', not {compute_type!r}"
        )
    yield
