"""x[index] and x.at[index] in every form, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope.core.errors import NonConcreteBooleanIndexError, TracerIntegerConversionError


SHAPE = (3, 4, 2)
X = np.arange(24.0, dtype=np.float32).reshape(SHAPE)

# Indices for which eager, traced and mapped results are compared with numpy's.
INDICES = [
    0,
    -1,
    (0, 1),
    (0, 1, 1),
    (..., 0),
    (0, ..., 1),
    (slice(None), 2),
    (),
    ...,
    None,
    (None, 0),
    (0, None),
    (None, ..., None),
    slice(1, 3),
    slice(None, None, -1),
    slice(None, None, 2),
    slice(2, 0, -1),
    slice(5, 9),
    slice(-2, None),
    slice(2, 1),
    (slice(1, 2), slice(0, 3, 2)),
    (slice(None), slice(3, None, -2), 0),
    (slice(None), None, slice(1, 3), 1),
    np.array([0, 2]),
    np.array([[0, 1], [2, -1]]),
    np.array([], np.int64),
    np.array(1),
    np.array([2], np.int8),
    (np.array([0, 2]), np.array([1, 3])),
    (np.array([[0], [2]]), np.array([1, 3])),
    (slice(None), np.array([3, 0, 0])),
    (np.array([0, 1]), slice(None), np.array([1, 0])),
    (np.array([0, 1]), 2),
    (0, np.array([1, 2])),
    (..., np.array([1, 1])),
    (slice(0, 2), np.array([0, 3]), None),
    (None, np.array([0, 2]), ..., 0),
    (np.array([0, 1]), None, np.array([1, 0])),
    (slice(None, None, 2), np.array([1, 2])),
    (slice(None, None, -1), np.array([1, 2]), slice(1, None)),
    np.array([True, False, True]),
    (slice(None), np.array([True, False, False, True])),
    X > 7,
    X[:, :, 0] % 3 == 0,
    (X[:, :, 0] > 5, 1),
    (np.array([True, False, True]), np.array([1, 2])),
    True,
    False,
    (True, np.array([0, 1])),
    (0, True),
    ((0, 1), (1, 1)),
    (np.array([[True] * 4] * 3), slice(None)),
    (np.int64(1), slice(None), np.uint8(1)),
]


def positions(index: Any) -> str:
    return repr(index).replace("\n", "")[:60]


def for_device(index: Any) -> Any:
    """Index arrays as arrays of ours, so that tracing sees them as operands."""
    if isinstance(index, tuple):
        return tuple(map(for_device, index))
    return jnp.asarray(index) if isinstance(index, np.ndarray) and index.dtype != bool else index


@pytest.mark.parametrize("index", INDICES, ids=positions)
def test_every_form_reads_what_numpy_reads(index: Any) -> None:
    expected = X[index]
    x = jnp.asarray(X)
    found = x[index]
    assert found.shape == expected.shape
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(x[for_device(index)], expected)


def test_every_form_reads_the_same_compiled_and_mapped() -> None:
    x = jnp.asarray(np.stack([X, X + 100, X - 7]))
    inside = jx.jit(lambda x: [x[index] for index in INDICES])(x[0])
    mapped = jx.jit(jx.vmap(lambda x: [x[for_device(index)] for index in INDICES]))(x)
    for index, found, rows in zip(INDICES, inside, mapped):
        np.testing.assert_array_equal(found, X[index], err_msg=positions(index))
        np.testing.assert_array_equal(
            rows, np.stack([X[index], X[index] + 100, X[index] - 7]), err_msg=positions(index)
        )


def test_traced_and_mapped_indices() -> None:
    x = jnp.asarray(X)
    i = jnp.asarray([0, 2, -1, 1])
    rows = np.asarray(i)
    forms = {
        "x[i]": (lambda i: x[i], X[rows]),
        "x[:, i]": (lambda i: x[:, i], np.stack([X[:, k] for k in rows])),
        "x[i, 1]": (lambda i: x[i, 1], X[rows, 1]),
        "x[i, i]": (lambda i: x[i, i], X[rows, rows]),
        "x[1:, i]": (lambda i: x[1:, i], np.stack([X[1:, k] for k in rows])),
        "x[::-1, None, i]": (lambda i: x[::-1, None, i], np.stack([X[::-1, None, k] for k in rows])),
        "x[i[None], i]": (lambda i: x[i[None], i], np.stack([X[[k], k] for k in rows])),
        "x[(i, 1), (1, i)]": (lambda i: x[(i, 1), (1, i)], np.stack([X[[k, 1], [1, k]] for k in rows])),
        "x[[[i, i.astype(int8)]],]": (lambda i: x[[[i, i.astype("int8")]],], np.stack([X[[[k, k]]] for k in rows])),
    }
    for name, (read, expected) in forms.items():
        np.testing.assert_array_equal(jx.vmap(read)(i), expected, err_msg=name)
        for k, row in zip(rows, expected):
            np.testing.assert_array_equal(jx.jit(read)(k), row, err_msg=name)


UPDATES = {
    "set": lambda x, i, v: x.__setitem__(i, v),
    "add": np.add.at,
    "subtract": np.subtract.at,
    "multiply": np.multiply.at,
    "divide": np.divide.at,
    "power": np.power.at,
    "min": np.minimum.at,
    "max": np.maximum.at,
}
UNIQUE = [
    index
    for index in INDICES
    if not (isinstance(index, np.ndarray) and index.dtype != bool) and positions(index) not in ("((0, 1), (1, 1))",)
]


def changed(index: Any, how: str, value: Any) -> np.ndarray:
    result = X.copy() + 1
    UPDATES[how](result, index, value)
    return result


@pytest.mark.parametrize("how", UPDATES)
def test_every_form_is_written_as_numpy_writes(how: str) -> None:
    chosen = [(index, 2.5) for index in INDICES]
    chosen += [
        (index, (np.arange(max(X[index].size, 1))[: X[index].size].reshape(X[index].shape) % 5 + 1).astype(np.float32))
        for index in UNIQUE
    ]
    if how == "set":
        chosen = [(index, value) for index, value in chosen if distinct(index)]

    def all_updates(x: Any) -> list[Any]:
        return [getattr(x.at[index], how)(value) for index, value in chosen]

    results = jx.jit(all_updates)(jnp.asarray(X + 1))
    for (index, value), found in zip(chosen, results):
        np.testing.assert_allclose(found, changed(index, how, value), rtol=1e-5, err_msg=f"{positions(index)} {value}")


def distinct(index: Any) -> bool:
    """Whether the index names no element twice."""
    count = np.zeros(SHAPE, int)
    np.add.at(count, index, 1)
    return count.max() <= 1


def test_numbers_and_starts_share_a_program() -> None:
    from jitscope.numpy import indexing

    x = jnp.asarray(np.arange(40.0, dtype=np.float32).reshape(20, 2))
    _ = x[0], x[3:7], x[1, 1], x.at[3].set(1.0)
    before = len(indexing._programs), len(indexing._elements)
    for i in range(10):
        np.testing.assert_array_equal(x[i], np.asarray(x)[i])
        np.testing.assert_array_equal(x[i : i + 4], np.asarray(x)[i : i + 4])
        assert float(x[i, 1]) == 2 * i + 1
        assert float(x.at[i].set(7.0)[i, 0]) == 7
    assert len(indexing._elements) == before[1]
    assert len(indexing._programs) <= before[0] + 1  # x[i, 0] of the last line


# Out of bounds --------------------------------------------------------------------------------------------------------

V = np.arange(3.0, dtype=np.float32)


def test_reading_out_of_bounds_takes_the_nearest() -> None:
    v = jnp.asarray(V)
    for compiled in (lambda f: f, jx.jit):
        assert float(compiled(lambda v: v[5])(v)) == 2
        assert float(compiled(lambda v: v[-7])(v)) == 0
        assert float(compiled(lambda v, i: v[i])(v, jnp.int32(7))) == 2
        assert compiled(lambda v, i: v[i])(v, jnp.asarray([5, -1, -5, 1])).tolist() == [2, 2, 0, 1]
    assert v[np.array([-4, -3, 2, 3])].tolist() == [0, 0, 2, 2]
    assert v[jnp.asarray([255], "uint8")].tolist() == [2]
    assert v[5:10].shape == (0,)


def test_indices_that_are_written_there_may_be_checked() -> None:
    x = jnp.zeros((2, 3))
    reads = [
        lambda x: x[-3],
        lambda x: x[:, 3],
        lambda x: x[..., -4],
        lambda x: x.at[1, 4].get(),
        lambda x: x[jnp.arange(3), 7],
    ]
    for read in reads:
        read(x)
        for run in (read, jx.jit(read)):
            with (
                jx.check_static_indices(True),
                pytest.raises(IndexError, match=r"index -?\d out of bounds for axis [01] with size [23]"),
            ):
                run(x)
    with jx.check_static_indices(True):
        assert x[-2, 2] == x.at[5].get(mode="clip")[0] == x[jnp.int32(9), 0] == 0


def test_modes_of_get() -> None:
    v, n = jnp.asarray(V), jnp.arange(3)
    at = np.array([5, 1, -7])
    for i in (at, jnp.asarray(at)):
        np.testing.assert_array_equal(v.at[i].get(mode="fill"), [np.nan, 1, np.nan])
        np.testing.assert_array_equal(v.at[i].get(mode="fill", fill_value=7), [7, 1, 7])
        np.testing.assert_array_equal(v.at[i].get(mode="clip"), [2, 1, 0])
    assert n.at[at].get(mode="fill").tolist() == [-(2**31), 1, -(2**31)]
    assert np.isnan(float(v.at[5].get(mode="fill"))) and np.isnan(float(jx.jit(lambda v: v.at[5].get(mode="fill"))(v)))
    assert np.isnan(float(jx.jit(lambda v, i: v.at[i].get(mode="drop"))(v, jnp.int32(-4))))
    with pytest.raises(ValueError, match="promise_in_bounds"):
        v.at[5].get(mode="wrap")


def test_writing_out_of_bounds_is_left_out() -> None:
    v = jnp.asarray(V)
    for compiled in (lambda f: f, jx.jit):
        assert compiled(lambda v: v.at[5].set(9))(v).tolist() == [0, 1, 2]
        assert compiled(lambda v: v.at[-4].add(9))(v).tolist() == [0, 1, 2]
        assert compiled(lambda v, i: v.at[i].set(9))(v, jnp.int32(3)).tolist() == [0, 1, 2]
        assert compiled(lambda v, i: v.at[i].set(9))(v, jnp.int32(-1)).tolist() == [0, 1, 9]
        assert compiled(lambda v, i: v.at[i].set(9))(v, jnp.asarray([5, -4, 1])).tolist() == [0, 9, 2]
        assert compiled(lambda v, i: v.at[i].set(9, mode="clip"))(v, jnp.int32(8)).tolist() == [0, 1, 9]


def test_indices_that_stand_twice() -> None:
    v, twice = jnp.asarray(V), jnp.asarray([0, 0, 1])
    assert v.at[twice].add(1).tolist() == [2, 2, 2]
    assert v.at[twice].multiply(3.0).tolist() == [0, 3, 2]
    assert v.at[twice].max(jnp.asarray([4.0, 5.0, -1.0])).tolist() == [5, 1, 2]


def test_derivatives_of_reads_and_writes() -> None:
    x, v = jnp.asarray(X), jnp.asarray(V)
    i = jnp.asarray([0, 2, 0])
    np.testing.assert_array_equal(jx.grad(lambda x: x[i].sum())(x)[:, 0, 0], [2, 0, 1])
    np.testing.assert_array_equal(jx.grad(lambda x: (x[1] ** 2).sum())(x)[1], 2 * X[1])
    np.testing.assert_array_equal(jx.grad(lambda v: (v.at[1].set(5.0) ** 2).sum())(v), [0, 0, 4])
    np.testing.assert_array_equal(jx.grad(lambda w: (v.at[i].add(w) ** 2).sum())(jnp.ones(3)), [4, 6, 4])
    np.testing.assert_array_equal(jx.grad(lambda v: v.at[::2].multiply(3.0).sum())(v), [3, 1, 3])


# What is no index -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("index", "error", "words"),
    [
        ([0, 1], TypeError, "a list is not an index"),
        (1.0, TypeError, "float is not an index"),
        ({}, IndexError, "dict is not an index"),
        ("a", TypeError, "text is not an index"),
        (np.array([1.0]), TypeError, r"integers or booleans, not f32\[1\]"),
        ((0, 0, 0, 0), IndexError, r"shape \(3, 4, 2\), 3 axes, and 4 were given"),
        ((..., ...), IndexError, "one ellipsis"),
        (np.array([True, False]), IndexError, "boolean index of shape .2,."),
        (slice(None, None, 0), ValueError, "step"),
        (slice(1.5, 2), TypeError, "float"),
    ],
)
def test_what_is_no_index(index: Any, error: type[Exception], words: str) -> None:
    x = jnp.asarray(X)
    with pytest.raises(error, match=words):
        x[index]
    with pytest.raises(error, match=words):
        jx.jit(lambda x: x[index])(x)


def test_errors_of_traced_indices() -> None:
    x = jnp.asarray(X)
    with pytest.raises(NonConcreteBooleanIndexError, match=r"jnp\.where"):
        jx.jit(lambda x: x[x > 1])(x)
    with pytest.raises(IndexError, match="dynamic_slice_in_dim"):
        jx.jit(lambda x, i: x[i:])(x, 1)
    with pytest.raises(TracerIntegerConversionError):
        jx.jit(lambda i: [1, 2, 3][i])(1)
    with pytest.raises(IndexError, match="size 0"):
        jnp.zeros((0, 3))[0]
    with pytest.raises(IndexError, match="size 0"):
        jnp.zeros((0, 3))[jnp.asarray([1])]
    with pytest.raises(TypeError, match="in place"):
        x[0] = 1


@pytest.mark.parametrize("index", [slice(1, 0), np.array([], int), (slice(2, 2), slice(0))])
@pytest.mark.parametrize("way", ["set", "add", "multiply", "min"])
def test_nothing_is_written_to_no_elements_whatever_the_values(index, way):
    x = jnp.arange(6.0).reshape(3, 2)
    assert np.array_equal(getattr(x.at[index], way)(jnp.ones((4, 5))), x)
    slope = jx.grad(lambda v: getattr(x.at[index], way)(v).sum())(jnp.ones(7))
    assert np.array_equal(slope, np.zeros(7))


def test_errors_of_updates() -> None:
    v = jnp.asarray(V)
    with pytest.raises(ValueError, match=r"shape \(2,\) do not broadcast to x\[index\], which has shape \(\)"):
        v.at[0].set(jnp.ones(2))
    with pytest.warns(FutureWarning, match="float32 are converted to the array's int32"):
        assert jnp.arange(3).at[0].set(2.7).tolist() == [2, 1, 2]
    with pytest.raises(TypeError, match=r"at\[...\].set"):
        v.at[0].set("x")
    for narrow, value in [("int4", 2.5), ("int4", 1j), ("float8_e4m3fn", 1j), ("float8_e4m3fn", jnp.float32(1))]:
        with pytest.raises(jx.errors.TypePromotionError):  # as of operators
            jnp.zeros(3, narrow).at[0].add(value)
