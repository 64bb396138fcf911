"""Running sums and products along an axis."""

from __future__ import annotations

from typing import Any

from ..core import dtypes
from ..core.annotations import CumulativeFunction, RunningOfStandard
from ..core.avals import aval_of
from ..eager.functions import eager_jit
from ..ops.elementwise import ne_p
from ..ops.families import scalar_like
from ..ops.linear import concatenate_p, convert, full, reshape, where as choose
from ..ops.reduce import cumprod_p, cumsum_p
from ._ufunc import describe, kind_of
from .dtypes import requested
from .logic import truth
from .operands import cast, one_axis, operand, unsupported, weak_as
from .reductions import strong, summed_dtype
from .structure import array_operand


__all__ = ["cumprod", "cumsum", "cumulative_prod", "cumulative_sum", "nancumprod", "nancumsum"]


def _running(name: str, primitive: Any, doc: str) -> CumulativeFunction:
    def fun(a: Any, axis: int | None = None, dtype: Any = None, out: None = None) -> Any:
        unsupported(name, out=out)
        x = operand(name, a)
        if axis is None or (aval_of(x).weak_type and not aval_of(x).shape):
            x, axis = reshape(x, (aval_of(x).size,)), axis or 0
        axis = one_axis(name, axis, aval_of(x).ndim)
        own = aval_of(x).dtype
        to = requested(dtype, name) if dtype is not None else dtypes.default_int() if own == dtypes.bool_ else own
        x = strong(cast(x, aval_of(x), to))
        if to == dtypes.bool_:  # whether a sum, or a product, of truths is not zero
            return truth(name, primitive.bind(convert(x, dtypes.int32), axis=axis, reverse=False))
        return primitive.bind(x, axis=axis, reverse=False)

    return eager_jit(static="axis dtype out")(describe(fun, name, doc))


cumsum = _running("cumsum", cumsum_p, "The running sum along `axis` (None: of the raveled array).")
cumprod = _running("cumprod", cumprod_p, "The running product along `axis` (None: of the raveled array).")


def _cumulative(name: str, running: Any, first: int, doc: str) -> RunningOfStandard:
    def fun(x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Any:
        values = array_operand(name, x)
        if axis is None:
            if aval_of(values).ndim != 1:
                raise ValueError(f"{name}: give the axis of an array of shape {aval_of(values).shape}")
            axis = 0
        axis = one_axis(name, axis, aval_of(values).ndim)
        if running is cumsum:  # alone widens small integers, as JAX's does
            dtype = summed_dtype(values, dtype, name, True)
        out = running(values, axis, dtype)
        if not include_initial:
            return out
        thin = tuple(1 if i == axis else n for i, n in enumerate(aval_of(out).shape))
        return concatenate_p(full(thin, first, aval_of(out).dtype), out, dimension=axis)

    doc += (
        f" of x [..., n, ...] along `axis`, of the same shape; with `include_initial` [..., n + 1, ...], {first} first. Raises "
        "ValueError without `axis` for arrays that are not vectors."
    )
    return eager_jit(static="axis dtype include_initial")(describe(fun, name, doc))


cumulative_sum = _cumulative("cumulative_sum", cumsum, 0, "The running sum")
cumulative_prod = _cumulative("cumulative_prod", cumprod, 1, "The running product")


def _nan_running(name: str, running: Any, filler: int, doc: str) -> CumulativeFunction:
    def fun(a: Any, axis: int | None = None, dtype: Any = None, out: None = None) -> Any:
        x = operand(name, a)
        if kind_of(x) in "fc":
            x = weak_as(choose(ne_p(x, x), scalar_like(x, filler), x), x)
        return running(x, axis, dtype, out)

    return eager_jit(static="axis dtype out")(describe(fun, name, doc))


nancumsum = _nan_running("nancumsum", cumsum, 0, "The running sum along `axis`, NaN counted as 0.")
nancumprod = _nan_running("nancumprod", cumprod, 1, "The running product along `axis`, NaN counted as 1.")
