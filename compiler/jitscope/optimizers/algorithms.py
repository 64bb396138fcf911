"""The optimizers by name. A learning rate is a number, a scalar array or a schedule."""

from __future__ import annotations

from ..core.annotations import DTypeLike, Number, PyTree, ScalarOrSchedule
from .base import GradientTransformation, chain, identity
from .transforms import (
    add_decayed_weights,
    scale_by_adam,
    scale_by_learning_rate,
    scale_by_lion,
    scale_by_rms,
    scale_by_rss,
    scale_by_stddev,
    trace,
)


__all__ = ["adagrad", "adam", "adamw", "lion", "momentum", "rmsprop", "sgd"]


def sgd(
    learning_rate: ScalarOrSchedule,
    momentum: Number | None = None,
    nesterov: bool = False,
    accumulator_dtype: DTypeLike | None = None,
) -> GradientTransformation:
    """Gradient descent, with the given momentum or without, kept in accumulator_dtype (None: that of the parameters).
    Updates have the parameters' tree, shapes and dtypes, as in all of these."""
    first = identity() if momentum is None else trace(momentum, nesterov, accumulator_dtype)
    return chain(first, scale_by_learning_rate(learning_rate))


def momentum(
    learning_rate: ScalarOrSchedule,
    momentum: Number | None = 0.9,
    nesterov: bool = False,
    accumulator_dtype: DTypeLike | None = None,
) -> GradientTransformation:
    """`sgd` with momentum: the trace t becomes momentum t + g (`nesterov`: one step ahead), and updates are
    -learning_rate t."""
    return sgd(learning_rate, momentum, nesterov, accumulator_dtype)


def rmsprop(
    learning_rate: ScalarOrSchedule,
    decay: Number = 0.9,
    eps: Number = 1e-8,
    initial_scale: Number = 0.0,
    eps_in_sqrt: bool = True,
    centered: bool = False,
    momentum: Number | None = None,
    nesterov: bool = False,
    bias_correction: bool = False,
) -> GradientTransformation:
    """Gradients over the root of their running mean square (Tieleman and Hinton, 2012); `centered`: over their running
    standard deviation (Graves, 2013)."""
    scaled = (scale_by_stddev if centered else scale_by_rms)(decay, eps, initial_scale, eps_in_sqrt, bias_correction)
    last = identity() if momentum is None else trace(momentum, nesterov)
    return chain(scaled, scale_by_learning_rate(learning_rate), last)


def adagrad(
    learning_rate: ScalarOrSchedule, initial_accumulator_value: Number = 0.1, eps: Number = 1e-7
) -> GradientTransformation:
    """Gradients over the root of the sum of all their squares (Duchi and others, 2011)."""
    return chain(scale_by_rss(initial_accumulator_value, eps), scale_by_learning_rate(learning_rate))


def adam(
    learning_rate: ScalarOrSchedule,
    b1: Number = 0.9,
    b2: Number = 0.999,
    eps: Number = 1e-8,
    eps_root: Number = 0.0,
    mu_dtype: DTypeLike | None = None,
    *,
    nesterov: bool = False,
) -> GradientTransformation:
    """Adam (Kingma and Ba, 2014; `nesterov`: Dozat, 2016): updates are -learning_rate times those of `scale_by_adam`."""
    return chain(
        scale_by_adam(b1, b2, eps, eps_root, mu_dtype, nesterov=nesterov), scale_by_learning_rate(learning_rate)
    )


def adamw(
    learning_rate: ScalarOrSchedule,
    b1: Number = 0.9,
    b2: Number = 0.999,
    eps: Number = 1e-8,
    eps_root: Number = 0.0,
    mu_dtype: DTypeLike | None = None,
    weight_decay: ScalarOrSchedule = 1e-4,
    mask: PyTree = None,
    *,
    nesterov: bool = False,
) -> GradientTransformation:
    """Adam, and the parameters themselves shrink by learning_rate × weight_decay in each step, those that the mask
    picks (Loshchilov and Hutter, 2017)."""
    return chain(
        scale_by_adam(b1, b2, eps, eps_root, mu_dtype, nesterov=nesterov),
        add_decayed_weights(weight_decay, mask),
        scale_by_learning_rate(learning_rate),
    )


def lion(
    learning_rate: ScalarOrSchedule,
    b1: Number = 0.9,
    b2: Number = 0.99,
    mu_dtype: DTypeLike | None = None,
    weight_decay: ScalarOrSchedule = 1e-3,
    mask: PyTree = None,
) -> GradientTransformation:
    """Steps of one size: the signs of a running mean, and decaying weights as in `adamw` (Chen and others, 2023)."""
    return chain(
        scale_by_lion(b1, b2, mu_dtype), add_decayed_weights(weight_decay, mask), scale_by_learning_rate(learning_rate)
    )
