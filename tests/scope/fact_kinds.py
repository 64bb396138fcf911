"""Programs of `fact_programs`, more of them: operations of kinds that the others leave out."""

from __future__ import annotations

import numpy as np

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.core import dtypes
from tests.scope.fact_programs import PROGRAMS, bf16, c64, f32, program


__all__ = ["PROGRAMS"]


@program(f32(9, 4))
def place_of_the_largest(x):
    def larger(a, b):
        first = (a[0] > b[0]) | ((a[0] == b[0]) & (a[1] < b[1]))
        return jnp.where(first, a[0], b[0]), jnp.where(first, a[1], b[1])

    rows = lax.broadcasted_iota(jnp.int32, x.shape, 0)
    largest, at = lax.reduce((x, rows), (jnp.float32(-1), jnp.int32(-1)), larger, (0,))
    return largest * 2, at


@program(np.array([3, 1, 3, 2], np.int32), f32(4), f32(4))
def sorted_by_two_keys(major, minor, carried):
    major, minor, carried = lax.sort((major, minor, carried), num_keys=2)
    return major, jnp.cumsum(carried) - minor


@program(f32(6, 3), np.array([1, 1, 4, 1], np.int32), f32(4, 3))
def scatters_with_duplicates(x, at, rows):
    added = x.at[at].add(rows)
    return added.at[at].max(rows * 3), x.at[at, 0].mul(2.0)


@program(f32(4), f32(3, 4))
def while_in_cond_in_scan(x, rows):
    def halved(v):
        return lax.while_loop(lambda v: (v**2).sum() > 0.5, lambda v: v * 0.5, v)

    def step(v, row):
        v = lax.cond(row.sum() > 1.5, halved, lambda v: v + jnp.sin(row), v)
        return v, v.max()

    return lax.scan(step, x, rows)


@program(f32(3, 4, 4) + 4 * np.eye(4, dtype=np.float32), f32(3, 4))
def batched_factorisations(matrices, sides):
    solved = jnp.linalg.solve(matrices, sides[..., None])[..., 0]
    q, r = jnp.linalg.qr(matrices)
    _, singular, _ = jnp.linalg.svd(matrices)
    values, vectors = jnp.linalg.eigh(matrices + matrices.mT)
    return solved, q @ r, singular.sum(1), vectors * values[:, None]


@program(bf16(4, 6), f32(6, 5).astype(np.float16), np.arange(20, dtype=np.int8).reshape(4, 5))
def many_widths(a, b, c):
    product = lax.dot(a, b.astype(dtypes.bfloat16), preferred_element_type=jnp.float32)
    wide = jnp.dot(c, c.T, preferred_element_type=jnp.int32)
    return product + c.astype(jnp.float32), wide.sum(0).astype(jnp.float16)


@program(c64(4, 8), f32(8))
def filtered(signal, weights):
    spectrum = jnp.fft.fft(signal) * weights
    back = jnp.fft.ifft(spectrum)
    return back.real, jnp.abs(jnp.fft.rfft(back.imag)).sum(1)


@program(f32(16, 3), f32(16, 3))
def recurrence_by_scan_of_pairs(a, b):
    def both(first, second):
        return first[0] * second[0], first[1] * second[0] + second[1]

    _, states = lax.associative_scan(both, (a, b))
    return states[-1], jnp.cumprod(a, 0)[-1] + lax.cummax(b)[0]


@jx.custom_jvp
def _softened(x):
    return jnp.where(x > 0, jnp.log1p(x), x)


@_softened.defjvp
def _(primals, tangents):
    (x,), (t,) = primals, tangents
    return _softened(x), t / (1 + jnp.abs(x))


@program(f32(6, 4), f32(6, 4), donate=(0, 1))
def given_away(state, momentum):
    momentum = 0.9 * momentum + state
    return state - 0.1 * momentum, momentum
