"""A training step of a small GPT of flax's linen, which computes in bfloat16, with optax's AdamW."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class Attention(nn.Module):
    heads: int

    @nn.compact
    def __call__(self, x):
        batch, length, width = x.shape
        q, k, v = jnp.split(nn.Dense(3 * width, dtype=jnp.bfloat16)(x), 3, axis=-1)
        q, k, v = (y.reshape(batch, length, self.heads, -1) for y in (q, k, v))
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / q.shape[-1] ** 0.5
        scores = jnp.where(jnp.tri(length, dtype=bool), scores, -1e9)
        weights = nn.softmax(scores.astype(jnp.float32)).astype(jnp.bfloat16)
        mixed = jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(batch, length, width)
        return nn.Dense(width, dtype=jnp.bfloat16)(mixed)


class Block(nn.Module):
    heads: int

    @nn.compact
    def __call__(self, x):
        x = x + Attention(self.heads)(nn.LayerNorm()(x))
        y = nn.Dense(4 * x.shape[-1], dtype=jnp.bfloat16)(nn.LayerNorm()(x))
        return x + nn.Dense(x.shape[-1], dtype=jnp.bfloat16)(nn.gelu(y))


class GPT(nn.Module):
    vocabulary: int = 128
    width: int = 64
    heads: int = 4
    layers: int = 4

    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(self.vocabulary, self.width)(tokens)
        x = x + self.param("positions", nn.initializers.normal(0.02), (tokens.shape[1], self.width))
        for _ in range(self.layers):
            x = Block(self.heads)(x)
        return nn.Dense(self.vocabulary)(nn.LayerNorm()(x))


model = GPT()
optimizer = optax.adamw(1e-3)


@jax.jit
def train_step(params, state, tokens):
    def loss_fn(params):
        logits = model.apply(params, tokens[:, :-1])
        return optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:]).mean()

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, state = optimizer.update(grads, state, params)
    return optax.apply_updates(params, updates), state, loss


def made():
    """(what is called, its arguments)."""
    tokens = jax.random.randint(jax.random.key(1), (4, 33), 0, model.vocabulary)
    params = model.init(jax.random.key(0), tokens[:, :-1])
    return train_step, (params, optimizer.init(params), tokens)
