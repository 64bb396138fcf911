"""Numbers that change with the number of steps: functions of the count, a Python number or a traced integer."""

from __future__ import annotations

from collections.abc import Sequence

from .. import numpy as jnp
from ..core.annotations import Number
from .base import Schedule


__all__ = ["constant_schedule", "cosine_decay_schedule", "exponential_decay", "join_schedules", "linear_schedule",
           "piecewise_constant_schedule", "polynomial_schedule", "warmup_constant_schedule",
           "warmup_cosine_decay_schedule", "warmup_exponential_decay_schedule"]  # fmt: skip


def constant_schedule(value: Number) -> Schedule:
    """Always the value."""
    return lambda count: value


def polynomial_schedule(
    init_value: Number,
    end_value: Number,
    power: Number,
    transition_steps: int,
    transition_begin: int = 0,
) -> Schedule:
    """From init_value to end_value over transition_steps steps that begin at transition_begin, by the given power of what is
    left of the way. No steps: always init_value."""
    if transition_steps <= 0:
        return lambda count: init_value
    begin = max(transition_begin, 0)

    def schedule(count):
        done = jnp.clip(count - begin, 0, transition_steps)
        return (init_value - end_value) * (1 - done / transition_steps) ** power + end_value

    return schedule


def linear_schedule(
    init_value: Number, end_value: Number, transition_steps: int, transition_begin: int = 0
) -> Schedule:
    """In a straight line from init_value to end_value; else as `polynomial_schedule`."""
    return polynomial_schedule(init_value, end_value, 1, transition_steps, transition_begin)


def exponential_decay(
    init_value: Number,
    transition_steps: int,
    decay_rate: Number,
    transition_begin: int = 0,
    staircase: bool = False,
    end_value: Number | None = None,
) -> Schedule:
    """init_value times decay_rate for every transition_steps steps after transition_begin, bit by bit or at once
    (`staircase`), but not beyond end_value. No steps, or a rate of 0: always init_value."""
    if transition_steps <= 0 or decay_rate == 0:
        return lambda count: init_value
    begin = max(transition_begin, 0)

    def schedule(count):
        since = count - begin
        periods = since / transition_steps
        periods = jnp.floor(periods) if staircase else periods
        value = jnp.where(since <= 0, init_value, init_value * jnp.power(decay_rate, periods))
        if end_value is None:
            return value
        return jnp.maximum(value, end_value) if decay_rate < 1 else jnp.minimum(value, end_value)

    return schedule


def cosine_decay_schedule(
    init_value: Number, decay_steps: int, alpha: Number = 0.0, exponent: Number = 1.0
) -> Schedule:
    """From init_value to alpha times it along half a period of the cosine, raised to `exponent`. Raises ValueError unless
    decay_steps is positive."""
    if not decay_steps > 0:
        raise ValueError(f"cosine_decay_schedule needs a positive number of decay_steps, it got {decay_steps!r}")

    def schedule(count):
        done = jnp.minimum(count, float(decay_steps)) / decay_steps
        decayed = (0.5 * (1 + jnp.cos(jnp.pi * done))) ** exponent
        return init_value * ((1 - alpha) * decayed + alpha)

    return schedule


def piecewise_constant_schedule(init_value: Number, boundaries_and_scales: dict[int, float] | None = None) -> Schedule:
    """init_value times each scale whose boundary is reached. Raises ValueError for negative scales."""
    steps = sorted((boundaries_and_scales or {}).items())
    if any(scale < 0 for _, scale in steps):
        raise ValueError(f"piecewise_constant_schedule takes scales that are not negative, it got {dict(steps)}")

    def schedule(count):
        value = init_value
        for boundary, scale in steps:
            value = jnp.where(count < boundary, value, scale * value)
        return value

    return schedule


def join_schedules(schedules: Sequence[Schedule], boundaries: Sequence[int]) -> Schedule:
    """One schedule after the other, each from the boundary on where the one before ends, counting from there. Raises
    ValueError unless there is one boundary fewer than schedules."""
    if len(boundaries) != len(schedules) - 1:
        raise ValueError(
            f"join_schedules puts a boundary between any two schedules; it got {len(schedules)} schedules and "
            f"{len(boundaries)} boundaries"
        )

    def schedule(count):
        value = schedules[0](count)
        for boundary, later in zip(boundaries, schedules[1:]):
            value = jnp.where(count < boundary, value, later(count - boundary))
        return value

    return schedule


def warmup_constant_schedule(init_value: Number, peak_value: Number, warmup_steps: int) -> Schedule:
    """In a straight line to peak_value, which then stays."""
    return linear_schedule(init_value, peak_value, warmup_steps)


def warmup_cosine_decay_schedule(
    init_value: Number,
    peak_value: Number,
    warmup_steps: int,
    decay_steps: int,
    end_value: Number = 0.0,
    exponent: Number = 1.0,
) -> Schedule:
    """In a straight line to peak_value, then along a cosine to end_value; decay_steps counts both."""
    alpha = 0.0 if peak_value == 0 else end_value / peak_value
    down = cosine_decay_schedule(peak_value, decay_steps - warmup_steps, alpha, exponent)
    return join_schedules([linear_schedule(init_value, peak_value, warmup_steps), down], [warmup_steps])


def warmup_exponential_decay_schedule(
    init_value: Number,
    peak_value: Number,
    warmup_steps: int,
    transition_steps: int,
    decay_rate: Number,
    transition_begin: int = 0,
    staircase: bool = False,
    end_value: Number | None = None,
) -> Schedule:
    """In a straight line to peak_value, then as `exponential_decay`."""
    down = exponential_decay(peak_value, transition_steps, decay_rate, transition_begin, staircase, end_value)
    return join_schedules([linear_schedule(init_value, peak_value, warmup_steps), down], [warmup_steps])
