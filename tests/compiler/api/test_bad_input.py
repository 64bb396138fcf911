"""Bad input to the functions of numpy: every function that has samples gets them with something else in place of its arrays.

The kind of error is NumPy's (TypeError, ValueError, IndexError), and it says what was wrong with what.
"""

from __future__ import annotations

import ast
import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from tests.oracle import operands, samples
from tests.oracle.library import Library


LIBRARY = Library("jitscope")
GIVEN = LIBRARY.operands("float32")
NUMPY = [f for f in samples.every() if f.name.startswith("numpy.") and "float32" in f.dtypes]
KINDS = (TypeError, ValueError, IndexError)

# Functions that take anything: what they say of it is no number.
TAKES_ANYTHING = {
    "isscalar", "iscomplexobj", "isrealobj", "iterable", "shape", "ndim", "size", "result_type", "array_repr", "array_str", "set_printoptions",
    "get_printoptions", "printoptions", "save", "savez", "load", "dtype", "issubdtype", "promote_types", "can_cast", "finfo", "iinfo",
    "broadcast_shapes", "array_equal", "array_equiv", "einsum_path", "isdtype", "from_dlpack", "where", "astype",
    "tril_indices_from", "triu_indices_from", "diag_indices_from",
}  # fmt: skip
READ_AS_NUMBERS = {
    f.name.removeprefix("numpy.") for f in NUMPY if isinstance(getattr(np, f.name.removeprefix("numpy."), None), type)
}
"""Types, by which NumPy reads numbers in objects and texts."""


def arrays_of(sample: samples.Sample) -> list[str]:
    return [name for name in sample.names if name in operands.FOLLOWING]


def first_with_arrays(function: samples.Function) -> samples.Sample | None:
    return next((s for s in function.samples if arrays_of(s) and not s.fails and not s.reason), None)


def said(expr: str, given: dict[str, Any]) -> BaseException | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of 64-bit types that are asked for
        try:
            LIBRARY.value(expr, {**GIVEN, **given})
        except Exception as error:
            return error
    return None


BAD = {
    "objects": lambda x: np.full(x.shape, None, dtype=object),
    "text": lambda x: np.full(x.shape, "one"),
    "dates": lambda x: np.full(x.shape, "2020-01-01", dtype="datetime64[D]"),
    "a word": lambda x: "one",
    "a ragged list": lambda x: [[1.0, 2.0], [3.0]],
    "nothing": lambda x: None,
    "a function": lambda x: len,
}


@pytest.mark.parametrize("kind", BAD)
def test_what_is_no_array_of_numbers(kind: str) -> None:
    faults = []
    for function in NUMPY:
        name, sample = function.name.removeprefix("numpy."), first_with_arrays(function)
        if sample is None or name in TAKES_ANYTHING | READ_AS_NUMBERS | {"float_", "complex_", "int_", "uint", "bool"}:
            continue
        replaced = arrays_of(sample)[0]
        error = said(sample.expr, {replaced: BAD[kind](GIVEN[replaced])})
        if error is None and kind not in ("nothing", "a function", "a word"):
            faults.append(f"{sample.expr} with {kind} for {replaced} gives a result")
        elif error is not None and not isinstance(error, (*KINDS, AttributeError)):
            faults.append(f"{sample.expr} with {kind} for {replaced} raises {type(error).__name__}: {error}")
        elif error is not None and not str(error):
            faults.append(f"{sample.expr} with {kind} for {replaced} says nothing")
    assert not faults, "\n".join([str(len(faults)), *faults])


def test_numbers_in_objects_and_texts_are_read_where_the_dtype_is_given() -> None:
    np.testing.assert_array_equal(jnp.asarray(np.array([1, 2.5], object), "float32"), [1, 2.5])
    np.testing.assert_array_equal(jnp.array(np.array(["1", "2"]), "int32"), [1, 2])
    for column in (np.array([1, 2.5], object), np.array(["1", "2"])):
        with pytest.raises(TypeError, match="not an array of numbers"):
            jnp.asarray(column)
    with pytest.raises(ValueError, match="one"):
        jnp.asarray(np.array(["one"]), "float32")


def with_axis(expr: str, axis: int) -> str | None:
    """The expression with another axis, where it names one."""
    tree = copy.deepcopy(ast.parse(expr, mode="eval"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                if keyword.arg == "axis" and isinstance(keyword.value, (ast.Constant, ast.UnaryOp)):
                    if isinstance(keyword.value, ast.Constant) and keyword.value.value is None:
                        continue
                    keyword.value = ast.Constant(axis)
                    return ast.unparse(tree)
    return None


@pytest.mark.parametrize("axis", [7, -9])
def test_axes_that_do_not_exist(axis: int) -> None:
    faults, count = [], 0
    for function in NUMPY:
        for sample in function.samples:
            expr = None if sample.fails else with_axis(sample.expr, axis)
            if expr is None:
                continue
            count += 1
            error = said(expr, {})
            if not isinstance(error, KINDS):
                faults.append(f"{expr}: {error!r}")
            elif str(axis) not in str(error):
                faults.append(f"{expr} does not name the axis: {error}")
            break
    assert count > 60
    assert not faults, "\n".join([str(len(faults)), *faults])


ELEMENTWISE = (
    "add subtract multiply divide power float_power arctan2 hypot maximum minimum fmax fmin floor_divide remainder fmod equal less "
    "logical_and logaddexp copysign nextafter heaviside ldexp"
).split()


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_shapes_that_do_not_fit_are_named(name: str) -> None:
    x, y = jnp.ones((3, 4)), jnp.ones((7, 5), "int32" if name == "ldexp" else None)
    for call in (getattr(jnp, name), jx.jit(getattr(jnp, name))):
        with pytest.raises((TypeError, ValueError)) as info:
            call(x, y)
        assert all(shape in str(info.value).replace(", ", ",") for shape in ("3,4", "7,5")), info.value


@pytest.mark.parametrize(
    "call",
    [
        lambda a, b: a @ b,
        lambda a, b: jnp.dot(a, b),
        lambda a, b: jnp.tensordot(a, b, 1),
        lambda a, b: jnp.einsum("ij,jk->ik", a, b),
        lambda a, b: jnp.concatenate([a, b], 1),
        lambda a, b: jnp.stack([a, b]),
        lambda a, b: jnp.linalg.solve(a[:, :3], b),
        lambda a, b: a.at[:2].set(b),
        lambda a, b: jnp.where(a > 0, a, b),
    ],
)
def test_operations_of_several_arrays_name_their_shapes(call: Any) -> None:
    a, b = jnp.ones((3, 4)), jnp.ones((7, 5))
    with pytest.raises((TypeError, ValueError), match=r"3, ?[34]|2, ?4|\(?4\)?.*7"):
        call(a, b)


def test_numbers_that_do_not_fit_their_dtype() -> None:
    for make in (
        lambda: jnp.array(300, "uint8"),
        lambda: jnp.array([1, -1], "uint8"),
        lambda: jnp.asarray(2**40, "int32"),
    ):
        with pytest.raises(OverflowError):
            make()
    with pytest.raises(OverflowError):
        jnp.full(3, 2**40, "int32")
    np.testing.assert_array_equal(jnp.array([300.0, -1.0]).astype("uint8"), [255, 0])  # a cast of an array saturates


@pytest.mark.parametrize(
    "call",
    [
        lambda n: jnp.zeros(n),
        lambda n: jnp.arange(n),
        lambda n: jnp.linspace(0, 1, n),
        lambda n: jnp.eye(n),
        lambda n: jnp.ones(6).reshape(n, -1),
        lambda n: jnp.repeat(jnp.ones(3), n),
        lambda n: jnp.tile(jnp.ones(3), n),
        lambda n: jnp.full((2, n), 1.0),
        lambda n: jnp.broadcast_to(1.0, (n,)),
        lambda n: jnp.nonzero(jnp.ones(3), size=n),
        lambda n: jnp.hanning(n),
        lambda n: jnp.tri(n),
    ],
)
def test_sizes_that_are_traced(call: Any) -> None:
    """The message names the line of the user and the way out. (Which class it has, as in JAX: oracle/cases/traced_sizes.)"""
    with pytest.raises(TypeError) as info:
        jx.jit(call)(3)
    assert "static" in str(info.value) and "in line" in str(info.value)


@pytest.mark.parametrize("value", ["text", {1: 2}, {1, 2}, object(), len, iter([1]), b"bytes"])
def test_what_is_no_array_is_called_by_its_own_type(value: object) -> None:
    with pytest.raises(TypeError, match=f"a value of type {type(value).__name__} is no array, no number"):
        jnp.asarray(value)
    assert jnp.asarray("1.5", dtype="float32") == 1.5


@pytest.mark.parametrize(
    "call",
    [
        lambda: jnp.zeros(3).reshape(jnp.asarray(4)),
        lambda: jnp.sum(jnp.ones(3), axis=jnp.asarray(5)),  # pyright: ignore[reportArgumentType]
        lambda: jx.grad(lambda x: jnp.sum(x, axis=7))(jnp.ones(3)),
    ],
    ids=["reshape", "sum", "grad of sum"],
)
def test_an_error_is_not_one_of_ours_first(call: Callable[[], Any]) -> None:
    """A traceback says nothing of how the call was looked up before."""
    with pytest.raises((TypeError, ValueError)) as caught:
        call()
    assert caught.value.__context__ is None or caught.value.__suppress_context__
