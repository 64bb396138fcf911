"""Reductions by a function that the user gives, over axes and windows: values, derivatives of both orders, maps, refusals."""

import functools

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from tests.samples.windows import held_by


X = np.random.default_rng(3).normal(size=(2, 6, 5)).astype(np.float32)
WINDOWS = {
    "strides": {"window_dimensions": (1, 2, 3), "window_strides": (1, 2, 1), "padding": "SAME"},
    "padded": {"window_dimensions": (2, 2, 1), "padding": ((1, 0), (0, 2), (-1, 1))},
    "apart": {"window_dimensions": (1, 2, 2), "base_dilation": (1, 2, 1), "window_dilation": (1, 2, 3), "padding": ((0, 0), (1, 1), (1, 1))},
    "long": {"window_dimensions": (1, 1, 80), "padding": ((0, 0), (0, 0), (79, 0))},
}  # fmt: skip


def product(a, b):
    return a * b


OPERATIONS = {"sum": (lax.add, 0.0), "max": (lax.max, -np.inf), "min": (lax.min, np.inf), "product": (product, 1.0)}


def expected(x, operation, start, window):
    full = {"window_strides": (1, 1, 1), "base_dilation": (1, 1, 1), "window_dilation": (1, 1, 1), **window}
    if isinstance(full.get("padding"), str):
        full["padding"] = lax.padtype_to_pads(x.shape, full["window_dimensions"], full["window_strides"], "SAME")
    order = ("window_dimensions", "window_strides", "padding", "base_dilation", "window_dilation")
    counts, held = held_by(x.shape, {k: full[k] for k in order})
    combine = {"sum": np.add, "max": np.maximum, "min": np.minimum, "product": np.multiply}[operation]
    out = np.full(counts, start, np.float64)
    for at, elements in held.items():
        out[at] = functools.reduce(combine, [np.float64(x[p]) for p in elements], np.float64(start))
    return out


@pytest.mark.parametrize("which", WINDOWS)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_window_sees_what_lies_under_it(operation, which):
    computation, start = OPERATIONS[operation]
    window = WINDOWS[which]
    run = lambda x: lax.reduce_window(x, start, computation, **window)
    np.testing.assert_allclose(run(X), expected(X, operation, start, window), rtol=2e-5)
    np.testing.assert_allclose(jx.jit(run)(X), run(X), rtol=1e-6)
    both = jx.vmap(run, in_axes=1)(jnp.stack([X, 2 * X], 1))
    np.testing.assert_allclose(both[1], run(2 * X), rtol=1e-6)


@pytest.mark.parametrize("which", WINDOWS)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_derivatives_of_windows_agree_with_differences_and_with_each_other(operation, which):
    computation, start = OPERATIONS[operation]

    def value(x):
        seen = lax.reduce_window(x, start, computation, **WINDOWS[which])
        return jnp.sum(jnp.where(jnp.isfinite(seen), seen, 0) ** 2)

    @jx.jit
    def derivatives(x, t):
        """The value and its slope, and along `t` the first derivative and the second, this in both ways."""
        at, slope = jx.value_and_grad(value)(x)
        first, second = jx.jvp(value, (x,), (t,))[1], jx.jvp(jx.grad(value), (x,), (t,))[1]
        return at, slope, first, second, jx.grad(lambda x: jnp.sum(jx.grad(value)(x) * t))(x)

    with jx.enable_x64(True):
        x, t = np.float64(X), np.cos(np.float64(X) * 7)
        step = 1e-6
        _, slope, first, forward, backward = derivatives(x, t)
        above, below = derivatives(x + step * t, t), derivatives(x - step * t, t)
        numeric = (above[0] - below[0]) / (2 * step)
        np.testing.assert_allclose(np.sum(slope * t), numeric, rtol=1e-6)
        np.testing.assert_allclose(first, numeric, rtol=1e-6)
        np.testing.assert_allclose(forward, backward, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(forward, (above[1] - below[1]) / (2 * step), rtol=1e-5, atol=1e-6)


def test_known_functions_have_primitives_of_their_own():
    names = lambda f: [eqn.primitive.name for eqn in jx.make_jaxpr(f)(X).jaxpr.eqns]
    assert names(lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 2, 2))) == ["reduce_window_sum"]
    assert names(lambda x: lax.reduce_window(x, -np.inf, lax.max, (1, 2, 2))) == ["reduce_window_max"]
    assert names(lambda x: lax.reduce_window(x, 1.0, lax.add, (1, 2, 2))) == ["reduce_window"]
    assert names(lambda x: lax.reduce(x, 0.0, lax.add, (1,))) == ["reduce_sum"]
    assert names(lambda x: lax.reduce(x, 0.0, lax.max, (1,))) == ["reduce"]


def test_several_arrays_are_reduced_together():
    def first_greatest(a, b):
        takes = a[0] >= b[0]
        return jnp.where(takes, a[0], b[0]), jnp.where(takes, a[1], b[1])

    numbers = np.arange(60, dtype=np.int32).reshape(X.shape)
    best, where = lax.reduce((X, numbers), (np.float32(-np.inf), np.int32(-1)), first_greatest, (1, 2))
    np.testing.assert_array_equal(best, X.max((1, 2)))
    np.testing.assert_array_equal(where, [X[0].argmax(), 30 + X[1].argmax()])
    best, where = lax.reduce_window(
        (X, numbers), (np.float32(-np.inf), np.int32(-1)), first_greatest, (1, 6, 5), padding="VALID"
    )
    np.testing.assert_array_equal(where.ravel(), [X[0].argmax(), 30 + X[1].argmax()])


def test_starts_may_differ_between_examples():
    starts = np.array([1, 2, 3], np.float32)
    out = jx.vmap(lambda start: lax.reduce(X, start, product, (1, 2)))(starts)
    np.testing.assert_allclose(out, starts[:, None] * X.prod((1, 2)), rtol=1e-5)
    out = jx.vmap(lambda start: lax.reduce_window(X, start, product, (1, 2, 1)))(starts)
    np.testing.assert_allclose(out[2], 3 * X[:, 1:] * X[:, :-1], rtol=1e-5)


def test_a_computation_is_traced_once():
    calls = []

    def noted(a, b):
        calls.append(1)
        return a * b

    for _ in range(3):
        lax.reduce(X, np.float32(1), noted, (0,))
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("error", "words", "call"),
    [
        (TypeError, "one entry for each of 3 axes", lambda: lax.reduce_window(X, 0.0, lax.add, (2, 2))),
        (TypeError, "should be positive", lambda: lax.reduce_window(X, 0.0, lax.add, (2, 0, 2))),
        (ValueError, "needs an operand", lambda: lax.reduce_window((), (), lax.add, (2,))),
        (ValueError, "have structure", lambda: lax.reduce((X, X), 0.0, lax.add, (0,))),
        (ValueError, "must give what it takes", lambda: lax.reduce(X, np.float32(1), lambda a, b: (a, b), (0,))),
        (ValueError, "must be scalars", lambda: lax.reduce(X, X[0, 0], product, (0,))),
        (TypeError, r"scalar of its dtype as initial value", lambda: lax.reduce(X, np.int32(2), product, (0,))),
        (TypeError, r"must give f32\[\] from f32\[\]", lambda: lax.reduce(X, np.float32(1), lambda a, b: a > b, (0,))),
        (ValueError, "do not name distinct axes", lambda: lax.reduce(X, np.float32(1), product, (3,))),
        (NotImplementedError, "traced value from outside", lambda: jx.jit(
            lambda s: lax.reduce(X, np.float32(1), lambda a, b: a * b * s, (0,)))(2.0)),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said(error, words, call):
    with pytest.raises(error, match=words):
        call()
