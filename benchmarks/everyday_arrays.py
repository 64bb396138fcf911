"""Everyday programs of science and on arrays, in the forms of several libraries (see `everyday.py`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


Compiled = Callable[[Callable[..., Any]], Callable[..., Any]]


def normal(seed: int, *shape: int, scale: float = 1.0) -> np.ndarray:
    """Normal numbers in float32."""
    return (scale * np.random.default_rng(seed).standard_normal(shape)).astype(np.float32)


def value_and_grad_torch(torch: Any, loss: Callable[..., Any]) -> Callable[..., Any]:
    both = torch.func.grad_and_value(loss)

    def turned(*args):
        grads, value = both(*args)
        return value, grads

    return turned


# Science ---------------------------------------------------------------------------------------------------------------


def k_means(J: Any, jnp: Any) -> Callable[..., Any]:
    def step(centres, points):
        squares = jnp.sum((points[:, None] - centres) ** 2, -1)
        nearest = jnp.argmin(squares, 1)
        counts = jnp.zeros(len(centres)).at[nearest].add(1.0)
        return jnp.zeros_like(centres).at[nearest].add(points) / jnp.maximum(counts, 1.0)[:, None]

    def run(points):
        return J.lax.fori_loop(0, 10, lambda _, c: step(c, points), points[:16])

    return run


def k_means_numpy(np: Any) -> Callable[..., Any]:
    def run(points):
        centres = points[:16]
        for _ in range(10):
            nearest = np.argmin(np.sum((points[:, None] - centres) ** 2, -1), 1)
            counts, sums = np.bincount(nearest, minlength=16), np.zeros_like(centres)
            np.add.at(sums, nearest, points)
            centres = (sums / np.maximum(counts, 1)[:, None]).astype(np.float32)
        return centres

    return run


def k_means_torch(torch: Any, compiled: Compiled) -> Callable[..., Any]:
    @compiled
    def step(centres, points):
        nearest = torch.argmin(torch.sum((points[:, None] - centres) ** 2, -1), 1)
        counts = torch.zeros(16).index_add(0, nearest, torch.ones(len(points)))
        sums = torch.zeros_like(centres).index_add(0, nearest, points)
        return sums / torch.clamp(counts, min=1.0)[:, None]

    def run(points):
        centres = points[:16].clone()
        for _ in range(10):
            centres = step(centres, points)
        return centres

    return run


def k_means_numba(numba: Any) -> Callable[..., Any]:
    @numba.njit(fastmath=True)
    def run(points):
        centres = points[:16].copy()
        for _ in range(10):
            counts, sums = np.zeros(16, np.float32), np.zeros_like(centres)
            for p in points:
                best, nearest = np.float32(np.inf), 0
                for k in range(16):
                    distance = np.float32(0)
                    for d in range(p.size):
                        distance += (p[d] - centres[k, d]) ** 2
                    if distance < best:
                        best, nearest = distance, k
                counts[nearest] += 1
                for d in range(p.size):
                    sums[nearest, d] += p[d]
            for k in range(16):
                for d in range(centres.shape[1]):
                    centres[k, d] = sums[k, d] / max(counts[k], np.float32(1))
        return centres

    return run


def heat(J: Any, jnp: Any) -> Callable[..., Any]:
    def step(_, u):
        inner = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        return u.at[1:-1, 1:-1].add(0.1 * inner)

    return lambda u: J.lax.fori_loop(0, 20, step, u)


def heat_numpy(np: Any) -> Callable[..., Any]:
    def run(u):
        u = u.copy()
        for _ in range(20):
            inner = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
            u[1:-1, 1:-1] += np.float32(0.1) * inner
        return u

    return run


def heat_torch(torch: Any, compiled: Compiled) -> Callable[..., Any]:
    @compiled
    def step(u):
        inner = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        return u + torch.nn.functional.pad(0.1 * inner, (1, 1, 1, 1))

    def run(u):
        for _ in range(20):
            u = step(u)
        return u

    return run


def heat_numba(numba: Any) -> Callable[..., Any]:
    @numba.njit(fastmath=True)
    def run(u):
        u = u.copy()
        new = u.copy()
        for _ in range(20):
            for i in range(1, u.shape[0] - 1):
                for j in range(1, u.shape[1] - 1):
                    around = u[i + 1, j] + u[i - 1, j] + u[i, j + 1] + u[i, j - 1]
                    new[i, j] = u[i, j] + np.float32(0.1) * (around - np.float32(4) * u[i, j])
            u, new = new, u
        return u

    return run


def fft_filter(J: Any, jnp: Any) -> Callable[..., Any]:
    def smooth(x):
        spectrum = jnp.fft.rfft(x)
        low = jnp.arange(spectrum.shape[0]) < spectrum.shape[0] // 8
        return jnp.fft.irfft(jnp.where(low, spectrum, 0.0), x.shape[0])

    return smooth


def fft_filter_numpy(np: Any) -> Callable[..., Any]:
    def smooth(x):
        spectrum = np.fft.rfft(x)
        spectrum[spectrum.shape[0] // 8 :] = 0
        return np.fft.irfft(spectrum, x.shape[0])

    return smooth


def fft_filter_torch(torch: Any, compiled: Compiled) -> Callable[..., Any]:
    def smooth(x):
        spectrum = torch.fft.rfft(x)
        low = torch.arange(spectrum.shape[0]) < spectrum.shape[0] // 8
        return torch.fft.irfft(spectrum * low, x.shape[0])

    return compiled(smooth)


def kalman(J: Any, jnp: Any) -> Callable[..., Any]:
    """Many filters of four states (places and speeds) side by side; each sees two of the states."""

    def one(seen):
        move = jnp.eye(4) + 0.1 * jnp.eye(4, k=2)

        def step(state, z):
            x, p = state
            x, p = move @ x, move @ p @ move.T + 0.01 * jnp.eye(4)
            s = p[:2, :2] + 0.1 * jnp.eye(2)
            inverse = jnp.array([[s[1, 1], -s[0, 1]], [-s[1, 0], s[0, 0]]]) / (s[0, 0] * s[1, 1] - s[0, 1] * s[1, 0])
            gain = p[:, :2] @ inverse
            return (x + gain @ (z - x[:2]), p - gain @ p[:2]), None

        return J.lax.scan(step, (jnp.zeros(4), jnp.eye(4)), seen)[0][0]

    return J.vmap(one)


def kalman_torch(torch: Any, compiled: Compiled) -> Callable[..., Any]:
    @compiled
    def step(move, x, p, z):
        x, p = move @ x, move @ p @ move.T + 0.01 * torch.eye(4)
        s = p[:, :2, :2] + 0.1 * torch.eye(2)
        a, b, c, d = s[:, 0, 0], s[:, 0, 1], s[:, 1, 0], s[:, 1, 1]
        inverse = torch.stack([d, -b, -c, a], -1).reshape(-1, 2, 2) / (a * d - b * c)[:, None, None]
        gain = p[:, :, :2] @ inverse
        return x + gain @ (z - x[:, :2]), p - gain @ p[:, :2]

    def run(seen):
        n = len(seen)
        move = torch.eye(4) + 0.1 * torch.diag(torch.ones(2), 2)
        x, p = torch.zeros(n, 4, 1), torch.eye(4).repeat(n, 1, 1)
        for t in range(seen.shape[1]):
            x, p = step(move, x, p, seen[:, t, :, None].contiguous())
        return x[..., 0]

    return run


def kalman_numpy(np: Any) -> Callable[..., Any]:
    def run(seen):
        n, f = len(seen), np.float32
        move = (np.eye(4) + 0.1 * np.eye(4, k=2)).astype(f)
        x, p = np.zeros((n, 4, 1), f), np.broadcast_to(np.eye(4, dtype=f), (n, 4, 4))
        for t in range(seen.shape[1]):
            x, p = move @ x, move @ p @ move.T + f(0.01) * np.eye(4, dtype=f)
            gain = p[:, :, :2] @ np.linalg.inv(p[:, :2, :2] + f(0.1) * np.eye(2, dtype=f))
            x, p = x + gain @ (seen[:, t, :, None] - x[:, :2]), p - gain @ p[:, :2]
        return x[..., 0]

    return run


# Arrays ----------------------------------------------------------------------------------------------------------------


def ranks(J: Any, jnp: Any) -> Callable[..., Any]:
    def run(x):
        order = jnp.argsort(x)
        return jnp.sort(x), jnp.zeros_like(order).at[order].set(jnp.arange(len(x), dtype=order.dtype))

    return run


def ranks_numpy(np: Any) -> Callable[..., Any]:
    def run(x):
        order = np.argsort(x, kind="stable")
        places = np.empty_like(order)
        places[order] = np.arange(len(x))
        return np.sort(x), places

    return run


def ranks_torch(torch: Any, compiled: Compiled) -> Callable[..., Any]:
    def run(x):
        values, order = torch.sort(x, stable=True)
        return values, torch.zeros_like(order).scatter(0, order, torch.arange(len(x)))

    return compiled(run)


def running(J: Any, jnp: Any) -> Callable[..., Any]:
    return lambda x: (jnp.cumsum(x, 0), jnp.cumsum(x, 1))


def running_numba(numba: Any) -> Callable[..., Any]:
    @numba.njit
    def run(x):
        down, along = x.copy(), x.copy()
        for i in range(1, x.shape[0]):
            for j in range(x.shape[1]):
                down[i, j] += down[i - 1, j]
        for i in range(x.shape[0]):
            for j in range(1, x.shape[1]):
                along[i, j] += along[i, j - 1]
        return down, along

    return run


def gather_scatter(J: Any, jnp: Any) -> Callable[..., Any]:
    """A step of message passing on a graph."""
    return lambda nodes, source, target: jnp.zeros_like(nodes).at[target].add(jnp.maximum(nodes[source], 0.0))


def gather_scatter_numpy(np: Any) -> Callable[..., Any]:
    def run(nodes, source, target):
        out = np.zeros_like(nodes)
        np.add.at(out, target, np.maximum(nodes[source], 0))
        return out

    return run


def gather_scatter_numba(numba: Any) -> Callable[..., Any]:
    @numba.njit
    def run(nodes, source, target):
        out = np.zeros_like(nodes)
        for e in range(source.size):
            for k in range(nodes.shape[1]):
                out[target[e], k] += max(nodes[source[e], k], np.float32(0))
        return out

    return run


def gather_scatter_torch(torch: Any, compiled: Compiled) -> Callable[..., Any]:
    return compiled(
        lambda nodes, source, target: torch.zeros_like(nodes).index_add(0, target, torch.relu(nodes[source]))
    )


def edges() -> tuple:
    random = np.random.default_rng(1)
    return normal(0, 10_000, 16), *(random.integers(0, 10_000, 100_000).astype(np.int32) for _ in range(2))


def small_matrices(J: Any, jnp: Any) -> Callable[..., Any]:
    return lambda a, b: a @ b @ jnp.swapaxes(a, -1, -2)
