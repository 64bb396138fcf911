"""Loops, branches and transformations: values, dtypes, weak types, which error, and of many the jaxpr."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.oracle.programs import Cases


CASES = Cases()
KEPT = {
    f"{name}, its jaxpr": "the parameters of `scan` are flat trees since 0.11: jaxprs print here as those of 0.10.2"
    for name in """
    scan_of_sums scan_with_closure scan_backward_unrolled scan_of_trees scan_without_xs scan_in_scan
    cond_in_scan jit_in_scan fori_of_known_bounds map_of_rows scan_of_nothing vmap_of_scan
    vmap_of_scan_of_shared_xs jvp_of_scan weak_carry weak_carry_that_becomes_strong
    """.split()
} | {"third_derivative, its jaxpr": "the sums stand in another order since 0.11"}
WIDE = ("counters_of_known_bounds_are_weak", "weak_numbers_in_double", "single_and_double_precision")


def numbers(*shape: int, seed: int = 0, dtype: Any = np.float32) -> np.ndarray:
    return np.round(np.random.default_rng(seed).normal(size=shape), 2).astype(dtype)


V, W, M, S = numbers(3), numbers(4, seed=1), numbers(3, 4, seed=2), np.float32(0.7)
SQUARE = numbers(3, 3, seed=3)
I = np.arange(4, dtype=np.int32)


# Loops ---------------------------------------------------------------------------------------------------------------


@CASES.of(V, shown=True)
def scan_of_sums(o, xs):
    return o.lax.scan(lambda c, x: (c + x, c * x), np.float32(0), xs)


@CASES.of(V, M, shown=True)
def scan_with_closure(o, v, m):
    w = o.jnp.sin(v)
    return o.lax.scan(lambda c, row: (o.jnp.tanh(c + row.sum() * w), row * 2), v, m)


@CASES.of(V, shown=True)
def scan_backward_unrolled(o, xs):
    return o.lax.scan(lambda c, x: (c * 0.5 + x, o.jnp.cos(c)), np.float32(1), xs, reverse=True, unroll=2)


@CASES.of(M, shown=True)
def scan_of_trees(o, m):
    def step(carry, x):
        a, b = carry["a"], carry["b"]
        return {"a": a + x["row"], "b": (b[0] + 1, None)}, (x["row"].sum(), {"twice": 2 * x["k"]})

    return o.lax.scan(step, {"a": W, "b": (0, None)}, {"row": m, "k": np.arange(3, dtype=np.int32)})


@CASES.of(S, shown=True)
def scan_without_xs(o, s):
    return o.lax.scan(lambda c, _: (o.jnp.sin(c), None), s, length=4)


@CASES.of(M, shown=True)
def scan_in_scan(o, m):
    def outer(c, row):
        inner, ys = o.lax.scan(lambda d, x: (d + x * c, d), c, row)
        return inner, ys.sum()

    return o.lax.scan(outer, np.float32(0.1), m)


@CASES.of(0)
def counters_of_known_bounds_are_weak(o, x):
    i, j = np.int16(0), np.int16(3)
    count = lambda lower, upper, start: o.lax.fori_loop(lower, upper, lambda i, c: c + i, start)
    return count(i, j, x), count(0, j, np.float32(0)), o.lax.fori_loop(i, 3, lambda i, c: i * 1, x), count(i, i, x)


@CASES.of(np.int16(3))
def counters_of_traced_bounds_have_their_dtype(o, n):
    return o.jx.jit(lambda n: o.lax.fori_loop(0, n, lambda i, c: i, n))(n)


@CASES.of(np.int32(2), V)
def fori_that_reads_an_array(o, n, v):
    return o.lax.fori_loop(n, 5, lambda i, c: c + o.jnp.asarray(v)[i % 3], np.float32(0))


@CASES.of(V, shown=True)
def cond_in_scan(o, xs):
    def step(c, x):
        return o.lax.cond(x > 0, lambda c, x: c + x, lambda c, x: c * x, c, x), c

    return o.lax.scan(step, np.float32(1), xs)


@CASES.of(V, shown=True)
def jit_in_scan(o, xs):
    f = o.jx.jit(lambda c, x: o.jnp.sin(c) * x)
    return o.lax.scan(lambda c, x: (f(c, x), None), np.float32(1), xs)[0]


@CASES.of(0, S, shown=True)
def while_of_a_counter(o, n, x):
    return o.lax.while_loop(lambda s: s[0] < 5, lambda s: (s[0] + 1, s[1] * 0.5), (n, x))


@CASES.of(S, V, shown=True)
def while_with_closures(o, limit, v):
    return o.lax.while_loop(lambda s: s.sum() > limit, lambda s: s - v * v, 3 * np.ones(3, np.float32))


@CASES.of(V, shown=True)
def fori_of_known_bounds(o, v):
    return o.lax.fori_loop(0, 3, lambda i, c: c * 2 + i, v)


@CASES.of(3, V, shown=True)
def fori_of_traced_bounds(o, n, v):
    return o.lax.fori_loop(0, n, lambda i, c: c * 2 + i, v)


@CASES.of(np.int32(1), shown=True)
def fori_from_a_traced_start(o, n):
    return o.lax.fori_loop(n, 4, lambda i, c: c + i, np.float32(0))


@CASES.of(M, shown=True)
def map_of_rows(o, m):
    return o.lax.map(lambda row: o.jnp.sin(row).sum(), m)


@CASES.of(numbers(5, 2))
def map_in_batches(o, m):
    return o.lax.map(lambda row: o.jnp.cumsum(row), m, batch_size=2)


@CASES.of(V)
def associative_scan_of_sums(o, v):
    return o.lax.associative_scan(o.jnp.add, v), o.lax.associative_scan(o.jnp.multiply, v, reverse=True)


@CASES.of(np.zeros((0, 3), np.float32), shown=True)
def scan_of_nothing(o, xs):
    return o.lax.scan(lambda c, x: (c + x, x.sum()), V, xs)


# Branches ------------------------------------------------------------------------------------------------------------


@CASES.of(True, V, shown=True)
def cond_of_two(o, p, v):
    return o.lax.cond(p, o.jnp.sin, lambda x: x * 2, v)


@CASES.of(S, V)
def cond_with_closures(o, s, v):
    w = s * v
    return o.lax.cond(s > 1, lambda: w + 1, lambda: v)


@CASES.of(S, V, shown=True)
def cond_of_trees(o, s, v):
    return o.lax.cond(
        s < 1, lambda d: {"x": d["x"], "y": d["x"] * d["s"]}, lambda d: {"x": -d["x"], "y": d["x"]}, {"x": v, "s": s}
    )


@CASES.of(2, V, shown=True)
def switch_of_three(o, i, v):
    return o.lax.switch(i, [o.jnp.sin, o.jnp.cos, lambda x: x @ x * x], v)


@CASES.of(np.array([7, -3, 1], np.int32), V)
def switch_of_examples(o, i, v):
    return o.jx.vmap(lambda i: o.lax.switch(i, [lambda: v, lambda: v * 2, lambda: v.sum() + v]))(i)


@CASES.of(np.int32(3), S, shown=True)
def cond_of_a_number(o, n, s):
    return o.lax.cond(n, lambda x: x, lambda x: x + 1, s)


# vmap of control flow ------------------------------------------------------------------------------------------------


@CASES.of(M, shown=True)
def vmap_of_scan(o, m):
    return o.jx.vmap(lambda row: o.lax.scan(lambda c, x: (c + x, c), np.float32(0), row))(m)


@CASES.of(M, V, shown=True)
def vmap_of_scan_of_shared_xs(o, m, v):
    return o.jx.vmap(lambda c: o.lax.scan(lambda c, x: (c * x, c[0]), c, v))(m)


@CASES.of(S, M, shown=True)
def vmap_of_cond_of_one_choice(o, s, m):
    return o.jx.vmap(lambda row: o.lax.cond(s > 0, o.jnp.sin, o.jnp.cos, row))(m)


@CASES.of(V, M)
def vmap_of_cond_of_many(o, v, m):
    return o.jx.vmap(lambda p, row: o.lax.cond(p > 0, lambda r: r.sum(), lambda r: r[0] * p, row))(v, m)


@CASES.of(I)
def vmap_of_while(o, n):
    return o.jx.vmap(lambda n: o.lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * 1.5), (0, 1.0)))(n)


@CASES.of(V, S, shown=True)
def vmap_of_while_of_one_condition(o, v, s):
    return o.jx.vmap(
        lambda x: o.lax.while_loop(lambda c: c[0] < s * 4, lambda c: (c[0] + 1, c[1] * x), (np.float32(0), x))
    )(v)


@CASES.of(I, V)
def vmap_of_fori(o, n, v):
    return o.jx.vmap(lambda n: o.lax.fori_loop(0, n, lambda i, c: c * 0.5 + i, v), out_axes=1)(n)


# Derivatives of control flow -----------------------------------------------------------------------------------------


@CASES.of(V, shown=True)
def jvp_of_scan(o, v):
    f = lambda c: o.lax.scan(lambda c, x: (o.jnp.sin(c) * x, c), c, v)
    return o.jx.jvp(f, (S,), (np.float32(1),))


@CASES.of(V, M)
def grad_of_scan(o, v, m):
    f = lambda v: o.lax.scan(lambda c, row: (o.jnp.tanh(c * row.sum()), c.sum()), v, m)
    return o.jx.grad(lambda v: f(v)[0].sum() + f(v)[1] @ v)(v)


@CASES.of(S, V, shown=True)
def jvp_of_cond(o, s, v):
    return o.jx.jvp(lambda v: o.lax.cond(s > 0, lambda v: o.jnp.sin(v), lambda v: v, v), (v,), (v,))


@CASES.of(S, V)
def grad_of_cond(o, s, v):
    f = lambda s, v: o.lax.cond(s > v[0], lambda v: o.jnp.exp(v).sum() * s, lambda v: v @ v, v)
    return o.jx.grad(f, (0, 1))(s, v)


@CASES.of(S, shown=True)
def jvp_of_while(o, s):
    f = lambda x: o.lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, o.jnp.sin(c[1]) * x), (0, x))
    return o.jx.jvp(f, (s,), (s,))[1][1]


@CASES.of(S)
def linearized_while(o, s):
    f = lambda x: o.lax.while_loop(lambda c: c < 10, lambda c: c * (1 + x * x), x)
    y, move = o.jx.linearize(f, s)
    return y, move(s), move(1.0)


@CASES.of(S)
def linearized_while_of_calls_that_ignore_what_moves(o, s):
    def of(wrapped):
        ignoring = lambda c, x: wrapped(lambda c: (c * x, o.jnp.ones(()))[1])(c) * c
        return lambda x: o.lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, ignoring(s[1], x)), (0, x))[1]

    chosen = lambda f: lambda c: o.lax.cond(c > 0, f, lambda c: o.jnp.zeros(()), c)
    return [(y, move(s)) for y, move in (o.jx.linearize(of(w), s) for w in (o.jx.jit, o.jx.checkpoint, chosen))]


@CASES.of(S)
def linearized_while_with_a_carry_that_ignores_what_moves(o, s):
    def body(state):
        i, k, u = state
        return i + 1, o.jx.jit(lambda k, u: (k * u, k + 1.0)[1])(k, u), u * s

    f = lambda x: o.lax.while_loop(lambda state: state[0] < 3, body, (0, np.float32(1), x))
    y, move = o.jx.linearize(f, s)
    return y, move(s)[1:]


@CASES.of(S)
def grad_of_while(o, s):
    return o.jx.grad(lambda x: o.lax.while_loop(lambda c: c < 10, lambda c: c * 2, x))(s)


@CASES.of(V)
def grad_of_fori(o, v):
    return o.jx.grad(lambda v: o.lax.fori_loop(0, 4, lambda i, c: o.jnp.cos(c * v) + i, v).sum())(v)


@CASES.of(V)
def hessian_of_scan(o, v):
    return o.jx.hessian(lambda v: o.lax.scan(lambda c, x: (c * o.jnp.sin(x) + x * x, None), np.float32(1), v)[0])(v)


@CASES.of(V, M)
def per_example_gradients_through_scan(o, v, m):
    loss = lambda w, xs: o.lax.scan(lambda c, x: (o.jnp.tanh(w @ w * x + c), None), np.float32(0), xs)[0]
    return o.jx.vmap(o.jx.value_and_grad(loss), (None, 0))(v, m)


# Nested derivatives --------------------------------------------------------------------------------------------------


@CASES.of(S, shown=True)
def third_derivative(o, s):
    return o.jx.grad(o.jx.grad(o.jx.grad(lambda x: x * x * x * x)))(s)


@CASES.of(V)
def hessian_vector_product_three_ways(o, v):
    f = lambda x: o.jnp.sin(x).sum() * (x @ x)
    forward_reverse = o.jx.jvp(o.jx.grad(f), (v,), (v,))[1]
    reverse_forward = o.jx.grad(lambda x: o.jx.jvp(f, (x,), (v,))[1])(v)
    reverse_reverse = o.jx.grad(lambda x: o.jx.grad(f)(x) @ v)(v)
    return forward_reverse, reverse_forward, reverse_reverse


@CASES.of(SQUARE, V)
def jacobians(o, a, v):
    f = lambda x: o.jnp.tanh(a @ x) * x[0]
    return o.jx.jacfwd(f)(v), o.jx.jacrev(f)(v), o.jx.jacfwd(o.jx.jacrev(f))(v)


@CASES.of(np.complex64(0.3 - 0.4j))
def complex_derivatives(o, z):
    f = lambda z: o.jnp.exp(z) * z * z
    conjugated = o.jx.grad(lambda z: (z * o.jnp.conj(z)).real)(z)
    return o.jx.grad(f, holomorphic=True)(z), o.jx.jvp(f, (z,), (z,)), conjugated


@CASES.of({"w": V, "n": np.int32(3)}, S)
def gradient_of_a_tree_with_an_integer(o, params, s):
    f = lambda p, s: (p["w"] ** 2).sum() * p["n"] * s
    return o.jx.grad(f, allow_int=True)(params, s)["w"], o.jx.value_and_grad(f, 1)(params, s)


@CASES.of({"w": V, "n": np.int32(3)})
def gradient_of_an_integer(o, params):
    return o.jx.grad(lambda p: p["w"].sum() * p["n"])(params)


@CASES.of(V)
def gradient_with_auxiliary_results(o, v):
    return o.jx.value_and_grad(lambda v: (o.jnp.sin(v).sum(), {"seen": v, "n": 2}), has_aux=True)(v)


@CASES.of(S)
def perturbations_are_not_confused(o, s):
    inner = lambda x: o.jx.grad(lambda y: x + y * y)(x)
    return o.jx.grad(lambda x: x * inner(x))(s), o.jx.jvp(
        lambda x: x * o.jx.jvp(lambda y: x + y, (1.0,), (1.0,))[1], (s,), (s,)
    )


@CASES.of(V)
def stopped_gradients(o, v):
    f = lambda x: (o.lax.stop_gradient(o.jnp.sin(x)) * x).sum()
    return o.jx.grad(f)(v), o.jx.hessian(f)(v), o.jx.vmap(o.jx.grad(lambda x: o.lax.stop_gradient(x) * x))(v)


@CASES.of(SQUARE, V)
def pullback_of_two(o, a, v):
    y, back = o.jx.vjp(lambda a, v: (a @ v, (a * v).sum()), a, v)
    return y, back((v, S))


# Functions with rules, and checkpoint --------------------------------------------------------------------------------


def _ruled_forward(o):
    @o.jx.custom_jvp
    def f(x):
        return o.jnp.log1p(o.jnp.exp(x))

    f.defjvp(lambda xs, ts: (f(*xs), (1 - 1 / (1 + o.jnp.exp(xs[0]))) * ts[0]))
    return f


def _ruled_backward(o):
    @o.jx.custom_vjp
    def f(x, y):
        return o.jnp.sin(x) * y

    f.defvjp(lambda x, y: (f(x, y), (x, y)), lambda xs, ct: (2 * ct * o.jnp.cos(xs[0]) * xs[1], ct * o.jnp.sin(xs[0])))
    return f


@CASES.of(V)
def custom_jvp_in_scan(o, v):
    f = _ruled_forward(o)
    return o.jx.grad(lambda v: o.lax.scan(lambda c, x: (f(c * x), None), np.float32(1), v)[0])(v)


@CASES.of(V)
def custom_jvp_under_everything(o, v):
    f = _ruled_forward(o)
    second = o.jx.vmap(o.jx.grad(o.jx.grad(f)))
    return second(v), o.jx.jit(second)(v), o.jx.jvp(o.jx.jit(f), (v,), (v,)), f(1000.0), o.jx.grad(f)(1000.0)


@CASES.of(V)
def custom_vjp_in_scan_and_cond(o, v):
    f = _ruled_backward(o)
    step = lambda c, x: (o.lax.cond(x > 0, f, lambda a, b: a * b, c, x), f(c, x))
    return o.jx.grad(lambda v: sum(y.sum() for y in o.lax.scan(step, np.float32(1), v)))(v)


@CASES.of(V, S)
def custom_vjp_of_examples(o, v, s):
    f = _ruled_backward(o)
    shared = o.jx.grad(lambda s: o.jx.vmap(f, (0, None))(v, s).sum())(s)
    return o.jx.vmap(o.jx.grad(f, (0, 1)), (0, None))(v, s), shared, o.jx.jit(o.jx.vmap(o.jx.grad(o.jx.grad(f))))(v, v)


@CASES.of(S)
def custom_vjp_forward(o, s):
    return o.jx.jvp(lambda x: _ruled_backward(o)(x, x), (s,), (s,))


@CASES.of(V)
def checkpoint_of_scan(o, v):
    f = o.jx.checkpoint(lambda c, x: (o.jnp.sin(c) * x, o.jnp.cos(c)))
    return o.jx.grad(lambda v: o.lax.scan(f, np.float32(1), v)[1].sum())(v)


@CASES.of(SQUARE, V)
def checkpoint_with_policies(o, a, v):
    policies = o.jx.checkpoint_policies
    found = []
    for policy in (policies.dots_saveable, policies.everything_saveable, policies.nothing_saveable, None):
        f = o.jx.checkpoint(lambda v: o.jnp.sin(a @ o.jnp.sin(a @ v)).sum(), policy=policy)
        found.append((o.jx.grad(f)(v), o.jx.hessian(f)(v), o.jx.jvp(f, (v,), (v,))))
    return found


# Named axes ----------------------------------------------------------------------------------------------------------


@CASES.of(V)
def sums_over_a_named_axis(o, v):
    f = lambda x: (
        o.lax.psum(x, "i"),
        o.lax.pmean(x, "i"),
        o.lax.pmax(x, "i"),
        o.lax.pmin(x, "i"),
        o.lax.axis_index("i"),
    )
    return o.jx.vmap(f, axis_name="i")(v)


@CASES.of(SQUARE)
def exchanges_over_a_named_axis(o, m):
    def f(row):
        return (
            o.lax.all_gather(row, "i"),
            o.lax.ppermute(row, "i", [(0, 1), (1, 2), (2, 0)]),
            o.lax.all_to_all(row, "i", 0, 0),
            o.lax.psum_scatter(row, "i"),
        )

    return o.jx.vmap(f, axis_name="i")(m)


@CASES.of(V)
def gradients_through_collectives(o, v):
    f = lambda x: o.jnp.sin(o.lax.psum(x * x, "i")) * x
    each = o.jx.vmap(o.jx.grad(f), axis_name="i")(v)
    whole = o.jx.grad(lambda v: o.jx.vmap(f, axis_name="i")(v).sum())(v)
    return each, whole, o.jx.jvp(lambda v: o.jx.vmap(f, axis_name="i")(v), (v,), (v,))


@CASES.of(M)
def two_named_axes(o, m):
    f = lambda x: (o.lax.psum(x, ("i", "j")), o.lax.psum(x, "i"), o.lax.pmean(x, "j"), o.lax.psum(1, "i"))
    return o.jx.vmap(o.jx.vmap(f, axis_name="j"), axis_name="i")(m)


@CASES.of(V)
def collectives_in_control_flow(o, v):
    def f(x):
        total, _ = o.lax.scan(lambda c, _: (c + o.lax.psum(x, "i"), None), x, length=2)
        return o.lax.cond(S > 0, lambda x: o.lax.pmean(x, "i") + total, lambda x: x, x)

    return o.jx.vmap(f, axis_name="i")(v), o.jx.vmap(o.jx.grad(f), axis_name="i")(v)


# Weak types ----------------------------------------------------------------------------------------------------------


@CASES.of(1.5, 2)
def weak_numbers(o, x, n):
    return x * n, o.jnp.sin(n), o.jx.jit(lambda a: a + 1)(n), o.jnp.where(n > 1, x, n), x * np.float16(1), n // 2


@CASES.of(1.5, shown=True)
def weak_carry(o, x):
    return o.lax.scan(lambda c, _: (c * 2, c), x, length=2)


@CASES.of(1, V, shown=True)
def weak_carry_that_becomes_strong(o, n, v):
    return o.lax.scan(lambda c, x: (c + x, c), n, v)


@CASES.of(1.5, 3, shown=True)
def weak_loops(o, x, n):
    return o.lax.while_loop(lambda c: c < 10, lambda c: c * 2, x), o.lax.fori_loop(0, n, lambda i, c: c + i, 0)


@CASES.of(1.5, S)
def weak_branches(o, x, s):
    mixed = o.lax.cond(s > 0, lambda: 1.0, lambda: x)
    return mixed, o.lax.cond(s > 0, lambda: s, lambda: np.float32(2)), o.lax.switch(1, [lambda: 1, lambda: 2])


@CASES.of(1.5, S)
def branches_that_differ_in_weak_type(o, x, s):
    return o.lax.cond(s > 0, lambda: s, lambda: x), o.lax.switch(0, [lambda: x, lambda: s])


@CASES.of(1.5)
def weak_derivatives(o, x):
    f = lambda x: o.jnp.sin(x) * 2
    return (
        o.jx.grad(f)(x),
        o.jx.jvp(f, (x,), (1.0,)),
        o.jx.linearize(f, x)[1](1.0),
        o.jx.hessian(f)(x),
        o.jx.vjp(f, x)[1](1.0),
    )


@CASES.of(1.5)
def weak_results_of_wrapped_functions(o, x):
    f = _ruled_forward(o)
    return (
        f(x),
        o.jx.grad(f)(x),
        o.jx.checkpoint(lambda x: x * 2)(x),
        o.jx.jit(f)(x),
        o.jx.vmap(lambda i: x * i)(o.jnp.arange(2)),
    )


@CASES.of(2)
def weak_numbers_in_double(o, n):
    return (
        n * 1.5,
        o.jnp.ones(2, o.jnp.float32) * n,
        o.lax.scan(lambda c, _: (c + 1, c), 0, length=2),
        o.jnp.arange(3) * 1.0,
    )


@CASES.of(V)
def single_and_double_precision(o, v):
    f = lambda x: (o.jnp.sin(x.astype(o.jnp.float64)) * x).astype(o.jnp.float32).sum()
    return o.jx.grad(f)(v), o.jx.hessian(f)(v), o.lax.scan(lambda c, x: (c + x, x * 2.0), np.float64(0), v)


@CASES.of(V.astype(np.float16))
def half_precision_in_loops(o, v):
    return o.lax.scan(lambda c, x: (o.jnp.sin(c) * x, c + 1), v[0], v), o.jx.grad(lambda v: (v * v).sum())(v)
