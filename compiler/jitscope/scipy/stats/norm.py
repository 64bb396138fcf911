"""The normal distribution, with mean `loc` and standard deviation `scale`: exp(-y²/2) / (sqrt(2 pi) scale), y being
(x - loc) / scale."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ... import numpy as jnp
from ...eager.functions import eager_jit
from ...numpy.structure import array_operand
from .. import special
from ._formulas import derived, formula, log, standard


if TYPE_CHECKING:
    from ...api.arrays import Array


@formula(complex=True)
def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    y = standard(x, loc, scale)
    return -0.5 * (y * y + log(2 * math.pi * (scale * scale)))


pdf = derived("pdf", logpdf, jnp.exp)


@formula()
def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    return special.ndtr(standard(x, loc, scale))


@formula()
def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    return special.log_ndtr(standard(x, loc, scale))


@formula()
def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    return special.ndtr(-standard(x, loc, scale))


@formula()
def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    return special.log_ndtr(-standard(x, loc, scale))


@eager_jit(nested=True)
def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The value up to which the probability is `q`: the inverse of `cdf`. A float of the usual width, whatever the operands.
    Raises TypeError for integers and complex numbers."""
    return jnp.add(jnp.multiply(special.ndtri(q), scale), loc).astype(float)


@eager_jit(nested=True)
def isf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The value above which the probability is `q`: the inverse of `sf`; see `ppf`."""
    return ppf(1 - jnp.asarray(array_operand("norm.isf", q)), loc, scale)
