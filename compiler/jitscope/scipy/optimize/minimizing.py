"""`minimize`: the choice of a method, and what it gives."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from ...api.jit import jit
from ...core.annotations import ArrayLike
from ...named_tuple import NamedTuple
from .bfgs import minimize_bfgs
from .lbfgs import minimize_lbfgs


__all__ = ["OptimizeResults", "minimize"]


class OptimizeResults(NamedTuple):
    """What `minimize` found.

    `x`: the point [n]; `success`: whether the gradient got small there; `status`: 0 if so, else 1 (as many steps as allowed)
    or what the method says; `fun`, `jac`: value and gradient at x; `hess_inv`: the estimate of the Hessian's inverse, or
    None; `nfev`, `njev`, `nit`: how often the function and its gradient were evaluated, and the number of steps.
    """

    x: Any
    success: Any
    status: Any
    fun: Any
    jac: Any
    hess_inv: Any
    nfev: Any
    njev: Any
    nit: Any


_METHODS: dict[str, Callable[..., Any]] = {
    "bfgs": minimize_bfgs,
    "l-bfgs-experimental-do-not-rely-on-this": minimize_lbfgs,
}


def minimize(
    fun: Callable[..., Any],
    x0: ArrayLike,
    args: tuple = (),
    *,
    method: str,
    tol: float | None = None,
    options: Mapping[str, Any] | None = None,
) -> OptimizeResults:
    """A local minimum of `fun(x, *args)`, a differentiable function of a vector that gives a real scalar, from `x0` [n] on.

    `method` is "BFGS", or "l-bfgs-experimental-do-not-rely-on-this", which keeps a few steps instead of an n by n matrix.
    `options`: `maxiter` steps (200 n), `gtol` (1e-5: a gradient whose `norm`, the greatest element, is smaller ends the
    search), for BFGS `line_search_maxiter` (10), for L-BFGS `maxcor` (10 steps kept), `ftol`, `maxfun`, `maxgrad`, `maxls`.
    `tol` is accepted and changes nothing: give `gtol`. Works under jit and vmap, with derivatives in forward mode alone.

    Raises TypeError where `args` is not a tuple or `x0` holds no floats, ValueError for another method. Gradients are derived,
    so SciPy's `jac`, and its bounds and constraints, are not here.
    """
    if not isinstance(args, tuple):
        raise TypeError(f"minimize: args is a tuple of further arguments, not {args!r}")
    chosen = _METHODS.get(method.lower())
    if chosen is None:
        raise ValueError(f"minimize: method is 'BFGS' or 'l-bfgs-experimental-do-not-rely-on-this', not {method!r}")

    def of_vector(x: Any) -> Any:
        return fun(x, *args)

    return OptimizeResults(*jit(functools.partial(chosen, of_vector, **(options or {})))(x0))
