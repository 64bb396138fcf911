"""What the bodies of loops and branches hand on, and answers of JAX beyond the usual."""

from __future__ import annotations

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax


XS = np.random.default_rng(1).normal(size=(5, 3))


pytestmark = pytest.mark.usefixtures("wide")


# What a body hands on -------------------------------------------------------------------------------------------------


def _hands_on(x, y):
    """The second part of the carry is read and never changed."""
    return lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] + c[2], c[2]), (0, x, y))


def test_what_a_body_hands_on_is_not_carried():
    loop = jx.make_jaxpr(_hands_on)(1.0, 2.0).jaxpr.eqns[-1]
    assert (loop.params["body_nconsts"], len(loop.outvars)) == (1, 2)
    i, total, y = jx.jit(_hands_on)(1.0, 2.0)
    assert (int(i), float(total), float(y)) == (3, 7.0, 2.0)
    found = jx.vmap(_hands_on, in_axes=(None, 0))(1.0, jnp.arange(3.0))
    np.testing.assert_array_equal(found[1], 1 + 3 * np.arange(3.0))
    np.testing.assert_array_equal(found[2], np.arange(3.0))


def test_reverse_mode_through_a_while_loop_of_what_is_handed_on():
    """As in JAX: what does not change in the loop has a gradient, though loops of unknown length have none."""

    def f(x):
        _, total, y = lax.while_loop(
            lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] + lax.stop_gradient(c[2]), c[2]), (0, 0.0, x)
        )
        return 2 * y + total

    assert float(jx.grad(f)(1.5)) == 2.0
    with pytest.raises(ValueError, match="reverse-mode"):
        jx.grad(lambda x: _hands_on(x, x)[1])(1.0)


def test_what_a_scan_hands_on_is_neither_carry_nor_result():
    def f(x, y, xs):
        return lax.scan(lambda c, e: ((c[0] + c[1] * e, c[1]), (e, c[0])), (x, y), xs)

    loop = jx.make_jaxpr(f)(1.0, 2.0, jnp.ones(3)).jaxpr.eqns[-1]
    assert (loop.params["num_carry"], loop.params["num_consts"], len(loop.outvars)) == (1, 1, 2)
    xs = np.array([1.0, 2.0, 3.0], np.float32)
    (total, y), (elements, before) = jx.jit(f)(1.0, 2.0, xs)
    assert (float(total), float(y)) == (13.0, 2.0)
    np.testing.assert_array_equal(elements, xs)
    np.testing.assert_array_equal(before, [1.0, 3.0, 7.0])

    def together(x, y, xs):
        return sum(jnp.sum(v) for v in jx.tree.leaves(f(x, y, xs)))

    for gradient in (jx.grad(together, (0, 1, 2)), jx.jit(jx.grad(together, (0, 1, 2)))):
        by_x, by_y, by_xs = gradient(1.0, 2.0, xs)
        assert (float(by_x), float(by_y)) == (4.0, 11.0)
        np.testing.assert_array_equal(by_xs, [7.0, 5.0, 3.0])


# As JAX does, beyond the usual ----------------------------------------------------------------------------------------


def test_bounds_of_fori_loop() -> None:
    add = lambda i, c: c + i
    assert int(lax.fori_loop(0.0, 3.7, lambda i, c: c + i, 0)) == 3  # known bounds are cut to ints
    assert float(jx.jit(lambda n: lax.fori_loop(0.0, n, add, 0.0))(3.5)) == 6  # others are counted up to
    assert int(lax.fori_loop(0, np.int16(3), add, 0)) == 3 and int(lax.fori_loop(np.int8(0), 3, add, 0)) == 3
    assert int(jx.jit(lambda n: lax.fori_loop(0, n, add, 0))(np.int16(3))) == 3
    assert int(jx.jit(lambda n: lax.fori_loop(0, n, add, 0, unroll=True))(3)) == 3
    for low, high in ((np.int8(0), np.int16(3)), (np.uint8(0), 3), (True, 3), (0, 3.0)):
        for run in (lax.fori_loop, jx.jit(lax.fori_loop, static_argnums=2)):
            with pytest.raises(TypeError, match="different dtypes, lower"):
                run(low, high, add, 0)
    with pytest.raises(TypeError, match=r"upper must be a scalar, not i32\[1\]"):
        lax.fori_loop(0, np.array([3], np.int32), add, 0)
    with pytest.raises(TypeError, match="lower must be a number, not NoneType"):
        lax.fori_loop(None, 3, add, 0)


def test_lengths_and_unrolling_of_scan() -> None:
    step = lambda c, x: [c + x, 2 * x]
    for unroll in (0, False, True, 2, 7):
        carry, ys = lax.scan(step, 0.0, np.arange(3.0), length=3.0, unroll=unroll)
        assert float(carry) == 3 and ys.tolist() == [0, 2, 4]
    assert type(lax.scan(step, 0.0, np.arange(3.0))) is list  # the body's own kind of pair
    for xs in (None, {}, ()):
        carry, ys = lax.scan(lambda c, x: (c + 1, x), 0, xs, length=0)
        assert int(carry) == 0 and ys == xs
    carry, ys = lax.scan(lambda c, x: (c + x.sum(), x), 0.0, np.zeros((0, 2)))
    assert float(carry) == 0 and ys.shape == (0, 2)


def test_map_in_batches_of_none() -> None:
    np.testing.assert_allclose(lax.map(jnp.sin, XS, batch_size=0), np.sin(XS))
    with pytest.raises(TypeError, match="float"):
        lax.map(jnp.sin, XS, batch_size=2.0)


def test_complex_numbers_choose_nothing() -> None:
    with pytest.raises(TypeError, match="a boolean or a real number"):
        lax.cond(1j, lambda: 1, lambda: 2)


def test_associative_scan_of_other_trees() -> None:
    pairs = (XS, 2 * XS)
    found = lax.associative_scan(lambda a, b: [a[0] + b[0], a[1] + b[1]], pairs)  # a list where it took a tuple
    assert type(found) is tuple
    np.testing.assert_allclose(found[1], np.cumsum(2 * XS, 0))
    with pytest.raises(ValueError, match="must return the structure it takes"):
        lax.associative_scan(lambda a, b: (a, b), XS)
