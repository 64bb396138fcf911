"""Samplers against SciPy's distributions, at fixed keys, and their derivatives against quantiles that move."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.stats as stats

import jitscope as jx
from jitscope import random
from jitscope.ops import rng
from tests.compiler.programs import steps
from tests.extent import some


N = (4000,)
KEY = random.key(20)
IMPLEMENTATIONS = tuple(rng.GENERATORS)


CONTINUOUS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "uniform": (lambda k: random.uniform(k, N, minval=-1, maxval=2), stats.uniform(-1, 3)),
    "normal": (lambda k: random.normal(k, N), stats.norm),
    "truncated_normal": (lambda k: random.truncated_normal(k, -0.5, 2.0, N), stats.truncnorm(-0.5, 2)),
    "cauchy": (lambda k: random.cauchy(k, N), stats.cauchy),
    "exponential": (lambda k: random.exponential(k, N), stats.expon),
    "laplace": (lambda k: random.laplace(k, N), stats.laplace),
    "logistic": (lambda k: random.logistic(k, N), stats.logistic),
    "gumbel": (lambda k: random.gumbel(k, N), stats.gumbel_r),
    "gumbel high": (lambda k: random.gumbel(k, N, mode="high"), stats.gumbel_r),
    "gumbel highest": (lambda k: random.gumbel(k, N, mode="highest"), stats.gumbel_r),
    "pareto": (lambda k: random.pareto(k, 2.5, N), stats.pareto(2.5)),
    "rayleigh": (lambda k: random.rayleigh(k, 3.0, N), stats.rayleigh(scale=3)),
    "weibull_min": (lambda k: random.weibull_min(k, 2.0, 1.5, N), stats.weibull_min(1.5, scale=2)),
    "triangular": (lambda k: random.triangular(k, -1.0, 0.0, 3.0, N), stats.triang(0.25, -1, 4)),
    "lognormal": (lambda k: random.lognormal(k, 0.7, N), stats.lognorm(0.7)),
    "maxwell": (lambda k: random.maxwell(k, N), stats.maxwell),
    "wald": (lambda k: random.wald(k, 2.0, N), stats.invgauss(2)),
    "gamma": (lambda k: random.gamma(k, 2.5, N), stats.gamma(2.5)),
    "gamma below 1": (lambda k: random.gamma(k, 0.4, N), stats.gamma(0.4)),
    "loggamma": (lambda k: random.loggamma(k, 0.05, N), stats.loggamma(0.05)),
    "beta": (lambda k: random.beta(k, 0.6, 2.0, N), stats.beta(0.6, 2)),
    "chisquare": (lambda k: random.chisquare(k, 3.0, N), stats.chi2(3)),
    "f": (lambda k: random.f(k, 3.0, 7.0, N), stats.f(3, 7)),
    "t": (lambda k: random.t(k, 4.0, N), stats.t(4)),
    "generalized_normal": (lambda k: random.generalized_normal(k, 3.0, N), stats.gennorm(3)),
    "dirichlet": (lambda k: random.dirichlet(k, np.array([0.5, 1.5, 3.0], np.float32), N)[:, 1], stats.beta(1.5, 3.5)),
    "double_sided_maxwell": (
        lambda k: abs(random.double_sided_maxwell(k, 0.0, 2.0, N)), stats.maxwell(scale=2)),
    "ball": (lambda k: (random.ball(k, 3, shape=N) ** 2).sum(-1) ** 1.5, stats.uniform),
    "multivariate_normal": (
        lambda k: random.multivariate_normal(k, np.ones(2, np.float32), np.array([[4, 1], [1, 2]], np.float32), N).sum(-1),
        stats.norm(2, 8**0.5)),
    "orthogonal": (lambda k: random.orthogonal(k, 3, N)[:, 0, 1], stats.uniform(-1, 2)),
}  # fmt: skip
COUNTS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "bernoulli": (lambda k: random.bernoulli(k, 0.3, N), stats.bernoulli(0.3)),
    "geometric": (lambda k: random.geometric(k, 0.3, N), stats.geom(0.3)),
    "poisson": (lambda k: random.poisson(k, 3.5, N), stats.poisson(3.5)),
    "poisson of many": (lambda k: random.poisson(k, 40.0, N), stats.poisson(40)),
    "binomial": (lambda k: random.binomial(k, 20, 0.3, N), stats.binom(20, 0.3)),
    "binomial of many": (lambda k: random.binomial(k, 100, 0.6, N), stats.binom(100, 0.6)),
    "multinomial": (
        lambda k: random.multinomial(k, 30, np.array([0.2, 0.5, 0.3], np.float32), shape=N)[:, 1], stats.binom(30, 0.5)),
    "randint": (lambda k: random.randint(k, N, -3, 9), stats.randint(-3, 9)),
    "rademacher": (lambda k: (random.rademacher(k, N) + 1) // 2, stats.bernoulli(0.5)),
    "permutation": (lambda k: jx.vmap(lambda own: random.permutation(own, 5)[2])(random.split(k, N)), stats.randint(0, 5)),
    "choice": (lambda k: random.choice(k, 4, N, p=np.array([0.1, 0.2, 0.3, 0.4], np.float32)),
               stats.rv_discrete(values=([0, 1, 2, 3], [0.1, 0.2, 0.3, 0.4]))),
    "choice without replacement": (
        lambda k: jx.vmap(lambda own: random.choice(own, 4, (3,), False)[1])(random.split(k, N)), stats.randint(0, 4)),
    "categorical": (lambda k: random.categorical(k, np.log(np.array([1, 2, 5], np.float32)), shape=N),
                    stats.rv_discrete(values=([0, 1, 2], [0.125, 0.25, 0.625]))),
}  # fmt: skip


def likelihood(drawn: np.ndarray, distribution: Any) -> float:
    """How often numbers of the distribution lie farther from it than these: Kolmogorov-Smirnov, or χ² for counts."""
    drawn = np.asarray(drawn).astype(float)
    if not hasattr(distribution, "pmf"):
        return stats.kstest(drawn, distribution.cdf).pvalue
    values = np.arange(*distribution.ppf([1e-9, 1 - 1e-9]).astype(int) + [0, 1])
    expected = distribution.pmf(values) * drawn.size
    ends = np.cumsum(expected), np.cumsum(expected[::-1])[::-1]
    middle = (ends[0] > 5) & (ends[1] > 5)  # rare values are counted with their neighbours
    first, last = values[middle][[0, -1]]
    count = lambda of, weights: np.array([weights[of <= first].sum(), *(weights[of == v].sum() for v in values
                                                                       if first < v < last), weights[of >= last].sum()])  # fmt: skip
    wanted = count(values, expected)
    return stats.chisquare(count(drawn, np.ones(drawn.size)), wanted * drawn.size / wanted.sum()).pvalue


@pytest.mark.parametrize("impl", some(IMPLEMENTATIONS, always="threefry2x32"))
@pytest.mark.parametrize("name", [*CONTINUOUS, *COUNTS])
def test_numbers_are_distributed_as_scipy_says(name: str, impl: str) -> None:
    draw, distribution = {**CONTINUOUS, **COUNTS}[name]
    key = random.key(20, impl=impl)
    if impl != "threefry2x32" and "poisson" in name:
        with pytest.raises(NotImplementedError, match="threefry"):
            draw(key)
        return
    if "rbg" in impl and name in ("permutation", "choice without replacement"):
        return  # mapped over keys, one of them draws for all
    assert likelihood(draw(key), distribution) > 0.001


@pytest.mark.parametrize("wrong", [
    lambda: (random.normal(KEY, N) * 1.25, stats.norm), lambda: (random.gamma(KEY, 2.3, N), stats.gamma(2.5)),
    lambda: (random.poisson(KEY, 3.8, N), stats.poisson(3.5)), lambda: (random.binomial(KEY, 100, 0.62, N), stats.binom(100, 0.6)),
])  # fmt: skip
def test_the_test_tells_distributions_apart(wrong: Any) -> None:
    assert likelihood(*wrong()) < 1e-4


def test_joint_distributions() -> None:
    """Sums of vectors, covariances, orthogonality, and counts that add up."""
    mean, cov = np.array([1, -2], np.float32), np.array([[4, 1], [1, 2]], np.float32)
    for method in ("cholesky", "eigh", "svd"):
        drawn = np.asarray(random.multivariate_normal(KEY, mean, cov, N, method=method))
        np.testing.assert_allclose(drawn.mean(0), mean, atol=0.15)
        np.testing.assert_allclose(np.cov(drawn.T), cov, atol=0.3)
    np.testing.assert_allclose(random.dirichlet(KEY, np.full(5, 0.01, np.float32), N).sum(-1), 1, rtol=1e-5)
    counts = np.asarray(random.multinomial(KEY, 30, np.array([0.2, 0.5, 0.3], np.float32), shape=N))
    assert (counts.sum(-1) == 30).all()
    for dtype in (np.float32, np.complex64):
        q = np.asarray(random.orthogonal(KEY, 4, (5,), dtype))
        np.testing.assert_allclose(q @ q.swapaxes(-1, -2).conj(), np.broadcast_to(np.eye(4), q.shape), atol=1e-5)
    wide = np.asarray(random.orthogonal(KEY, 2, (), None, 4))
    np.testing.assert_allclose(wide @ wide.T, np.eye(2), atol=1e-6)
    order = np.asarray(random.permutation(KEY, 1000))
    assert sorted(order) == list(range(1000)) and (order != np.arange(1000)).mean() > 0.98
    rows = np.asarray(random.permutation(KEY, np.arange(20).reshape(4, 5), 1, independent=True))
    assert (np.sort(rows, 1) == np.arange(20).reshape(4, 5)).all() and len({tuple(r % 5) for r in rows}) > 1
    assert sorted(np.asarray(random.choice(KEY, 10, (10,), False))) == list(range(10))
    assert sorted(np.asarray(random.choice(KEY, 6, (6,), False, np.array([1, 2, 3, 4, 5, 6], np.float32)))) == list(
        range(6)
    )


def test_large_gumbel_numbers() -> None:
    """In float32 "low" cannot pass -log(2⁻²⁴); the other modes have the tail that the distribution has."""
    keys = random.split(KEY, 64)
    tail = {mode: np.asarray(jx.jit(jx.vmap(lambda k, mode=mode: random.gumbel(k, (2**17,), mode=mode)))(keys)).max()
            for mode in ("low", "high", "highest")}  # fmt: skip
    assert tail["low"] < 16.7
    expected = stats.gumbel_r(np.log(2**23))
    for mode in ("high", "highest"):
        assert expected.ppf(0.001) < tail[mode] < expected.ppf(0.999)


# Derivatives ----------------------------------------------------------------------------------------------------------


def moved(distribution: Callable[[float], Any], at: np.ndarray, a: float) -> np.ndarray:
    """The derivative in `a` of the numbers `at`, with their level in the distribution held fixed."""
    level, h = distribution(a).cdf(at), 1e-5
    return (distribution(a + h).ppf(level) - distribution(a - h).ppf(level)) / (2 * h)


IMPLICIT = {
    "gamma": (random.gamma, stats.gamma, (0.3, 1.0, 2.5, 20.0)),
    "loggamma": (random.loggamma, stats.loggamma, (0.3, 2.5)),
    "chisquare": (random.chisquare, stats.chi2, (1.0, 5.0)),
    "pareto": (random.pareto, stats.pareto, (0.7, 3.0)),
}


@pytest.mark.parametrize("name", IMPLICIT)
def test_derivatives_hold_the_level_fixed(name: str) -> None:
    sampler, distribution, parameters = IMPLICIT[name]

    @jx.jit
    def derivatives(a):
        draw = lambda a: sampler(KEY, a, (40,))
        return *jx.jvp(draw, (a,), (1.0,)), jx.grad(lambda a: draw(a).sum())(a)

    with jx.enable_x64():
        for a in parameters:
            drawn, slope, total = derivatives(a)
            wanted = moved(distribution, np.asarray(drawn), a)
            np.testing.assert_allclose(slope, wanted, rtol=2e-4, atol=1e-9)
            np.testing.assert_allclose(total, np.asarray(slope).sum(), rtol=1e-8)


def test_derivatives_of_averages() -> None:
    """What is made of several gamma numbers: derivatives of averages over many draws."""
    with jx.enable_x64():
        mean = lambda draw: lambda *given: draw(*given).mean()
        slope = jx.grad(mean(lambda a, b: random.beta(KEY, a, b, (20000,))), (0, 1))(2.0, 3.0)
        np.testing.assert_allclose(slope, [3 / 25, -2 / 25], rtol=0.1)
        spread = jx.grad(mean(lambda df: random.t(KEY, df, (20000,)) ** 2))(12.0)
        np.testing.assert_allclose(spread, -2 / 100, rtol=0.25)
        alpha = np.array([1.0, 2, 3])
        share = jx.jacobian(lambda alpha: random.dirichlet(KEY, alpha, (20000,)).mean(0))(alpha)
        np.testing.assert_allclose(share, (6 * np.eye(3) - alpha[:, None]) / 36, atol=0.02)


def test_the_second_derivative_and_maps_of_gamma_numbers() -> None:
    with jx.enable_x64():
        a, h = 2.3, 1e-3
        level = stats.gamma(a).cdf(float(random.gamma(KEY, a)))
        below, at, above = (stats.gamma(a + step).ppf(level) for step in (-h, 0, h))
        second = jx.grad(jx.grad(lambda a: random.gamma(KEY, a)))(a)
        np.testing.assert_allclose(second, (below - 2 * at + above) / h**2, rtol=1e-3)
    a = np.array([0.5, 2, 9], np.float32)
    keys = random.split(KEY, 3)
    loop = [random.gamma(k, x, (2,)) for k, x in zip(keys, a)]
    np.testing.assert_allclose(jx.vmap(lambda k, x: random.gamma(k, x, (2,)))(keys, a), loop, rtol=1e-6)
    np.testing.assert_allclose(jx.vmap(lambda x: random.gamma(KEY, x))(a), [random.gamma(KEY, x) for x in a], rtol=1e-6)
    slopes = jx.vmap(jx.grad(lambda x, k: random.gamma(k, x)))(a, keys)
    np.testing.assert_allclose(
        slopes, [jx.grad(lambda x, k=k: random.gamma(k, x))(x) for k, x in zip(keys, a)], rtol=1e-5
    )


# Programs -------------------------------------------------------------------------------------------------------------

EAGER = {
    **{name: lambda k, draw=draw: draw(k) for name, (draw, _) in {**CONTINUOUS, **COUNTS}.items()
       if name.split()[0] not in ("ball", "permutation", "choice", "rademacher", "dirichlet", "orthogonal",
                                  "double_sided_maxwell", "multivariate_normal", "multinomial")},
    "ball": lambda k: random.ball(k, 3), "permutation": lambda k: random.permutation(k, 9),
    "permutation of rows": lambda k: random.permutation(k, np.ones((3, 2))), "choice": lambda k: random.choice(k, 9, (3,), False),
    "rademacher": lambda k: random.rademacher(k, (7,)), "dirichlet": lambda k: random.dirichlet(k, np.ones(3)),
    "orthogonal": lambda k: random.orthogonal(k, 3), "multinomial": lambda k: random.multinomial(k, 5, np.ones(2) / 2),
    "multivariate_normal": lambda k: random.multivariate_normal(k, np.zeros(2), np.eye(2)),
    "double_sided_maxwell": lambda k: random.double_sided_maxwell(k, 0.0, 1.0),
}  # fmt: skip


each = pytest.mark.parametrize(
    "name",
    some(
        EAGER,
        always="normal gamma binomial categorical permutation choice multinomial",
    ),
)


@each
def test_outside_of_jit_each_is_one_program(name: str) -> None:
    jx.clear_caches()
    for key, programs in ((random.key(5), 1), (random.key(6), 0), (random.PRNGKey(7), 1)):
        with steps() as counted:
            EAGER[name](key)
        assert counted["compile"] <= programs, [r for r in counted.records if r.step == "compile"]


@each
def test_no_key_is_used_twice(name: str) -> None:
    with jx.debug_key_reuse(True):
        EAGER[name](random.key(5))
        jx.jit(EAGER[name])(random.key(6))


def test_the_gamma_primitive_is_there_for_those_who_bind_it() -> None:
    keys, a = random.split(KEY, 3), np.array([[1.0, 2], [3, 4], [5, 6]], np.float32)
    drawn = random.random_gamma_p.bind(keys, a, log_space=False)
    np.testing.assert_allclose(drawn, [random.gamma(k, row) for k, row in zip(keys, a)], rtol=1e-6)
    assert isinstance(keys.aval.dtype, rng.KeyDType) and "random_gamma" in str(jx.make_jaxpr(random.gamma)(KEY, 2.0))
    with pytest.raises(TypeError, match="lead"):
        random.random_gamma_p.bind(keys, a[:2], log_space=False)


APPROXIMATE = {
    "gamma": ((2.5,), [1.5408924, 0.9110358, 2.1487572, 0.7506342, 3.4425411]),
    "loggamma": ((0.1,), [-0.97468287, -9.148163, -6.8355765, -12.657721, -4.592041]),
    "beta": ((2.0, 0.5), [0.98523223, 0.6134671, 0.96390146, 0.86281085, 0.77447385]),
    "chisquare": ((3.0,), [2.1193476, 0.9265342, 2.4866495, 0.5780955, 4.379101]),
}
"""Sampler → its parameters, and what jax 0.12.0.1 draws of key 3."""


@pytest.mark.parametrize("name", APPROXIMATE)
def test_approximate_numbers_are_those_of_jax(name: str) -> None:
    given, wanted = APPROXIMATE[name]
    sampler, key = getattr(jx.random, name), jx.random.key(3)
    np.testing.assert_allclose(sampler(key, *given, (5,), method="approximate"), wanted, rtol=2e-6)
    with pytest.raises(ValueError, match="'exact' or 'approximate'"):
        sampler(key, *given, method="quick")


@pytest.mark.parametrize("method", ["exact", "approximate"])
def test_means_of_a_lower_rank_are_spread_though_ranks_are_not_promoted(method: str) -> None:
    mean = np.array([0.0, 0.0, 20.0], np.float32)
    drawn = random.poisson(KEY, mean, shape=(2, 3), method=method)
    with jx.numpy_rank_promotion("raise"):
        np.testing.assert_array_equal(random.poisson(KEY, mean, shape=(2, 3), method=method), drawn)
    assert (np.asarray(drawn)[:, :2] == 0).all() and (np.asarray(drawn)[:, 2] > 0).all()
