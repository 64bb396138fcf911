"""Activation functions, element by element. The result has the shape of x, and its dtype where that is a float's; integers
become floats as promotion says, but in functions that choose or cut (`relu`, `hard_tanh`, `identity`). All raise TypeError for
what is not an array and no number. Parameters (`alpha`, `negative_slope`, `b`) broadcast to x.
"""

from __future__ import annotations

import math
from typing import Any

from .. import numpy as jnp
from ..control.custom_jvp import custom_jvp
from ..core.annotations import Array, ArrayLike
from ..core.avals import aval_of
from ..core.dtypes import to_inexact
from ..eager.functions import eager_jit
from ..numpy.operands import one_axis, operand_and_aval, operands
from ..ops.elementwise import erfc_p, logistic_p
from ..ops.families import scalar_like


__all__ = ["celu", "elu", "gelu", "glu", "hard_sigmoid", "hard_silu", "hard_tanh", "identity", "leaky_relu",
           "log1mexp", "log_sigmoid", "mish", "relu", "relu6", "selu", "sigmoid", "silu", "soft_sign", "softplus",
           "sparse_plus", "sparse_sigmoid", "squareplus"]  # fmt: skip


_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772, 1.0507009873554805
"""With these the mean 0 and the variance 1 of inputs are kept."""


def array(name: str, x: Any) -> Array:
    """An operand as an array. Raises TypeError, with the function's name, for what is none."""
    return jnp.asarray(operand_and_aval(name, x)[0])


@eager_jit()
def identity(x: ArrayLike) -> Array:
    """x [...] as an array."""
    return array("identity", x)


# Rectifiers ----------------------------------------------------------------------------------------------------------


@custom_jvp
@eager_jit()
def relu(x: ArrayLike) -> Array:
    """max(x, 0), element by element [...]. Its derivative at 0 is 0."""
    return jnp.maximum(x, 0)


relu.defjvps(lambda t, out, x: jnp.where(jnp.greater(x, 0), t, 0))


@custom_jvp
@eager_jit()
def relu6(x: ArrayLike) -> Array:
    """min(max(x, 0), 6), element by element [...]. Its derivatives at 0 and 6 are 0."""
    return jnp.minimum(jnp.maximum(x, 0), 6.0)


relu6.defjvps(lambda t, out, x: jnp.where(jnp.logical_and(jnp.greater(x, 0), jnp.less(x, 6)), t, 0))


@eager_jit()
def leaky_relu(x: ArrayLike, negative_slope: ArrayLike = 1e-2) -> Array:
    """x where x >= 0, else negative_slope * x, element by element [...]."""
    x = array("leaky_relu", x)
    return jnp.where(x >= 0, x, negative_slope * x)


@eager_jit()
def elu(x: ArrayLike, alpha: ArrayLike = 1.0) -> Array:
    """x where x > 0, else alpha * (exp(x) - 1), element by element [...]."""
    x = array("elu", x)
    positive = x > 0
    below = jnp.where(positive, 0.0, x)  # what is not chosen must not overflow: its derivative would be NaN
    return jnp.where(positive, x, alpha * jnp.expm1(below))


@eager_jit()
def celu(x: ArrayLike, alpha: ArrayLike = 1.0) -> Array:
    """max(x, 0) + alpha * (exp(min(x, 0) / alpha) - 1), of which the derivative is continuous, element by element
    [...]."""
    below = jnp.divide(jnp.minimum(x, 0.0), alpha)
    return jnp.add(jnp.maximum(x, 0.0), jnp.multiply(alpha, jnp.expm1(below)))


@eager_jit()
def selu(x: ArrayLike) -> Array:
    """A scaled elu that keeps the mean 0 and the variance 1 of its inputs, element by element [...]."""
    return _SELU_SCALE * elu(x, _SELU_ALPHA)


@eager_jit()
def squareplus(x: ArrayLike, b: ArrayLike = 4) -> Array:
    """(x + sqrt(x² + b)) / 2, element by element [...]; b says how smooth it is near 0."""
    x, b = array("squareplus", x), array("squareplus", b)
    return (x + jnp.sqrt(jnp.square(x) + b)) / 2


@custom_jvp
@eager_jit()
def softplus(x: ArrayLike) -> Array:
    """log(1 + exp(x)), without overflow on the way, element by element [...]."""
    x = jnp.asarray(operands("softplus", x, 0, inexact=True)[0])
    if jnp.iscomplexobj(x):
        return jnp.logaddexp(x, 0)
    return jnp.maximum(x, 0) + jnp.log1p(jnp.exp(-jnp.abs(x)))


# That of the formula is not smooth at 0.
softplus.defjvps(lambda t, out, x: t * logistic_p(x))


@eager_jit()
def sparse_plus(x: ArrayLike) -> Array:
    """0 up to -1, x from 1 on, and (x + 1)² / 4 between, element by element [...]."""
    x = array("sparse_plus", x)
    bend = jnp.square(x + 1.0) / 4
    return jnp.where(x <= -1.0, 0.0, jnp.where(x >= 1.0, x, bend))


# Between two values --------------------------------------------------------------------------------------------------


@eager_jit()
def sigmoid(x: ArrayLike) -> Array:
    """1 / (1 + exp(-x)), element by element [...]. Raises TypeError for integers and booleans."""
    return logistic_p(operand_and_aval("sigmoid", x)[0])


@eager_jit()
def log_sigmoid(x: ArrayLike) -> Array:
    """log(sigmoid(x)), exact for very negative x too, element by element [...]."""
    return -softplus(-array("log_sigmoid", x))


@eager_jit()
def sparse_sigmoid(x: ArrayLike) -> Array:
    """0 up to -1, 1 from 1 on, (x + 1) / 2 between: the derivative of sparse_plus, element by element [...]."""
    return 0.5 * jnp.clip(jnp.add(x, 1.0), 0.0, 2.0)


@eager_jit()
def hard_sigmoid(x: ArrayLike) -> Array:
    """relu6(x + 3) / 6, element by element [...]."""
    return relu6(jnp.add(x, 3.0)) / 6.0


@eager_jit()
def hard_tanh(x: ArrayLike) -> Array:
    """x cut to [-1, 1]; NaN stays."""
    x = array("hard_tanh", x)
    return jnp.where(x > 1, 1, jnp.where(x < -1, -1, x))


@eager_jit()
def soft_sign(x: ArrayLike) -> Array:
    """x / (abs(x) + 1), element by element [...]."""
    x = array("soft_sign", x)
    return x / (jnp.abs(x) + 1)


# Gated ---------------------------------------------------------------------------------------------------------------


@eager_jit()
def silu(x: ArrayLike) -> Array:
    """x * sigmoid(x), element by element [...]. Raises TypeError for integers and booleans."""
    x = array("silu", x)
    return x * sigmoid(x)


@eager_jit()
def hard_silu(x: ArrayLike) -> Array:
    """x * hard_sigmoid(x), element by element [...]."""
    x = array("hard_silu", x)
    return x * hard_sigmoid(x)


@eager_jit()
def mish(x: ArrayLike) -> Array:
    """x * tanh(softplus(x)), element by element [...]."""
    x = array("mish", x)
    return x * jnp.tanh(softplus(x))


@eager_jit(static="approximate")
def gelu(x: ArrayLike, approximate: bool = True) -> Array:
    """x times the probability that a standard normal number is below x, element by element [...]; `approximate` takes a
    formula with tanh for it."""
    x = array("gelu", x)
    x = x.astype(to_inexact(x.dtype))
    if approximate:
        bent = scalar_like(x, math.sqrt(2 / math.pi)) * (x + 0.044715 * x**3)
        return x * (0.5 * (1.0 + jnp.tanh(bent)))
    return 0.5 * x * erfc_p(-x * scalar_like(x, math.sqrt(0.5)))


@eager_jit(static="axis")
def glu(x: ArrayLike, axis: int = -1) -> Array:
    """The first half of x along `axis`, times the sigmoid of the second half: [..., 2 n, ...] to [..., n, ...]. Raises
    ValueError where there is no such axis or its size is odd."""
    x = array("glu", x)
    size = x.shape[one_axis("glu", axis, x.ndim)]
    if size % 2:
        raise ValueError(f"glu halves axis {axis}, so its size must be even; x is {aval_of(x).short()}")
    left, right = jnp.split(x, 2, axis)
    return left * sigmoid(right)


@custom_jvp
@eager_jit()
def log1mexp(x: ArrayLike) -> Array:
    """log(1 - exp(-x)) for x >= 0, exact for small and for large x, element by element [...]; NaN below 0."""
    x = array("log1mexp", x)
    return jnp.where(x < math.log(2.0), jnp.log(-jnp.expm1(-x)), jnp.log1p(-jnp.exp(-x)))


log1mexp.defjvps(lambda t, out, x: jnp.divide(t, jnp.expm1(x)))
