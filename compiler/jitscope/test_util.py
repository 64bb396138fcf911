"""`jitscope.test_util`: derivatives against finite differences, for tests. The names are `jax.test_util`'s."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from . import api, tree
from .core import dtypes
from .core.avals import aval_of


EPS = 1e-4
Tolerance = float | Mapping[Any, float] | None
"""One for all dtypes, or one for each dtype that the usual one is not right for."""
_TOLERANCE = {
    "float64": 1e-5,
    "complex128": 1e-5,
    "float32": 2e-3,
    "complex64": 1e-3,
    "float16": 1e-2,
    "bfloat16": 1e-1,
    "float8_e8m0fnu": 1.0,
    "float4_e2m1fn": 1.0,
}
_OF_EIGHT_BITS = 1e-1


def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any],
    order: int,
    modes: Sequence[str] = ("fwd", "rev"),
    atol: Tolerance = None,
    rtol: Tolerance = None,
    eps: float | None = None,
) -> None:
    """Derivatives of `f` at `args` up to `order`, in a random direction, against finite differences of step `eps`.

    `modes`: "fwd" (`jvp`), "rev" (`vjp`), "lin" (`linearize`). The tolerances are those of the results' dtypes unless they
    are given, as a number or by dtype (`{np.float32: 1e-2}`), and grow with the size of an array. Differences are computed in the
    dtypes of the arguments and results. Raises AssertionError where a derivative is another one, ValueError for other modes.
    """
    args, step = tuple(args), eps or EPS
    for mode in modes:
        if mode not in ("fwd", "rev", "lin"):
            raise ValueError(f"modes are 'fwd', 'rev' and 'lin', not {mode!r}")
    checks = {"fwd": functools.partial(api.jvp, f), "lin": functools.partial(_jvp_by_linearize, f)}
    for mode, forward in checks.items():
        if mode in modes:
            check_jvp(f, forward, args, atol, rtol, step)
            if order > 1:
                check_grads(forward, (args, args), order - 1, modes, atol, rtol, eps)
    if "rev" in modes:
        check_vjp(f, functools.partial(api.vjp, f), args, atol, rtol, step)
        if order > 1:
            check_grads(functools.partial(_pulled_back, f), args, order - 1, modes, atol, rtol, eps)


def _jvp_by_linearize(f: Callable[..., Any], primals: Any, tangents: Any) -> tuple[Any, Any]:
    out, linear = api.linearize(f, *primals)
    return out, linear(*tangents)


def _pulled_back(f: Callable[..., Any], *args: Any) -> Any:
    out, pull = api.vjp(f, *args)
    return pull(out)


def check_jvp(
    f: Callable[..., Any],
    f_jvp: Callable[..., Any],
    args: Sequence[Any],
    atol: Tolerance = None,
    rtol: Tolerance = None,
    eps: float = EPS,
    err_msg: str = "",
) -> None:
    """`f_jvp(args, tangents)` for random tangents against `f` and finite differences of it. Raises AssertionError."""
    args = tuple(args)
    tangents = _random_tangents(args, np.random.RandomState(0))
    out, tangent = f_jvp(args, tangents)
    numeric = _slope(f, args, tangents, eps)
    said = f"{err_msg or 'JVP'} "
    tree.map(functools.partial(_check_dtypes, f"{said}tangent"), out, tangent)
    _check_close(out, f(*args), atol, rtol, f"{said}primal")
    _check_close(tangent, numeric, atol, rtol, f"{said}tangent")


def check_vjp(
    f: Callable[..., Any],
    f_vjp: Callable[..., Any],
    args: Sequence[Any],
    atol: Tolerance = None,
    rtol: Tolerance = None,
    eps: float = EPS,
    err_msg: str = "",
) -> None:
    """The pullback that `f_vjp(*args)` gives, for random cotangents, against finite differences of `f`: both sides of
    ⟨cotangent, slope⟩ = ⟨pulled-back cotangent, tangent⟩. Raises AssertionError."""
    args, random = tuple(args), np.random.RandomState(0)
    out, pull = f_vjp(*args)
    said = f"{err_msg or 'VJP'} "
    _check_close(out, f(*args), atol, rtol, f"{said}primal")
    tangents = _random_tangents(args, random)
    slope = _slope(f, args, tangents, eps)
    cotangents = tree.map(lambda x: _draw(aval_of(x), random), slope)
    _check_close(
        _inner(tangents, pull(cotangents)), _inner(slope, cotangents), atol, rtol, f"{said}cotangent projection"
    )


def _random_tangents(args: Any, random: Any) -> Any:
    return tree.map(lambda x: _draw(aval_of(x), random), args)


def _draw(aval: Any, random: Any) -> Any:
    if not dtypes.is_inexact(aval.dtype):
        return np.zeros(aval.shape, dtypes.float0)
    values = random.standard_normal(aval.shape)
    if dtypes.kind(aval.dtype) == "c":
        values = values + 1j * random.standard_normal(aval.shape)
    return np.asarray(values).astype(aval.dtype)


def _slope(f: Callable[..., Any], args: Any, tangents: Any, eps: float) -> Any:
    """The difference quotient of `f` along the tangents, round `args`."""
    above, below = (f(*tree.map(functools.partial(_moved, by), args, tangents)) for by in (eps, -eps))
    return tree.map(functools.partial(_quotient, eps), above, below)


def _moved(by: float, x: Any, tangent: Any) -> Any:
    """`x + by * tangent`, computed in the dtype of `x`, Python numbers in 64 bits."""
    if tangent.dtype == dtypes.float0:
        return x
    dtype = np.asarray(x).dtype
    moved = np.asarray(np.asarray(x, dtype) + np.multiply(tangent, np.asarray(by, dtype), dtype=dtype), dtype)
    return moved.item() if isinstance(x, (float, complex)) and not isinstance(x, np.generic) else moved


def _quotient(eps: float, above: Any, below: Any) -> Any:
    dtype = aval_of(above).dtype
    if not dtypes.is_inexact(dtype):
        return np.zeros(np.shape(above), dtypes.float0)
    above, below = np.asarray(above), np.asarray(below)
    with np.errstate(invalid="ignore"):  # of infinities that are the same
        difference = np.where(above == below, np.zeros((), dtype), np.asarray(above - below, dtype))
    return np.multiply(difference, np.asarray(0.5 / eps, dtype), dtype=dtype)


def _inner(xs: Any, ys: Any) -> Any:
    """The sum of the products of all elements, without conjugation, in their dtype."""
    pairs = zip(tree.leaves(xs), tree.leaves(ys))
    products = [
        np.dot(np.ravel(np.asarray(x)), np.ravel(np.asarray(y)))
        for x, y in pairs
        if aval_of(x).dtype != dtypes.float0 and aval_of(y).dtype != dtypes.float0
    ]
    return np.real(functools.reduce(operator.add, products)) if products else 0.0


def _check_dtypes(what: str, x: Any, tangent: Any) -> None:
    of, wanted = aval_of(tangent).dtype, aval_of(x).dtype
    assert not dtypes.is_inexact(wanted) or of == wanted, f"{what}: {of} for a result of {wanted}"


def _check_close(xs: Any, ys: Any, atol: Tolerance, rtol: Tolerance, what: str) -> None:
    tree.map(lambda x, y: _check_arrays(np.asarray(x), np.asarray(y), atol, rtol, what), xs, ys)


def _check_arrays(x: np.ndarray, y: np.ndarray, atol: Tolerance, rtol: Tolerance, what: str) -> None:
    assert x.shape == y.shape, f"{what}: shapes {x.shape} and {y.shape}"
    if x.dtype == dtypes.float0 or y.dtype == dtypes.float0:
        return
    wide = [v.astype(np.complex128 if dtypes.kind(v.dtype) == "c" else np.float64) for v in (x, y)]
    least = max(max(_usual(v.dtype) for v in (x, y)) * 1e-3, 1e-12)
    absolute, relative = (max(_tolerance(v.dtype, given) for v in (x, y)) * x.size for given in (atol, rtol))
    np.testing.assert_allclose(*wide, atol=max(absolute, least), rtol=max(relative, least), err_msg=what)


def _tolerance(dtype: np.dtype, given: Tolerance) -> float:
    if given is None or isinstance(given, Mapping):
        return {np.dtype(key): value for key, value in (given or {}).items()}.get(dtype, _usual(dtype))
    return given


def _usual(dtype: np.dtype) -> float:
    return _TOLERANCE.get(dtype.name, _OF_EIGHT_BITS if dtype.name.startswith("float8") else 0.0)
