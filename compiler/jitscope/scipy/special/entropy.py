"""Entropies, weighted logarithms, the Box and Cox transformation, the logistic function, softmax."""

from __future__ import annotations

from typing import Any

from ...core.annotations import Array, ArrayLike, Axes
from ...core.dtypes import bool_
from ...eager.functions import eager_jit
from ...nn.normalizing import log_softmax as _log_softmax, softmax as _softmax
from ...numpy.operands import axes_of, operand, operand_and_aval, operands
from ...ops.elementwise import logistic_p
from ...special.entropy import boxcox1p_p, boxcox_p, entr_p, kl_div_p, logit_p, rel_entr_p, xlog1py_p, xlogy_p
from ._operands import real_operands, strong_array


__all__ = ["boxcox", "boxcox1p", "entr", "expit", "kl_div", "log_softmax", "logit", "rel_entr", "softmax", "xlog1py",
           "xlogy"]  # fmt: skip


@eager_jit(nested=True)
def xlogy(x: ArrayLike, y: ArrayLike) -> Array:
    """x log(y), and 0 where x is 0 (but for y that is NaN), element by element [...]. Takes complex numbers."""
    return xlogy_p(*operands("xlogy", x, y, inexact=True))


@eager_jit(nested=True)
def xlog1py(x: ArrayLike, y: ArrayLike) -> Array:
    """x log(1 + y), and 0 where x is 0 (but for y that is NaN), element by element [...]. Takes complex numbers."""
    return xlog1py_p(*operands("xlog1py", x, y, inexact=True))


@eager_jit(nested=True)
def entr(x: ArrayLike) -> Array:
    """-x log(x), 0 at 0 and -∞ for negative x, element by element [...]. Raises ValueError for complex numbers."""
    return entr_p(*real_operands("entr", x))


@eager_jit(nested=True)
def rel_entr(p: ArrayLike, q: ArrayLike) -> Array:
    """p log(p/q) for positive p and q, 0 for p = 0 and q ≥ 0, else ∞, element by element [...]. Raises ValueError for
    complex numbers."""
    return strong_array(rel_entr_p(*real_operands("rel_entr", p, q)))


@eager_jit(nested=True)
def kl_div(p: ArrayLike, q: ArrayLike) -> Array:
    """rel_entr(p, q) - p + q, exact where p and q are close, too, element by element [...]. Raises ValueError for
    complex numbers."""
    return strong_array(kl_div_p(*real_operands("kl_div", p, q)))


@eager_jit(nested=True)
def boxcox(x: ArrayLike, lmbda: ArrayLike) -> Array:
    """The power transformation of Box and Cox, (x ** lmbda - 1) / lmbda, log(x) for lmbda = 0, element by element
    [...]. Takes complex numbers."""
    return boxcox_p(*operands("boxcox", x, lmbda, inexact=True))


@eager_jit(nested=True)
def boxcox1p(x: ArrayLike, lmbda: ArrayLike) -> Array:
    """boxcox(1 + x, lmbda), exact for small x, element by element [...]. Takes complex numbers."""
    return boxcox1p_p(*operands("boxcox1p", x, lmbda, inexact=True))


@eager_jit(nested=True)
def logit(x: ArrayLike) -> Array:
    """log(x / (1 - x)), the inverse of expit; NaN outside of [0, 1]. Takes complex numbers."""
    return strong_array(logit_p(operand("logit", x, inexact=True)))


@eager_jit(nested=True)
def expit(x: ArrayLike) -> Array:
    """The logistic function 1 / (1 + exp(-x)), element by element [...]. Takes complex numbers."""
    return logistic_p(operand("expit", x, inexact=True))


def softmax(x: ArrayLike, /, *, axis: Axes = None) -> Array:
    """exp(x) over its sum along `axis`: an int, a tuple or None (all). Raises ValueError for axes that do not exist,
    TypeError for booleans."""
    return _softmax(_numbers("softmax", x, axis), axis)


def log_softmax(x: ArrayLike, /, *, axis: Axes = None) -> Array:
    """log(softmax(x)), exact where softmax is near 0. `axis`: an int, a tuple or None (all). Raises as softmax does."""
    return _log_softmax(_numbers("log_softmax", x, axis), axis)


def _numbers(name: str, x: Any, axis: Any) -> Any:
    x, aval = operand_and_aval(name, x)
    axes_of(name, axis, aval.ndim)
    if aval.dtype == bool_:
        raise TypeError(f"{name} takes numbers, not booleans: convert with .astype(...)")
    return x
