"""Calling an exported function: one operation whose program is the module it was exported as."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import tree
from ..control.custom_vjp import custom_vjp
from ..core import dtypes
from ..core.avals import ShapedArray, aval_of, not_an_array, physical
from ..core.effects import no_effects
from ..core.errors import ShapeError
from ..core.primitive import Primitive
from ..ops.linear import convert
from ..symbolic.dimension import evaluated, is_symbolic_dim
from ..xla import lapack, portable
from .checks import DisabledSafetyCheck
from .layouts import check_devices, laid
from .signature import argument_names, has_tangent, in_program, solution_of


class NoDerivative(NotImplementedError, ValueError):
    """An exported function has no derivative of the kind asked for."""


class CallExported(Primitive):
    """Runs the module of `exported`."""

    multiple_results = True

    def program_params(self, params):
        exported = params["exported"]
        lies = (exported.nr_devices, exported._in_named_shardings, exported._out_named_shardings)
        return {"module": exported.mlir_module_serialized, "kept": exported.module_kept_var_idx, "lies": repr(lies)}

    def abstract(self, /, *avals, exported):
        return results_for(exported, avals), no_effects

    def lower(self, ctx, /, *values, exported):
        if exported.uses_global_constants:
            ctx.module.refines = True
        check_devices(ctx, exported)
        lapack.register()
        inserted = ctx.module.inserted(exported, lambda: portable.read(exported.mlir_module_serialized))
        taken, given = portable.signature(inserted)
        values = laid(ctx, values, exported._in_named_shardings)
        values = [values[i] for i in exported.module_kept_var_idx]
        if len(exported.platforms) > 1:
            values = [ctx.by_platform(lambda platform: _platform_index(exported, platform)), *values]
        operands = [x if x.type == kind else ctx.hlo.convert(kind, x) for x, kind in zip(values, taken)]
        outs = laid(ctx, portable.call(inserted, operands, given), exported._out_named_shardings)
        wanted = [ctx.type(physical(a)) for a in ctx.avals_out]
        return [x if x.type == kind else ctx.hlo.convert(kind, x) for x, kind in zip(outs, wanted)]

    def jvp(self, primals, tangents, /, *, exported):
        raise NoDerivative(
            f"the exported function {exported.fun_name} was exported without its derivative: serialize it with vjp_order=1 (2 "
            "for second derivatives, …). Forward mode (jvp) is not exported"
        )

    def batch(self, axis, args, dims, /, *, exported):
        raise NotImplementedError(
            f"the exported function {exported.fun_name} cannot be mapped by vmap: it is a program for these shapes. Export the "
            "mapped function, or call it for one example after another with lax.map"
        )

    def shown_params(self, params):
        return {"name": params["exported"].fun_name}


call_exported_p = CallExported("call_exported")


def _platform_index(exported: Any, platform: str) -> int:
    return exported.platforms.index(platform) if platform in exported.platforms else 0


def results_for(exported: Any, avals: Sequence[ShapedArray]) -> list[ShapedArray]:
    """The avals of the results for arguments of these avals. Raises ShapeError for arguments that do not fit, ValueError for
    sizes that do not solve for the dimension variables."""
    names = argument_names(exported.in_tree)
    for wanted, aval, name in zip(exported.in_avals, avals, names):
        _check(exported, in_program(wanted), aval, name)
    solution = solution_of(exported.in_avals, exported.in_tree)
    if solution is None:
        return list(map(in_program, exported.out_avals))
    values = solution.at([a.shape for a in avals])
    return [a.update(shape=tuple(evaluated(n, values) for n in a.shape)) for a in map(in_program, exported.out_avals)]


def _check(exported: Any, wanted: ShapedArray, aval: ShapedArray, name: str) -> None:
    def wrong(what: str) -> ShapeError:
        return ShapeError(
            f"{what} mismatch for {name}: {exported.fun_name} was exported for {wanted.short()}, it got {aval.short()}"
        )

    if wanted.ndim != aval.ndim:
        raise wrong("Rank")
    if wanted.dtype != aval.dtype:
        raise wrong("Dtype")
    for axis, (n, m) in enumerate(zip(wanted.shape, aval.shape)):
        if not is_symbolic_dim(n) and n != m:
            name = f"{name}.shape[{axis}] (expected same constant)"
            raise wrong("Shape")


def call_exported(exported: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """The result for arguments of the structure, shapes and dtypes it was exported for. Raises ValueError for others."""
    leaves, in_tree = tree.flatten((args, kwargs))
    if in_tree != exported.in_tree:
        raise ShapeError(
            "The invocation args and kwargs must have the same pytree structure as when the function "
            f"'{exported.fun_name}' was exported, but {exported.fun_name} was exported for arguments of another structure: "
            f"{exported.in_tree}, now {in_tree}"
        )
    _check_platform(exported)
    return exported.out_tree.unflatten(_flat_call(exported)(*_converted(exported, leaves)))


def _converted(exported: Any, leaves: list[Any]) -> list[Any]:
    """The arguments; numbers in the dtype asked for."""
    result = []
    for i, (x, wanted) in enumerate(zip(leaves, exported.in_avals)):
        if wanted.dtype == dtypes.float0:
            result.append(np.zeros(np.shape(x), bool))
            continue
        try:
            aval = aval_of(x)
        except TypeError:
            name = argument_names(exported.in_tree)[i]
            raise ShapeError(
                f"{exported.fun_name} was exported for {wanted.short()} at {name}; {not_an_array(x)}"
            ) from None
        same = dtypes.kind(aval.dtype) == dtypes.kind(wanted.dtype)
        dtype = wanted.dtype if aval.weak_type and same else aval.dtype
        result.append(convert(x, dtype, wanted.weak_type))
    return result


def _check_platform(exported: Any) -> None:
    here = "cpu"
    if here not in exported.platforms and DisabledSafetyCheck.platform() not in exported.disabled_safety_checks:
        raise ValueError(
            f"Function '{exported.fun_name}' was exported for platforms '{exported.platforms}' but it is used on '{here}'."
        )


def _flat_call(exported: Any) -> Any:
    """The function of flat leaves, differentiable if its pullback is there; float0 results are NumPy zeros."""

    def call(*leaves):
        outs = call_exported_p.bind(*leaves, exported=exported)
        return [
            np.zeros(aval_of(x).shape, dtypes.float0) if a.dtype == dtypes.float0 else x
            for x, a in zip(outs, exported.out_avals)
        ]

    if not exported.has_vjp():
        return call
    call.__name__ = exported.fun_name
    with_rules = custom_vjp(call)
    differentiated = [has_tangent(a) for a in exported.in_avals]

    def forward(*leaves):
        return with_rules(*leaves), leaves

    def backward(leaves, cts):
        pullback = exported.vjp()
        given = [ct if has_tangent(a) else np.zeros(np.shape(ct), bool) for ct, a in zip(cts, exported.out_avals)]
        found = _flat_call(pullback)(*leaves, *given)
        return tuple(ct if m else None for ct, m in zip(found, differentiated))

    with_rules.defvjp(forward, backward)
    return with_rules
