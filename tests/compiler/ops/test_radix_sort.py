"""Sorts by digits give the bits that XLA's own give, and the order that NumPy finds."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import Phase, given, settings

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.xla.cpu_tuning import RADIX_SORT
from tests.compiler.with_rules import with_and_without
from tests.extent import examples


AS_THEY_ARE = [Phase.explicit, Phase.generate]
"""(Each example compiles two programs: to look for the least that fails takes minutes.)"""
pytestmark = pytest.mark.skipif(not RADIX_SORT.holds(), reason="the rule holds with releases that it was measured with")
DTYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64"]  # fmt: skip
LEAST = RADIX_SORT.value


@st.composite
def long_axes(draw: Any) -> tuple[tuple[int, ...], int]:
    """A shape with an axis that is sorted by digits, and that axis."""
    n = LEAST["length"] + draw(st.integers(0, 100))
    others = draw(st.sampled_from([(), (4,), (2, 3)]))
    if not others:
        return (LEAST["elements"] + draw(st.integers(0, 100)),), 0
    axis = draw(st.integers(0, len(others)))
    return (*others[:axis], n, *others[axis:]), axis


def numbers(shape: tuple[int, ...], dtype: str, values: str, seed: int) -> np.ndarray:
    random, kind = np.random.default_rng(seed), np.dtype(dtype).kind
    if values == "few":
        return random.integers(0, 5, shape).astype(dtype)
    if values == "sorted":
        return np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    if kind == "b":
        return random.random(shape) < 0.3
    if kind in "iu":
        info = np.iinfo(dtype)
        return random.integers(info.min, info.max, shape, dtype, endpoint=True)
    x = random.standard_normal(shape).astype(dtype)
    odd = np.array([np.nan, -np.nan, np.inf, -np.inf, 0, -0.0], dtype)
    return np.where(random.random(shape) < 0.2, random.choice(odd, shape), x)


def order_of(x: np.ndarray, axis: int) -> np.ndarray:
    return np.argsort(x, axis, kind="stable")


CASES = st.sampled_from(["many", "few", "sorted"])


@settings(max_examples=examples(12), phases=AS_THEY_ARE, deadline=None)
@given(long_axes(), st.sampled_from(DTYPES), CASES, st.integers(0, 2**31))
def test_arrays_are_sorted(case: Any, dtype: str, values: str, seed: int) -> None:
    shape, axis = case
    x = numbers(shape, dtype, values, seed)
    with jx.enable_x64():
        (got,), (plain,), differ = with_and_without([RADIX_SORT], lambda x: jnp.sort(x, axis), x)
    assert differ == (np.dtype(dtype).itemsize < 8)
    np.testing.assert_array_equal(got, np.sort(x, axis))
    np.testing.assert_array_equal(np.signbit(got) if got.dtype.kind == "f" else got, np.signbit(plain) if got.dtype.kind == "f" else plain)  # fmt: skip


@settings(max_examples=examples(12), phases=AS_THEY_ARE, deadline=None)
@given(long_axes(), st.sampled_from(DTYPES), CASES, st.integers(0, 2**31))
def test_equal_elements_stay_in_order(case: Any, dtype: str, values: str, seed: int) -> None:
    shape, axis = case
    x = numbers(shape, dtype, values, seed)
    with jx.enable_x64():
        (got,), (plain,), differ = with_and_without([RADIX_SORT], lambda x: jnp.argsort(x, axis), x)
    assert differ
    np.testing.assert_array_equal(got, order_of(x, axis))
    np.testing.assert_array_equal(got, plain)


@settings(max_examples=examples(6), phases=AS_THEY_ARE, deadline=None)
@given(long_axes(), st.tuples(*[st.sampled_from(DTYPES)] * 2), st.integers(0, 2**31))
def test_several_keys_move_what_goes_with_them(case: Any, dtypes: tuple[str, str], seed: int) -> None:
    shape, axis = case
    first, second = (numbers(shape, dtype, "few", seed + i) for i, dtype in enumerate(dtypes))
    beside = numbers(shape, "float32", "many", seed)
    sort = lambda *xs: lax.sort(xs, dimension=axis, num_keys=2)
    with jx.enable_x64():
        got, plain, differ = with_and_without([RADIX_SORT], sort, first, second, beside)
    order = np.lexsort((second, first), axis)
    assert differ
    for x, one, other in zip((first, second, beside), got, plain):
        assert one.tobytes() == other.tobytes() == np.take_along_axis(x, order, axis).tobytes()


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_numbers_go_by_their_real_part_first(dtype: str) -> None:
    parts = [numbers((LEAST["elements"],), f"float{4 * np.dtype(dtype).itemsize}", v, 0) for v in ("few", "many")]
    x = np.stack(parts, -1).view(dtype)[:, 0]
    with jx.enable_x64():
        got, plain, differ = with_and_without([RADIX_SORT], lambda x: (jnp.sort(x), jnp.argsort(x)), x)
    assert differ
    np.testing.assert_array_equal(got[0], x[np.lexsort(parts[::-1])])
    for one, other in zip(got, plain):
        np.testing.assert_array_equal(one, other)


def test_values_nearly_in_order_are_compared() -> None:
    n = LEAST["elements"]
    x = np.arange(n, dtype=np.float32)
    x[5], x[n // 2] = -1, -2
    for turned in (x, -x, x * 0):
        (got,), (plain,), differ = with_and_without([RADIX_SORT], jnp.argsort, turned)
        assert differ
        np.testing.assert_array_equal(got, order_of(turned, 0))
        np.testing.assert_array_equal(got, plain)


def test_loops_maps_and_derivatives() -> None:
    x = numbers((3, LEAST["elements"]), "float32", "few", 0) + np.float32(0.5)
    weights = np.arange(x.shape[1], dtype=np.float32)

    def function(x: Any) -> Any:
        step = lambda total, row: (total + jnp.sum(jnp.sort(row) * weights), jnp.argsort(row)[0])
        return lax.scan(step, 0.0, x)[0] + jnp.sum(jx.vmap(jnp.sort)(x)[:, ::7])

    (got,), (plain,), differ = with_and_without([RADIX_SORT], jx.grad(function), x)
    assert differ
    np.testing.assert_array_equal(got, plain)


def test_short_axes_and_several_devices_keep_xlas_sort() -> None:
    short = np.zeros((LEAST["elements"], 4), np.float32)
    assert not with_and_without([RADIX_SORT], lambda x: jnp.sort(x, 1), short)[2]
    assert not with_and_without([RADIX_SORT], jnp.sort, short[:4000, 0])[2]
    if len(jx.devices()) > 1:
        mesh = jx.make_mesh((2,), ("rows",))
        x = jx.device_put(np.zeros((2, LEAST["elements"]), np.float32), jx.NamedSharding(mesh, jx.P("rows")))
        assert not with_and_without([RADIX_SORT], lambda x: jnp.sort(x, 1), x)[2]


def test_a_kept_program_sorts_again() -> None:
    x = numbers((LEAST["elements"],), "float32", "many", 0)
    compiled = jx.jit(jnp.sort).lower(x).compile()
    np.testing.assert_array_equal(compiled(x), np.sort(x))
    exported = jx.export.export(jx.jit(jnp.argsort))(x)
    again = jx.export.deserialize(exported.serialize())
    np.testing.assert_array_equal(again.call(x), order_of(x, 0))
