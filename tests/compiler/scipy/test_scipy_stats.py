"""scipy.stats: how the functions of a distribution hang together, densities from points, and where formulas usually fail."""

from __future__ import annotations

import importlib
import inspect
import math
import pickle

import numpy as np
import pytest
import scipy.stats

import jitscope as jx
import jitscope.numpy as jnp
from jitscope.scipy import stats
from tests.compiling import once
from tests.extent import one_in


LINE = {
    "norm": (), "cauchy": (), "laplace": (), "logistic": (), "gumbel_l": (), "gumbel_r": (), "expon": (), "uniform": (),
    "gamma": (2.5,), "chi2": (3.0,), "beta": (2.0, 3.5), "pareto": (2.5,), "gennorm": (1.5,), "truncnorm": (-1.0, 2.0),
}  # fmt: skip
COUNTS = {
    "bernoulli": (0.3,), "binom": (9, 0.3), "nbinom": (4.0, 0.6), "betabinom": (9, 2.0, 3.0), "geom": (0.4,), "poisson": (3.5,),
}  # fmt: skip
NAMES = [
    "bernoulli", "beta", "betabinom", "binom", "cauchy", "chi2", "dirichlet", "expon", "gamma", "gennorm", "geom", "gumbel_l",
    "gumbel_r", "laplace", "logistic", "multinomial", "multivariate_normal", "nbinom", "norm", "pareto", "poisson", "t",
    "truncnorm", "uniform", "vonmises", "wrapcauchy",
]  # fmt: skip


pytestmark = pytest.mark.usefixtures("wide")


def functions(name):
    module = getattr(stats, name)
    return {n: f for n, f in vars(module).items() if getattr(f, "__module__", "") == module.__name__ and n[0] != "_"}


def inside(name):
    """Points of the support, away from where a density jumps."""
    return scipy.stats.__dict__[name].ppf(np.linspace(0.06, 0.93, 12), *LINE[name])


def test_every_distribution_is_a_module_that_is_listed():
    assert set(NAMES) <= set(dir(stats))
    for name in NAMES:
        assert importlib.import_module(f"jitscope.scipy.stats.{name}") is getattr(stats, name)
        assert functions(name)
    with pytest.raises(AttributeError, match="wald"):
        _ = stats.wald


@pytest.mark.parametrize("name", NAMES)
def test_functions_have_names_documents_and_places(name):
    for key, function in functions(name).items():
        assert function.__name__ == key
        assert len(function.__doc__) > 20
        assert "args" not in inspect.signature(function).parameters
        assert pickle.loads(pickle.dumps(function)) is function


@pytest.mark.parametrize("name", LINE)
def test_a_distribution_function_grows_by_the_density(name):
    own, x = functions(name), inside(name)
    below = lambda x: own["cdf"](x, *LINE[name])
    slopes, density, values = once(lambda x: (jx.vmap(jx.grad(below))(x), own["pdf"](x, *LINE[name]), below(x)))(x)
    np.testing.assert_allclose(slopes, density, rtol=1e-9)
    np.testing.assert_allclose(values, scipy.stats.__dict__[name].cdf(x, *LINE[name]), rtol=1e-9)


@pytest.mark.parametrize("name", LINE)
def test_the_functions_of_a_distribution_agree(name):
    own, x, shape = functions(name), inside(name), LINE[name]

    @once
    def values(x):
        """Of all functions, those of a level at the level of `x`."""
        at = {key: function(x, *shape) for key, function in own.items() if key not in ("ppf", "isf")}
        back = {key: own[key](at[of], *shape) for key, of in (("ppf", "cdf"), ("isf", "sf")) if key in own}
        return at, back

    at, back = values(x)
    for key in at:
        if key.startswith("log"):
            np.testing.assert_allclose(np.exp(at[key]), at[key[3:]], rtol=1e-10)
    if "sf" in own:
        np.testing.assert_allclose(at["sf"] + at["cdf"], 1, rtol=1e-10)
    for found in back.values():
        np.testing.assert_allclose(found, x, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("name", one_in(2, [n for n in LINE if n != "gennorm"]))
def test_loc_and_scale_move_and_stretch(name):
    own, x = functions(name), inside(name)
    keys = {"pdf", "cdf", "logcdf", "sf", "logsf"} & set(own)
    every = once(lambda x, *more: {key: own[key](x, *LINE[name], *more) for key in keys})
    wanted = every(x)
    for loc, scale in ((0.75, 2.5), (jnp.asarray(0.75), jnp.full((12,), 2.5))):
        found = every(0.75 + 2.5 * x, loc, scale)
        for key in keys:
            np.testing.assert_allclose(found[key], wanted[key] / (2.5 if key == "pdf" else 1), rtol=1e-9)


@pytest.mark.parametrize("name", COUNTS)
def test_probabilities_add_up_to_one(name):
    own, k = functions(name), np.arange(-3, 400)
    assert jnp.sum(own["pmf"](k, *COUNTS[name])) == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(
        own["pmf"](k[:20], *COUNTS[name]), scipy.stats.__dict__[name].pmf(k[:20], *COUNTS[name]), atol=1e-12
    )
    np.testing.assert_array_equal(own["logpmf"](k[:3], *COUNTS[name]), -np.inf)


def test_circular_densities_add_up_to_one():
    x = np.linspace(0, 2 * np.pi, 4000, endpoint=False)
    for found in (stats.vonmises.pdf(x, 3.0), stats.wrapcauchy.pdf(x, 0.5)):
        assert jnp.mean(found) * 2 * np.pi == pytest.approx(1, abs=1e-9)


# Where formulas usually fail -----------------------------------------------------------------------------------------


def test_tails():
    x = np.array([10.0, 30.0, 1e3])
    for name in ("norm", "cauchy", "logistic", "gumbel_r"):
        own, other = getattr(stats, name), getattr(scipy.stats, name)
        np.testing.assert_allclose(own.sf(x), other.sf(x), rtol=1e-9)
    np.testing.assert_allclose(stats.cauchy.logcdf(-1e9 * x), scipy.stats.cauchy.logcdf(-1e9 * x), rtol=1e-12)
    np.testing.assert_allclose(stats.gumbel_r.logsf(x[:2]), scipy.stats.gumbel_r.logsf(x[:2]), rtol=1e-9)
    np.testing.assert_allclose(stats.truncnorm.logpdf(9.5, 9, 10), scipy.stats.truncnorm.logpdf(9.5, 9, 10), rtol=1e-8)


def test_at_the_edge_of_the_support():
    assert stats.chi2.logpdf(0.0, 2) == pytest.approx(-math.log(2))
    assert stats.gamma.pdf(0.0, 1) == 1
    assert stats.expon.pdf(0.0) == 1
    assert stats.beta.pdf(0.0, 1, 2) == pytest.approx(2)
    assert stats.binom.pmf(0, 0, 0.5) == stats.binom.pmf(3, 3, 1.0) == 1
    assert stats.poisson.pmf(0, 0.0) == 1


def test_nan_is_not_a_place():
    for name, shape in LINE.items():
        assert np.isnan(stats.__getattr__(name).cdf(math.nan, *shape)), name


def test_slopes_of_a_truncated_distribution_are_finite_everywhere():
    x = np.linspace(-3, 4, 9)
    for function in (stats.truncnorm.logcdf, stats.truncnorm.logsf):
        slopes = jx.jit(jx.vmap(jx.grad(function), (0, None, None)))
        for low, high in ((-1.0, 2.0), (1.0, 3.0), (-3.0, -1.0), (0.0, np.inf)):
            assert np.all(np.isfinite(slopes(x, low, high)))
    assert np.isnan(stats.truncnorm.logcdf(0.5, 1, 0))


def test_rows_of_counts_each_have_their_own_sum():
    x, p = np.array([[1, 2, 0], [4, 1, 1], [0, 0, 0]]), [0.2, 0.3, 0.5]
    wanted = scipy.stats.multinomial.logpmf(x, x.sum(1), p)
    np.testing.assert_allclose(stats.multinomial.logpmf(x, x.sum(1), jnp.asarray(p)), wanted, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(stats.multinomial.logpmf(x, 7, jnp.asarray(p)), -np.inf)


@pytest.mark.parametrize("name", LINE)
def test_numbers_and_numpy_arrays_inside_of_a_compiled_function(name):
    x, shape, pdf = np.array([0.25, 0.5]), LINE[name], getattr(stats, name).pdf
    wanted = pdf(jnp.asarray(x), *map(jnp.asarray, shape))
    np.testing.assert_allclose(jx.jit(lambda: pdf(x, *shape))(), wanted, rtol=1e-12)
    assert jx.jit(lambda: pdf(0.5, *shape))().shape == ()


def test_a_scale_of_zero_is_no_exception():
    assert np.isnan(jx.jit(lambda: stats.norm.logpdf(0.0, 0.0, 0.0))())


def test_a_default_costs_nothing():
    count = lambda fun: len(jx.make_jaxpr(fun)(np.ones(3)).jaxpr.eqns)
    assert count(stats.norm.logpdf) == 3
    assert count(lambda x: stats.norm.logpdf(x, 1.5, 2.0)) == 5


def test_calls_that_do_not_fit():
    with pytest.raises(TypeError, match="'x'"):
        stats.norm.logpdf()
    with pytest.raises(TypeError, match="too many"):
        stats.norm.logpdf(1, 2, 3, 4)
    with pytest.raises(TypeError, match="mean"):
        stats.norm.logpdf(1, mean=2)
    with pytest.raises(TypeError, match="complex"):
        stats.gamma.pdf(1j, 2)


@pytest.mark.parametrize("mu", [0.0, 0.3, 9.9, 10.5, 99.0, 101.0])
def test_the_entropy_of_the_poisson_distribution(mu):
    k = np.arange(1000)
    p = scipy.stats.poisson.pmf(k, mu)
    assert stats.poisson.entropy(mu) == pytest.approx(scipy.special.entr(p).sum(), rel=2e-6, abs=1e-12)


# Densities from points -----------------------------------------------------------------------------------------------


def points(d=2, n=40):
    return np.random.default_rng(0).normal(size=(d, n))


def test_a_density_is_a_tree():
    kde = stats.gaussian_kde(points())
    places = points(2, 5)
    np.testing.assert_allclose(
        jx.jit(lambda k, x: k(x))(kde, places), scipy.stats.gaussian_kde(points())(places), rtol=1e-10
    )
    again = jx.jit(lambda x: stats.gaussian_kde(x, 0.5))(points())
    np.testing.assert_allclose(again.covariance, stats.gaussian_kde(points(), 0.5).covariance, rtol=1e-12)
    assert (again.d, again.n) == (2, 40)
    slopes = jx.grad(lambda k: jnp.sum(k.logpdf(places)))(kde)
    assert isinstance(slopes, stats.gaussian_kde)
    assert slopes.dataset.shape == (2, 40)


def test_a_density_cannot_be_changed():
    kde = stats.gaussian_kde(points())
    with pytest.raises(AttributeError, match="weights"):
        kde.weights = 1


def test_points_drawn_from_a_density_are_distributed_like_it():
    data = points(2, 30)
    kde = stats.gaussian_kde(data, weights=np.arange(30.0))
    drawn = kde.resample(jx.random.key(3), (20000,))
    assert drawn.shape == (2, 20000)
    np.testing.assert_allclose(jnp.mean(drawn, 1), data @ np.arange(30) / np.arange(30).sum(), atol=0.03)
    spread = np.cov(data, bias=True, aweights=np.arange(30.0)) + np.asarray(kde.covariance)
    np.testing.assert_allclose(jnp.cov(drawn), spread, atol=0.05)
    assert kde.resample(jx.random.key(3)).shape == (2,)


# Ranks ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["average", "min", "max", "dense", "ordinal"])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_ranks_of_many_ties(method, axis):
    x = np.random.default_rng(1).integers(0, 6, (7, 50))
    found = stats.rankdata(x, method, axis=axis)
    np.testing.assert_array_equal(found, scipy.stats.rankdata(x, method, axis=axis))


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_the_most_frequent_of_many(axis):
    x = np.random.default_rng(2).integers(0, 6, (9, 50))
    found, wanted = stats.mode(x, axis), scipy.stats.mode(x, axis=axis)
    np.testing.assert_array_equal(found.mode, wanted.mode)
    np.testing.assert_array_equal(found.count, wanted.count)
