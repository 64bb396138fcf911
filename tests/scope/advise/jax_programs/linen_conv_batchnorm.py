"""A convolutional network with batch statistics: flax.linen."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax.training import train_state


class TrainState(train_state.TrainState):
    batch_stats: Any


class Block(nn.Module):
    filters: int
    strides: tuple[int, int] = (1, 1)
    conv: Any = nn.Conv
    norm: Any = nn.BatchNorm

    @nn.compact
    def __call__(self, x):
        residual = x
        y = self.conv(self.filters, (3, 3), self.strides)(x)
        y = nn.relu(self.norm()(y))
        y = self.conv(self.filters, (3, 3))(y)
        y = self.norm(scale_init=nn.initializers.zeros_init())(y)
        if residual.shape != y.shape:
            residual = self.conv(self.filters, (1, 1), self.strides, name="projection")(residual)
        return nn.relu(residual + y)


class Net(nn.Module):
    classes: int
    dtype: Any = jnp.float32

    @nn.compact
    def __call__(self, x, train: bool = True):
        norm = partial(nn.BatchNorm, use_running_average=not train, momentum=0.9, dtype=self.dtype)
        x = nn.Conv(8, (3, 3))(x)
        for i in range(2):
            strides = (2, 2) if i > 0 else (1, 1)
            x = Block(8 * 2**i, strides=strides, norm=norm)(x)
        x = jnp.mean(x, axis=(1, 2))
        return nn.Dense(self.classes, dtype=self.dtype)(x)


def cross_entropy(logits, labels):
    return optax.softmax_cross_entropy_with_integer_labels(logits=logits, labels=labels).mean()


@jax.jit
def train_step(state, images, labels):
    def loss_fn(params):
        logits, changed = state.apply_fn(
            {"params": params, "batch_stats": state.batch_stats}, images, train=True, mutable=["batch_stats"]
        )
        decay = sum(jnp.sum(p**2) for p in jax.tree_util.tree_leaves(params) if p.ndim > 1)
        return cross_entropy(logits, labels) + 1e-4 * decay, (changed, logits)

    (loss, (changed, logits)), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
    state = state.apply_gradients(grads=grads, batch_stats=changed["batch_stats"])
    return state, {"loss": loss, "accuracy": jnp.mean(jnp.argmax(logits, -1) == labels)}


def main():
    model = Net(4)
    image_key, label_key, init_key = jax.random.split(jax.random.PRNGKey(0), 3)
    images = jax.random.uniform(image_key, (4, 8, 8, 3))
    labels = jax.random.randint(label_key, (4,), 0, 4)
    variables = model.init(init_key, images, train=False)
    state = TrainState.create(
        apply_fn=model.apply,
        params=variables["params"],
        batch_stats=variables["batch_stats"],
        tx=optax.sgd(0.1, momentum=0.9),
    )
    for _ in range(2):
        state, metrics = train_step(state, images, labels)
    print({name: float(value) for name, value in metrics.items()})


if __name__ == "__main__":
    main()
