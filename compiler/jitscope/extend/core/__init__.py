"""`jitscope.extend.core`: the language of programs for those who extend the compiler, under the names of
`jax.extend.core`. `primitives` has the operations by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ...backend.array import Array
from ...core.annotations import ArrayLike, DTypeLike
from ...core.avals import ShapedArray, aval_of, tangent_aval
from ...core.axes import current_axes
from ...core.call_sites import capture
from ...core.checking import check_jaxpr
from ...core.effects import *
from ...core.errors import ConcretizationTypeError, InconclusiveDimensionOperation, JaxprTypeError
from ...core.jaxpr import (
    ClosedJaxpr,
    DebugInfo,
    Jaxpr,
    JaxprEqn,
    Literal,
    Var,
)
from ...core.late import late as _late
from ...core.messages import conversion_message
from ...core.primitive import Primitive
from ...core.staging import JaxprTrace, jaxpr_as_fun
from ...core.trace import Trace, Tracer, current_trace, evaluation, using as set_current_trace
from ...transforms.vmap import BatchTrace


array_types = {np.ndarray, np.generic, Array}


class DropVar(Var):
    """A result that nobody reads. Programs here have plain variables in such places."""

    __slots__ = ()


class take_current_trace(set_current_trace):
    """Context manager: gives the trace that is current, and has operations evaluated inside the block."""

    __slots__ = ("taken",)

    def __init__(self) -> None:
        super().__init__(evaluation())

    def __enter__(self) -> Trace:
        self.taken = current_trace()
        super().__enter__()
        return self.taken


class TraceTag:
    """What tells the tracers of one transformation from those of another."""

    __slots__ = ("__weakref__",)


class OpaqueTraceState:
    """Which transformation is at work: equal to itself as long as that one is, and to nothing else."""

    __slots__ = ("_trace",)

    def __init__(self, trace: Trace):
        self._trace = trace

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpaqueTraceState) and self._trace is other._trace

    def __hash__(self) -> int:
        return id(self._trace)


def get_opaque_trace_state(convention: str | None = None) -> OpaqueTraceState:
    """Which transformation is at work now. `convention` changes nothing."""
    return OpaqueTraceState(current_trace())


def find_top_trace(xs: Iterable[object]) -> Trace:
    """The trace that gets operations now."""
    return current_trace()


def _traces() -> Iterator[Trace]:
    trace: Any = current_trace()
    while trace is not None:
        yield trace
        trace = getattr(trace, "parent", None)


def unsafe_am_i_under_a_jit_DO_NOT_USE() -> bool:
    """Whether a program is being recorded."""
    return any(isinstance(trace, JaxprTrace) for trace in _traces())


def unsafe_am_i_under_a_vmap_DO_NOT_USE() -> bool:
    """Whether a function is being mapped."""
    return any(isinstance(trace, BatchTrace) for trace in _traces())


def nonempty_axis_env_DO_NOT_USE() -> bool:
    """Whether a named axis is in scope."""
    return bool(current_axes())


def unsafe_get_axis_names_DO_NOT_USE() -> list[Any]:
    """The named axes in scope."""
    return [name for name, _ in current_axes()]


def mapped_aval(size: int, axis: int | None, aval: ShapedArray) -> ShapedArray:
    """The aval of one example of an array whose axis `axis` is mapped over (None: it is not)."""
    return aval if axis is None else aval.update(shape=aval.shape[:axis] + aval.shape[axis + 1 :])


def unmapped_aval(size: int, axis: int | None, aval: ShapedArray, explicit_mesh_axis: Any = None) -> ShapedArray:
    """The aval of all examples, `size` of them along axis `axis`, given that of one."""
    return aval if axis is None else aval.update(shape=(*aval.shape[:axis], size, *aval.shape[axis:]))


def primal_dtype_to_tangent_dtype(primal_dtype: DTypeLike) -> Any:
    """The dtype of the tangents of such values."""
    return tangent_aval(ShapedArray((), primal_dtype)).dtype


def valid_jaxtype(x: object) -> bool:
    """Whether operations take `x`."""
    try:
        aval_of(x)
    except TypeError:
        return False
    return True


def is_concrete(x: object) -> bool:
    """Whether the value of `x` is known: it is no tracer, or one of a derivative of code that runs now."""
    return not isinstance(x, Tracer) or x.known() is not None


def concrete_or_error(force: Callable[[Any], Any] | None, val: ArrayLike, context: str = "") -> Any:
    """`force(val)`. Raises ConcretizationTypeError for a tracer whose value is not known; `context` says what for."""
    known = val.known() if isinstance(val, Tracer) else val
    if known is None and isinstance(val, Tracer):
        raise ConcretizationTypeError(conversion_message(val, "this value", context or "give it a value that is known"))
    return known if force is None else force(known)


def jaxprs_in_params(params: dict[str, Any]) -> Iterator[Jaxpr]:
    """The programs an equation holds."""
    for value in params.values():
        for inner in value if isinstance(value, tuple) else (value,):
            if isinstance(inner, (Jaxpr, ClosedJaxpr)):
                yield inner.jaxpr if isinstance(inner, ClosedJaxpr) else inner


def subjaxprs(jaxpr: Jaxpr) -> Iterator[Jaxpr]:
    """The inner jaxprs of a program's equations."""
    for eqn in jaxpr.eqns:
        yield from jaxprs_in_params(eqn.params)


def new_jaxpr_eqn(
    invars: Sequence[Any],
    outvars: Sequence[Any],
    primitive: Primitive,
    params: dict[str, Any],
    effects: Effects = no_effects,
    source_info: Any = None,
) -> JaxprEqn:
    """An equation. Without `source_info` (`eqn.traceback` of another one) it was written here."""
    return JaxprEqn(list(invars), list(outvars), primitive, params, frozenset(effects), source_info or capture())


def gensym() -> Callable[[ShapedArray], Var]:
    """What makes variables of given avals. They get their names when a program is printed."""
    return Var


__all__ = ["ClosedJaxpr", "DebugInfo", "DropVar", "Effect", "Effects", "InconclusiveDimensionOperation", "Jaxpr",
           "JaxprEqn", "JaxprTypeError", "Literal", "OpaqueTraceState", "Primitive", "TraceTag", "Var", "array_types",
           "check_jaxpr", "concrete_or_error", "find_top_trace", "gensym", "get_opaque_trace_state", "is_concrete", "jaxpr_as_fun",
           "jaxprs_in_params", "mapped_aval", "new_jaxpr_eqn", "no_effects", "nonempty_axis_env_DO_NOT_USE",
           "primal_dtype_to_tangent_dtype", "set_current_trace", "subjaxprs", "take_current_trace", "unmapped_aval", "unsafe_am_i_under_a_jit_DO_NOT_USE", "unsafe_am_i_under_a_vmap_DO_NOT_USE",
           "unsafe_get_axis_names_DO_NOT_USE", "valid_jaxtype"]  # fmt: skip

__getattr__, __dir__ = _late(globals(), {".primitives": "."})
