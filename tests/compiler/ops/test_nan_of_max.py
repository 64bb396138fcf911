"""The greatest and the least element of what has a NaN is NaN, however many there are, as NumPy has it."""

import numpy as np
import pytest
from scipy import special

import jitscope as jx
import jitscope.numpy as jnp


RULES = {"NAN_OF_MAX", "MAX_BY_CHOICES"}


def looks(function, x) -> bool:
    """Whether NaN is looked for, or a form taken that keeps it."""
    return bool(RULES & {rewrite.rule for rewrite in function.lower(x).rewrites()})


SHAPES = [(4095,), (4096,), (16384,), (64, 64), (2, 8192), (3, 40, 200)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float16"])
def test_one_nan_is_seen(shape: tuple[int, ...], dtype: str) -> None:
    x = np.random.default_rng(0).standard_normal(shape)
    x.flat[x.size // 2 + 1] = np.nan
    with jx.enable_x64():
        given = jnp.asarray(x).astype(dtype)
        axes = (None, *range(x.ndim))
        for name in ("max", "min"):
            found = jx.jit(lambda x, name=name: [getattr(jnp, name)(x, axis=axis) for axis in axes])(given)
            for axis, got in zip(axes, found, strict=True):
                want = getattr(np, name)(np.asarray(given).astype(np.float64), axis=axis)
                np.testing.assert_array_equal(np.asarray(got).astype(np.float64), want)


def test_it_is_seen_in_what_is_fused_before_and_behind() -> None:
    x = np.ones((64, 128), np.float32)
    x[3, 5] = -1
    got = jx.jit(lambda x: jnp.exp(jnp.max(jnp.log(x), axis=1)) * 2)(x)
    assert np.flatnonzero(np.isnan(got)).tolist() == [3]
    assert np.isnan(jx.grad(lambda x: jnp.max(jnp.sqrt(x)))(x)).any()


def test_infinities_are_no_nan() -> None:
    x = np.full((64, 64), np.inf, np.float32)
    x[1] = -np.inf
    np.testing.assert_array_equal(jx.jit(lambda x: jnp.max(x, axis=1))(x), x.max(1))
    np.testing.assert_array_equal(jx.jit(lambda x: jnp.min(x, axis=0))(x), x.min(0))


@pytest.mark.parametrize("shape", [(64, 512), (2, 8192), (3, 40, 200)], ids=str)
@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp"])
def test_sums_of_exponentials_see_it_without_a_look_for_it(name: str, shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    x[..., 1, 3] = np.nan
    x[0, ..., 5] = -np.inf
    x[1, ..., 7] = 100
    function = jx.jit(lambda x: getattr(jx.nn, name)(x, axis=-1))
    with np.errstate(invalid="ignore"):
        want = getattr(special, name)(x.astype(np.float64), axis=-1)
    np.testing.assert_allclose(function(x), want, rtol=1e-4, atol=1e-5)
    assert np.isnan(want).any() and np.isfinite(want).any()
    assert not looks(function, x)


def _softmax(x):
    e = jnp.exp(x - jnp.max(x, axis=-1, keepdims=True))
    return e / jnp.sum(e, axis=-1, keepdims=True)


def _in_two_steps(x):
    x = x - x.max(axis=1)[:, None]
    return x - jnp.log(jnp.exp(x).sum(1))[:, None]


def _of_columns(x):
    level = jx.lax.stop_gradient(x.max(axis=0))
    return level + jnp.log(jnp.exp(x - level).sum(0))


def _of_all(x):
    e = jnp.exp((x - x.max()) / 3)
    return e * 2 / e.sum()


BY_HAND = {
    "softmax": (_softmax, lambda x: special.softmax(x, axis=-1)),
    "log_softmax": (_in_two_steps, lambda x: special.log_softmax(x, axis=-1)),
    "logsumexp": (_of_columns, lambda x: special.logsumexp(x, axis=0)),
    "all": (_of_all, lambda x: 2 * special.softmax(x / 3)),
}


@pytest.mark.parametrize("shape", [(64, 512), (2000, 10), (512, 64)], ids=str)
@pytest.mark.parametrize("name", BY_HAND)
def test_a_softmax_written_out_needs_no_look_for_it(name: str, shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    function, reference = BY_HAND[name]
    for places in ((), ((3, 5), (40, 0))):
        for place in places:
            x[place] = np.nan
        x[0, 1] = -np.inf
        got = jx.jit(function)(x)
        np.testing.assert_allclose(got, reference(x.astype(np.float64)), rtol=1e-4, atol=1e-5)
        assert np.isnan(got).any() == bool(places)
    assert not looks(jx.jit(function), x)


READ_OTHERWISE = {
    "the level": lambda np, x: x.max(1) + 0 * np.exp(x - x.max(1)[:, None]).sum(1)[0],
    "the exponentials": lambda np, x: np.exp(x - x.max(1)[:, None]),
    "another array": lambda np, x: _shares(np, np.roll(x, 1, 0), x.max(1)[:, None], 1),
    "a sum of other axes": lambda np, x: _shares(np, x, x.max(1)[:, None], 0),
    "a row for a column": lambda np, x: _shares(np, x, x.max(1)[None, :], 1),
    "another row's sum": lambda np, x: (e := np.exp(x - x.max(1)[:, None])) / e.sum(1)[None, :],
    "no NaN where there is one": lambda np, x: (e := np.exp(x - x.max(1)[:, None])) / np.fmax(e.sum(1)[:, None], 1),
    "a part": lambda np, x: (x - x.max(1)[:, None])[:, :3],
}


def _shares(np, x, level, axis):
    e = np.exp(x - level)
    return e / e.sum(axis, keepdims=True)


@pytest.mark.parametrize("name", READ_OTHERWISE)
def test_what_else_reads_a_level_has_the_look_for_it(name: str) -> None:
    x = np.random.default_rng(0).standard_normal((80, 80)).astype(np.float32)
    x[3, 5] = np.nan
    function = jx.jit(lambda x: READ_OTHERWISE[name](jnp, x))
    np.testing.assert_allclose(function(x), READ_OTHERWISE[name](np, x), rtol=1e-4)
    assert looks(function, x)
