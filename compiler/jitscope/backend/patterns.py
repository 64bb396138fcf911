"""Lowering of common patterns: shapes, slices, comparisons, reductions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import dtypes
from ..core.avals import ShapedArray, physical
from ..symbolic.dimension import is_static, is_symbolic_dim
from ..xla import mlir
from .sizes import SIZE


class Patterns:
    """What `LoweringContext` offers for common patterns, with sizes that are numbers or symbolic."""

    if TYPE_CHECKING:  # the rest of the context

        def __getattr__(self, name: str) -> Any: ...

    def broadcast_scalars(self, values: Sequence[Any]) -> list[Any]:
        """Operands of an elementwise operation, scalars repeated to the shape of the others."""
        avals = self.avals_in
        if len({a.ndim for a in avals}) == 1:
            return list(values)
        shape = max([a.shape for a in avals], key=len)
        return [
            value
            if aval.shape
            else self.broadcast_in_dim(value, ShapedArray(shape, aval.dtype, aval.weak_type, aval.mark), ())
            for value, aval in zip(values, avals)
        ]

    def convert(self, value: Any, old: Any, new: Any) -> Any:
        """`value` of dtype `old` in dtype `new` (no complex number to a real one)."""
        if old == new:
            return value
        shape = tuple(self.ir.RankedTensorType(value.type).shape)
        return self.hlo.convert(mlir.tensor_type(shape, new), value)

    def reshape(self, value: Any, aval: ShapedArray) -> Any:
        """`value` in the shape of `aval`."""
        if self.module.polymorphic and not is_static(aval.shape):
            return self.sizes.reshape(value, aval)
        return self.hlo.reshape(self.type(aval), value)

    def broadcast_in_dim(self, value: Any, aval: ShapedArray, dims: Sequence[int]) -> Any:
        """`value` with its axes at `dims` of `aval`."""
        below = physical(aval)
        axes = dims if below is aval else [*dims, *range(aval.ndim, below.ndim)]
        if self.module.polymorphic and not is_static(aval.shape):
            return self.sizes.broadcast(value, aval, axes)
        return self.hlo.broadcast_in_dim(mlir.tensor_type(below.shape, below.dtype), value, self.ints(axes))

    def transpose(self, value: Any, permutation: Sequence[int]) -> Any:
        aval = self.avals_in[0]
        return self.hlo.transpose(value, self.ints([*permutation, *range(aval.ndim, physical(aval).ndim)]))

    def slice(self, value: Any, starts: Sequence[int], limits: Sequence[int], strides: Sequence[int] | None) -> Any:
        aval = self.avals_in[0]
        inner = physical(aval).shape[aval.ndim :]
        steps = [*(strides or [1] * aval.ndim), *[1] * len(inner)]
        if self.module.polymorphic and not is_static([*starts, *limits]):
            shape = tuple(-((a - b) // s) for a, b, s in zip(starts, limits, steps))
            out = ShapedArray((*shape, *inner), physical(aval).dtype)
            return self.sizes.slice(value, out, [*starts, *[0] * len(inner)], [*limits, *inner], steps)
        return self.hlo.slice(
            value, self.ints([*starts, *[0] * len(inner)]), self.ints([*limits, *inner]), self.ints(steps)
        )

    def vector(self, sizes: Sequence[Any], dtype: Any) -> Any:
        """Sizes as a vector of numbers."""
        if is_static(sizes):
            return self.constant(np.asarray(sizes, dtype))
        return self.convert(self.sizes.vector(sizes), SIZE.dtype, dtype)

    def dynamic_slice(self, value: Any, aval: ShapedArray, starts: Sequence[Any], sizes: Sequence[Any]) -> Any:
        """The slice of `sizes` of a value of aval `aval`, moved into bounds."""
        if is_static(sizes):
            return self.hlo.dynamic_slice(value, starts, self.ints(sizes))
        return self.sizes.dynamic_slice(value, ShapedArray(tuple(sizes), aval.dtype), starts)

    def gather(self, value: Any, indices: Any, numbers: Any, sizes: Sequence[Any], indices_are_sorted: bool) -> Any:
        """The slices of `sizes` at the indices."""
        if is_static(sizes):
            return self.hlo.gather(value, indices, numbers, self.ints(sizes), indices_are_sorted=indices_are_sorted)
        return self.sizes.gather(value, indices, numbers, sizes, indices_are_sorted)

    def pad(self, value: Any, filler: Any, config: Sequence[tuple[int, int, int]]) -> Any:
        low, high, interior = ([c[i] for c in config] for i in range(3))
        if self.module.polymorphic and not is_static([*low, *high]):
            return self.sizes.pad(value, filler, self.avals_out[0], config)
        return self.hlo.pad(value, filler, self.ints(low), self.ints(high), self.ints(interior))

    def iota(self, aval: ShapedArray, dimension: int) -> Any:
        """Numbers 0, 1, … along one axis."""
        if self.module.polymorphic and not is_static(aval.shape):
            return self.sizes.iota(aval, dimension)
        return self.hlo.iota(self.type(aval), self.int(dimension))

    def compare(self, x: Any, y: Any, direction: str, total_order: bool = False) -> Any:
        """EQ, NE, LT, LE, GT or GE of two values of one type; complex numbers go by real part, then by imaginary part."""
        if direction[0] in "LG" and self._is_complex(x):
            a, b, c, d = self.hlo.real(x), self.hlo.real(y), self.hlo.imag(x), self.hlo.imag(y)
            beside = self.hlo.and_(self.compare(a, b, "EQ"), self.compare(c, d, direction))
            return self.hlo.or_(self.compare(a, b, f"{direction[0]}T"), beside)
        element = self.ir.RankedTensorType(x.type).element_type
        kind = "FLOAT"
        if isinstance(element, self.ir.IntegerType):
            kind = "UNSIGNED" if element.is_unsigned or element.width == 1 else "SIGNED"
        elif total_order:
            kind = "TOTALORDER"
        return self.hlo.compare(
            x, y, self.hlo.ComparisonDirectionAttr.get(direction), compare_type=self.hlo.ComparisonTypeAttr.get(kind)
        )

    def reduce(self, x: Any, identity: Any, combine: Callable[[Any, Any], Any], axes: Sequence[int]) -> Any:
        """The reduction of `x` over `axes` by a builder of two scalars."""
        dtype = self.avals_in[0].dtype
        scalar = ShapedArray((), dtype)
        operation = self.hlo.ReduceOp(
            [self.type(self.avals_out[0])], [x], [self.full(identity, scalar)], self.ints(axes)
        )
        self.region(operation, 0, [scalar, scalar], combine)
        return operation.result

    def reduce_pair(
        self, x: Any, index: Any, identity: Any, direction: str, axis: int, dtype: Any, index_dtype: Any
    ) -> Any:
        """The index of the first element along `axis` that beats all others; NaN beats everything."""
        value, place = ShapedArray((), dtype), ShapedArray((), index_dtype)
        out = self.avals_out[0]
        operation = self.hlo.ReduceOp(
            [self.type(out.update(dtype=dtype)), self.type(out)],
            [x, index],
            [self.full(identity, value), self.full(0, place)],
            self.ints([axis]),
        )

        def body(a, i, b, j):
            wins = self.compare(a, b, direction)
            if dtypes.is_float(dtype):
                wins = self.hlo.or_(wins, self.compare(a, a, "NE"))
            level = self.hlo.and_(self.compare(a, b, "EQ"), self.compare(i, j, "LT"))
            return [self.hlo.select(wins, a, b), self.hlo.select(self.hlo.or_(wins, level), i, j)]

        self.region(operation, 0, [value, place, value, place], body)
        return operation.results[1]

    def cumulative(self, x: Any, identity: Any, combine: Callable[[Any, Any], Any], axis: int, reverse: bool) -> Any:
        """The running reduction along `axis`, as a window that reaches back to the start."""
        aval = self.avals_in[0]
        scalar, n = ShapedArray((), aval.dtype), aval.shape[axis]
        if aval.size == 0:
            return x
        window = [n if i == axis else 1 for i in range(aval.ndim)]
        if is_symbolic_dim(n):
            ones = (1,) * aval.ndim
            reach = (0, n - 1) if reverse else (n - 1, 0)
            pads = [reach if i == axis else (0, 0) for i in range(aval.ndim)]
            geometry = {"window_dimensions": window, "padding": pads, "window_strides": ones, "base_dilation": ones}
            start = self.full(identity, scalar)
            return self.sizes.reduce_windows([x], [start], [aval], combine, {**geometry, "window_dilation": ones})[0]
        padding = np.zeros((aval.ndim, 2), np.int64)
        padding[axis] = (0, n - 1) if reverse else (n - 1, 0)
        ones = self.ints([1] * aval.ndim)
        operation = self.hlo.ReduceWindowOp(
            [self.type(aval)],
            [x],
            [self.full(identity, scalar)],
            self.ints(window),
            window_strides=ones,
            base_dilations=ones,
            window_dilations=ones,
            padding=self.ir.DenseIntElementsAttr.get(padding),
        )
        self.region(operation, 0, [scalar, scalar], combine)
        return operation.result
