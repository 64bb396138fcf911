"""jvp, linearize and vjp: derivatives as linear maps."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar, overload

from .. import tree
from ..backend.array import Array, one_device
from ..control.bodies import name_of
from ..core import dtypes
from ..core.annotations import PyTree
from ..core.avals import aval_of, is_python_scalar
from ..core.folding import folding
from ..core.trace import Tracer, evaluating
from ..core.zeros import is_zero
from ..ops.elementwise import stop_gradient_p
from ..ops.linear import convert, instantiate
from ..transforms.jvp import jvp_flat
from ..transforms.linearize import linearize_flat
from ..transforms.steps import jvp_step, linearize_step
from ._flat import Flat, as_values, check_array, check_callable
from .pullbacks import LinearProgram, Path, Pullback, Pushforward, check_tangent, path_in
from .residuals import flags, kept_by


S = TypeVar("S")
Aux = TypeVar("Aux")


__all__ = ["jvp", "linearize", "vjp"]


@overload
def jvp(
    fun: Callable[..., S], primals: Sequence[PyTree], tangents: Sequence[PyTree], has_aux: Literal[False] = False
) -> tuple[S, S]: ...
@overload
def jvp(
    fun: Callable[..., tuple[S, Aux]], primals: Sequence[PyTree], tangents: Sequence[PyTree], has_aux: Literal[True]
) -> tuple[S, S, Aux]: ...
def jvp(
    fun: Callable[..., Any], primals: Sequence[PyTree], tangents: Sequence[PyTree], has_aux: bool = False
) -> tuple[Any, ...]:
    """`fun(*primals)` and its directional derivative along `tangents` (same structure, shapes and dtypes).

    Gives (result, tangent), or (result, tangent, aux) with `has_aux`. Raises TypeError where structures or dtypes of
    tangents and primals differ, ValueError where shapes do. The tangent of an integer has dtype float0.

    >>> jx.jvp(lambda x: x**2, (3.0,), (1.0,))
    (Array(9., dtype=float32, weak_type=True), Array(6., dtype=float32, weak_type=True))
    """
    with folding:
        return _jvp(fun, primals, tangents, has_aux)


def _jvp(fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool) -> Any:
    check_callable(fun, "jvp")
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise TypeError(
            f"jvp takes tuples of primals and tangents, one of each for every argument; it got "
            f"{type(primals).__name__} and {type(tangents).__name__}. For one argument: jvp(f, (x,), (t,))"
        )
    leaves, in_tree = tree.flatten(tuple(primals))
    given, tangent_tree = tree.flatten(tuple(tangents))
    if in_tree != tangent_tree or type(primals) is not type(tangents):
        raise TypeError(
            f"jvp: primals and tangents differ in structure: {tree.structure(primals)} and {tree.structure(tangents)}"
        )
    tangents = [_tangent_of(p, t, path_in(tuple(primals), i)) for i, (p, t) in enumerate(zip(leaves, given))]
    flat = Flat(fun, in_tree, has_aux)
    values = as_values(leaves)
    all_outs, ts = jvp_flat(jvp_step(flat, name_of(fun), values, tangents), values, tangents)
    outs, aux = flat.split(all_outs) if has_aux else (all_outs, None)
    tangent = flat.out_tree.unflatten([instantiate(t) for t in ts[: len(outs)]])
    result = flat.out_tree.unflatten(outs)
    return (result, tangent, aux) if has_aux else (result, tangent)


def _tangent_of(primal: Any, tangent: Any, path: Path) -> Any:
    aval = primal.aval if hasattr(primal, "aval") else check_array(primal, f"the primal at {path()} is")
    device = None
    if not one_device() and evaluating():
        value = primal.known() if isinstance(primal, Tracer) else primal
        device = value.place if isinstance(value, Array) else None
    t = check_tangent(tangent, aval, path, device)
    if is_zero(t) or aval_of(t).weak_type == aval.weak_type:
        return t
    return (
        convert(tangent, aval.dtype, aval.weak_type)
        if aval.weak_type or not is_python_scalar(tangent)
        else aval.dtype.type(tangent)
    )


@overload
def linearize(
    fun: Callable[..., S], *primals: PyTree, has_aux: Literal[False] = False, in_nzs: PyTree = None
) -> tuple[S, Pushforward]: ...
@overload
def linearize(
    fun: Callable[..., tuple[S, Aux]], *primals: PyTree, has_aux: Literal[True], in_nzs: PyTree = None
) -> tuple[S, Pushforward, Aux]: ...
def linearize(
    fun: Callable[..., Any], *primals: PyTree, has_aux: bool = False, in_nzs: PyTree = None
) -> tuple[Any, ...]:
    """`fun(*primals)`, and the linear function from tangents, of the structure, shapes and dtypes of the primals, to
    tangents of the result.

    The function is evaluated once; the linear function may be called many times. It is a pytree, whose leaves are what
    it keeps of the evaluation. Gives (result, f_jvp) or, with `has_aux`, (result, f_jvp, aux). Raises TypeError for
    primals that are not arrays; f_jvp for tangents that do not fit.
    `in_nzs`: which primals may have tangents, a tree of bools that is a prefix of theirs; the tangents of others count as zero, and
    `f_jvp.out_nzs` says which results may have some.

    >>> out, push = jx.linearize(lambda x: x**2, 3.0)
    >>> push(1.0), push(2.0)
    (Array(6., dtype=float32, weak_type=True), Array(12., dtype=float32, weak_type=True))
    """
    with folding:
        return _linear(fun, primals, has_aux, Pushforward, "linearize", in_nzs)


@overload
def vjp(
    fun: Callable[..., S],
    *primals: PyTree,
    has_aux: Literal[False] = False,
    reduce_axes: Sequence[Any] = (),
    saveable_args: PyTree = True,
    in_nzs: PyTree = None,
) -> tuple[S, Pullback]: ...
@overload
def vjp(
    fun: Callable[..., tuple[S, Aux]],
    *primals: PyTree,
    has_aux: Literal[True],
    reduce_axes: Sequence[Any] = (),
    saveable_args: PyTree = True,
    in_nzs: PyTree = None,
) -> tuple[S, Pullback, Aux]: ...
def vjp(
    fun: Callable[..., Any],
    *primals: PyTree,
    has_aux: bool = False,
    reduce_axes: Sequence[Any] = (),
    saveable_args: PyTree = True,
    in_nzs: PyTree = None,
) -> tuple[Any, ...]:
    """`fun(*primals)`, and the function from the result's cotangent, of its structure, shapes and dtypes, to cotangents
    of the primals (a tuple).

    The latter is a pytree, whose leaves are what it keeps of the evaluation. Gives (result, f_vjp) or, with `has_aux`,
    (result, f_vjp, aux). Cotangents of integer primals have dtype float0. Raises TypeError for primals that are not
    arrays; f_vjp ValueError for a cotangent that does not fit. `reduce_axes` is there for JAX's sake and raises
    NotImplementedError, as in JAX. `in_nzs`: as in `linearize`; the cotangents of primals without tangents are zeros.
    `saveable_args`, a bool, a prefix of the primals or a tuple of tuples with bools: where it is False a primal that the way
    back needs is not kept, and must be put into `f_vjp.args_res` before the call.

    >>> out, pull = jx.vjp(lambda x, y: x * y, 2.0, 5.0)
    >>> pull(1.0)
    (Array(5., dtype=float32, weak_type=True), Array(2., dtype=float32, weak_type=True))
    """
    with folding:
        refuse_reduce_axes(reduce_axes, "vjp")
        return _linear(fun, primals, has_aux, Pullback, "vjp", in_nzs, saveable_args)


def _linear(
    fun: Callable[..., Any],
    primals: tuple,
    has_aux: bool,
    kind: type[Pullback] | type[Pushforward],
    what: str,
    in_nzs: Any,
    saveable: Any = True,
) -> Any:
    check_callable(fun, what)
    if in_nzs is not None:
        fun = _constant_where(fun, tree.broadcast_prefix(in_nzs, tree.structure(primals), f"in_nzs of {what}"))
    leaves, in_tree = tree.flatten(primals)
    for leaf, path in zip(leaves, _paths(leaves, primals)):
        if not isinstance(leaf, (Array, Tracer)):
            check_array(leaf, f"{what} of {name_of(fun)}: the primal at {path} is")
    flat = Flat(fun, in_tree, has_aux)
    saveable = flags(saveable, in_tree, "saveable_args of vjp") if kind is Pullback else ()
    values = as_values(leaves)
    linear = linearize_flat(linearize_step(flat, name_of(fun), values), values)
    outs, aux = flat.split(linear.outs) if has_aux else (linear.outs, None)
    program = LinearProgram(linear, in_tree, flat.out_tree, name_of(fun))
    function = (
        Pullback(program, *kept_by(values, linear.jaxpr.consts, in_tree, saveable))
        if kind is Pullback
        else Pushforward(program, linear.jaxpr.consts)
    )
    result = flat.out_tree.unflatten(outs)
    return (result, function, aux) if has_aux else (result, function)


def _constant_where(fun: Callable[..., Any], varies: list[bool]) -> Callable[..., Any]:
    """The function, the leaves of its arguments that do not vary held constant."""

    @functools.wraps(fun)
    def held(*args: Any) -> Any:
        leaves, treedef = tree.flatten(args)
        return fun(
            *treedef.unflatten(
                [
                    x if v or not dtypes.is_inexact(aval_of(x).dtype) else stop_gradient_p(x)
                    for x, v in zip(leaves, varies, strict=True)
                ]
            )
        )

    return held


def _paths(leaves: list[Any], primals: tuple) -> list[str]:
    """The paths of leaves, if somebody will ask for one."""
    if all(hasattr(x, "aval") for x in leaves):
        return [""] * len(leaves)
    return tree.leaf_paths(primals)


def refuse_reduce_axes(reduce_axes: Sequence[Any], what: str) -> None:
    if reduce_axes:
        raise NotImplementedError(f"{what}: reduce_axes is deprecated, in JAX as well; sum over the axis with lax.psum")
