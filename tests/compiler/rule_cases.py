"""Programs with rules of their own, written once for JAX and for jitscope: each takes a namespace of modules and gives
a tree of arrays, or raises.

`record_jax_rules.py` writes down what JAX gives, the tests compare.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np


Modules = SimpleNamespace
Case = Callable[[Modules], Any]
CASES: dict[str, Case] = {}
XS = np.array([0.3, -0.7, 1.9], np.float32)


def case(name: str) -> Callable[[Case], Case]:
    def register(fun: Case) -> Case:
        CASES[name] = fun
        return fun

    return register


# custom_jvp ----------------------------------------------------------------------------------------------------------


def log1pexp(m: Modules) -> Any:
    @m.jax.custom_jvp
    def f(x):
        return m.jnp.log(1.0 + m.jnp.exp(x))

    @f.defjvp
    def f_jvp(primals, tangents):
        (x,), (t,) = primals, tangents
        return f(x), (1 - 1 / (1 + m.jnp.exp(x))) * t

    return f


@case("jvp: log1pexp at a large number")
def _(m):
    f = log1pexp(m)
    return m.jax.grad(f)(100.0), m.jax.jit(m.jax.grad(f))(100.0), m.jax.vmap(m.jax.jit(m.jax.grad(f)))(XS)


@case("jvp: second derivatives")
def _(m):
    f = log1pexp(m)
    return [m.jax.grad(m.jax.grad(f))(0.3), m.jax.hessian(lambda x: f(x).sum())(XS), m.jax.jacrev(m.jax.jacfwd(f))(0.3)]


@case("jvp: forward")
def _(m):
    return m.jax.jvp(log1pexp(m), (XS,), (XS,)), m.jax.jvp(m.jax.jit(log1pexp(m)), (2.0,), (1.0,))


@case("jvp: two arguments, defjvps with None")
def _(m):
    @m.jax.custom_jvp
    def f(x, y):
        return m.jnp.sin(x) * y

    f.defjvps(lambda t, out, x, y: m.jnp.cos(x) * t * y + 10 * t, None)
    return (
        m.jax.grad(f, (0, 1))(2.0, 3.0),
        m.jax.jvp(f, (2.0, 3.0), (1.0, 1.0)),
        m.jax.vmap(m.jax.grad(f), (0, None))(XS, 2.0),
    )


@case("jvp: trees")
def _(m):
    @m.jax.custom_jvp
    def f(p, x):
        return {"out": p["w"] * x + p["b"], "norm": (x * x,)}

    @f.defjvp
    def f_jvp(primals, tangents):
        (p, x), (tp, tx) = primals, tangents
        out = f(p, x)
        return out, {"out": tp["w"] * x + 2 * p["w"] * tx, "norm": (3 * x * tx,)}

    loss = lambda p, x: f(p, x)["out"].sum() + f(p, x)["norm"][0].sum()
    params = {"w": 2.0, "b": np.ones(3, np.float32)}
    return m.jax.grad(loss, (0, 1))(params, XS), m.jax.jit(m.jax.grad(m.jax.jit(loss), 1))(params, XS)


@case("jvp: arguments that are not differentiated")
def _(m):
    @functools.partial(m.jax.custom_jvp, nondiff_argnums=(0, 2))
    def apply(f, x, n):
        return f(x) * n

    @apply.defjvp
    def apply_jvp(f, n, primals, tangents):
        (x,), (t,) = primals, tangents
        return apply(f, x, n), 2.0 * t * n

    return m.jax.grad(lambda x: apply(m.jnp.sin, x, 3))(1.0), m.jax.vmap(m.jax.grad(lambda x: apply(m.jnp.sin, x, 3)))(
        XS
    )


@case("jvp: a traced argument that is not differentiated")
def _(m):
    @functools.partial(m.jax.custom_jvp, nondiff_argnums=(1,))
    def scaled(x, n):
        return x * n

    @scaled.defjvp
    def scaled_jvp(n, primals, tangents):
        return scaled(primals[0], n), 7.0 * tangents[0] * n

    return m.jax.grad(scaled, (0, 1))(2.0, 3.0), m.jax.jit(m.jax.grad(scaled, (0, 1)))(2.0, 3.0)


@case("jvp: keywords and defaults")
def _(m):
    @m.jax.custom_jvp
    def f(x, y=2.0):
        return x * y

    f.defjvps(lambda t, out, x, y: 5.0 * t * y, lambda t, out, x, y: t * x)
    return m.jax.grad(f)(3.0), m.jax.grad(lambda x: f(y=x, x=2.0))(3.0), f(y=3.0, x=4.0)


@case("jvp: Python's if sees values")
def _(m):
    @m.jax.custom_jvp
    def relu(x):
        return x if x > 0 else 0.0 * x

    relu.defjvp(lambda p, t: (relu(*p), t[0] if p[0] > 0 else 0.0 * t[0]))
    return relu(2.0), m.jax.grad(relu)(2.0), m.jax.grad(relu)(-2.0), m.jax.grad(m.jax.grad(relu))(2.0)


@case("jvp: integers")
def _(m):
    @m.jax.custom_jvp
    def f(x, n):
        return x**n, n + 1

    @f.defjvp
    def f_jvp(primals, tangents):
        (x, n), (t, _) = primals, tangents
        return f(x, n), (n * x ** (n - 1) * t, np.zeros(np.shape(n), m.jax.float0))

    return m.jax.grad(lambda x, n: f(x, n)[0])(2.0, 3), m.jax.jit(m.jax.grad(lambda x, n: f(x, n)[0]))(2.0, np.int32(3))


@case("jvp: symbolic zeros")
def _(m):
    seen = []

    @m.jax.custom_jvp
    def f(x, y):
        return x * y

    def f_jvp(primals, tangents):
        (x, y), (tx, ty) = primals, tangents
        zero = [type(t) is m.derivatives.SymbolicZero for t in tangents]
        seen.append(zero)
        total = 0.0 * x
        total = total if zero[0] else total + 3.0 * tx * y
        return f(x, y), total if zero[1] else total + x * ty

    f.defjvp(f_jvp, symbolic_zeros=True)
    out = m.jax.grad(f, 1)(2.0, 3.0), m.jax.grad(f, (0, 1))(2.0, 3.0), m.jax.vmap(m.jax.grad(f), (0, None))(XS, 2.0)
    return out, [np.array(s) for s in seen]


@case("jvp: of complex numbers")
def _(m):
    @m.jax.custom_jvp
    def f(z):
        return z * z

    f.defjvp(lambda p, t: (f(*p), (2 + 1j) * p[0] * t[0]))
    return m.jax.grad(f, holomorphic=True)(1 + 2j), m.jax.grad(lambda z: m.jnp.abs(f(z)))(1 + 2j)


@case("jvp: bfloat16 and weak types")
def _(m):
    f = log1pexp(m)
    return m.jax.grad(f)(m.jnp.bfloat16(1)), m.jax.grad(f)(1.0), m.jax.grad(f)(np.float32(1)), m.jax.jit(f)(1.0)


@case("jvp: in scan, cond and while")
def _(m):
    f = log1pexp(m)
    scanned = lambda x: m.lax.scan(lambda c, y: (f(c * y), f(c)), x, XS)[1].sum()
    chosen = lambda x: m.lax.cond(x > 0, f, lambda x: x * x, x)
    looped = lambda x: m.lax.while_loop(lambda c: c < 3, lambda c: f(c) + 0.5, x)
    return (m.jax.grad(scanned)(0.5), m.jax.grad(chosen)(0.5), m.jax.grad(chosen)(-0.5), m.jax.vmap(m.jax.grad(chosen))(XS),
            m.jax.jvp(looped, (0.5,), (1.0,)), m.jax.jit(m.jax.vmap(m.jax.grad(scanned)))(XS))  # fmt: skip


@case("jvp: outputs that do not move, under vmap")
def _(m):
    @m.jax.custom_jvp
    def f(x, w):
        return x * w, w

    f.defjvp(lambda p, t: (f(*p), (2 * t[0] * p[1], t[1])))
    both = m.jax.vmap(f, (0, None))(XS, 2.0)
    return (
        both,
        m.jax.vmap(lambda w: f(1.0, 2.0))(XS),
        m.jax.grad(lambda w: m.jax.vmap(f, (0, None))(XS, w)[1].sum())(2.0),
    )


# custom_vjp ----------------------------------------------------------------------------------------------------------


def sine_times(m: Modules) -> Any:
    @m.jax.custom_vjp
    def f(x, y):
        return m.jnp.sin(x) * y

    def fwd(x, y):
        return f(x, y), (m.jnp.cos(x), m.jnp.sin(x), y)

    def bwd(res, g):
        cos_x, sin_x, y = res
        return 2 * cos_x * g * y, sin_x * g

    f.defvjp(fwd, bwd)
    return f


@case("vjp: values and gradients")
def _(m):
    f = sine_times(m)
    return m.jax.value_and_grad(f, (0, 1))(1.0, 2.0), m.jax.jit(m.jax.grad(m.jax.jit(f), (0, 1)))(1.0, 2.0)


@case("vjp: under vmap, mapped and not")
def _(m):
    f = sine_times(m)
    loss = lambda x, y: m.jax.vmap(f, (0, None))(x, y).sum()
    return (
        m.jax.grad(loss, (0, 1))(XS, 2.0),
        m.jax.vmap(m.jax.grad(f, (0, 1)), (0, None))(XS, 2.0),
        m.jax.vmap(m.jax.jit(m.jax.grad(f, 1)))(XS, XS),
    )


@case("vjp: second derivatives are those of bwd")
def _(m):
    f = sine_times(m)
    return m.jax.grad(m.jax.grad(f))(1.0, 2.0), m.jax.jacrev(m.jax.jacrev(f, (0, 1)), (0, 1))(1.0, 2.0)


@case("vjp: forward mode")
def _(m):
    return m.jax.jvp(sine_times(m), (1.0, 2.0), (1.0, 1.0))


@case("vjp: clipped gradient with options")
def _(m):
    @functools.partial(m.jax.custom_vjp, nondiff_argnums=(0, 1))
    def clip(low, high, x):
        return x

    clip.defvjp(lambda low, high, x: (x, None), lambda low, high, _, g: (m.jnp.clip(g, low, high),))
    return m.jax.vmap(m.jax.grad(lambda x: m.jnp.sin(clip(-0.75, 0.75, x))))(XS), m.jax.grad(
        lambda x: 10 * clip(-1, 1, x)
    )(2.0)


@case("vjp: a fixed point, differentiated implicitly")
def _(m):
    @functools.partial(m.jax.custom_vjp, nondiff_argnums=(0,))
    def fixed_point(f, a, guess):
        done = lambda state: m.jnp.abs(state[0] - state[1]) > 1e-6
        return m.lax.while_loop(done, lambda state: (state[1], f(a, state[1])), (guess, f(a, guess)))[1]

    def fwd(f, a, guess):
        found = fixed_point(f, a, guess)
        return found, (a, found)

    def bwd(f, res, g):
        a, found = res
        _, vjp_a = m.jax.vjp(lambda a: f(a, found), a)
        rev = lambda packed, u: packed[1] + m.jax.vjp(lambda x: f(packed[0], x), found)[1](u)[0]
        return vjp_a(fixed_point(rev, (a, g), g))[0], m.jnp.zeros_like(found)

    fixed_point.defvjp(fwd, bwd)
    sqrt = lambda a: fixed_point(lambda a, x: 0.5 * (x + a / x), a, a)
    return sqrt(2.0), m.jax.grad(sqrt)(2.0), m.jax.jit(m.jax.grad(sqrt))(2.0)


@case("vjp: None, integers and trees")
def _(m):
    @m.jax.custom_vjp
    def f(p, n, unused):
        return p["a"] * n + p["b"]

    f.defvjp(lambda p, n, u: (f(p, n, u), (p, n)), lambda res, g: ({"a": (3 * g * res[1]).sum(), "b": g}, None, None))
    args = ({"a": 2.0, "b": np.ones(3, np.float32)}, 3, (1.0, [2.0]))
    loss = lambda *args: f(*args).sum()
    return m.jax.grad(loss, (0, 2))(*args), m.jax.jit(m.jax.grad(loss, (0, 2)))(*args)


@case("vjp: None below an argument")
def _(m):
    @m.jax.custom_vjp
    def f(p):
        return p["a"] * p["b"][0]

    f.defvjp(lambda p: (f(p), p["a"]), lambda a, g: ({"a": None, "b": [a * g]},))
    return m.jax.grad(f)({"a": 2.0, "b": [3.0]})


@case("vjp: symbolic zeros")
def _(m):
    seen = []

    @m.jax.custom_vjp
    def f(x, y):
        return x * y, m.jnp.sin(x)

    def fwd(x, y):
        seen.append(np.array([x.perturbed, y.perturbed]))
        return f(x.value, y.value), (x.value, y.value)

    def bwd(res, cts):
        seen.append(np.array([type(ct) is m.derivatives.SymbolicZero for ct in cts]))
        g = 0.0 if type(cts[0]) is m.derivatives.SymbolicZero else cts[0]
        return g * res[1] * 5, g * res[0]

    f.defvjp(fwd, bwd, symbolic_zeros=True)
    grads = m.jax.grad(lambda x: f(x, 3.0)[0])(2.0), m.jax.grad(lambda y: f(2.0, y)[0])(3.0)
    return grads, m.jax.vmap(m.jax.grad(lambda x: f(x, 3.0)[0]))(XS), seen


@case("vjp: in scan and cond")
def _(m):
    f = sine_times(m)
    scanned = lambda x: m.lax.scan(lambda c, y: (f(c, y), f(y, c)), x, XS)[1].sum()
    chosen = lambda x: m.lax.cond(x > 0, lambda x: f(x, 2.0), lambda x: x * x, x)
    return (m.jax.grad(scanned)(0.5), m.jax.vmap(m.jax.grad(chosen))(XS), m.jax.jit(m.jax.grad(m.jax.grad(scanned)))(0.5),
            m.jax.vmap(m.jax.grad(scanned))(XS))  # fmt: skip


@case("vjp: under checkpoint")
def _(m):
    f = sine_times(m)
    g = lambda x: m.jax.checkpoint(lambda x: f(m.jnp.sin(x), x))(x)
    return m.jax.grad(g)(0.5), m.jax.grad(m.jax.grad(g))(0.5), m.jax.vmap(m.jax.grad(m.jax.jit(g)))(XS)


@case("vjp: gradients of another float dtype, and weak ones")
def _(m):
    @m.jax.custom_vjp
    def f(x):
        return x * 2

    f.defvjp(lambda x: (f(x), None), lambda _, g: (3.0,))
    return m.jax.grad(f)(np.float32(1)), m.jax.grad(f)(1.0)


@case("gradient: of one argument")
def _(m):
    f = m.jax.custom_gradient(lambda x: (x**2, lambda g: (g * x,)))
    return (
        f(3.0),
        m.jax.grad(f)(3.0),
        m.jax.jit(m.jax.grad(f))(3.0),
        m.jax.vmap(m.jax.grad(f))(XS),
        m.jax.grad(m.jax.grad(f))(3.0),
    )


@case("gradient: of two, and of a tree")
def _(m):
    f = m.jax.custom_gradient(lambda x, y: (x * y, lambda g: (g * y, 2 * g * x)))
    h = m.jax.custom_gradient(lambda d: (d["a"] * d["b"], lambda g: ({"a": 5 * g, "b": g * d["a"]},)))
    return m.jax.grad(f, (0, 1))(3.0, 4.0), m.jax.grad(h)({"a": 2.0, "b": 3.0})


@case("closures made explicit")
def _(m):
    @functools.partial(m.jax.custom_vjp, nondiff_argnums=(0,))
    def run(f, x, *captured):
        return f(x, *captured)

    def bwd(f, res, g):
        x, captured = res
        return (g, *[10 * ct for ct in m.jax.vjp(lambda *c: f(x, *c), *captured)[1](g)])

    run.defvjp(lambda f, x, *c: (run(f, x, *c), (x, c)), bwd)

    def outer(y):
        f, captured = m.jax.closure_convert(lambda x: m.jnp.sin(x * y), 2.0)
        return run(f, 2.0, *captured)

    return m.jax.grad(outer)(3.0), m.jax.jit(m.jax.grad(outer))(3.0), outer(3.0)


# checkpoint ----------------------------------------------------------------------------------------------------------


@case("checkpoint: a chain")
def _(m):
    f = m.jax.checkpoint(lambda x: m.jnp.sin(m.jnp.sin(x)))
    return (f(2.0), m.jax.grad(f)(2.0), m.jax.grad(m.jax.grad(f))(2.0), m.jax.jit(m.jax.grad(f))(2.0),
            m.jax.vmap(m.jax.grad(m.jax.jit(f)))(XS), m.jax.jvp(f, (2.0,), (1.0,)), m.jax.hessian(lambda x: f(x).sum())(XS))  # fmt: skip


@case("checkpoint: nested, with policies")
def _(m):
    policies = m.jax.checkpoint_policies
    inner = m.jax.checkpoint(lambda x, w: m.jnp.sin(x @ w), policy=policies.dots_saveable)
    outer = m.jax.checkpoint(lambda x, w: inner(inner(x, w), w).sum())
    w = np.arange(9, dtype=np.float32).reshape(3, 3) / 10
    twice = m.jax.grad(m.jax.grad(lambda s, w: outer(s * XS, w * s)))
    return m.jax.grad(outer, (0, 1))(XS, w), m.jax.jit(twice)(np.float32(0.5), w)


@case("checkpoint: in scan, and scan in it")
def _(m):
    body = m.jax.checkpoint(lambda c, x: (m.jnp.sin(c * x), m.jnp.cos(c)))
    scanned = lambda x: m.lax.scan(body, x, XS)[1].sum()
    around = m.jax.checkpoint(lambda x: m.lax.scan(lambda c, y: (m.jnp.sin(c * y), c), x, XS)[1].sum())
    return (
        m.jax.grad(scanned)(0.5),
        m.jax.grad(around)(0.5),
        m.jax.vmap(m.jax.grad(around))(XS),
        m.jax.jit(m.jax.grad(m.jax.grad(around)))(0.5),
    )


@case("checkpoint: static arguments, keywords, aux")
def _(m):
    @functools.partial(m.jax.checkpoint, static_argnums=(1,))
    def f(x, double, scale=1.0):
        return m.jnp.sin(2 * x if double else x) * scale, {"n": 3}

    both = lambda x, d: f(x, d, scale=3.0)
    return m.jax.grad(lambda x: both(x, True)[0])(1.0), m.jax.grad(both, has_aux=True)(1.0, False)


@case("checkpoint: integers, and results that do not move")
def _(m):
    f = m.jax.checkpoint(lambda x, n: (x * n, n + 1, m.jnp.sum(n)))
    return f(2.0, 3), m.jax.grad(lambda x: f(x, 3)[0])(2.0), m.jax.grad(f, has_aux=False, allow_int=True) and ()


# Linear functions and equations --------------------------------------------------------------------------------------


@case("linear_transpose")
def _(m):
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    t = m.jax.linear_transpose(lambda x: a @ x, np.zeros(3, np.float32))
    pair = m.jax.linear_transpose(lambda d: (2 * d["a"], d["b"] + d["a"]), {"a": 1.0, "b": 2.0})
    return t(np.ones(2, np.float32)), m.jax.jit(t)(np.ones(2, np.float32)), pair((1.0, 3.0))


@case("linear_transpose: of integers")
def _(m):
    return m.jax.linear_transpose(lambda x: x * 2, 1)(1)


MATRIX = np.array([[4, 1, 0], [0.5, 3, 1], [0, 1, 5]], np.float32)


def solved(m: Modules, a: Any, b: Any, **options: Any) -> Any:
    def iterate(matvec, b):
        return m.lax.fori_loop(0, 60, lambda i, x: x + 0.2 * (b - matvec(x)), m.jnp.zeros_like(b))

    if options.pop("both", False):
        options["transpose_solve"] = iterate
    return m.lax.custom_linear_solve(lambda x: a @ x, b, iterate, **options)


@case("linear solve: values and derivatives")
def _(m):
    f = lambda a, b: m.jnp.sin(solved(m, a, b, both=True)).sum()
    return (solved(m, MATRIX, XS), m.jax.grad(f, (0, 1))(MATRIX, XS), m.jax.jit(m.jax.grad(f, (0, 1)))(MATRIX, XS),
            m.jax.jvp(lambda a, b: solved(m, a, b), (MATRIX, XS), (MATRIX, XS)), m.jax.hessian(f, 1)(MATRIX, XS))  # fmt: skip


@case("linear solve: mapped")
def _(m):
    f = lambda a, b: m.jnp.sin(solved(m, a, b, both=True)).sum()
    matrices, vectors = np.stack([MATRIX, MATRIX.T]), np.stack([XS, 2 * XS])
    return [m.jax.vmap(m.jax.grad(f, (0, 1)), dims)(a, b) for dims, a, b in
            (((0, None), matrices, XS), ((None, 0), MATRIX, vectors), ((0, 0), matrices, vectors))]  # fmt: skip


@case("linear solve: symmetric, of a tree")
def _(m):
    solve = lambda matvec, b: {"x": b["x"] / 2.0, "y": b["y"] / 3.0}
    f = lambda b: m.lax.custom_linear_solve(lambda v: {"x": 2.0 * v["x"], "y": 3.0 * v["y"]}, b, solve, symmetric=True)
    return f({"x": XS, "y": 1.0}), m.jax.grad(lambda b: f(b)["x"].sum() + f(b)["y"])({"x": XS, "y": 1.0})


@case("linear solve: with aux")
def _(m):
    solve = lambda matvec, b: (b / 2.0, {"steps": 7, "size": m.jnp.sum(b)})
    f = lambda b: m.lax.custom_linear_solve(lambda x: 2.0 * x, b, solve, symmetric=True, has_aux=True)
    return (
        f(XS),
        m.jax.grad(lambda b: f(b)[0].sum() + f(b)[1]["size"])(XS),
        m.jax.vmap(lambda b: f(b)[0])(np.stack([XS, XS])),
    )


@case("linear solve: reverse mode without a transpose")
def _(m):
    return m.jax.grad(lambda b: solved(m, MATRIX, b).sum())(XS)


def root(m: Modules) -> Any:
    def search(f, x):
        return m.lax.fori_loop(0, 40, lambda i, x: x - f(x) / (2 * x), x)

    return lambda a: m.lax.custom_root(lambda x: x * x - a, 1.0, search, lambda g, y: y / g(1.0))


@case("root: square root")
def _(m):
    sqrt = root(m)
    return (sqrt(2.0), m.jax.grad(sqrt)(2.0), m.jax.grad(m.jax.grad(sqrt))(2.0), m.jax.jit(m.jax.grad(sqrt))(2.0),
            m.jax.vmap(m.jax.grad(sqrt))(np.array([1, 4], np.float32)), m.jax.jvp(m.jax.jit(sqrt), (2.0,), (1.0,)))  # fmt: skip


@case("root: of vectors, with a linear solve, and aux")
def _(m):
    def search(f, x):
        return m.lax.fori_loop(0, 60, lambda i, x: x - 0.2 * f(x), x), m.jnp.sum(f(x))

    def tangent_solve(g, y):
        it = lambda g, y: m.lax.fori_loop(0, 60, lambda i, x: x + 0.2 * (y - g(x)), m.jnp.zeros_like(y))
        return m.lax.custom_linear_solve(g, y, it, transpose_solve=it)

    def f(b):
        return m.lax.custom_root(lambda x: MATRIX @ x + 0.1 * m.jnp.sin(x) - b, XS, search, tangent_solve, has_aux=True)

    return f(XS)[0], m.jax.jacrev(lambda b: f(b)[0])(XS), m.jax.jacfwd(lambda b: f(b)[0])(XS)


# custom_vmap ---------------------------------------------------------------------------------------------------------


@case("vmap: a rule")
def _(m):
    @m.batching.custom_vmap
    def f(x, y):
        return x * y

    @f.def_vmap
    def rule(axis_size, in_batched, x, y):
        return x * y + 100.0 * (in_batched[0] + 2 * in_batched[1]), in_batched[0] or in_batched[1]

    return (f(2.0, 3.0), m.jax.vmap(f)(XS, XS), m.jax.vmap(f, (0, None))(XS, 2.0), m.jax.vmap(f, (None, 0))(2.0, XS),
            m.jax.jit(m.jax.vmap(f))(XS, XS), m.jax.jvp(m.jax.vmap(f), (XS, XS), (XS, XS)),
            m.jax.vmap(lambda x: m.jax.jvp(lambda x: f(x, x), (x,), (1.0,))[1])(XS))  # fmt: skip


@case("vmap: trees and results that are the same for all")
def _(m):
    @m.batching.custom_vmap
    def f(d, w):
        return {"y": d["x"] * w, "w": w}

    @f.def_vmap
    def rule(axis_size, in_batched, d, w):
        return {"y": d["x"] * w + axis_size, "w": w}, {"y": True, "w": in_batched[1]}

    return m.jax.vmap(f, ({"x": 0}, None), {"y": 0, "w": None})({"x": XS}, 2.0)


@case("vmap: sequential")
def _(m):
    f = m.batching.sequential_vmap(lambda x, w: (m.jnp.sin(x) * w, w))
    return m.jax.vmap(f, (0, None))(XS, 2.0), m.jax.vmap(m.jax.vmap(f, (None, 0)), (0, None))(XS, XS)


# Barriers ------------------------------------------------------------------------------------------------------------


@case("optimization_barrier")
def _(m):
    f = lambda x: m.lax.optimization_barrier((x, {"a": m.jnp.sin(x)}))[1]["a"]
    return (
        f(XS),
        m.jax.grad(f)(1.0),
        m.jax.vmap(m.jax.grad(f))(XS),
        m.jax.jit(m.jax.jvp, static_argnums=0)(f, (XS,), (XS,)),
    )


# What goes wrong -----------------------------------------------------------------------------------------------------


@case("wrong: no rules")
def _(m):
    return m.jax.custom_jvp(lambda x: x)(1.0)


@case("wrong: no vjp rules")
def _(m):
    return m.jax.custom_vjp(lambda x: x)(1.0)


@case("wrong: the jvp rule gives no pair")
def _(m):
    f = m.jax.custom_jvp(lambda x: x)
    f.defjvp(lambda p, t: t[0])
    return m.jax.grad(f)(1.0)


@case("wrong: a tangent of another structure")
def _(m):
    f = m.jax.custom_jvp(lambda x: x)
    f.defjvp(lambda p, t: (f(*p), (t[0],)))
    return m.jax.grad(f)(1.0)


@case("wrong: a tangent of another shape")
def _(m):
    f = m.jax.custom_jvp(lambda x: x)
    f.defjvp(lambda p, t: (f(*p), m.jnp.stack([t[0], t[0]])))
    return m.jax.grad(f)(1.0)


@case("wrong: fwd gives no pair")
def _(m):
    f = m.jax.custom_vjp(lambda x: x)
    f.defvjp(lambda x: x, lambda res, g: (g,))
    return m.jax.grad(f)(1.0)


@case("wrong: bwd gives too few")
def _(m):
    f = m.jax.custom_vjp(lambda x, y: x * y)
    f.defvjp(lambda x, y: (f(x, y), (x, y)), lambda res, g: (g,))
    return m.jax.grad(f)(1.0, 2.0)


@case("wrong: bwd gives another shape")
def _(m):
    f = m.jax.custom_vjp(lambda x: x)
    f.defvjp(lambda x: (f(x), None), lambda res, g: (m.jnp.stack([g, g]),))
    return m.jax.grad(f)(1.0)


@case("wrong: traced nondiff argument of custom_vjp")
def _(m):
    f = m.jax.custom_vjp(lambda n, x: x, nondiff_argnums=(0,))
    f.defvjp(lambda n, x: (x, None), lambda n, res, g: (g,))
    return m.jax.jit(m.jax.grad(f, 1))(1.0, 2.0)


@case("wrong: a captured value with a derivative")
def _(m):
    def outer(y):
        f = m.jax.custom_jvp(lambda x: x * y)
        f.defjvp(lambda p, t: (f(*p), t[0]))
        return f(1.0)

    return m.jax.grad(outer)(2.0)


@case("wrong: keyword-only arguments")
def _(m):
    f = m.jax.custom_jvp(lambda x, *, y: x)
    f.defjvp(lambda p, t: (f(*p), t[0]))
    return f(1.0, y=2.0)


@case("wrong: checkpoint with concrete")
def _(m):
    return m.jax.checkpoint(lambda x: x, concrete=True)(1.0)


@case("wrong: custom_vmap says nothing of one result")
def _(m):
    f = m.batching.custom_vmap(lambda x: (x, x))
    f.def_vmap(lambda n, b, x: ((x, x), True))
    return m.jax.vmap(f)(XS)
