"""How far to go in one direction: a step that fulfils the strong Wolfe conditions.

The value must fall by at least a share `SLOW` of what the slope promises, and the slope must shrink to a share `STEEP` of what it
was (J. Nocedal and S. Wright, Numerical Optimization, 2nd ed., algorithms 3.5 and 3.6).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import lax, numpy as jnp
from ...api.gradients import value_and_grad
from ...named_tuple import NamedTuple
from ...numpy import finfo


SLOW, STEEP = 1e-4, 0.9
MOST_ZOOMS = 30


class Step(NamedTuple):
    """A length in the direction, and the value, the slope (along the direction) and the gradient there."""

    length: Any
    value: Any
    slope: Any
    gradient: Any


class LineSearchResult(NamedTuple):
    """What a line search gives: the step, whether it failed, why (1: while zooming, 3: too many steps), how often the function
    was evaluated."""

    step: Step
    failed: Any
    status: Any
    evaluations: Any


def choose(condition: Any, new: Any, old: Any) -> Any:
    """A tuple of arrays or another of the same kind."""
    return type(new)(*[jnp.where(condition, x, y).astype(jnp.result_type(y)) for x, y in zip(new, old)])


def dot(x: Any, y: Any) -> Any:
    return jnp.dot(x, y, precision=lax.Precision.HIGHEST)


def line_search(
    fun: Callable[[Any], Any], x: Any, direction: Any, value: Any, gradient: Any, before: Any = None, most: int = 20
) -> LineSearchResult:
    """Search from `x` in `direction`, where `fun` has `value` and `gradient`; `before` is its value one step earlier."""
    slope = jnp.real(dot(gradient, direction))

    def at(length: Any) -> Step:
        length = jnp.asarray(length).astype(jnp.real(direction).dtype)
        found, there = value_and_grad(fun)(x + length.astype(direction.dtype) * direction)
        step = Step(length, found, jnp.real(dot(there, direction)), there)
        return Step(*[jnp.asarray(a).astype(jnp.result_type(b)) for a, b in zip(step, (slope, value, slope, gradient))])

    # Near a minimum values differ by their rounding alone; the slope still tells where to go.
    rounding = 2 * finfo(slope.dtype).eps * jnp.abs(value)

    def too_high(step: Step) -> Any:
        return step.value > value + SLOW * step.length * slope + rounding

    def flat(step: Step) -> Any:
        return jnp.abs(step.slope) <= -STEEP * slope

    first = jnp.ones_like(slope) if before is None else _first_length(value, before, slope)
    here = Step(jnp.zeros_like(slope), value, slope, gradient)

    def body(state: Any) -> Any:
        i, last, star, _, failed, count = state
        step = at(jnp.where(i == 1, first, last.length * 2))
        past = too_high(step) | ((step.value >= last.value) & (i > 1))
        good = flat(step) & ~past
        rising = (step.slope >= 0) & ~past & ~good
        # A good step lies between this one and the last, and the lower of them is given first.
        ends = choose(past, last, step), choose(past, step, last)
        found, zoom_failed, zooms = _zoom(at, too_high, flat, *ends, past | rising)
        star = choose(good, step, choose(past | rising, found, star))
        return i + 1, step, star, past | good | rising, failed | zoom_failed, count + 1 + zooms

    start = (1, here, here, jnp.asarray(False), jnp.asarray(False), 0)
    i, _, star, done, failed, count = lax.while_loop(lambda s: ~s[3] & ~s[4] & (s[0] <= most), body, start)
    status = jnp.where(failed, 1, jnp.where(i > most, 3, 0))
    return LineSearchResult(star._replace(length=_floored(star.length)), failed | ~done, status, count)


def _first_length(value: Any, before: Any, slope: Any) -> Any:
    """1, or less if the last step makes a quadratic function expect less (and rounding has not hidden how far it went)."""
    guess = 1.01 * 2 * (value - before) / slope
    return jnp.where((guess > 0) & (guess < 1), guess, 1.0)


def _floored(length: Any) -> Any:
    """A length that moves a vector of less than 64 bits at all."""
    if finfo(length.dtype).bits == 64:
        return length
    return jnp.where(jnp.abs(length) < 1e-8, jnp.sign(length) * 1e-8, length)


def _zoom(at: Any, too_high: Any, flat: Any, low: Step, high: Step, wanted: Any) -> tuple[Step, Any, Any]:
    """A good step between `low` and `high`, whether there was none (then the lowest found), and how often the function was
    evaluated; nothing is done unless `wanted`."""
    least = 1e-5 if finfo(low.length.dtype).bits < 64 else 1e-10

    def body(state: Any) -> Any:
        j, low, high, other, _, failed = state
        failed = failed | (jnp.abs(high.length - low.length) <= least)
        step = at(_between(low, high, other, j > 0))
        worse = too_high(step) | (step.value >= low.value)
        good = flat(step) & ~worse
        turned = (step.slope * (high.length - low.length) >= 0) & ~worse & ~good
        # The third point is the one given up.
        other = choose(worse | turned, high, low)
        high = choose(worse, step, choose(turned, low, high))
        low = choose(worse, low, step)
        return j + 1, low, high, other, good, (failed | (j + 1 >= MOST_ZOOMS)) & ~good

    middle = Step(*[(x + y) / 2 for x, y in zip(low, high)])
    start = (0, low, high, middle, jnp.asarray(False), jnp.asarray(False))
    j, low, _, _, _, failed = lax.while_loop(lambda s: wanted & ~s[4] & ~s[5], body, start)
    return low, failed, j


def _between(low: Step, high: Step, other: Step, three: Any) -> Any:
    """Where the cubic polynomial through `three` points, or else the quadratic one through two, has its minimum; the middle
    where that lies too near to an end."""
    gap, far = high.length - low.length, other.length - low.length
    width, begin = jnp.abs(gap), jnp.minimum(low.length, high.length)
    # What is left of the values when the line through `low` is taken off.
    rest, rest_far = high.value - low.value - low.slope * gap, other.value - low.value - low.slope * far
    scale = (gap * far) ** 2 * (gap - far)
    a = (far**2 * rest - gap**2 * rest_far) / scale
    b = (gap**3 * rest_far - far**3 * rest) / scale
    cubic = low.length + (-b + jnp.sqrt(b * b - 3 * a * low.slope)) / (3 * a)
    quadratic = low.length - low.slope * gap**2 / (2 * rest)

    def inside(length: Any, margin: float) -> Any:
        return (length > begin + margin * width) & (length < begin + (1 - margin) * width)

    middle = (low.length + high.length) / 2
    quadratic = jnp.where(inside(quadratic, 0.1), quadratic, middle)
    return jnp.where(three & inside(cubic, 0.2), cubic, quadratic)
