"""`jitscope.scipy.stats`: distributions, each a module of functions (`norm.logpdf`), and statistics.

The densities and their integrals are textbook formulas: N. Johnson, S. Kotz, N. Balakrishnan, "Continuous Univariate
Distributions" and "Univariate Discrete Distributions". `loc` moves a distribution, `scale` stretches it. Each distribution is
loaded when first used.
"""

import importlib as _importlib
from typing import Any as _Any

from .ranking import *


_DISTRIBUTIONS = frozenset((
    "bernoulli", "beta", "betabinom", "binom", "cauchy", "chi2", "dirichlet", "expon", "gamma", "gennorm", "geom", "gumbel_l",
    "gumbel_r", "laplace", "logistic", "multinomial", "multivariate_normal", "nbinom", "norm", "pareto", "poisson", "t",
    "truncnorm", "uniform", "vonmises", "wrapcauchy",
))  # fmt: skip


def __getattr__(name: str) -> _Any:
    if name in _DISTRIBUTIONS:
        return _importlib.import_module(f"{__name__}.{name}")
    if name == "gaussian_kde":
        return _importlib.import_module(f"{__name__}.density").gaussian_kde
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_DISTRIBUTIONS, "gaussian_kde"})
