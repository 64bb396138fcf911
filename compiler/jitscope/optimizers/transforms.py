"""The transformations that optimizers are made of: scaling by numbers, by schedules, and by running statistics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import lax, numpy as jnp
from ..core.annotations import DTypeLike, Number, PyTree, ScalarOrSchedule
from ..named_tuple import NamedTuple
from .base import (
    EmptyState,
    GradientTransformation,
    Schedule,
    cast,
    count_up,
    each,
    full_like,
    identity,
    square_of_size,
    stateless,
    zero_count,
    zeros_like,
)
from .masking import masked


__all__ = ["EmaState", "ScaleByAdamState", "ScaleByLionState", "ScaleByRStdDevState", "ScaleByRStdDevWithCountState",
           "ScaleByRmsState", "ScaleByRmsWithCountState", "ScaleByRssState", "ScaleByScheduleState", "TraceState",
           "WeightDecaySchedule", "add_decayed_weights", "ema", "scale", "scale_by_adam", "scale_by_learning_rate",
           "scale_by_lion", "scale_by_rms", "scale_by_rss", "scale_by_schedule", "scale_by_stddev", "trace"]  # fmt: skip


class ScaleByScheduleState(NamedTuple):
    """The state of `scale_by_schedule`: the steps done."""

    count: Any


class TraceState(NamedTuple):
    """The state of `trace`: the sum of updates, a tree as the parameters."""

    trace: Any


class ScaleByAdamState(NamedTuple):
    """The state of `scale_by_adam`: the steps done, the running means of updates and of their squares, trees as the parameters."""

    count: Any
    mu: Any
    nu: Any


class ScaleByRmsState(NamedTuple):
    """The state of `scale_by_rms`: the running mean of squares, a tree as the parameters."""

    nu: Any


class ScaleByRmsWithCountState(NamedTuple):
    """The state of `scale_by_rms` with `bias_correction`: the steps done, and the running mean of squares."""

    count: Any
    nu: Any


class ScaleByRStdDevState(NamedTuple):
    """The state of `scale_by_stddev`: the running means of updates and of their squares, trees as the parameters."""

    mu: Any
    nu: Any


class ScaleByRStdDevWithCountState(NamedTuple):
    """The state of `scale_by_stddev` with `bias_correction`: the steps done, and the running means of updates and of squares."""

    count: Any
    mu: Any
    nu: Any


class ScaleByRssState(NamedTuple):
    """The state of `scale_by_rss`: the sum of squares, a tree as the parameters."""

    sum_of_squares: Any


class ScaleByLionState(NamedTuple):
    """The state of `scale_by_lion`: the steps done, and the running mean of updates."""

    count: Any
    mu: Any


class WeightDecaySchedule(NamedTuple):
    """The state of `add_decayed_weights` with a schedule: the steps done."""

    count: Any


class EmaState(NamedTuple):
    """The state of `ema`: the steps done, and the running mean of updates, a tree as the parameters."""

    count: Any
    ema: Any


# By numbers ------------------------------------------------------------------------------------------------------------


def scale(step_size: Number) -> GradientTransformation:
    """Updates times a number."""
    return stateless(lambda updates, params: each(lambda g: step_size * g, updates))


def scale_by_schedule(step_size_fn: Schedule) -> GradientTransformation:
    """Updates times what the schedule says for the number of steps done; they keep their dtypes."""

    def update(updates, state, params=None):
        step_size = step_size_fn(state.count)
        updates = each(lambda g: jnp.asarray(step_size).astype(g.dtype) * g, updates)
        return updates, ScaleByScheduleState(count_up(state.count))

    return GradientTransformation(lambda params: ScaleByScheduleState(zero_count()), update)


def scale_by_learning_rate(
    learning_rate: ScalarOrSchedule | None = None, *, flip_sign: bool = True
) -> GradientTransformation:
    """Times the learning rate, a number or a schedule, and -1, so that adding the updates goes downhill; nothing for None."""
    if learning_rate is None:
        return identity()
    sign = -1 if flip_sign else 1
    if callable(learning_rate):
        schedule: Schedule = learning_rate
        return scale_by_schedule(lambda count: sign * schedule(count))
    return scale(sign * learning_rate)


def add_decayed_weights(weight_decay: ScalarOrSchedule = 0.0, mask: PyTree = None) -> GradientTransformation:
    """Plus weight_decay (a number or a schedule) times the parameters, for those that the mask picks (see `masked`). `update`
    raises ValueError without parameters."""
    by_schedule = callable(weight_decay)
    strength: Any = weight_decay

    def init(params):
        return WeightDecaySchedule(zero_count()) if by_schedule else EmptyState()

    def update(updates, state, params=None):
        if params is None:
            raise ValueError(
                "decaying weights takes the parameters: call update(updates, state, params) with all three"
            )
        decay = strength(state.count) if by_schedule else strength
        if not (isinstance(decay, (int, float)) and decay == 0):
            updates = each(lambda g, p: g + decay * p, updates, params)
        return updates, WeightDecaySchedule(count_up(state.count)) if by_schedule else state

    tx = GradientTransformation(init, update)
    return tx if mask is None else masked(tx, mask)


# By running statistics -------------------------------------------------------------------------------------------------


def _running_mean(updates: Any, mean: Any, decay: Any) -> Any:
    return each(lambda g, m: (1 - decay) * g + decay * m, updates, mean)


def _running_square(updates: Any, mean: Any, decay: Any) -> Any:
    return each(lambda g, v: (1 - decay) * square_of_size(g) + decay * v, updates, mean)


def _without_bias(mean: Any, decay: Any, count: Any) -> Any:
    """What a running mean that began at zero would be without its beginning. The factor is rounded to the dtype of the mean
    only at the end: in bfloat16 a power of 0.999 is 1."""
    missing = jnp.asarray(1 - decay**count)
    return each(lambda m: m / missing.astype(m.dtype), mean)


def trace(decay: Number, nesterov: bool = False, accumulator_dtype: DTypeLike | None = None) -> GradientTransformation:
    """The sum of updates in which older ones count less by `decay` for each step; with `nesterov`, one step ahead. The sum is
    kept in accumulator_dtype (None: that of the parameters)."""

    def update(updates, state, params=None):
        total = each(lambda g, t: g + decay * t, updates, state.trace)
        ahead = each(lambda g, t: g + decay * t, updates, total) if nesterov else total
        return ahead, TraceState(cast(total, accumulator_dtype))

    return GradientTransformation(lambda params: TraceState(zeros_like(params, accumulator_dtype)), update)


def ema(decay: Number, debias: bool = True, accumulator_dtype: DTypeLike | None = None) -> GradientTransformation:
    """The running mean of updates, corrected for its beginning at zero if `debias`."""

    def update(updates, state, params=None):
        mean, count = _running_mean(updates, state.ema, decay), count_up(state.count)
        return _without_bias(mean, decay, count) if debias else mean, EmaState(count, cast(mean, accumulator_dtype))

    return GradientTransformation(lambda params: EmaState(zero_count(), zeros_like(params, accumulator_dtype)), update)


def scale_by_adam(
    b1: Number = 0.9,
    b2: Number = 0.999,
    eps: Number = 1e-8,
    eps_root: Number = 0.0,
    mu_dtype: DTypeLike | None = None,
    *,
    nesterov: bool = False,
) -> GradientTransformation:
    """Running mean over the root of the running mean square, m / (sqrt(v + eps_root) + eps), both corrected for their
    beginning at zero (Kingma and Ba, 2014). The mean is kept in mu_dtype (None: that of the parameters)."""

    def init(params):
        return ScaleByAdamState(zero_count(), zeros_like(params, mu_dtype), zeros_like(params))

    def update(updates, state, params=None):
        mu, nu = _running_mean(updates, state.mu, b1), _running_square(updates, state.nu, b2)
        count = count_up(state.count)
        if nesterov:
            ahead, now = _without_bias(mu, b1, count_up(count)), _without_bias(updates, b1, count)
            mean = each(lambda m, g: b1 * m + (1 - b1) * g, ahead, now)
        else:
            mean = _without_bias(mu, b1, count)
        square = _without_bias(nu, b2, count)
        updates = each(lambda m, v: m / (jnp.sqrt(v + eps_root) + eps), mean, square)
        nu = each(lambda new, old: new.astype(old.dtype), nu, state.nu)
        return updates, ScaleByAdamState(count, cast(mu, mu_dtype), nu)

    return GradientTransformation(init, update)


def scale_by_rms(
    decay: Number = 0.9,
    eps: Number = 1e-8,
    initial_scale: Number = 0.0,
    eps_in_sqrt: bool = True,
    bias_correction: bool = False,
) -> GradientTransformation:
    """Updates over the root of their running mean square."""

    def init(params):
        nu = full_like(params, initial_scale)
        return ScaleByRmsWithCountState(zero_count(), nu) if bias_correction else ScaleByRmsState(nu)

    def update(updates, state, params=None):
        nu = square = _running_square(updates, state.nu, decay)
        new: Any = ScaleByRmsState(nu)
        if bias_correction:
            new = ScaleByRmsWithCountState(count_up(state.count), nu)
            square = _without_bias(nu, decay, new.count)
        return each(lambda g, v: _over_root(v, eps, eps_in_sqrt) * g, updates, square), new

    return GradientTransformation(init, update)


def scale_by_stddev(
    decay: Number = 0.9,
    eps: Number = 1e-8,
    initial_scale: Number = 0.0,
    eps_in_sqrt: bool = True,
    bias_correction: bool = False,
) -> GradientTransformation:
    """Updates over their running standard deviation."""

    def init(params):
        mu, nu = zeros_like(params), full_like(params, initial_scale)
        return ScaleByRStdDevWithCountState(zero_count(), mu, nu) if bias_correction else ScaleByRStdDevState(mu, nu)

    def update(updates, state, params=None):
        mu = mean = _running_mean(updates, state.mu, decay)
        nu = square = _running_square(updates, state.nu, decay)
        new: Any = ScaleByRStdDevState(mu, nu)
        if bias_correction:
            new = ScaleByRStdDevWithCountState(count_up(state.count), mu, nu)
            mean, square = _without_bias(mu, decay, new.count), _without_bias(nu, decay, new.count)
        variance = each(lambda v, m: v - square_of_size(m), square, mean)
        return each(lambda g, v: _over_root(v, eps, eps_in_sqrt) * g, updates, variance), new

    return GradientTransformation(init, update)


def _over_root(square: Any, eps: Any, eps_in_sqrt: bool) -> Any:
    return lax.rsqrt(square + eps) if eps_in_sqrt else 1 / (jnp.sqrt(square) + eps)


def scale_by_rss(initial_accumulator_value: Number = 0.1, eps: Number = 1e-7) -> GradientTransformation:
    """Updates over the root of the sum of all their squares so far."""

    def update(updates, state, params=None):
        total = each(lambda g, t: square_of_size(g) + t, updates, state.sum_of_squares)
        updates = each(lambda g, t: jnp.where(t > 0, lax.rsqrt(t + eps), 0.0) * g, updates, total)
        return updates, ScaleByRssState(total)

    return GradientTransformation(lambda params: ScaleByRssState(full_like(params, initial_accumulator_value)), update)


_SIGNS: dict[str, Callable[[Any, float], Any]] = {
    "hard": lambda x, beta: jnp.sign(x),
    "smooth": lambda x, beta: jnp.tanh(beta * x),
    "refined": lambda x, beta: jnp.where(jnp.abs(x) < 1.0, x, jnp.sign(x)),
}


def scale_by_lion(
    b1: Number = 0.9,
    b2: Number = 0.99,
    mu_dtype: DTypeLike | None = None,
    *,
    mode: str = "hard",
    smooth_beta: float = 1.0,
) -> GradientTransformation:
    """The sign of a running mean; `mode` "smooth" (tanh) and "refined" (small values as they are) soften it. Raises ValueError
    for other modes."""
    if mode not in _SIGNS:
        raise ValueError(f"lion's mode is one of {', '.join(map(repr, _SIGNS))}; it was {mode!r}")

    def update(updates, state, params=None):
        mu = cast(_running_mean(updates, state.mu, b2), mu_dtype)
        updates = each(lambda g, m: _SIGNS[mode]((1.0 - b1) * g + b1 * m, smooth_beta), updates, state.mu)
        return updates, ScaleByLionState(count_up(state.count), mu)

    return GradientTransformation(lambda params: ScaleByLionState(zero_count(), zeros_like(params, mu_dtype)), update)
