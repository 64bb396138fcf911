"""Bodies that attract each other, a hundred steps in a loop: the program of `examples/programs/nbody.py`, with its functions at the top."""

import numpy as np

import jitscope.numpy as jnp
from jitscope import lax


STEP, SOFTENING = 1e-3, 0.05


def acceleration(x, masses):
    between = x[None, :, :] - x[:, None, :]
    squares = jnp.sum(between**2, axis=-1) + SOFTENING**2
    return jnp.einsum("ij,ijk->ik", masses / (squares * jnp.sqrt(squares)), between)


def program(x, v, masses):
    def leap(_, state):
        x, v, a = state
        v = v + 0.5 * STEP * a
        x = x + STEP * v
        a = acceleration(x, masses)
        return x, v + 0.5 * STEP * a, a

    x, v, _ = lax.fori_loop(0, 100, leap, (x, v, acceleration(x, masses)))
    return x, v


def arguments(bodies=128):
    random = np.random.default_rng(0)
    x, v = random.standard_normal((bodies, 3)), 0.3 * random.standard_normal((bodies, 3))
    return x.astype(np.float32), v.astype(np.float32), np.full(bodies, 1.0 / bodies, np.float32)
