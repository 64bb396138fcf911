"""Families of primitives: the rules that regular operations share. They import no operation.

A regular operation is one statement, an instance of a family; an irregular one is a class of its own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.avals import ShapedArray, aval_of, exact
from ..core.effects import Effects, no_effects
from ..core.primitive import Axis, Primitive
from ..core.zeros import UndefinedPrimal, Zero, is_linear, is_zero, zero_of
from ..symbolic.dimension import Dim


Partial = Callable[..., Any] | None


def scalar_like(x: Any, value: Any) -> Any:
    """The number `value` in the dtype of `x`, ready to stand in an operation with it."""
    dtype = aval_of(x).dtype
    dtypes.check_number(dtype)
    if isinstance(value, Dim):
        return value.dimension_as_value().astype(dtype)
    return exact(np.asarray(value).astype(dtype)[()])


def pure(out: Any) -> tuple[Any, Effects]:
    """Result of an `abstract` rule without effects."""
    return out, no_effects


class AddAny(Primitive):
    """The sum of two tangents or cotangents of one aval: what every derivative rule of two operands ends in."""

    sums = "all"

    def abstract(self, x, y, /):
        return pure(ShapedArray(x.shape, x.dtype, x.weak_type and y.weak_type))

    def lower(self, ctx, x, y, /):
        return ctx.hlo.add(x, y)

    def jvp(self, primals, tangents, /):
        return add_any_p(*primals), add_tangents(*tangents)

    def transpose(self, ct, x, y, /):
        return [ct if is_linear(x) else None, ct if is_linear(y) else None]

    def batch(self, axis, args, dims, /):
        to = next(d for d in dims if d is not None)
        return add_any_p(*[axis.move(x, d, to) for x, d in zip(args, dims)]), to


add_any_p = AddAny("add_any")


def add_tangents(x: Any, y: Any) -> Any:
    """`x + y` where either may be Zero."""
    return y if type(x) is Zero else x if type(y) is Zero else add_any_p.bind(x, y)


# Elementwise ---------------------------------------------------------------------------------------------------------


def broadcast_shapes(name: str, avals: Sequence[ShapedArray]) -> tuple[int, ...]:
    """The one shape of the operands; scalars go with any. Raises TypeError naming both shapes."""
    shape: tuple[int, ...] = ()
    for aval in avals:
        if aval.shape and shape and aval.shape != shape:
            text = " and ".join(a.short() for a in avals)
            raise TypeError(
                f"{name} needs operands of one shape, it got {text}: broadcast one of them to the other's shape"
            )
        shape = aval.shape or shape
    return shape


def same_dtype(name: str, avals: Sequence[ShapedArray]) -> Any:
    """The one dtype of the operands. Raises TypeError naming all."""
    dtype = avals[0].dtype
    if any([a.dtype != dtype for a in avals]):
        text = " and ".join(a.short() for a in avals)
        raise TypeError(f"{name} needs operands of one dtype, it got {text}: convert with .astype(...)")
    return dtype


_KIND_NAMES = {
    "b": "booleans",
    "i": "integers",
    "u": "unsigned integers",
    "f": "floats",
    "c": "complex numbers",
    "k": "keys",
}


def check_kind(name: str, aval: ShapedArray, accepts: str) -> None:
    """Raise TypeError unless the dtype is of an accepted kind (letters as `dtypes.kind`)."""
    if dtypes.kind(aval.dtype) not in accepts:
        wanted = ", ".join(_KIND_NAMES[k] for k in accepts)
        raise TypeError(f"{name} works on {wanted}; it got {aval.short()}")


class Elementwise(Primitive):
    """result[i] = f(x[i], y[i], …): operands of one shape and dtype; scalars go with any shape.

    `partials`, one for each operand, give its share of the tangent: `partial(t, result, *primals)`; None: it has none.
    `accepts`: kinds of dtype, letters as in `dtypes.kind`. `result`: from the operands' dtype to the result's.
    `hlo`: name of the StableHLO builder if it differs, or `chlo.` and its name; `of_booleans`: that for booleans,
    which XLA adds modulo 2 where it knows them while it compiles.
    """

    def __init__(
        self,
        name: str,
        *partials: Partial,
        accepts: str = "fc",
        result: Callable[[Any], Any] | None = None,
        hlo: str | None = None,
        of_booleans: str | None = None,
    ):
        super().__init__(name)
        self.partials, self.accepts, self.result, self.builder = partials, accepts, result, hlo or name
        self.of_booleans = of_booleans or self.builder

    def result_dtype(self, avals: Sequence[ShapedArray], /) -> Any:
        """The dtype of the result. Raises TypeError for operands of several dtypes, or of one that the operation does not
        take."""
        dtype = same_dtype(self.name, avals)
        check_kind(self.name, avals[0], self.accepts)
        return self.result(dtype) if self.result else dtype

    def abstract(self, /, *avals, **params):
        return _elementwise(self, avals), no_effects

    def lower(self, ctx, /, *values, **params):
        builder = self.of_booleans if ctx.avals_in[0].dtype == np.bool_ else self.builder
        return ctx.builder(builder)(*(ctx.broadcast_scalars(values) if len(values) > 1 else values))

    def jvp(self, primals, tangents, /, **params):
        out = self.bind(*primals, **params)
        total: Any = zero_of(out)
        for partial, t in zip(self.partials, tangents):
            if partial is not None and not is_zero(t):
                total = add_tangents(total, partial(t, out, *primals, **params))
        return out, total

    def batch(self, axis, args, dims, /, **params):
        args, dim = axis.align(args, dims)
        return self.bind(*args, **params), dim


@functools.lru_cache(4096)
def _elementwise(operation: Elementwise, avals: tuple[ShapedArray, ...]) -> ShapedArray:
    """The result of an elementwise operation: a trace asks for few of them again and again."""
    dtype = operation.result_dtype(avals)
    return ShapedArray(broadcast_shapes(operation.name, avals), dtype, all([a.weak_type for a in avals]))


class DiscreteElementwise(Elementwise):
    """An elementwise operation whose derivative is zero (comparisons, rounding, bit operations)."""

    def jvp(self, primals, tangents, /, **params):
        out = self.bind(*primals, **params)
        return out, zero_of(out)


# Discrete ------------------------------------------------------------------------------------------------------------


class Discrete(Primitive):
    """Base of operations whose results do not vary smoothly: all tangents are zero."""

    def jvp(self, primals, tangents, /, **params):
        out = self.bind(*primals, **params)
        return out, [zero_of(o) for o in out] if self.multiple_results else zero_of(out)


# Linear --------------------------------------------------------------------------------------------------------------


class Linear(Primitive):
    """Base of operations linear in their first operand; the others (indices, say) have no tangent."""

    def jvp(self, primals, tangents, /, **params):
        out = self.bind(*primals, **params)
        t, *_ = tangents
        return out, zero_of(out) if is_zero(t) else self.bind(t, *primals[1:], **params)


class Structural(Linear):
    """Base of linear operations of one operand that only move elements."""

    sums = "each"

    def transpose(self, ct, x, /, **params):
        return [self.transpose_to(ct, x.aval, **params)]

    def transpose_to(self, ct: Any, aval: ShapedArray, /, **params: Any) -> Any:
        """The cotangent of the operand, whose aval is `aval`. Raises NotImplementedError here, in the base class."""
        raise self.missing("transpose")


# Bilinear ------------------------------------------------------------------------------------------------------------


class Bilinear(Primitive):
    """Base of operations linear in each of two operands: subclasses give `transpose_left` and `transpose_right`."""

    def jvp(self, primals, tangents, /, **params):
        (x, y), (tx, ty) = primals, tangents
        out = self.bind(x, y, **params)
        left = zero_of(out) if is_zero(tx) else self.bind(tx, y, **params)
        right = zero_of(out) if is_zero(ty) else self.bind(x, ty, **params)
        return out, add_tangents(left, right)

    def transpose(self, ct, x, y, /, **params):
        if is_linear(x):
            return [self.transpose_left(ct, x.aval, y, **params), None]
        return [None, self.transpose_right(ct, x, y.aval, **params)]

    def transpose_left(self, ct: Any, aval: ShapedArray, y: Any, /, **params: Any) -> Any:
        """The cotangent of the left operand, whose aval is `aval`, where `y` is known. Raises NotImplementedError here, in the
        base class."""
        raise self.missing("transpose")

    def transpose_right(self, ct: Any, x: Any, aval: ShapedArray, /, **params: Any) -> Any:
        """The cotangent of the right operand, whose aval is `aval`, where `x` is known. Raises NotImplementedError here, in the
        base class."""
        raise self.missing("transpose")


# Reduce --------------------------------------------------------------------------------------------------------------


class Reduce(Primitive):
    """Base of reductions over the axes in the parameter `axes` (a sorted tuple of distinct axes)."""

    accepts = "biufc"

    def check_axes(self, aval: ShapedArray, axes: tuple[int, ...], /) -> None:
        """Raises ValueError for axes that are not distinct axes of `aval`."""
        if not all(isinstance(a, int) and 0 <= a < aval.ndim for a in axes) or len(set(axes)) != len(axes):
            raise ValueError(f"{self.name}: axes {axes} do not name distinct axes of {aval.short()}")

    def abstract(self, x, /, *, axes, **params):
        self.check_axes(x, axes)
        check_kind(self.name, x, self.accepts)
        shape = tuple(n for i, n in enumerate(x.shape) if i not in axes)
        return pure(ShapedArray(shape, self.result_dtype(x.dtype, **params), x.weak_type))

    def result_dtype(self, dtype: Any, /, **params: Any) -> Any:
        """The dtype of the result for operands of `dtype`: the same, unless the operation says otherwise."""
        return dtype

    def batch(self, axis, args, dims, /, *, axes, **params):
        (x,), (dim,) = args, dims
        moved = tuple(a + (a >= dim) for a in axes)
        return self.bind(x, axes=moved, **params), dim - sum(a < dim for a in moved)


__all__ = ["AddAny", "Axis", "Bilinear", "Discrete", "DiscreteElementwise", "Elementwise", "Linear", "Reduce",
           "Structural", "UndefinedPrimal", "Zero", "add_any_p", "add_tangents", "broadcast_shapes", "check_kind",
           "is_linear", "is_zero", "pure", "same_dtype", "scalar_like", "zero_of"]  # fmt: skip
