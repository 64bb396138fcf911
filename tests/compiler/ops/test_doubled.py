"""Functions of float32 that are computed in float64 are as near to the exact results as rounding lets them be."""

from __future__ import annotations

import math
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import Phase, given, settings

import jitscope as jx
import jitscope.numpy as jnp
from benchmarks.ulps import FUNCTIONS, numbers, worst
from jitscope.ops.elementwise.double import angles
from jitscope.xla.cpu_tuning import IN_DOUBLE, LGAMMA_IN_DOUBLE, POWERS_IN_DOUBLE, REMAINDERS_IN_DOUBLE
from tests.compiler.with_rules import with_and_without
from tests.extent import examples


pytestmark = pytest.mark.skipif(not IN_DOUBLE.holds(), reason="the rule holds with releases it was measured with")
RULES = [IN_DOUBLE, LGAMMA_IN_DOUBLE, POWERS_IN_DOUBLE, REMAINDERS_IN_DOUBLE]
SIZE = IN_DOUBLE.value
_POWERS = ("x ** y", "x ** 2.2", "x ** -2.0")
SPECIAL = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 2, -0.5, 3e38, -1e-30, 2.0**-14, 1e5], np.float32)


LONG = REMAINDERS_IN_DOUBLE.value


def size_of(name: str) -> int:
    return POWERS_IN_DOUBLE.value if name in _POWERS else SIZE


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(max_examples=examples(3), phases=[Phase.explicit, Phase.generate])
@given(seed=st.integers(0, 2**31))
def test_results_are_nearer_than_those_of_xla(name: str, seed: int) -> None:
    columns = [numbers(size_of(name), seed + i) for i in range(FUNCTIONS[name][2])]
    size = min(map(len, columns))
    ours, own = (worst(name, tuple(x[:size] for x in columns), off) for off in (False, True))
    assert ours <= 0.501 and ours <= own + 1e-3


@pytest.mark.parametrize("name", FUNCTIONS)
def test_special_numbers_are_those_of_xla(name: str) -> None:
    function, _, operands = FUNCTIONS[name]
    xs = [np.resize(np.repeat(SPECIAL, 1 if i == 0 else SPECIAL.size), size_of(name)) for i in range(operands)]
    (got,), (own,), differ = with_and_without(RULES, function, *xs)
    assert differ
    np.testing.assert_array_max_ulp(
        np.where(np.isnan(own), 0, got), np.where(np.isnan(own), 0, own), 2
    )  # own atan of 0.12 is 2 off
    np.testing.assert_array_equal(np.isnan(got), np.isnan(own))
    np.testing.assert_array_equal(np.signbit(got[got == 0]), np.signbit(own[got == 0]))


@pytest.mark.parametrize("shape", [(LONG,), (-1, 64)])
@settings(max_examples=examples(5), phases=[Phase.explicit, Phase.generate])
@given(seed=st.integers(0, 2**31))
def test_remainders_are_exact(shape: tuple[int, ...], seed: int) -> None:
    random = np.random.default_rng(seed)
    x = random.uniform(-1e6, 1e6, LONG).astype(np.float32)
    y = (x * random.uniform(2.0**-24, 2, LONG)).astype(np.float32)
    y[::7] = x[::7] / random.integers(1, 100, y[::7].size).astype(np.float32)
    x[1::7] = y[1::7] * random.integers(1, 100, x[1::7].size).astype(np.float32)
    (got,), (own,), differ = with_and_without(RULES, jx.lax.rem, x.reshape(shape), y.reshape(shape))
    assert differ
    np.testing.assert_array_equal(got, np.fmod(x, y).reshape(shape))
    np.testing.assert_array_equal(np.signbit(got), np.signbit(own))


def test_remainders_of_any_numbers_are_those_of_xla() -> None:
    x, y = (numbers(LONG, seed)[:LONG] for seed in range(2))
    x[: SPECIAL.size**2], y[: SPECIAL.size**2] = np.repeat(SPECIAL, SPECIAL.size), np.tile(SPECIAL, SPECIAL.size)
    (got,), (own,), differ = with_and_without(RULES, jx.lax.rem, x, y)
    assert differ
    np.testing.assert_array_equal(got, own)


@pytest.mark.parametrize("least", [2.0**-149, 2.0**-130, 2.0**-127])
def test_operands_below_the_least_normal_number(least: float) -> None:
    x = np.resize(np.array([least, -least], np.float32), LONG)
    functions = ((jnp.cbrt, np.cbrt), (lambda x: jnp.abs(x) ** 0.3, lambda x: np.abs(x) ** np.float64(np.float32(0.3))))
    of_gamma = np.vectorize(math.lgamma)
    for function, exact in (*functions, (jnp.arcsin, np.arcsin), (jnp.arccos, np.arccos), (jx.lax.lgamma, of_gamma)):
        (got,), _, differ = with_and_without(RULES, function, x)
        assert differ
        np.testing.assert_array_equal(got, exact(x.astype(np.float64)).astype(np.float32))
    (got,), _, _ = with_and_without(RULES, jx.lax.rem, x, np.ones_like(x))
    np.testing.assert_array_equal(got, x)


def test_the_logarithm_of_gamma_has_all_digits_near_its_zeros() -> None:
    steps = np.array([1, 2, 3, 100, 10_000], np.float32) * np.float32(2.0**-23)
    near = [one + sign * steps for one in (1, 2) for sign in (-1, 1)]
    x = np.concatenate([*near, np.linspace(-20.01, 40, 999), np.geomspace(1e-30, 1e36, 200)]).astype(np.float32)
    got = np.asarray(jx.jit(jx.lax.lgamma)(x)).astype(np.float64)
    exact = np.array([math.lgamma(float(v)) for v in x])
    assert np.all(np.abs(got - exact) <= 0.501 * np.spacing(np.abs(exact).astype(np.float32)) + 4e-14)
    poles = np.array([0.0, -0.0, -1, -7, -1e30, np.inf, -np.inf, 1, 2, np.nan], np.float32)
    np.testing.assert_array_equal(jx.jit(jx.lax.lgamma)(poles), [np.inf] * 7 + [0, 0, np.nan])


def test_the_digits_are_those_of_two_over_pi() -> None:
    bits = 300

    def arctan_of_inverse(n: int) -> int:  # Machin: π / 4 = 4 atan(1 / 5) - atan(1 / 239)
        term, total, k = (1 << bits) // n, 0, 1
        while term:
            total, term, k = total + (term // k if k % 4 == 1 else -(term // k)), term // (n * n), k + 2
        return total

    pi = 4 * (4 * arctan_of_inverse(5) - arctan_of_inverse(239))
    assert int(Fraction(2 << bits, pi) * 2**224) == angles._TWO_OVER_PI
    parts, left = angles._parts()
    assert sum(map(Fraction, parts)) == Fraction(angles._TWO_OVER_PI, 1 << 224)
    assert all(p == math.ldexp(round(math.ldexp(p, 28 * (k + 1))), -28 * (k + 1)) for k, p in enumerate(parts))
    assert left[0] == 2 / math.pi


def test_derivatives_maps_and_other_dtypes() -> None:
    x = np.linspace(-3, 3, SIZE, dtype=np.float32)
    (got,), (own,), differ = with_and_without([IN_DOUBLE], jx.grad(lambda x: jnp.sum(jnp.sin(x) * jnp.arctan(x))), x)
    assert differ
    np.testing.assert_allclose(got, own, rtol=1e-5, atol=1e-6)
    (got,), (own,), differ = with_and_without([IN_DOUBLE], jx.vmap(jnp.sin), x.reshape(128, -1))
    assert differ
    np.testing.assert_array_max_ulp(got, own, 1)
    for other in (x[1:], x.astype(np.float16), x.astype(np.complex64), x.astype(np.int32)):
        assert not with_and_without([IN_DOUBLE], lambda x: jnp.sin(x[: SIZE - 1]), other)[2]
    assert not with_and_without([IN_DOUBLE], lambda x: (x**2.0, x**0.5, x**3.0, x**3), np.abs(x))[2]


@pytest.mark.parametrize("dtype", [jnp.bfloat16, np.float16, np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("exponent", [0.5, -0.5, 2.5, 3])
def test_a_constant_exponent_of_any_dtype(dtype: np.dtype, exponent: float) -> None:
    xs = np.array([0.25, 1, 4], dtype)
    with jx.enable_x64(True):
        got = jx.jit(lambda x: x ** jnp.asarray(exponent, dtype))(xs)
    assert got.dtype == xs.dtype
    np.testing.assert_allclose(np.asarray(got, complex), np.asarray(xs, complex) ** exponent, rtol=1e-2)


_ONE = "sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh arctanh exp expm1 log1p cbrt floor sign"
_TWO = "power arctan2 fmod remainder hypot logaddexp maximum floor_divide"


@pytest.mark.parametrize("dtype", [jnp.bfloat16, np.float16, np.float32])
def test_large_arrays_have_what_small_ones_have(dtype: type) -> None:
    def everything(x: jx.Array, y: jx.Array) -> dict[str, jx.Array]:
        found = {name: getattr(jnp, name)(x) for name in _ONE.split()}
        found |= {name: getattr(jnp, name)(x, y) for name in _TWO.split()}
        found |= {name: getattr(jx.lax, name)(x) for name in ("erf", "erf_inv", "lgamma", "digamma", "logistic")}
        return found | {"slope of sinh": jx.vmap(jx.grad(jnp.sinh))(x), "slope of cosh": jx.vmap(jx.grad(jnp.cosh))(x)}

    random = np.random.default_rng(0)
    x, y = (random.uniform(-0.99, 0.99, 4 * max(LONG, SIZE)).astype(dtype) for _ in range(2))
    large, small = (jx.jit(everything)(x[:n], y[:n]) for n in (x.size, 60))
    for name, seen in large.items():
        got, want = (np.asarray(v).astype(np.float32)[:60] for v in (seen, small[name]))
        np.testing.assert_allclose(got, want, rtol=4 * float(jnp.finfo(dtype).eps), atol=1e-6, err_msg=name)
