"""Scatters that multiply or choose, and the functions for all of them."""

from __future__ import annotations

from typing import Any, Protocol

from ...core import dtypes
from ...core.annotations import Array, ArrayLike
from ...core.avals import aval_of
from ..elementwise import div_p, eq_p
from ..families import is_linear, is_zero, zero_of
from ..linear import add_p, convert, instantiate, mul_p, zeros
from ..nan_of_max import lost_between_devices, of_integers
from .axes import GatherScatterMode, ScatterDimensionNumbers
from .gather_scatter import may_repeat, read_back, scatter_add_p, scatter_p, scatter_sub_p
from .scatter_base import Scatter


__all__ = ["ScatterChoose", "ScatterMul", "scatter", "scatter_add", "scatter_max", "scatter_max_p", "scatter_min",
           "scatter_min_p", "scatter_mul", "scatter_mul_p", "scatter_sub"]  # fmt: skip


class ScatterMul(Scatter):
    """The elements are multiplied by the updates. Differentiable in the updates only where no two of them meet."""

    accepts, builder = "biufc", "multiply"

    def jvp(self, primals, tangents, /, **params):
        (x, indices, updates), (t, _, tu) = primals, tangents
        out = scatter_mul_p(*primals, **params)
        total: Any = zero_of(out) if is_zero(t) else scatter_mul_p(t, indices, updates, **params)
        if not is_zero(tu):
            self._check_unique(indices, params)
            placed = scatter_add_p(zeros(aval_of(x)), indices, tu, **params)
            total = mul_p(x, placed) if is_zero(total) else add_p(total, mul_p(x, placed))
        return out, total

    def transpose(self, ct, x, indices, updates, /, **params):
        if is_linear(x):
            return [scatter_mul_p(ct, indices, updates, **params), None, None]
        self._check_unique(indices, params)
        return [None, None, read_back(mul_p(ct, x), indices, updates.aval, params)]

    def _check_unique(self, indices: Any, params: dict[str, Any]) -> None:
        if may_repeat(indices, params):
            raise NotImplementedError(
                "scatter-mul has a derivative in its updates only if no index repeats: promise it with "
                "unique_indices=True, e.g. x.at[i].multiply(y, unique_indices=True)"
            )


class ScatterChoose(Scatter):
    """The greater (or lesser) of element and updates. The tangent is the mean over those that reach it."""

    accepts = "biufc"

    def __init__(self, name: str, builder: str):
        super().__init__(name)
        self.builder = builder

    def lower(self, ctx, x, indices, updates, /, **params):
        if not lost_between_devices(ctx, ctx.is_divided):
            return super().lower(ctx, x, indices, updates, **params)
        return ctx.inline(
            lambda x, i, updates: of_integers(lambda x, u: self(x, i, u, **params), self is scatter_max_p)(x, updates),
            x,
            indices,
            updates,
        )

    def jvp(self, primals, tangents, /, **params):
        (x, indices, updates), (t, _, tu) = primals, tangents
        out = self.bind(*primals, **params)
        if is_zero(t) and is_zero(tu):
            return out, zero_of(out)
        dtype, updates_aval = aval_of(x).dtype, aval_of(updates)
        reached = convert(eq_p(updates, read_back(out, indices, updates_aval, params)), dtype)
        kept = convert(eq_p(x, out), dtype)
        count = scatter_add_p(kept, indices, reached, **params)
        total = mul_p(kept, instantiate(t))
        total = scatter_add_p(total, indices, mul_p(reached, instantiate(tu)), **params)
        return out, div_p(total, count)


scatter_mul_p = ScatterMul("scatter-mul")
scatter_min_p = ScatterChoose("scatter-min", "minimum")
scatter_max_p = ScatterChoose("scatter-max", "maximum")


class ScatterFunction(Protocol):
    """`scatter` and its like."""

    def __call__(
        self,
        operand: ArrayLike,
        scatter_indices: ArrayLike,
        updates: ArrayLike,
        dimension_numbers: ScatterDimensionNumbers,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: str | GatherScatterMode | None = None,
    ) -> Array: ...


def _scatter(primitive: Scatter, doing: str, refuses: str = "") -> ScatterFunction:
    def function(operand: Any, scatter_indices: Any, updates: Any, dimension_numbers: ScatterDimensionNumbers, *,
                 indices_are_sorted: bool = False, unique_indices: bool = False, mode: Any = None) -> Any:  # fmt: skip
        if refuses and dtypes.kind(aval_of(operand).dtype) in refuses:
            raise TypeError(
                f"{primitive.name} does not work on {aval_of(operand).short()}: convert it with .astype(...)"
            )
        return primitive(operand, scatter_indices, updates, dimension_numbers=dimension_numbers,
                         indices_are_sorted=bool(indices_are_sorted), unique_indices=bool(unique_indices),
                         mode=GatherScatterMode.from_any(mode))  # fmt: skip

    function.__name__ = function.__qualname__ = primitive.name.replace("-", "_")
    function.__doc__ = f"""`operand` with `updates` {doing} the slices that start at `scatter_indices`; `mode` by name or
    GatherScatterMode (None: drop). `unique_indices` and `indices_are_sorted` are promises.

    Raises TypeError where axes, sizes and shapes do not fit, ValueError for an unknown mode."""
    return function


scatter = _scatter(scatter_p, "in place of")
scatter_add = _scatter(scatter_add_p, "added to", "b")
scatter_sub = _scatter(scatter_sub_p, "subtracted from")
scatter_mul = _scatter(scatter_mul_p, "multiplied into", "b")
scatter_min = _scatter(scatter_min_p, "where they are less than")
scatter_max = _scatter(scatter_max_p, "where they are greater than")
