"""Exchanges between devices that come in a later release, and say so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.errors import later


def psend(x: Any, axis_name: Any, perm: Sequence[tuple[int, int]]) -> Any:
    """`x` sent to other devices. Raises NotImplementedError: it comes in a later release."""
    raise later("lax.psend")


def precv(token: Any, out_shape: Any, axis_name: Any, perm: Sequence[tuple[int, int]]) -> Any:
    """What other devices sent. Raises NotImplementedError: it comes in a later release."""
    raise later("lax.precv")


def ragged_all_to_all(
    operand: Any, output: Any, input_offsets: Any, send_sizes: Any, output_offsets: Any, recv_sizes: Any, *,
    axis_name: Any, axis_index_groups: Any = None,
) -> Any:  # fmt: skip
    """Parts of `operand` of different sizes sent to the other devices. Raises NotImplementedError: it comes in a later
    release."""
    raise later("lax.ragged_all_to_all")
