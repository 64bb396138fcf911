"""How a formula of arrays of one dtype becomes a function of a distribution.

A formula's parameters are the function's. Around it: operands are promoted to one inexact dtype, numbers but the first operand
stay Python floats (so that what they decide is worked out while tracing, and a default costs nothing), complex numbers are refused where the formula
compares, and outside of any trace the whole runs as one program.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable
from typing import Any, ParamSpec

import numpy as np

from ... import numpy as jnp
from ...core import dtypes
from ...core.annotations import Array
from ...core.avals import is_python_scalar
from ...eager.functions import eager_jit
from ...numpy.operands import broadcast_shape, promoted, weak_as
from ...ops.linear import convert


P = ParamSpec("P")
_KINDS = {
    "pdf": "The probability density at {0}; 0 outside of the support.",
    "logpdf": "The logarithm of the probability density at {0}; -inf outside of the support.",
    "pmf": "The probability of {0}; 0 outside of the support.",
    "logpmf": "The logarithm of the probability of {0}; -inf outside of the support.",
    "cdf": "The probability of a value up to {0}.",
    "logcdf": "The logarithm of the probability of a value up to {0}.",
    "sf": "The probability of a value above {0}.",
    "logsf": "The logarithm of the probability of a value above {0}.",
    "ppf": "The value up to which the probability is {0}: the inverse of `cdf`.",
    "isf": "The value above which the probability is {0}: the inverse of `sf`.",
}
_REST = "Arguments broadcast, to the shape [...] of the result; integers become floats."


def formula(
    *, complex: bool = False, refusal: type[Exception] = TypeError, weak: bool = False
) -> Callable[[Callable[P, Any]], Callable[P, Array]]:
    """Decorator: the function whose values a formula gives; where not `complex`, it raises `refusal` for complex numbers. An array
    from weakly typed operands (integers beside Python floats) is `weak` as well, or not: in JAX that is as it happens."""

    def decorate(fun: Any) -> Any:
        names, defaults = _parameters(fun)
        distribution = fun.__module__.rpartition(".")[2]
        name = f"{distribution}.{fun.__name__}"

        @functools.wraps(fun)
        def whole(*args: Any, **kwargs: Any) -> Any:
            given = _bound(fun, names, defaults, args, kwargs)
            values, avals, dtype, _ = promoted(name, given, inexact=True)
            _check_shapes(name, [aval.shape for aval in avals if aval.shape])
            if dtypes.is_complex(dtype) and not complex:
                raise refusal(f"{name} is not defined for complex numbers")
            first = jnp.asarray(values[0])
            if not weak and first.ndim:
                first = convert(first, first.dtype)
            rest = [_number(x) if is_number(x) else jnp.asarray(v) for x, v in zip(given[1:], values[1:])]
            return fun(first, *rest)

        whole.__doc__ = fun.__doc__ or _described(fun.__name__, names[0], "" if complex else refusal.__name__)
        done: Any = eager_jit(nested=True)(whole)
        done.formula, done.options = fun, {"complex": complex, "refusal": refusal, "weak": weak}
        return done

    return decorate


def _check_shapes(name: str, shapes: list[tuple[int, ...]]) -> None:
    """Raise for shapes that do not broadcast: TypeError, as JAX's elementwise operations do, if all are of one rank, else
    ValueError, as its promotion of ranks does."""
    try:
        broadcast_shape((), *shapes)
    except ValueError as error:
        kind = TypeError if len({len(shape) for shape in shapes}) == 1 else ValueError
        raise kind(f"{name}: {error}") from None


def _described(name: str, operand: str, refusal: str) -> str:
    return f"{_KINDS[name].format(f'`{operand}`')} {_REST}" + (
        f" Raises {refusal} for complex numbers." if refusal else ""
    )


def log_of_rest(y: Any) -> Any:
    """log(1 - exp(y)) of y up to 0, also where the exponential is near 1 (and no branch has the other's infinite slopes)."""
    near = y > -math.log(2.0)
    close, far = jnp.where(near, y, -1.0), jnp.where(near, -1.0, y)
    return jnp.where(near, jnp.log(-jnp.expm1(close)), jnp.log1p(-jnp.exp(far)))


def derived(name: str, inner: Callable[P, Array], change: Callable[[Any], Any]) -> Callable[P, Array]:
    """The function that is another one's formula, changed: `pdf` is exp of `logpdf`."""
    raw = formula_of(inner)

    def composed(*values: Any) -> Any:
        return change(raw(*values))

    composed = functools.wraps(raw)(composed)
    composed.__name__ = composed.__qualname__ = name
    composed.__doc__ = None
    return formula(**inner.options)(composed)  # pyright: ignore[reportFunctionMemberAccess, reportReturnType]


def formula_of(function: Any) -> Callable[..., Any]:
    """The formula a function was made of: it takes what has been promoted."""
    return function.formula


def _parameters(fun: Any) -> tuple[tuple[str, ...], dict[str, Any]]:
    raw = inspect.unwrap(fun)
    names = raw.__code__.co_varnames[: raw.__code__.co_argcount]
    values = raw.__defaults__ or ()
    return names, dict(zip(names[len(names) - len(values) :], values))


def _bound(
    fun: Any, names: tuple[str, ...], defaults: dict[str, Any], args: tuple, kwargs: dict[str, Any]
) -> list[Any]:
    """The values of all parameters. Raises TypeError, Python's own, where a call does not fit."""
    later = names[len(args) :]
    if (
        len(args) > len(names)
        or not kwargs.keys() <= set(later)
        or any(n not in kwargs and n not in defaults for n in later)
    ):
        inspect.signature(fun).bind(*args, **kwargs)
    return [*args, *(kwargs[n] if n in kwargs else defaults[n] for n in later)]


def is_number(x: Any) -> bool:
    return is_python_scalar(x) or isinstance(x, np.generic)


def _number(x: Any) -> complex | float:
    return complex(x) if isinstance(x, (complex, np.complexfloating)) else float(x)


# What formulas are written with --------------------------------------------------------------------------------------


def log(x: Any) -> Any:
    if isinstance(x, float):
        with np.errstate(all="ignore"):
            return float(np.log(x))
    return jnp.log(x)


def over(x: Any, y: Any) -> Any:
    """x / y, also for numbers that nothing may be divided by."""
    if isinstance(x, float) and isinstance(y, float):
        with np.errstate(all="ignore"):
            return float(np.divide(x, y))
    return x if isinstance(y, float) and y == 1 else x / y


def standard(x: Any, loc: Any, scale: Any) -> Any:
    """(x - loc) / scale, without what changes nothing."""
    return over(x if isinstance(loc, float) and loc == 0 else x - loc, scale)


def shifted(x: Any, loc: Any, scale: Any) -> Any:
    """x scale + loc, without what changes nothing."""
    x = x if isinstance(scale, float) and scale == 1 else x * scale
    return x if isinstance(loc, float) and loc == 0 else x + loc


def where(condition: Any, x: Any, y: Any) -> Any:
    return x if condition is True else jnp.where(condition, x, y)


def not_(condition: Any) -> Any:
    return not condition if isinstance(condition, bool) else ~condition


def like(value: Any, x: Any) -> Any:
    """A number as one of the dtype of x, weak where x is."""
    return weak_as(jnp.asarray(value, x.dtype), x) if isinstance(value, float) else value


def not_a_probability(p: Any) -> Any:
    """Whether p is NaN, below 0 or above 1."""
    return not 0 <= p <= 1 if isinstance(p, float) else jnp.isnan(p) | (p < 0) | (p > 1)
