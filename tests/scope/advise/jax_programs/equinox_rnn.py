"""A recurrent network over sequences, with a flag that filter_jit keeps static: equinox."""

import math

import equinox as eqx
import jax
import jax.lax as lax
import jax.numpy as jnp
import jax.random as jrandom
import optax


def dataloader(arrays, batch_size):
    dataset_size = arrays[0].shape[0]
    assert all(array.shape[0] == dataset_size for array in arrays)
    indices = jnp.arange(dataset_size)
    key = jrandom.PRNGKey(0)
    while True:
        key, own = jrandom.split(key)
        perm = jrandom.permutation(own, indices)
        start, end = 0, batch_size
        while end <= dataset_size:
            batch_perm = perm[start:end]
            yield tuple(array[batch_perm] for array in arrays)
            start, end = end, end + batch_size


class RNN(eqx.Module):
    hidden_size: int
    cell: eqx.Module
    linear: eqx.nn.Linear
    bias: jax.Array

    def __init__(self, in_size, out_size, hidden_size, *, key):
        ckey, lkey = jrandom.split(key)
        self.hidden_size = hidden_size
        self.cell = eqx.nn.GRUCell(in_size, hidden_size, key=ckey)
        self.linear = eqx.nn.Linear(hidden_size, out_size, use_bias=False, key=lkey)
        self.bias = jnp.zeros(out_size)

    def __call__(self, input):
        hidden = jnp.zeros((self.hidden_size,))

        def f(carry, inp):
            return self.cell(inp, carry), None

        out, _ = lax.scan(f, hidden, input)
        return jax.nn.sigmoid(self.linear(out) + self.bias)


@eqx.filter_value_and_grad
def compute_loss(model, x, y):
    pred_y = jax.vmap(model)(x)
    return -jnp.mean(y * jnp.log(pred_y + 1e-6) + (1 - y) * jnp.log(1 - pred_y + 1e-6))


@eqx.filter_jit
def apply(model, x, hard=False):
    out = jax.vmap(model)(x)
    if hard:
        out = jnp.round(out)
    return out


def main():
    t = jnp.linspace(0, 2 * math.pi, 8)
    offset = jrandom.uniform(jrandom.PRNGKey(1), (6, 1), maxval=2 * math.pi)
    xs = jnp.stack([jnp.sin(t + offset), jnp.cos(t + offset)], axis=-1)
    xs = xs.at[:3, :, 1].multiply(-1)
    ys = jnp.zeros((6, 1)).at[:3].set(1)
    model = RNN(2, 1, 4, key=jrandom.PRNGKey(2))
    optim = optax.adam(1e-2)
    opt_state = optim.init(eqx.filter(model, eqx.is_inexact_array))

    @eqx.filter_jit
    def make_step(model, x, y, opt_state):
        loss, grads = compute_loss(model, x, y)
        updates, opt_state = optim.update(grads, opt_state)
        model = eqx.apply_updates(model, updates)
        return loss, model, opt_state

    for step, (x, y) in zip(range(3), dataloader((xs, ys), 3)):
        loss, model, opt_state = make_step(model, x, y, opt_state)
        loss = loss.item()
        print(f"step={step}, loss={loss}")
    print(apply(model, xs, hard=True).shape)


if __name__ == "__main__":
    main()
