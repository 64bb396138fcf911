"""jvp, linearize and vjp: derivatives as linear maps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import tree
from ..backend.array import Array, one_device, placed, to_array
from ..core import dtypes
from ..core.avals import ShapedArray, aval_of, tangent_aval
from ..core.staging import eval_jaxpr
from ..core.trace import Tracer, evaluating
from ..core.zeros import Linear, Zero, is_zero
from ..ops.linear import convert, instantiate
from ..transforms.jvp import jvp_flat
from ..transforms.linearize import Linearized, linearize_flat
from ..transforms.transpose import backward_pass
from ._flat import Flat, as_values, check_array, name_of


def _beside(x: Any, aval: ShapedArray, other: Any) -> Any:
    """A tangent or cotangent of `aval`, where the value `other` is."""
    if isinstance(x, Tracer):
        return x if x.aval.dtype == aval.dtype else convert(x, aval.dtype)
    x = x if aval_of(x).dtype == aval.dtype else np.asarray(x, aval.dtype)
    if not evaluating():
        return x
    array = to_array(x)
    other = other.known() if isinstance(other, Tracer) else other
    return placed(array, other.device) if isinstance(other, Array) and not one_device() else array


def jvp(fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False) -> Any:
    """`fun(*primals)` and its directional derivative along `tangents` (same structure, shapes and dtypes).

    Gives (result, tangent), or (result, tangent, aux). Raises TypeError where tangents do not fit the primals.
    """
    leaves, in_tree = tree.flatten(tuple(primals))
    given, tangent_tree = tree.flatten(tuple(tangents))
    if in_tree != tangent_tree:
        raise TypeError(f"jvp: primals and tangents differ in structure: {in_tree} and {tangent_tree}")
    paths = tree.leaf_paths(tuple(primals))
    moving = [_tangent(p, t, path) for p, t, path in zip(leaves, given, paths)]
    flat = Flat(fun, in_tree, has_aux)
    all_outs, ts = jvp_flat(flat, as_values(leaves), moving)
    outs, aux = flat.split(all_outs) if has_aux else (all_outs, None)
    tangent = flat.out_tree.unflatten([instantiate(t) for t in ts[: len(outs)]])
    result = flat.out_tree.unflatten(outs)
    return (result, tangent, aux) if has_aux else (result, tangent)


def _tangent(primal: Any, tangent: Any, path: str) -> Any:
    wanted = tangent_aval(check_array(primal, f"the primal at {path} is"))
    if is_zero(tangent):
        return tangent
    if wanted.dtype == dtypes.float0:
        if getattr(tangent, "dtype", None) == dtypes.float0:
            return Zero(wanted)
        raise TypeError(
            f"the primal at {path} is {aval_of(primal).short()}, which has no tangent: pass zeros of "
            "dtype float0 for it"
        )
    aval = check_array(tangent, f"the tangent at {path} is")
    if aval.shape != wanted.shape or (aval.dtype != wanted.dtype and not aval.weak_type):
        error = ValueError if aval.shape != wanted.shape else TypeError
        raise error(
            f"at {path} the primal is {aval_of(primal).short()} and the tangent {aval.short()}; they must agree"
        )
    return _beside(tangent, wanted, primal)


def linearize(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """`fun(*primals)`, and the linear function from tangents to tangents of the result.

    The function is evaluated once; the linear function may be called many times. Gives (result, f_jvp) or
    (result, f_jvp, aux).
    """
    leaves, in_tree = tree.flatten(primals)
    flat = Flat(fun, in_tree, has_aux)
    linear = linearize_flat(flat, as_values(leaves))
    outs, aux = flat.split(linear.outs) if has_aux else (linear.outs, None)
    paths = tree.leaf_paths(primals)

    def f_jvp(*tangents: Any) -> Any:
        given, tangent_tree = tree.flatten(tangents)
        if tangent_tree != in_tree:
            raise TypeError(f"the tangents have structure {tangent_tree}, the primals {in_tree}")
        moving = [_tangent(p, t, path) for p, t, path in zip(leaves, given, paths)]
        wanted = [instantiate(t) for t, m in zip(moving, linear.moving_in) if m]
        found = iter(eval_jaxpr(linear.jaxpr.jaxpr, linear.jaxpr.consts, *wanted))
        ts = [
            next(found) if m else instantiate(Zero(tangent_aval(aval_of(o))))
            for m, o in zip(linear.moving_out, linear.outs)
        ]
        return flat.out_tree.unflatten(ts[: len(outs)])

    result = flat.out_tree.unflatten(outs)
    return (result, f_jvp, aux) if has_aux else (result, f_jvp)


def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """`fun(*primals)`, and the function from cotangents of the result to cotangents of the primals (a tuple).

    Gives (result, f_vjp) or (result, f_vjp, aux). Cotangents of integer primals have dtype float0.
    """
    leaves, in_tree = tree.flatten(primals)
    flat = Flat(fun, in_tree, has_aux)
    linear = linearize_flat(flat, as_values(leaves))
    outs, aux = flat.split(linear.outs) if has_aux else (linear.outs, None)

    def f_vjp(cotangent: Any) -> tuple:
        cts, ct_tree = tree.flatten(cotangent)
        if ct_tree != flat.out_tree:
            raise ValueError(f"the cotangent has structure {ct_tree}, the result of {name_of(fun)} {flat.out_tree}")
        given = [_cotangent(ct, out) for ct, out in zip(cts, outs)]
        given += [Zero(tangent_aval(aval_of(o))) for o in linear.outs[len(outs) :]]
        return in_tree.unflatten([instantiate(ct) for ct in pull_back(linear, given)])

    result = flat.out_tree.unflatten(outs)
    return (result, f_vjp, aux) if has_aux else (result, f_vjp)


def _cotangent(ct: Any, out: Any) -> Any:
    wanted = tangent_aval(aval_of(out))
    if is_zero(ct) or wanted.dtype == dtypes.float0:
        return Zero(wanted)
    aval = check_array(ct, "the cotangent is")
    if aval.shape != wanted.shape or (aval.dtype != wanted.dtype and not aval.weak_type):
        raise ValueError(f"the result is {wanted.short()} and its cotangent {aval.short()}; they must agree")
    return _beside(ct, wanted, out)


def pull_back(linear: Linearized, cts: Sequence[Any]) -> list[Any]:
    """Cotangents of all flat inputs (Zero where they do not matter) from those of all flat results."""
    moving = [ct for ct, m in zip(cts, linear.moving_out) if m]
    jaxpr = linear.jaxpr
    args = [Linear(aval) for aval in jaxpr.in_avals]
    found = iter(backward_pass(jaxpr.jaxpr, jaxpr.consts, args, moving))
    return [next(found) if m else Zero(tangent_aval(aval)) for m, aval in zip(linear.moving_in, linear.in_avals)]
