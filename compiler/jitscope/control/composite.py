"""An operation with a name of its own: StableHLO's composite, with its decomposition beside it."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import numpy as np

from ..core.primitive import HigherOrder
from ..xla import mlir
from .bodies import lift_constants


_NAMESPACED = re.compile(r"[a-zA-Z][\w$]*(\.[\w$]+)+")
"""Names that StableHLO accepts; under others the decomposition is called."""


class Composite(HigherOrder):
    """The operation `name` with `attributes` ((name, value), …), which a compiler may know in this `version`; one that does
    not runs the program `jaxpr` (which captures nothing). It has no derivative and no map of its own."""

    def abstract(self, /, *avals, jaxpr, **params):
        return jaxpr.out_avals, jaxpr.effects

    def lower(self, ctx, /, *values, jaxpr, name, attributes, version):
        function, run = ctx.module.function_for(jaxpr, name)
        if run.taken or run.given or not _NAMESPACED.fullmatch(name):
            return ctx.call(jaxpr, *values, name=name)
        return ctx.hlo.CompositeOp(
            [ctx.type(aval) for aval in ctx.avals_out],
            list(values),
            name,
            composite_attributes=ctx.ir.DictAttr.get({key: _attribute(ctx.ir, value) for key, value in attributes}),
            decomposition=function.name,
            version=version,
        ).results

    def jvp(self, primals, tangents, /, *, name, **params):
        raise ValueError(
            f"composite {name!r} has no derivative: give it one with jitscope.custom_jvp or custom_vjp around the call"
        )

    def batch(self, axis, args, dims, /, *, name, **params):
        raise NotImplementedError(
            f"composite {name!r} cannot be mapped: map its decomposition, or give it a rule with custom_batching.custom_vmap"
        )


composite_p = Composite("composite")


def composite(closed: Any, args: Any, name: str, attributes: dict[str, Any], version: int) -> list[Any]:
    """Apply the operation to flat arguments. Raises TypeError for attributes that StableHLO does not have."""
    consts, (jaxpr,) = lift_constants([closed])
    return composite_p.bind(
        *consts,
        *args,
        jaxpr=jaxpr,
        name=name,
        attributes=tuple((key, _frozen(key, value)) for key, value in attributes.items() if value is not None),
        version=version,
    )


@dataclasses.dataclass(frozen=True)
class _Array:
    dtype: str
    shape: tuple[int, ...]
    data: bytes


@dataclasses.dataclass(frozen=True)
class _Items:
    items: tuple[tuple[str, Any], ...]


def _frozen(key: str, value: Any) -> Any:
    """A value as what can be compared."""
    if isinstance(value, (*mlir.PLAIN_VALUES, np.dtype)):
        return value
    if isinstance(value, (list, tuple)):
        return tuple(_frozen(key, v) for v in value)
    if isinstance(value, dict):
        return _Items(tuple((str(k), _frozen(key, v)) for k, v in value.items()))
    array = np.asarray(value) if isinstance(value, (np.ndarray, np.generic)) or hasattr(value, "__array__") else None
    if array is None or array.dtype.kind not in "biuf":
        raise TypeError(
            f"composite: the attribute {key} must be a number, a string, a dtype, an array, or a sequence or dict of those, not {value!r}"
        )
    return _Array(array.dtype.name, array.shape, array.tobytes())


def _attribute(ir: Any, value: Any) -> Any:
    """The MLIR attribute of a frozen value."""
    if isinstance(value, mlir.PLAIN_VALUES):
        return mlir.plain_attr(value)
    if isinstance(value, np.dtype):
        return ir.TypeAttr.get(mlir.element_type(value))
    if isinstance(value, tuple):
        return ir.ArrayAttr.get([_attribute(ir, v) for v in value])
    if isinstance(value, _Items):
        return ir.DictAttr.get({key: _attribute(ir, v) for key, v in value.items})
    return mlir.constant_attr(np.frombuffer(value.data, value.dtype).reshape(value.shape))
