"""`ds`: slices whose start may be traced, against NumPy's slices."""

from __future__ import annotations

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import ds


X = np.arange(24.0, dtype="float32").reshape(6, 4)


@jx.jit
def read(x, i):
    return (
        x[ds(i, 2)],
        x[ds(i, 2, 2), ds(1, 2)],
        x[ds(i, 2), jnp.array([0, 3, 1])],
        x[None, ds(i, 2), 0],
        x[..., ds(i, 3)],
    )


@jx.jit
def write(x, i):
    return x.at[ds(i, 2)].set(0), x.at[ds(i, 2, 2), 1].add(1), x.at[ds(i, 2), jnp.array([0, 3])].multiply(2)


@pytest.mark.parametrize("i", [0, 1, 3, 5, -1])
def test_reading_and_writing_from_a_traced_start(i):
    two, wide, last = min(max(i, 0), 4), min(max(i, 0), 3), min(max(i, 0), 1)
    wanted = X[two : two + 2], X[wide : wide + 3 : 2, 1:3], X[two : two + 2][:, [0, 3, 1]], X[None, two : two + 2, 0]
    for found, right in zip(read(X, i), (*wanted, X[:, last : last + 3]), strict=True):
        np.testing.assert_array_equal(found, right)
    zeroed, added, doubled = X.copy(), X.copy(), X.copy()
    zeroed[two : two + 2] = 0
    added[wide : wide + 3 : 2, 1] += 1
    doubled[two : two + 2, [0, 3]] *= 2
    for found, right in zip(write(X, i), (zeroed, added, doubled), strict=True):
        np.testing.assert_array_equal(found, right)


def test_outside_of_compiled_functions_and_under_transformations():
    x = jnp.asarray(X)
    np.testing.assert_array_equal(x[ds(3)], X[:3])
    np.testing.assert_array_equal(x[ds(None), ds(jnp.int32(1), 2)], X[:, 1:3])
    np.testing.assert_array_equal(x[ds(1, 2, 2)], X[1:4:2])
    np.testing.assert_array_equal(jx.vmap(lambda i: x[ds(i, 2), 0])(jnp.arange(3)), [X[i : i + 2, 0] for i in range(3)])
    slope = jx.grad(lambda x, i: (x[ds(i, 2)] ** 2).sum())(x, 1)
    np.testing.assert_array_equal(slope, np.where(np.isin(np.arange(6), [1, 2])[:, None], 2 * X, 0))


def test_references():
    def program(x, i):
        kept = jx.new_ref(x)
        kept[ds(i, 2)] = kept[ds(i, 2)] * 2
        kept[ds(0, 2), 0] += 100.0
        return kept[...]

    wanted = X.copy()
    wanted[1:3] *= 2
    wanted[:2, 0] += 100
    np.testing.assert_array_equal(program(jnp.asarray(X), 1), wanted)
    np.testing.assert_array_equal(jx.jit(program)(X, 1), wanted)
    text = str(jx.make_jaxpr(program)(X, 1))
    assert "<- c[b:b+2,:]" in text and "c[:2,0] <-" in text


def test_what_does_not_fit_is_refused():
    x = jnp.asarray(X)
    with pytest.raises(IndexError, match="a slice of 9 elements does not fit axis 0, which has size 6"):
        x[ds(0, 9)]
    with pytest.raises(TypeError, match="known while tracing"):
        jx.jit(lambda x, n: x[ds(0, n)])(x, 2)
    with pytest.raises(TypeError, match=r"a slice starts at an integer, not at 1\.5"):
        x[ds(1.5, 2)]
    with pytest.raises(TypeError, match=r"not at f32\[\]"):
        jx.jit(lambda x, i: x[ds(i, 2)])(x, 1.0)
    with pytest.raises(ValueError, match="they are 2 and 0"):
        ds(0, 2, 0)


def test_slices_without_a_start() -> None:
    x = np.arange(10)
    for index, wanted in (
        (jx.ds(None), x),
        (jx.ds(None, stride=2), x[::2]),
        (jx.ds(None, 4), x[:4]),
        (jx.ds(None, 3, 2), x[:6:2]),
        (jx.ds(4), x[:4]),
    ):
        np.testing.assert_array_equal(jnp.asarray(x)[index], wanted)
