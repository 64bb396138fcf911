"""The chi-squared distribution with `df` degrees of freedom, of a sum of as many squared standard normal numbers: a gamma
distribution of shape df / 2 and twice the scale."""

from __future__ import annotations

from typing import Any, Protocol

from ...core.annotations import Array, ArrayLike
from . import gamma
from ._formulas import formula, formula_of


class _OfChi2(Protocol):
    """The functions of this distribution."""

    def __call__(self, x: ArrayLike, df: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array: ...


def _as_gamma(inner: Any, name: str) -> _OfChi2:
    raw = formula_of(inner)

    def fun(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Any:
        return raw(x, df / 2, loc, 2 * scale)

    fun.__name__ = fun.__qualname__ = name
    return formula()(fun)


logpdf, pdf = _as_gamma(gamma.logpdf, "logpdf"), _as_gamma(gamma.pdf, "pdf")
cdf, sf = _as_gamma(gamma.cdf, "cdf"), _as_gamma(gamma.sf, "sf")
logcdf, logsf = _as_gamma(gamma.logcdf, "logcdf"), _as_gamma(gamma.logsf, "logsf")
