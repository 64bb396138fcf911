"""The bits of arrays read otherwise: `x.view(dtype)` and `x.byteswap()`."""

from __future__ import annotations

from typing import Any

from ..core import dtypes
from ..core.avals import aval_of
from ..eager.functions import eager_jit
from ..ops.elementwise import bitcast_convert_type_p, complex_p, imag_p, real_p
from ..ops.linear import concatenate_p, convert, reshape, rev_p, slice_in_dim
from .dtypes import requested
from .structure import array_operand


def view(self: Any, dtype: Any = None, type: None = None) -> Any:
    """The same bits read as another dtype (None: the array itself); the last axis changes its size as the width of the
    elements does. A boolean counts as a byte of 0 or 1, a complex number as its real and its imaginary part.

    Raises ValueError where the last axis does not come out even, NotImplementedError for `type`.
    """
    if type is not None:
        raise NotImplementedError("view: type= is not supported, there is one type of arrays")
    return self if dtype is None else _viewed(self, requested(dtype, "view"))


@eager_jit(static="dtype")
def _viewed(x: Any, dtype: Any) -> Any:
    x = array_operand("view", x)
    aval = aval_of(x)
    old, new = dtypes.width(aval.dtype), dtypes.width(dtype)
    if not aval.ndim:
        if old != new:
            raise ValueError(f"view: {aval.short()} has no axis that could change with the width of {dtype.name}")
        return reshape(_viewed(reshape(x, (1,)), dtype), ())
    if aval.shape[-1] * old % new:
        raise ValueError(
            f"view of {aval.short()} as {dtype.name}: the last axis has {aval.shape[-1] * old} bits, no multiple of {new}"
        )
    if aval.dtype == dtype:
        return x
    if aval.dtype == dtypes.bool_:
        return _viewed(convert(x, dtypes.uint8), dtype)
    if dtype == dtypes.bool_:
        return convert(_viewed(x, dtypes.uint8), dtypes.bool_)
    if dtypes.is_complex(aval.dtype):
        pair = [reshape(p(x), (*aval.shape, 1)) for p in (real_p, imag_p)]
        parts = concatenate_p(*pair, dimension=aval.ndim)
        return _viewed(reshape(parts, (*aval.shape[:-1], 2 * aval.shape[-1])), dtype)
    if dtypes.is_complex(dtype):
        x = _viewed(x, dtypes.real_part(dtype))
        size = aval_of(x).shape[-1]
        return complex_p(*(slice_in_dim(x, i, size, 2, axis=-1) for i in (0, 1)))
    if old < new:
        x = reshape(x, (*aval.shape[:-1], aval.shape[-1] * old // new, new // old))
    x = bitcast_convert_type_p(x, new_dtype=dtype)
    return reshape(x, (*aval.shape[:-1], aval.shape[-1] * old // new)) if old > new else x


@eager_jit()
def byteswap(self: Any) -> Any:
    """The bytes of every element [...] (of complex numbers: of either part) in reverse order, in the same dtype."""
    x = array_operand("byteswap", self)
    dtype = aval_of(x).dtype
    if dtypes.is_complex(dtype):
        return complex_p(byteswap(real_p(x)), byteswap(imag_p(x)))
    if dtypes.width(dtype) <= 8:
        return x
    swapped = rev_p(bitcast_convert_type_p(x, new_dtype=dtypes.uint8), dimensions=(aval_of(x).ndim,))
    return bitcast_convert_type_p(swapped, new_dtype=dtype)
