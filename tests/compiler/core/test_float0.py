"""float0: what integers and booleans have for tangents and cotangents, through all transformations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.custom_derivatives import SymbolicZero, zero_from_primal


NOTHING = jx.dtypes.float0
XS, NUMBERS = np.arange(3, dtype=np.float32), np.arange(3, dtype=np.int32)


def zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape, NOTHING)


def check(found: Any, *shape: int) -> None:
    """JAX gives NumPy arrays."""
    assert type(found) is np.ndarray and found.dtype == NOTHING and found.shape == shape


PROGRAMS = {
    "jit": (lambda: jx.jit(lambda x: x)(zeros(3)), (3,)),
    "jit of grad": (lambda: jx.jit(jx.grad(lambda n: 1.0, allow_int=True))(3), ()),
    "jit of jvp": (lambda: jx.jit(lambda x: jx.jvp(lambda x: x > 0, (x,), (x,))[1])(1.0), ()),
    "vmap of grad": (lambda: jx.vmap(jx.grad(lambda n: 1.0, allow_int=True))(NUMBERS), (3,)),
    "vmap of jvp": (lambda: jx.vmap(lambda n: jx.jvp(lambda n: n, (n,), (zeros(),))[1])(NUMBERS), (3,)),
    "vmap of tangents": (lambda: jx.vmap(lambda n, t: jx.jvp(lambda n: n, (n,), (t,))[1])(NUMBERS, zeros(3)), (3,)),
    "vmap, other axis": (lambda: jx.vmap(lambda t: t, in_axes=1, out_axes=0)(zeros(2, 3)), (3, 2)),
    "jacfwd of them": (lambda: jx.jacfwd(lambda x: zeros(3))(XS[:2]), (3, 2)),
    "jacfwd of jvp": (lambda: jx.jacfwd(lambda x: jx.jvp(lambda x: x > 0, (x,), (x,))[1])(XS), (3, 3)),
    "scan": (lambda: jx.jvp(lambda n: lax.scan(lambda c, n: (c, n), 1.0, n)[1], (NUMBERS,), (zeros(3),))[1], (3,)),
    "scan over them": (lambda: jx.jit(lambda t: lax.scan(lambda c, t: (c, t), 0.0, t)[1])(zeros(3, 2)), (3, 2)),
    "while_loop": (
        lambda: jx.jvp(lambda n: lax.while_loop(lambda n: n < 3, lambda n: n + 1, n), (1,), (zeros(),))[1],
        (),
    ),
    "checkpoint": (lambda: jx.checkpoint(lambda x: x)(zeros(3)), (3,)),
    "device_put": (lambda: jx.device_put(zeros(3)), (3,)),
    "jnp.zeros": (lambda: jnp.zeros((2, 3), NOTHING), (2, 3)),
    "jnp.zeros_like": (lambda: jnp.zeros_like(zeros(3)), (3,)),
    "jnp.array": (lambda: jnp.array(zeros(3)), (3,)),
    "jnp.asarray": (lambda: jnp.asarray(zeros(3)), (3,)),
    "convert": (lambda: lax.convert_element_type(XS, NOTHING), (3,)),
    "eval_shape": (lambda: np.zeros(*_like(jx.eval_shape(jx.grad(lambda n: 1.0, allow_int=True), 3))), ()),
}


def _like(aval: Any) -> tuple:
    return aval.shape, aval.dtype


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_goes_through(name: str) -> None:
    run, shape = PROGRAMS[name]
    check(run(), *shape)


def test_beside_numbers() -> None:
    values, found = jx.jit(jx.value_and_grad(lambda x, n: x * n, (0, 1), allow_int=True))(2.0, 3)
    assert float(values) == 6 and float(found[0]) == 3
    check(found[1])
    again = jx.jit(lambda x, t: (x * 2, t))(XS, zeros(2))
    np.testing.assert_allclose(again[0], 2 * XS)
    check(again[1], 2)
    with jx.debug_nans():
        check(jx.jit(lambda x, t: (x * 2, t))(XS, zeros(2))[1], 2)


def test_nothing_computes_with_it() -> None:
    for run in (
        lambda: jnp.asarray(zeros(3)) + 1,
        lambda: XS + jnp.asarray(XS) * zeros(3),
        lambda: jnp.add(zeros(3), 1.0),
        lambda: jnp.sum(zeros(3)),
        lambda: jnp.sin(zeros(3)),
    ):
        with pytest.raises(TypeError):
            run()
    with pytest.raises(TypeError, match="multiply got zeros of dtype float0, the derivatives of integers"):
        jnp.multiply(XS, zeros(3))


def test_shapes_are_checked() -> None:
    with pytest.raises(ValueError, match=r"tangent has the shape \(4,\)"):
        jx.jvp(lambda n: n, (NUMBERS,), (zeros(4),))


def test_in_rules() -> None:
    @jx.custom_jvp
    def f(x, n):
        return x, n

    f.defjvp(lambda primals, tangents: (primals, (2.0, zero_from_primal(primals[1]))))
    for wrap in (f, lambda x, n: lax.scan(lambda c, _: (f(*c), None), (x, n), length=1)[0]):
        (x, n), (tx, tn) = jx.jvp(wrap, (2.0, 3), (1.0, jnp.zeros((), NOTHING)))
        assert (float(x), int(n), float(tx)) == (2, 3, 2)
        check(tn)
    assert float(zero_from_primal(np.float32(3))) == 0 and zero_from_primal(XS).shape == (3,)
    pair, nothing = zero_from_primal(((XS, np.float32(1)), None))
    assert pair[0].shape == (3,) and float(pair[1]) == 0 and nothing is None
    assert isinstance(zero_from_primal({"a": [1.0]}, symbolic_zeros=True)["a"][0], SymbolicZero)
    symbolic = zero_from_primal(NUMBERS, symbolic_zeros=True)
    assert type(symbolic) is SymbolicZero and symbolic.dtype == NOTHING and symbolic.shape == (3,)
