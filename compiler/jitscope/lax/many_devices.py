"""Sends from one device to another, which XLA's runtime for CPUs does not have, and which say so."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NoReturn

from ..core.annotations import PyTree


def psend(x: PyTree, axis_name: Hashable, perm: Sequence[tuple[int, int]]) -> NoReturn:
    """`x` sent to other devices. Raises NotImplementedError: devices of this release's clients exchange all together."""
    raise _none("psend")


def precv(token: PyTree, out_shape: PyTree, axis_name: Hashable, perm: Sequence[tuple[int, int]]) -> NoReturn:
    """What other devices sent. Raises NotImplementedError: devices of this release's clients exchange all together."""
    raise _none("precv")


def _none(name: str) -> NotImplementedError:
    return NotImplementedError(
        f"lax.{name} is an operation of GPUs: XLA's runtime for CPUs has no sends of one device to another. What to do: "
        "lax.ppermute(x, axis_name, perm) sends and receives in one operation"
    )
