"""Jacobians and Hessians: the whole matrix of a derivative, column by column (forward) or row by row (reverse)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ParamSpec

import numpy as np

from .. import tree
from ..backend.array import array_on, device_for, one_device
from ..control.bodies import name_of
from ..core import dtypes
from ..core.avals import ShapedArray, aval_of
from ..core.folding import folding
from ..core.trace import evaluating
from ..core.wrapping import wraps
from ..core.zeros import Zero
from ..ops.elementwise import eq_p, real_p
from ..ops.indexing import iota
from ..ops.linear import add_p, convert, full, instantiate, reshape, slice_in_dim
from ._flat import check_array, check_callable
from .gradients import argument_numbers, chosen_arguments, of_arguments
from .linear_maps import jvp, vjp
from .vmap import vmap


__all__ = ["hessian", "jacfwd", "jacobian", "jacrev"]

P = ParamSpec("P")


def jacfwd(
    fun: Callable[P, Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, holomorphic: bool = False
) -> Callable[P, Any]:
    """The Jacobian of `fun` with respect to the positional arguments `argnums`, by forward mode: one pass for each number
    in the arguments, all at once. Best for functions of few numbers.

    The result has the structure of `fun`'s result; in place of each leaf stands the structure of the argument (a tuple of
    those for a sequence of argnums) with leaves of shape result.shape + argument.shape. With `has_aux`, `fun` returns
    (result, aux) and the Jacobian function (Jacobian, aux). Raises TypeError for arguments that are not real floats
    (complex ones need `holomorphic=True`).

    >>> jx.jacfwd(lambda x: jnp.stack([x[0] * x[1], x[1]]))(jnp.array([2.0, 3.0]))
    Array([[3., 2.],
           [0., 1.]], dtype=float32)
    """
    check_callable(fun, "jacfwd")
    numbers = argument_numbers(argnums)

    @wraps(fun)
    def jacobian_of(*args: Any, **kwargs: Any) -> Any:
        with folding:
            return _forward(fun, numbers, has_aux, holomorphic, args, kwargs)

    return jacobian_of


def jacrev(
    fun: Callable[P, Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[P, Any]:
    """The Jacobian of `fun` as `jacfwd` gives it, by reverse mode: one pass for each number in the result, all at once.
    Best for results of few numbers.

    Raises TypeError for arguments that are not floats (integers are allowed with `allow_int`: their Jacobian is zero) and for results that are not real floats (complex ones need `holomorphic=True`).
    """
    check_callable(fun, "jacrev")
    numbers = argument_numbers(argnums)

    @wraps(fun)
    def jacobian_of(*args: Any, **kwargs: Any) -> Any:
        with folding:
            return _reverse(fun, numbers, has_aux, holomorphic, allow_int, args, kwargs)

    return jacobian_of


jacobian = jacrev


def hessian(
    fun: Callable[P, Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, holomorphic: bool = False
) -> Callable[P, Any]:
    """The Hessian of `fun`: the forward-mode Jacobian of its reverse-mode one.

    The structure of `fun`'s result, in it that of the arguments, in it that again; leaves have shape
    result.shape + argument.shape + argument.shape. See `jacfwd`.

    >>> jx.hessian(lambda x: x[0] ** 2 * x[1])(jnp.array([1.0, 3.0]))
    Array([[6., 2.],
           [2., 0.]], dtype=float32)
    """
    return jacfwd(jacrev(fun, argnums, has_aux, holomorphic), argnums, has_aux, holomorphic)


def _forward(fun: Any, numbers: Any, has_aux: bool, holomorphic: bool, args: tuple, kwargs: dict[str, Any]) -> Any:
    chosen = chosen_arguments(fun, numbers, args, "jacfwd", ValueError)
    primals = tuple(args[i] for i in chosen)
    in_tree = tree.structure(primals)
    avals = _check_arguments("jacfwd", fun, chosen, primals, holomorphic, dtypes.is_float, "real floats")

    def push(*tangents: Any) -> Any:
        result, tangent, *aux = jvp(of_arguments(fun, chosen, args, kwargs), primals, tangents, has_aux=has_aux)
        return result, tree.map(_written, tangent, result), *aux

    push.__name__ = name_of(fun)
    axes = (None, -1, None) if has_aux else (None, -1)
    basis = in_tree.unflatten(_basis(avals, primals))
    result, tangent, *aux = vmap(push, out_axes=axes, axis_size=_size(avals))(*basis)
    outs, out_tree = tree.flatten(result)
    out_avals = [aval_of(x) for x in outs]
    if holomorphic:
        _check_results("jacfwd", fun, result, holomorphic)
    blocks = [
        [_as(reshape(part, out.shape + a.shape), out) for part, a in zip(_parts(t, avals, len(out.shape)), avals)]
        for t, out in zip(tree.leaves(tangent), out_avals)
    ]
    return _assembled(blocks, in_tree, out_tree, numbers, aux)


def _reverse(
    fun: Any, numbers: Any, has_aux: bool, holomorphic: bool, allow_int: bool, args: tuple, kwargs: dict[str, Any]
) -> Any:
    chosen = chosen_arguments(fun, numbers, args, "jacrev", ValueError)
    primals = tuple(args[i] for i in chosen)
    in_tree = tree.structure(primals)
    avals = _check_arguments("jacrev", fun, chosen, primals, holomorphic, _inexact(allow_int), "floats")
    result, pullback, *aux = vjp(of_arguments(fun, chosen, args, kwargs), *primals, has_aux=has_aux)
    out_avals = _check_results("jacrev", fun, result, holomorphic)
    out_tree = tree.structure(result)
    smooth = [dtypes.is_inexact(a.dtype) for a in avals]

    def pull(ct: Any) -> list[Any]:
        return [x for x, s in zip(tree.leaves(pullback(ct)), smooth) if s]

    rows = iter(vmap(pull, axis_size=_size(out_avals))(out_tree.unflatten(_basis(out_avals, result))))
    columns = [list(_parts(next(rows), out_avals, 0)) if s else None for s in smooth]
    blocks = [
        [
            full(out.shape + a.shape, 0, a.dtype) if column is None else _as(reshape(column[o], out.shape + a.shape), a)
            for column, a in zip(columns, avals)
        ]
        for o, out in enumerate(out_avals)
    ]
    return _assembled(blocks, in_tree, out_tree, numbers, aux)


def _assembled(blocks: list[list[Any]], in_tree: Any, out_tree: Any, numbers: Any, aux: list[Any]) -> Any:
    """The Jacobian from its block for each leaf of the result and each leaf of the arguments."""
    rows = [in_tree.unflatten(row) for row in blocks]
    found = out_tree.unflatten([row[0] if isinstance(numbers, int) else row for row in rows])
    return (found, aux[0]) if aux else found


# The standard basis --------------------------------------------------------------------------------------------------


def _size(avals: Sequence[ShapedArray]) -> int:
    return sum(a.size for a in avals)


def _basis(avals: Sequence[ShapedArray], beside: Any) -> list[Any]:
    """The unit vectors of the space of some leaves: for each leaf its part of all of them, along a new axis 0. They live
    where the arrays of the tree `beside` do."""
    total, start, found = _size(avals), 0, []
    device = None if one_device() or not evaluating() else device_for(tree.leaves(beside))
    for aval in avals:
        shape = (total, aval.size)
        if evaluating():
            ones: Any = np.eye(*shape, -start).astype(aval.dtype)
            ones = ones if device is None else array_on(ones, device)
        else:
            columns = add_p(iota(dtypes.int32, shape, 1), np.int32(start))
            ones = eq_p(iota(dtypes.int32, shape, 0), columns)
        found.append(reshape(convert(ones, aval.dtype, aval.weak_type), (total, *aval.shape)))
        start += aval.size
    return found


def _parts(x: Any, avals: Sequence[ShapedArray], axis: int) -> Iterator[Any]:
    """The parts of an array along an axis that is made up of the numbers of some leaves, one part for each leaf."""
    start = 0
    for aval in avals:
        yield x if len(avals) == 1 else slice_in_dim(x, start, start + aval.size, axis=axis)
        start += aval.size


def _as(x: Any, aval: ShapedArray) -> Any:
    """Of the dtype and weak type of `aval`; the real part where that is real."""
    if dtypes.is_complex(aval_of(x).dtype) and not dtypes.is_complex(aval.dtype):
        x = real_p(x)
    return convert(x, aval.dtype, aval.weak_type)


def _written(tangent: Any, result: Any) -> Any:
    """A tangent as a value of the result's dtype, also where there is none."""
    if getattr(tangent, "dtype", None) == dtypes.float0:
        return instantiate(Zero(aval_of(result)))
    return instantiate(tangent)


# Checks --------------------------------------------------------------------------------------------------------------


def _inexact(allow_int: bool) -> Callable[[Any], bool]:
    return (lambda dtype: not dtypes.is_extended(dtype)) if allow_int else dtypes.is_inexact


def _check_arguments(
    what: str,
    fun: Any,
    chosen: Sequence[int],
    primals: tuple,
    holomorphic: bool,
    accepts: Callable[[Any], bool],
    kinds: str,
) -> list[ShapedArray]:
    found = []
    for i, primal in zip(chosen, primals):
        for path, leaf in tree.leaves_with_path(primal):
            where = f"argument {i}{tree.keystr(path)} of {name_of(fun)}"
            aval = check_array(leaf, f"{where} is")
            if holomorphic and not dtypes.is_complex(aval.dtype):
                raise TypeError(f"{what}: {where} is {aval.short()}, but holomorphic=True needs complex arguments")
            if not holomorphic and not accepts(aval.dtype):
                hint = (
                    "; holomorphic=True differentiates functions of complex numbers"
                    if dtypes.is_complex(aval.dtype)
                    else ": convert it with .astype(float)" + (", or pass allow_int=True" if what == "jacrev" else "")
                )
                raise TypeError(f"{what}: {where} is {aval.short()}, and Jacobians are with respect to {kinds}{hint}")
            found.append(aval)
    return found


def _check_results(what: str, fun: Any, result: Any, holomorphic: bool) -> list[ShapedArray]:
    found = []
    for path, leaf in tree.leaves_with_path(result):
        aval = aval_of(leaf)
        if holomorphic != dtypes.is_complex(aval.dtype) or not dtypes.is_inexact(aval.dtype):
            needs = "complex, with holomorphic=True" if holomorphic else "real floats"
            raise TypeError(
                f"{what}: the result{tree.keystr(path)} of {name_of(fun)} is {aval.short()}, but results must be {needs}. "
                + ("" if holomorphic else "For others use vjp or jvp")
            )
        found.append(aval)
    return found
