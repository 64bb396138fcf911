"""`lax.dce_sink`: what is needed though nothing comes of it."""

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax


def _sunk(x, kept: bool):
    lax.dce_sink({"sin": jnp.sin(x), "key": jx.random.key(3)}, prevent_mlir_dce=kept)
    return x + 1


@pytest.mark.parametrize("kept", [False, True])
def test_the_compiled_program_computes_it_where_that_is_asked(kept: bool) -> None:
    x = np.arange(3, dtype=np.float32)
    traced = jx.make_jaxpr(lambda x: _sunk(x, kept))(x)
    assert "sin" in [e.primitive.name for e in traced.eqns]
    compiled = jx.jit(lambda x: _sunk(x, kept)).lower(x).compile()
    assert (" sine(" in compiled.as_text()) == kept
    np.testing.assert_array_equal(compiled(x), x + 1)


def test_it_stays_so_under_transformations() -> None:
    x = np.arange(3, dtype=np.float32)
    fun = lambda x: _sunk(x, True)
    np.testing.assert_array_equal(fun(x), x + 1)
    np.testing.assert_array_equal(jx.vmap(fun)(np.stack([x, x])), np.stack([x, x]) + 1)
    np.testing.assert_array_equal(jx.grad(lambda x: fun(x).sum())(x), np.ones(3))
    looped = jx.jit(lambda x: lax.fori_loop(0, 3, lambda i, c: fun(c), x))
    np.testing.assert_array_equal(looped(x), x + 3)
    mapped = jx.jit(jx.vmap(jx.grad(lambda x: fun(x) ** 2))).lower(x).compile()
    assert " sine(" in mapped.as_text()
    np.testing.assert_array_equal(mapped(x), 2 * (x + 1))
