"""Operators, properties and methods of arrays and tracers, creation, and what bad input says."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import jitscope as jx
import jitscope.numpy as jnp
from tests.extent import examples


X = np.asarray([[1.5, -2.0, 3.0], [4.0, 0.5, -6.0]], np.float32)
N = np.asarray([[1, -2, 3], [4, 5, -6]], np.int32)

BINARY = {
    X.dtype: "add sub mul truediv floordiv mod pow eq ne lt le gt ge",
    N.dtype: "add sub mul truediv floordiv mod and_ or_ xor lshift rshift eq ne lt le gt ge",
}


@pytest.mark.parametrize("values", [X, N], ids=["floats", "integers"])
def test_binary_operators_and_their_reflections(values: np.ndarray) -> None:
    x = jnp.asarray(values)
    others = [2, np.int32(3), values[0] * 0 + 2]

    def all_of_them(x: Any) -> list[Any]:
        found = []
        for name in BINARY[values.dtype].split():
            apply = getattr(operator, name)
            found += [apply(x, other) for other in others] + [apply(other, x) for other in others[:2]]
        return found

    expected = all_of_them(values)
    for results in (all_of_them(x), jx.jit(all_of_them)(x)):
        for found, wanted in zip(results, expected):
            np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-5)


def test_the_sum_of_booleans_that_the_compiler_knows_is_or() -> None:
    """XLA adds constants of one bit modulo 2."""
    np.testing.assert_array_equal(jx.jit(lambda: jnp.ones(2, bool) + jnp.array([True, False]))(), [True, True])
    np.testing.assert_array_equal(jx.jit(lambda: jnp.zeros(2, bool) + jnp.array([True, False]))(), [True, False])


def test_other_operators() -> None:
    x = jnp.asarray(X)

    def all_of_them(x: Any) -> list[Any]:
        return [-x, +x, abs(x), divmod(x, 2)[0], divmod(7, x)[1], x @ x.T, x[0] @ x.T, X @ x.T]

    for found, wanted in zip(all_of_them(x), all_of_them(X)):
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-5)
    assert round(x).tolist() == np.round(X).tolist() and round(x / 3, 1).dtype == np.float32
    assert (~jnp.asarray([True, False])).tolist() == [False, True]
    assert 3.0 in x.ravel() and 7.0 not in x.ravel()
    y = x
    y += 1
    assert y is not x and float(x[0, 0]) == 1.5


def test_properties_and_methods() -> None:
    x, complex_x = jnp.asarray(X), jnp.asarray(X + 1j)
    assert (x.shape, x.ndim, x.size, x.itemsize, x.nbytes, len(x)) == ((2, 3), 2, 6, 4, 24, 2)
    assert x.dtype == np.float32 and not x.weak_type
    np.testing.assert_array_equal(x.T, X.T)
    np.testing.assert_array_equal(complex_x.real, X)
    np.testing.assert_array_equal(complex_x.imag, np.ones_like(X))
    np.testing.assert_array_equal(complex_x.conj(), X - 1j)
    calls = {
        "reshape": lambda a: [a.reshape(3, 2), a.reshape((6,)), a.reshape(-1, 2), a.reshape(3, -1, order="F")],
        "transpose": lambda a: [a.transpose(), a.transpose(1, 0), a.transpose((0, 1))],
        "views": lambda a: [
            a.ravel(),
            a.flatten(),
            a.swapaxes(0, 1),
            a[None].squeeze(),
            a.diagonal(),
            a.repeat(2, axis=0),
        ],
        "reductions": lambda a: [
            a.sum(),
            a.sum(0),
            a.prod(axis=1),
            a.mean(axis=0, keepdims=True),
            a.std(),
            a.var(1),
            a.max(),
            a.min(axis=1),
            a.argmax(),
            a.argmin(axis=0),
            a.all(),
            a.any(axis=0),
            a.cumsum(axis=1),
            a.cumprod(0),
            a.trace(),
        ],
        "values": lambda a: [
            a.clip(0, 2),
            a.round(),
            a.astype("int32"),
            a.copy(),
            a.argsort(axis=1),
            a.take(np.asarray([0, 2])),
            a.nonzero()[0],
            a.dot(a.T),
        ],
    }
    for call in calls.values():
        for found, wanted in zip(call(x), call(X)):
            np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-5)
    assert x.view("int32").dtype == np.int32
    np.testing.assert_array_equal(x.view("int32"), X.view("int32"))


def test_rows_of_arrays_and_tracers() -> None:
    x = jnp.asarray(X)
    assert [row.tolist() for row in x] == X.tolist()
    np.testing.assert_array_equal(jx.jit(lambda x: sum(row * i for i, row in enumerate(x)))(x), X[1])
    first, _ = x
    np.testing.assert_array_equal(first, X[0])
    assert jx.jit(lambda x: len(x) + jnp.sum(x) * 0)(x) == 2
    for scalar in (jnp.float32(1),):
        with pytest.raises(TypeError, match="scalar"):
            iter(scalar)
        with pytest.raises(TypeError, match="scalar"):
            len(scalar)
        with pytest.raises(TypeError, match="scalar"):
            jx.jit(lambda s: [*s])(scalar)


@pytest.mark.parametrize(
    "other", ["text", None, [1, 2, 3], object(), {}], ids=["text", "None", "list", "object", "dict"]
)
def test_operators_leave_other_types_to_python(other: Any) -> None:
    x = jnp.ones(3)
    for name in ("add", "sub", "mul", "truediv", "matmul", "pow", "lt", "and_"):
        with pytest.raises(TypeError, match=r"not supported between|unsupported operand|integer scalar"):
            getattr(operator, name)(x, other)
    if isinstance(other, (list, dict)):  # Python would say that they are not equal, whatever they hold
        for name in ("eq", "ne"):
            with pytest.raises(TypeError, match=r"wrap it in jnp\.array"):
                getattr(operator, name)(x, other)
    else:
        assert (x == other) is False and (x != other) is True

    class Friendly:
        def __radd__(self, x: Any) -> str:
            return "mine"

    assert x + Friendly() == "mine"


def test_arrays_of_ours_win_over_numpys() -> None:
    for out in (np.ones(3) * jnp.ones(3), np.float32(2) * jnp.ones(3), np.ones(3) < jnp.ones(3)):
        assert isinstance(out, jnp.ndarray)
    assert isinstance(jnp.ones(1), jnp.ndarray) and jx.jit(lambda x: isinstance(x, jnp.ndarray) * x)(2.0) == 2


# Elementwise functions against numpy on numbers chosen by hypothesis ---------------------------------------------------

FLOATS = st.floats(width=32, allow_nan=True, allow_infinity=True)
SPECIAL = "add subtract multiply divide maximum minimum fmax fmin arctan2 hypot logaddexp copysign fmod power".split()
SINGLE = (
    "absolute negative sign floor ceil trunc rint sqrt exp log isnan isinf isfinite signbit square tanh arctan sin cos log1p "
    "expm1 cbrt reciprocal isposinf isneginf"
).split()


@settings(max_examples=examples(60))
@given(st.lists(st.tuples(FLOATS, FLOATS), min_size=8, max_size=8))
def test_elementwise_functions_on_all_floats(pairs: list[tuple[float, float]]) -> None:
    x, y = (np.asarray(column, np.float32) for column in zip(*pairs))
    found = all_elementwise(jnp.asarray(x), jnp.asarray(y))
    with np.errstate(all="ignore"):
        expected = [getattr(np, name)(x, y) for name in SPECIAL] + [getattr(np, name)(x) for name in SINGLE]
    tiny = np.float32(1.2e-38)  # XLA flushes numbers below to zero
    for name, a, b in zip([*SPECIAL, *SINGLE], found, expected):
        a, b = np.asarray(a), np.where(np.abs(b) < tiny, 0, b) if b.dtype != bool else b
        a = np.where(np.abs(a) < tiny, 0, a) if a.dtype != bool else a
        near = np.isclose(a, b, rtol=3e-5, atol=1e-30, equal_nan=True) | special(name, x, y)
        assert near.all(), f"{name}{[(p, q) for p, q in zip(x[~near], y[~near])]}: {a[~near]}, numpy has {b[~near]}"


@jx.jit
def all_elementwise(x: Any, y: Any) -> list[Any]:
    return [getattr(jnp, name)(x, y) for name in SPECIAL] + [getattr(jnp, name)(x) for name in SINGLE]


def special(name: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Where XLA and C libraries may differ: denormal operands, and angles too large to reduce exactly."""
    denormal = (np.abs(x) < 1.2e-38) & (x != 0) | (np.abs(y) < 1.2e-38) & (y != 0)
    return denormal | ((np.abs(x) > 1e5) if name in ("sin", "cos") else False)


@settings(max_examples=examples(40))
@given(st.lists(st.tuples(st.integers(-100, 100), st.integers(-9, 9).filter(bool)), min_size=8, max_size=8))
def test_integer_division_rounds_down(pairs: list[tuple[int, int]]) -> None:
    x, y = (np.asarray(column, np.int32) for column in zip(*pairs))
    quotient, rest, q2, r2 = integer_division(jnp.asarray(x), jnp.asarray(y))
    np.testing.assert_array_equal(quotient, x // y)
    np.testing.assert_array_equal(rest, x % y)
    np.testing.assert_array_equal((q2, r2), divmod(x, y))


@jx.jit
def integer_division(x: Any, y: Any) -> tuple[Any, ...]:
    return x // y, x % y, *divmod(x, y)


def test_division_by_zero_and_powers_of_integers() -> None:
    n = jnp.asarray([5, -5, 0])
    assert (n % 0).tolist() == [0, 0, 0]
    assert (jnp.asarray([1.0, -1.0, 0.0]) // 0).tolist()[:2] == [np.inf, -np.inf]
    base, exponent = np.asarray([2, -3, 0, 0, 1, -1, 7]), np.asarray([10, 3, 0, 5, 99, 63, 11])
    np.testing.assert_array_equal(jnp.asarray(base) ** jnp.asarray(exponent), base**exponent)
    assert (jnp.asarray([2, 1, -1]) ** jnp.asarray([-1, -2, -3])).tolist() == [0, 1, -1]
    with pytest.raises(TypeError, match="negative power -1"):
        _ = jnp.asarray([2]) ** -1
    assert str(jx.make_jaxpr(lambda x: x**3)(1.0)).count("integer_pow") == 1


# Creation -------------------------------------------------------------------------------------------------------------


def test_creation() -> None:
    pairs = [
        (jnp.zeros((2, 3)), np.zeros((2, 3))),
        (jnp.zeros(np.array(3)), np.zeros(np.array(3))),
        (jnp.ones(4, int), np.ones(4, int)),
        (jnp.full((2, 2), 7.5), np.full((2, 2), 7.5)),
        (jnp.full((2, 3), np.arange(3)), np.full((2, 3), np.arange(3))),
        (jnp.arange(5), np.arange(5)),
        (jnp.arange(2, 9, 3), np.arange(2, 9, 3)),
        (jnp.arange(5, 0, -2), np.arange(5, 0, -2)),
        (jnp.arange(3.0), np.arange(3.0)),
        (jnp.arange(0, 1, 0.25), np.arange(0, 1, 0.25)),
        (jnp.linspace(0, 1, 5), np.linspace(0, 1, 5)),
        (jnp.linspace(0, 1, 4, endpoint=False), np.linspace(0, 1, 4, endpoint=False)),
        (jnp.logspace(0, 2, 3), np.logspace(0, 2, 3)),
        (jnp.geomspace(1, 8, 4), np.geomspace(1, 8, 4)),
        (jnp.eye(3, 4, 1), np.eye(3, 4, 1)),
        (jnp.identity(2), np.identity(2)),
        (jnp.tri(3, 4, -1), np.tri(3, 4, -1)),
        (jnp.indices((2, 3)), np.indices((2, 3))),
        (jnp.tril_indices(3)[1], np.tril_indices(3)[1]),
        (jnp.array([[1, 2], [3, 4]]), np.array([[1, 2], [3, 4]])),
        (jnp.array([1, 2], ndmin=3), np.array([1, 2], ndmin=3)),
        (jnp.array([]), np.array([])),
        (jnp.array([jnp.float32(1), 2]), np.array([1.0, 2])),
        (jnp.mgrid[0:3, 0:2], np.mgrid[0:3, 0:2]),
        (jnp.array([[True], [False]]), np.array([[True], [False]])),
        (jnp.hanning(5), np.hanning(5)),
        (jnp.frombuffer(b"\0\0\0\0", "int32"), [0]),
        (jnp.asarray(memoryview(bytearray(b"ab"))), [97, 98]),
        (jnp.from_dlpack(np.arange(3.0, dtype=np.float32)), np.arange(3.0)),
    ]
    for found, expected in pairs:
        assert found.shape == np.shape(expected)
        np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-6, atol=1e-6)


def test_copies() -> None:
    values = np.ones(3, np.float32)
    x = jnp.asarray(values)
    values[0] = 5
    assert x.tolist() == [1, 1, 1]
    assert jnp.asarray(x) is x and jnp.array(x) is not x and jnp.asarray(x, "float32") is x
    assert jnp.asarray(x, "int32").dtype == np.int32


def test_large_arrays_are_filled_on_the_device() -> None:
    for make, value in ((jnp.zeros, 0), (jnp.ones, 1)):
        x = make((600, 600))
        assert x.shape == (600, 600) and float(x.sum()) == value * 360000


# Bad input ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: jnp.ones((2, 3)) + jnp.ones(4), ValueError, r"add: shapes \(2, 3\) and \(4,\)"),
        (lambda: jnp.where(True, jnp.ones(2), jnp.ones(3)), ValueError, r"\(2,\) and \(3,\)"),
        (lambda: jnp.ones((2, 3)) @ jnp.ones((2, 3)), ValueError, r"\(2, 3\) and \(2, 3\)"),
        (lambda: jnp.dot(jnp.ones(2), jnp.ones(3)), ValueError, r"\(2,\) and \(3,\)"),
        (lambda: jnp.ones(2) @ 3.0, ValueError, "use \\* for scalars"),
        (lambda: jnp.concatenate([jnp.ones((2, 3)), jnp.ones((2, 4))]), ValueError, r"\(2, 3\), \(2, 4\)"),
        (lambda: jnp.stack([jnp.ones(2), jnp.ones(3)]), ValueError, r"\(2,\) and \(3,\)"),
        (lambda: jnp.ones(6).reshape(4, 2), TypeError, r"\(6,\), 6 elements, does not fit shape \(4, 2\)"),
        (lambda: jnp.ones(6).reshape(-1, -1), TypeError, "only one size may be -1"),
        (lambda: jnp.broadcast_to(jnp.ones(3), (2, 4)), ValueError, r"\(3,\).*\(2, 4\)"),
        (lambda: jnp.sum(jnp.ones(3), axis=2), ValueError, "axis 2 is out of bounds"),
        (lambda: jnp.sum(jnp.ones((3, 1)), axis=(0, -2)), ValueError, "twice"),
        (lambda: jnp.max(jnp.ones((0, 3))), ValueError, "no elements"),
        (lambda: jnp.argmax(jnp.ones(0)), ValueError, "no elements"),
        (lambda: jnp.split(jnp.ones(5), 2), ValueError, "equal parts"),
        (lambda: jnp.squeeze(jnp.ones((2, 1)), 0), ValueError, "has size 2"),
        (lambda: jnp.transpose(jnp.ones((2, 3)), (0, 0)), ValueError, "not a permutation"),
        (lambda: jnp.einsum("ij,jk", jnp.ones((2, 3)), jnp.ones((4, 2))), ValueError, r"\(2, 3\), \(4, 2\)"),
        (lambda: jnp.sin("text"), TypeError, "sin takes arrays and numbers.*str"),
        (lambda: jnp.sum([1, 2]), TypeError, "sum takes.*list"),
        (lambda: jnp.sin(None), TypeError, "None"),
        (lambda: jnp.add(np.array([object()]), 1), TypeError, "dtype object"),
        (lambda: jnp.asarray(np.array(["a"])), TypeError, "array of numbers"),
        (lambda: jnp.asarray(object()), TypeError, "object"),
        (lambda: jnp.asarray(None), ValueError, "None"),
        (lambda: jnp.array([[1], [1, 2]]), ValueError, "differ in length"),
        (lambda: jnp.array([1, None]), ValueError, "None"),
        (lambda: jnp.zeros((2, -1)), ValueError, "negative size"),
        (lambda: jnp.zeros(2.5), TypeError, "must be an int"),
        (lambda: jnp.polydiv(jnp.ones((3, 3)), 2.5), ValueError, "as vectors; it got shapes"),
        (lambda: jnp.arange(0, 3, 0), ZeroDivisionError, "step is 0"),
        (lambda: -jnp.asarray([True]), TypeError, "neg works on"),
        (lambda: jnp.ones(2) & 1, TypeError, "and works on"),
        (lambda: jnp.clip(jnp.ones(2) * 1j, 0), ValueError, "no order"),
        (lambda: jnp.sum(jnp.ones(2), out=np.ones(1)), NotImplementedError, "out="),
        (lambda: jnp.take(jnp.ones(2), 1.0), TypeError, "indices must be integers"),
        (lambda: jnp.take(jnp.ones(2), 1, mode="raise"), NotImplementedError, "cannot raise"),
        (lambda: jnp.ones(3).sort(kind="quicksort"), TypeError, "stable"),
        (lambda: jnp.floor(1j), TypeError, "complex"),
        (lambda: jnp.ones(2).reshape(2, order="X"), ValueError, "'C' or 'F'"),
        (lambda: jnp.sum(jnp.ones(2), 0, None, None, False, None, None, True, 9), TypeError, "positional"),
        (lambda: jnp.sin(), TypeError, "missing"),
    ],
)
def test_bad_input(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()
    with pytest.raises(error, match=words):
        jx.jit(lambda: call())()
