"""Checkpoints, linear equations and transposes, roots, maps with rules of their own, barriers."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tests.oracle.library import Library
from tests.oracle.programs import Cases


CASES = Cases()
XS = np.array([0.3, -0.7, 1.9], np.float32)
ANY_WEAKNESS = {"checkpoint: in scan, and scan in it"}
"""Here whether the gradient of a number is weak depends on how it was computed; it was computed otherwise."""


# checkpoint ----------------------------------------------------------------------------------------------------------


@CASES.named("checkpoint: a chain")
def _(o):
    f = o.jx.checkpoint(lambda x: o.jnp.sin(o.jnp.sin(x)))
    return (f(2.0), o.jx.grad(f)(2.0), o.jx.grad(o.jx.grad(f))(2.0), o.jx.jit(o.jx.grad(f))(2.0),
            o.jx.vmap(o.jx.grad(o.jx.jit(f)))(XS), o.jx.jvp(f, (2.0,), (1.0,)), o.jx.hessian(lambda x: f(x).sum())(XS))  # fmt: skip


@CASES.named("checkpoint: nested, with policies")
def _(o):
    policies = o.jx.checkpoint_policies
    inner = o.jx.checkpoint(lambda x, w: o.jnp.sin(x @ w), policy=policies.dots_saveable)
    outer = o.jx.checkpoint(lambda x, w: inner(inner(x, w), w).sum())
    w = np.arange(9, dtype=np.float32).reshape(3, 3) / 10
    twice = o.jx.grad(o.jx.grad(lambda s, w: outer(s * XS, w * s)))
    return o.jx.grad(outer, (0, 1))(XS, w), o.jx.jit(twice)(np.float32(0.5), w)


@CASES.named("checkpoint: in scan, and scan in it")
def _(o):
    body = o.jx.checkpoint(lambda c, x: (o.jnp.sin(c * x), o.jnp.cos(c)))
    scanned = lambda x: o.lax.scan(body, x, XS)[1].sum()
    around = o.jx.checkpoint(lambda x: o.lax.scan(lambda c, y: (o.jnp.sin(c * y), c), x, XS)[1].sum())
    return (
        o.jx.grad(scanned)(0.5),
        o.jx.grad(around)(0.5),
        o.jx.vmap(o.jx.grad(around))(XS),
        o.jx.jit(o.jx.grad(o.jx.grad(around)))(0.5),
    )


@CASES.named("checkpoint: static arguments, keywords, aux")
def _(o):
    @functools.partial(o.jx.checkpoint, static_argnums=(1,))
    def f(x, double, scale=1.0):
        return o.jnp.sin(2 * x if double else x) * scale, {"n": 3}

    both = lambda x, d: f(x, d, scale=3.0)
    return o.jx.grad(lambda x: both(x, True)[0])(1.0), o.jx.grad(both, has_aux=True)(1.0, False)


@CASES.named("checkpoint: integers, and results that do not move")
def _(o):
    f = o.jx.checkpoint(lambda x, n: (x * n, n + 1, o.jnp.sum(n)))
    return f(2.0, 3), o.jx.grad(lambda x: f(x, 3)[0])(2.0), o.jx.grad(f, has_aux=False, allow_int=True) and ()


# Linear functions and equations --------------------------------------------------------------------------------------


@CASES.named("linear_transpose")
def _(o):
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    t = o.jx.linear_transpose(lambda x: a @ x, np.zeros(3, np.float32))
    pair = o.jx.linear_transpose(lambda d: (2 * d["a"], d["b"] + d["a"]), {"a": 1.0, "b": 2.0})
    return t(np.ones(2, np.float32)), o.jx.jit(t)(np.ones(2, np.float32)), pair((1.0, 3.0))


@CASES.named("linear_transpose: of integers")
def _(o):
    return o.jx.linear_transpose(lambda x: x * 2, 1)(1)


MATRIX = np.array([[4, 1, 0], [0.5, 3, 1], [0, 1, 5]], np.float32)


def solved(o: Library, a: Any, b: Any, **options: Any) -> Any:
    def iterate(matvec, b):
        return o.lax.fori_loop(0, 60, lambda i, x: x + 0.2 * (b - matvec(x)), o.jnp.zeros_like(b))

    if options.pop("both", False):
        options["transpose_solve"] = iterate
    return o.lax.custom_linear_solve(lambda x: a @ x, b, iterate, **options)


@CASES.named("linear solve: values and derivatives")
def _(o):
    f = lambda a, b: o.jnp.sin(solved(o, a, b, both=True)).sum()
    return (solved(o, MATRIX, XS), o.jx.grad(f, (0, 1))(MATRIX, XS), o.jx.jit(o.jx.grad(f, (0, 1)))(MATRIX, XS),
            o.jx.jvp(lambda a, b: solved(o, a, b), (MATRIX, XS), (MATRIX, XS)), o.jx.hessian(f, 1)(MATRIX, XS))  # fmt: skip


@CASES.named("linear solve: mapped")
def _(o):
    f = lambda a, b: o.jnp.sin(solved(o, a, b, both=True)).sum()
    matrices, vectors = np.stack([MATRIX, MATRIX.T]), np.stack([XS, 2 * XS])
    return [o.jx.vmap(o.jx.grad(f, (0, 1)), dims)(a, b) for dims, a, b in
            (((0, None), matrices, XS), ((None, 0), MATRIX, vectors), ((0, 0), matrices, vectors))]  # fmt: skip


@CASES.named("linear solve: symmetric, of a tree")
def _(o):
    solve = lambda matvec, b: {"x": b["x"] / 2.0, "y": b["y"] / 3.0}
    f = lambda b: o.lax.custom_linear_solve(lambda v: {"x": 2.0 * v["x"], "y": 3.0 * v["y"]}, b, solve, symmetric=True)
    return f({"x": XS, "y": 1.0}), o.jx.grad(lambda b: f(b)["x"].sum() + f(b)["y"])({"x": XS, "y": 1.0})


@CASES.named("linear solve: with aux")
def _(o):
    solve = lambda matvec, b: (b / 2.0, {"steps": 7, "size": o.jnp.sum(b)})
    f = lambda b: o.lax.custom_linear_solve(lambda x: 2.0 * x, b, solve, symmetric=True, has_aux=True)
    return (
        f(XS),
        o.jx.grad(lambda b: f(b)[0].sum() + f(b)[1]["size"])(XS),
        o.jx.vmap(lambda b: f(b)[0])(np.stack([XS, XS])),
    )


@CASES.named("linear solve: reverse mode without a transpose")
def _(o):
    return o.jx.grad(lambda b: solved(o, MATRIX, b).sum())(XS)


def root(o: Library) -> Any:
    def search(f, x):
        return o.lax.fori_loop(0, 40, lambda i, x: x - f(x) / (2 * x), x)

    return lambda a: o.lax.custom_root(lambda x: x * x - a, 1.0, search, lambda g, y: y / g(1.0))


@CASES.named("root: square root")
def _(o):
    sqrt = root(o)
    return (sqrt(2.0), o.jx.grad(sqrt)(2.0), o.jx.grad(o.jx.grad(sqrt))(2.0), o.jx.jit(o.jx.grad(sqrt))(2.0),
            o.jx.vmap(o.jx.grad(sqrt))(np.array([1, 4], np.float32)), o.jx.jvp(o.jx.jit(sqrt), (2.0,), (1.0,)))  # fmt: skip


@CASES.named("root: of vectors, with a linear solve, and aux")
def _(o):
    def search(f, x):
        return o.lax.fori_loop(0, 60, lambda i, x: x - 0.2 * f(x), x), o.jnp.sum(f(x))

    def tangent_solve(g, y):
        it = lambda g, y: o.lax.fori_loop(0, 60, lambda i, x: x + 0.2 * (y - g(x)), o.jnp.zeros_like(y))
        return o.lax.custom_linear_solve(g, y, it, transpose_solve=it)

    def f(b):
        return o.lax.custom_root(lambda x: MATRIX @ x + 0.1 * o.jnp.sin(x) - b, XS, search, tangent_solve, has_aux=True)

    return f(XS)[0], o.jx.jacrev(lambda b: f(b)[0])(XS), o.jx.jacfwd(lambda b: f(b)[0])(XS)


# custom_vmap ---------------------------------------------------------------------------------------------------------


@CASES.named("vmap: a rule")
def _(o):
    @o.custom_batching.custom_vmap
    def f(x, y):
        return x * y

    @f.def_vmap
    def rule(axis_size, in_batched, x, y):
        return x * y + 100.0 * (in_batched[0] + 2 * in_batched[1]), in_batched[0] or in_batched[1]

    arrays = lambda x: o.jx.tree.map(o.jnp.asarray, x)  # JAX hands on what NumPy makes as it is
    return (f(2.0, 3.0), o.jx.vmap(f)(XS, XS), arrays(o.jx.vmap(f, (0, None))(XS, 2.0)), arrays(o.jx.vmap(f, (None, 0))(2.0, XS)),
            o.jx.jit(o.jx.vmap(f))(XS, XS), o.jx.jvp(o.jx.vmap(f), (XS, XS), (XS, XS)),
            o.jx.vmap(lambda x: o.jx.jvp(lambda x: f(x, x), (x,), (1.0,))[1])(XS))  # fmt: skip


@CASES.named("vmap: trees and results that are the same for all")
def _(o):
    @o.custom_batching.custom_vmap
    def f(d, w):
        return {"y": d["x"] * w, "w": w}

    @f.def_vmap
    def rule(axis_size, in_batched, d, w):
        return {"y": d["x"] * w + axis_size, "w": w}, {"y": True, "w": in_batched[1]}

    return o.jx.tree.map(o.jnp.asarray, o.jx.vmap(f, ({"x": 0}, None), {"y": 0, "w": None})({"x": XS}, 2.0))


@CASES.named("vmap: sequential")
def _(o):
    f = o.custom_batching.sequential_vmap(lambda x, w: (o.jnp.sin(x) * w, w))
    return o.jx.vmap(f, (0, None))(XS, 2.0), o.jx.vmap(o.jx.vmap(f, (None, 0)), (0, None))(XS, XS)


# Barriers ------------------------------------------------------------------------------------------------------------


@CASES.named("optimization_barrier")
def _(o):
    f = lambda x: o.lax.optimization_barrier((x, {"a": o.jnp.sin(x)}))[1]["a"]
    return (
        f(XS),
        o.jx.grad(f)(1.0),
        o.jx.vmap(o.jx.grad(f))(XS),
        o.jx.jit(o.jx.jvp, static_argnums=0)(f, (XS,), (XS,)),
    )


# What goes wrong -----------------------------------------------------------------------------------------------------


@CASES.named("wrong: checkpoint with concrete, which is no more")
def _(o):
    return o.jx.checkpoint(lambda x: x, concrete=True)(1.0)


@CASES.named("wrong: custom_vmap says nothing of one result")
def _(o):
    f = o.custom_batching.custom_vmap(lambda x: (x, x))
    f.def_vmap(lambda n, b, x: ((x, x), True))
    return o.jx.vmap(f)(XS)
