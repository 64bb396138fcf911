"""Derivatives of higher order along a curve: values carry a truncated Taylor series.

A series is the tuple of coefficients (c0, c1, …, cn) of x(t) = c0 + c1 t + … + cn t^n, `Zero` where one is known to be zero.
Three rules do for all operations. Linear ones apply to each coefficient. Products convolve. For any other y = f(x) the chain rule
y' = f'(x) x' says what the series of y' is, to one order less, by the `jvp` rule of f: so each coefficient of y is one of y' divided
by its order, and nothing needs a rule of its own. (A. Griewank, A. Walther, Evaluating Derivatives, 2nd edition, chapter 13.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from ..core.avals import aval_of
from ..core.jaxpr import ClosedJaxpr
from ..core.primitive import Primitive
from ..core.staging import jaxpr_as_fun
from ..core.trace import Trace, Tracer, current_trace, using
from ..core.zeros import is_zero, zero_of
from ..ops.collective import Collective
from ..ops.elementwise import div_p
from ..ops.families import Bilinear, Linear, add_tangents, scalar_like
from ..ops.linear import LinearElementwise, SelectN, broadcast_to, instantiate, mul_p, neg_p


__all__ = ["JetTrace", "JetTracer"]

Series = tuple[Any, ...]

_LINEAR = (Linear, LinearElementwise, SelectN, Collective)


class JetTracer(Tracer):
    """A value with its series."""

    __slots__ = ("series",)
    refusal = "the value carries a Taylor series, which Python's number would lose"

    def __init__(self, trace: JetTrace, series: Series):
        self.tracing, self.series = trace, series
        self.aval = aval_of(series[0])

    def underlying(self) -> Any:
        return self.series[0]

    def origin(self) -> str:
        value = self.series[0]
        return value.origin() if isinstance(value, Tracer) else "a value that carries a Taylor series"


class JetTrace(Trace):
    """Propagates series to order `order` under `parent`. `known`: the series of results that were found, by operation and operands;
    derivatives of sines ask for cosines, and those for sines."""

    __slots__ = ("known", "order", "parent")

    def __init__(self, parent: Trace, order: int, known: dict[Any, Any] | None = None):
        self.parent, self.order, self.known = parent, order, known

    def split(self, x: Any) -> Series:
        """The series of any value."""
        if isinstance(x, JetTracer) and x.tracing is self:
            return x.series
        return (x, *[zero_of(x)] * self.order)

    def join(self, series: Series) -> Any:
        return series[0] if all(map(is_zero, series[1:])) else JetTracer(self, series)

    def process(self, primitive, args, params):
        operands = [self.split(x) for x in args]
        if all(is_zero(c) for series in operands for c in series[1:]):
            return self.parent.process(primitive, tuple(series[0] for series in operands), params)
        if primitive.inlined:
            inner = params[primitive.inlined]
            return list((jaxpr_as_fun(inner) if isinstance(inner, ClosedJaxpr) else inner)(*args))
        key = (primitive, tuple(sorted(params.items())), tuple(tuple(map(_identity, s)) for s in operands))
        known = {} if self.known is None else self.known
        if key not in known:
            with using(self.parent):
                known[key] = (
                    self._series(primitive, operands, params, known),
                    operands,
                )  # operands: they keep their identity
        results, _ = known[key]
        return [self.join(s) for s in results] if primitive.multiple_results else self.join(results[0])

    def _series(self, primitive: Primitive, operands: list[Series], params: Any, known: dict[Any, Any]) -> list[Series]:
        """The series of each result."""
        if isinstance(primitive, _LINEAR):
            return self._linear(primitive, operands, params)
        if isinstance(primitive, Bilinear):
            x, y = operands
            return [_convolved(lambda a, b: primitive.bind(a, b, **params), x, y)]
        if primitive is div_p:
            return [_quotient(*operands)]
        return self._by_derivative(primitive, operands, params, known)

    def _linear(self, primitive: Primitive, operands: list[Series], params: Any) -> list[Series]:
        primals, *terms = zip(*operands)
        value = _several(primitive, primitive.bind(*primals, **params))
        zeros = [zero_of(v) for v in value]
        of_terms = [
            zeros if all(map(is_zero, ts)) else _several(primitive, primitive.jvp(primals, ts, **params)[1])
            for ts in terms
        ]
        return list(zip(value, *of_terms))

    def _by_derivative(
        self, primitive: Primitive, operands: list[Series], params: Any, known: dict[Any, Any]
    ) -> list[Series]:
        shorter = JetTrace(self.parent, self.order - 1, known)
        with using(shorter):
            primals = tuple(shorter.join(s[:-1]) for s in operands)
            tangents = tuple(_joined_slope(shorter, s) for s in operands)
            out, slope = primitive.jvp(primals, tangents, **params)
        values, slopes = _several(primitive, out), _several(primitive, slope)
        return [self._integral(shorter, v, s) for v, s in zip(values, slopes)]

    def _integral(self, shorter: JetTrace, value: Any, slope: Any) -> Series:
        """The series of a result, from its value and the series of its derivative."""
        first = shorter.split(value)[0]
        if is_zero(slope):
            return (first, *[zero_of(first)] * self.order)
        return (first, *[_divided(c, k) for k, c in enumerate(shorter.split(slope), 1)])


def _several(primitive: Primitive, out: Any) -> list[Any]:
    return list(out) if primitive.multiple_results else [out]


def _identity(coefficient: Any) -> Any:
    return None if is_zero(coefficient) else id(coefficient)


def _joined_slope(trace: JetTrace, series: Series) -> Any:
    """x'(t) of x(t)."""
    terms = [c if k == 1 or is_zero(c) else mul_p(c, scalar_like(c, k)) for k, c in enumerate(series[1:], 1)]
    return terms[0] if all(map(is_zero, terms)) else trace.join((instantiate(terms[0]), *terms[1:]))


def _divided(x: Any, by: int) -> Any:
    return x if by == 1 or is_zero(x) else div_p(x, scalar_like(x, by))


def _convolved(product: Callable[[Any, Any], Any], x: Series, y: Series) -> Series:
    """The series of a product of two."""
    value = product(x[0], y[0])
    return (value, *[_sum_of_products(product, x, y[: k + 1], zero_of(value)) for k in range(1, len(x))])


def _sum_of_products(product: Callable[[Any, Any], Any], x: Series, y: Series, zero: Any) -> Any:
    pairs = [(a, b) for a, b in zip(x, reversed(y)) if not is_zero(a) and not is_zero(b)]
    return reduce(add_tangents, [product(a, b) for a, b in pairs], zero)


def _quotient(x: Series, y: Series) -> Series:
    """The series q of x / y: q y = x, solved for one coefficient after the other."""
    q = [div_p(x[0], y[0])]
    zero = zero_of(q[0])
    for k in range(1, len(x)):
        rest = _sum_of_products(mul_p, tuple(q), y[1 : k + 1], zero)
        term = x[k] if is_zero(x[k]) else broadcast_to(x[k], aval_of(q[0]).shape)
        term = term if is_zero(rest) else add_tangents(term, neg_p(rest))
        q.append(zero if is_zero(term) else div_p(term, y[0]))
    return tuple(q)


def jet_flat(fun: Callable[..., Sequence[Any]], operands: Sequence[Series], order: int) -> list[Series]:
    """The series of the results of the flat function `fun`, for arguments with these series (c0, …, c`order`)."""
    trace = JetTrace(current_trace(), order)
    with using(trace):
        outs = fun(*[trace.join(series) for series in operands])
    return [trace.split(out) for out in outs]
