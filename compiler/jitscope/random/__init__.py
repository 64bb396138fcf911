"""Random numbers: pure functions of a key. Bits equal JAX's (partitionable threefry).

All samplers take a key (`key(seed)`) first and give the same numbers for the same key: use each key once, `split` it for more.
"""

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

from .keys import (
    PRNGKey as PRNGKey,
    clone as clone,
    fold_in as fold_in,
    key as key,
    key_data as key_data,
    key_dtype as key_dtype,
    key_impl as key_impl,
    split as split,
    wrap_key_data as wrap_key_data,
)
from .samplers import (
    bernoulli as bernoulli,
    bits as bits,
    normal as normal,
    rademacher as rademacher,
    randint as randint,
    uniform as uniform,
)


if _TYPE_CHECKING:
    from .choosing import categorical as categorical, choice as choice, permutation as permutation
    from .continuous import (
        cauchy as cauchy,
        exponential as exponential,
        geometric as geometric,
        gumbel as gumbel,
        laplace as laplace,
        logistic as logistic,
        pareto as pareto,
        rayleigh as rayleigh,
        triangular as triangular,
        truncated_normal as truncated_normal,
        weibull_min as weibull_min,
    )
    from .counts import binomial as binomial, multinomial as multinomial, poisson as poisson
    from .from_gammas import (
        ball as ball,
        beta as beta,
        chisquare as chisquare,
        dirichlet as dirichlet,
        f as f,
        generalized_normal as generalized_normal,
        t as t,
    )
    from .gammas import gamma as gamma, loggamma as loggamma, random_gamma_p as random_gamma_p
    from .normals import (
        double_sided_maxwell as double_sided_maxwell,
        lognormal as lognormal,
        maxwell as maxwell,
        multivariate_normal as multivariate_normal,
        orthogonal as orthogonal,
        wald as wald,
    )

# Modules that most programs never touch, with what they hold of the names of this one.
_LATE = {
    name: module
    for module, names in {
        "choosing": "categorical choice permutation",
        "continuous": "cauchy exponential geometric gumbel laplace logistic pareto rayleigh triangular truncated_normal weibull_min",
        "counts": "binomial multinomial poisson",
        "from_gammas": "ball beta chisquare dirichlet f generalized_normal t",
        "gammas": "gamma loggamma random_gamma_p",
        "normals": "double_sided_maxwell lognormal maxwell multivariate_normal orthogonal wald",
    }.items()
    for name in names.split()
}


def __getattr__(name: str) -> _Any:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_importlib.import_module(f"{__name__}.{_LATE[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATE})
