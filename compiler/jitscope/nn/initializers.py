"""Initial parameters: functions that make functions `init(key, shape, dtype)`, under JAX's names.

Drawn from JAX's bits: uniform ones are equal to JAX's, those that go through a logarithm, the inverse of erf or QR agree to a few
units in the last place. `dtype` is the default float if None, and may be complex where JAX allows it. `out_sharding` says how they
lie over several devices. `in_axis`, `out_axis`, `batch_axis` are an axis or several: inputs, outputs, and independent copies.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from .. import numpy as jnp, random
from ..backend.placement import laying
from ..core import dtypes
from ..core.annotations import Array, ArrayLike, DTypeLike, PartitionSpec, Sharding
from ..eager.functions import eager_jit
from ..numpy.dtypes import requested
from ..numpy.operands import one_axis, shape_of
from . import drawing


__all__ = ["Initializer", "constant", "delta_orthogonal", "glorot_normal", "glorot_uniform", "he_normal", "he_uniform",
           "kaiming_normal", "kaiming_uniform", "lecun_normal", "lecun_uniform", "normal", "ones", "orthogonal",
           "truncated_normal", "uniform", "variance_scaling", "xavier_normal", "xavier_uniform", "zeros"]  # fmt: skip


Axes = int | Sequence[int]


@runtime_checkable
class Initializer(Protocol):
    """What these functions give: a function of a key, a shape and, optionally, a dtype."""

    def __call__(
        self,
        key: ArrayLike,
        shape: int | Sequence[int],
        dtype: DTypeLike | None = None,
        out_sharding: Sharding | PartitionSpec | None = None,
    ) -> Array:
        """An array of `shape`, drawn with `key`; `out_sharding` says how it lies on devices."""
        ...


def _settled(shape: Any, dtype: Any) -> tuple[tuple[int, ...], Any]:
    dtype = dtypes.default_float() if dtype is None else requested(dtype, "initializers")
    return shape_of("initializers", shape), dtype


def _initializer(dtype: Any, draw: Callable[[Any, tuple[int, ...], Any], Any]) -> Initializer:
    @laying
    def init(key: Any, shape: Any, dtype: Any = dtype, out_sharding: Any = None) -> Any:
        return draw(key, *_settled(shape, dtype))

    return init


# Without chance ------------------------------------------------------------------------------------------------------


@laying
def zeros(
    key: ArrayLike,
    shape: int | Sequence[int],
    dtype: DTypeLike | None = None,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """Zeros [*shape], whatever the key."""
    return jnp.zeros(*_settled(shape, dtype))


@laying
def ones(
    key: ArrayLike,
    shape: int | Sequence[int],
    dtype: DTypeLike | None = None,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> Array:
    """Ones [*shape], whatever the key."""
    return jnp.ones(*_settled(shape, dtype))


def constant(value: ArrayLike, dtype: DTypeLike | None = None) -> Initializer:
    """Gives arrays filled with `value`, which broadcasts to their shape."""
    return _initializer(dtype, lambda key, shape, dtype: jnp.full(shape, value, dtype))


# Of one distribution -------------------------------------------------------------------------------------------------


def uniform(scale: ArrayLike = 1e-2, dtype: DTypeLike | None = None) -> Initializer:
    """Gives an initializer of numbers [*shape] uniform in [0, scale)."""
    return _initializer(dtype, lambda key, shape, dtype: random.uniform(key, shape, dtype) * jnp.array(scale, dtype))


def normal(stddev: ArrayLike = 1e-2, dtype: DTypeLike | None = None) -> Initializer:
    """Gives an initializer of normal numbers [*shape] of mean 0 and that standard deviation."""
    return _initializer(dtype, lambda key, shape, dtype: random.normal(key, shape, dtype) * jnp.array(stddev, dtype))


def truncated_normal(
    stddev: ArrayLike = 1e-2, dtype: DTypeLike | None = None, lower: ArrayLike = -2.0, upper: ArrayLike = 2.0
) -> Initializer:
    """Gives an initializer of stddev times standard normal numbers [*shape] that lie between `lower` and `upper`. It
    raises ValueError for a dtype that is not a float."""

    def draw(key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        return random.truncated_normal(key, lower, upper, shape, dtype) * jnp.array(stddev, dtype)

    return _initializer(dtype, draw)


# Of a variance that fits the layer -----------------------------------------------------------------------------------


def _sizes(shape: tuple[int, ...], in_axis: Axes, out_axis: Axes, batch_axis: Axes) -> tuple[float, float]:
    """How many inputs an output has, and how many outputs an input has; axes not named belong to a window, as of a convolution."""
    if len(shape) < 2 and isinstance(in_axis, int) and in_axis == -2:
        raise ValueError(f"the shape {shape} has no axis -2 for the inputs: give one of two axes, or name in_axis")

    def size(axes: Axes) -> int:
        named = (axes,) if isinstance(axes, int) else axes
        return math.prod(shape[one_axis("variance_scaling", i, len(shape))] for i in named)

    inputs, outputs, copies = size(in_axis), size(out_axis), size(batch_axis)
    window = math.prod(shape) / inputs / outputs / copies if math.prod(shape) else 0.0
    return inputs * window, outputs * window


_FANS: dict[str, Callable[[float, float], float]] = {
    "fan_in": lambda inputs, outputs: inputs,
    "fan_out": lambda inputs, outputs: outputs,
    "fan_avg": lambda inputs, outputs: (inputs + outputs) / 2,
    "fan_geo_avg": lambda inputs, outputs: math.sqrt(inputs * outputs),
}
_DISTRIBUTIONS = ("truncated_normal", "normal", "uniform")


def variance_scaling(
    scale: ArrayLike,
    mode: str,
    distribution: str,
    in_axis: Axes = -2,
    out_axis: Axes = -1,
    batch_axis: Axes = (),
    dtype: DTypeLike | None = None,
) -> Initializer:
    """Gives numbers of mean 0 and variance scale / n.

    n is the number of inputs ("fan_in"), of outputs ("fan_out"), their mean ("fan_avg") or the root of their product
    ("fan_geo_avg"). `distribution`: "normal", "truncated_normal" (cut at two standard deviations, then scaled) or "uniform". Raises
    ValueError, when called, for other names and for a shape without the axes named.
    """

    def draw(key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        if mode not in _FANS:
            raise ValueError(f"variance_scaling: mode is one of {', '.join(_FANS)}, not {mode!r}")
        if distribution not in _DISTRIBUTIONS:
            raise ValueError(
                f"variance_scaling: distribution is one of {', '.join(_DISTRIBUTIONS)}, not {distribution!r}"
            )
        count = _FANS[mode](*_sizes(shape, in_axis, out_axis, batch_axis))
        if not count:
            return jnp.zeros(shape, dtype)
        return _scaled(key, jnp.array(scale / count, dtype), distribution, shape, dtype)

    return _initializer(dtype, draw)


_CUT_AT_TWO = 0.87962566103423978
"""The standard deviation of standard normal numbers cut at -2 and 2."""
_CUT_AT_TWO_COMPLEX = 0.95311164380491208
"""That of complex ones cut at radius 2."""


@eager_jit(static="distribution shape dtype")
def _scaled(key: Any, variance: Any, distribution: str, shape: tuple[int, ...], dtype: Any) -> Any:
    is_complex = dtypes.is_complex(dtype)
    deviation = jnp.sqrt(variance)
    if distribution == "normal":
        return random.normal(key, shape, dtype) * deviation
    if distribution == "uniform":
        if is_complex:
            return drawing.in_disc(key, shape, dtype) * deviation
        return random.uniform(key, shape, dtype, -1) * jnp.sqrt(3 * variance)
    if is_complex:
        return drawing.normal_in_disc(key, 2, shape, dtype) * (deviation / jnp.array(_CUT_AT_TWO_COMPLEX, dtype))
    return random.truncated_normal(key, -2, 2, shape, dtype) * (deviation / jnp.array(_CUT_AT_TWO, dtype))


def _named(name: str, scale: float, mode: str, distribution: str, doc: str) -> Callable[..., Initializer]:
    def make(in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = None) -> Initializer:
        return variance_scaling(scale, mode, distribution, in_axis, out_axis, batch_axis, dtype)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"{doc}: variance_scaling({scale}, {mode!r}, {distribution!r})."
    return make


_BOTH, _INPUTS = "of variance 2 / (inputs + outputs)", "of variance 1 / inputs"
_CUT = "normal numbers, cut,"
glorot_uniform = _named("glorot_uniform", 1.0, "fan_avg", "uniform", f"Gives uniform numbers {_BOTH}")
glorot_normal = _named("glorot_normal", 1.0, "fan_avg", "truncated_normal", f"Gives {_CUT} {_BOTH}")
lecun_uniform = _named("lecun_uniform", 1.0, "fan_in", "uniform", f"Gives uniform numbers {_INPUTS}")
lecun_normal = _named("lecun_normal", 1.0, "fan_in", "truncated_normal", f"Gives {_CUT} {_INPUTS}")
he_uniform = _named("he_uniform", 2.0, "fan_in", "uniform", "Gives uniform numbers of variance 2 / inputs")
he_normal = _named("he_normal", 2.0, "fan_in", "truncated_normal", f"Gives {_CUT} of variance 2 / inputs")
xavier_uniform, xavier_normal = glorot_uniform, glorot_normal
kaiming_uniform, kaiming_normal = he_uniform, he_normal


# Orthogonal ----------------------------------------------------------------------------------------------------------


def orthogonal(scale: ArrayLike = 1.0, column_axis: int = -1, dtype: DTypeLike | None = None) -> Initializer:
    """Gives `scale` times a random orthogonal matrix, whose columns lie along `column_axis` and whose rows along the other axes;
    if it is not square, the vectors along the shorter side are orthonormal. Raises ValueError for a shape of fewer than two
    axes."""

    def draw(key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        if len(shape) < 2:
            raise ValueError(f"orthogonal: the shape must have two axes or more, not {shape}")
        axis = one_axis("orthogonal", column_axis, len(shape))
        if 0 in shape:
            return jnp.zeros(shape, dtype)
        columns, others = shape[axis], shape[:axis] + shape[axis + 1 :]
        matrix = random.orthogonal(key, math.prod(others), (), dtype, columns)
        return jnp.array(scale, dtype) * jnp.moveaxis(jnp.reshape(matrix, (*others, columns)), -1, axis)

    return _initializer(dtype, draw)


def delta_orthogonal(scale: ArrayLike = 1.0, column_axis: int = -1, dtype: DTypeLike | None = None) -> Initializer:
    """Gives the weights of a convolution in one to three dimensions, of shape [..., inputs, outputs], which keep norms: an
    orthogonal matrix in the middle of the window and zeros around it. Raises ValueError for shapes of other than 3 to 5 axes and
    for more inputs than outputs."""

    def draw(key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        if len(shape) not in (3, 4, 5):
            raise ValueError(f"delta_orthogonal: the shape has 3, 4 or 5 axes, not {shape}")
        if shape[-1] < shape[-2]:
            raise ValueError(
                f"delta_orthogonal: there must be no more inputs (axis -2) than outputs (axis -1) in {shape}"
            )
        matrix = orthogonal(scale, column_axis, dtype)(key, shape[-2:])
        middle = tuple(int((n - 1) // 2) for n in shape[:-2])
        return jnp.zeros(shape, dtype).at[middle].set(matrix) if np.prod(shape) else jnp.zeros(shape, dtype)

    return _initializer(dtype, draw)
