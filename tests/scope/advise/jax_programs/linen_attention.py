"""A small language model with causal attention: flax.linen, nn.scan over layers."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import struct


@struct.dataclass
class Config:
    vocabulary: int = struct.field(pytree_node=False, default=32)
    width: int = struct.field(pytree_node=False, default=16)
    heads: int = struct.field(pytree_node=False, default=2)
    layers: int = struct.field(pytree_node=False, default=2)
    length: int = struct.field(pytree_node=False, default=8)


def sinusoidal(length, width):
    positions = np.zeros((length, width), dtype=np.float32)
    place = np.arange(0, length)[:, np.newaxis]
    scale = np.exp(np.arange(0, width, 2) * -(np.log(10000.0) / width))
    positions[:, 0::2] = np.sin(place * scale)
    positions[:, 1::2] = np.cos(place * scale)
    return jnp.array(positions)


class Block(nn.Module):
    config: Config

    @nn.compact
    def __call__(self, x, mask):
        c = self.config
        y = nn.LayerNorm()(x)
        y = nn.MultiHeadDotProductAttention(num_heads=c.heads, qkv_features=c.width)(y, mask=mask)
        x = x + y
        y = nn.Dense(4 * c.width)(nn.LayerNorm()(x))
        x = x + nn.Dense(c.width)(nn.gelu(y))
        return x, None


class Model(nn.Module):
    config: Config

    @nn.compact
    def __call__(self, tokens):
        c = self.config
        if tokens.ndim != 2:
            raise ValueError(f"tokens need a batch axis, not {tokens.shape}")
        mask = nn.make_causal_mask(tokens)
        x = nn.Embed(c.vocabulary, c.width)(tokens) + sinusoidal(c.length, c.width)[None, : tokens.shape[1]]
        stack = nn.scan(
            Block, variable_axes={"params": 0}, split_rngs={"params": True}, in_axes=nn.broadcast, length=c.layers
        )
        x, _ = stack(c)(x, mask)
        return nn.Dense(c.vocabulary)(nn.LayerNorm()(x))


def main():
    config = Config()
    model = Model(config)
    tokens_key, init_key = jax.random.split(jax.random.key(1))
    tokens = jax.random.randint(tokens_key, (3, config.length), 0, config.vocabulary)
    params = model.init(init_key, tokens)
    schedule = optax.warmup_cosine_decay_schedule(0.0, 1e-2, warmup_steps=2, decay_steps=10)
    tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule))
    opt_state = tx.init(params)

    @jax.jit
    def step(params, opt_state, tokens):
        def loss_fn(params):
            logits = model.apply(params, tokens[:, :-1])
            targets = tokens[:, 1:]
            weights = jnp.where(targets > 0, 1.0, 0.0)
            losses = optax.softmax_cross_entropy_with_integer_labels(logits, targets)
            return jnp.sum(losses * weights) / jnp.maximum(weights.sum(), 1)

        loss, grads = jax.value_and_grad(loss_fn)(params)
        updates, opt_state = tx.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    for _ in range(3):
        params, opt_state, loss = step(params, opt_state, tokens)
    print("loss", float(loss))


if __name__ == "__main__":
    main()
