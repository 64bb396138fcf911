"""`jitscope.test_util`: derivatives against finite differences, for tests. The names are `jax.test_util`'s."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import api, tree
from .core import dtypes
from .core.avals import aval_of


EPS = 1e-4
_TOLERANCE = {
    "float64": 1e-5,
    "complex128": 1e-5,
    "float32": 2e-3,
    "complex64": 1e-3,
    "float16": 1e-2,
    "bfloat16": 1e-1,
}


def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any],
    order: int,
    modes: Sequence[str] = ("fwd", "rev"),
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
) -> None:
    """Derivatives of `f` at `args` up to `order`, in a random direction, against finite differences of step `eps`.

    `modes`: "fwd" (`jvp`), "rev" (`vjp`), "lin" (`linearize`). The tolerances are those of the results' dtypes unless they
    are given. Raises AssertionError where a derivative is another one, ValueError for other modes.
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
    atol: float | None = None,
    rtol: float | None = None,
    eps: float = EPS,
    err_msg: str = "",
) -> None:
    """`f_jvp(args, tangents)` for random tangents against `f` and finite differences of it. Raises AssertionError."""
    args = tuple(args)
    tangents = _random_tangents(args, np.random.RandomState(0))
    out, tangent = f_jvp(args, tangents)
    numeric = _slope(f, args, tangents, eps)
    said = f"{err_msg or 'JVP'} "
    _check_close(out, f(*args), atol, rtol, f"{said}primal")
    _check_close(tangent, numeric, atol, rtol, f"{said}tangent")


def check_vjp(
    f: Callable[..., Any],
    f_vjp: Callable[..., Any],
    args: Sequence[Any],
    atol: float | None = None,
    rtol: float | None = None,
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

    def moved(by: float) -> Any:
        return f(*tree.map(lambda x, t: x if t.dtype == dtypes.float0 else _added(x, by * t), args, tangents))

    return tree.map(_quotient(2 * eps), moved(eps), moved(-eps))


def _added(x: Any, step: Any) -> Any:
    aval = aval_of(x)
    return np.asarray(np.asarray(x) + step).astype(aval.dtype)


def _quotient(eps: float) -> Callable[[Any, Any], Any]:
    def quotient(above: Any, below: Any) -> Any:
        dtype = aval_of(above).dtype
        if not dtypes.is_inexact(dtype):
            return np.zeros(np.shape(above), dtypes.float0)
        return np.asarray((np.asarray(above) - np.asarray(below)) / np.asarray(eps, dtype)).astype(dtype)

    return quotient


def _inner(xs: Any, ys: Any) -> Any:
    """The sum of the products of all elements, without conjugation."""
    total: Any = 0.0
    for x, y in zip(tree.leaves(xs), tree.leaves(ys)):
        if aval_of(x).dtype != dtypes.float0 and aval_of(y).dtype != dtypes.float0:
            total = total + np.dot(np.ravel(np.asarray(x)), np.ravel(np.asarray(y)))
    return np.real(total)


def _check_close(xs: Any, ys: Any, atol: float | None, rtol: float | None, what: str) -> None:
    tree.map(lambda x, y: _check_arrays(np.asarray(x), np.asarray(y), atol, rtol, what), xs, ys)


def _check_arrays(x: np.ndarray, y: np.ndarray, atol: float | None, rtol: float | None, what: str) -> None:
    assert x.shape == y.shape, f"{what}: shapes {x.shape} and {y.shape}"
    if x.dtype == dtypes.float0 or y.dtype == dtypes.float0:
        return
    usual = max(_TOLERANCE.get(x.dtype.name, 0), _TOLERANCE.get(y.dtype.name, 0))
    wide = [v.astype(np.complex128 if dtypes.kind(v.dtype) == "c" else np.float64) for v in (x, y)]
    least = max(usual * 1e-3, 1e-12)
    np.testing.assert_allclose(
        *wide,
        atol=max(usual if atol is None else atol, least),
        rtol=max(usual if rtol is None else rtol, least),
        err_msg=what,
    )


__all__ = ["check_grads", "check_jvp", "check_vjp"]
