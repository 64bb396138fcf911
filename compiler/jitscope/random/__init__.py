"""Random numbers: pure functions of a key. Bits equal JAX's (partitionable threefry).

All samplers take a key (`key(seed)`) first and give the same numbers for the same key: use each key once, `split` it for more.
`shape` and `dtype` are those of the result (None: the default float). All raise TypeError for what is not a key, sizes that are no
ints and dtypes that do not exist, ValueError for an array of keys (map over it) and negative sizes; `out_sharding` says how the
result lies over several devices.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from ..core.late import late as _late
from .keys import *
from .samplers import *


# Modules that most programs never touch, with what they hold of the names of this one.
if _TYPE_CHECKING:  # what is loaded late, for editors and type checkers
    from .choosing import *
    from .continuous import *
    from .counts import *
    from .from_gammas import *
    from .gammas import *
    from .normals import *
else:
    _late(
        globals(),
        {
            ".choosing": "categorical choice permutation",
            ".continuous": "cauchy exponential geometric gumbel laplace logistic pareto rayleigh triangular truncated_normal weibull_min",
            ".counts": "binomial multinomial poisson",
            ".from_gammas": "ball beta chisquare dirichlet f generalized_normal t",
            ".gammas": "gamma loggamma random_gamma_p",
            ".normals": "double_sided_maxwell lognormal maxwell multivariate_normal orthogonal wald",
        },
    )
