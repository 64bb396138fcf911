"""A training step of a U-Net of equinox's, with optax's Adam."""

from itertools import pairwise

import equinox as eqx
import jax
import jax.numpy as jnp
import optax


class Double(eqx.Module):
    first: eqx.nn.Conv2d
    second: eqx.nn.Conv2d
    norm: eqx.nn.GroupNorm

    def __init__(self, cin, cout, key):
        a, b = jax.random.split(key)
        self.first = eqx.nn.Conv2d(cin, cout, 3, padding=1, key=a)
        self.second = eqx.nn.Conv2d(cout, cout, 3, padding=1, key=b)
        self.norm = eqx.nn.GroupNorm(2, cout)

    def __call__(self, x):
        x = jax.nn.silu(self.norm(self.first(x)))
        return jax.nn.silu(self.second(x))


class UNet(eqx.Module):
    down: list
    up: list
    rise: list
    last: eqx.nn.Conv2d

    def __init__(self, key):
        keys = iter(jax.random.split(key, 8))
        sizes = [1, 8, 16]
        self.down = [Double(a, b, next(keys)) for a, b in pairwise(sizes)]
        self.rise = [eqx.nn.ConvTranspose2d(b, a, 2, 2, key=next(keys)) for a, b in pairwise(sizes[1:])]
        self.up = [Double(2 * a, a, next(keys)) for a in sizes[1:-1]]
        self.last = eqx.nn.Conv2d(sizes[1], 1, 1, key=next(keys))

    def __call__(self, x):
        kept = []
        for i, block in enumerate(self.down):
            if i:
                x = eqx.nn.MaxPool2d(2, 2)(x)
            x = block(x)
            kept.append(x)
        for i in reversed(range(len(self.up))):
            x = self.up[i](jnp.concatenate([kept[i], self.rise[i](x)]))
        return self.last(x)


optimizer = optax.adam(1e-3)


@eqx.filter_jit
def train_step(model, state, images, targets):
    @eqx.filter_value_and_grad
    def loss_fn(model):
        return jnp.mean((jax.vmap(model)(images) - targets) ** 2)

    loss, grads = loss_fn(model)
    updates, state = optimizer.update(grads, state, model)
    return eqx.apply_updates(model, updates), state, loss


def made():
    """(what is called, its arguments)."""
    model = UNet(jax.random.key(0))
    state = optimizer.init(eqx.filter(model, eqx.is_array))
    images = jax.random.normal(jax.random.key(1), (2, 1, 32, 32))
    return train_step, (model, state, images, images * 0.5)
