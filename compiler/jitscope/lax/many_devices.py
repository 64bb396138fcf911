"""Sends from one device to another, which XLA's runtime for CPUs does not have, and which say so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def psend(x: Any, axis_name: Any, perm: Sequence[tuple[int, int]]) -> Any:
    """`x` sent to other devices. Raises NotImplementedError: devices of this release's clients exchange all together."""
    raise _none("psend")


def precv(token: Any, out_shape: Any, axis_name: Any, perm: Sequence[tuple[int, int]]) -> Any:
    """What other devices sent. Raises NotImplementedError: devices of this release's clients exchange all together."""
    raise _none("precv")


def _none(name: str) -> NotImplementedError:
    return NotImplementedError(
        f"lax.{name} is an operation of GPUs: XLA's runtime for CPUs has no sends of one device to another. What to do: "
        "lax.ppermute(x, axis_name, perm) sends and receives in one operation"
    )
