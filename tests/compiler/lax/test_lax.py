"""`jitscope.lax`: the façade gives each operation under JAX's name, eager and compiled, and refuses to convert."""

import functools
import math

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.core.primitive import Primitive
from jitscope.eager import running
from jitscope.lax.primitives import PRIMITIVES


X = np.linspace(0.1, 0.9, 6, dtype=np.float32).reshape(2, 3)
Y = X[::-1] + np.float32(0.5)
N = np.array([[5, 3, -8], [0, 7, 2]], np.int32)

ONE = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "atanh": np.arctanh,
    "sqrt": np.sqrt,
    "cbrt": np.cbrt,
    "square": np.square,
    "neg": np.negative,
    "sign": np.sign,
    "floor": np.floor,
    "ceil": np.ceil,
    "is_finite": np.isfinite,
    "abs": np.abs,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "logistic": lambda x: 1 / (1 + np.exp(-x)),
    "reciprocal": lambda x: 1 / x,
    "erf": np.vectorize(math.erf),
    "erfc": np.vectorize(math.erfc),
    "lgamma": np.vectorize(math.lgamma),
}
TWO = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "rem": np.fmod,
    "max": np.maximum,
    "min": np.minimum,
    "atan2": np.arctan2,
    "pow": np.power,
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
BITS = {"bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor}
FULL = {
    "reduce_sum": (lambda x: lax.reduce_sum(x, (1,)), lambda x: x.sum(1)),
    "reduce_prod": (lambda x: lax.reduce_prod(x, (0,)), lambda x: x.prod(0)),
    "reduce_max": (lambda x: lax.reduce_max(x, (0, 1)), np.max),
    "reduce_min": (lambda x: lax.reduce_min(x, (1, 0)), np.min),
    "argmax": (lambda x: lax.argmax(x, 1, np.int32), lambda x: x.argmax(1)),
    "argmin": (lambda x: lax.argmin(x, 0, np.int32), lambda x: x.argmin(0)),
    "cumsum": (lambda x: lax.cumsum(x, axis=1), lambda x: x.cumsum(-1)),
    "cumprod": (lambda x: lax.cumprod(x, 1, reverse=True), lambda x: x[:, ::-1].cumprod(1)[:, ::-1]),
    "cummax": (lambda x: lax.cummax(x, 0), lambda x: np.maximum.accumulate(x, 0)),
    "cummin": (lambda x: lax.cummin(x, 0), lambda x: np.minimum.accumulate(x, 0)),
    "clamp": (lambda x: lax.clamp(0.3, x, 0.6), lambda x: np.clip(x, 0.3, 0.6)),
    "select": (lambda x: lax.select(x > 0.5, x, -x), lambda x: np.where(x > 0.5, x, -x)),
    "select_n": (lambda x: lax.select_n(jnp.asarray(N % 3), x, x + 1, x + 2), lambda x: x + N % 3),
    "round": (lambda x: lax.round(x * 10, 1), lambda x: np.round(x * 10)),
    "integer_pow": (lambda x: lax.integer_pow(x, -3), lambda x: x**-3.0),
    "broadcast": (lambda x: lax.broadcast(x, (2,)), lambda x: np.stack([x, x])),
    "reshape": (lambda x: lax.reshape(x, (3, 2), (1, 0)), lambda x: x.T.reshape(3, 2)),
    "collapse": (lambda x: lax.collapse(x, 0, 2), np.ravel),
    "transpose": (lambda x: lax.transpose(x, (1, 0)), np.transpose),
    "expand_dims": (lambda x: lax.expand_dims(x, (0, -1)), lambda x: x[None, :, :, None]),
    "squeeze": (lambda x: lax.squeeze(x[None], (0,)), lambda x: x),
    "rev": (lambda x: lax.rev(x, (1,)), lambda x: x[:, ::-1]),
    "concatenate": (lambda x: lax.concatenate([x, x], 1), lambda x: np.concatenate([x, x], 1)),
    "pad": (lambda x: lax.pad(x, 0.0, [(1, 0, 0), (-1, 2, 0)]), lambda x: np.pad(x[:, 1:], [(1, 0), (0, 2)])),
    "full_like": (lambda x: lax.full_like(x, 3), lambda x: np.full_like(x, 3)),
    "iota": (lambda x: lax.iota(np.int32, 4), lambda x: np.arange(4)),
    "slice": (lambda x: lax.slice(x, (0, 1), (2, 3)), lambda x: x[0:2, 1:3]),
    "slice_in_dim": (lambda x: lax.slice_in_dim(x, -2, None, axis=1), lambda x: x[:, -2:]),
    "index_in_dim": (lambda x: lax.index_in_dim(x, -1, 0, keepdims=False), lambda x: x[-1]),
    "dynamic_slice": (lambda x: lax.dynamic_slice(x, (0, jnp.int32(1)), (1, 2)), lambda x: x[:1, 1:]),
    "dynamic_index_in_dim": (lambda x: lax.dynamic_index_in_dim(x, 1, 1, False), lambda x: x[:, 1]),
    "dynamic_update_slice": (lambda x: lax.dynamic_update_slice(x, x[:1, :1], (1, -1)),
                             lambda x: np.array([[*x[0]], [*x[1, :2], x[0, 0]]])),
    "dynamic_update_index_in_dim": (lambda x: lax.dynamic_update_index_in_dim(x, x[0], 1, 0), lambda x: x[[0, 0]]),
    "dot": (lambda x: lax.dot(x, x.T), lambda x: x @ x.T),
    "batch_matmul": (lambda x: lax.batch_matmul(x[None], x.T[None]), lambda x: (x @ x.T)[None]),
    "sort": (lambda x: lax.sort(-x, 1), lambda x: np.sort(-x, 1)),
    "sort_key_val": (lambda x: lax.sort_key_val(-x, x)[1], lambda x: x[:, ::-1]),
    "top_k": (lambda x: lax.top_k(x, 2)[0], lambda x: -np.sort(-x, 1)[:, :2]),
    "convert_element_type": (lambda x: lax.convert_element_type(x * 10, int), lambda x: (x * 10).astype(int)),
}  # fmt: skip


@pytest.mark.parametrize("wrap", [lambda f: f, jx.jit], ids=["eager", "jit"])
def test_elementwise_functions(wrap) -> None:
    def all_of(x, y, n):
        ones = {name: getattr(lax, name)(x) for name in ONE}
        return ones, {name: getattr(lax, name)(x, y) for name in TWO}, {name: getattr(lax, name)(n, 6) for name in BITS}

    ones, twos, bits = wrap(all_of)(jnp.asarray(X), jnp.asarray(Y), jnp.asarray(N))
    for name, oracle in ONE.items():
        np.testing.assert_allclose(ones[name], oracle(X), rtol=3e-6, atol=3e-6, err_msg=name)
    for name, oracle in TWO.items():
        np.testing.assert_allclose(twos[name], oracle(X, Y), rtol=3e-6, err_msg=name)
    for name, oracle in BITS.items():
        np.testing.assert_array_equal(bits[name], oracle(N, 6), err_msg=name)


def test_functions_with_parameters() -> None:
    eager = {name: function(jnp.asarray(X)) for name, (function, _) in FULL.items()}
    compiled = jx.jit(lambda x: {name: function(x) for name, (function, _) in FULL.items()})(jnp.asarray(X))
    for name, (_, oracle) in FULL.items():
        np.testing.assert_allclose(eager[name], oracle(X), rtol=3e-6, atol=1e-6, err_msg=name)
        np.testing.assert_allclose(compiled[name], oracle(X), rtol=3e-6, atol=1e-6, err_msg=name)


def test_nothing_is_promoted() -> None:
    x, n = jnp.asarray(X), jnp.asarray(N)
    assert lax.add(x, 1.0).dtype == jnp.float32
    for number, other in ((1.5, n), (1, x), (1.5, x.astype(jnp.bfloat16)), (1, n.astype("int8")), (1, 2.0)):
        with pytest.raises(TypeError, match=r"one dtype.*the number 1.*promotes nothing"):
            lax.add(other, number)
    with pytest.raises(TypeError, match=r"one dtype.*f32\[2,3\], i32\[2,3\]"):
        lax.mul(x, n)
    with pytest.raises(TypeError, match="all have one shape"):
        lax.select(x > 0, x, 0.0)
    with pytest.raises(TypeError, match="neither a scalar nor of the shape"):
        lax.clamp(x[:1], x, 1.0)
    with pytest.raises(TypeError, match="integers of one dtype"):
        lax.dynamic_slice(x, (jnp.int8(0), 1), (1, 1))
    with pytest.raises(TypeError, match=r"one shape.*f32\[2,3\] and f32\[3\]"):
        lax.add(x, x[0])


def test_stop_gradient_takes_trees() -> None:
    def f(x):
        held = lax.stop_gradient({"a": x, "n": jnp.arange(2)})
        return (held["a"] * x).sum()

    np.testing.assert_allclose(jx.grad(f)(jnp.asarray(X)), X)


def test_scatter_and_gather() -> None:
    numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
    out = lax.scatter_add(jnp.zeros(3), jnp.array([[1], [1]]), jnp.array([2.0, 3.0]), numbers)
    np.testing.assert_array_equal(out, [0, 5, 0])
    rows = lax.GatherDimensionNumbers((1,), (0,), (0,))
    np.testing.assert_array_equal(lax.gather(jnp.asarray(X), jnp.array([[1], [0]]), rows, (1, 3)), X[[1, 0]])


def test_an_integer_constant_divided_by_zero_is_no_end_of_the_process() -> None:
    five, zero = np.int32(5), np.int32(0)
    assert jx.jit(lambda: (lax.div(five, zero), lax.rem(five, zero)))() == (-1, 5)
    np.testing.assert_array_equal(jx.jit(lambda n: lax.div(np.int32(7), n * 0))(jnp.arange(3)), [-1, -1, -1])
    np.testing.assert_array_equal(jx.jit(lambda n: lax.div(n, np.int32(3)))(jnp.arange(7)), np.arange(7) // 3)


def test_primitives_are_found_by_the_names_jax_has() -> None:
    assert len(PRIMITIVES) > 130
    for name in PRIMITIVES:
        assert isinstance(getattr(lax, name), Primitive), name
    assert jx.make_jaxpr(lambda x: x + 1)(2.0).jaxpr.eqns[0].primitive is lax.add_p
    with pytest.raises(AttributeError, match="no attribute 'nothing_p'"):
        lax.nothing_p  # noqa: B018


def test_axes_are_broadcast_in_any_order() -> None:
    x = jnp.asarray(X)
    np.testing.assert_array_equal(lax.broadcast_in_dim(x, (3, 4, 2), (2, 0)), np.broadcast_to(X.T[:, None], (3, 4, 2)))
    slope = jx.grad(lambda x: (lax.broadcast_in_dim(x, (3, 2), (1, 0)) ** 2).sum())(x)
    np.testing.assert_allclose(slope, 2 * X)
    with pytest.raises(TypeError, match="one axis each"):
        lax.broadcast_in_dim(x, (3, 2), (1, 1))


def test_axes_of_size_one_are_repeated() -> None:
    x = jnp.asarray(X)
    np.testing.assert_array_equal(lax.add(x[:, :1], x[:1]), X[:, :1] + X[:1])
    np.testing.assert_array_equal(lax.lt(x[:, :1], x), X[:, :1] < X)
    slopes = jx.grad(lambda a, b: lax.mul(a, b).sum(), (0, 1))(x[:, :1], x[:1])
    np.testing.assert_allclose(slopes[0], np.full((2, 1), X[0].sum()), rtol=1e-6)


@pytest.mark.parametrize(
    ("start", "allowed", "rows"),
    [(-2, True, [4, 5]), (np.int32(-2), True, [4, 5]), (np.int32(-9), True, [0, 1]), (np.int32(-2), False, [0, 1])],
)
def test_negative_starts_count_from_the_end(start, allowed, rows) -> None:
    x = jnp.arange(6)
    start = jnp.asarray(start) if isinstance(start, np.int32) else start  # known only when running
    cut = lambda start: lax.dynamic_slice(x, (start,), (2,), allow_negative_indices=allowed)
    np.testing.assert_array_equal(cut(start), rows)
    np.testing.assert_array_equal(jx.jit(cut)(start), rows)
    put = lax.dynamic_update_slice(x, x[:2] - 10, (start,), allow_negative_indices=allowed)
    np.testing.assert_array_equal(np.flatnonzero(np.asarray(put) < 0), rows)


@pytest.mark.parametrize(
    "precision", ["F16_F16_F16", lax.DotAlgorithmPreset.BF16_BF16_F32_X3, "F32_F32_F32", "DEFAULT"]
)
def test_algorithms_of_products_say_in_what_types_they_compute(precision) -> None:
    x = jnp.asarray(X)
    out = lax.dot(x, x.T, precision=precision)
    assert out.dtype == jnp.float32
    np.testing.assert_allclose(out, X @ X.T, rtol=1e-3)
    slope = jx.grad(lambda x: lax.dot(x, x.T, precision=precision).sum())(x)
    np.testing.assert_allclose(slope, 2 * np.broadcast_to(X.sum(0), X.shape), rtol=1e-3)


def test_an_algorithm_the_device_lacks_is_refused() -> None:
    for precision in ("TF32_TF32_F32", lax.DotAlgorithm(np.float32, np.float32, np.float32)):
        with pytest.raises(ValueError, match="is not available on the CPU"):
            lax.dot(X, X.T, precision=precision)
    with pytest.raises(ValueError, match="precision is None, a Precision"):
        lax.dot(X, X.T, precision="exact")


def test_ragged_products_have_derivatives_in_every_mode() -> None:
    random = np.random.default_rng(5)
    rows, matrices = random.normal(size=(6, 3)), random.normal(size=(3, 3, 2))
    sizes = np.array([2, 0, 3], np.int32)
    group = np.repeat([0, 1, 2, 3], [2, 0, 3, 1])
    dense = lambda x, w: jnp.stack([x[i] @ w[g] if g < 3 else jnp.zeros(2) for i, g in enumerate(group)])
    with jx.enable_x64(True):
        slopes = [jx.grad(lambda x, w, f=f: (f(x, w) ** 3).sum(), (0, 1))(rows, matrices)
                  for f in (lambda x, w: lax.ragged_dot(x, w, sizes), dense)]  # fmt: skip
        for found, wanted in zip(*slopes):
            np.testing.assert_allclose(found, wanted, rtol=1e-9)
        summed = lax.RaggedDotDimensionNumbers((((0,), (0,)), ((), ())), (0,), ())
        by_group = lambda x: (lax.ragged_dot_general(x, rows, sizes, summed) ** 2).sum()
        wanted = lambda x: sum((jnp.dot(x[group == g].T, rows[group == g]) ** 2).sum() for g in range(3))
        np.testing.assert_allclose(jx.grad(by_group)(rows), jx.grad(wanted)(rows), rtol=1e-9)


def test_a_composite_is_one_in_stablehlo() -> None:
    @functools.partial(lax.composite, name="my.scaled", version=2)
    def scaled(x, /, *, by, **_):
        return {"out": x * by}

    attributes = {
        "by": 3,
        "kind": "a",
        "on": True,
        "sizes": (1, 2.5),
        "table": np.ones(2, np.float32),
        "more": {"n": 1},
        "of": np.dtype("float16"),
    }
    assert [e.params["name"] for e in jx.make_jaxpr(lambda x: scaled(x, by=3))(X).jaxpr.eqns] == ["my.scaled"]
    text = jx.jit(lambda x: scaled(x, **attributes)).lower(X).as_text()
    for part in ('stablehlo.composite "my.scaled"', "decomposition = @my.scaled", "of = f16", "by = 3 : i64", 'kind = "a"', "on = true", "sizes = [1, 2.5", "version = 2",
                 "table = dense<1.0", "more = {n = 1"):  # fmt: skip
        assert part in text
    np.testing.assert_allclose(scaled(X, by=3)["out"], 3 * X)
    np.testing.assert_allclose(jx.jit(lambda x: scaled(x, **attributes))(X)["out"], 3 * X)
    with pytest.raises(ValueError, match=r"my\.scaled.*custom_jvp"):
        jx.grad(lambda x: scaled(x, by=3)["out"].sum())(X)
    with pytest.raises(NotImplementedError, match=r"my\.scaled"):
        jx.vmap(lambda x: scaled(x, by=3))(X)
    with pytest.raises(TypeError, match="attribute by"):
        scaled(X, by=1j)
    with pytest.raises(jx.errors.UnexpectedTracerError, match=r"composite 'my\.scaled'"):
        jx.jit(lambda x: scaled(x, by=x[0, 0]))(X)


def test_tokens_go_through_programs() -> None:
    token = jx.jit(lambda t: lax.after_all(t, lax.create_token()))(lax.create_token())
    assert type(token) is type(lax.create_token()) and token.block_until_ready() is token
    carried, _ = lax.scan(lambda t, x: (lax.after_all(t), x), token, jnp.ones(2))
    assert type(carried) is type(token)
    with pytest.raises(TypeError, match="create_token"):
        lax.after_all(1.0)


def test_comparisons_of_numbers_are_weak() -> None:
    weak, strong = jnp.asarray(1.5), jnp.float32(1.5)
    for found in (
        lax.lt(1, 2),
        weak < 1,
        weak == weak,
        lax.is_finite(1.0),
        jnp.isnan(weak),
        ~(weak < 1),
        jnp.logical_not(1),
    ):
        assert found.weak_type and found.dtype == bool
    for found in (weak < strong, strong < 1, (weak < 1) & (weak < 2), jnp.any(weak < 1), (weak < 1) == (weak < 2)):
        assert not found.weak_type and found.dtype == bool
    assert ((weak < 1) + jnp.int8(1)).dtype == jnp.int8 and (weak < 1) * 2 == 0
    assert lax.while_loop(lambda c: c[0], lambda c: (c[1] < 2, c[1] + 1), (True, 0))[1] == 3


def test_limits_of_complex_numbers_go_by_their_parts() -> None:
    z = np.array([1 + 2j, 3 - 1j, 2 + 0j], np.complex64)
    np.testing.assert_array_equal(lax.clamp(1 + 3j, z, 2 + 5j), np.array([1 + 3j, 2 + 5j, 2 + 0j], np.complex64))


def test_uniform_numbers_are_of_numbers() -> None:
    for bounds in ((False, True), (1j, 2j)):  # XLA would end the process
        with pytest.raises(TypeError, match="rng_uniform works on"):
            lax.rng_uniform(*bounds, (2,))


def test_what_is_sunk_stays_in_the_jaxpr() -> None:
    def f(x):
        lax.dce_sink({"a": x * 2})
        return x + 1

    names = [eqn.primitive.name for eqn in jx.make_jaxpr(f)(2.0).jaxpr.eqns]
    assert names == ["mul", "dce_sink", "add"]
    assert jx.jit(f)(2.0) == f(2.0) == 3
    assert jx.grad(f)(2.0) == 1
    np.testing.assert_array_equal(jx.vmap(f)(X), X + 1)


def test_composed_functions_run_as_one_program(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = jx.make_jaxpr(lambda x: lax.conv_general_dilated_patches(x, (2,), (1,), "SAME"))(X[None])
    assert len(shown.jaxpr.eqns) > 1  # while tracing, its equations
    traced, given = [], [jnp.asarray(X[None]) * scale for scale in (1, 2, 3)]
    real = running.trace_to_jaxpr
    monkeypatch.setattr(running, "trace_to_jaxpr", lambda f, a, debug: traced.append(debug.name) or real(f, a, debug))
    for x in given:
        lax.conv_general_dilated_patches(x, (3,), (1,), "SAME")
    assert traced == ["_patches"]
