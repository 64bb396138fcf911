"""Ufuncs as objects, and their methods where samples cannot say it: `at` with any index, programs, pickling, laziness."""

from __future__ import annotations

import copy
import inspect
import pickle
import subprocess
import sys
from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import jitscope as jx
import jitscope.numpy as jnp
from jitscope.backend import compile as compiling
from jitscope.numpy import arithmetic
from tests.extent import examples


NAMES = (
    "add bitwise_and bitwise_or bitwise_xor logaddexp logaddexp2 logical_and logical_or logical_xor maximum minimum "
    "multiply negative subtract"
).split()


def double_and_add(x: Any, y: Any) -> Any:
    return 2 * x + y


# Objects -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_an_object(name: str) -> None:
    function = getattr(jnp, name)
    assert isinstance(function, jnp.ufunc) and callable(function)
    assert repr(function) == f"<jnp.ufunc '{name}'>"
    assert function.__name__ == function.__qualname__ == name and function.__doc__
    assert (function.nin, function.nout) == (getattr(np, name).nin, 1)
    assert [p.name for p in inspect.signature(function).parameters.values()] == ["args", "out", "where"]
    assert pickle.loads(pickle.dumps(function)) is function
    assert copy.copy(function) is copy.deepcopy(function) is function
    assert {function: 1}[getattr(jnp, name)] == 1


def test_all_of_them() -> None:
    assert sorted(n for n in jnp.__all__ if isinstance(getattr(jnp, n), jnp.ufunc)) == sorted(NAMES)


def test_made_of_a_function() -> None:
    function = jnp.frompyfunc(double_and_add, 2, 1, identity=0)
    assert function == jnp.frompyfunc(double_and_add, 2, 1, identity=0) != jnp.frompyfunc(double_and_add, 2, 1)
    assert hash(function) == hash(jnp.frompyfunc(double_and_add, 2, 1, identity=0))
    again = pickle.loads(pickle.dumps(function))
    assert again == function and float(again(1.0, 2.0)) == 4
    assert function.__name__ == "double_and_add" and function != 1
    with pytest.raises(TypeError, match=r"wrap it in jnp\.array"):
        function([1.0], 2.0)


def test_under_transformations() -> None:
    x, y = jnp.arange(4.0), jnp.ones(4)
    np.testing.assert_array_equal(jx.jit(jnp.add)(x, y), x + 1)
    np.testing.assert_array_equal(jx.vmap(jnp.multiply)(x, y), x)
    np.testing.assert_array_equal(jx.grad(lambda x: jnp.multiply(x, x).sum())(x), 2 * x)
    assert jx.make_jaxpr(jnp.subtract)(x, y).eqns[0].primitive.name == "sub"
    # out and where, which nobody gave, are no arguments of its rule.
    ruled = jx.custom_jvp(jnp.multiply)
    ruled.defjvp(lambda primals, tangents: (primals[0] * primals[1], 7 * tangents[0]))
    assert [float(v) for v in jx.jvp(ruled, (2.0, 3.0), (1.0, 0.0))] == [6, 7]
    np.testing.assert_array_equal(jx.grad(lambda x: jnp.multiply.reduce(x[1:]))(x), [0, 6, 3, 2])
    np.testing.assert_array_equal(
        jx.vmap(jnp.maximum.accumulate)(jnp.array([[1, 3, 2], [2, 1, 0]])), [[1, 3, 3], [2, 2, 2]]
    )


def test_sums_and_calls_share_a_program() -> None:
    x, y = jnp.ones((3, 7)), jnp.ones((3, 7))
    x + y
    before = compiling._built
    jnp.add(x, y)
    arithmetic.add(x, y)
    assert compiling._built == before


@pytest.mark.parametrize(
    "call",
    [
        lambda x: jnp.subtract.reduce(x),
        lambda x: jnp.subtract.accumulate(x, 1),
        lambda x: jnp.subtract.outer(x, x),
        lambda x: jnp.subtract.reduceat(x, np.array([0, 2])),
        lambda x: jnp.negative.at(x, np.array([0, 0]), inplace=False),
        lambda x: jnp.logaddexp.reduce(x, None),
    ],
    ids=["reduce", "accumulate", "outer", "reduceat", "at", "logaddexp"],
)
def test_a_method_is_one_program(call: Any) -> None:
    x = jnp.ones((5, 3))
    other = x + 1
    jx.clear_caches()
    before = compiling._built
    call(x)
    call(other)
    assert compiling._built == before + 1


def test_methods_are_loaded_when_used() -> None:
    code = "import sys, jitscope.numpy as jnp; print('jitscope.numpy._folding' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown == "False\n"


def test_errors() -> None:
    x = jnp.ones(3)
    with pytest.raises(NotImplementedError, match=r"add: where= is not supported, use jnp.where"):
        jnp.add(x, x, where=x > 0)
    with pytest.raises(NotImplementedError, match=r"negative: out="):
        jnp.negative(x, out=x)
    with pytest.raises(NotImplementedError, match=r"inplace=False\) gives a changed copy"):
        jnp.add.at(x, 0, 1)
    with pytest.raises(ValueError, match="negative takes 1 and gives 1"):
        jnp.negative.reduce(x)
    with pytest.raises(ValueError, match=r"there are no elements, and no identity; give initial="):
        jnp.subtract.reduce(x[:0])
    with pytest.raises(ValueError, match="do not broadcast"):
        jnp.add(x, jnp.ones(4))


# at ------------------------------------------------------------------------------------------------------------------

INDICES = [
    0,
    -1,
    (1, 2),
    slice(1, 3),
    (slice(None), 1),
    (..., slice(None, None, -2)),
    None,
    np.array([0, 2, 0]),
    np.array([[0, -1], [1, 1]]),
    (np.array([0, 2, 0]), np.array([1, 1, 1])),
    (np.array([1, 1]), slice(1, 3)),
    (slice(None), np.array([3, 3, 0])),
    (np.array([0, 0]), None, slice(2)),
    (np.array([[0], [2]]), np.array([1, 3, 1])),
    (2, np.array([0, 0])),
    np.arange(12).reshape(3, 4) % 3 == 0,
    (np.array([True, False, True]), 1),
    np.zeros(0, np.int32),
]


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "maximum", "minimum", "logaddexp"])
def test_at_with_any_index(name: str) -> None:
    x = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    for index in INDICES:
        value = np.float32(0.75) if name != "logaddexp" else np.full(x[index].shape, 0.75, np.float32)
        wanted = x.copy()
        getattr(np, name).at(wanted, index, value)
        found = getattr(jnp, name).at(x, index, value, inplace=False)
        np.testing.assert_allclose(found, wanted, rtol=1e-6, err_msg=str(index))


def test_at_of_one_operand_and_beyond_bounds() -> None:
    x = np.arange(1.0, 5, dtype=np.float32)
    for index in (np.array([0, 0, 1]), 2, slice(1, 3), np.array([True, False, True, False])):
        wanted = x.copy()
        np.negative.at(wanted, index)
        np.testing.assert_array_equal(jnp.negative.at(x, index, inplace=False), wanted)
    outside = np.array([-9, -5, 4, 100, 1])
    np.testing.assert_array_equal(jnp.negative.at(x, outside, inplace=False), [1, -2, 3, 4])


@settings(max_examples=examples(25))
@given(data=st.data())
def test_stretches(data: st.DataObject) -> None:
    size = data.draw(st.sampled_from([1, 4, 7]))
    x = data.draw(hnp.arrays(np.int32, (size, 2), elements=st.integers(-9, 9)))
    starts = np.array(data.draw(st.lists(st.integers(0, size - 1), min_size=3, max_size=3)), np.int32)
    for name in ("add", "subtract", "maximum"):
        wanted = getattr(np, name).reduceat(x, starts, axis=0)
        np.testing.assert_array_equal(getattr(jnp, name).reduceat(x, starts, axis=0), wanted, err_msg=name)


@settings(max_examples=examples(25))
@given(data=st.data())
def test_folds_of_any_function(data: st.DataObject) -> None:
    """Of an operation that is neither commutative nor associative, against Python's own order."""
    x = data.draw(hnp.arrays(np.int32, data.draw(st.sampled_from([(1, 2), (5, 3)])), elements=st.integers(-3, 3)))
    where = data.draw(hnp.arrays(np.bool_, x.shape))
    axis = data.draw(st.sampled_from([0, 1, -1]))
    ours, theirs = jnp.frompyfunc(double_and_add, 2, 1), np.frompyfunc(double_and_add, 2, 1)
    np.testing.assert_array_equal(ours.reduce(x, axis), theirs.reduce(x, axis).astype(np.int32))
    np.testing.assert_array_equal(ours.accumulate(x, axis), theirs.accumulate(x, axis).astype(np.int32))
    np.testing.assert_array_equal(ours.outer(x, x[0]), theirs.outer(x, x[0]).astype(np.int32))
    rows = np.moveaxis(x, axis, 0), np.moveaxis(where, axis, 0)
    value = np.full(rows[0].shape[1:], 7)
    for row, there in zip(*rows):
        value = np.where(there, double_and_add(value, row), value)
    np.testing.assert_array_equal(ours.reduce(x, axis, initial=7, where=where), value)


@pytest.mark.parametrize("of", [jnp.add, jnp.frompyfunc(double_and_add, 2, 1, identity=0)])
@pytest.mark.parametrize("name", ["nin", "nout", "nargs", "identity"])
def test_what_a_ufunc_is_cannot_be_set(of: Any, name: str) -> None:
    before = getattr(of, name)
    with pytest.raises(AttributeError, match=f"{name} of the ufunc"):
        setattr(of, name, 3)
    assert getattr(of, name) == before
    assert copy.copy(of)(2, 3) == of(2, 3)


@pytest.mark.parametrize(("excluded", "error"), [({1.5}, TypeError), ({-1}, ValueError)])
def test_vectorize_says_what_cannot_be_excluded(excluded: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="excluded holds positions"):
        jnp.vectorize(double_and_add, excluded=excluded)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float8_e4m3fn", "float8_e5m2"])
def test_hypot_of_narrow_dtypes_is_rounded_once(dtype: str) -> None:
    x, y = (jnp.asarray(v.astype(dtype)) for v in np.random.default_rng(0).normal(size=(2, 1000)))
    exact = np.hypot(np.asarray(x).astype(np.float64), np.asarray(y).astype(np.float64))
    np.testing.assert_array_equal(jx.jit(jnp.hypot)(x, y), exact.astype(x.dtype))
    np.testing.assert_array_equal(jnp.hypot(x, y), exact.astype(x.dtype))
