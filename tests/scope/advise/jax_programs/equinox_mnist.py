"""A convolutional network: equinox."""

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax import Array


class CNN(eqx.Module):
    layers: list

    def __init__(self, key):
        key1, key2, key3 = jax.random.split(key, 3)
        self.layers = [
            eqx.nn.Conv2d(1, 3, kernel_size=4, key=key1),
            eqx.nn.MaxPool2d(kernel_size=2),
            jax.nn.relu,
            jnp.ravel,
            eqx.nn.Linear(192, 16, key=key2),
            jax.nn.sigmoid,
            eqx.nn.Linear(16, 10, key=key3),
            jax.nn.log_softmax,
        ]

    def __call__(self, x: Array) -> Array:
        for layer in self.layers:
            x = layer(x)
        return x


def loss(model: CNN, x: Array, y: Array) -> Array:
    pred_y = jax.vmap(model)(x)
    return cross_entropy(y, pred_y)


def cross_entropy(y, pred_y):
    pred_y = jnp.take_along_axis(pred_y, jnp.expand_dims(y, 1), axis=1)
    return -jnp.mean(pred_y)


@eqx.filter_jit
def accuracy(model, x, y):
    pred_y = jax.vmap(model)(x)
    return jnp.mean(y == jnp.argmax(pred_y, axis=1))


def train(model: CNN, batches, optim: optax.GradientTransformation, steps: int, print_every: int) -> CNN:
    opt_state = optim.init(eqx.filter(model, eqx.is_array))

    @eqx.filter_jit
    def make_step(model: CNN, opt_state: optax.OptState, x, y):
        loss_value, grads = eqx.filter_value_and_grad(loss)(model, x, y)
        updates, opt_state = optim.update(grads, opt_state, eqx.filter(model, eqx.is_array))
        model = eqx.apply_updates(model, updates)
        return model, opt_state, loss_value

    for step, (x, y) in zip(range(steps), batches):
        model, opt_state, train_loss = make_step(model, opt_state, x, y)
        if (step % print_every) == 0 or (step == steps - 1):
            print(f"{step=}, train_loss={train_loss.item()}, accuracy={accuracy(model, x, y).item()}")
    return model


def main():
    subkey, x_key, y_key = jax.random.split(jax.random.PRNGKey(5678), 3)
    model = CNN(subkey)
    x, y = jax.random.uniform(x_key, (6, 1, 12, 12)), jax.random.randint(y_key, (6,), 0, 10)
    train(model, [(x, y)] * 3, optax.adamw(1e-3), 3, 2)


if __name__ == "__main__":
    main()
