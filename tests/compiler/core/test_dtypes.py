"""Every dtype that arrays can have: made, converted, computed with, read; and what JAX answers to questions about dtypes."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import dtypes, random
from jitscope.core.errors import TypePromotionError
from tests.compiling import once
from tests.oracle.cases import dtype_questions as cases


KEY = random.key(0)
ALL = [n for n in cases.DTYPES if n not in ("int64", "uint64", "float64", "complex128")]
WELL_KNOWN = ("int16", "uint8", "uint16", "int32", "uint32", "float32")
"""Other tests know them by heart."""
NUMBERS = [n for n in ALL if n != "bool"]
FLOATS = [n for n in ALL if n.startswith(("float", "bfloat"))]
INTS = [n for n in ALL if "int" in n]


def dtype_of(name: str) -> np.dtype:
    return np.dtype(name) if name in np.sctypeDict else np.dtype(getattr(ml_dtypes, name))


def sample(name: str, shape: tuple[int, ...] = (4,)) -> np.ndarray:
    """Small numbers that every dtype but bool holds exactly: powers of two (float8_e8m0fnu has no others, and no sign)."""
    return np.resize(np.array([1, 2, 4, 1], np.float32), shape).astype(dtype_of(name))


def same(found: Any, wanted: np.ndarray) -> None:
    found = np.asarray(found)
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    assert (found.astype(np.complex64) == wanted.astype(np.complex64)).all(), (found, wanted)


# Questions ------------------------------------------------------------------------------------------------------------


def test_keys_have_a_dtype_of_their_own() -> None:
    assert jnp.issubdtype(KEY.dtype, dtypes.prng_key) and jnp.issubdtype(KEY.dtype, dtypes.extended)
    assert not jnp.issubdtype(jnp.uint32, dtypes.prng_key) and not jnp.issubdtype(KEY.dtype, jnp.number)
    assert repr(KEY.dtype) == "key<fry>" and KEY.dtype.itemsize == 8


@pytest.mark.parametrize("name", [*cases.DTYPES, "int2", "uint2", "float6_e2m3fn", "float6_e3m2fn"])
def test_names(name: str) -> None:
    own = getattr(jnp, "bool_" if name == "bool" else name)
    assert np.dtype(own) == dtype_of(name) and own == dtype_of(name) and pickle.loads(pickle.dumps(own)) is own
    assert jnp.bool is jnp.bool_


@pytest.mark.parametrize("name", ["int2", "uint2", "float6_e2m3fn", "float6_e3m2fn"])
def test_dtypes_that_xla_cannot_compute_with_are_refused(name: str) -> None:
    for use in (lambda: jnp.zeros(2, name), lambda: getattr(jnp, name)(1), lambda: jnp.ones(2).astype(getattr(jnp, name)),
                lambda: jnp.asarray(np.ones(2, dtype_of(name))), lambda: jx.jit(lambda x: x)(np.ones(2, dtype_of(name)))):  # fmt: skip
        with pytest.raises(TypeError, match=name):
            use()


def test_an_array_is_no_dtype() -> None:
    x = jnp.ones(2, "int8")
    for use in (lambda: jx.lax.iota(x, 3), lambda: jx.lax.full((2,), 1, x), lambda: jx.lax.convert_element_type(x, x),
                lambda: jnp.zeros(2, x), lambda: x.astype(x)):  # fmt: skip
        with pytest.raises(ValueError, match=r"an array was given as dtype; write x.dtype"):
            use()


# Values ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_there_and_back(name: str) -> None:
    for shape in ((4,), (), (0, 3), (2, 2)):
        x = sample(name, shape)
        for array in (jnp.asarray(x), jx.device_put(x), jnp.array(x, getattr(jnp, "bool_" if name == "bool" else name)),
                      jx.jit(lambda x: x)(x), pickle.loads(pickle.dumps(jnp.asarray(x))), copy.deepcopy(jnp.asarray(x))):  # fmt: skip
            assert array.dtype == x.dtype and array.shape == shape and not array.weak_type
            same(array, x)
        assert jnp.asarray(x).nbytes == x.nbytes and jx.device_get(jnp.asarray(x)).dtype == x.dtype
    assert (
        f"dtype={name}" in repr(jnp.asarray(sample(name)))
        and jnp.asarray(sample(name)).tolist() == sample(name).tolist()
    )
    assert jnp.zeros(2, name).dtype == jnp.ones((), name).dtype == jnp.full(2, 1, name).dtype == dtype_of(name)
    assert jnp.asarray(sample(name))[1].item() == sample(name)[1].item()


@pytest.mark.parametrize("name", ALL)
def test_conversions_are_numpys(name: str) -> None:
    x = sample(name)
    others = ("float32", "int32", "bool", "bfloat16", "float8_e4m3fn", "int4", "complex64", "uint8")
    compiled = once(lambda x: [x.astype(other) for other in others])(x)
    for other, found in zip(others, compiled):
        with np.errstate(all="ignore"):
            wide = x.astype(np.complex64) if other == "complex64" else x.real.astype(np.float32)
            wanted = wide.astype(dtype_of(other))
        same(found, wanted)
        same(jnp.asarray(x).astype(other), wanted)


@pytest.mark.parametrize("name", [n for n in NUMBERS if n not in WELL_KNOWN])
def test_arithmetic_comparisons_reductions(name: str) -> None:
    x, one = sample(name), np.ones(4, dtype_of(name))
    a, b = jnp.asarray(x), jnp.asarray(one)
    programs = (
        (lambda a, b: a * b, x),
        (lambda a, b: a * 1, x),
        (lambda a, b: jnp.where(a == b, a, b), one),
        (lambda a, b: a[::-1], x[::-1]),
        (lambda a, b: a[jnp.array([1, 0])], x[[1, 0]]),
        (lambda a, b: a.at[0].set(2), np.array([2, 2, 4, 1]).astype(x.dtype)),
        (lambda a, b: jnp.concatenate([a, b]), np.concatenate([x, one])),
        (lambda a, b: jnp.broadcast_to(b[0], (2, 2)), np.ones((2, 2), x.dtype)),
        (
            lambda a, b: (b[None] @ b[:, None])[0, :1] if name != "float4_e2m1fn" else b[:1] + 3,
            np.array([4]).astype(x.dtype),
        ),
    )
    compiled = once(jx.vmap(lambda a, b: [f(a, b) for f, _ in programs]))(a[None], b[None])
    for (f, wanted), rows in zip(programs, compiled):
        same(f(a, b), wanted)
        same(rows[0], wanted)
    assert (a == b).tolist() == (x == one).tolist() and (a != b).tolist() == (x != one).tolist()
    if "complex" not in name:
        assert (a > b).tolist() == (x > one).tolist() and jnp.argmax(a) == 2
        order = np.argsort(x.astype(np.float32), kind="stable")
        same(jnp.max(a), x[2])
        same(jnp.sort(a), x[order])
        assert jnp.argsort(a).tolist() == order.tolist()
    total = jnp.sum(b)
    assert total == 4 and total.dtype == (jnp.int32 if name in ("int8", "int16") else jnp.uint32 if name in ("uint8", "uint16") else total.dtype)  # fmt: skip


@pytest.mark.parametrize("name", FLOATS)
def test_floats_differentiate_in_their_own_dtype(name: str) -> None:
    x = jnp.asarray(sample(name))
    slopes = jx.grad(lambda x: jnp.sum(x * jnp.ones(4, name)))(x)
    assert slopes.dtype == x.dtype and slopes.tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("name", INTS)
def test_integers_wrap(name: str) -> None:
    info = ml_dtypes.iinfo(dtype_of(name))
    top = jnp.asarray(np.array([int(info.max)], dtype_of(name)))
    assert (top + top * 0 + 1).tolist() == [int(info.min)] and (top + 1).dtype == dtype_of(name)


def test_sorting_many_small_integers() -> None:
    x = np.random.default_rng(0).integers(-8, 8, 700).astype(ml_dtypes.int4)
    same(jnp.sort(x), np.sort(x.astype(np.int8)).astype(ml_dtypes.int4))
    assert jnp.argsort(x).tolist() == np.argsort(x.astype(np.int8), kind="stable").tolist()


def test_products_of_4_bit_integers() -> None:
    x = np.array([[1, 2], [3, -4]]).astype(ml_dtypes.int4)
    wanted = (x.astype(np.int32) @ x.astype(np.int32)).astype(np.int8).astype(ml_dtypes.int4)
    same(jnp.asarray(x) @ jnp.asarray(x), wanted)
    same(jnp.dot(x, x, preferred_element_type="int32"), x.astype(np.int32) @ x.astype(np.int32))


@pytest.mark.parametrize(("formula", "wanted"), [("ij->i", [381, 381]), ("ii", 254), ("ji", [[127] * 3] * 3)])
def test_einsum_of_one_operand_adds_up_in_the_dtype_asked_for(formula: str, wanted: Any) -> None:
    rows = 2 if formula != "ji" else 3
    x = np.full((rows, rows if formula == "ii" else 3), 127, np.int8)
    same(jnp.einsum(formula, x, preferred_element_type="int32"), np.array(wanted, np.int32))


def test_values_of_numpy_become_arrays_where_nothing_is_computed() -> None:
    for x in (np.array([1.5, 2]).astype(np.float32), np.array([1, 2], np.int32)):
        for made in (jx.lax.stop_gradient(x), jnp.block(x)):
            assert isinstance(made, jx.Array)
            same(made, x)


def test_tiny_dtypes_meet_no_others_by_themselves() -> None:
    for name in ("int4", "float4_e2m1fn", "float8_e5m2"):
        with pytest.raises(TypePromotionError, match=name):
            jnp.ones(2, name) + jnp.ones(2)
        assert (jnp.ones(2, name) + 1).dtype == dtype_of(name)


# 64 bits inside traces ------------------------------------------------------------------------------------------------


def test_64_bits_in_a_part_of_a_trace() -> None:
    def f(x: Any) -> Any:
        with jx.enable_x64(True):
            wide = x.astype("float64") / 3
            assert wide.dtype == np.float64 and (wide + 1).dtype == np.float64 and jnp.arange(2).dtype == np.int64
            with jx.enable_x64(False):
                assert jnp.arange(2).dtype == np.int32
            back = wide.astype("float32")
        assert jnp.arange(2).dtype == np.int32
        return back, wide

    for run in (f, jx.jit(f), jx.jit(jx.jit(f)), lambda x: jx.vmap(f)(x[None])):
        back, wide = run(jnp.float32(1))
        assert back.dtype == np.float32 and wide.dtype == np.float64 and float(wide.reshape(())) == 1 / 3
    assert jx.grad(lambda x: f(x)[0])(jnp.float32(1)).dtype == np.float32

    seen = []
    g = jx.jit(lambda x: seen.append(x.dtype) or x + 1)
    for on in (False, True, False, True):
        with jx.enable_x64(on):
            assert g(1.0).dtype == (np.float64 if on else np.float32)
    assert seen == [np.float32, np.float64]


def test_the_façade_for_older_programs() -> None:
    from jitscope.experimental import disable_x64, enable_x64

    with enable_x64():
        assert jnp.ones(1).dtype == np.float64
        with disable_x64():
            assert jnp.ones(1).dtype == np.float32
    assert jnp.ones(1).dtype == np.float32


OUTSIDE = {
    "sort": (jnp.sort, np.sort),
    "sort of complex": (lambda x, i: jnp.sort(x + 1j), lambda x, i: np.sort(x + 1j)),
    "median": (jnp.median, np.median),
    "percentile": (lambda x, i: jnp.percentile(x, 30.0), lambda x, i: np.percentile(x, 30)),
    "indexing": (lambda x, i: x[i], lambda x, i: x[i]),
    "take along": (lambda x, i: jnp.take_along_axis(x, i, 0), lambda x, i: np.take_along_axis(x, i, 0)),
    "roll": (lambda x, i: jnp.roll(x, i[0]), lambda x, i: np.roll(x, i[0])),
    "frexp": (lambda x, i: jnp.frexp(x)[0], lambda x, i: np.frexp(x)[0]),
    "updates": (lambda x, i: x.at[i].set(x), lambda x, i: x[np.argsort(i % 4)]),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_arrays_of_64_bits_are_taken_outside_of_their_context(name: str) -> None:
    ours, numpys = OUTSIDE[name]
    x, i = np.array([3.0, 1.0, 4.0, 2.0]), np.array([-2, 0, 1, 3])
    with jx.enable_x64(True):
        given = jnp.asarray(x), jnp.asarray(i)
    if name in ("sort", "median"):
        given = given[:1]
    np.testing.assert_allclose(ours(*given), numpys(*(x, i)[: len(given)]), rtol=1e-6)
