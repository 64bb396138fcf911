"""nn against NumPy and SciPy, finite differences, and transformations of it."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy.special

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax, nn
from tests.compiling import once


SIMPLE = (
    "celu elu gelu hard_sigmoid hard_silu hard_tanh identity leaky_relu log_sigmoid mish relu relu6 selu sigmoid silu soft_sign "
    "softplus sparse_plus sparse_sigmoid squareplus tanh"
).split()


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def close(found, wanted, tolerance=1e-5):
    np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=tolerance, atol=tolerance)


# What JAX answers ----------------------------------------------------------------------------------------------------


# Against formulas ----------------------------------------------------------------------------------------------------


def test_activations_are_their_formulas():
    x = np.linspace(-4, 4, 41).astype(np.float32)
    wide = x.astype(np.float64)
    expected = {
        "sigmoid": scipy.special.expit(wide), "softplus": np.logaddexp(wide, 0), "log_sigmoid": scipy.special.log_expit(wide),
        "silu": wide * scipy.special.expit(wide), "elu": np.where(wide > 0, wide, np.expm1(wide)), "relu6": np.clip(wide, 0, 6),
        "mish": wide * np.tanh(np.logaddexp(wide, 0)), "soft_sign": wide / (1 + abs(wide)), "hard_tanh": np.clip(wide, -1, 1),
    }  # fmt: skip
    for name, wanted in expected.items():
        close(getattr(nn, name)(x), wanted)
    close(nn.gelu(x, approximate=False), wide * scipy.special.ndtr(wide))
    close(nn.gelu(x), wide * scipy.special.ndtr(wide), 1e-3)


def test_normalizing_functions_are_scipys():
    x, weights = draw(3, 4), abs(draw(3, 4, seed=1))
    close(nn.softmax(x, 0), scipy.special.softmax(x, 0))
    close(nn.log_softmax(x), scipy.special.log_softmax(x, 1))
    close(nn.logsumexp(x, 1, b=weights), scipy.special.logsumexp(x, 1, b=weights))
    close(nn.logmeanexp(x), np.log(np.mean(np.exp(x))))
    close(nn.standardize(x), (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5), 1e-4)


def test_no_overflow_at_extremes():
    far = np.array([-1e4, 0, 1e4, 3e38], np.float32)
    functions = (nn.softplus, nn.sigmoid, nn.log_sigmoid, nn.elu, nn.selu, nn.celu, nn.silu, nn.mish, nn.log_softmax, nn.softmax, nn.logsumexp)  # fmt: skip
    slopes = once(lambda x: [jx.vjp(f, x)[1](f(x)[()] * 0 + 1)[0] for f in functions])(far)
    for f, slope in zip(functions, slopes):
        assert np.isfinite(np.asarray(slope)).all(), f


def test_derivative_at_the_corners():
    assert [float(jx.grad(nn.relu)(v)) for v in (-1.0, 0.0, 2.0)] == [0, 0, 1]
    assert [float(jx.grad(nn.relu6)(v)) for v in (0.0, 3.0, 6.0)] == [0, 1, 0]
    assert float(jx.jvp(nn.relu, (0.0,), (5.0,))[1]) == 0


@pytest.mark.parametrize(
    "name",
    ["softmax", "log_softmax", "logsumexp", "logmeanexp", "standardize", "gelu", "mish", "log1mexp", "squareplus"],
)
def test_derivatives_to_second_order(name):
    with jx.enable_x64():
        fun = lambda x: jnp.sum(jnp.sin(getattr(nn, name)(x)))
        x, t, step = abs(draw(5).astype(np.float64)) + 0.2, draw(5, seed=1).astype(np.float64), 1e-5
        slope = (fun(x + step * t) - fun(x - step * t)) / (2 * step)
        close(jnp.vdot(jx.grad(fun)(x), t), slope, 1e-7)
        close(jx.jvp(fun, (x,), (t,))[1], slope, 1e-7)
        bend = (jx.grad(fun)(x + step * t) - jx.grad(fun)(x - step * t)) / (2 * step)
        close(jx.jvp(jx.grad(fun), (x,), (t,))[1], bend, 1e-6)
        close(jx.grad(lambda x: jnp.vdot(jx.grad(fun)(x), t))(x), bend, 1e-6)


# Attention -----------------------------------------------------------------------------------------------------------


def attention(query, key, value, allowed, bias=0.0):
    """One head at a time, in float64."""
    out = np.zeros(query.shape)
    for b in range(query.shape[0]):
        for n in range(query.shape[2]):
            own = n // (query.shape[2] // key.shape[2])
            logits = query[b, :, n].astype(float) @ key[b, :, own].T / np.sqrt(query.shape[3]) + bias
            out[b, :, n] = scipy.special.softmax(np.where(allowed, logits, -1e30), -1) @ value[b, :, own]
    return out


def test_attention_is_its_definition():
    query, key, value = draw(2, 5, 6, 8), draw(2, 7, 2, 8, seed=1), draw(2, 7, 2, 8, seed=2)
    at, of = np.arange(5)[:, None], np.arange(7)
    run = nn.dot_product_attention
    close(run(query, key, value), attention(query, key, value, True))
    close(run(query, key, value, is_causal=True), attention(query, key, value, of <= at))
    near = (of >= at - 2) & (of <= at + 1)
    close(run(query, key, value, local_window_size=(2, 1)), attention(query, key, value, near))
    bias = draw(1, 1, 5, 7, seed=3)
    close(run(query, key, value, bias, (of != 3)[None, None]), attention(query, key, value, of != 3, bias[0, 0]))


def test_attention_in_64_bits_is_exact():
    with jx.enable_x64():
        query, key, value = (draw(1, 3, 2, 4, seed=i).astype(np.float64) for i in range(3))
        close(nn.dot_product_attention(query, key, value), attention(query, key, value, True), 1e-13)


@pytest.mark.parametrize("dtype", [jnp.float16, jnp.bfloat16])
def test_attention_in_half_precision(dtype):
    """Logits and softmax are float32, so only operands and result are rounded."""
    half = [jnp.asarray(draw(1, 6, 2, 16, seed=i), dtype) for i in range(3)]
    wide = [np.asarray(x).astype(np.float32) for x in half]
    found, sums = once(lambda *x: nn.dot_product_attention(*x, is_causal=True, return_residual=True))(*half)
    out, wanted = nn.dot_product_attention(*wide, is_causal=True, return_residual=True)
    assert found.dtype == sums.dtype == dtype
    close(np.asarray(found).astype(np.float32), out, 2e-2)
    close(np.asarray(sums).astype(np.float32), wanted, 2e-2)


def test_attention_inside_transformations():
    query, key, value = draw(3, 4, 2, 8), draw(3, 5, 2, 8, seed=1), draw(3, 5, 2, 8, seed=2)
    whole = nn.dot_product_attention(query, key, value, is_causal=True)
    each = once(jx.vmap(lambda *x: nn.dot_product_attention(*x, is_causal=True)))(query, key, value)
    close(each, whole)
    _, turns = lax.scan(lambda c, x: (c, nn.dot_product_attention(*x, is_causal=True)), 0, (query, key, value))
    close(turns, whole)
    loss = lambda q: jnp.sum(jx.checkpoint(nn.dot_product_attention)(q, key, value) ** 2)
    close(jx.grad(loss)(query), jx.grad(lambda q: jnp.sum(nn.dot_product_attention(q, key, value) ** 2))(query), 1e-4)


def test_attention_says_what_does_not_fit():
    x = np.ones((2, 3, 4, 5), np.float32)
    with pytest.raises(ValueError, match=r"key f32\[2,3,4,5\]"):
        nn.dot_product_attention(x[:1], x, x)
    with pytest.raises(ValueError, match="use bias"):
        nn.dot_product_attention(x, x, x, mask=x)
    with pytest.raises(ValueError, match=r"does not broadcast to \(2, 4, 3, 3\)"):
        nn.dot_product_attention(x, x, x, bias=x)
    with pytest.raises(NotImplementedError, match="GPU"):
        nn.dot_product_attention(x, x, x, implementation="cudnn")


# Classes -------------------------------------------------------------------------------------------------------------


def test_one_hot_of_narrow_integers():
    x = np.array([3, 250], np.uint8)
    assert (np.asarray(nn.one_hot(x, 300)) == np.eye(300)[x]).all()  # class numbers do not wrap round


def test_normalizing_booleans():
    close(nn.softmax(np.array([True, False])), scipy.special.softmax([1, 0]))
    close(nn.log_softmax(np.array([True, False])), scipy.special.log_softmax([1.0, 0.0]))


def test_one_hot_warns_of_floats():
    with pytest.warns(DeprecationWarning, match="float32"):
        found = nn.one_hot(np.array([1.0, 0.5], np.float32), 2)
    assert found.tolist() == [[0, 1], [0, 0]]


# Scaled products -----------------------------------------------------------------------------------------------------


def quantized(x, mode, first=np.float32):
    """[..., K] as the numbers its quantized form stands for, in NumPy; they are rounded to the dtype `first` first."""
    size, most = (32, 448.0) if mode == "mxfp8" else (16, 6.0)
    blocks = x.reshape(*x.shape[:-1], -1, size).astype(np.float32)
    scales = abs(blocks).max(-1, keepdims=True) / most
    if mode == "mxfp8":
        scales = (2.0 ** np.ceil(np.log2(scales))).astype(np.float32)
        narrow = jnp.float8_e4m3fn.dtype
    else:
        scales = scales.astype(jnp.float8_e4m3fn.dtype).astype(np.float32)
        narrow = jnp.float4_e2m1fn.dtype
    numbers = np.clip(blocks / scales, -most, most).astype(first).astype(narrow).astype(np.float32)
    return (numbers * scales).reshape(x.shape)


def away_from_ties(x, mode):
    """With 0 for what XLA, depending on its options, rounds up or down: some of them lead through float16."""
    return np.where(quantized(x, mode) == quantized(x, mode, np.float16), x, 0).astype(np.float32)


@pytest.mark.parametrize("mode", ["mxfp8", "nvfp4"])
def test_scaled_dot_general_quantizes(mode):
    lhs, rhs = (away_from_ties(x, mode) for x in (draw(2, 32, 64) * 3, draw(2, 32, 64, seed=1)))
    configs = [nn.get_scaled_dot_general_config(mode)] * 3
    run = lambda a, b: nn.scaled_dot_general(a, b, (((2,), (2,)), ((0,), (0,))), configs=configs)
    product = np.einsum("bmk,bnk->bmn", quantized(lhs, mode), quantized(rhs, mode))
    close(run(lhs, rhs), product, 1e-4)
    close(once(run)(lhs, rhs), product, 1e-4)
    ct = draw(2, 32, 32, seed=2)
    for_left, for_right = jx.vjp(run, lhs, rhs)[1](ct)
    scaled = mode == "mxfp8"
    g, gt = (quantized(y, mode) if scaled else y for y in (ct, np.swapaxes(ct, 1, 2).copy()))
    right, left = (quantized(np.swapaxes(y, 1, 2).copy(), mode) if scaled else np.swapaxes(y, 1, 2) for y in (rhs, lhs))
    close(for_left, np.einsum("bmn,bkn->bmk", g, right), 2e-4)
    close(for_right, np.einsum("bnm,bkm->bnk", gt, left), 2e-4)


def test_scaled_dot_general_with_axes_in_any_order():
    lhs, rhs = draw(4, 32, 8), draw(32, 8, 32, seed=1)
    configs = [nn.get_scaled_dot_general_config("mxfp8")] * 3
    dims = (((2, 1), (1, 0)), ((), ()))
    run = lambda a, b: nn.scaled_dot_general(a, b, dims, configs=configs)
    exact = lambda a, b: lax.dot_general(a, b, dims)
    assert run(lhs, rhs).shape == (4, 32)
    close(run(lhs, rhs), exact(lhs, rhs), 2.0)
    lhs = np.repeat(lhs, 8, 0)  # gradients sum over what must be a multiple of the block, too
    ct = draw(32, 32, seed=3)
    for found, wanted in zip(jx.vjp(run, lhs, rhs)[1](ct), jx.vjp(exact, lhs, rhs)[1](ct)):
        error = np.asarray(found) - np.asarray(wanted)
        assert np.sqrt(np.mean(error**2)) < 0.05 * np.std(np.asarray(wanted))


def test_scaled_dot_general_without_configurations_is_dot_general():
    lhs, rhs = draw(3, 4), draw(4, 5, seed=1)
    close(nn.scaled_dot_general(lhs, rhs, (((1,), (0,)), ((), ()))), lhs @ rhs)
    with pytest.warns(DeprecationWarning, match="ignored"):
        nn.scaled_dot_general(lhs, rhs, (((1,), (0,)), ((), ())), implementation="cudnn")


def test_scaled_matmul_scales_blocks():
    lhs, rhs = draw(2, 3, 8), draw(2, 5, 8, seed=1)
    left, right = abs(draw(2, 3, 4, seed=2)), abs(draw(2, 5, 4, seed=3))
    wanted = np.einsum("bmk,bnk->bmn", lhs * left.repeat(2, 2), rhs * right.repeat(2, 2))
    close(nn.scaled_matmul(lhs, rhs, left, right), wanted)
    assert nn.scaled_matmul(lhs, rhs, left, right, jnp.bfloat16).dtype == jnp.bfloat16
    with pytest.raises(ValueError, match="block size"):
        nn.scaled_dot_general(
            lhs, rhs, (((2,), (2,)), ((0,), (0,))), configs=[nn.get_scaled_dot_general_config("nvfp4")] * 3
        )


# The room ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SIMPLE)
def test_functions_record_equations_inside_a_trace(name):
    """No nested program, and no more equations than the formula needs."""
    closed = jx.make_jaxpr(getattr(nn, name))(np.ones(3, np.float32))
    assert len(closed.jaxpr.eqns) <= 16


def test_rooms_are_loaded_when_first_used():
    code = (
        "import sys, jitscope, jitscope.numpy; names = ('nn', 'image', 'segment', 'nn.initializers')\n"
        "assert not any('jitscope.' + n in sys.modules for n in names)\n"
        "jitscope.nn.relu; assert 'jitscope.nn.initializers' not in sys.modules\n"
        "jitscope.nn.initializers.zeros; jitscope.image.resize; jitscope.ops.segment_sum"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
