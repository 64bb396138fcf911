"""A recurrent network with gates (LSTM) in a `scan`, and the gradient through all its steps.

It learns to say, step by step, what it saw some steps before.

    python examples/programs/rnn.py
"""

import numpy as np


STEPS, BATCH, INPUTS, HIDDEN, DELAY = 50, 32, 8, 64, 5


def make(jax, jnp):
    """`loss_and_gradient(params, x)`: x is (steps, batch, inputs)."""

    def sigmoid(x):
        return 0.5 * (jnp.tanh(0.5 * x) + 1.0)

    def cell(params, state, x):
        h, c = state
        gates = x @ params["from_input"] + h @ params["from_state"] + params["bias"]
        keep, write, show, new = jnp.split(gates, 4, axis=-1)
        c = sigmoid(keep + 1.0) * c + sigmoid(write) * jnp.tanh(new)
        h = sigmoid(show) * jnp.tanh(c)
        return (h, c), h @ params["out"]

    def loss(params, x):
        zeros = jnp.zeros((x.shape[1], params["from_state"].shape[0]))
        _, said = jax.lax.scan(lambda state, x: cell(params, state, x), (zeros, zeros), x)
        return jnp.mean((said[DELAY:] - x[:-DELAY]) ** 2)

    return jax.value_and_grad(loss)


def arguments(steps=STEPS, batch=BATCH, hidden=HIDDEN, seed=0):
    random = np.random.default_rng(seed)

    def normal(*shape, scale=1.0):
        return (scale * random.standard_normal(shape)).astype(np.float32)

    params = {
        "from_input": normal(INPUTS, 4 * hidden, scale=INPUTS**-0.5),
        "from_state": normal(hidden, 4 * hidden, scale=hidden**-0.5),
        "bias": np.zeros(4 * hidden, np.float32),
        "out": normal(hidden, INPUTS, scale=hidden**-0.5),
    }
    return params, np.sign(normal(steps, batch, INPUTS))


def main(jax, jnp, optimizers, steps=200):
    params, x = arguments()
    optimizer = optimizers.adam(1e-2)
    loss_and_gradient = make(jax, jnp)

    @jax.jit
    def step(params, state, x):
        value, gradient = loss_and_gradient(params, x)
        updates, state = optimizer.update(gradient, state, params)
        return optimizers.apply_updates(params, updates), state, value

    state = optimizer.init(params)
    for i in range(steps):
        params, state, value = step(params, state, x)
        if i % (steps // 5) == 0 or i == steps - 1:
            print(f"step {i}: loss {float(value):.4f}")
    return float(value)


if __name__ == "__main__":
    import jitscope as jax
    import jitscope.numpy as jnp
    from jitscope import optimizers

    main(jax, jnp, optimizers)
