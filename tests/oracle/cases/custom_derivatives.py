"""Programs with derivative rules of their own, right and wrong."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tests.oracle.library import Library
from tests.oracle.programs import Cases


CASES = Cases()
XS = np.array([0.3, -0.7, 1.9], np.float32)
ANY_WEAKNESS = {"jvp: of complex numbers", "vjp: in scan and cond"}
"""Here whether the gradient of a number is weak depends on how it was computed; it was computed otherwise."""


# custom_jvp ----------------------------------------------------------------------------------------------------------


def log1pexp(o: Library) -> Any:
    @o.jx.custom_jvp
    def f(x):
        return o.jnp.log(1.0 + o.jnp.exp(x))

    @f.defjvp
    def f_jvp(primals, tangents):
        (x,), (t,) = primals, tangents
        return f(x), (1 - 1 / (1 + o.jnp.exp(x))) * t

    return f


@CASES.named("jvp: log1pexp at a large number")
def _(o):
    f = log1pexp(o)
    return o.jx.grad(f)(100.0), o.jx.jit(o.jx.grad(f))(100.0), o.jx.vmap(o.jx.jit(o.jx.grad(f)))(XS)


@CASES.named("jvp: second derivatives")
def _(o):
    f = log1pexp(o)
    return [o.jx.grad(o.jx.grad(f))(0.3), o.jx.hessian(lambda x: f(x).sum())(XS), o.jx.jacrev(o.jx.jacfwd(f))(0.3)]


@CASES.named("jvp: forward")
def _(o):
    return o.jx.jvp(log1pexp(o), (XS,), (XS,)), o.jx.jvp(o.jx.jit(log1pexp(o)), (2.0,), (1.0,))


@CASES.named("jvp: two arguments, defjvps with None")
def _(o):
    @o.jx.custom_jvp
    def f(x, y):
        return o.jnp.sin(x) * y

    f.defjvps(lambda t, out, x, y: o.jnp.cos(x) * t * y + 10 * t, None)
    return (
        o.jx.grad(f, (0, 1))(2.0, 3.0),
        o.jx.jvp(f, (2.0, 3.0), (1.0, 1.0)),
        o.jx.vmap(o.jx.grad(f), (0, None))(XS, 2.0),
    )


@CASES.named("jvp: trees")
def _(o):
    @o.jx.custom_jvp
    def f(p, x):
        return {"out": p["w"] * x + p["b"], "norm": (x * x,)}

    @f.defjvp
    def f_jvp(primals, tangents):
        (p, x), (tp, tx) = primals, tangents
        out = f(p, x)
        return out, {"out": tp["w"] * x + 2 * p["w"] * tx, "norm": (3 * x * tx,)}

    loss = lambda p, x: f(p, x)["out"].sum() + f(p, x)["norm"][0].sum()
    params = {"w": 2.0, "b": np.ones(3, np.float32)}
    return o.jx.grad(loss, (0, 1))(params, XS), o.jx.jit(o.jx.grad(o.jx.jit(loss), 1))(params, XS)


@CASES.named("jvp: arguments that are not differentiated")
def _(o):
    @functools.partial(o.jx.custom_jvp, nondiff_argnums=(0, 2))
    def apply(f, x, n):
        return f(x) * n

    @apply.defjvp
    def apply_jvp(f, n, primals, tangents):
        (x,), (t,) = primals, tangents
        return apply(f, x, n), 2.0 * t * n

    return o.jx.grad(lambda x: apply(o.jnp.sin, x, 3))(1.0), o.jx.vmap(o.jx.grad(lambda x: apply(o.jnp.sin, x, 3)))(XS)


@CASES.named("jvp: a traced argument that is not differentiated")
def _(o):
    @functools.partial(o.jx.custom_jvp, nondiff_argnums=(1,))
    def scaled(x, n):
        return x * n

    @scaled.defjvp
    def scaled_jvp(n, primals, tangents):
        return scaled(primals[0], n), 7.0 * tangents[0] * n

    return o.jx.grad(scaled, (0, 1))(2.0, 3.0), o.jx.jit(o.jx.grad(scaled, (0, 1)))(2.0, 3.0)


@CASES.named("jvp: keywords and defaults")
def _(o):
    @o.jx.custom_jvp
    def f(x, y=2.0):
        return x * y

    f.defjvps(lambda t, out, x, y: 5.0 * t * y, lambda t, out, x, y: t * x)
    return o.jx.grad(f)(3.0), o.jx.grad(lambda x: f(y=x, x=2.0))(3.0), f(y=3.0, x=4.0)


@CASES.named("jvp: Python's if sees values")
def _(o):
    @o.jx.custom_jvp
    def relu(x):
        return x if x > 0 else 0.0 * x

    relu.defjvp(lambda p, t: (relu(*p), t[0] if p[0] > 0 else 0.0 * t[0]))
    return relu(2.0), o.jx.grad(relu)(2.0), o.jx.grad(relu)(-2.0), o.jx.grad(o.jx.grad(relu))(2.0)


@CASES.named("jvp: integers")
def _(o):
    @o.jx.custom_jvp
    def f(x, n):
        return x**n, n + 1

    @f.defjvp
    def f_jvp(primals, tangents):
        (x, n), (t, _) = primals, tangents
        return f(x, n), (n * x ** (n - 1) * t, np.zeros(np.shape(n), o.jx.float0))

    return o.jx.grad(lambda x, n: f(x, n)[0])(2.0, 3), o.jx.jit(o.jx.grad(lambda x, n: f(x, n)[0]))(2.0, np.int32(3))


@CASES.named("jvp: symbolic zeros")
def _(o):
    seen = []

    @o.jx.custom_jvp
    def f(x, y):
        return x * y

    def f_jvp(primals, tangents):
        (x, y), (tx, ty) = primals, tangents
        zero = [type(t) is o.custom_derivatives.SymbolicZero for t in tangents]
        seen.append(zero)
        total = 0.0 * x
        total = total if zero[0] else total + 3.0 * tx * y
        return f(x, y), total if zero[1] else total + x * ty

    f.defjvp(f_jvp, symbolic_zeros=True)
    out = o.jx.grad(f, 1)(2.0, 3.0), o.jx.grad(f, (0, 1))(2.0, 3.0), o.jx.vmap(o.jx.grad(f), (0, None))(XS, 2.0)
    return out, [np.array(s) for s in seen]


@CASES.named("jvp: of complex numbers")
def _(o):
    @o.jx.custom_jvp
    def f(z):
        return z * z

    f.defjvp(lambda p, t: (f(*p), (2 + 1j) * p[0] * t[0]))
    return o.jx.grad(f, holomorphic=True)(1 + 2j), o.jx.grad(lambda z: o.jnp.abs(f(z)))(1 + 2j)


@CASES.named("jvp: bfloat16 and weak types")
def _(o):
    f = log1pexp(o)
    return o.jx.grad(f)(o.jnp.bfloat16(1)), o.jx.grad(f)(1.0), o.jx.grad(f)(np.float32(1)), o.jx.jit(f)(1.0)


@CASES.named("jvp: in scan, cond and while")
def _(o):
    f = log1pexp(o)
    scanned = lambda x: o.lax.scan(lambda c, y: (f(c * y), f(c)), x, XS)[1].sum()
    chosen = lambda x: o.lax.cond(x > 0, f, lambda x: x * x, x)
    looped = lambda x: o.lax.while_loop(lambda c: c < 3, lambda c: f(c) + 0.5, x)
    return (o.jx.grad(scanned)(0.5), o.jx.grad(chosen)(0.5), o.jx.grad(chosen)(-0.5), o.jx.vmap(o.jx.grad(chosen))(XS),
            o.jx.jvp(looped, (0.5,), (1.0,)), o.jx.jit(o.jx.vmap(o.jx.grad(scanned)))(XS))  # fmt: skip


@CASES.named("jvp: outputs that do not move, under vmap")
def _(o):
    @o.jx.custom_jvp
    def f(x, w):
        return x * w, w

    f.defjvp(lambda p, t: (f(*p), (2 * t[0] * p[1], t[1])))
    both = o.jx.vmap(f, (0, None))(XS, 2.0)
    return (
        both,
        o.jx.vmap(lambda w: f(1.0, 2.0))(XS),
        o.jx.grad(lambda w: o.jx.vmap(f, (0, None))(XS, w)[1].sum())(2.0),
    )


# custom_vjp ----------------------------------------------------------------------------------------------------------


def sine_times(o: Library) -> Any:
    @o.jx.custom_vjp
    def f(x, y):
        return o.jnp.sin(x) * y

    def fwd(x, y):
        return f(x, y), (o.jnp.cos(x), o.jnp.sin(x), y)

    def bwd(res, g):
        cos_x, sin_x, y = res
        return 2 * cos_x * g * y, sin_x * g

    f.defvjp(fwd, bwd)
    return f


@CASES.named("vjp: values and gradients")
def _(o):
    f = sine_times(o)
    return o.jx.value_and_grad(f, (0, 1))(1.0, 2.0), o.jx.jit(o.jx.grad(o.jx.jit(f), (0, 1)))(1.0, 2.0)


@CASES.named("vjp: under vmap, mapped and not")
def _(o):
    f = sine_times(o)
    loss = lambda x, y: o.jx.vmap(f, (0, None))(x, y).sum()
    return (
        o.jx.grad(loss, (0, 1))(XS, 2.0),
        o.jx.vmap(o.jx.grad(f, (0, 1)), (0, None))(XS, 2.0),
        o.jx.vmap(o.jx.jit(o.jx.grad(f, 1)))(XS, XS),
    )


@CASES.named("vjp: second derivatives are those of bwd")
def _(o):
    f = sine_times(o)
    return o.jx.grad(o.jx.grad(f))(1.0, 2.0), o.jx.jacrev(o.jx.jacrev(f, (0, 1)), (0, 1))(1.0, 2.0)


@CASES.named("vjp: forward mode")
def _(o):
    return o.jx.jvp(sine_times(o), (1.0, 2.0), (1.0, 1.0))


@CASES.named("vjp: clipped gradient with options")
def _(o):
    @functools.partial(o.jx.custom_vjp, nondiff_argnums=(0, 1))
    def clip(low, high, x):
        return x

    clip.defvjp(lambda low, high, x: (x, None), lambda low, high, _, g: (o.jnp.clip(g, low, high),))
    return o.jx.vmap(o.jx.grad(lambda x: o.jnp.sin(clip(-0.75, 0.75, x))))(XS), o.jx.grad(
        lambda x: 10 * clip(-1, 1, x)
    )(2.0)


@CASES.named("vjp: a fixed point, differentiated implicitly")
def _(o):
    @functools.partial(o.jx.custom_vjp, nondiff_argnums=(0,))
    def fixed_point(f, a, guess):
        done = lambda state: o.jnp.abs(state[0] - state[1]) > 1e-6
        return o.lax.while_loop(done, lambda state: (state[1], f(a, state[1])), (guess, f(a, guess)))[1]

    def fwd(f, a, guess):
        found = fixed_point(f, a, guess)
        return found, (a, found)

    def bwd(f, res, g):
        a, found = res
        _, vjp_a = o.jx.vjp(lambda a: f(a, found), a)
        rev = lambda packed, u: packed[1] + o.jx.vjp(lambda x: f(packed[0], x), found)[1](u)[0]
        return vjp_a(fixed_point(rev, (a, g), g))[0], o.jnp.zeros_like(found)

    fixed_point.defvjp(fwd, bwd)
    sqrt = lambda a: fixed_point(lambda a, x: 0.5 * (x + a / x), a, a)
    return sqrt(2.0), o.jx.grad(sqrt)(2.0), o.jx.jit(o.jx.grad(sqrt))(2.0)


@CASES.named("vjp: None, integers and trees")
def _(o):
    @o.jx.custom_vjp
    def f(p, n, unused):
        return p["a"] * n + p["b"]

    f.defvjp(lambda p, n, u: (f(p, n, u), (p, n)), lambda res, g: ({"a": (3 * g * res[1]).sum(), "b": g}, None, None))
    args = ({"a": 2.0, "b": np.ones(3, np.float32)}, 3, (1.0, [2.0]))
    loss = lambda *args: f(*args).sum()
    return o.jx.grad(loss, (0, 2))(*args), o.jx.jit(o.jx.grad(loss, (0, 2)))(*args)


@CASES.named("vjp: None below an argument")
def _(o):
    @o.jx.custom_vjp
    def f(p):
        return p["a"] * p["b"][0]

    f.defvjp(lambda p: (f(p), p["a"]), lambda a, g: ({"a": None, "b": [a * g]},))
    return o.jx.grad(f)({"a": 2.0, "b": [3.0]})


@CASES.named("vjp: symbolic zeros")
def _(o):
    seen = []

    @o.jx.custom_vjp
    def f(x, y):
        return x * y, o.jnp.sin(x)

    def fwd(x, y):
        seen.append(np.array([x.perturbed, y.perturbed]))
        return f(x.value, y.value), (x.value, y.value)

    def bwd(res, cts):
        seen.append(np.array([type(ct) is o.custom_derivatives.SymbolicZero for ct in cts]))
        g = 0.0 if type(cts[0]) is o.custom_derivatives.SymbolicZero else cts[0]
        return g * res[1] * 5, g * res[0]

    f.defvjp(fwd, bwd, symbolic_zeros=True)
    grads = o.jx.grad(lambda x: f(x, 3.0)[0])(2.0), o.jx.grad(lambda y: f(2.0, y)[0])(3.0)
    return grads, o.jx.vmap(o.jx.grad(lambda x: f(x, 3.0)[0]))(XS), seen


@CASES.named("vjp: in scan and cond")
def _(o):
    f = sine_times(o)
    scanned = lambda x: o.lax.scan(lambda c, y: (f(c, y), f(y, c)), x, XS)[1].sum()
    chosen = lambda x: o.lax.cond(x > 0, lambda x: f(x, 2.0), lambda x: x * x, x)
    return (o.jx.grad(scanned)(0.5), o.jx.vmap(o.jx.grad(chosen))(XS), o.jx.jit(o.jx.grad(o.jx.grad(scanned)))(0.5),
            o.jx.vmap(o.jx.grad(scanned))(XS))  # fmt: skip


@CASES.named("vjp: under checkpoint")
def _(o):
    f = sine_times(o)
    g = lambda x: o.jx.checkpoint(lambda x: f(o.jnp.sin(x), x))(x)
    return o.jx.grad(g)(0.5), o.jx.grad(o.jx.grad(g))(0.5), o.jx.vmap(o.jx.grad(o.jx.jit(g)))(XS)


@CASES.named("vjp: gradients of another float dtype, and weak ones")
def _(o):
    @o.jx.custom_vjp
    def f(x):
        return x * 2

    f.defvjp(lambda x: (f(x), None), lambda _, g: (3.0,))
    return o.jx.grad(f)(np.float32(1)), o.jx.grad(f)(1.0)


@CASES.named("gradient: of one argument")
def _(o):
    f = o.jx.custom_gradient(lambda x: (x**2, lambda g: (g * x,)))
    return (
        f(3.0),
        o.jx.grad(f)(3.0),
        o.jx.jit(o.jx.grad(f))(3.0),
        o.jx.vmap(o.jx.grad(f))(XS),
        o.jx.grad(o.jx.grad(f))(3.0),
    )


@CASES.named("gradient: of two, and of a tree")
def _(o):
    f = o.jx.custom_gradient(lambda x, y: (x * y, lambda g: (g * y, 2 * g * x)))
    h = o.jx.custom_gradient(lambda d: (d["a"] * d["b"], lambda g: ({"a": 5 * g, "b": g * d["a"]},)))
    return o.jx.grad(f, (0, 1))(3.0, 4.0), o.jx.grad(h)({"a": 2.0, "b": 3.0})


@CASES.named("closures made explicit")
def _(o):
    @functools.partial(o.jx.custom_vjp, nondiff_argnums=(0,))
    def run(f, x, *captured):
        return f(x, *captured)

    def bwd(f, res, g):
        x, captured = res
        return (g, *[10 * ct for ct in o.jx.vjp(lambda *c: f(x, *c), *captured)[1](g)])

    run.defvjp(lambda f, x, *c: (run(f, x, *c), (x, c)), bwd)

    def outer(y):
        f, captured = o.jx.closure_convert(lambda x: o.jnp.sin(x * y), 2.0)
        return run(f, 2.0, *captured)

    return o.jx.grad(outer)(3.0), o.jx.jit(o.jx.grad(outer))(3.0), outer(3.0)


# What goes wrong -----------------------------------------------------------------------------------------------------


@CASES.named("wrong: no rules")
def _(o):
    return o.jx.custom_jvp(lambda x: x)(1.0)


@CASES.named("wrong: no vjp rules")
def _(o):
    return o.jx.custom_vjp(lambda x: x)(1.0)


@CASES.named("wrong: the jvp rule gives no pair")
def _(o):
    f = o.jx.custom_jvp(lambda x: x)
    f.defjvp(lambda p, t: t[0])
    return o.jx.grad(f)(1.0)


@CASES.named("wrong: a tangent of another structure")
def _(o):
    f = o.jx.custom_jvp(lambda x: x)
    f.defjvp(lambda p, t: (f(*p), (t[0],)))
    return o.jx.grad(f)(1.0)


@CASES.named("wrong: a tangent of another shape")
def _(o):
    f = o.jx.custom_jvp(lambda x: x)
    f.defjvp(lambda p, t: (f(*p), o.jnp.stack([t[0], t[0]])))
    return o.jx.grad(f)(1.0)


@CASES.named("wrong: fwd gives no pair")
def _(o):
    f = o.jx.custom_vjp(lambda x: x)
    f.defvjp(lambda x: x, lambda res, g: (g,))
    return o.jx.grad(f)(1.0)


@CASES.named("wrong: bwd gives too few")
def _(o):
    f = o.jx.custom_vjp(lambda x, y: x * y)
    f.defvjp(lambda x, y: (f(x, y), (x, y)), lambda res, g: (g,))
    return o.jx.grad(f)(1.0, 2.0)


@CASES.named("wrong: bwd gives another shape")
def _(o):
    f = o.jx.custom_vjp(lambda x: x)
    f.defvjp(lambda x: (f(x), None), lambda res, g: (o.jnp.stack([g, g]),))
    return o.jx.grad(f)(1.0)


@CASES.named("wrong: traced nondiff argument of custom_vjp")
def _(o):
    f = o.jx.custom_vjp(lambda n, x: x, nondiff_argnums=(0,))
    f.defvjp(lambda n, x: (x, None), lambda n, res, g: (g,))
    return o.jx.jit(o.jx.grad(f, 1))(1.0, 2.0)


@CASES.named("wrong: a captured value with a derivative")
def _(o):
    def outer(y):
        f = o.jx.custom_jvp(lambda x: x * y)
        f.defjvp(lambda p, t: (f(*p), t[0]))
        return f(1.0)

    return o.jx.grad(outer)(2.0)


@CASES.named("wrong: keyword-only arguments")
def _(o):
    f = o.jx.custom_jvp(lambda x, *, y: x)
    f.defjvp(lambda p, t: (f(*p), t[0]))
    return f(1.0, y=2.0)
