"""A training step of a small residual network with batch normalization: the gradient, then momentum."""

import numpy as np

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax, nn


def conv(x, window, stride=1):
    dims = ("NHWC", "HWIO", "NHWC")
    return lax.conv_general_dilated(x, window, (stride, stride), "SAME", dimension_numbers=dims)


def batch_norm(x, scale, shift):
    mean, variance = x.mean(axis=(0, 1, 2)), x.var(axis=(0, 1, 2))
    return (x - mean) / jnp.sqrt(variance + 1e-5) * scale + shift


def residual(x, p, stride):
    y = nn.relu(batch_norm(conv(x, p["conv1"], stride), p["scale1"], p["shift1"]))
    y = batch_norm(conv(y, p["conv2"]), p["scale2"], p["shift2"])
    shortcut = conv(x, p["project"], stride) if "project" in p else x
    return nn.relu(y + shortcut)


def network(params, images):
    x = nn.relu(conv(images, params["stem"]))
    for i, stage in enumerate(params["stages"]):
        for j, block in enumerate(stage):
            x = residual(x, block, stride=2 if i > 0 and j == 0 else 1)
    return x.mean(axis=(1, 2)) @ params["head"]


def cross_entropy(params, images, labels):
    scores = nn.log_softmax(network(params, images))
    return -jnp.take_along_axis(scores, labels[:, None], axis=1).mean()


def program(params, momentum, images, labels):
    value, gradient = jx.value_and_grad(cross_entropy)(params, images, labels)
    momentum = jx.tree.map(lambda m, g: 0.9 * m + g, momentum, gradient)
    params = jx.tree.map(lambda p, m: p - 0.1 * m, params, momentum)
    return params, momentum, value


def arguments(batch=4, size=16, widths=(8, 16, 32), blocks=2, classes=10):
    random = np.random.default_rng(0)
    window = lambda k, i, o: random.normal(0, (2 / (k * k * i)) ** 0.5, (k, k, i, o)).astype(np.float32)

    def block(before, width):
        p = {"conv1": window(3, before, width), "conv2": window(3, width, width)}
        p |= {f"scale{i}": np.ones(width, np.float32) for i in (1, 2)}
        p |= {f"shift{i}": np.zeros(width, np.float32) for i in (1, 2)}
        return p | ({"project": window(1, before, width)} if before != width else {})

    before = (widths[0], *widths)
    stages = [[block(before[i] if j == 0 else w, w) for j in range(blocks)] for i, w in enumerate(widths)]
    head = random.normal(0, 0.1, (widths[-1], classes)).astype(np.float32)
    params = {"stem": window(3, 3, widths[0]), "stages": stages, "head": head}
    images = random.normal(0, 1, (batch, size, size, 3)).astype(np.float32)
    labels = random.integers(0, classes, batch).astype(np.int32)
    return params, jx.tree.map(np.zeros_like, params), images, labels
