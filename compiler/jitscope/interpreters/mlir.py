"""`jitscope.interpreters.mlir`: lowering rules and what they need. A rule takes the context (`avals_in`, `avals_out`, and
what `Primitive.lower` documents), MLIR values and the parameters; it gives a sequence of values. Builders are in
`jaxlib.mlir.dialects`, or at hand as `ctx.hlo`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..backend.lowering import LoweringContext as LoweringRuleContext, aval_type
from ..core.primitive import Primitive
from ..extend.lowering_rules import register_lowering as _register
from ..xla import mlir as _mlir


Rule = Callable[..., Any]
_PLATFORMS = ("cpu", "cuda", "gpu", "oneapi", "rocm", "tpu", "METAL")


def register_lowering(
    prim: Primitive, rule: Rule, platform: str | None = None, inline: bool = True, cacheable: bool = True
) -> None:
    """Lower the operation by `rule(ctx, *values, **params)`, on one platform or on all. The rule gives the results as a
    sequence, or the value where there is one. `inline` and `cacheable` change nothing. Raises NotImplementedError for an unknown
    platform."""
    if platform is not None and platform not in _PLATFORMS:
        raise NotImplementedError(
            f"register_lowering for {prim}: no platform is called {platform!r}; there are {', '.join(_PLATFORMS)}"
        )

    def lower(ctx, /, *values, **params):
        out = rule(ctx, *values, **params)
        if prim.multiple_results:
            return list(out)
        return out[0] if hasattr(out, "__len__") else out

    if prim.lowerings or type(prim).lower is not Primitive.lower:
        _register(prim, lower, platform=platform)
    else:
        prim.lower_by({platform: lower})  # nothing can have been compiled with it


def lower_fun(fun: Callable[..., Any], multiple_results: bool = True) -> Rule:
    """The lowering rule that a function over other operations is."""

    def rule(ctx, /, *values, **params):
        out = ctx.inline(lambda *args: fun(*args, **params), *values)
        return list(out) if multiple_results else [out]

    return rule


def aval_to_ir_type(ctx: Any, aval: Any) -> Any:
    """The tensor type of an aval; the context is not asked for anything."""
    return aval_type(aval)


def dtype_to_ir_type(dtype: Any) -> Any:
    """The type of one element."""
    return _mlir.element_type(np.dtype(dtype))


def ir_constant(val: Any, *, const_lowering: Any = None, aval: Any = None) -> Any:
    """A constant, at the place where the rule writes. `const_lowering` and `aval` change nothing."""
    return _mlir.bindings().hlo.constant(_mlir.constant_attr(np.asarray(val)))


def dense_int_elements(xs: Sequence[int]) -> Any:
    """The attribute of a row of 64-bit integers."""
    return _mlir.bindings().ir.DenseIntElementsAttr.get(np.asarray(xs, np.int64))


def dense_int_array(xs: Sequence[int]) -> Any:
    """The array attribute of 64-bit integers."""
    return _mlir.bindings().ir.DenseI64ArrayAttr.get(np.asarray(xs, np.int64))


def i32_attr(i: int) -> Any:
    """The attribute of a 32-bit integer."""
    return _integer(32, i)


def i64_attr(i: int) -> Any:
    """The attribute of a 64-bit integer."""
    return _integer(64, i)


def _integer(width: int, i: int) -> Any:
    ir = _mlir.bindings().ir
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(width), i)


def __getattr__(name: str) -> Any:
    if name == "ir":  # the bindings take long to load
        return _mlir.with_classes(_mlir.bindings().ir)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["LoweringRuleContext", "aval_to_ir_type", "dense_int_array", "dense_int_elements", "dtype_to_ir_type",
           "i32_attr", "i64_attr", "ir_constant", "lower_fun", "register_lowering"]  # fmt: skip
