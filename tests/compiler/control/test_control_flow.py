"""Loops and branches against Python's own, and their derivatives against finite differences."""

from __future__ import annotations

from typing import Any, NamedTuple

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.core.jaxpr import walk
from tests.compiling import once
from tests.extent import examples


pytestmark = pytest.mark.usefixtures("wide")


def slope(f: Any, x: Any, step: float = 1e-6) -> np.ndarray:
    """Central differences of a scalar function."""
    x = np.asarray(x, np.float64)
    out = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        d = np.zeros_like(x)
        d[i] = step
        out[i] = (float(f(x + d)) - float(f(x - d))) / (2 * step)
    return out


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def primitives(closed: Any) -> list[str]:
    return [eqn.primitive.name for _, eqn in walk(closed.jaxpr)]


# scan ----------------------------------------------------------------------------------------------------------------

W, XS, B, H0 = draw(3, 3) * 0.5, draw(5, 3, seed=1), draw(3, seed=2), np.array([0.1, 0.2, 0.3])
POINT = (W, XS, B, H0)


def rnn(w, xs, b, h0, reverse=False, unroll=1):
    def step(h, x):
        h = jnp.tanh(w @ h + x * jnp.sin(b))
        return h, h.sum() * jnp.cos(b[0])

    h, ys = lax.scan(step, h0, xs, reverse=reverse, unroll=unroll)
    return h.sum() + (ys**2 * jnp.arange(5)).sum()


def rnn_by_hand(w, xs, b, h0, reverse=False):
    h, ys = np.array(h0), np.zeros(len(xs))
    for i in range(len(xs) - 1, -1, -1) if reverse else range(len(xs)):
        h = np.tanh(w @ h + xs[i] * np.sin(b))
        ys[i] = h.sum() * np.cos(b[0])
    return h.sum() + np.sum(np.square(ys) * np.arange(5))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("unroll", [1, 2, 5, 7, True])
def test_scan_and_its_gradients(reverse, unroll):
    def f(*args):
        return rnn(*args, reverse=reverse, unroll=unroll)

    np.testing.assert_allclose(f(*POINT), rnn_by_hand(*POINT, reverse), rtol=1e-10)
    gradients = once(jx.grad(f, (0, 1, 2, 3)))(*POINT)
    for i, found in enumerate(gradients):
        wanted = slope(lambda z, i=i: rnn_by_hand(*POINT[:i], z, *POINT[i + 1 :], reverse), POINT[i])
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-8)
    value, tangent = jx.jvp(f, POINT, POINT)
    np.testing.assert_allclose(tangent, sum(np.sum(g * x) for g, x in zip(gradients, POINT)), rtol=1e-9)
    np.testing.assert_allclose(value, f(*POINT))


@pytest.mark.parametrize(
    "axes", [(0, None, None, None), (None, 1, None, None), (None, None, 0, 0), (2, 0, 1, 0), (1, 2, 0, None)]
)
def test_scan_of_examples(axes):
    args = [x if a is None else np.stack([x, 2 * x, -x], a) for x, a in zip(POINT, axes)]
    for f in (rnn, jx.grad(rnn, 2), lambda *a: jx.jvp(rnn, a, a)[1]):
        found = jx.vmap(f, axes)(*args)
        for i in range(3):
            one = [x if a is None else np.take(x, i, a) for x, a in zip(args, axes)]
            np.testing.assert_allclose(found[i], f(*one), rtol=1e-9)


def test_scan_of_trees_lengths_and_nothing():
    class Carry(NamedTuple):
        total: Any
        last: Any

    def step(carry, x):
        return Carry(carry.total + x["a"], {"b": x["a"]}), {"double": 2 * x["a"], "none": None, "pair": (x["a"], ())}

    carry, ys = lax.scan(step, Carry(0.0, {"b": 0.0}), {"a": np.arange(4.0)})
    assert isinstance(carry, Carry) and float(carry.total) == 6 and float(carry.last["b"]) == 3
    assert ys["none"] is None and ys["pair"][1] == () and ys["double"].tolist() == [0, 2, 4, 6]
    total, nothing = lax.scan(lambda c, _: (c + 1, None), 0, length=7)
    assert int(total) == 7 and nothing is None
    total, ys = lax.scan(lambda c, x: (c + x, c), 0.0, np.zeros((0,)))
    assert float(total) == 0 and ys.shape == (0,)
    assert jx.grad(lambda z: lax.scan(lambda c, x: (c * x, c), z, np.zeros((0,)))[0])(3.0) == 1
    found = lax.scan(lambda c, x: (c, x), (), np.arange(6).reshape(3, 2))[1]
    assert found.tolist() == [[0, 1], [2, 3], [4, 5]]


def test_numbers_take_the_dtype_of_the_carry():
    total, _ = lax.scan(lambda c, x: (c + x, None), 0, np.arange(3.0, dtype=np.float32))
    assert total.dtype == np.float32 and not total.aval.weak_type
    count, _ = lax.scan(lambda c, x: (c + 1, None), 0, np.arange(3.0))
    assert count.dtype == np.int64 and count.aval.weak_type
    with pytest.raises(TypeError, match=r"carry\['a'\] comes in as f32\[\] and goes out as f32\[3\], by add in line"):
        lax.scan(lambda c, x: ({"a": c["a"] + x}, None), {"a": np.float32(0)}, np.zeros((2, 3), np.float32))
    with pytest.raises(TypeError, match=r"\n  carry comes in as f32\[2\] and goes out as f32\[\], by reduce_sum"):
        lax.fori_loop(0, 3, lambda i, c: c.sum(), np.zeros(2, np.float32))
    with pytest.raises(TypeError, match=r"\n  carry\['a'\] comes in as f32\[2\] and goes out as f32\[\]"):
        jx.jit(lambda n, c: lax.fori_loop(0, n, lambda i, c: {"a": c["a"].sum()}, c))(3, {"a": np.zeros(2, np.float32)})
    with pytest.raises(TypeError, match=r"(?s)it takes   f64\[\]\n.*gives  \(f64\[\], f64\[\]\)"):
        lax.fori_loop(0, 3, lambda i, c: (c, c), 0.0)
    with pytest.raises(TypeError, match="convert what the body returns"):
        lax.scan(lambda c, x: (c.astype(np.int32), None), np.float32(0), np.zeros(2, np.float32))


def test_scan_refuses_what_does_not_fit():
    with pytest.raises(
        TypeError, match=r"(?s)of the structure it takes.*it takes   f64\[\]\n.*gives  \(f64\[\], f64\[\]\)"
    ):
        lax.scan(lambda c, x: ((c, c), None), 0.0, np.arange(3.0))
    for body, found in (
        (lambda c, x: c, "one array"),
        (lambda c, x: None, "None, as a function without `return` does"),
        (lambda c, x: (c, x, x), "a tuple of 3"),
        (lambda c, x: {"c": c}, "a dict of 1"),
    ):
        with pytest.raises(TypeError, match=rf"must return a pair \(carry, y\); it returned {found}\. If"):
            lax.scan(body, 0.0, np.arange(3.0))
    with pytest.raises(ValueError, match="leading axes differ in size: xs\\[0\\] has 3, xs\\[1\\] has 4"):
        lax.scan(lambda c, x: (c, x), 0.0, (np.arange(3.0), np.arange(4.0)))
    with pytest.raises(ValueError, match="length has 4"):
        lax.scan(lambda c, x: (c, x), 0.0, np.arange(3.0), length=4)
    with pytest.raises(ValueError, match="give length="):
        lax.scan(lambda c, x: (c, x), 0.0)
    with pytest.raises(ValueError, match="has no axis to loop over"):
        lax.scan(lambda c, x: (c, x), 0.0, 3.0)
    with pytest.raises(ValueError, match="unroll must be a non-negative int"):
        lax.scan(lambda c, x: (c, x), 0.0, np.arange(3.0), unroll=-1)
    with pytest.raises(TypeError, match=r"at result.*not an array"):
        lax.scan(lambda c, x: (c, "text"), 0.0, np.arange(3.0))
    with pytest.raises(jx.errors.ConcretizationTypeError, match="length must be known"):
        jx.jit(lambda n: lax.scan(lambda c, x: (c, None), 0.0, length=n))(3)


def test_residuals_that_are_the_same_in_each_round_are_not_stacked():
    def f(w, x):
        return lax.scan(lambda c, _: (jnp.sin(w) @ c, None), x, length=7)[0].sum()

    closed = jx.make_jaxpr(jx.grad(f, 1))(draw(30, 30), draw(30))
    sizes = [v.aval.shape for _, eqn in walk(closed.jaxpr) for v in eqn.outvars]
    assert (7, 30, 30) not in sizes
    forward, backward = (eqn for eqn in closed.eqns if eqn.primitive.name == "scan")
    assert len(forward.outvars) == 1, "the forward loop stacks nothing: the loop is linear in the carry"
    assert backward.params["num_consts"] == 1 and "sin" not in primitives(backward.params["jaxpr"])


def test_dead_parts_of_a_scan_go():
    def f(x):
        (a, _, _), (ys, _) = lax.scan(
            lambda c, x: ((c[0] * x, jnp.sin(c[1]), c[0] + c[2]), (c[0], jnp.exp(x))), (x, x, x), np.arange(3.0)
        )
        return a, ys

    linear = jx.linearize(lambda x: f(x)[0], 2.0)[1]
    assert float(linear(1.0)) == 0.0
    closed = jx.make_jaxpr(jx.grad(lambda x: f(x)[1].sum()))(2.0)
    used = [primitives(eqn.params["jaxpr"]) for eqn in closed.eqns if eqn.primitive.name == "scan"]
    assert "cos" not in used[-1] and "exp" not in used[-1]


def test_an_eager_scan_traces_its_body_once():
    calls = []

    def body(c, x):
        calls.append(1)
        return c + x, c

    start = np.float64(0)
    for _ in range(3):
        lax.scan(body, start, np.arange(3.0))
    assert len(calls) == 1
    lax.scan(body, start, np.arange(3))
    assert len(calls) == 2


# while_loop, fori_loop -----------------------------------------------------------------------------------------------


def root(a, start=1.0):
    def body(state):
        x, n = state
        return 0.5 * (x + a / x), n + 1

    return lax.while_loop(lambda s: jnp.abs(s[0] ** 2 - a) > 1e-12, body, (a * start, 0))


def test_while_loop_runs_batches_and_differentiates_forward():
    np.testing.assert_allclose(root(2.0)[0], np.sqrt(2))
    points = np.array([1.0, 2.0, 9.0, 1e4])
    values, counts = once(jx.vmap(root))(points)
    np.testing.assert_allclose(values, np.sqrt(points))
    assert counts.tolist() == [int(root(p)[1]) for p in points]
    np.testing.assert_allclose(jx.jvp(lambda a: root(a)[0], (2.0,), (1.0,))[1], 0.5 / np.sqrt(2))
    np.testing.assert_allclose(jx.linearize(lambda a: root(a)[0], 2.0)[1](3.0), 1.5 / np.sqrt(2))
    twice = jx.jvp(lambda a: jx.jvp(lambda a: root(a)[0], (a,), (1.0,))[1], (2.0,), (1.0,))[1]
    np.testing.assert_allclose(twice, -0.25 * 2.0**-1.5, rtol=1e-6)
    slopes = jx.vmap(lambda a: jx.jvp(lambda a: root(a)[0], (a,), (1.0,))[1])(points[1:])
    np.testing.assert_allclose(slopes, 0.5 / np.sqrt(points[1:]))


def test_while_loop_refuses_reverse_mode_and_says_where():
    with pytest.raises(
        ValueError, match=r"(?s)does not work through while_loop.*the loop is in line \d+ of root.*scan.*custom"
    ):
        jx.grad(lambda a: root(a)[0])(2.0)
    with pytest.raises(ValueError, match="while_loop"):
        jx.jit(jx.grad(lambda a, n: lax.fori_loop(0, n, lambda i, c: c * a, a)))(2.0, 3)


def test_reverse_mode_around_a_loop_that_needs_no_derivative():
    def f(x):
        n = lax.while_loop(lambda n: n < 5, lambda n: n + 2, 0)
        return x * n

    assert float(jx.grad(f)(3.0)) == 6
    assert float(jx.jit(jx.grad(f))(3.0)) == 6


def test_while_loop_with_a_batched_condition_alone():
    found = jx.vmap(lambda n: lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * 2), (0, 1)))(np.arange(4))
    assert found[0].tolist() == [0, 1, 2, 3] and found[1].tolist() == [1, 2, 4, 8]


def test_while_loop_refuses_what_does_not_fit():
    with pytest.raises(TypeError, match=r"must return one boolean, bool\[\]; it returned f64\[\]"):
        lax.while_loop(lambda x: x, lambda x: x, 1.0)
    with pytest.raises(TypeError, match=r"it returned bool\[3\].*jnp\.any"):
        lax.while_loop(lambda x: x > 0, lambda x: x, np.ones(3))
    with pytest.raises(TypeError, match="must return a carry of the structure"):
        lax.while_loop(lambda x: x[0] > 0, lambda x: x[0], (1.0,))


@pytest.mark.parametrize("how", ["python", "traced", "array"])
def test_fori_loop(how):
    def f(x, lower, upper):
        return lax.fori_loop(lower, upper, lambda i, c: jnp.sin(c) * x + i, x)

    def by_hand(x):
        c = x
        for i in range(2, 6):
            c = np.sin(c) * x + i
        return c

    bounds = (np.int32(2), np.int32(6)) if how == "array" else (2, 6)
    run = jx.jit(f) if how == "traced" else f
    np.testing.assert_allclose(run(0.7, *bounds), by_hand(0.7))
    if how == "traced":
        np.testing.assert_allclose(jx.jvp(lambda x: run(x, *bounds), (0.7,), (1.0,))[1], slope(by_hand, 0.7), rtol=1e-6)
    else:
        np.testing.assert_allclose(once(jx.grad(lambda x: f(x, *bounds)))(0.7), slope(by_hand, 0.7), rtol=1e-6)
    assert float(f(0.7, 3, 3)) == 0.7 and float(f(0.7, 3, 1)) == 0.7


def test_fori_loop_unrolled_and_refused():
    assert int(lax.fori_loop(0, 10, lambda i, c: c + i, 0, unroll=3)) == 45
    with pytest.raises(ValueError, match="unroll needs bounds"):
        jx.jit(lambda n: lax.fori_loop(0, n, lambda i, c: c, 0, unroll=2))(3)
    with pytest.raises(TypeError, match="different dtypes, lower i64"):
        lax.fori_loop(0, 2.5, lambda i, c: c, 0)
    with pytest.raises(TypeError, match="fori_loop: <lambda> must return a carry"):
        lax.fori_loop(0, 3, lambda i, c: (c, c), 1.0)


# cond, switch --------------------------------------------------------------------------------------------------------


def chosen(p, x, y):
    return lax.cond(p > 0, lambda x, y: jnp.sin(x) * y, lambda x, y: x * x + jnp.exp(y), x, y)


@pytest.mark.parametrize("p", [1.0, -1.0])
@pytest.mark.parametrize("wrap", [lambda f: f, jx.jit])
def test_cond_and_its_derivatives(p, wrap):
    by_hand = (lambda x, y: np.sin(x) * y) if p > 0 else (lambda x, y: x * x + np.exp(y))
    x, y = 0.3, 0.7
    np.testing.assert_allclose(wrap(chosen)(p, x, y), by_hand(x, y))
    gx, gy = wrap(jx.grad(chosen, (1, 2)))(p, x, y)
    np.testing.assert_allclose(gx, slope(lambda x: by_hand(x, y), x), rtol=1e-6)
    np.testing.assert_allclose(gy, slope(lambda y: by_hand(x, y), y), rtol=1e-6)
    second = wrap(jx.grad(jx.grad(chosen, 2), 2))(p, x, y)
    np.testing.assert_allclose(second, 0 if p > 0 else np.exp(y), rtol=1e-6)
    np.testing.assert_allclose(wrap(lambda x: jx.jvp(lambda x: chosen(p, x, y), (x,), (2.0,))[1])(x), 2 * gx)


def test_cond_of_examples():
    ps, xs, ys = np.array([1.0, -1.0, 2.0]), draw(3), draw(3, seed=1)
    for axes in [(0, None, None), (0, 0, 0), (None, 0, None), (None, 0, 0)]:
        args = [v if a == 0 else v[0] for v, a in zip((ps, xs, ys), axes)]
        for f in (chosen, jx.grad(chosen, 1), jx.grad(chosen, 2)):
            found = once(jx.vmap(f, axes))(*args)
            for i in range(3):
                one = [v[i] if a == 0 else v for v, a in zip(args, axes)]
                np.testing.assert_allclose(found[i], f(*one), rtol=1e-9)


def test_only_one_branch_runs():
    def f(p, x):
        return lax.cond(p, lambda x: lax.while_loop(lambda c: True, lambda c: c, x), lambda x: x + 1, x)

    assert float(f(False, 1.0)) == 2


def test_branches_take_different_residuals():
    def f(i, x, w):
        return lax.switch(
            i, [lambda x: jnp.sin(x) @ w, lambda x: (x * x).sum(), lambda x: jnp.exp(x[0]) + 0 * x.sum()], x
        )

    x, w = draw(4), draw(4, seed=1)
    for i, g in enumerate([np.cos(x) * w, 2 * x, np.eye(4)[0] * np.exp(x[0])]):
        np.testing.assert_allclose(jx.grad(f, 1)(i, x, w), g)
        np.testing.assert_allclose(once(jx.grad(f, 1))(i, x, w), g)
    assert jx.vmap(f, (0, None, None))(np.array([0, 1, 2]), x, w).shape == (3,)
    found = jx.vmap(jx.grad(f, 1), (0, None, None))(np.array([-5, 1, 99]), x, w)
    np.testing.assert_allclose(found, [np.cos(x) * w, 2 * x, np.eye(4)[0] * np.exp(x[0])])


def test_cond_takes_operands_trees_numbers_and_nothing():
    assert float(lax.cond(True, lambda: 1.0, lambda: 2.0)) == 1
    assert float(lax.cond(0, lambda: 1.0, lambda: 2.0)) == 2
    assert float(lax.cond(np.float32(3), lambda x: x, lambda x: -x, operand=2.0)) == 2
    assert float(lax.cond(False, 2.0, lambda x: x, 3.0, lambda x: x + 1)) == 4
    out = lax.cond(True, lambda t: {"a": t["a"], "b": None}, lambda t: {"a": t["a"] * 2, "b": None}, {"a": 3.0})
    assert out["b"] is None and float(out["a"]) == 3
    mixed = lax.cond(True, lambda x: 1.0, lambda x: x, np.float64(2))
    assert mixed.dtype == np.float64 and not mixed.aval.weak_type
    assert float(lax.switch(7, [lambda x: x, lambda x: 2 * x], 5.0)) == 10
    assert float(lax.switch(0, [lambda x: x], 5.0)) == 5


def test_cond_refuses_what_does_not_fit():
    with pytest.raises(TypeError, match=r"pred must be a scalar, not bool\[3\].*jnp\.where"):
        lax.cond(np.ones(3) > 0, lambda: 1.0, lambda: 2.0)
    with pytest.raises(TypeError, match=r"(?s)true_fun .* gives i64\[\].*false_fun .* gives f64\[\]"):
        lax.cond(True, lambda x: 1, lambda x: x, 1.0)
    with pytest.raises(TypeError, match=r"gives at result\['a'\] f64\[3\], by broadcast_in_dim in line"):
        lax.cond(True, lambda x: {"a": jnp.zeros(3)}, lambda x: {"a": x}, 1.0)
    with pytest.raises(
        TypeError, match=r"(?s)must return the same structure.*returns \(f64\[\], f64\[\]\)\n.*returns f64\[\]\n"
    ):
        lax.cond(True, lambda x: (x, x), lambda x: x, 1.0)
    with pytest.raises(TypeError, match="true_fun must be a function"):
        lax.cond(True, 1.0, 2.0)
    with pytest.raises(ValueError, match="at least one branch"):
        lax.switch(0, [])
    with pytest.raises(TypeError, match="integer scalar"):
        lax.switch(0.5, [lambda: 1, lambda: 2])


def test_platform_dependent():
    def f(x):
        return lax.platform_dependent(x, cpu=lambda x: x + 1, cuda=lambda x: x * 100, default=lambda x: x * 2)

    assert float(f(3.0)) == 4 and float(jx.jit(f)(3.0)) == 4
    assert float(jx.jit(jx.grad(f))(3.0)) == 1
    assert jx.vmap(f)(np.arange(2.0)).tolist() == [1, 2]
    with pytest.raises(NotImplementedError, match="no branch for 'cpu' and no default"):
        jx.jit(lambda x: lax.platform_dependent(x, cuda=lambda x: x, tpu=lambda x: x))(1.0)
    assert "multiply" not in jx.jit(f).lower(3.0).as_text()


# map, associative_scan -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch_size", [None, 1, 3, 7, 10])
def test_map(batch_size):
    xs = draw(7, 2)
    found = lax.map(
        lambda x: {"s": jnp.sin(x["x"]).sum(), "i": x["i"]}, {"x": xs, "i": np.arange(7)}, batch_size=batch_size
    )
    np.testing.assert_allclose(found["s"], np.sin(xs).sum(1))
    assert found["i"].tolist() == list(range(7))
    with pytest.raises(ValueError, match="batch_size must not be negative"):
        lax.map(lambda x: x, xs, batch_size=-1)


@given(n=st.integers(0, 20), reverse=st.booleans(), axis=st.integers(-2, 1))
@settings(max_examples=examples(12), deadline=None)
def test_associative_scan_of_matrix_products(n, reverse, axis):
    shape = (n, 3) if axis in (0, -2) else (3, n)
    a, b = draw(*shape, seed=n), draw(*shape, seed=n + 1)

    def combine(f, g):
        return f[0] * g[0], g[0] * f[1] + g[1]

    found = lax.associative_scan(combine, (a, b), reverse=reverse, axis=axis)
    rows_a, rows_b = (np.moveaxis(z, axis, 0) for z in (a, b))
    order = range(n - 1, -1, -1) if reverse else range(n)
    slope_, offset = np.ones(3), np.zeros(3)
    for i in order:
        slope_, offset = slope_ * rows_a[i], rows_a[i] * offset + rows_b[i]
        np.testing.assert_allclose(np.moveaxis(np.asarray(found[0]), axis, 0)[i], slope_, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(np.moveaxis(np.asarray(found[1]), axis, 0)[i], offset, rtol=1e-9, atol=1e-12)


def test_associative_scan_differentiates_and_refuses():
    x = draw(6)
    g = once(jx.grad(lambda x: (lax.associative_scan(jnp.multiply, x) ** 2).sum()))(x)
    np.testing.assert_allclose(g, slope(lambda x: (np.cumprod(x) ** 2).sum(), x), rtol=1e-6, atol=1e-10)
    with pytest.raises(ValueError, match="differ in number"):
        lax.associative_scan(lambda a, b: a, (np.zeros(3), np.zeros(4)))
    with pytest.raises(TypeError, match="shapes and dtypes it takes"):
        lax.associative_scan(lambda a, b: a.sum(), np.zeros(4))


# Together ------------------------------------------------------------------------------------------------------------


def test_without_jit_the_loops_are_pythons():
    seen = []

    def step(c, x):
        seen.append(float(x))
        return c + x, c

    with jx.disable_jit():
        total, ys = lax.scan(step, 0.0, np.arange(3.0), reverse=True)
        assert float(lax.cond(True, lambda x: seen.append("yes") or x, lambda x: x, 1.0)) == 1
        assert int(lax.while_loop(lambda x: x < 5, lambda x: x + 1, 0)) == 5
        assert int(lax.fori_loop(0, 3, lambda i, c: c + i, 0)) == 3
    assert seen == [2, 1, 0, "yes"] and float(total) == 3 and ys.tolist() == [3, 2, 0]


@pytest.mark.parametrize("disabled", [False, True])
def test_what_a_while_loop_does_in_place_is_not_done_to_the_callers_array(disabled):
    def step(carry):
        x, y = carry
        x += 1
        return x, y + x

    one = np.array(1.0)
    with jx.disable_jit(disabled):
        last, total = lax.while_loop(lambda carry: carry[0] < 10, step, (one, one))
        with pytest.raises(TypeError, match="init_val"):
            lax.while_loop(lambda x: True, lambda x: x, "text")
    assert (last, total, one) == (10, 1 + sum(range(2, 11)), 1)


def test_named_axes_inside_loops():
    def f(x):
        return lax.scan(lambda c, _: (c + lax.psum(x, "i"), lax.axis_index("i")), x, length=3)

    total, index = jx.vmap(f, axis_name="i")(np.arange(3.0))
    assert total.tolist() == [9, 10, 11] and index.tolist() == [[0] * 3, [1] * 3, [2] * 3]
    found = jx.vmap(lambda x: lax.cond(True, lambda: lax.psum(x, "i"), lambda: x), axis_name="i")(np.arange(3.0))
    assert found.tolist() == [3, 3, 3]


def test_keys_and_booleans_as_carry():
    def step(carry, _):
        key, flag = carry
        key, sub = jx.random.split(key)
        return (key, ~flag), jx.random.uniform(sub)

    (_, flag), found = jx.jit(lambda k: lax.scan(step, (k, True), length=3))(jx.random.key(0))
    key, wanted = jx.random.key(0), []
    for _ in range(3):
        key, sub = jx.random.split(key)
        wanted.append(float(jx.random.uniform(sub)))
    assert found.tolist() == wanted and not bool(flag)
    stacked = lax.scan(lambda k, _: (jx.random.split(k)[0], k), jx.random.key(1), length=2)[1]
    assert stacked.shape == (2,) and stacked.dtype == jx.random.key(0).dtype
    assert jx.vmap(lambda p, k: lax.cond(p, lambda k: k, lambda k: jx.random.fold_in(k, 1), k), (0, None))(
        np.array([True, False]), jx.random.key(0)
    ).shape == (2,)


def test_paths_of_equations_reach_the_hlo():
    def f(x):
        return lax.scan(
            lambda c, _: (jnp.sin(c) * jnp.cos(c), None), lax.cond(x[0] > 0, jnp.tanh, jnp.exp, x), length=30
        )[0]

    text = jx.jit(f).lower(np.ones(300)).as_text(debug_info=True)
    paths = {path for path, _ in walk(jx.make_jaxpr(f)(np.ones(300)).jaxpr)}
    held = [p for p in paths if "/" in p]
    assert any(p.split("/")[1].startswith("branches") for p in held)
    assert [p for p in held if f'"{p} ' not in text and f'"{p}(' not in text] == []
