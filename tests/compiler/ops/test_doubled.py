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
from jitscope.ops.elementwise import double_precision
from jitscope.xla.cpu_tuning import IN_DOUBLE
from tests.compiler.with_rules import with_and_without


pytestmark = pytest.mark.skipif(not IN_DOUBLE.holds(), reason="the rule holds with releases it was measured with")
SIZE = IN_DOUBLE.value
SPECIAL = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 2, -0.5, 3e38, -1e-30, 2.0**-14, 1e5], np.float32)


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(max_examples=3, phases=[Phase.explicit, Phase.generate])
@given(seed=st.integers(0, 2**31))
def test_results_are_nearer_than_those_of_xla(name: str, seed: int) -> None:
    columns = [numbers(SIZE, seed + i) for i in range(FUNCTIONS[name][2])]
    size = min(map(len, columns))
    ours, own = (worst(name, tuple(x[:size] for x in columns), off) for off in (False, True))
    assert ours <= 0.501 and ours <= own + 1e-3


@pytest.mark.parametrize("name", FUNCTIONS)
def test_special_numbers_are_those_of_xla(name: str) -> None:
    function, _, operands = FUNCTIONS[name]
    xs = [np.resize(np.repeat(SPECIAL, 1 if i == 0 else SPECIAL.size), SIZE) for i in range(operands)]
    (got,), (own,), differ = with_and_without([IN_DOUBLE], function, *xs)
    assert differ
    np.testing.assert_array_max_ulp(
        np.where(np.isnan(own), 0, got), np.where(np.isnan(own), 0, own), 2
    )  # own atan of 0.12 is 2 off
    np.testing.assert_array_equal(np.isnan(got), np.isnan(own))
    np.testing.assert_array_equal(np.signbit(got[got == 0]), np.signbit(own[got == 0]))


def test_the_digits_are_those_of_two_over_pi() -> None:
    bits = 300

    def arctan_of_inverse(n: int) -> int:  # Machin: π / 4 = 4 atan(1 / 5) - atan(1 / 239)
        term, total, k = (1 << bits) // n, 0, 1
        while term:
            total, term, k = total + (term // k if k % 4 == 1 else -(term // k)), term // (n * n), k + 2
        return total

    pi = 4 * (4 * arctan_of_inverse(5) - arctan_of_inverse(239))
    assert int(Fraction(2 << bits, pi) * 2**224) == double_precision._TWO_OVER_PI
    parts, left = double_precision._parts()
    assert sum(map(Fraction, parts)) == Fraction(double_precision._TWO_OVER_PI, 1 << 224)
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
    assert not with_and_without([IN_DOUBLE], lambda x: (x**2.0, x**0.5, x**1.3, x**3), np.abs(x))[2]


@pytest.mark.parametrize("dtype", [jnp.bfloat16, np.float16, np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("exponent", [0.5, -0.5, 2.5, 3])
def test_a_constant_exponent_of_any_dtype(dtype: np.dtype, exponent: float) -> None:
    xs = np.array([0.25, 1, 4], dtype)
    with jx.enable_x64(True):
        got = jx.jit(lambda x: x ** jnp.asarray(exponent, dtype))(xs)
    assert got.dtype == xs.dtype
    np.testing.assert_allclose(np.asarray(got, complex), np.asarray(xs, complex) ** exponent, rtol=1e-2)
