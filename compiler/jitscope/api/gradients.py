"""grad and value_and_grad."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import tree
from ..backend.static import as_tuple
from ..core import dtypes
from ..core.avals import ShapedArray, aval_of
from ._flat import check_array, name_of
from .linear_maps import vjp


def value_and_grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., Any]:
    """The function that gives `fun`'s result and its gradient with respect to the positional arguments `argnums`.

    `fun` returns a real scalar (complex with `holomorphic=True`), or (scalar, aux) with `has_aux`. The gradient has the
    argument's structure; for a sequence of argnums it is a tuple. Integer arguments raise TypeError unless `allow_int`,
    which gives float0. Keyword arguments are passed on.
    """
    numbers = as_tuple(argnums)

    @functools.wraps(fun)
    def value_and_grad_of(*args: Any, **kwargs: Any) -> Any:
        chosen = _chosen(fun, numbers, args)
        for i in chosen:
            _check_differentiable(fun, i, args[i], holomorphic, allow_int)

        def of_chosen(*xs: Any) -> Any:
            full = list(args)
            for i, x in zip(chosen, xs):
                full[i] = x
            return fun(*full, **kwargs)

        of_chosen.__name__ = name_of(fun)
        out = vjp(of_chosen, *[args[i] for i in chosen], has_aux=has_aux)
        value, f_vjp = out[0], out[1]
        _check_scalar(fun, value, holomorphic)
        grads = f_vjp(_one(aval_of(value)))
        gradient = grads if isinstance(argnums, (tuple, list)) else grads[0]
        return ((value, out[2]), gradient) if has_aux else (value, gradient)

    return value_and_grad_of


def grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., Any]:
    """The gradient of `fun`, see `value_and_grad`; with `has_aux`, (gradient, aux)."""
    both = value_and_grad(fun, argnums, has_aux, holomorphic, allow_int)

    @functools.wraps(fun)
    def grad_of(*args: Any, **kwargs: Any) -> Any:
        value, gradient = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return grad_of


def _chosen(fun: Any, numbers: tuple, args: tuple) -> list[int]:
    wrong = [i for i in numbers if not isinstance(i, int) or not -len(args) <= i < len(args)]
    if wrong:
        raise TypeError(
            f"grad of {name_of(fun)} with respect to argument {wrong[0]!r}, but it was called with {len(args)} "
            "positional arguments"
        )
    chosen = [i % len(args) for i in numbers]
    if len(set(chosen)) < len(chosen):
        raise ValueError(f"grad of {name_of(fun)}: argnums {numbers} names an argument twice")
    return chosen


def _one(aval: ShapedArray) -> Any:
    """The cotangent of a result itself: weak if the result is."""
    one = aval.dtype.type(1)
    return one.item() if aval.weak_type and dtypes.is_inexact(aval.dtype) else one


def _check_differentiable(fun: Any, i: int, arg: Any, holomorphic: bool, allow_int: bool) -> None:
    for path, leaf in tree.leaves_with_path(arg):
        aval = check_array(leaf, f"argument {i} of {name_of(fun)} has, at {tree.keystr(path) or 'its root'},")
        where = f"argument {i}{tree.keystr(path)} of {name_of(fun)} is {aval.short()}"
        if holomorphic and not dtypes.is_complex(aval.dtype):
            raise TypeError(f"{where}, but holomorphic=True needs complex arguments")
        if not dtypes.is_inexact(aval.dtype) and not allow_int:
            raise TypeError(
                f"{where}, and gradients are of floats: convert it with .astype(float), choose other "
                "argnums, or pass allow_int=True"
            )


def _check_scalar(fun: Any, value: Any, holomorphic: bool) -> None:
    leaves = tree.leaves(value)
    if len(leaves) != 1 or (not hasattr(value, "aval") and not isinstance(value, (int, float, complex, np.generic))):
        raise TypeError(
            f"grad needs {name_of(fun)} to return one number; it returned {type(value).__name__} with "
            f"{len(leaves)} arrays. Return aux values with has_aux=True"
        )
    aval = aval_of(value)
    if aval.shape:
        raise TypeError(
            f"grad needs {name_of(fun)} to return a scalar; it returned {aval.short()}. Sum it, or use "
            "jacrev or vmap(grad(...)) for a derivative of every element"
        )
    if not dtypes.is_inexact(aval.dtype) or (dtypes.is_complex(aval.dtype) and not holomorphic):
        raise TypeError(
            f"grad needs {name_of(fun)} to return a real float; it returned {aval.short()}"
            + (" (holomorphic=True allows complex)" if dtypes.is_complex(aval.dtype) else "")
        )
    if holomorphic and not dtypes.is_complex(aval.dtype):
        raise TypeError(
            f"grad with holomorphic=True needs {name_of(fun)} to return a complex number; it returned {aval.short()}"
        )
