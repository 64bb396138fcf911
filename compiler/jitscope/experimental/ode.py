"""`jitscope.experimental.ode`: initial value problems, by the method of Dormand and Prince with steps of adaptive size.

Formulas: E. Hairer, S. P. Nørsett, G. Wanner, Solving Ordinary Differential Equations I, 2nd edition: the step and its error in
table II.5.2, the first step and the control of the size in II.4, values between steps in II.6.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import lax, numpy as jnp, tree
from ..api.gradients import vjp
from ..api.vmap import vmap
from ..control.closures import closure_convert
from ..control.custom_vjp import custom_vjp
from ..core import dtypes
from ..core.annotations import ArrayLike, PyTree
from ..core.avals import ShapedArray, aval_of
from ..flatten_util import ravel_pytree
from ..named_tuple import NamedTuple


__all__ = ["odeint"]

_TIMES = (0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1)
_STAGES = (
    (),
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
_ERROR = (71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)
_BETWEEN = (
    -12715105075 / 11282082432,
    0,
    87487479700 / 32700410799,
    -10690763975 / 1880347072,
    701980252875 / 199316789632,
    -1453857185 / 822651844,
    69997945 / 29380423,
)


class _Options(NamedTuple):
    rtol: float
    atol: float
    mxstep: float
    hmax: float


class _Step(NamedTuple):
    """Where the solver is: value and derivative at time `t`, the size of the next step, and the step it came by (from `since`, as the
    coefficients of its polynomial)."""

    y: Any
    slope: Any
    t: Any
    size: Any
    since: Any
    between: tuple[Any, ...]


def odeint(
    func: Callable[..., Any],
    y0: PyTree,
    t: ArrayLike,
    *args: PyTree,
    rtol: float = 1.4e-8,
    atol: float = 1.4e-8,
    mxstep: float = float("inf"),
    hmax: float = float("inf"),
) -> PyTree:
    """The solution of dy/dt = func(y, t, *args) with y(t[0]) = y0, at the times `t`.

    `y0` is a tree of float or complex arrays, `t` [n] increasing floats, `args` trees of arrays; `func` gives a tree like y0, or another
    with the same elements in order (a list of the components of an array). The result has the structure of y0, each leaf with an axis of n times in front. A step is taken when the error it estimates is below
    `atol + rtol * |y|` (root of the mean square over all elements); it is at most `hmax` long. Between two times it takes at most
    `mxstep` steps: a time that is not reached has NaN, as have those after it.

    Reverse derivatives solve the adjoint equation backwards, so that memory does not grow with the number of steps; they exist with
    respect to y0, t, args and what func captures. Raises TypeError where t is not [n] floats, or func gives another number or
    dtype of elements than y0.
    """
    times = jnp.asarray(t)
    if times.ndim != 1 or not dtypes.is_float(times.dtype):
        raise TypeError(f"odeint takes a vector of float times; it got {aval_of(times).short()}")
    converted, captured = closure_convert(lambda y, *rest: _like(func(y, *rest), y), y0, times[0], *args)
    return _solve(converted, _Options(rtol, atol, mxstep, hmax), y0, times, *args, *captured)


@functools.partial(custom_vjp, nondiff_argnums=(0, 1))
def _solve(func: Callable[..., Any], options: _Options, y0: Any, times: Any, *args: Any) -> Any:
    start, unravel = ravel_pytree(y0)

    def slope(y: Any, t: Any) -> Any:
        return ravel_pytree(func(unravel(y), t, *args))[0]

    def to(step: _Step, target: Any) -> tuple[_Step, Any]:
        def goes_on(state: tuple[_Step, Any]) -> Any:
            at, count = state
            return (at.t < target) & (count < options.mxstep) & (at.size > 0)

        step, _ = lax.while_loop(goes_on, lambda s: (_next(slope, s[0], options), s[1] + 1), (step, 0))
        length = step.t - step.since
        part = jnp.where(length > 0, (target - step.since) / jnp.where(length > 0, length, 1), 1)
        value = jnp.where(step.t >= target, _at(part.astype(times.dtype), step.between), jnp.nan)
        return step, value

    first = slope(start, times[0])
    size = _first_size(slope, start, first, times[0], options)
    still = (start, *[jnp.zeros_like(start)] * 4)
    _, values = lax.scan(to, _Step(start, first, times[0], size, times[0], still), times[1:])
    return vmap(unravel)(jnp.concatenate([start[None], values]))


def _like(slope: Any, value: Any) -> Any:
    """The slope as a tree like the value. Raises TypeError where its elements are others in number or dtype."""
    pairs = zip(map(aval_of, tree.leaves(slope)), map(aval_of, tree.leaves(value)))
    if tree.structure(slope) == tree.structure(value) and all(_agree(one, like) for one, like in pairs):
        return slope
    flat, (like, unravel) = ravel_pytree(slope)[0], ravel_pytree(value)
    given, wanted = aval_of(flat), aval_of(like)
    if not _agree(given, wanted):
        raise TypeError(
            f"the function of odeint gives {given.short()} where the value is {wanted.short()}; they must agree"
        )
    return unravel(flat.astype(like.dtype))


def _agree(slope: ShapedArray, value: ShapedArray) -> bool:
    return slope.shape == value.shape and (slope.dtype == value.dtype or slope.weak_type)


def _next(slope: Callable[[Any, Any], Any], at: _Step, options: _Options) -> _Step:
    """One attempt at a step: further on where its error is small enough, else the same place with a smaller step."""
    size = jnp.minimum(at.size, options.hmax)
    slopes = [at.slope]
    for time, weights in list(zip(_TIMES, _STAGES))[1:]:
        slopes.append(slope(at.y + _weighted(size, weights, slopes), at.t + (time * size).astype(at.t.dtype)))
    y = at.y + _weighted(size, _STAGES[-1], slopes)
    error = _size(_weighted(size, _ERROR, slopes), jnp.maximum(jnp.abs(at.y), jnp.abs(y)), options)
    taken = error <= 1
    factor = jnp.clip(0.9 * jnp.where(error > 0, error, 1e-10) ** -0.2, 0.2, jnp.where(taken, 10.0, 1.0))
    following = (size * jnp.where(jnp.isnan(error), 0.2, factor)).astype(at.size.dtype)
    rise, started = y - at.y, size * slopes[0]
    between = (
        at.y,
        rise,
        started - rise,
        2 * rise - size * slopes[-1] - started,
        _weighted(size, _BETWEEN, slopes),
    )
    new = _Step(y, slopes[-1], (at.t + size).astype(at.t.dtype), following, at.t, between)
    return tree.map(functools.partial(jnp.where, taken), new, at._replace(size=following))


def _weighted(size: Any, weights: tuple[float, ...], slopes: list[Any]) -> Any:
    total = functools.reduce(jnp.add, [w * k for w, k in zip(weights, slopes) if w])
    return (size * total).astype(slopes[0].dtype)


def _at(part: Any, between: tuple[Any, ...]) -> Any:
    """The value at a part of the way (0 to 1) through a step."""
    start, rise, second, third, fourth = between
    rest = 1 - part
    return start + part * (rise + rest * (second + part * (third + rest * fourth)))


def _size(error: Any, scale: Any, options: _Options) -> Any:
    """The root of the mean square of errors, in units of the error that is allowed."""
    return jnp.sqrt(jnp.mean(jnp.square(jnp.abs(error) / (options.atol + options.rtol * scale))))


def _first_size(slope: Callable[[Any, Any], Any], y: Any, first: Any, t: Any, options: _Options) -> Any:
    scale = jnp.abs(y)
    value, change = _size(y, scale, options), _size(first, scale, options)
    small = (value < 1e-5) | (change < 1e-5)
    guess = jnp.where(small, 1e-6, 0.01 * value / jnp.where(small, 1, change))
    moved = slope((y + guess * first).astype(y.dtype), t + guess.astype(t.dtype))
    most = jnp.maximum(change, _size(moved - first, scale, options) / guess)
    flat = most <= 1e-15
    better = jnp.where(flat, jnp.maximum(1e-6, guess * 1e-3), (0.01 / jnp.where(flat, 1, most)) ** 0.2)
    return jnp.minimum(100 * guess, better).astype(t.dtype)


def _forward(func: Callable[..., Any], options: _Options, y0: Any, times: Any, *args: Any) -> tuple[Any, Any]:
    values = _solve(func, options, y0, times, *args)
    return values, (values, times, args)


def _backward(func: Callable[..., Any], options: _Options, residuals: Any, cotangents: Any) -> tuple[Any, ...]:
    values, times, args = residuals
    leaves, structure = tree.flatten(args)
    differentiated = [dtypes.is_inexact(aval_of(x).dtype) for x in leaves]
    rest = [x for x, m in zip(leaves, differentiated) if not m]

    def at(y: Any, t: Any, params: Any) -> Any:
        fixed, given = iter(rest), iter(params)
        return func(y, t, *structure.unflatten([next(given if m else fixed) for m in differentiated]))

    def adjoint(state: Any, back: Any, params: Any) -> Any:
        y, y_bar, _ = state
        slope, pull = vjp(lambda y, params: at(y, -back, params), y, params)
        return tree.map(jnp.negative, slope), *pull(y_bar)

    params = [x for x, m in zip(leaves, differentiated) if m]
    row = functools.partial(tree.map, lambda x: x[0])

    def back(carry: Any, given: Any) -> tuple[Any, Any]:
        y_bar, params_bar = carry
        y, ct, later, earlier = given
        t_bar = _dot(at(y, later, params), ct)
        state = y, tree.map(jnp.add, y_bar, ct), params_bar
        found = odeint(adjoint, state, jnp.stack([-later, -earlier]), params, **options._asdict())
        _, y_bar, params_bar = tree.map(lambda x: x[1], found)
        return (y_bar, params_bar), t_bar

    after = functools.partial(tree.map, lambda x: x[1:])
    zeros = tree.map(jnp.zeros_like, row(values)), tree.map(jnp.zeros_like, params)
    scanned = after(values), after(cotangents), times[1:], times[:-1]
    (y_bar, params_bar), later = lax.scan(back, zeros, scanned, reverse=True)
    first = -_dot(at(row(values), times[0], params), y_bar)
    given = iter(params_bar)
    args_bar = structure.unflatten([next(given) if m else None for m in differentiated])
    return (
        tree.map(jnp.add, y_bar, row(cotangents)),
        jnp.concatenate([first[None], later]).astype(times.dtype),
        *args_bar,
    )


def _dot(slope: Any, cotangent: Any) -> Any:
    """The cotangent of a time, at which the value has this slope."""
    return sum(jnp.real(jnp.sum(a * b)) for a, b in zip(tree.leaves(slope), tree.leaves(cotangent)))


_solve.defvjp(_forward, _backward)
