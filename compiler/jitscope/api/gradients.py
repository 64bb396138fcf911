"""grad and value_and_grad, and what they share with other derivatives."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ParamSpec, TypeVar

import numpy as np

from .. import tree
from ..backend.array import Array, to_array
from ..control.bodies import name_of
from ..core import config, dtypes
from ..core.avals import ShapedArray, aval_of
from ..core.errors import stepped_on
from ..core.folding import folding
from ..core.messages import message_here
from ..core.references import Reference
from ..core.trace import Tracer
from ..core.wrapping import wraps
from ._flat import check_array, check_callable
from .jit import jit
from .linear_maps import refuse_reduce_axes, vjp


__all__ = ["fwd_and_bwd", "grad", "value_and_grad"]

P = ParamSpec("P")
R = TypeVar("R")


def value_and_grad(
    fun: Callable[P, R],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Sequence[Any] = (),
) -> Callable[P, tuple[R, Any]]:
    """The function that gives `fun`'s result and its gradient with respect to the positional arguments `argnums`.

    `fun` returns a real scalar (complex with `holomorphic=True`), or (scalar, aux) with `has_aux`; then the value is that
    pair too. The gradient has the argument's structure, shapes and dtypes; for a sequence of argnums it is a tuple.
    Negative argnums count from the end. Integer arguments raise TypeError unless `allow_int`, which gives float0. Keyword
    arguments are passed on. Raises TypeError for results that are not scalars and for arguments that are not there.

    >>> loss = lambda w, x: ((w * x).sum() - 1) ** 2
    >>> jx.value_and_grad(loss)(jnp.array([1.0, 2.0]), jnp.array([1.0, 1.0]))
    (Array(4., dtype=float32), Array([4., 4.], dtype=float32))
    """
    give = (lambda value, aux, grads: ((value, aux), grads)) if has_aux else (lambda value, aux, grads: (value, grads))
    return _differentiated("value_and_grad", fun, argnums, has_aux, holomorphic, allow_int, reduce_axes, give)


def grad(
    fun: Callable[P, Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Sequence[Any] = (),
) -> Callable[P, Any]:
    """The gradient of `fun`, a function of the same arguments; arguments, shapes, dtypes and errors as in
    `value_and_grad`. With `has_aux` it gives (gradient, aux).

    >>> jx.grad(lambda x: x**3)(2.0)
    Array(12., dtype=float32, weak_type=True)
    """
    give = (lambda value, aux, grads: (grads, aux)) if has_aux else (lambda value, aux, grads: grads)
    return _differentiated("grad", fun, argnums, has_aux, holomorphic, allow_int, reduce_axes, give)


def _differentiated(
    what: str,
    fun: Callable[..., Any],
    argnums: Any,
    has_aux: bool,
    holomorphic: bool,
    allow_int: bool,
    reduce_axes: Sequence[Any],
    give: Callable[[Any, Any, Any], Any],
) -> Callable[..., Any]:
    check_callable(fun, what)
    refuse_reduce_axes(reduce_axes, "grad")
    numbers = argument_numbers(argnums)

    @wraps(fun)
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        with folding:
            value, aux, grads = _value_and_grads(fun, numbers, args, kwargs, has_aux, holomorphic, allow_int)
        return give(value, aux, grads[0] if isinstance(numbers, int) else grads)

    return differentiated


def fwd_and_bwd(
    fun: Callable[..., Any], argnums: int | Sequence[int], has_aux: bool = False, jitted: bool = True
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """`fun`'s forward and backward pass as two functions, compiled if `jitted`.

    fwd(*args) gives (result, residuals) or, with `has_aux`, (result, residuals, aux); bwd(residuals, cotangent) the
    cotangents of the arguments `argnums` (a tuple for a sequence of them), in their shapes and dtypes. Raises TypeError
    for arguments that are not there, ValueError for one named twice and for a cotangent of another structure than the
    result.
    """
    check_callable(fun, "fwd_and_bwd")
    numbers = argument_numbers(argnums)

    def fwd(*args: Any, **kwargs: Any) -> Any:
        chosen = chosen_arguments(fun, numbers, args, "fwd_and_bwd")
        return vjp(of_arguments(fun, chosen, args, kwargs), *[args[i] for i in chosen], has_aux=has_aux)

    def bwd(residuals: Any, cotangent: Any) -> Any:
        cts = residuals(cotangent)
        return cts[0] if isinstance(numbers, int) else cts

    return (jit(fwd), jit(bwd)) if jitted else (fwd, bwd)


def _value_and_grads(
    fun: Any, numbers: Numbers, args: tuple, kwargs: dict[str, Any], has_aux: bool, holomorphic: bool, allow_int: bool
) -> tuple[Any, Any, tuple]:
    chosen = chosen_arguments(fun, numbers, args, "grad")
    for i in chosen:
        _check_differentiable(fun, i, args[i], holomorphic, allow_int)
    value, f_vjp, *aux = vjp(of_arguments(fun, chosen, args, kwargs), *[args[i] for i in chosen], has_aux=has_aux)
    _check_scalar(fun, value, holomorphic)
    return value, aux[0] if has_aux else None, f_vjp(_one(aval_of(value)))


# Arguments by number -------------------------------------------------------------------------------------------------

Numbers = int | tuple[int, ...]


def argument_numbers(argnums: Any) -> Numbers:
    """argnums as an int or a tuple of ints. Raises TypeError for anything else, ValueError for none."""
    try:
        return operator.index(argnums)
    except TypeError:
        pass
    if isinstance(argnums, str) or not isinstance(argnums, Iterable):
        raise TypeError(f"argnums must be an int or a sequence of ints (positions of arguments), not {argnums!r}")
    try:
        numbers = tuple(map(operator.index, argnums))
    except TypeError:
        raise TypeError(
            f"argnums must be an int or a sequence of ints (positions of arguments), not {argnums!r}"
        ) from None
    if not numbers:
        raise ValueError("argnums is empty: name at least one argument to differentiate with respect to")
    return numbers


def chosen_arguments(
    fun: Any, numbers: Numbers, args: tuple, what: str, missing: type[Exception] = TypeError
) -> list[int]:
    """The positions meant, counted from the front. Raises `missing` for an argument that was not given, ValueError for one
    named twice."""
    wanted = (numbers,) if isinstance(numbers, int) else numbers
    wrong = [i for i in wanted if not -len(args) <= i < len(args)]
    if wrong:
        raise missing(
            f"{what} of {name_of(fun)} with respect to argument {wrong[0]}, but it was called with {len(args)} positional "
            "arguments. What is passed by name cannot be differentiated: pass it by position"
        )
    chosen = [i % len(args) for i in wanted]
    if len(set(chosen)) < len(chosen):
        raise ValueError(f"{what} of {name_of(fun)}: argnums {wanted} names an argument twice")
    return chosen


def of_arguments(fun: Any, chosen: Sequence[int], args: tuple, kwargs: dict[str, Any]) -> Callable[..., Any]:
    """`fun` as a function of the chosen arguments alone."""

    def of_chosen(*xs: Any) -> Any:
        full = list(args)
        for i, x in zip(chosen, xs):
            full[i] = x
        return fun(*full, **kwargs)

    of_chosen.__name__ = name_of(fun)
    return of_chosen


# Checks --------------------------------------------------------------------------------------------------------------


def _one(aval: ShapedArray) -> Any:
    """The cotangent of a result itself: weak if the result is."""
    one = aval.dtype.type(1)
    one = one.item() if aval.weak_type and dtypes.is_inexact(aval.dtype) else one
    if dtypes.canonicalize(aval.dtype) == aval.dtype:
        return one
    with config.enable_x64(True):  # the function computed with 64 bits in a block of its own
        return to_array(one)


def _not_for_grad(message: str) -> TypeError:
    return stepped_on(TypeError(message_here(message)), "grad-bad-signature")


def _check_differentiable(fun: Any, i: int, arg: Any, holomorphic: bool, allow_int: bool) -> None:
    for path, leaf in tree.leaves_with_path(arg):
        if isinstance(leaf, Reference):
            raise ValueError(
                f"grad of {name_of(fun)} with respect to a reference, argument {i}{tree.keystr(path)}: the cotangent of a "
                "reference is added to another reference. Use vjp, and pass that one: f_vjp.with_refs(ref)(1.0)"
            )
        aval = (
            leaf.aval
            if isinstance(leaf, (Array, Tracer))
            else check_array(leaf, f"argument {i} of {name_of(fun)} has, at {tree.keystr(path) or 'its root'},")
        )
        if holomorphic and not dtypes.is_complex(aval.dtype):
            raise _not_for_grad(f"{_told(fun, i, path, aval)}, but holomorphic=True needs complex arguments")
        if not dtypes.is_inexact(aval.dtype) and not allow_int:
            raise _not_for_grad(
                f"{_told(fun, i, path, aval)}, and gradients are of floats: pass a float ({_as_float(leaf)}), choose other "
                "argnums, or pass allow_int=True"
            )


def _told(fun: Any, i: int, path: Any, aval: ShapedArray) -> str:
    return f"argument {i}{tree.keystr(path)} of {name_of(fun)} is {aval.short()}"


def _as_float(x: Any) -> str:
    return f"{float(x)} in place of {x}" if type(x) in (int, bool) else "x.astype(float)"


def _returned(value: Any, arrays: int) -> str:
    if value is None:
        return "None, as a function without `return` does"
    count = "1 array" if arrays == 1 else f"{arrays} arrays"
    return f"{type(value).__name__} with {count}. Return aux values with has_aux=True"


def _check_scalar(fun: Any, value: Any, holomorphic: bool) -> None:
    leaves = tree.leaves(value)
    if len(leaves) != 1 or (not hasattr(value, "aval") and not isinstance(value, (int, float, complex, np.generic))):
        raise _not_for_grad(
            f"grad needs {name_of(fun)} to return one number; it returned {_returned(value, len(leaves))}"
        )
    aval = aval_of(value)
    if aval.shape:
        raise _not_for_grad(
            f"grad needs {name_of(fun)} to return a scalar; it returned {aval.short()}. Sum it, or use jacrev or "
            "vmap(grad(...)) for a derivative of every element"
        )
    if not dtypes.is_inexact(aval.dtype) or (dtypes.is_complex(aval.dtype) and not holomorphic):
        more = " (holomorphic=True allows complex)" if dtypes.is_complex(aval.dtype) else ""
        raise _not_for_grad(f"grad needs {name_of(fun)} to return a real float; it returned {aval.short()}{more}")
    if holomorphic and not dtypes.is_complex(aval.dtype):
        raise TypeError(
            f"grad with holomorphic=True needs {name_of(fun)} to return a complex number; it returned {aval.short()}"
        )
