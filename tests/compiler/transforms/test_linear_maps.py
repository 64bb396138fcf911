"""Which inputs of `vjp` and `linearize` vary, and what programs are as values."""

import types
from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope.extend.core import ClosedJaxpr, Jaxpr


def test_inputs_that_do_not_vary_have_no_tangents() -> None:
    fun = lambda x, y: (x * y["a"], x + 1, y["n"])
    args = 2.0, {"a": 3.0, "n": 4}
    _, pull = jx.vjp(fun, *args, in_nzs=(False, True))
    cotangents = pull((1.0, 1.0, jnp.zeros((), jx.float0)))
    assert (float(cotangents[0]), float(cotangents[1]["a"])) == (0.0, 2.0)
    _, push = jx.linearize(fun, *args, in_nzs=(True, {"a": False, "n": False}))
    assert pull.out_nzs == (True, False, False)
    assert push.out_nzs == (True, True, False)
    with pytest.raises(ValueError, match="in_nzs of vjp must be a prefix"):
        jx.vjp(fun, *args, in_nzs=(True,))


def test_a_program_with_its_constants_is_a_jaxpr() -> None:
    closed = jx.make_jaxpr(lambda x: x + jnp.array([1.0, 2.0]))(1.0)
    assert isinstance(closed, Jaxpr)
    assert not isinstance(closed.jaxpr, ClosedJaxpr)
    assert closed.num_consts == len(closed.consts) == len(closed.constvars)
    assert closed.all_invars == [*closed.constvars, *closed.invars]
    (out,) = jx.core.eval_jaxpr(closed, closed.consts, 1.0)
    assert out.tolist() == [2.0, 3.0]


@pytest.mark.parametrize(
    "make", ["jnp.array(1j, 'float32')", "jnp.array([1, 1j], 'int32')", "jnp.full(2, 1j, 'float32')", "jnp.float32(1j)"]
)
def test_complex_numbers_are_no_real_ones(make: str) -> None:
    with pytest.raises(TypeError, match="complex number 1j"):
        eval(make, {"jnp": jnp})


def test_cotangents_that_do_not_fit_are_refused():
    for fun, ct in ((lambda x: x, 1j), (lambda x: 1j * x, 1.0), (lambda x: jnp.stack([x, x]), 1.0)):
        with pytest.raises(TypeError, match="they must agree"):
            jx.linear_transpose(fun, 1.0)(ct)


def test_arguments_of_a_linear_function_may_be_described_by_any_object():
    like = types.SimpleNamespace(shape=(3,), dtype=np.dtype(np.float32))
    (ct,) = jx.linear_transpose(lambda x: 2 * x, like)(np.arange(3, dtype=np.float32))
    np.testing.assert_array_equal(ct, [0, 2, 4])


def test_arguments_that_a_pullback_keeps_are_apart() -> None:
    x, w = jnp.ones((3, 4)), jnp.arange(16.0).reshape(4, 4)
    out, pull = jx.vjp(lambda x, w: 2.0 * (x @ w["a"]), x, {"a": w})
    assert pull.args_res[0] is x and pull.args_res[1] == (w,)
    ct = jnp.ones_like(out)
    expected = pull(ct)
    pull.args_res[1] = None
    with pytest.raises(ValueError, match=r"not-saveable\): args\[1\]\['a'\]"):
        pull(ct)
    pull.args_res[1] = {"a": 3.0 * w}
    np.testing.assert_allclose(pull(ct)[0], 3.0 * expected[0])
    _, pull = jx.vjp(jnp.sin, 2.0)
    assert pull.args_res == [jx.ad.NotNeeded()] and len(pull.opaque_residuals) == 1


@pytest.mark.parametrize("saveable", [(True, False), (True, (False,)), (True, {"a": False})])
def test_arguments_that_a_pullback_does_not_keep(saveable: Any) -> None:
    def made(x: Any, w: Any) -> Any:
        return jx.vjp(lambda x, w: jnp.sin(x @ w["a"]), x, w, saveable_args=saveable)

    def finished(pull: Any, w: Any, ct: Any) -> Any:
        pull.args_res[1] = w
        return pull(ct)

    x, w = jnp.ones((3, 4)), {"a": jnp.arange(16.0).reshape(4, 4)}
    out, pull = jx.jit(made)(x, w)
    assert pull.args_res[1] == (jx.ad.NotSaveable(),)
    assert all(leaf.shape != (4, 4) for leaf in jx.tree.leaves(pull))
    ct = jnp.ones_like(out)
    with pytest.raises(ValueError, match="not-saveable"):
        pull(ct)
    wanted = jx.vjp(lambda x, w: jnp.sin(x @ w["a"]), x, w)[1](ct)
    found = jx.jit(finished)(pull, w, ct)
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-6)
    np.testing.assert_allclose(found[1]["a"], wanted[1]["a"], rtol=1e-6)


@pytest.mark.parametrize(
    ("saveable", "told"),
    [
        ((True,), "number of children"),
        ((True, (True, True)), "leaf"),
        ((1, True), "tuple-tree of bools"),
        ([True, True], "tuple-tree"),
    ],
)
def test_what_saveable_args_must_be(saveable: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        jx.vjp(lambda x, w: x @ w, jnp.ones((3, 4)), jnp.ones((4, 4)), saveable_args=saveable)


def test_compiled_functions_give_and_take_a_transpose() -> None:
    scaled = jx.jit(lambda a: jx.linear_transpose(lambda x: a * x, jnp.ones(3)))
    transposed = scaled(jnp.arange(3.0))
    assert jx.tree.leaves(transposed)[0].shape == (3,)  # what the function captured
    np.testing.assert_array_equal(transposed(jnp.full(3, 2.0))[0], [0, 2, 4])
    np.testing.assert_array_equal(jx.jit(lambda f, ct: f(ct)[0])(transposed, jnp.ones(3)), [0, 1, 2])
    np.testing.assert_array_equal(scaled(jnp.arange(3.0) + 5)(jnp.ones(3))[0], [5, 6, 7])
    both = jx.vmap(lambda a: jx.linear_transpose(lambda x: a * x, 1.0))(jnp.array([3.0, 4.0]))
    np.testing.assert_array_equal(jx.vmap(lambda f: f(2.0)[0])(both), [6, 8])
    with pytest.raises(TypeError, match=r"of <lambda> is f32\[3\] and its cotangent f32\[2\]"):
        transposed(jnp.ones(2))


def test_the_transpose_of_what_only_goes_back():
    """A custom_vjp function has no derivative forwards: linearize's map can be transposed all the same, and is not called."""

    @jx.custom_vjp
    def f(x):
        return jnp.sin(x)

    f.defvjp(lambda x: (f(x), x), lambda x, g: (2 * jnp.cos(x) * g,))
    x = jnp.arange(3.0)
    programs = [f, lambda x: jx.lax.scan(lambda c, a: (f(c) * a, f(a)), x[1], x)[1], jx.jit(f)]
    for fun in programs:
        _, pushforward = jx.linearize(fun, x)
        np.testing.assert_allclose(jx.linear_transpose(pushforward, x)(x)[0], jx.vjp(fun, x)[1](x)[0], rtol=1e-6)
        with pytest.raises(TypeError, match="custom_vjp"):
            pushforward(x)
