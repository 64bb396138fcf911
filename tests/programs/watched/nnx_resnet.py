"""A training step of a small residual network of flax's nnx, with optax's SGD."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx


class Residual(nnx.Module):
    def __init__(self, cin, cout, strides, rngs):
        self.first = nnx.Conv(cin, cout, (3, 3), strides, use_bias=False, rngs=rngs)
        self.norm1 = nnx.BatchNorm(cout, rngs=rngs)
        self.second = nnx.Conv(cout, cout, (3, 3), use_bias=False, rngs=rngs)
        self.norm2 = nnx.BatchNorm(cout, rngs=rngs)
        self.skip = nnx.Conv(cin, cout, (1, 1), strides, use_bias=False, rngs=rngs) if cin != cout else None

    def __call__(self, x):
        y = nnx.relu(self.norm1(self.first(x)))
        y = self.norm2(self.second(y))
        return nnx.relu(y + (x if self.skip is None else self.skip(x)))


class ResNet(nnx.Module):
    def __init__(self, rngs):
        self.stem = nnx.Conv(3, 8, (3, 3), rngs=rngs)
        self.blocks = nnx.List(
            [Residual(8, 8, 1, rngs), Residual(8, 16, 2, rngs), Residual(16, 16, 1, rngs), Residual(16, 32, 2, rngs)]
        )
        self.drop = nnx.Dropout(0.1, rngs=rngs)
        self.head = nnx.Linear(32, 10, rngs=rngs)

    def __call__(self, images):
        x = nnx.relu(self.stem(images))
        for block in self.blocks:
            x = block(x)
        return self.head(self.drop(jnp.mean(x, axis=(1, 2))))


@nnx.jit
def train_step(model, optimizer, images, labels):
    def loss_fn(model):
        return optax.softmax_cross_entropy_with_integer_labels(model(images), labels).mean()

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)
    return loss


def made():
    """(what is called, its arguments)."""
    model = ResNet(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.sgd(0.1, momentum=0.9), wrt=nnx.Param)
    images = jax.random.normal(jax.random.key(1), (4, 32, 32, 3))
    return train_step, (model, optimizer, images, jnp.arange(4))
