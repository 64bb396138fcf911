"""A training step of a network of flax's linen whose batch lies over eight devices, where there are so many."""

import flax.linen as nn
import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P


class Network(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(8)(nn.relu(nn.Dense(32)(x)))


@jax.jit
def train_step(params, batch, targets):
    def loss_fn(params):
        return jnp.mean((Network().apply(params, batch) - targets) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), loss


def made():
    """(what is called, its arguments)."""
    mesh = jax.make_mesh((jax.device_count(),), ("data",), axis_types=(AxisType.Auto,))
    batch = jax.random.normal(jax.random.key(1), (64, 16))
    params = Network().init(jax.random.key(0), batch)
    over = NamedSharding(mesh, P("data"))
    every = NamedSharding(mesh, P())
    return train_step, (jax.device_put(params, every), jax.device_put(batch, over), jax.device_put(batch[:, :8], over))
