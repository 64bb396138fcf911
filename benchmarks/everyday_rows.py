"""Everyday programs on many short rows: columns, points, colours, classes, features of few units. Their forms with NumPy and PyTorch are where
these say the same in one line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from everyday_arrays import Compiled, normal


def _places(count: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(count).integers(0, count, shape).astype(np.int32)


def columns(J: Any, jnp: Any) -> Callable[..., Any]:
    """The mean square error of two columns, and its greatest term."""
    return lambda x, y: (jnp.mean((x - y) ** 2), jnp.max(jnp.abs(x - y)))


def columns_torch(torch: Any, compiled: Compiled) -> Callable[..., Any]:
    return compiled(lambda x, y: (torch.mean((x - y) ** 2), torch.max(torch.abs(x - y))))


def columns_arguments() -> tuple:
    return normal(0, 100_000, 1), normal(1, 100_000, 1)


def points(J: Any, jnp: Any) -> Callable[..., Any]:
    """The distances of points from their centre, and their extent along each axis."""

    def measured(x):
        return jnp.sqrt(jnp.sum((x - jnp.mean(x, 0)) ** 2, -1)), jnp.max(x, 0) - jnp.min(x, 0)

    return measured


def points_torch(torch: Any, compiled: Compiled) -> Callable[..., Any]:
    return compiled(lambda x: (torch.sqrt(torch.sum((x - x.mean(0)) ** 2, -1)), x.amax(0) - x.amin(0)))


def likelihood(J: Any, jnp: Any) -> Callable[..., Any]:
    """The logarithm of the likelihood of draws from groups of normals."""
    return lambda mean, scale, group, y: jnp.sum(
        -0.5 * ((y - mean[group]) * jnp.exp(-scale[group])) ** 2 - scale[group]
    )


def likelihood_torch(torch: Any, compiled: Compiled) -> Callable[..., Any]:
    def total(mean, scale, group, y):
        own = scale[group]
        return torch.sum(-0.5 * ((y - mean[group]) * torch.exp(-own)) ** 2 - own)

    return compiled(total)


def likelihood_arguments() -> tuple:
    return normal(0, 50), normal(1, 50, scale=0.1), _places(50, 100_000), normal(2, 100_000)


def mixture(J: Any, jnp: Any) -> Callable[..., Any]:
    """The logarithm of the likelihood of points in a mixture of normals in the plane."""

    def total(x, means):
        logs = -0.5 * jnp.sum((x[:, None] - means) ** 2, -1)
        top = jnp.max(logs, 1)
        return jnp.sum(top + jnp.log(jnp.sum(jnp.exp(logs - top[:, None]), 1)))

    return total


def mixture_torch(torch: Any, compiled: Compiled) -> Callable[..., Any]:
    return compiled(lambda x, means: torch.logsumexp(-0.5 * ((x[:, None] - means) ** 2).sum(-1), 1).sum())


def colours(J: Any, jnp: Any) -> Callable[..., Any]:
    """An image with another gamma, and its grey."""

    def changed(image):
        bright = jnp.clip(image, 0.0, 1.0) ** 2.2 * 0.9 + 0.05
        return bright, jnp.mean(bright, -1)

    return changed


def colours_torch(torch: Any, compiled: Compiled) -> Callable[..., Any]:
    def changed(image):
        bright = torch.clip(image, 0.0, 1.0) ** 2.2 * 0.9 + 0.05
        return bright, bright.mean(-1)

    return compiled(changed)


def units(J: Any, jnp: Any) -> Callable[..., Any]:
    """Two dense layers of 16 units for many rows."""
    return lambda x, w, b: jnp.maximum(jnp.maximum(x @ w + b, 0) @ w + b, 0)


def units_torch(torch: Any, compiled: Compiled) -> Callable[..., Any]:
    return compiled(lambda x, w, b: torch.relu(torch.relu(x @ w + b) @ w + b))


def units_arguments() -> tuple:
    return normal(0, 50_000, 16), normal(1, 16, 16, scale=0.3), normal(2, 16)


def medians(J: Any, jnp: Any) -> Callable[..., Any]:
    """The median of seven images."""
    return lambda images: jnp.median(images, 0)


def medians_torch(torch: Any, compiled: Compiled) -> Callable[..., Any]:
    return compiled(lambda images: torch.median(images, 0).values)


def experts(J: Any, jnp: Any) -> Callable[..., Any]:
    """The weights of two experts of eight, for each token."""

    def chosen(logits):
        best, _ = J.lax.top_k(logits, 2)
        parts = jnp.exp(best - best[:, :1])
        return parts / jnp.sum(parts, -1, keepdims=True)

    return chosen


def experts_torch(torch: Any, compiled: Compiled) -> Callable[..., Any]:
    return compiled(lambda logits: torch.softmax(torch.topk(logits, 2).values, -1))
