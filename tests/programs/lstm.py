"""An LSTM that runs over a sentence in a scan: the loss and its gradient."""

import numpy as np

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax, nn


def cell(params, state, x):
    h, c = state
    gates = x @ params["from_input"] + h @ params["from_state"] + params["bias"]
    keep, write, show, new = jnp.split(gates, 4, axis=-1)
    c = nn.sigmoid(keep) * c + nn.sigmoid(write) * jnp.tanh(new)
    h = nn.sigmoid(show) * jnp.tanh(c)
    return (h, c), h


def run(params, xs):
    zeros = jnp.zeros((xs.shape[1], params["out"].shape[0]))

    def step(state, x):
        return cell(params["cell"], state, x)

    _, hs = lax.scan(step, (zeros, zeros), xs)
    return hs @ params["out"]


def loss(params, xs, ys):
    return ((run(params, xs) - ys) ** 2).mean()


def program(params, xs, ys):
    return jx.value_and_grad(loss)(params, xs, ys)


def arguments(steps=40, batch=8, inputs=6, hidden=16):
    random = np.random.default_rng(0)
    normal = lambda *shape: random.normal(0, 0.2, shape).astype(np.float32)
    cell = {
        "from_input": normal(inputs, 4 * hidden),
        "from_state": normal(hidden, 4 * hidden),
        "bias": normal(4 * hidden),
    }
    return {"cell": cell, "out": normal(hidden, inputs)}, normal(steps, batch, inputs), normal(steps, batch, inputs)
