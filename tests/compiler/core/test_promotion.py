"""Promotion of dtypes: JAX's table for all pairs, weak types, and what asks for 64 bits."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import jitscope as jx
import jitscope.numpy as jnp
from jitscope.core.errors import TypePromotionError
from tests.oracle.cases.promotion import NAMES, value
from tests.oracle.library import Library


JITSCOPE = Library("jitscope")


def described(x: Any) -> str:
    return f"{x.dtype.name}{'*' if x.weak_type else ''}"


def outcome(function: Callable[..., Any], *args: Any) -> tuple[str, bool]:
    """The dtype, and whether it is weak."""
    try:
        out = function(*args)
        return (out.name, False) if isinstance(out, np.dtype) else (out.dtype.name, out.weak_type)
    except TypePromotionError:
        return "TypePromotionError", False


def sum_of(x: Any, y: Any) -> Any:
    return jx.make_jaxpr(jnp.add)(x, y).out_avals[0]


@pytest.mark.parametrize("mode", ["standard", "strict"])
@pytest.mark.parametrize("bits", ["x32", "x64"])
@pytest.mark.filterwarnings("ignore:.*was asked for")
def test_result_type_is_that_of_sums(bits: str, mode: str) -> None:
    """The sums of all pairs are compared with JAX's (tests/oracle/cases/promotion.py)."""
    with jx.enable_x64(bits == "x64"), jx.numpy_dtype_promotion(mode):
        values = {name: value(JITSCOPE, name) for name in NAMES}
        for x, y in itertools.product(values.values(), repeat=2):
            assert outcome(sum_of, x, y)[0] == outcome(jnp.result_type, x, y)[0]


@pytest.mark.parametrize(
    ("array", "number", "result"),
    [
        ("bfloat16", 2, "bfloat16"),
        ("bfloat16", 2.5, "bfloat16"),
        ("bfloat16", 1j, "complex64"),
        ("int8", 2, "int8"),
        ("int8", 2.5, "float32*"),
        ("uint8", -1, "uint8"),
        ("bool", 2, "int32*"),
        ("bool", True, "bool"),
        ("float16", True, "float16"),
        ("int32", np.float32(2), "float32"),
        ("int8", np.int16(2), "int16"),
        ("float16", np.float64(1), "float32"),
    ],
)
@pytest.mark.parametrize("shape", [(), (2,)])
def test_numbers_give_way_to_arrays(array: str, number: Any, result: str, shape: tuple[int, ...]) -> None:
    x = jnp.ones(shape, array)
    for out in (x + number, number + x, jx.jit(lambda x: x + number)(x), jx.jit(lambda x: number + x)(x)):
        assert described(out) == result


def test_numbers_are_literals_in_the_dtype_of_the_array() -> None:
    jaxpr = str(jx.make_jaxpr(lambda x: (x + 1) * 2.5)(jnp.ones(3, "bfloat16")))
    assert "add a 1.0:bf16[]" in jaxpr and "mul b 2.5:bf16[]" in jaxpr and "convert" not in jaxpr


def test_weak_types_last_through_operations_on_numbers_alone() -> None:
    weak = jnp.asarray(2.0)
    assert described(weak) == "float32*"
    assert described(jnp.sin(weak) * 3) == "float32*"
    assert described(weak + jnp.ones((), "float16")) == "float16"
    assert described(jnp.sum(weak)) == "float32"
    assert described(weak.astype("float32")) == "float32"
    assert described(jnp.where(True, 1, 0)) == "int32*"
    assert described(jnp.full(2, 1)) == "int32*" and described(jnp.full(2, 1, "int32")) == "int32"
    assert described(jnp.array([1, 2])) == "int32" and described(jnp.array([1, 2.5])) == "float32"
    assert described(jnp.zeros_like(weak)) == "float32*"


@given(
    st.lists(
        st.sampled_from(["int8", "uint8", "int32", "float16", "bfloat16", "float32", "bool"]), min_size=2, max_size=4
    )
)
def test_result_type_is_that_of_adding_all(names: list[str]) -> None:
    from functools import reduce

    found = jnp.result_type(*names)
    assert found == reduce(jnp.promote_types, names)
    assert found == jnp.result_type(*[jnp.zeros(1, n) for n in names])


# 64 bits --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda: jnp.zeros(2, "float64"),
        lambda: jnp.asarray([1], np.int64),
        lambda: jnp.ones(1, jnp.float64),
        lambda: jnp.ones(2).astype("float64"),
        lambda: jnp.arange(2, dtype=np.uint64),
        lambda: jnp.sum(jnp.ones(2), dtype="complex128"),
    ],
)
def test_asking_for_64_bits_warns_when_they_are_off(make: Any) -> None:
    with pytest.warns(UserWarning, match="enable_x64"):
        assert make().dtype.itemsize <= 8 and make().dtype.name in ("float32", "int32", "uint32", "complex64")


def test_python_types_and_64_bit_data_become_32_bits_silently() -> None:
    assert jnp.zeros(2, float).dtype == np.float32 and jnp.zeros(2, int).dtype == np.int32
    assert jnp.asarray(np.ones(2)).dtype == np.float32 and (np.ones(2) + jnp.ones(2)).dtype == np.float32


def test_numbers_too_large() -> None:
    for make in (
        lambda: jnp.asarray(2**31),
        lambda: jnp.array([2**31]),
        lambda: jnp.arange(3) + 2**40,
        lambda: jx.jit(lambda x: x + 2**40)(jnp.arange(3)),
        lambda: jnp.int32(2**40),
        lambda: jnp.array(300, "uint8"),
    ):
        with pytest.raises(OverflowError):
            make()
    assert (jnp.arange(3, dtype="uint8") + 300).tolist() == [44, 45, 46]
    assert jx.jit(lambda x: x + 300)(jnp.arange(3, dtype="uint8")).tolist() == [44, 45, 46]


# Dtypes as values -----------------------------------------------------------------------------------------------------


def test_dtype_objects() -> None:
    assert (
        jnp.float32 == np.float32 and jnp.float32 == np.dtype("float32") and np.dtype(jnp.bfloat16).name == "bfloat16"
    )
    assert jnp.ones(1).dtype == jnp.float32 and jnp.float32 != jnp.float16 and len({jnp.float32, np.float32}) == 1
    assert (
        described(jnp.float32(3)) == "float32" and int(jnp.int32(3.7)) == 3 and jnp.complex64(1).dtype == np.complex64
    )
    assert jnp.float32([1, 2]).shape == (2,) and bool(jnp.bool_(1))
    assert jx.jit(lambda x: jnp.float16(x))(2.0).dtype == np.float16


def test_questions_about_dtypes() -> None:
    yes = [
        (jnp.bfloat16, jnp.floating),
        (np.float32, jnp.inexact),
        ("int8", jnp.integer),
        (jnp.uint8, jnp.unsignedinteger),
        (jnp.complex64, jnp.complexfloating),
        (jnp.float32, np.float32),
        (jnp.int4, jnp.signedinteger),
        (bool, jnp.bool_),
        (jnp.floating, jnp.inexact),
        (np.float16, jnp.number),
        (jnp.bfloat16, jnp.generic),
    ]
    no = [
        (jnp.bfloat16, jnp.integer),
        (np.float32, np.float64),
        ("bool", jnp.number),
        (jnp.integer, jnp.floating),
        (jnp.floating, np.float32),
        (jnp.int32, np.int64),
    ]
    assert all(jnp.issubdtype(a, b) for a, b in yes)
    assert not any(jnp.issubdtype(a, b) for a, b in no)
    assert jnp.isdtype(jnp.bfloat16, "real floating") and jnp.isdtype("int8", ("bool", "integral"))
    assert not jnp.isdtype("float32", np.float64)
    with pytest.raises(ValueError, match="real floating"):
        jnp.isdtype("int8", "floaty")
    assert jnp.finfo("bfloat16").bits == 16 and jnp.iinfo(jnp.int8).max == 127 and jnp.finfo(jnp.ones(1)).bits == 32
    assert jnp.can_cast("int8", "int16") and not jnp.can_cast("float32", "int8")
    with pytest.raises(ValueError, match="iinfo"):
        jnp.finfo("int8")


@pytest.mark.parametrize("name", ["bool", "int4", "int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"])
def test_only_integers_of_64_bits_become_doubles(name):
    """As JAX 0.10.2 with 64 bits on; NumPy's doubles are for all."""
    with jx.enable_x64():
        x = jnp.ones(2, name)
        wanted = "float64" if name.endswith("64") else "float32"
        found = {f.__name__: f(x).dtype.name for f in (jnp.sin, jnp.mean, jnp.sqrt, jnp.exp, jnp.var)}
        assert set(found.values()) == {wanted}, found
        assert (x / x).dtype == wanted and jnp.arctan2(x, x).dtype == wanted
