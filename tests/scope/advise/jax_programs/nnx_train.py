"""Training with flax.nnx: modules that change, optimizers, metrics."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx


class Count(nnx.Variable):
    pass


class Model(nnx.Module):
    def __init__(self, din, dmid, dout, *, rngs: nnx.Rngs):
        self.linear = nnx.Linear(din, dmid, rngs=rngs)
        self.norm = nnx.BatchNorm(dmid, rngs=rngs)
        self.dropout = nnx.Dropout(0.2, rngs=rngs)
        self.out = nnx.Linear(dmid, dout, rngs=rngs)
        self.count = Count(jnp.array(0))

    def __call__(self, x):
        self.count[...] += 1
        x = nnx.relu(self.dropout(self.norm(self.linear(x))))
        return self.out(x)


def loss_fn(model, batch):
    logits = model(batch["x"])
    loss = optax.softmax_cross_entropy_with_integer_labels(logits, batch["y"]).mean()
    return loss, logits


@nnx.jit
def train_step(model, optimizer, metrics, batch):
    (loss, logits), grads = nnx.value_and_grad(loss_fn, has_aux=True)(model, batch)
    metrics.update(loss=loss, logits=logits, labels=batch["y"])
    optimizer.update(model, grads)


@nnx.jit
def eval_step(model, metrics, batch):
    loss, logits = loss_fn(model, batch)
    metrics.update(loss=loss, logits=logits, labels=batch["y"])


def main():
    model = Model(4, 8, 3, rngs=nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)
    metrics = nnx.MultiMetric(accuracy=nnx.metrics.Accuracy(), loss=nnx.metrics.Average("loss"))
    history = {"loss": [], "accuracy": []}
    key = jax.random.key(0)
    for epoch in range(2):
        key, own = jax.random.split(key)
        x = jax.random.normal(own, (8, 4))
        batch = {"x": x, "y": jnp.argmax(x[:, :3], axis=-1)}
        model.train()
        train_step(model, optimizer, metrics, batch)
        for name, value in metrics.compute().items():
            history[name].append(float(value))
        metrics.reset()
        model.eval()
        eval_step(model, metrics, batch)
        print(f"epoch {epoch}: {history['loss'][-1]}")
        metrics.reset()


if __name__ == "__main__":
    main()
