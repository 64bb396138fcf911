"""Everyday programs in the forms of several libraries: one text for jitscope and jax (`make(J, jnp)`), one each for NumPy, PyTorch and numba
where people would write it with them. All take the same arrays and give the same numbers.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from everyday_arrays import (
    Compiled,
    edges,
    fft_filter,
    fft_filter_numpy,
    fft_filter_torch,
    gather_scatter,
    gather_scatter_numba,
    gather_scatter_numpy,
    gather_scatter_torch,
    heat,
    heat_numba,
    heat_numpy,
    heat_torch,
    k_means,
    k_means_numba,
    k_means_numpy,
    k_means_torch,
    kalman,
    kalman_numpy,
    kalman_torch,
    normal,
    ranks,
    ranks_numpy,
    ranks_torch,
    running,
    running_numba,
    small_matrices,
    value_and_grad_torch,
)
from everyday_convolutions import (
    decoder,
    decoder_arguments,
    decoder_torch,
    depthwise,
    depthwise_arguments,
    depthwise_torch,
    group_norm,
    group_norm_torch,
    groups,
    groups_arguments,
    groups_torch,
    volumes,
    volumes_arguments,
    volumes_torch,
)
from everyday_rows import (
    colours,
    colours_torch,
    columns,
    columns_arguments,
    columns_torch,
    experts,
    experts_torch,
    likelihood,
    likelihood_arguments,
    likelihood_torch,
    medians,
    medians_torch,
    mixture,
    mixture_torch,
    points,
    points_torch,
    units,
    units_arguments,
    units_torch,
)
from programs import PROGRAMS


sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples" / "programs"))

import allconv
import black_scholes
import nbody


Make = Callable[[Any], Callable[..., Any]]


class Everyday(NamedTuple):
    """`make(J, jnp)`, and the same with NumPy, with torch and with numba: each gives a function of the `arguments()`. That with torch
    gets what compiles a function: the whole, or the step of a loop, which torch would write out."""

    title: str
    make: Callable[[Any, Any], Callable[..., Any]]
    arguments: Callable[[], tuple]
    numpy: Make | None = None
    torch: Callable[[Any, Compiled], Callable[..., Any]] | None = None
    numba: Make | None = None
    budget: float | None = None


# Those of the other benchmarks -----------------------------------------------------------------------------------------


def mlp_torch(torch: Any, compiled: Compiled) -> Callable[..., Any]:
    def loss(params, x, y):
        for layer in params:
            x = torch.tanh(x @ layer["w"] + layer["b"])
        return torch.mean((x - y) ** 2)

    return compiled(value_and_grad_torch(torch, loss))


def transformer_torch(torch: Any, compiled: Compiled) -> Callable[..., Any]:
    def heads(x):
        return x.reshape(4, 64, 4, 32).transpose(1, 2)

    def normalize(x, scale, shift):
        return torch.nn.functional.layer_norm(x, (x.shape[-1],), scale, shift, 1e-5)

    def attention(p, x):
        q, k, v = heads(x @ p["q"]), heads(x @ p["k"]), heads(x @ p["v"])
        scores = q @ k.transpose(-1, -2) / 32**0.5
        past = torch.ones(64, 64, dtype=torch.bool).tril()
        weights = torch.softmax(torch.where(past, scores, torch.tensor(-1e9)), -1)
        return (weights @ v).transpose(1, 2).reshape(4, 64, 128) @ p["o"]

    def loss(p, x, y):
        x = x + attention(p, normalize(x, p["scale1"], p["shift1"]))
        h = torch.nn.functional.gelu(
            normalize(x, p["scale2"], p["shift2"]) @ p["up"] + p["up_bias"], approximate="tanh"
        )
        x = x + h @ p["down"] + p["down_bias"]
        return torch.mean((x - y) ** 2)

    return compiled(value_and_grad_torch(torch, loss))


def selu_torch(torch: Any, compiled: Compiled) -> Callable[..., Any]:
    def layer(w, b, x):
        y = x @ w + b
        return 1.0507 * torch.where(y > 0, y, 1.6733 * (torch.exp(y) - 1.0))

    return compiled(layer)


def selu_numpy(np: Any) -> Callable[..., Any]:
    def layer(w, b, x):
        y = x @ w + b
        return np.float32(1.0507) * np.where(y > 0, y, np.float32(1.6733) * (np.exp(y) - np.float32(1.0)))

    return layer


def nbody_torch(torch: Any, compiled: Compiled) -> Callable[..., Any]:
    def acceleration(x, masses):
        between = x[None, :, :] - x[:, None, :]
        squares = torch.sum(between**2, -1) + nbody.SOFTENING**2
        return torch.einsum("ij,ijk->ik", masses / (squares * torch.sqrt(squares)), between)

    @compiled
    def leap(x, v, a, masses):
        v = v + 0.5 * nbody.STEP * a
        x = x + nbody.STEP * v
        a = acceleration(x, masses)
        return x, v + 0.5 * nbody.STEP * a, a

    def simulate(x, v, masses):
        a = acceleration(x, masses)
        for _ in range(nbody.STEPS):
            x, v, a = leap(x, v, a, masses)
        return x, v

    return simulate


def nbody_numba(numba: Any) -> Callable[..., Any]:
    softening, step, steps = np.float32(nbody.SOFTENING**2), np.float32(nbody.STEP), nbody.STEPS
    half = np.float32(0.5 * nbody.STEP)

    @numba.njit(fastmath=True)
    def acceleration(x, masses, a):
        n = x.shape[1]
        for i in range(n):
            ax = ay = az = np.float32(0)
            for j in range(n):
                dx, dy, dz = x[0, j] - x[0, i], x[1, j] - x[1, i], x[2, j] - x[2, i]
                squares = dx * dx + dy * dy + dz * dz + softening
                weight = masses[j] / (squares * np.sqrt(squares))
                ax += weight * dx
                ay += weight * dy
                az += weight * dz
            a[0, i], a[1, i], a[2, i] = ax, ay, az

    @numba.njit(fastmath=True)
    def simulate(positions, velocities, masses):
        x, v = np.ascontiguousarray(positions.T), np.ascontiguousarray(velocities.T)
        a = np.empty_like(x)
        acceleration(x, masses, a)
        for _ in range(steps):
            v += half * a
            x += step * v
            acceleration(x, masses, a)
            v += half * a
        return np.ascontiguousarray(x.T), np.ascontiguousarray(v.T)

    return simulate


def black_scholes_torch(torch: Any, compiled: Compiled) -> Callable[..., Any]:
    """Delta, gamma and vega in closed form."""

    def normal(x):
        return 0.5 * (1.0 + torch.erf(x * 0.5**0.5))

    def prices(spot, strike, years, rate, volatility):
        root = torch.sqrt(years)
        spread = volatility * root
        d1 = (torch.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / spread
        delta, density = normal(d1), torch.exp(-0.5 * d1 * d1) * (2 * math.pi) ** -0.5
        value = spot * delta - strike * torch.exp(-rate * years) * normal(d1 - spread)
        return value, delta, density / (spot * spread), spot * density * root

    return compiled(prices)


def black_scholes_numba(numba: Any) -> Callable[..., Any]:
    one, half = np.float32(1), np.float32(0.5)
    inverse_root, density_at_0 = np.float32(0.5**0.5), np.float32((2 * math.pi) ** -0.5)

    @numba.njit(fastmath=True)
    def prices(spot, strike, years, rate, volatility):
        value, delta, gamma, vega = np.empty_like(spot), np.empty_like(spot), np.empty_like(spot), np.empty_like(spot)
        for i in range(spot.size):
            root = np.sqrt(years[i])
            spread = volatility[i] * root
            d1 = (np.log(spot[i] / strike[i]) + (rate[i] + half * volatility[i] * volatility[i]) * years[i]) / spread
            delta[i] = half * (one + np.float32(math.erf(d1 * inverse_root)))
            density = np.exp(-half * d1 * d1) * density_at_0
            other = half * (one + np.float32(math.erf((d1 - spread) * inverse_root)))
            value[i] = spot[i] * delta[i] - strike[i] * np.exp(-rate[i] * years[i]) * other
            gamma[i] = density / (spot[i] * spread)
            vega[i] = spot[i] * density * root
        return value, delta, gamma, vega

    return prices


# Networks --------------------------------------------------------------------------------------------------------------


def _convolution(J: Any) -> Callable[..., Any]:
    layout = ("NHWC", "HWIO", "NHWC")
    return lambda x, w, stride=1: J.lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=layout)


def resnet(J: Any, jnp: Any) -> Callable[..., Any]:
    convolution = _convolution(J)

    def normalized(x, scale, shift):
        mean, variance = jnp.mean(x, (0, 1, 2)), jnp.var(x, (0, 1, 2))
        return (x - mean) / jnp.sqrt(variance + 1e-5) * scale + shift

    def loss(p, x, y):
        h = jnp.maximum(normalized(convolution(x, p["w1"]), p["s1"], p["b1"]), 0.0)
        h = normalized(convolution(h, p["w2"]), p["s2"], p["b2"])
        return jnp.mean((jnp.maximum(x + h, 0.0) - y) ** 2)

    return J.value_and_grad(loss)


def resnet_arguments() -> tuple:
    params = {f"w{i}": normal(i, 3, 3, 64, 64, scale=0.04) for i in (1, 2)}
    params |= {f"s{i}": np.ones(64, np.float32) for i in (1, 2)} | {f"b{i}": np.zeros(64, np.float32) for i in (1, 2)}
    return params, normal(3, 8, 16, 16, 64), normal(4, 8, 16, 16, 64)


def _torch_convolution(torch: Any) -> Callable[..., Any]:
    """Images and windows as those of the other libraries; their axes are turned without a copy."""
    return lambda x, w, **more: torch.nn.functional.conv2d(x, w.permute(3, 2, 0, 1), padding=1, **more)


def resnet_torch(torch: Any, compiled: Compiled) -> Callable[..., Any]:
    convolution = _torch_convolution(torch)

    def normalized(x, scale, shift):
        return torch.nn.functional.batch_norm(x, None, None, scale, shift, True, 0.0, 1e-5)

    def loss(p, x, y):
        x, y = x.permute(0, 3, 1, 2), y.permute(0, 3, 1, 2)
        h = torch.relu(normalized(convolution(x, p["w1"]), p["s1"], p["b1"]))
        h = normalized(convolution(h, p["w2"]), p["s2"], p["b2"])
        return torch.mean((torch.relu(x + h) - y) ** 2)

    return compiled(value_and_grad_torch(torch, loss))


def all_convolutional_torch(torch: Any, compiled: Compiled) -> Callable[..., Any]:
    def logits(params, x):
        x = x.permute(0, 3, 1, 2)
        for i, ((window, bias), (k, _, stride, padding)) in enumerate(zip(params, allconv.LAYERS)):
            if padding == "SAME" and stride == 2:  # as XLA pads: one more behind
                x, pad = torch.nn.functional.pad(x, (0, 1, 0, 1)), 0
            else:
                pad = k // 2 if padding == "SAME" else 0
            x = torch.nn.functional.conv2d(x, window.permute(3, 2, 0, 1), bias, stride=stride, padding=pad)
            if i < len(allconv.LAYERS) - 1:
                x = torch.relu(x)
        return x.mean((2, 3))

    gradient = value_and_grad_torch(
        torch, lambda params, x, labels: torch.nn.functional.cross_entropy(logits(params, x), labels.long())
    )

    def step(params, x, labels):
        value, grads = gradient(params, x, labels)
        return [(w - 0.05 * dw, b - 0.05 * db) for (w, b), (dw, db) in zip(params, grads)], value

    return compiled(step)


def unet(J: Any, jnp: Any) -> Callable[..., Any]:
    convolution = _convolution(J)

    def block(p, x):
        fine = jnp.maximum(convolution(x, p["in"]), 0.0)
        n, height, width, features = fine.shape
        coarse = jnp.max(fine.reshape(n, height // 2, 2, width // 2, 2, features), axis=(2, 4))
        coarse = jnp.maximum(convolution(coarse, p["below"]), 0.0)
        back = jnp.repeat(jnp.repeat(coarse, 2, axis=1), 2, axis=2)
        return convolution(jnp.concatenate([fine, back], axis=-1), p["out"])

    return block


def unet_arguments() -> tuple:
    shapes = {"in": (16, 32), "below": (32, 32), "out": (64, 16)}
    return {k: normal(i, 3, 3, *s, scale=0.1) for i, (k, s) in enumerate(shapes.items())}, normal(9, 4, 32, 32, 16)


def unet_torch(torch: Any, compiled: Compiled) -> Callable[..., Any]:
    convolution = _torch_convolution(torch)

    def block(p, x):
        fine = torch.relu(convolution(x.permute(0, 3, 1, 2), p["in"]))
        coarse = torch.relu(convolution(torch.nn.functional.max_pool2d(fine, 2), p["below"]))
        back = torch.nn.functional.interpolate(coarse, scale_factor=2, mode="nearest")
        return convolution(torch.cat([fine, back], 1), p["out"]).permute(0, 2, 3, 1)

    return compiled(block)


def lstm(J: Any, jnp: Any) -> Callable[..., Any]:
    def run(w, b, xs):
        def step(state, x):
            h, c = state
            i, f, g, o = jnp.split(jnp.concatenate([x, h], -1) @ w + b, 4, -1)
            sigmoid = lambda z: 1 / (1 + jnp.exp(-z))
            c = sigmoid(f) * c + sigmoid(i) * jnp.tanh(g)
            return (sigmoid(o) * jnp.tanh(c), c), None

        zeros = jnp.zeros((xs.shape[1], b.shape[0] // 4))
        return J.lax.scan(step, (zeros, zeros), xs)[0][0]

    return run


def lstm_numpy(np: Any) -> Callable[..., Any]:
    def run(w, b, xs):
        h = c = np.zeros((xs.shape[1], b.shape[0] // 4), np.float32)
        sigmoid = lambda z: 1 / (1 + np.exp(-z))
        for x in xs:
            i, f, g, o = np.split(np.concatenate([x, h], -1) @ w + b, 4, -1)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            h = sigmoid(o) * np.tanh(c)
        return h

    return run


def lstm_torch(torch: Any, compiled: Compiled) -> Callable[..., Any]:
    @compiled
    def step(w, b, h, c, x):
        i, f, g, o = torch.chunk(torch.cat([x, h], -1) @ w + b, 4, -1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c

    def run(w, b, xs):
        h, c = (torch.zeros(xs.shape[1], b.shape[0] // 4) for _ in range(2))
        for x in xs:
            h, c = step(w, b, h, c, x)
        return h

    return run


def layer_norm(J: Any, jnp: Any) -> Callable[..., Any]:
    def norm(x, scale, shift):
        mean, variance = jnp.mean(x, -1, keepdims=True), jnp.var(x, -1, keepdims=True)
        return (x - mean) / jnp.sqrt(variance + 1e-5) * scale + shift

    return norm


def layer_norm_torch(torch: Any, compiled: Compiled) -> Callable[..., Any]:
    return compiled(lambda x, scale, shift: torch.nn.functional.layer_norm(x, (x.shape[-1],), scale, shift, 1e-5))


def cross_entropy(J: Any, jnp: Any) -> Callable[..., Any]:
    def loss(logits, labels):
        top = jnp.max(logits, -1, keepdims=True)
        logs = logits - top - jnp.log(jnp.sum(jnp.exp(logits - top), -1, keepdims=True))
        return -jnp.mean(jnp.take_along_axis(logs, labels[:, None], -1))

    return J.value_and_grad(loss)


def cross_entropy_torch(torch: Any, compiled: Compiled) -> Callable[..., Any]:
    return compiled(value_and_grad_torch(torch, lambda x, labels: torch.nn.functional.cross_entropy(x, labels.long())))


EVERYDAY: dict[str, Everyday] = {
    "mlp": Everyday("gradient of a 20-layer MLP", PROGRAMS["mlp"].make, PROGRAMS["mlp"].arguments, torch=mlp_torch, budget=0.85),
    "transformer": Everyday("gradient of a transformer block", PROGRAMS["transformer"].make, PROGRAMS["transformer"].arguments,
                            torch=transformer_torch, budget=0.85),
    "selu": Everyday("dense layer with SeLU", PROGRAMS["selu"].make, PROGRAMS["selu"].arguments, selu_numpy, selu_torch),
    "nbody": Everyday("128 bodies, 100 steps", nbody.make, nbody.arguments, torch=nbody_torch, numba=nbody_numba, budget=0.3),
    "black_scholes": Everyday("200,000 options by Black and Scholes", black_scholes.make, black_scholes.arguments,
                              torch=black_scholes_torch, numba=black_scholes_numba, budget=0.7),
    "allconv": Everyday("step of an all-convolutional network", allconv.make, allconv.arguments, torch=all_convolutional_torch, budget=0.5),
    "resnet": Everyday("gradient of a ResNet block", resnet, resnet_arguments, torch=resnet_torch),
    "unet": Everyday("U-Net block", unet, unet_arguments, torch=unet_torch),
    "lstm": Everyday("LSTM, 32 steps", lstm, lambda: (
        normal(0, 96, 256, scale=0.1), normal(1, 256), normal(2, 32, 16, 32)), lstm_numpy, lstm_torch),
    "layer_norm": Everyday("layer norm of 512 × 768", layer_norm, lambda: (
        normal(0, 512, 768), normal(1, 768), normal(2, 768)), lambda np: layer_norm(None, np), layer_norm_torch),
    "cross_entropy": Everyday("gradient of a softmax cross entropy", cross_entropy, lambda: (
        normal(0, 512, 1000), np.random.default_rng(0).integers(0, 1000, 512).astype(np.int32)), torch=cross_entropy_torch),
    "k_means": Everyday("k-means, 10 steps", k_means, lambda: (normal(0, 5000, 8),), k_means_numpy, k_means_torch, k_means_numba),
    "heat": Everyday("finite differences, 20 steps", heat, lambda: (normal(0, 512, 512),), heat_numpy, heat_torch, heat_numba),
    "fft": Everyday("low-pass filter by FFT", fft_filter, lambda: (normal(0, 2**17),), fft_filter_numpy, fft_filter_torch),
    "kalman": Everyday("1,000 Kalman filters, 20 steps", kalman, lambda: (normal(0, 1000, 20, 2),), kalman_numpy, kalman_torch),
    "ranks": Everyday("sorting and ranks of 100,000", ranks, lambda: (normal(0, 100_000),), ranks_numpy, ranks_torch),
    "running": Everyday("cumulative sums along both axes", running, lambda: (normal(0, 1000, 1000),), lambda np: running(None, np),
                        lambda torch, compiled: compiled(running(None, torch)), running_numba),
    "graph": Everyday("gather and scatter on a graph", gather_scatter, edges, gather_scatter_numpy, gather_scatter_torch,
                      gather_scatter_numba),
    "small_matrices": Everyday("products of 10,000 matrices of 4 × 4", small_matrices, lambda: (
        normal(0, 10_000, 4, 4), normal(1, 10_000, 4, 4)), lambda np: small_matrices(None, np),
        lambda torch, compiled: compiled(small_matrices(None, torch))),
    "columns": Everyday("errors of two columns", columns, columns_arguments, lambda np: columns(None, np), columns_torch),
    "points": Everyday("distances and extent of 100,000 points", points, lambda: (normal(0, 100_000, 3),),
                       lambda np: points(None, np), points_torch),
    "likelihood": Everyday("likelihood of groups of normals", likelihood, likelihood_arguments,
                           lambda np: likelihood(None, np), likelihood_torch),
    "mixture": Everyday("mixture of five normals in the plane", mixture, lambda: (normal(0, 25_000, 2), normal(1, 5, 2)),
                        lambda np: mixture(None, np), mixture_torch),
    "colours": Everyday("gamma and grey of an image", colours, lambda: (normal(0, 256, 400, 3),), lambda np: colours(None, np), colours_torch),
    "units": Everyday("two dense layers of 16 units", units, units_arguments, lambda np: units(None, np), units_torch),
    "medians": Everyday("median of seven images", medians, lambda: (normal(0, 7, 128, 128),), lambda np: medians(None, np), medians_torch),
    "experts": Everyday("two experts of eight", experts, lambda: (normal(0, 20_000, 8),), torch=experts_torch),
    "depthwise": Everyday("gradient of an inverted residual block", depthwise, depthwise_arguments, torch=depthwise_torch),
    "groups": Everyday("gradient of a block with 8 groups of features", groups, groups_arguments, torch=groups_torch),
    "decoder": Everyday("gradient of two transposed convolutions", decoder, decoder_arguments, torch=decoder_torch),
    "volumes": Everyday("gradient of two convolutions of volumes", volumes, volumes_arguments, torch=volumes_torch),
    "group_norm": Everyday("group norm of 8 × 32 × 32 × 64", group_norm, lambda: (
        normal(0, 8, 32, 32, 64), normal(1, 64), normal(2, 64)), torch=group_norm_torch),
}  # fmt: skip
"""By name."""
