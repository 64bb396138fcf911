"""Open sums in linear operations, loops, branches and functions that are called: what comes out beside the same program with no sum open, and how often it
exchanges anything. Prints JSON."""

from __future__ import annotations

import json
import os


os.environ["JITSCOPE_NUM_CPU_DEVICES"] = "8"

import numpy as np

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.sharding import PartitionSpec as P, reshard


MESH = jx.make_mesh((4, 2), ("x", "y"))
N = np.arange(24, dtype=np.float32).reshape(3, 2, 4) / 7
ROWS = np.linspace(-1, 1, 32, dtype=np.float32).reshape(8, 4)
WEIGHTS = np.stack([np.eye(4, dtype=np.float32) * s for s in (0.5, -0.7, 0.9)])


def zero(like):
    """Zeros that lie as a value does."""
    return like - like


PROGRAMS = {
    "stacked": lambda u: lax.scan(lambda c, a: (c, a + a), 0, u)[1],
    "stacked backwards": lambda u: lax.scan(lambda c, a: (c + a, c), zero(u[0]), u, reverse=True),
    "stacked, two at once": lambda u: lax.scan(lambda c, a: (c + a, c), zero(u[0]), u, unroll=2),
    "unrolled": lambda u: lax.scan(lambda c, a: (c + a, a), zero(u[0]), u, unroll=True),
    "the same each time": lambda u: lax.scan(lambda c, _: (c + u, u[0]), zero(u), None, length=3),
    "while": lambda u: lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] + u, s[1]), (0, zero(u), u))[1:],
    "loop in a loop": lambda u: lax.scan(
        lambda c, a: (c + a, lax.scan(lambda d, b: (d + b, d), zero(a[0]), a)[1]), zero(u[0]), u
    ),
    "fori": lambda u: lax.fori_loop(0, 3, lambda i, c: c + lax.dynamic_index_in_dim(u, i, 0, False), zero(u[0])),
    "branches": lambda u: lax.cond(jnp.float32(1) > 0, lambda a: (a + a, zero(a)), lambda a: (a, a), u),
    "called": lambda u: jx.jit(lambda a: (a + a, lax.scan(lambda c, b: (c, b), 0, a)[1]))(u),
    "loop of calls": lambda u: lax.scan(lambda c, a: jx.jit(lambda c, a: (c + a, c))(c, a), zero(u[0]), u),
    "kept for the way back": lambda u: lax.scan(jx.checkpoint(lambda c, a: (c + a, c)), zero(u[0]), u),
    "mapped": lambda u: jx.vmap(lambda a: lax.scan(lambda c, b: (c + b, c), zero(a[0]), a), in_axes=1)(u),
    # Operations that are several of XLA's.
    "stack": lambda u: jnp.stack([u, u], 1),
    "unstack": lambda u: jnp.unstack(u, axis=1),
    "take": lambda u: jnp.take(u, np.array([1, 0, 1]), 1),
    "take along": lambda u: jnp.take_along_axis(u, np.array([[[1]]] * 3), 1),
    "gathered": lambda u: u[:, np.array([1, 0]), np.array([3, 2])],
    "windows": lambda u: lax.reduce_window(u, 0.0, lax.add, (1, 2, 1), (1, 1, 1), "VALID"),
    "tile": lambda u: jnp.tile(u, (1, 2, 1)),
    "repeat": lambda u: jnp.repeat(u, 2, 1),
    "repeated": lambda u: jnp.broadcast_to(u[:, :, None], (3, 2, 5, 4)),
    "cumsum": lambda u: jnp.cumsum(u.reshape(3, 8), 1),
    "roll": lambda u: jnp.roll(u, (1, 2), (1, 2)),
    "moved": lambda u: jnp.rot90(jnp.flip(u.T, 1)).reshape(8, 3),
    "differences": lambda u: jnp.diff(u, axis=1) / 3,
    "added up": lambda u: lax.associative_scan(jnp.add, u, axis=1),
    "traces": lambda u: [jnp.trace(u, axis1=1, axis2=2), jnp.diagonal(u, axis1=1, axis2=2), u.mean(1)],
}


def opened(program):
    """The program of an array whose sum over `y` is open: each device along it has a part of each number."""
    parts = jnp.stack([N * 0.25, N * 0.75])
    end = P(unreduced={"y"})

    def run(parts):
        return program(
            jnp.einsum("ij...,i->j...", reshard(parts, P("y")), reshard(jnp.ones(2), P("y")), out_sharding=end)
        )

    out = jx.jit(run)
    found = [np.asarray(reshard(a, P())).tolist() for a in jx.tree.leaves(out(parts))]
    return found, out.lower(parts).compile().as_text().count(" all-reduce(")


def loss(ws, x):
    return (lax.scan(lambda x, w: (jnp.tanh(x @ w), None), x, ws)[0] ** 2).sum()


def layers() -> dict[str, object]:
    """Gradients of stacked weights, summed over batches while the sum over devices is open."""

    def step(ws, xs):
        found = lax.scan(
            lambda total, x: (total + jx.grad(loss)(ws, x), None),
            reshard(jnp.zeros_like(ws), P(unreduced={"x"}))
            if jx.typeof(ws).sharding.spec.reduced
            else jnp.zeros_like(ws),
            xs,
        )[0]
        return reshard(found, P())

    xs = jnp.stack([ROWS, 2 * ROWS])
    ws, cut = reshard(WEIGHTS, P(reduced={"x"})), reshard(xs, P(None, "x"))
    return {
        "open": np.asarray(jx.jit(step)(ws, cut)).tolist(),
        "whole": np.asarray(jx.jit(step)(reshard(WEIGHTS, P()), reshard(xs, P()))).tolist(),
        "exchanged": jx.jit(step).lower(ws, cut).compile().as_text().count(" all-reduce("),
    }


def products() -> list[object]:
    """Terms times what all devices have, which is repeated along other axes; and a window over what is cut, which is no term."""
    times = lambda u, w: u[:, :, :, None] * w
    w = np.arange(3, dtype=np.float32)
    cut = reshard(ROWS, P("x"))
    window = jx.jit(lambda a: lax.reduce_window(a, 0.0, lax.add, (1, 2), (1, 1), "VALID"))
    return [
        *opened(lambda u: times(u, reshard(w, P(reduced={"y"})))),
        np.asarray(times(N, w)).tolist(),
        window.lower(cut).compile().as_text().count(" all-gather("),
    ]


def shares() -> list[object]:
    """The gradient of weights of which each device uses a product that it has whole, where JAX raises: of all of it, and beside one of
    which each has a part."""
    w, rows = reshard(WEIGHTS[0] + 0.1, P(reduced={"x"})), reshard(ROWS, P("x"))
    inside = lambda f: jx.shard_map(
        lambda w, r: lax.psum(f(w, r), "x"), in_specs=(P(reduced={"x"}), P("x")), out_specs=P()
    )
    found = []
    for f in (lambda w, r: (r @ (w @ w)).sum(), lambda w, r: (r @ w @ (w @ w)).sum()):
        slope = jx.jit(jx.grad(inside(f)))(w, rows)
        found.append(
            [np.asarray(reshard(slope, P())).tolist(), np.asarray(jx.grad(f)(WEIGHTS[0] + 0.1, ROWS)).tolist()]
        )
    return found


def main() -> None:
    with jx.set_mesh(MESH):
        found = {
            "loops": {
                name: [*opened(program), [np.asarray(a).tolist() for a in jx.tree.leaves(jx.jit(program)(N))]]
                for name, program in PROGRAMS.items()
            },
            "layers": layers(),
            "products": products(),
            "shares": shares(),
        }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
