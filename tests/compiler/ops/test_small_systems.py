"""Many small systems, solved all at once, have LAPACK's results within rounding."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.xla import cpu_tuning
from tests.compiler.with_rules import with_and_without
from tests.extent import examples


RULE = cpu_tuning.SMALL_SYSTEMS
pytestmark = pytest.mark.skipif(not RULE.holds(), reason="the rule holds with releases it was measured with")
COUNT = RULE.value["matrices"]


def _matrices(seed: int, n: int, dtype: str, batch: tuple[int, ...] = (COUNT,)) -> np.ndarray:
    """Matrices that are far from singular: orthogonal ones with lengths of 1 to 3, rows in any order."""
    random = np.random.default_rng(seed)
    turns = np.linalg.qr(random.standard_normal((*batch, n, n)))[0]
    return (turns * random.uniform(1, 3, (*batch, n, 1))).astype(dtype)


@settings(max_examples=examples(6), deadline=None)
@given(
    n=st.integers(2, 8),
    columns=st.integers(1, 3),
    dtype=st.sampled_from(["float32", "float64"]),
    batch=st.sampled_from([(COUNT,), (2, COUNT // 2), (COUNT // 2, 3)]),
    seed=st.integers(0, 2**31),
)
def test_systems_against_numpy(n: int, columns: int, dtype: str, batch: tuple[int, ...], seed: int) -> None:
    a = _matrices(seed, n, dtype, batch)
    b = np.random.default_rng(seed).standard_normal((*batch, n, columns)).astype(dtype)
    with jx.enable_x64(dtype == "float64"):
        got, want, differ = with_and_without([RULE], lambda a, b: [jnp.linalg.solve(a, b), *lax.linalg.lu(a)], a, b)
    assert differ
    tolerance = {"rtol": 0, "atol": 200 * np.finfo(dtype).eps}
    np.testing.assert_allclose(got[0], np.linalg.solve(a.astype(float), b.astype(float)), **tolerance)
    factors, pivots, order = got[1:]
    lower, upper = np.tril(factors, -1) + np.eye(n), np.triu(factors)
    assert np.abs(lower).max() <= 1 and pivots.dtype == order.dtype == np.int32
    np.testing.assert_allclose(lower @ upper, np.take_along_axis(a, order[..., None], -2), **tolerance)
    np.testing.assert_array_equal(order, want[3])
    np.testing.assert_array_equal(pivots, want[2])


@pytest.mark.parametrize("left_side", [True, False])
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("transpose_a", [True, False])
@pytest.mark.parametrize("unit_diagonal", [True, False])
def test_triangles(left_side: bool, lower: bool, transpose_a: bool, unit_diagonal: bool) -> None:
    a = _matrices(0, 4, "float32") + 3 * np.eye(4, dtype=np.float32)
    b = np.random.default_rng(1).standard_normal((COUNT, 4, 4)).astype(np.float32)
    own = {"left_side": left_side, "lower": lower, "transpose_a": transpose_a, "unit_diagonal": unit_diagonal}
    got, want, differ = with_and_without([RULE], lambda a, b: lax.linalg.triangular_solve(a, b, **own), a, b)
    assert differ
    np.testing.assert_allclose(got[0], want[0], rtol=1e-4, atol=1e-4)


def test_gradients() -> None:
    def function(a: Any, b: Any) -> Any:
        return jnp.sum(jnp.linalg.solve(a, b) ** 2) + jnp.sum(jnp.linalg.cholesky(a @ a.swapaxes(1, 2)))

    a, b = _matrices(0, 3, "float32"), np.ones((COUNT, 3, 1), np.float32)
    got, want, differ = with_and_without([RULE], jx.grad(function, (0, 1)), a, b)
    assert differ
    for one, other in zip(got, want):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


def test_what_has_no_factors() -> None:
    """A matrix that is not positive definite gives NaN in its lower triangle and leaves the others alone; one that is singular infinities or NaN."""
    a = np.broadcast_to(np.eye(3, dtype=np.float32), (COUNT, 3, 3)).copy()
    a[5, 1, 1], a[6, 2, 0], a[7, 0, 0] = -1, np.nan, 0
    got, want, differ = with_and_without([RULE], lambda a: lax.linalg.cholesky(a, symmetrize_input=False), a)
    assert differ
    np.testing.assert_array_equal(got[0], want[0])
    a[6, 2, 0], a[8, :, 1] = 0, 0
    got, want, _ = with_and_without([RULE], lambda a: [*lax.linalg.lu(a), jnp.linalg.inv(a)], a)
    for one, other in zip(got[:3], want[:3]):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(np.isfinite(got[3]).all((1, 2)), np.isfinite(want[3]).all((1, 2)))


@pytest.mark.parametrize(
    ("shape", "written"), [((COUNT, 8, 8), True), ((COUNT - 1, 8, 8), False), ((COUNT, 9, 9), False)]
)
@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_which_are_written(shape: tuple[int, ...], written: bool, dtype: Any) -> None:
    text = jx.jit(jnp.linalg.cholesky).lower(jx.ShapeDtypeStruct(shape, dtype)).as_text()
    assert ("potrf" not in text) == (written and dtype is np.float32)
