"""A transformer block and its gradient: attention for one head of one sentence, mapped over heads and sentences.

python examples/programs/transformer.py
"""

import numpy as np


SENTENCES, TOKENS, WIDTH, HEADS = 4, 64, 128, 4


def make(jax, jnp):
    """`loss_and_gradient(params, x, y)`: the mean square error of the block's output, and its gradient."""

    def normalize(x, scale, shift):
        mean = jnp.mean(x, axis=-1, keepdims=True)
        variance = jnp.mean((x - mean) ** 2, axis=-1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + shift

    def softmax(x):
        e = jnp.exp(x - jax.lax.stop_gradient(jnp.max(x, axis=-1, keepdims=True)))
        return e / jnp.sum(e, axis=-1, keepdims=True)

    def gelu(x):
        return 0.5 * x * (1.0 + jnp.tanh(0.7978845608 * (x + 0.044715 * x**3)))

    def head(q, k, v):
        """(tokens, width of a head) each."""
        tokens = jnp.arange(q.shape[0])
        scores = q @ k.T / q.shape[1] ** 0.5
        return softmax(jnp.where(tokens[:, None] >= tokens, scores, -1e9)) @ v

    def attention(p, x):
        """(tokens, width)."""
        parts = (jnp.reshape(x @ p[name], (x.shape[0], HEADS, -1)) for name in ("q", "k", "v"))
        mixed = jax.vmap(head, in_axes=1, out_axes=1)(*parts)
        return jnp.reshape(mixed, x.shape) @ p["o"]

    def block(p, x):
        x = x + attention(p, normalize(x, p["scale1"], p["shift1"]))
        h = gelu(normalize(x, p["scale2"], p["shift2"]) @ p["up"] + p["up_bias"])
        return x + h @ p["down"] + p["down_bias"]

    def loss(p, x, y):
        out = jax.vmap(block, in_axes=(None, 0))(p, x)
        return jnp.mean((out - y) ** 2)

    return jax.value_and_grad(loss)


def arguments(sentences=SENTENCES, tokens=TOKENS, width=WIDTH, seed=0):
    random = np.random.default_rng(seed)

    def normal(*shape, scale=1.0):
        return (scale * random.standard_normal(shape)).astype(np.float32)

    params = {name: normal(width, width, scale=width**-0.5) for name in "qkvo"}
    params |= {"up": normal(width, 4 * width, scale=width**-0.5), "up_bias": normal(4 * width, scale=0.1)}
    params |= {"down": normal(4 * width, width, scale=0.5 * width**-0.5), "down_bias": normal(width, scale=0.1)}
    for n in "12":
        params |= {f"scale{n}": np.ones(width, np.float32), f"shift{n}": np.zeros(width, np.float32)}
    return params, normal(sentences, tokens, width), normal(sentences, tokens, width)


def main(jax, jnp):
    params, x, y = arguments()
    step = jax.jit(make(jax, jnp))
    for i in range(5):
        value, gradient = step(params, x, y)
        params = jax.tree.map(lambda p, g: p - 0.5 * g, params, gradient)
        print(f"step {i}: loss {float(value):.4f}")


if __name__ == "__main__":
    import jitscope as jax
    import jitscope.numpy as jnp

    main(jax, jnp)
