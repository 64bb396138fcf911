"""`jitscope.scipy.stats`: distributions, each a module of functions (`norm.logpdf`), and statistics.

The densities and their integrals are textbook formulas: N. Johnson, S. Kotz, N. Balakrishnan, "Continuous Univariate
Distributions" and "Univariate Discrete Distributions". `loc` moves a distribution, `scale` stretches it. Each distribution is
loaded when first used.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from ...core.late import late as _late
from .ranking import *


_DISTRIBUTIONS = (
    "bernoulli beta betabinom binom cauchy chi2 dirichlet expon gamma gennorm geom gumbel_l gumbel_r laplace logistic "
    "multinomial multivariate_normal nbinom norm pareto poisson t truncnorm uniform vonmises wrapcauchy"
)

if _TYPE_CHECKING:  # what is loaded late, for editors and type checkers
    from . import (
        bernoulli as bernoulli,
        beta as beta,
        betabinom as betabinom,
        binom as binom,
        cauchy as cauchy,
        chi2 as chi2,
        dirichlet as dirichlet,
        expon as expon,
        gamma as gamma,
        gennorm as gennorm,
        geom as geom,
        gumbel_l as gumbel_l,
        gumbel_r as gumbel_r,
        laplace as laplace,
        logistic as logistic,
        multinomial as multinomial,
        multivariate_normal as multivariate_normal,
        nbinom as nbinom,
        norm as norm,
        pareto as pareto,
        poisson as poisson,
        t as t,
        truncnorm as truncnorm,
        uniform as uniform,
        vonmises as vonmises,
        wrapcauchy as wrapcauchy,
    )
    from .density import gaussian_kde as gaussian_kde
else:
    _late(globals(), {".density": "gaussian_kde"} | {f".{name}": "." for name in _DISTRIBUTIONS.split()})
