"""How many candidates XLA's approximate search keeps."""

from __future__ import annotations

from .runtime import _jax


def candidates(size: int, rank: int, k: int, recall_target: float, override: int) -> int:
    """The number of elements out of `size` among which the `k` greatest lie with the probability `recall_target`, along one
    axis of an array of `rank` axes. `override`: the size of the whole search, of which this is a part (-1: this is all)."""
    return int(_jax.approx_top_k_reduction_output_size(size, rank, k, recall_target, False, override)[0])
