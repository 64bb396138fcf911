"""A dense network on regression data: flax.linen with optax."""

from collections.abc import Sequence

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training import train_state


class MLP(nn.Module):
    features: Sequence[int]
    dropout: float = 0.1

    @nn.compact
    def __call__(self, x, train: bool = False):
        for i, width in enumerate(self.features[:-1]):
            x = nn.Dense(width, name=f"layer_{i}")(x)
            x = nn.relu(x)
            if train and self.dropout > 0:
                x = nn.Dropout(self.dropout, deterministic=not train)(x)
        return nn.Dense(self.features[-1])(x)


def create_state(rng, model, example, rate):
    variables = model.init(rng, example)
    return train_state.TrainState.create(apply_fn=model.apply, params=variables["params"], tx=optax.adam(rate))


@jax.jit
def train_step(state, batch, rng):
    rng = jax.random.fold_in(rng, state.step)

    def loss_fn(params):
        predicted = state.apply_fn({"params": params}, batch["x"], train=True, rngs={"dropout": rng})
        loss = jnp.mean((predicted - batch["y"]) ** 2)
        return loss, predicted

    (loss, predicted), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
    state = state.apply_gradients(grads=grads)
    metrics = {"loss": loss, "mae": jnp.mean(jnp.abs(predicted - batch["y"]))}
    return state, metrics


def main():
    rng = jax.random.key(0)
    rng, data_rng, init_rng, dropout_rng = jax.random.split(rng, 4)
    x = jax.random.normal(data_rng, (64, 3))
    batch = {"x": x, "y": jnp.sum(x, axis=1, keepdims=True)}
    state = create_state(init_rng, MLP([16, 16, 1]), x[:1], 1e-2)
    history = []
    for step in range(10):
        state, metrics = train_step(state, batch, dropout_rng)
        history.append(float(metrics["loss"]))
        if step % 5 == 0:
            print(f"step {step}: {metrics['loss']:.4f}")
    assert history[-1] < history[0]


if __name__ == "__main__":
    main()
