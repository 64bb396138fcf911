"""Which inputs of `vjp` and `linearize` vary, and what programs are as values."""

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
