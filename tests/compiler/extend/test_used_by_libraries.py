"""What libraries written for JAX asked for and did not find, each by itself."""

import numpy as np

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax


A = np.sin(np.arange(60.0, dtype=np.float32)).reshape(3, 4, 5)
B = np.cos(np.arange(90.0, dtype=np.float32)).reshape(3, 5, 6)


def test_einsum_with_another_product():
    seen = []

    def times(x, y, dimension_numbers, precision=None, preferred_element_type=None):
        seen.append((dimension_numbers, preferred_element_type))
        return 2 * lax.dot_general(x, y, dimension_numbers, precision, preferred_element_type)

    for run in (jnp.einsum, jx.jit(jnp.einsum, static_argnums=0, static_argnames="_dot_general")):
        found = run("bij,bjk->bki", A, B, _dot_general=times)
        np.testing.assert_allclose(found, 2 * np.einsum("bij,bjk->bki", A, B), rtol=1e-5)
    assert len(seen) == 2 and seen[0][1] == np.float32
    np.testing.assert_allclose(jnp.einsum("bij,bjk->bki", A, B, _dot_general=lax.dot_general), found / 2, rtol=1e-5)


def test_residuals_that_are_python_numbers_stay_what_they_are():
    seen = []

    @jx.custom_vjp
    def f(x):
        return x * 3

    def bwd(residuals, ct):
        seen.append(residuals["flag"] is True and type(residuals["n"]) is int and residuals["f"] == 1.5)
        return (ct * residuals["x"] if residuals["flag"] else ct,)

    f.defvjp(lambda x: (x * 3, {"flag": True, "n": 2, "f": 1.5, "x": x}), bwd)
    one, two = jnp.float32(5.0), jnp.full((2,), 5.0)
    for gradient, x in (
        (jx.grad(f), one),
        (jx.jit(jx.grad(f)), one),
        (jx.vmap(jx.grad(f)), two),
        (jx.jit(jx.vmap(jx.grad(jx.jit(f)))), two),
    ):
        np.testing.assert_allclose(gradient(x), x)
    assert seen == [True] * 4


def test_tracers_have_their_trace():
    def f(x):
        assert x._trace.main is x._trace
        return x

    jx.jit(f)(1.0)
    jx.jvp(f, (1.0,), (1.0,))


def test_the_ledger_takes_programs_met_outside_of_traces(capsys):
    np.testing.assert_allclose(
        jx.grad(jx.jit(lambda x: (x * jnp.sin(x)).sum()))(A), np.sin(A) + A * np.cos(A), rtol=1e-5
    )
    assert "listener" not in capsys.readouterr().err


def test_rules_by_operand_where_zeros_are_trees():
    from jitscope.interpreters import ad  # makes Zero a node of trees

    assert jx.tree.leaves(ad.Zero(jx.core.ShapedArray((), jnp.float32))) == []
    assert jx.grad(lambda x: jx.nn.relu(x) * 3)(1.0) == 3.0  # a custom_jvp function with defjvps
    assert jx.vmap(jx.grad(jx.nn.relu))(jnp.array([-1.0, 2.0])).tolist() == [0.0, 1.0]


def test_shardings_of_none_say_nothing():
    f = jx.jit(lambda x: x + 1, in_shardings=(None,), out_shardings=(None, {"a": None}, None))
    assert f(1.0) == 2.0
