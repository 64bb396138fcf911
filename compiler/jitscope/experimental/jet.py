"""`jitscope.experimental.jet`: derivatives of higher order by propagating Taylor series."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .. import tree
from ..api._flat import Flat, as_values, check_callable
from ..core import dtypes
from ..core.avals import ShapedArray, aval_of, tangent_aval
from ..core.folding import fold
from ..core.zeros import is_zero, zero_of
from ..ops.families import scalar_like
from ..ops.linear import convert, mul_p, zeros
from ..transforms.jet import jet_flat


__all__ = ["jet"]


def jet(
    fun: Callable[..., Any], primals: Sequence[Any], series: Sequence[Any], factorial_scaled: bool = True, **_: Any
) -> tuple[Any, Any]:
    """`fun` along a curve: its value, and its derivatives up to any order, in one pass.

    `primals` are the arguments x at t = 0, arrays or trees of arrays; `series` has for each of them its derivatives with respect
    to t at 0, [x', x'', …], as many for all, each of the structure, shapes and dtypes of x. The result is (y, [y', y'', …]) for y = fun(x); where fun returns a tree, each of its leaves has such a list. With
    `factorial_scaled=False` both are the coefficients of the Taylor series, the k-th derivative divided by k!. Straight lines,
    series = [v, 0, 0], give the derivatives along v. Computing n orders costs some n² times as much as fun, through `scan`,
    `while_loop` and `cond` 2ⁿ times.

    Raises ValueError where series differ in length or in shape from their argument, TypeError for arguments that are not floats.

    >>> from jitscope.experimental.jet import jet
    >>> jet(lambda x: x**3, (2.0,), ([1.0, 0.0, 0.0],))
    (Array(8., dtype=float32, weak_type=True), [Array(12., dtype=float32, weak_type=True), Array(12., dtype=float32, weak_type=True), Array(6., dtype=float32, weak_type=True)])
    """
    try:
        return _jet(fun, primals, series, factorial_scaled)
    except Exception as error:
        fold(error)
        raise


def _jet(
    fun: Callable[..., Any], primals: Sequence[Any], series: Sequence[Any], factorial_scaled: bool
) -> tuple[Any, Any]:
    check_callable(fun, "jet")
    order = _order(primals, series)
    leaves, in_tree = tree.flatten(tuple(primals))
    terms = [[_leaves_like(x, term, i) for term in given] for i, (x, given) in enumerate(zip(primals, series))]
    by_leaf = [of_leaf for given, x in zip(terms, primals) for of_leaf in _by_leaf(given, len(tree.leaves(x)))]
    scales = [math.factorial(k) if factorial_scaled else 1 for k in range(1, order + 1)]
    values = as_values(leaves)
    operands = [(x, *_coefficients(x, given, scales)) for x, given in zip(values, by_leaf)]
    flat = Flat(fun, in_tree)
    outs = jet_flat(flat, operands, order)
    results = [[_term(c, out[0], k) for c, k in zip(out[1:], scales)] for out in outs]
    return flat.out_tree.unflatten([out[0] for out in outs]), flat.out_tree.unflatten(results)


def _order(primals: Any, series: Any) -> int:
    """How many derivatives each argument has."""
    if not isinstance(primals, (tuple, list)) or not isinstance(series, (tuple, list)):
        raise TypeError(
            f"jet takes a tuple of arguments and a tuple with the series of each; it got {type(primals).__name__} and "
            f"{type(series).__name__}. For one argument: jet(f, (x,), ([dx, ddx],))"
        )
    if len(primals) != len(series):
        raise ValueError(f"jet: {len(primals)} arguments, but {len(series)} series: give one for each")
    orders = [len(given) for given in series]
    if len(set(orders)) > 1:
        raise ValueError(
            f"jet: the series have inconsistent lengths, {orders}: give as many terms for each (zeros count)"
        )
    return orders[0] if orders else 0


def _leaves_like(x: Any, term: Any, i: int) -> list[Any]:
    leaves, structure = tree.flatten(term)
    if structure != tree.structure(x):
        raise ValueError(f"jet: a term of the series of argument {i} is {structure}, the argument {tree.structure(x)}")
    return leaves


def _by_leaf(terms: list[list[Any]], count: int) -> list[list[Any]]:
    return [[term[j] for term in terms] for j in range(count)]


def _coefficients(x: Any, terms: Sequence[Any], scales: Sequence[int]) -> list[Any]:
    aval = aval_of(x)
    if not dtypes.is_inexact(aval.dtype):
        if any(_may_change(term) for term in terms):
            raise TypeError(
                f"jet: an argument is {aval.short()}, which has no Taylor series. What to do: make it a float"
            )
        return [zero_of(x)] * len(terms)
    return [_coefficient(term, aval, scale) for term, scale in zip(terms, scales)]


def _may_change(term: Any) -> bool:
    return (
        not is_zero(term)
        and getattr(term, "dtype", None) != dtypes.float0
        and not (isinstance(term, (int, float)) and term == 0)
    )


def _coefficient(term: Any, aval: ShapedArray, scale: int) -> Any:
    if is_zero(term):
        return term
    given = aval_of(term)
    if given.shape != aval.shape:
        raise ValueError(
            f"jet: a term of a series is {given.short()}, its argument {aval.short()}: their shapes must agree"
        )
    wanted = tangent_aval(aval)
    return _scaled(convert(term, wanted.dtype, wanted.weak_type), 1 / scale)


def _term(coefficient: Any, value: Any, scale: int) -> Any:
    return zeros(aval_of(value)) if is_zero(coefficient) else _scaled(coefficient, scale)


def _scaled(x: Any, by: float) -> Any:
    return x if by == 1 else mul_p(x, scalar_like(x, by))
