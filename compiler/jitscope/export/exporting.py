"""Exporting: a traced function becomes a portable module with its signature."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from .. import tree
from ..api import jit, vjp
from ..backend.arguments import Arguments
from ..backend.array import to_array
from ..backend.callbacks import numbers_of
from ..backend.dispatch import JitFunction
from ..backend.lowering import lower_jaxpr
from ..control.callbacks import calls_python
from ..control.discharge import flattened
from ..core import dtypes
from ..core.avals import ShapedArray, cotangent_aval, tangent_aval
from ..core.jaxpr import ClosedJaxpr, DebugInfo, Jaxpr
from ..core.references import ReferenceAval
from ..core.staging import jaxpr_as_fun, trace_to_jaxpr
from ..ops.linear import full
from ..symbolic.dimension import is_symbolic_dim
from ..xla import portable
from .checks import DisabledSafetyCheck, check_targets
from .exported import Exported, maximum_supported_calling_convention_version
from .layouts import Layouts, abstract_layouts, layouts_of, without_devices
from .signature import argument_names, has_tangent, in_program, solution_of


__all__ = ["default_export_platform", "export"]


def default_export_platform() -> str:
    """The platform functions are exported for if none is named."""
    return "cpu"


def export(
    fun_jit: Any, *, platforms: Sequence[str] | None = None, disabled_checks: Sequence[DisabledSafetyCheck] = ()
) -> Callable[..., Exported]:
    """The function that exports a jitted function for arguments: arrays, or ShapeDtypeStructs, whose shapes may have symbolic
    dimensions of one scope.

    Layouts over an AbstractMesh, of Auto axes, are for devices that need not be there. `platforms`: those it is for, by name (None: the CPU). Operations whose program differs between platforms are refused for
    others than the CPU. A function of this library counts as jitted. Raises ValueError for others that are not, for scopes that are mixed and for dimension
    variables that do not follow from the arguments' shapes; NotImplementedError for a function with callbacks and for
    operations that cannot be exported with symbolic dimensions.
    """
    if not isinstance(fun_jit, JitFunction) and str(getattr(fun_jit, "__module__", "")).startswith(_OURS):
        fun_jit = jit(fun_jit)
    if not isinstance(fun_jit, JitFunction):
        raise NotJitted(
            "Function to be exported must be the result of `jit`, it is "
            f"{fun_jit!r}: write export(jit({getattr(fun_jit, '__name__', 'f')}))"
        )
    wanted = tuple(platforms or (default_export_platform(),))

    def exporting(*args: Any, **kwargs: Any) -> Exported:
        _check_scopes(fun_jit, args, kwargs)
        stage, in_tree, layouts = _traced(fun_jit, args, kwargs)
        return _exported(stage.jaxpr, stage.fun_name, in_tree, stage.out_tree, wanted, tuple(disabled_checks), layouts)

    return exporting


def _traced(fun_jit: JitFunction, args: tuple, kwargs: dict[str, Any]) -> tuple[Any, Any, Layouts]:
    """The function traced for the arguments as they are passed, their structure, static ones left out, and how all lies. (What
    `jit` traces has one form for all ways to call it, and takes defaults.)"""
    arguments = Arguments(fun_jit._spec, args, kwargs)

    def flat(*leaves: Any) -> Any:
        positional, named = arguments.filled(leaves)
        return fun_jit.__wrapped__(*positional, **named)

    flat.__name__ = flat.__qualname__ = getattr(fun_jit, "__name__", "<unnamed>")
    leaves, said = arguments.leaves, fun_jit._shardings
    asked = [None] * len(leaves) if said is None else said.wanted(arguments)
    own = [x.mark if isinstance(x, ShapedArray) else getattr(x, "sharding", None) for x in leaves]
    lie = [s or o for s, o in zip(asked, own)]
    if any(map(without_devices, [*lie, *([] if said is None else tree.leaves(said.outs))])):
        leaves = [x.update(sharding=None) if without_devices(o) else x for x, o in zip(leaves, own)]
        stage = jit(flat, keep_unused=fun_jit._keep_unused).trace(*leaves)
        return stage, arguments.in_tree, abstract_layouts(lie, [] if said is None else said.results(stage), stage.jaxpr)
    layouts = {} if said is None else {"in_shardings": tuple(asked), "out_shardings": said.outs}
    stage = jit(flat, keep_unused=fun_jit._keep_unused, **layouts).trace(*leaves)
    return stage, arguments.in_tree, layouts_of(lie, stage._device, len(stage.jaxpr.out_avals))


_OURS = f"{__name__.split('.')[0]}."


class NotJitted(TypeError, ValueError):
    """What is to be exported is not a jitted function."""


def _check_scopes(fun_jit: Any, args: tuple, kwargs: dict[str, Any]) -> None:
    leaves, structure = tree.flatten((args, kwargs))
    first: tuple[Any, str] | None = None
    for x, name in zip(leaves, argument_names(structure)):
        for d in getattr(x, "shape", ()):
            if not is_symbolic_dim(d):
                continue
            first = first or (d.scope, name)
            if d.scope is not first[0]:
                first[0].refuse(d, f"when exporting {fun_jit.__name__}", f"current (from {first[1]}) ", name)


def _exported(
    closed: ClosedJaxpr,
    name: str,
    in_tree: Any,
    out_tree: Any,
    platforms: tuple[str, ...],
    disabled: tuple[DisabledSafetyCheck, ...],
    layouts: Layouts,
) -> Exported:
    if any(isinstance(v.aval, ReferenceAval) for v in (*closed.jaxpr.constvars, *closed.jaxpr.invars)):
        raise NotImplementedError(
            f"{name} takes or captures references: it cannot be exported. Export a function that takes their values and gives "
            "the new ones"
        )
    closed = flattened(closed)[0]
    if closed.effects or calls_python(closed.jaxpr):
        raise NotImplementedError(
            f"{name} calls Python functions, by callbacks or debug.print: it cannot be exported, since those would not be there"
        )
    solution = solution_of(closed.in_avals, in_tree)
    lowered, kept = _without_unused(closed) if solution is None else (closed, range(len(closed.in_avals)))
    program = ClosedJaxpr(lowered.jaxpr, [numbers_of(to_array(c)) for c in lowered.consts])
    module = lower_jaxpr(program, f"jit_{name}", solution=solution, platforms=platforms, spread=layouts.spread(kept))
    check_targets(module, name, platforms, disabled)
    several = len(platforms) > 1
    layouts = layouts.without(set(range(len(closed.in_avals))) - set(kept))
    outs, ins = len(layouts.outs), len(layouts.ins)
    return Exported(
        fun_name=name,
        in_tree=in_tree,
        in_avals=tuple(closed.in_avals),
        out_tree=out_tree,
        out_avals=tuple(closed.out_avals),
        _in_named_shardings=layouts.ins,
        _out_named_shardings=layouts.outs,
        in_shardings_hlo=(None,) * ins,
        out_shardings_hlo=(None,) * outs,
        nr_devices=layouts.devices,
        platforms=platforms,
        ordered_effects=(),
        unordered_effects=(),
        disabled_safety_checks=disabled,
        mlir_module_serialized=portable.write(module, portable.version(), spread=layouts.mesh is not None),
        calling_convention_version=maximum_supported_calling_convention_version,
        module_kept_var_idx=tuple(kept),
        uses_global_constants=solution is not None or several,
        _get_vjp=lambda exported: _pullback(closed, exported, layouts),
    )


def _without_unused(closed: ClosedJaxpr) -> tuple[ClosedJaxpr, list[int]]:
    """The program without the arguments that nobody reads, and the numbers of the others."""
    kept = closed.jaxpr.read_arguments()
    old = closed.jaxpr
    names = old.debug.arg_names
    debug = DebugInfo(old.debug.name, tuple(names[i] for i in kept if i < len(names)), old.debug.result_names)
    jaxpr = Jaxpr(old.constvars, [old.invars[i] for i in kept], old.outvars, old.eqns, old.effects, debug)
    return ClosedJaxpr(jaxpr, closed.consts), kept


def _pullback(closed: ClosedJaxpr, exported: Exported, layouts: Layouts) -> Exported:
    """The program of the flat arguments and the cotangents of the results."""
    count = len(closed.in_avals)
    cotangents = [cotangent_aval(a) for a in closed.out_avals]
    differentiated, given = ([has_tangent(a) for a in side] for side in (closed.in_avals, closed.out_avals))

    def fun(*flat: Any) -> list[Any]:
        def primal(*values: Any) -> list[Any]:
            taken = iter(values)
            outs = jaxpr_as_fun(closed)(*[next(taken) if m else x for x, m in zip(flat, differentiated)])
            return [out for out, g in zip(outs, given) if g]

        _, pull = vjp(primal, *[x for x, m in zip(flat, differentiated) if m])
        found = iter(pull([ct for ct, g in zip(flat[count:], given) if g]))
        return [next(found) if m else _nothing(a) for m, a in zip(differentiated, closed.in_avals)]

    avals = [*closed.in_avals, *map(in_program, cotangents)]
    names = tuple(f"args_and_out_cts_flat_jax[{i}]" for i in range(len(avals)))
    made = trace_to_jaxpr(fun, avals, DebugInfo(f"vjp_{exported.fun_name}", names))
    in_tree = tree.structure((tuple(range(len(avals))), {}))
    out_tree = tree.structure((0,) * count)
    disabled = tuple(exported.disabled_safety_checks)
    found = _exported(
        made, f"vjp_{exported.fun_name}", in_tree, out_tree, exported.platforms, disabled, layouts.of_pullback()
    )
    in_avals = (*exported.in_avals, *map(tangent_aval, exported.out_avals))
    return dataclasses.replace(found, in_avals=in_avals, out_avals=tuple(map(tangent_aval, exported.in_avals)))


def _nothing(aval: ShapedArray) -> Any:
    return full(aval.shape, False, dtypes.bool_)
