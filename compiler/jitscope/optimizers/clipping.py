"""Limits to the size of updates."""

from __future__ import annotations

from .. import numpy as jnp
from ..core.annotations import Number
from .base import GradientTransformation, each, global_norm, square_of_size, stateless


__all__ = ["clip", "clip_by_block_rms", "clip_by_global_norm", "zero_nans"]


def clip(max_delta: Number) -> GradientTransformation:
    """Each number between -max_delta and max_delta."""
    return stateless(lambda updates, params: each(lambda g: jnp.clip(g, -max_delta, max_delta), updates))


def clip_by_global_norm(max_norm: Number) -> GradientTransformation:
    """All updates shortened together where their Euclidean norm is above max_norm."""

    def shortened(updates, params):
        norm = global_norm(updates)
        short = norm < max_norm
        return each(lambda g: jnp.where(short, g, (g / norm.astype(g.dtype)) * max_norm), updates)

    return stateless(shortened)


def clip_by_block_rms(threshold: Number) -> GradientTransformation:
    """Each array shortened where the root of its mean square is above the threshold."""

    def shortened(g):
        return g / jnp.maximum(1.0, jnp.sqrt(jnp.mean(square_of_size(g))) / threshold)

    return stateless(lambda updates, params: each(shortened, updates))


def zero_nans() -> GradientTransformation:
    """NaNs become zeros."""
    return stateless(lambda updates, params: each(lambda g: jnp.where(jnp.isnan(g), jnp.zeros_like(g), g), updates))
