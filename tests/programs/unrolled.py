"""Ten thousand operations that a loop in Python unrolls."""

import numpy as np

import jitscope.numpy as jnp


TIMES = 5_000


def program(x):
    for _ in range(TIMES):
        x = jnp.sin(x) * 1.0001
    return x


def arguments(size=8):
    return (np.linspace(0, 1, size, dtype=np.float32),)
