"""flax.nnx split into a definition and a state, trained with jax.jit; an ensemble by nnx.vmap."""

from functools import partial

import jax
import jax.numpy as jnp
import optax
from flax import nnx


class MLP(nnx.Module):
    def __init__(self, width: int, *, rngs: nnx.Rngs):
        self.first = nnx.Linear(1, width, rngs=rngs)
        self.second = nnx.Linear(width, 1, rngs=rngs)

    def __call__(self, x):
        return self.second(nnx.tanh(self.first(x)))


def data(key, count):
    x_key, noise_key = jax.random.split(key)
    x = jax.random.uniform(x_key, (count, 1), minval=-1, maxval=1)
    return x, jnp.sin(3 * x) + 0.1 * jax.random.normal(noise_key, x.shape)


@partial(jax.jit, static_argnums=0)
def loss_of(graphdef, state, x, y):
    model = nnx.merge(graphdef, state)
    return jnp.mean((model(x) - y) ** 2)


@nnx.vmap(in_axes=0, out_axes=0)
def create(key):
    return MLP(8, rngs=nnx.Rngs(key))


@nnx.vmap(in_axes=(0, None), out_axes=0)
def predict(model, x):
    return model(x)


def main():
    model = MLP(8, rngs=nnx.Rngs(params=0))
    graphdef, state = nnx.split(model)
    tx = optax.sgd(0.1)
    opt_state = tx.init(state)

    @jax.jit
    def step(state, opt_state, x, y):
        loss, grads = jax.value_and_grad(lambda s: loss_of(graphdef, s, x, y))(state)
        updates, opt_state = tx.update(grads, opt_state, state)
        return optax.apply_updates(state, updates), opt_state, loss

    key = jax.random.key(42)
    for i in range(5):
        x, y = data(jax.random.fold_in(key, i), 16)
        state, opt_state, loss = step(state, opt_state, x, y)
    nnx.update(model, state)
    ensemble = create(jax.random.split(key, 3))
    print(loss, predict(ensemble, jnp.zeros((2, 1))).shape)


if __name__ == "__main__":
    main()
