"""`jitscope.scipy.stats`: distributions, each a module of functions (`norm.logpdf`), and statistics.

The densities and their integrals are textbook formulas: N. Johnson, S. Kotz, N. Balakrishnan, "Continuous Univariate
Distributions" and "Univariate Discrete Distributions". `loc` moves a distribution, `scale` stretches it. Each distribution is
loaded when first used.
"""

from ...core.late import late as _late
from .ranking import *


_DISTRIBUTIONS = (
    "bernoulli beta betabinom binom cauchy chi2 dirichlet expon gamma gennorm geom gumbel_l gumbel_r laplace logistic "
    "multinomial multivariate_normal nbinom norm pareto poisson t truncnorm uniform vonmises wrapcauchy"
)

__getattr__, __dir__ = _late(
    globals(), {".density": "gaussian_kde"} | {f".{name}": "." for name in _DISTRIBUTIONS.split()}
)
