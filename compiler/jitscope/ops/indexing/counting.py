"""Numbers along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core import dtypes
from ...core.avals import ShapedArray
from ...core.primitive import Primitive
from ...symbolic.dimension import size
from ..families import check_kind, pure


__all__ = ["Iota", "iota", "iota_p"]


class Iota(Primitive):
    """0, 1, … along the axis `dimension` of an array of `shape` and `dtype`."""

    def abstract(self, /, *, dtype, shape, dimension):
        if not 0 <= dimension < len(shape):
            raise ValueError(f"iota of shape {tuple(shape)} has no axis {dimension}")
        out = ShapedArray(tuple(shape), dtype)
        check_kind("iota", out, "iufc")
        return pure(out)

    def lower(self, ctx, /, *, dtype, shape, dimension):
        return ctx.iota(ctx.avals_out[0], dimension)

    def shown_params(self, params):
        return {name: params[name] for name in ("dimension", "dtype", "shape")}


iota_p = Iota("iota")


def iota(dtype: Any, shape: Sequence[int], dimension: int = 0) -> Any:
    """0, 1, … along one axis of an array of the given dtype and shape."""
    return iota_p(dtype=dtypes.explicit(dtype), shape=tuple(map(size, shape)), dimension=dimension)
