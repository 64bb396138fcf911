"""Derivatives of branches that vmap runs for all examples: what an example does not take adds nothing, least of all NaN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax


def root(x: Any) -> Any:
    """The root of numbers above 0, else 0: the root itself has an infinite derivative at 0."""
    return lax.cond(x < 1e-3, lambda x: 0.0, jnp.sqrt, x)


def chosen(x: Any) -> Any:
    """0 or log(x), by switch."""
    return lax.switch((x > 0).astype(int), [lambda x: 0.0 * x, jnp.log, lambda x: x], x)


def sum_of(f: Any) -> Callable[[Any], Any]:
    return lambda x: jx.vmap(f)(x).sum()


XS = np.array([0.0, 1.0, 4.0], np.float32)
SLOPES = [0.0, 0.5, 0.25]


WAYS = {
    "grad of vmap": lambda f: jx.grad(sum_of(f)),
    "vmap of grad": lambda f: jx.vmap(jx.grad(f)),
    "jit of grad of vmap": lambda f: jx.jit(jx.grad(sum_of(f))),
    "grad of jit of vmap": lambda f: jx.grad(jx.jit(sum_of(f))),
    "grad of vmap of jit": lambda f: jx.grad(sum_of(jx.jit(f))),
    "grad of vmap of checkpoint": lambda f: jx.grad(sum_of(jx.checkpoint(f))),
    "jvp of vmap": lambda f: lambda x: jx.jvp(jx.vmap(f), (x,), (jnp.ones_like(x),))[1],
    "linearize of vmap": lambda f: lambda x: jx.linearize(jx.vmap(f), x)[1](jnp.ones_like(x)),
    "vmap of jvp": lambda f: jx.vmap(lambda x: jx.jvp(f, (x,), (jnp.ones_like(x),))[1]),
    "jacrev of vmap": lambda f: lambda x: jnp.diag(jx.jacrev(jx.vmap(f))(x)),
    "jacfwd of vmap": lambda f: lambda x: jnp.diag(jx.jacfwd(jx.vmap(f))(x)),
    "grad of vmap of scan": lambda f: jx.grad(sum_of(lambda x: lax.scan(lambda c, _: (f(c), None), x, length=1)[0])),
    "grad of vmap of vmap": lambda f: lambda x: jx.grad(lambda y: sum_of(jx.vmap(f))(y))(x[None])[0],
}


@pytest.mark.parametrize("way", WAYS)
def test_the_branch_not_taken_has_no_derivative(way: str) -> None:
    np.testing.assert_allclose(WAYS[way](root)(XS), SLOPES, 1e-6)
    np.testing.assert_allclose(WAYS[way](chosen)(XS), [0.0, 1.0, 0.25], 1e-6)


@pytest.mark.parametrize("disabled", [False, True])
def test_second_derivatives(disabled: bool) -> None:
    with jx.disable_jit(disabled):
        np.testing.assert_allclose(jnp.diag(jx.hessian(sum_of(root))(XS)), [0, -0.25, -1 / 32], 1e-6)


def test_values_that_are_the_same_for_all_examples() -> None:
    f = lambda x, w: lax.cond(x > 0, lambda: jnp.log(x) * w, lambda: w)
    total = lambda x, w: jx.vmap(f, (0, None))(x, w).sum()
    for wrap in (lambda g: g, jx.jit):
        of_x, of_w = wrap(jx.grad(total, (0, 1)))(XS, 2.0)
        np.testing.assert_allclose(of_x, [0.0, 2.0, 0.5], 1e-6)
        np.testing.assert_allclose(of_w, 1 + np.log(4), 1e-6)
    rooted = lambda w, flags: jx.vmap(lambda p: lax.cond(p, jnp.sqrt, lambda w: 3 * w, w))(flags).sum()
    assert float(jx.grad(rooted)(0.0, np.array([False, False]))) == 6  # nobody takes the root, at 0
    np.testing.assert_allclose(jx.grad(rooted)(4.0, np.array([False, True])), 3.25)


def test_matrices_that_are_the_same_for_all_examples_are_not_repeated() -> None:
    w = np.ones((3, 3), np.float32)
    f = lambda x, w: lax.cond(x.sum() > 2, lambda: jnp.sqrt(x @ w), lambda: x)
    program = jx.make_jaxpr(jx.grad(lambda x, w: jx.vmap(f, (0, None))(x, w).sum(), 1))(np.ones((5, 3)) / XS.size, w)
    assert not any("5,3,3" in str(v.aval) for eqn in program.jaxpr.eqns for v in eqn.outvars)
    xs = np.array([[0, 0, 0], [1, 2, 3], [4, 1, 1]], np.float32)
    found = jx.grad(lambda w: jx.vmap(f, (0, None))(xs, w).sum())(w)
    wanted = sum(np.outer(x, 0.5 / np.sqrt(x @ w)) for x in xs[1:])
    np.testing.assert_allclose(found, wanted, 1e-5)


def test_rules_of_their_own_in_branches() -> None:
    @jx.custom_jvp
    def by_jvp(x):
        return jnp.sqrt(x)

    by_jvp.defjvp(lambda primals, tangents: (by_jvp(*primals), tangents[0] / (2 * by_jvp(*primals))))

    @jx.custom_vjp
    def by_vjp(x):
        return jnp.sqrt(x)

    by_vjp.defvjp(lambda x: (by_vjp(x), x), lambda x, ct: (ct / (2 * jnp.sqrt(x)),))
    for f in (by_jvp, by_vjp):
        found = jx.grad(sum_of(lambda x, f=f: lax.cond(x > 0, f, lambda x: 0 * x, x)))(XS)
        np.testing.assert_allclose(found, SLOPES, 1e-6)


def test_what_all_branches_hand_on_is_the_same_for_all_examples() -> None:
    f = lambda x, y: lax.cond(x > 0, lambda y: (x, y), lambda y: (2 * x, y), y)
    mapped, handed = jx.vmap(f, (0, None), (0, None))(XS, jnp.float32(3.0))
    np.testing.assert_allclose(mapped, XS)
    assert handed.shape == () and float(handed) == 3
    with pytest.raises(ValueError, match="out_axes is None"):
        jx.vmap(lambda x, y: lax.cond(x > 0, lambda y: y, lambda y: y + 1, y), (0, None), None)(XS, 3.0)


def test_loops_of_python_under_vmap() -> None:
    """With `disable_jit` examples that decide differently still go through one loop."""
    with jx.disable_jit():
        doubled = lambda x: lax.while_loop(lambda c: c < 10.0, lambda c: c * 2.0, x)
        np.testing.assert_allclose(jx.vmap(doubled)(np.float32([1, 3])), [16, 12])
        counted = lambda x, n: lax.fori_loop(0, n, lambda i, c: c * 2.0, x)
        np.testing.assert_allclose(jx.vmap(counted)(np.float32([1, 3]), np.int32([1, 2])), [2, 12])
        np.testing.assert_allclose(jx.grad(sum_of(root))(XS), SLOPES, 1e-6)
