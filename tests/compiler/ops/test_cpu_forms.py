"""Operations that are written as others for the CPU give what XLA's own give: the same bits, or within the bound stated."""

from __future__ import annotations

import math
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import Phase, given, settings

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.xla.cpu_tuning import (
    ARG_IN_TWO_STEPS,
    BOOLEANS_COUNTED,
    COMPLEX_OPERANDS_KEPT,
    PRODUCTS_WITH_SMALL_MATRICES,
    PRODUCTS_WITH_VECTORS,
    RUNNING_BY_ELEMENTS,
    RUNNING_BY_ROWS,
    SMALL_BATCHED_PRODUCTS,
    Tuning,
)
from tests.compiler.with_rules import with_and_without
from tests.extent import examples


AS_THEY_ARE = [Phase.explicit, Phase.generate]
"""(Each example compiles two programs: to look for the least that fails takes minutes.)"""
pytestmark = pytest.mark.skipif(
    not ARG_IN_TWO_STEPS.holds(), reason="the rules hold with releases they were measured with"
)
FLOATS = st.sampled_from(["float32", "float64"])


# The place of the greatest ---------------------------------------------------------------------------------------------


@st.composite
def long_axes(draw: Any) -> tuple[tuple[int, ...], int]:
    """A shape with an axis along which a place is found in two steps, and that axis."""
    n, before = draw(st.sampled_from([32, 45, 128, 997, 1024])), draw(st.sampled_from([(), (1,), (3,), (200,)]))
    rows = -(-ARG_IN_TWO_STEPS.value["elements"] // (n * math.prod(before)))
    after = draw(st.sampled_from([(rows,), (2, -(-rows // 2))]))
    return (
        ((*before, *after, n), len(before) + len(after)) if draw(st.booleans()) else ((*before, n, *after), len(before))
    )


@settings(max_examples=examples(25), phases=AS_THEY_ARE)
@given(long_axes(), FLOATS, st.booleans(), st.sampled_from(["few", "many", "nan", "zeros"]), st.integers(0, 2**31))
def test_the_first_greatest_element_is_found(case: Any, dtype: str, least: bool, values: str, seed: int) -> None:
    shape, axis = case
    random = np.random.default_rng(seed)
    x = random.integers(-3, 4, shape).astype(dtype) if values == "few" else random.standard_normal(shape).astype(dtype)
    if values == "nan":
        x[random.random(shape) < 3 / shape[axis]] = np.nan
        x[random.random(shape) < 3 / shape[axis]] = random.choice([np.inf, -np.inf])
    if values == "zeros":
        x = np.copysign(0, x)
    if values == "many":
        x[random.random(shape) < 0.1] = -np.inf if least else np.inf
    with jx.enable_x64(dtype == "float64"):
        ours, oracle = (jnp.argmin, np.argmin) if least else (jnp.argmax, np.argmax)
        (got,), (plain,), differ = with_and_without([ARG_IN_TWO_STEPS], lambda x: ours(x, axis), x)
        assert differ
        np.testing.assert_array_equal(got, oracle(x, axis))
        if values != "nan":  # of several NaNs XLA's own may find another than the first
            np.testing.assert_array_equal(got, plain)


@pytest.mark.parametrize("dtype", [np.float16, jnp.bfloat16, np.int32, np.uint8, np.int8])
@pytest.mark.parametrize("least", [False, True])
def test_the_first_greatest_element_of_other_dtypes(dtype: Any, least: bool) -> None:
    x = np.random.default_rng(0).integers(0, 4, (400, 100)).astype(dtype)
    ours, oracle = (jnp.argmin, np.argmin) if least else (jnp.argmax, np.argmax)
    (got,), (plain,), differ = with_and_without([ARG_IN_TWO_STEPS], lambda x: ours(x, 0), x)
    assert differ
    np.testing.assert_array_equal(got, oracle(x, 0))
    np.testing.assert_array_equal(got, plain)


def test_short_axes_and_integers_in_rows_are_compared_pair_by_pair() -> None:
    x = np.zeros((40000, 10), np.float32)
    for axis, taken in ((1, x), (0, x[:100]), (1, np.zeros((400, 500), np.int32))):
        assert not with_and_without([ARG_IN_TWO_STEPS], lambda x, axis=axis: jnp.argmax(x, axis), taken)[2]


@pytest.mark.parametrize("shape", [(16384,), (2, 100, 100), (16_777_300,)])
@pytest.mark.parametrize("true", ["none", "one", "all but one", "all"])
def test_any_and_all_are_told_by_a_number(shape: tuple[int, ...], true: str) -> None:
    x = np.full(shape, true in ("all", "all but one"))
    if "one" in true and true != "none":
        x.flat[-3] = true == "one"
    (some, every), plain, differ = with_and_without([BOOLEANS_COUNTED], lambda x: (jnp.any(x), jnp.all(x)), x)
    assert differ
    assert (some, every) == (np.any(x), np.all(x)) == tuple(plain)
    assert not with_and_without([BOOLEANS_COUNTED], lambda x: jnp.any(x, -1), x.reshape(-1, 4)[:5000])[2]


# Running reductions ----------------------------------------------------------------------------------------------------

RUNNING = {"cumsum": (lax.cumsum, np.add), "cumprod": (lax.cumprod, np.multiply), "cummax": (lax.cummax, np.maximum),
           "cummin": (lax.cummin, np.minimum)}  # fmt: skip


@st.composite
def leading_axes(draw: Any) -> tuple[tuple[int, ...], int]:
    """A shape with an axis that is run through row by row, and that axis."""
    rows, before = draw(st.integers(8, 150)), draw(st.sampled_from([(), (1,), (3,)]))
    least = -(-RUNNING_BY_ROWS.value["elements"] // (rows * math.prod(before)))
    row = draw(st.sampled_from([(max(4, least),), (2, max(2, -(-least // 2))), (max(17, least),)]))
    return (*before, rows, *row), len(before)


@settings(max_examples=examples(25), phases=AS_THEY_ARE)
@given(leading_axes(), FLOATS, st.sampled_from(sorted(RUNNING)), st.booleans(), st.integers(0, 2**31))
def test_running_reductions_are_those_of_numpy(case: Any, dtype: str, name: str, reverse: bool, seed: int) -> None:
    shape, axis = case
    ours, oracle = RUNNING[name]
    x = np.random.default_rng(seed).standard_normal(shape).astype(dtype)
    x = 1 + x / 100 if name == "cumprod" else x
    with jx.enable_x64(dtype == "float64"):
        (got,), (plain,), differ = with_and_without([RUNNING_BY_ROWS], lambda x: ours(x, axis, reverse), x)
    assert differ and got.dtype == plain.dtype
    turned = np.flip(x, axis) if reverse else x
    exact = oracle.accumulate(turned.astype(np.longdouble), axis)
    magnitude = np.abs(exact) if name == "cumprod" else np.add.accumulate(np.abs(turned).astype(np.longdouble), axis)
    exact, magnitude = (np.flip(v, axis) if reverse else v for v in (exact, magnitude))
    if name in ("cummax", "cummin"):
        np.testing.assert_array_equal(got, exact.astype(dtype))
        np.testing.assert_array_equal(got, plain)
        return
    n = shape[axis]
    block = n if n <= 32 else math.isqrt(n)
    assert np.all(np.abs(got - exact) <= (block + n / block + 2) * np.finfo(dtype).eps * magnitude)


@settings(max_examples=examples(10), phases=AS_THEY_ARE)
@given(leading_axes(), st.sampled_from(["int32", "uint32"]), st.sampled_from(sorted(RUNNING)), st.integers(0, 2**31))
def test_running_reductions_of_integers_are_the_same(case: Any, dtype: str, name: str, seed: int) -> None:
    shape, axis = case
    x = np.random.default_rng(seed).integers(0, 2**31, shape).astype(dtype)
    (got,), (plain,), differ = with_and_without([RUNNING_BY_ROWS], lambda x: RUNNING[name][0](x, axis), x)
    assert differ
    np.testing.assert_array_equal(got, plain)


@settings(max_examples=examples(25), phases=AS_THEY_ARE, deadline=None)
@given(
    st.sampled_from(
        [
            (32,),
            (64,),
            (65,),
            (1000,),
            (4096,),
            (4097,),
            (30011,),
            (1, 40),
            (7, 35),
            (3, 512),
            (2, 3, 700),
            (2, 5000, 1),
        ]
    ),
    st.sampled_from(["float32", "float64", "int32", "uint32"]),
    st.sampled_from(sorted(RUNNING)),
    st.booleans(),
    st.integers(0, 2**31),
)
def test_running_reductions_along_the_last_axis(
    shape: tuple[int, ...], dtype: str, name: str, reverse: bool, seed: int
) -> None:
    axis = len(shape) - 1 - (shape[-1] == 1)
    ours, oracle = RUNNING[name]
    random = np.random.default_rng(seed)
    x = (
        random.integers(0, 2**31, shape).astype(dtype)
        if dtype[-5:-2] == "int"
        else random.standard_normal(shape).astype(dtype)
    )
    is_float = x.dtype.kind == "f"
    x = 1 + x / 10_000 if name == "cumprod" and is_float else x
    with jx.enable_x64(dtype == "float64"):
        (got,), (plain,), differ = with_and_without([RUNNING_BY_ELEMENTS], lambda x: ours(x, axis, reverse), x)
    assert differ and got.dtype == plain.dtype
    if not is_float or name in ("cummax", "cummin"):
        np.testing.assert_array_equal(got, plain)
        return
    turned = np.flip(x, axis) if reverse else x
    exact = oracle.accumulate(turned.astype(np.longdouble), axis)
    magnitude = np.abs(exact) if name == "cumprod" else np.add.accumulate(np.abs(turned).astype(np.longdouble), axis)
    exact, magnitude = (np.flip(v, axis) if reverse else v for v in (exact, magnitude))
    n = shape[axis]
    root, cube = max(64, math.isqrt(n)), round(n ** (1 / 3))
    steps = n if n <= 64 else root + n / root + 2 if n <= 4096 else n / cube**2 + 2 * cube + 3
    assert np.all(np.abs(got - exact) <= steps * np.finfo(dtype).eps * magnitude)


def test_running_reductions_along_short_rows_are_xlas() -> None:
    for x in (np.ones(31, np.float32), np.ones((100, 31), np.float32), np.ones((100, 20), np.int32)):
        assert not with_and_without([RUNNING_BY_ELEMENTS], lambda x: jnp.cumsum(x, -1), x)[2]


@pytest.mark.parametrize("shape", [(), (3,), (4, 3, 2)])
def test_complex_functions_of_random_numbers_compile(shape: tuple[int, ...]) -> None:
    """(Without the rule this takes minutes.)"""
    program = lambda key: lax.sqrt(-lax.log(1 - (jx.random.uniform(key, shape) + 0j) * 0.98))
    drawn = np.asarray(jx.random.uniform(jx.random.key(0), shape), np.complex128)
    np.testing.assert_allclose(jx.jit(program)(jx.random.key(0)), np.sqrt(-np.log(1 - drawn * 0.98)), rtol=2e-6)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_operands_of_complex_functions_are_kept(dtype: str) -> None:
    random = np.random.default_rng(0)
    with jx.enable_x64(dtype == "complex128"):
        z = (random.standard_normal(1000) + 1j * random.standard_normal(1000)).astype(dtype)
        program = lambda z: jnp.sqrt(jnp.log1p(lax.rsqrt(1 - jnp.log(z))))
        (got,), (plain,), differ = with_and_without([COMPLEX_OPERANDS_KEPT], program, z)
        assert differ
        np.testing.assert_allclose(got, plain, rtol=20 * np.finfo(dtype).eps)
        _, _, differ = with_and_without([COMPLEX_OPERANDS_KEPT], program, np.abs(z))
        assert not differ


def test_nothing_before_an_infinity_is_lost() -> None:
    x = np.ones((100, 16), np.float32)
    x[40, 3], x[60, 5] = np.inf, np.nan
    (got,), (plain,), _ = with_and_without([RUNNING_BY_ROWS], lambda x: jnp.cumsum(x, 0), x)
    np.testing.assert_array_equal(got, plain)
    np.testing.assert_array_equal(got, np.cumsum(x, 0))


def test_derivatives_and_maps_of_running_sums() -> None:
    x = np.random.default_rng(0).standard_normal((40, 30)).astype(np.float32)
    function = lambda x: jnp.sum(jnp.sin(jnp.cumsum(x, 0)) * jnp.cumprod(1 + x / 50, 0))
    (got,), (plain,), differ = with_and_without([RUNNING_BY_ROWS], jx.grad(function), x)
    assert differ
    np.testing.assert_allclose(got, plain, rtol=1e-4, atol=1e-4)
    (got,), (plain,), differ = with_and_without([RUNNING_BY_ELEMENTS], jx.grad(function), x[:, :1])
    assert differ
    np.testing.assert_allclose(got, plain, rtol=1e-4, atol=1e-4)
    xs = np.stack([x, 2 * x])
    (got,), (plain,), _ = with_and_without([RUNNING_BY_ROWS], jx.vmap(lambda x: jnp.cumsum(x, 0)), xs)
    np.testing.assert_allclose(got, plain, rtol=1e-5, atol=1e-5)


# Small products side by side -------------------------------------------------------------------------------------------


@settings(max_examples=examples(25), phases=AS_THEY_ARE)
@given(
    st.tuples(st.integers(2, 7), st.integers(2, 7), st.integers(2, 7)).filter(lambda sizes: max(sizes) > 2),
    st.sampled_from([(), (2,), (3, 2)]),
    st.sampled_from(["ik,kj->ij", "ki,kj->ij", "ik,jk->ij", "ki,jk->ij"]),
    FLOATS,
    st.integers(0, 2**31),
)
def test_small_products_are_within_rounding(
    sizes: tuple[int, ...], outer: tuple[int, ...], formula: str, dtype: str, seed: int
) -> None:
    (rows, contracted, columns), random = sizes, np.random.default_rng(seed)
    many = -(-SMALL_BATCHED_PRODUCTS.value["elements"] // (rows * columns))
    one = dict(zip("ikj", (rows, contracted, columns)))
    left, right = formula.split("->")[0].split(",")
    x, y = (random.standard_normal((*outer, many, *[one[a] for a in axes])).astype(dtype) for axes in (left, right))
    named = f"...{left},...{right}->...ij"
    product = lambda x, y: jnp.einsum(named, x, y)

    def everything(x: Any, y: Any) -> Any:
        out, back = jx.vjp(product, x, y)
        return out, *back(out)

    with jx.enable_x64(dtype == "float64"):
        (got, *gradients), (plain, *others), differ = with_and_without([SMALL_BATCHED_PRODUCTS], everything, x, y)
    assert differ and got.dtype == plain.dtype and got.shape == plain.shape
    eps, magnitude = float(np.finfo(dtype).eps), np.einsum(named, np.abs(x), np.abs(y))
    assert np.all(np.abs(got - np.einsum(named, x, y)) <= 2 * contracted * eps * magnitude)
    assert np.all(np.abs(got - plain) <= 2 * contracted * eps * magnitude)
    for one, other in zip(gradients, others, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e4 * eps, atol=1e3 * eps * float(np.abs(other).max()))


def _within_rounding(rule: Tuning, formula: str, sizes_of: dict[str, int], dtype: str, seed: int) -> None:
    """A product, contracted along k, and its gradients with and without a rule."""
    random = np.random.default_rng(seed)
    left, right = formula.split("->")[0].split(",")
    x, y = (random.standard_normal([sizes_of[a] for a in axes]).astype(dtype) for axes in (left, right))

    def everything(x: Any, y: Any) -> Any:
        out, back = jx.vjp(lambda x, y: jnp.einsum(formula, x, y), x, y)
        return out, *back(out)

    with jx.enable_x64(dtype == "float64"):
        (got, *gradients), (plain, *others), differ = with_and_without([rule], everything, x, y)
    assert differ and got.dtype == plain.dtype and got.shape == plain.shape
    eps, magnitude = float(np.finfo(dtype).eps), np.einsum(formula, np.abs(x), np.abs(y))
    assert np.all(np.abs(got - np.einsum(formula, x, y)) <= 2 * sizes_of["k"] * eps * magnitude)
    for one, other in zip(gradients, others, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e4 * eps, atol=1e3 * eps * float(np.abs(other).max()))


@settings(max_examples=examples(15), phases=AS_THEY_ARE, deadline=None)
@given(
    st.sampled_from(["nk,kj->nj", "nk,jk->nj", "jk,nk->jn", "kj,nk->jn", "jk,nk->nj"]),
    st.tuples(st.integers(2, 4), st.integers(2, 4)),
    FLOATS,
    st.booleans(),
    st.integers(0, 2**31),
)
def test_vectors_times_a_small_matrix(
    formula: str, sizes: tuple[int, int], dtype: str, several: bool, seed: int
) -> None:
    sizes_of = {**dict(zip("kj", sizes)), "n": 2100, "m": 3}
    formula = formula.replace("n", "mn") if several else formula
    _within_rounding(PRODUCTS_WITH_SMALL_MATRICES, formula, sizes_of, dtype, seed)


@pytest.mark.parametrize(
    "shapes", [((1000, 3), (3, 3)), ((9000, 3), (3, 5)), ((9000, 1), (1, 3)), ((9000, 3), (3,)), ((3, 3), (3, 9000))]
)
def test_other_matrices_stay_as_they_are(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    x, y = (np.ones(shape, np.float32) for shape in shapes)
    assert not with_and_without([PRODUCTS_WITH_SMALL_MATRICES], jnp.matmul, x, y)[2]


@pytest.mark.parametrize("shape", [(5, 4, 4), (1000, 2, 2), (100, 8, 8), (300, 1, 4)])
def test_other_products_stay_products(shape: tuple[int, ...]) -> None:
    x = np.ones(shape, np.float32)
    assert not with_and_without([SMALL_BATCHED_PRODUCTS], lambda x: x @ jnp.swapaxes(x, -1, -2), x)[2]


# A small matrix and a vector ------------------------------------------------------------------------------------------


@settings(max_examples=examples(15), phases=AS_THEY_ARE, deadline=None)
@given(
    st.sampled_from(
        ["k,kj->j", "k,jk->j", "jk,k->j", "kj,k->j", "ik,kj->ij", "ik,jk->ij", "jk,ki->ji", "kj,ik->ji", "jk,ik->ji"]
    ),
    st.tuples(st.integers(2, 32), st.integers(2, 32)),
    FLOATS,
    st.integers(0, 2**31),
)
def test_a_small_matrix_times_a_vector(formula: str, sizes: tuple[int, int], dtype: str, seed: int) -> None:
    sizes_of = {**dict(zip("kj", sizes)), "i": 1}
    _within_rounding(PRODUCTS_WITH_VECTORS, formula, sizes_of, dtype, seed)


def test_tiny_matrices_and_vectors_in_loops() -> None:
    turn, side = np.float32([[0, -1, 0], [1, 0, 0], [0, 0, 1]]), np.float32([1, 2, 3])
    (got,), (plain,), differ = with_and_without([PRODUCTS_WITH_VECTORS], lambda x: x @ x.T @ x, turn)
    assert differ and np.array_equal(got, plain)
    (got,), (plain,), differ = with_and_without(
        [PRODUCTS_WITH_VECTORS], lambda x: jnp.einsum("ik,jk->ij", x, x + 1), turn
    )
    assert differ and np.array_equal(got, plain)
    for length, written in ((3, True), (16, False)):
        matrix, vector = np.tile(turn, (6, 6))[:length, :length], np.tile(side, 6)[:length]
        powers = lambda x, v: jx.lax.fori_loop(0, 3, lambda _, v: x @ v, v)
        (got,), (plain,), differ = with_and_without([PRODUCTS_WITH_VECTORS], powers, matrix, vector)
        assert differ == written and np.array_equal(got, plain)


@pytest.mark.parametrize(
    "shapes",
    [((40, 40), (40,)), ((2, 1024), (1024,)), ((1, 8), (8, 1)), ((8, 1), (1,)), ((4, 4), (4, 2)), ((3, 3, 3), (3,))],
)
def test_products_with_others_stay(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    x, y = (np.ones(shape, np.float32) for shape in shapes)
    assert not with_and_without([PRODUCTS_WITH_VECTORS], jnp.matmul, x, y)[2]
