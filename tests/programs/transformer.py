"""The gradient of a language model of twelve equal layers, written as a loop in Python."""

import numpy as np

import jitscope as jx
import jitscope.numpy as jnp


def normalize(x, scale, shift):
    mean = x.mean(axis=-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    return (x - mean) / jnp.sqrt(variance + 1e-5) * scale + shift


def softmax(x):
    e = jnp.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def gelu(x):
    return 0.5 * x * (1 + jnp.tanh(0.7978845608 * (x + 0.044715 * x**3)))


def attention(x, layer, heads=4):
    tokens, width = x.shape
    q, k, v = (jnp.reshape(x @ layer[name], (tokens, heads, width // heads)) for name in ("wq", "wk", "wv"))
    scores = jnp.einsum("qhd,khd->hqk", q, k) / (width // heads) ** 0.5
    scores = jnp.where(jnp.tri(tokens, dtype=bool), scores, -1e9)
    mixed = jnp.einsum("hqk,khd->qhd", softmax(scores), v)
    return jnp.reshape(mixed, (tokens, width)) @ layer["wo"]


def block(x, layer):
    x = x + attention(normalize(x, layer["scale1"], layer["shift1"]), layer)
    return x + gelu(normalize(x, layer["scale2"], layer["shift2"]) @ layer["up"]) @ layer["down"]


def model(params, tokens):
    x = params["embedding"][tokens]
    for layer in params["layers"]:
        x = block(x, layer)
    return x @ params["embedding"].T


def loss(params, tokens, targets):
    probabilities = softmax(model(params, tokens))
    return -jnp.log(probabilities[jnp.arange(len(tokens)), targets]).mean()


def program(params, tokens, targets):
    return jx.grad(loss)(params, tokens, targets)


def arguments(layers=12, width=32, words=64, tokens=16):
    random = np.random.default_rng(0)
    shapes = dict.fromkeys(("wq", "wk", "wv", "wo"), (width, width))
    shapes |= {"up": (width, 4 * width), "down": (4 * width, width)}

    def layer():
        weights = {name: random.normal(0, 0.1, shape).astype(np.float32) for name, shape in shapes.items()}
        ones = {f"scale{i}": np.ones(width, np.float32) for i in (1, 2)}
        return weights | ones | {f"shift{i}": np.zeros(width, np.float32) for i in (1, 2)}

    embedding = random.normal(0, 0.1, (words, width)).astype(np.float32)
    text = random.integers(0, words, tokens + 1).astype(np.int32)
    return {"embedding": embedding, "layers": [layer() for _ in range(layers)]}, text[:-1], text[1:]
