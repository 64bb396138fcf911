"""The optimizers and layers of `jax.example_libraries`."""

import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.example_libraries import optimizers, stax


PARAMS = {
    "w": np.array([[1.0, -2.0], [0.5, 3.0]], np.float32),
    "b": np.array([0.1, -0.3], np.float32),
    "s": np.float32(2),
}
STEPS = {
    "sgd": lambda o: o.sgd(o.exponential_decay(0.1, 2, 0.5)),
    "momentum": lambda o: o.momentum(o.piecewise_constant([1], [0.1, 0.01]), 0.9),
    "nesterov": lambda o: o.nesterov(o.polynomial_decay(0.1, 5, 0.01, 2.0), 0.9),
    "adagrad": lambda o: o.adagrad(0.1),
    "rmsprop": lambda o: o.rmsprop(o.inverse_time_decay(0.1, 2, 0.5)),
    "rmsprop_momentum": lambda o: o.rmsprop_momentum(o.inverse_time_decay(0.1, 2, 0.5, staircase=True)),
    "adam": lambda o: o.adam(0.1),
    "adamax": lambda o: o.adamax(0.1),
    "sm3": lambda o: o.sm3(0.1),
}


def optimized(name):
    """The parameters after four steps on a bowl, in one row."""
    init, update, get = STEPS[name](optimizers)
    state = init(jax.tree.map(jnp.asarray, PARAMS))

    def loss(params):
        return sum(jnp.sum(x**2 + x) for x in jax.tree.leaves(params))

    def step(i, state):
        return update(i, optimizers.clip_grads(jax.grad(loss)(get(state)), 3.0), state)

    step = step if name == "sm3" else jax.jit(step)  # JAX's keeps a shape in the state
    for i in range(4):
        state = step(i, state)
    return jax.tree.leaves(get(state))


def layered():
    """What a network of every kind of layer gives, in one row."""
    init, apply = stax.serial(
        stax.Conv(4, (3, 3), padding="SAME"), stax.BatchNorm(), stax.Relu, stax.MaxPool((2, 2), (2, 2)),
        stax.ConvTranspose(2, (2, 2)), stax.AvgPool((2, 2), padding="SAME"), stax.SumPool((2, 2)),
        stax.FanOut(2), stax.parallel(stax.Identity, stax.Gelu), stax.FanInSum, stax.Flatten,
        stax.shape_dependent(lambda shape: stax.Dense(shape[-1] // 2)), stax.FanOut(2),
        stax.parallel(stax.Tanh, stax.Softplus), stax.FanInConcat(), stax.Dropout(0.8), stax.LogSoftmax)  # fmt: skip
    shape, params = init(jax.random.key(0), (2, 6, 6, 3))
    x = jnp.asarray(np.sin(np.arange(216.0)).reshape(2, 6, 6, 3).astype(np.float32))
    out = apply(params, x, rng=jax.random.key(1))
    assert out.shape == tuple(shape)
    return out


def optimizing():
    return {name: optimized(name) for name in STEPS}


def command_line():
    """What options are after absl read them: only JAX's, and only before `--`."""
    sys.argv[1:] = ["--jax_numpy_rank_promotion=raise", "--nojax_enable_x64", "--width=3", "--", "--jax_debug_nans"]
    jax.config.parse_flags_with_absl()
    found = jax.config.jax_numpy_rank_promotion == "raise", jax.config.jax_enable_x64, jax.config.jax_debug_nans
    jax.config.update("jax_numpy_rank_promotion", "allow")
    return [jnp.float32(x) for x in found]


PARTS = [optimizing, layered, command_line]
