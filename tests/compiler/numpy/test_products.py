"""A vector times a large matrix: summed in parts, wherever it comes from."""

from __future__ import annotations

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax


RANDOM = np.random.default_rng(0)
A = RANDOM.standard_normal((8192, 160)).astype(np.float32)
V, W = RANDOM.standard_normal(8192).astype(np.float32), RANDOM.standard_normal(160).astype(np.float32)
WANTED = V.astype(np.float64) @ A.astype(np.float64)
WAYS = {
    "v @ A": lambda a, v: v @ a,
    "A.T @ v": lambda a, v: a.T @ v,
    "einsum": lambda a, v: jnp.einsum("i,ij->j", v, a),
    "gradient": lambda a, v: jx.grad(lambda w: (a @ w) @ v)(jnp.zeros(160, a.dtype)),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("wide", [False, True], ids=["float32", "float64"])
def test_parts_sum_up(way: str, wide: bool) -> None:
    with jx.enable_x64(wide):
        a, v = (np.asarray(x, np.float64 if wide else np.float32) for x in (A, V))
        lowered = jx.jit(WAYS[way]).lower(a, v)
        got = lowered.compile()(a, v)
        assert "16x512x160" in lowered.as_text()
    np.testing.assert_allclose(got, WANTED, rtol=1e-9 if wide else 1e-4, atol=1e-9 if wide else 1e-3)


def test_other_products_stay_whole() -> None:
    def text(f, *args):
        return jx.jit(f).lower(*args).as_text()

    for product in (
        text(lambda a, w: a @ w, A, W),
        text(lambda a, v: v @ a, A[:1024], V[:1024]),
        text(lambda a, v: v @ a, A[:8191], V[:8191]),
        text(lambda a, v: v @ a, A.astype(np.int32), V.astype(np.int32)),
        text(lambda a, b: b @ a, A, np.stack([V, V])),
    ):
        assert "stablehlo.reduce" not in product and product.count("dot_general") == 1


def test_mapped_and_differentiated() -> None:
    both = jx.vmap(lambda v: v @ A)(np.stack([V, 2 * V]))
    np.testing.assert_allclose(both[1], 2 * WANTED, rtol=1e-4, atol=2e-3)
    slope = jx.jit(jx.grad(lambda a: jnp.sum((V @ a) * W)))(A)
    np.testing.assert_allclose(slope, np.outer(V, W), rtol=1e-5)


@pytest.mark.parametrize("count", [4, 60])
def test_the_longer_axis_of_mapped_products_is_the_last(count: int) -> None:
    """Loops over [4, 50] are a few times as quick as those over [50, 4]; the mapped axis comes first in the end either way."""
    random = np.random.default_rng(0)
    A, vectors = random.standard_normal((50, 3), np.float32), random.standard_normal((count, 3), np.float32)
    mapped = jx.vmap(lambda v: jnp.dot(A, v))
    (product,) = [e for e in jx.make_jaxpr(mapped)(vectors).eqns if e.primitive.name == "dot_general"]
    assert product.outvars[0].aval.shape == tuple(sorted((count, 50)))
    np.testing.assert_allclose(jx.jit(mapped)(vectors), vectors @ A.T, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(
        jx.jacrev(lambda v: mapped(v).sum(0))(vectors)[:, 0], np.broadcast_to(A, (50, 3)), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("types", [("bfloat16", "float16"), ("float16", "bfloat16"), ("float8_e4m3fn", "float8_e5m2")])
def test_products_of_two_narrow_dtypes_lose_no_digits_of_either(types) -> None:
    rng = np.random.default_rng(0)
    x, y = (jnp.asarray(rng.standard_normal((3, 16)).astype(t)) for t in types)
    exact = np.asarray(x).astype(np.float64) @ np.asarray(y).astype(np.float64).T
    numbers = (((1,), (1,)), ((), ()))
    wide = jx.jit(lambda x, y: lax.dot_general(x, y, numbers, preferred_element_type=jnp.float32))(x, y)
    assert wide.dtype == np.float32
    np.testing.assert_allclose(wide, exact, rtol=1e-5, atol=1e-5)
    narrow = lax.dot_general(x, y, numbers)
    assert narrow.dtype == max(types, key=lambda t: jnp.finfo(t).max.astype(float))
    np.testing.assert_array_equal(narrow, exact.astype(narrow.dtype))


@pytest.mark.parametrize("given", ["int8", "bool", "float16", "complex64"])
@pytest.mark.parametrize("preferred", ["float32", "int32"])
def test_products_of_several_have_the_preferred_dtype(given, preferred) -> None:
    xs = [np.full((2, 2), i, given) for i in (1, 2, 3)]
    found = jnp.einsum("ij,jk,kl", *xs, preferred_element_type=preferred)
    assert found.dtype == preferred
    np.testing.assert_array_equal(found, np.linalg.multi_dot([x.astype("complex64") for x in xs]).real)
