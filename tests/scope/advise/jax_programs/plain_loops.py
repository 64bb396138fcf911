"""Control flow, transformations and keys in plain jax."""

from functools import partial

import jax
import jax.numpy as jnp
from jax import Array, grad, jit, lax, random, vmap


@partial(jit, static_argnames=("steps", "method"))
def integrate(y0: Array, dt: float, steps: int, method: str = "rk4"):
    def f(y):
        return jnp.stack([y[1], -jnp.sin(y[0])])

    def rk4(y, _):
        k1 = f(y)
        k2 = f(y + dt / 2 * k1)
        k3 = f(y + dt / 2 * k2)
        k4 = f(y + dt * k3)
        y = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return y, y

    def euler(y, _):
        y = y + dt * f(y)
        return y, y

    if method == "rk4":
        step = rk4
    elif method == "euler":
        step = euler
    else:
        raise ValueError(f"unknown method {method!r}")
    return lax.scan(step, y0, None, length=steps)


@jit
def newton(x0, target):
    def not_yet(state):
        x, i = state
        return (jnp.abs(x * x - target) > 1e-5) & (i < 50)

    def step(state):
        x, i = state
        return x - (x * x - target) / (2 * x), i + 1

    return lax.while_loop(not_yet, step, (x0, 0))


@jit
def clipped(x, limit):
    if x.ndim == 0:
        x = x[None]
    assert jnp.issubdtype(x.dtype, jnp.floating)
    if jnp.ndim(limit) > 0 and jnp.shape(limit) != x.shape:
        raise ValueError("limits must fit")
    norm = jnp.linalg.norm(x)
    return lax.cond(norm > limit, lambda y: y * (limit / norm), lambda y: y, x)


def walk(key, steps):
    def step(position, key):
        move = random.normal(key, position.shape)
        position = position + move
        return position, position

    return lax.scan(step, jnp.zeros(2), random.split(key, steps))[1]


def main():
    y, path = integrate(jnp.array([1.0, 0.0]), 0.1, steps=10)
    root, count = newton(1.0, 2.0)
    paths = vmap(walk, in_axes=(0, None))(random.split(random.key(0), 3), 5)
    slope = grad(lambda x: clipped(x, 1.0).sum())(jnp.array([3.0, 4.0]))
    print(y, path.shape, root, count, paths.shape, slope, jax.device_count())


if __name__ == "__main__":
    main()
