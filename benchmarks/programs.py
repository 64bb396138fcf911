"""The programs that are measured: one text for both libraries.

A program is made by a function of `J` (jitscope or jax) and `jnp` (its numpy). It gives a new Python function each time,
so that no cache keyed by the function knows it.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Program(NamedTuple):
    """`make(J, jnp)` gives the function, `arguments()` NumPy arrays (or trees of them) to call it with."""

    title: str
    make: Callable[[Any, Any], Callable[..., Any]]
    arguments: Callable[[], tuple]


def _normal(seed: int, *shape: int, scale: float = 1.0) -> np.ndarray:
    return (scale * np.random.default_rng(seed).standard_normal(shape)).astype(np.float32)


# Twenty dense layers ----------------------------------------------------------------------------------------------------

LAYERS, WIDTH, BATCH = 20, 128, 64


def mlp_gradient(J: Any, jnp: Any) -> Callable[..., Any]:
    def loss(params, x, y):
        for layer in params:
            x = jnp.tanh(x @ layer["w"] + layer["b"])
        return jnp.mean((x - y) ** 2)

    return J.value_and_grad(loss)


def mlp_arguments() -> tuple:
    params = [
        {"w": _normal(i, WIDTH, WIDTH, scale=WIDTH**-0.5), "b": _normal(100 + i, WIDTH, scale=0.1)}
        for i in range(LAYERS)
    ]
    return params, _normal(200, BATCH, WIDTH), _normal(201, BATCH, WIDTH)


# A thousand elementwise operations in a row ---------------------------------------------------------------------------


def chain(J: Any, jnp: Any) -> Callable[..., Any]:
    def run(x):
        y = x
        for i in range(250):
            y = jnp.sin(y)
            y = y * x
            y = y + 0.1 * i
            y = jnp.maximum(y, -1.0)
        return y

    return run


# A transformer block --------------------------------------------------------------------------------------------------

SENTENCES, TOKENS, MODEL, HEADS = 4, 64, 128, 4


def transformer_layer(jnp: Any) -> Callable[..., Any]:
    def normalize(x, scale, shift):
        mean = jnp.mean(x, axis=-1, keepdims=True)
        variance = jnp.mean((x - mean) ** 2, axis=-1, keepdims=True)
        return (x - mean) / jnp.sqrt(variance + 1e-5) * scale + shift

    def heads(x):
        return jnp.transpose(jnp.reshape(x, (SENTENCES, TOKENS, HEADS, MODEL // HEADS)), (0, 2, 1, 3))

    def softmax(x):
        e = jnp.exp(x - jnp.max(x, axis=-1, keepdims=True))
        return e / jnp.sum(e, axis=-1, keepdims=True)

    def attention(p, x):
        q, k, v = heads(x @ p["q"]), heads(x @ p["k"]), heads(x @ p["v"])
        scores = q @ jnp.transpose(k, (0, 1, 3, 2)) / (MODEL // HEADS) ** 0.5
        past = jnp.arange(TOKENS)[:, None] >= jnp.arange(TOKENS)[None, :]
        weights = softmax(jnp.where(past, scores, -1e9))
        mixed = jnp.transpose(weights @ v, (0, 2, 1, 3))
        return jnp.reshape(mixed, (SENTENCES, TOKENS, MODEL)) @ p["o"]

    def gelu(x):
        return 0.5 * x * (1.0 + jnp.tanh(0.7978845608 * (x + 0.044715 * x**3)))

    def layer(p, x):
        x = x + attention(p, normalize(x, p["scale1"], p["shift1"]))
        h = gelu(normalize(x, p["scale2"], p["shift2"]) @ p["up"] + p["up_bias"])
        return x + h @ p["down"] + p["down_bias"]

    return layer


def transformer_gradient(J: Any, jnp: Any) -> Callable[..., Any]:
    layer = transformer_layer(jnp)

    def loss(p, x, y):
        return jnp.mean((layer(p, x) - y) ** 2)

    return J.value_and_grad(loss)


def transformer_parameters() -> dict[str, np.ndarray]:
    small = MODEL**-0.5
    params = {name: _normal(i, MODEL, MODEL, scale=small) for i, name in enumerate("qkvo")}
    params |= {
        "up": _normal(10, MODEL, 4 * MODEL, scale=small),
        "up_bias": _normal(11, 4 * MODEL, scale=0.1),
        "down": _normal(12, 4 * MODEL, MODEL, scale=small / 2),
        "down_bias": _normal(13, MODEL, scale=0.1),
    }
    for n in "12":
        params |= {f"scale{n}": np.ones(MODEL, np.float32), f"shift{n}": np.zeros(MODEL, np.float32)}
    return params


def transformer_data() -> tuple[np.ndarray, np.ndarray]:
    return _normal(20, SENTENCES, TOKENS, MODEL), _normal(21, SENTENCES, TOKENS, MODEL)


# Equal blocks: the longest wait for a compiler -------------------------------------------------------------------------

BLOCKS = 12


def training_step(J: Any, jnp: Any) -> Callable[..., Any]:
    """A step of a transformer with its optimizer, Adam, written layer by layer."""
    layer = transformer_layer(jnp)

    def loss(layers, x, y):
        for p in layers:
            x = layer(p, x)
        return jnp.mean((x - y) ** 2)

    def step(layers, first, second, x, y):
        value, slopes = J.value_and_grad(loss)(layers, x, y)
        first = J.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, slopes)
        second = J.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, slopes)
        moved = J.tree.map(lambda p, m, v: p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), layers, first, second)
        return moved, first, second, value

    return step


def training_arguments() -> tuple:
    layers = [transformer_parameters() for _ in range(BLOCKS)]
    zeros = [{name: np.zeros_like(value) for name, value in layer.items()} for layer in layers]
    return layers, zeros, zeros, *transformer_data()


# Small programs with a trap for the compiler each ---------------------------------------------------------------------


def selu_layer(J: Any, jnp: Any) -> Callable[..., Any]:
    def layer(w, b, x):
        y = x @ w + b
        return 1.0507 * jnp.where(y > 0, y, 1.6733 * (jnp.exp(y) - 1.0))

    return layer


def logistic_gradient(J: Any, jnp: Any) -> Callable[..., Any]:
    """Its transpose is `X.T @ v`, which XLA runs slowly on a CPU if written like that."""

    def loss(w, x, y):
        margin = y * (x @ w)
        return jnp.mean(jnp.log1p(jnp.exp(-margin)))

    return J.grad(loss)


def short_softmax(J: Any, jnp: Any) -> Callable[..., Any]:
    """Reductions over a short last axis."""

    def softmax(x):
        e = jnp.exp(x - jnp.max(x, axis=-1, keepdims=True))
        return e / jnp.sum(e, axis=-1, keepdims=True)

    return softmax


PROGRAMS = {
    "mlp": Program("gradient of a 20-layer MLP", mlp_gradient, mlp_arguments),
    "chain": Program("chain of 1,000 operations", chain, lambda: (_normal(0, 4096),)),
    "transformer": Program("gradient of a transformer block", transformer_gradient, lambda: (
        transformer_parameters(), *transformer_data())),
    "selu": Program("dense layer with SeLU", selu_layer, lambda: (
        _normal(0, 512, 256, scale=0.05), _normal(1, 256), _normal(2, 128, 512))),
    "logistic": Program("gradient of a logistic regression", logistic_gradient, lambda: (
        _normal(0, 200, scale=0.1), _normal(1, 2000, 200), np.sign(_normal(2, 2000)))),
    "softmax": Program("softmax of short rows", short_softmax, lambda: (_normal(0, 20000, 10),)),
    "training": Program(f"training step of {BLOCKS} transformer layers", training_step, training_arguments),
}  # fmt: skip
"""By name; the first three are those that are also traced, lowered and compiled."""

REPEATED = ("training",)
"""Those with equal blocks, which take long to compile: their first calls are measured in fewer processes, not all stages."""
STAGED = ("mlp", "chain", "transformer")
