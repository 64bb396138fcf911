"""What JAX 0.12 refuses, or takes, at the edges: the class of the error, and the values."""

from __future__ import annotations

import unittest.mock
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax


X = jnp.ones((3, 2, 2))
IMAGE = jnp.ones((1, 10, 10, 5))
NO_PAIRS: Any = (3, 3)


@pytest.mark.parametrize(
    ("call", "error", "told"),
    [
        (lambda: lax.conv_general_dilated_patches(IMAGE, (5, 5), window_strides=(1, 1), padding=NO_PAIRS), ValueError, "pairs"),
        (lambda: jnp.tensordot(X, jnp.ones(2), axes=([0], [0, 1])), TypeError, "each axis of the first"),
        (lambda: jx.pmap(lambda x: x, in_axes=False)(jnp.zeros(1)), TypeError, "must be an int"),
        (lambda: lax.reduce_window(X[0], jnp.zeros(1), lax.max, (2, 2), (1, 1), "VALID"), TypeError, "must be scalars"),
        (
            lambda: jx.eval_shape(lambda x: lax.top_k(x, 100), jx.ShapeDtypeStruct((2**31 + 1,), jnp.bfloat16)),
            ValueError,
            "int32",
        ),
    ],
)  # fmt: skip
def test_refused(call: Callable[[], Any], error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        call()


@pytest.mark.parametrize(
    ("number", "dtype", "found"), [(2**32, "int32", 0), (2**31, "int32", -(2**31)), (-(2**33) - 5, "int8", -5)]
)
def test_python_integers_keep_their_low_bits(number: int, dtype: str, found: int) -> None:
    assert lax.convert_element_type(number, dtype) == found
    assert lax.convert_element_type(number, dtype).dtype == dtype


def test_padding_is_of_python_integers() -> None:
    pads = lax.padtype_to_pads(np.array((10, 9)), np.array((5, 5)), np.array((2, 1)), "SAME")  # pyright: ignore
    assert pads == [(1, 2), (2, 2)]
    assert all(type(n) is int for pair in pads for n in pair)


def test_static_arguments_said_twice_are_taken_as_said() -> None:
    kinds = []

    def f(x: Any, y: Any) -> int:
        kinds.append((type(x) is int, type(y) is int))
        return 1

    jx.jit(f, static_argnums=1, static_argnames=())(1, y=2)
    jx.jit(f, static_argnums=(), static_argnames="y")(1, 2)
    jx.jit(f, static_argnums=(1,), static_argnames="x")(x=1, y=3)
    jx.jit(f, static_argnums=1)(1, y=2)
    assert kinds == [(False, False), (False, False), (True, False), (False, True)]


def test_keys_that_are_equal_are_close() -> None:
    key = jx.random.key(0)
    assert jnp.isclose(key, key)
    assert not jnp.isclose(key, jx.random.key(1))


def test_any_object_may_copy_itself_to_the_host() -> None:
    one, other = unittest.mock.Mock(), object()
    assert jx.copy_to_host_async([one, other])[1] is other
    one.copy_to_host_async.assert_called_once()


def test_names_go_on_in_programs_of_rules() -> None:
    f = jx.custom_jvp(lambda x: x + 1.0)
    f.defjvp(lambda x, t: (f(*x), t[0]))
    program = jx.make_jaxpr(f)(1.0)
    assert "lambda ; c:f32[]. let d:f32[] = add c" in program.pretty_print(use_color=False)
    assert "lambda ; c:f32[]. let d:f32[] = sin c" in str(jx.make_jaxpr(jx.checkpoint(jnp.sin))(1.0))
