"""custom_vmap and sequential_vmap."""

from __future__ import annotations

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.custom_batching import custom_vmap, sequential_vmap
from tests.compiler.wrappers import check, pairs
from tests.extent import one_in


XS = np.array([0.3, -0.7, 1.9], np.float32)


@pytest.mark.parametrize("outer_and_inner", one_in(2, pairs("custom_vmap")))
def test_composes(outer_and_inner: tuple[str, str]) -> None:
    check(*outer_and_inner)


def recording():
    """x·y + 1 with a rule that says by what it was called."""
    calls = []
    f = custom_vmap(lambda x, y: x * y + 1.0)

    @f.def_vmap
    def rule(axis_size, in_batched, x, y):
        calls.append((axis_size, in_batched, np.shape(x), np.shape(y)))
        return x * y + 1.0, in_batched[0] or in_batched[1]

    return f, calls


def test_the_rule_is_told_what_is_mapped() -> None:
    f, calls = recording()
    f(1.0, 2.0)
    assert not calls
    jx.vmap(f, (1, None))(np.ones((2, 3), np.float32), 2.0)
    jx.vmap(f, (None, 0))(2.0, XS)
    jx.jit(jx.vmap(jx.jit(f)))(XS, XS)
    assert calls == [(3, [True, False], (3, 2), ()), (3, [False, True], (), (3,)), (3, [True, True], (3,), (3,))]


def test_a_function_with_both_rules_takes_them_after_both_decorators() -> None:
    f = jx.custom_vjp(custom_vmap(lambda x, y: jnp.sin(x) * y))
    f.def_vmap(lambda axis_size, in_batched, x, y: (jnp.cos(x) * y, True))
    f.defvjp(lambda x, y: (f(x, y), (x, y)), lambda res, ct: (ct * jnp.cos(res[0]) * res[1], ct * jnp.sin(res[0])))
    np.testing.assert_allclose(jx.vmap(f)(XS, 2 * XS), np.cos(XS) * 2 * XS, rtol=1e-6)
    np.testing.assert_allclose(jx.grad(f)(0.3, 2.0), 2 * np.cos(np.float32(0.3)), rtol=1e-6)
    with pytest.raises(AttributeError, match="def_other"):
        f.def_other  # noqa: B018
    with pytest.raises(AttributeError, match="defjvp"):
        f.defjvp  # noqa: B018


def test_derivatives_go_through_the_rule() -> None:
    f = custom_vmap(lambda x: jnp.sin(x))
    f.def_vmap(lambda n, b, x: (3.0 * x, True))
    np.testing.assert_allclose(jx.vmap(jx.grad(f))(XS), np.cos(XS), 1e-6)
    np.testing.assert_allclose(jx.grad(lambda x: jnp.sum(jx.vmap(f)(x)))(XS), 3 * np.ones(3), 1e-6)
    values, slopes = jx.vmap(lambda x: jx.jvp(f, (x,), (2.0,)))(XS)
    np.testing.assert_allclose(values, 3 * XS, 1e-6)
    np.testing.assert_allclose(slopes, 6 * np.ones(3), 1e-6)


def test_only_tangents_mapped_is_the_function_itself() -> None:
    f, calls = recording()
    jacobian = jx.vmap(lambda t: jx.jvp(f, (2.0, 3.0), (t, 0.0))[1])(XS)
    np.testing.assert_allclose(jacobian, 3 * XS, 1e-6)
    assert not calls


def test_in_a_loop() -> None:
    f, calls = recording()
    run = lambda x: lax.scan(lambda c, y: (f(c, y), c), x, XS)[0]
    wanted = [run(x) for x in XS]
    np.testing.assert_allclose(jx.vmap(run)(XS), wanted, 1e-6)
    assert calls
    np.testing.assert_allclose(jx.vmap(jx.grad(run))(XS), np.full(3, XS.prod()), 1e-5)


def test_nested_axes() -> None:
    f, calls = recording()
    both = jx.vmap(jx.vmap(f, (None, 0)), (0, None))(XS, XS)
    np.testing.assert_allclose(both, np.outer(XS, XS) + 1, 1e-6)
    assert calls[0][1] == [False, True]


def test_some_results_unused() -> None:
    f = custom_vmap(lambda x: (x, jnp.sin(x), 2 * x))
    f.def_vmap(lambda n, b, x: ((x, 5 * x, 2 * x), (True, True, True)))
    np.testing.assert_allclose(jx.jit(jx.vmap(jx.jit(lambda x: f(x)[1])))(XS), 5 * XS, 1e-6)
    np.testing.assert_allclose(jx.vmap(jx.grad(jx.jit(lambda x: f(x)[1])))(XS), np.cos(XS), 1e-6)


def test_sequential_runs_a_loop_for_what_is_mapped() -> None:
    f = sequential_vmap(lambda x, d: {"out": jnp.sin(x) * d["w"]})
    text = str(jx.make_jaxpr(jx.vmap(f, (0, {"w": None})))(XS, {"w": 2.0}))
    assert "scan[" in text and "length=3" in text
    np.testing.assert_allclose(jx.vmap(f, (0, {"w": None}))(XS, {"w": 2.0})["out"], 2 * np.sin(XS), 1e-6)
    slopes = jx.grad(lambda w: jnp.sum(jx.vmap(f, (0, {"w": None}))(XS, {"w": w})["out"]))(2.0)
    np.testing.assert_allclose(slopes, np.sin(XS).sum(), 1e-6)


def test_wrong_rules_are_told_apart() -> None:
    def mapped(rule):
        f = custom_vmap(lambda x: {"a": x})
        f.def_vmap(rule)
        return jx.vmap(f)(XS)

    with pytest.raises(TypeError, match="must return a pair, the result and which of its arrays are mapped"):
        mapped(lambda n, b, x: {"a": x})
    with pytest.raises(ValueError, match="returned a result of structure"):
        mapped(lambda n, b, x: (x, True))
    with pytest.raises(ValueError, match="as a bool in a tree"):
        mapped(lambda n, b, x: ({"a": x}, {"a": 1}))
    with pytest.raises(ValueError, match=r"returned f32\[\] at result\['a'\], mapped; it must be f32\[3\]"):
        mapped(lambda n, b, x: ({"a": x[0]}, {"a": True}))
    with pytest.raises(ValueError, match=r"not mapped; it must be f32\[\]"):
        mapped(lambda n, b, x: ({"a": x}, {"a": False}))
    with pytest.raises(AttributeError, match="has no rule yet"):
        custom_vmap(lambda x: x)(1.0)


def test_captured_values_cannot_be_mapped() -> None:
    def outer(x, y):
        f = custom_vmap(lambda x: x * y)
        f.def_vmap(lambda n, b, x: (x * y, True))
        return f(x)

    assert jx.vmap(lambda x: outer(x, 2.0))(XS).shape == (3,)
    np.testing.assert_allclose(jx.jit(jx.vmap(outer, (0, None)))(XS, 2.0), 2 * XS, 1e-6)
    with pytest.raises(Exception, match="captures a value that is being differentiated or mapped"):
        jx.vmap(outer)(XS, XS)


@pytest.mark.parametrize(
    ("x", "weak"), [(1.5, True), (2, True), (np.float32(3), False), (np.ones(2, np.float32), False)]
)
def test_results_are_arrays_outside_of_transformations(x, weak):
    f = custom_vmap(lambda x: x * 2)
    f.def_vmap(lambda axis_size, in_batched, x: (x * 2, in_batched[0]))
    for out in (f(x), sequential_vmap(lambda x: x * 2)(x)):
        assert isinstance(out, jx.Array) and out.weak_type == weak
        np.testing.assert_array_equal(out, np.multiply(x, 2))
