"""Which inputs of `vjp` and `linearize` vary, and what programs are as values."""

import types

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
