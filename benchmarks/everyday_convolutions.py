"""Everyday steps of networks with other convolutions than those of whole images and all features: one window for each feature, groups, three axes in space,
transposed ones. PyTorch's images and windows are those of the other libraries, with their axes turned without a copy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everyday_arrays import Compiled, normal, value_and_grad_torch


def _convolution(J: Any, axes: str = "HW", **more: Any) -> Callable[..., Any]:
    numbers = f"N{axes}C", f"{axes}IO", f"N{axes}C"
    ones = (1,) * len(axes)

    def convolution(x, w):
        return J.lax.conv_general_dilated(x, w, ones, "SAME", dimension_numbers=numbers, **more)

    return convolution


def _square(jnp: Any, x: Any) -> Any:
    return jnp.mean(x * x)


def depthwise(J: Any, jnp: Any) -> Callable[..., Any]:
    """The gradient of an inverted residual block, as in MobileNet and EfficientNet."""
    window = _convolution(J, feature_group_count=128)

    def loss(p, x):
        h = jnp.clip(x @ p["wide"], 0.0, 6.0)
        h = jnp.clip(window(h, p["each"]), 0.0, 6.0)
        return _square(jnp, x + h @ p["narrow"])

    return J.value_and_grad(loss)


def depthwise_torch(torch: Any, compiled: Compiled) -> Callable[..., Any]:
    def loss(p, x):
        h = torch.clip(x @ p["wide"], 0.0, 6.0).permute(0, 3, 1, 2)
        h = torch.nn.functional.conv2d(h, p["each"].permute(3, 2, 0, 1), padding=1, groups=128)
        return _square(torch, x + torch.clip(h, 0.0, 6.0).permute(0, 2, 3, 1) @ p["narrow"])

    return compiled(value_and_grad_torch(torch, loss))


def depthwise_arguments() -> tuple:
    sizes = {"wide": (32, 128), "each": (3, 3, 1, 128), "narrow": (128, 32)}
    return {k: normal(i, *size, scale=0.1) for i, (k, size) in enumerate(sizes.items())}, normal(9, 8, 28, 28, 32)


def groups(J: Any, jnp: Any) -> Callable[..., Any]:
    """The gradient of a block with groups of features, as in ResNeXt."""
    window = _convolution(J, feature_group_count=8)

    def loss(p, x):
        h = jnp.maximum(window(jnp.maximum(x @ p["in"], 0.0), p["groups"]), 0.0)
        return _square(jnp, x + h @ p["out"])

    return J.value_and_grad(loss)


def groups_torch(torch: Any, compiled: Compiled) -> Callable[..., Any]:
    def loss(p, x):
        h = torch.relu(x @ p["in"]).permute(0, 3, 1, 2)
        h = torch.nn.functional.conv2d(h, p["groups"].permute(3, 2, 0, 1), padding=1, groups=8)
        return _square(torch, x + torch.relu(h).permute(0, 2, 3, 1) @ p["out"])

    return compiled(value_and_grad_torch(torch, loss))


def groups_arguments() -> tuple:
    sizes = {"in": (64, 128), "groups": (3, 3, 16, 128), "out": (128, 64)}
    return {k: normal(i, *size, scale=0.1) for i, (k, size) in enumerate(sizes.items())}, normal(9, 4, 28, 28, 64)


def decoder(J: Any, jnp: Any) -> Callable[..., Any]:
    """The gradient of two transposed convolutions, as in an image's generator."""

    def larger(x, w):
        return J.lax.conv_transpose(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def loss(p, x):
        return _square(jnp, jnp.tanh(larger(jnp.maximum(larger(x, p["first"]), 0.0), p["second"])))

    return J.value_and_grad(loss)


def decoder_torch(torch: Any, compiled: Compiled) -> Callable[..., Any]:
    def larger(x, w):  # PyTorch turns the window round
        return torch.nn.functional.conv_transpose2d(x, w.flip(0, 1).permute(2, 3, 0, 1), stride=2, padding=1)

    def loss(p, x):
        h = torch.relu(larger(x.permute(0, 3, 1, 2), p["first"]))
        return _square(torch, torch.tanh(larger(h, p["second"])))

    return compiled(value_and_grad_torch(torch, loss))


def decoder_arguments() -> tuple:
    params = {"first": normal(0, 4, 4, 64, 32, scale=0.05), "second": normal(1, 4, 4, 32, 3, scale=0.05)}
    return params, normal(2, 16, 8, 8, 64)


def volumes(J: Any, jnp: Any) -> Callable[..., Any]:
    """The gradient of two convolutions of volumes, as in medical images."""
    window = _convolution(J, "DHW")

    def loss(p, x):
        return _square(jnp, window(jnp.maximum(window(x, p["first"]), 0.0), p["second"]))

    return J.value_and_grad(loss)


def volumes_torch(torch: Any, compiled: Compiled) -> Callable[..., Any]:
    def window(x, w):
        return torch.nn.functional.conv3d(x, w.permute(4, 3, 0, 1, 2), padding=1)

    def loss(p, x):
        h = torch.relu(window(x.permute(0, 4, 1, 2, 3), p["first"]))
        return _square(torch, window(h, p["second"]))

    return compiled(value_and_grad_torch(torch, loss))


def volumes_arguments() -> tuple:
    params = {"first": normal(0, 3, 3, 3, 8, 16, scale=0.1), "second": normal(1, 3, 3, 3, 16, 8, scale=0.1)}
    return params, normal(2, 2, 16, 16, 16, 8)


def group_norm(J: Any, jnp: Any) -> Callable[..., Any]:
    """Normalization by groups of features, as in networks for images whose batches are small."""

    def normalized(x, scale, shift):
        n, height, width, features = x.shape
        parts = x.reshape(n, height, width, 8, features // 8)
        mean, variance = (f(parts, (1, 2, 4), keepdims=True) for f in (jnp.mean, jnp.var))
        return ((parts - mean) / jnp.sqrt(variance + 1e-5)).reshape(x.shape) * scale + shift

    return normalized


def group_norm_torch(torch: Any, compiled: Compiled) -> Callable[..., Any]:
    def normalized(x, scale, shift):
        return torch.nn.functional.group_norm(x.permute(0, 3, 1, 2), 8, scale, shift).permute(0, 2, 3, 1)

    return compiled(normalized)
