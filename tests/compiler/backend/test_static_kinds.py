"""Which arguments `%%jit` and `inspect` take as static without being told."""

import dataclasses
import functools
from typing import Any

import numpy as np
import pytest

import jitscope as jx
from jitscope.testing import assert_compiles


def test_auto_static_takes_a_callable_tree_as_data():
    @jx.tree_util.register_dataclass
    @dataclasses.dataclass
    class Dense:
        w: Any

        def __call__(self, x):
            return x @ self.w

    f = jx.jit(lambda model, x: model(x), auto_static=True)
    w, x = np.ones((3, 2), np.float32), np.ones((4, 3), np.float32)
    for scale in (1, 2):
        np.testing.assert_allclose(f(Dense(scale * w), x), scale * x @ w)
    assert f._cache_size() == 1


@functools.lru_cache
def _basis(n: int) -> float:
    return 1.5 * n


def _pool(x, k=2, stride=None, mode="max"):
    rows = x.reshape(x.shape[0] // k, k)
    return (rows.max(1) if mode == "max" else rows.mean(1))[:: stride or 1]


def _split(x, n):
    return n // 2, x[: n // 2], [x[n // 2 :], None]


HELPERS = {
    "a table of lru_cache's": (lambda n: _basis(n), lambda v, f: v.sum() * f(3)),
    "sizes": (_pool, lambda v, f: f(v, k=4) + f(v, 2, stride=2, mode="mean").sum()),
    "Python values as results": (_split, lambda v, f: v[f(v, 8)[0]] + f(v, 4)[1].sum() * len(f(v, 4)[2])),
    "weak types": (lambda x, s: x.astype("bfloat16") * s, lambda v, f: f(v, 2.5)),
    "branches on a count": (lambda x, n: x if n > 3 else f"{n}" and -x, lambda v, f: f(v, 2) + f(v, 5)),
    "defaults": (lambda x, axis=0, keep=False: x.sum(axis, keepdims=keep), lambda v, f: f(v) + f(v, keep=True)),
    "inside a loop's body": (
        lambda x, n: sum(x * i for i in range(n)),
        lambda v, f: jx.lax.fori_loop(0, 3, lambda i, c: f(c, 2) + i, v),
    ),
    "below transformations": (lambda x, n: (x**n).sum(), lambda v, f: jx.vmap(jx.grad(lambda t: f(t, 3)))(v)),
}


@pytest.mark.parametrize("kind", HELPERS)
def test_what_a_compiled_function_calls_keeps_its_python_values(kind):
    helper, step = HELPERS[kind]
    v = jx.numpy.arange(8.0)
    of_python = jx.jit(lambda v: step(v, helper))
    of_cell = jx.jit(lambda v: step(v, jx.jit(helper, auto_static=True)), auto_static=True)
    expected, found = of_python(v), of_cell(v)
    assert (found.dtype, found.weak_type) == (expected.dtype, expected.weak_type)
    np.testing.assert_array_equal(found, expected)
    assert str(jx.make_jaxpr(of_cell)(v)).count("jit") == 0  # one program, as without


def test_calls_outside_of_a_trace_compile_a_helper_by_itself():
    helper = jx.jit(lambda x, n: x * n, auto_static=True)
    x = jx.numpy.arange(3.0)
    np.testing.assert_array_equal(helper(x, 2), [0, 2, 4])
    np.testing.assert_array_equal(
        jx.grad(lambda t: helper(t, 2).sum())(x), [2, 2, 2]
    )  # nothing is recorded by itself there
    assert helper._cache_size() == 1
    with assert_compiles(helper, 0):
        helper(x, 3)
