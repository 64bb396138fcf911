"""The signatures of functions that are made by tables, for annotations: what editors and type checkers see of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias, overload

from ..core.annotations import Array, ArrayLike, Device, DTypeLike, PartitionSpec, Sharding


Axes: TypeAlias = int | Sequence[int] | None


class Unary(Protocol):
    def __call__(self, x: ArrayLike, /) -> Array: ...


class Binary(Protocol):
    def __call__(self, x: ArrayLike, y: ArrayLike, /) -> Array: ...


class UnaryOut(Protocol):
    """`isposinf` and `isneginf`."""

    def __call__(self, x: ArrayLike, /, out: None = None) -> Array: ...


class AtLeast(Protocol):
    """`atleast_1d` and its like."""

    @overload
    def __call__(self, ary: ArrayLike, /) -> Array: ...
    @overload
    def __call__(self, *arys: ArrayLike) -> Array | tuple[Array, ...]: ...


class Window(Protocol):
    """`hamming` and its like."""

    def __call__(self, M: int) -> Array: ...


class NanSum(Protocol):
    """`nansum` and `nanprod`."""

    def __call__(
        self,
        a: ArrayLike,
        axis: Axes = None,
        dtype: DTypeLike | None = None,
        out: None = None,
        keepdims: bool = False,
        initial: ArrayLike | None = None,
        where: ArrayLike | None = None,
    ) -> Array: ...


class ApproximateTop(Protocol):
    """`lax.approx_max_k` and `lax.approx_min_k`."""

    def __call__(
        self,
        operand: ArrayLike,
        k: int,
        reduction_dimension: int = -1,
        recall_target: float = 0.95,
        reduction_input_size_override: int = -1,
        aggregate_to_topk: bool = True,
    ) -> list[Array]: ...


class Sum(Protocol):
    """`sum` and `prod`."""

    def __call__(
        self,
        a: ArrayLike,
        axis: Axes = None,
        dtype: DTypeLike | None = None,
        out: None = None,
        keepdims: bool = False,
        initial: ArrayLike | None = None,
        where: ArrayLike | None = None,
        promote_integers: bool = True,
    ) -> Array: ...


class Extreme(Protocol):
    """`max` and `min`."""

    def __call__(
        self,
        a: ArrayLike,
        axis: Axes = None,
        out: None = None,
        keepdims: bool = False,
        initial: ArrayLike | None = None,
        where: ArrayLike | None = None,
    ) -> Array: ...


class Decision(Protocol):
    """`all` and `any`."""

    def __call__(
        self,
        a: ArrayLike,
        axis: Axes = None,
        out: None = None,
        keepdims: bool = False,
        *,
        where: ArrayLike | None = None,
    ) -> Array: ...


class Place(Protocol):
    """`argmax` and `argmin`."""

    def __call__(
        self, a: ArrayLike, axis: int | None = None, out: None = None, keepdims: bool | None = None
    ) -> Array: ...


class Maker(Protocol):
    """`zeros` and `ones`."""

    def __call__(
        self,
        shape: int | Sequence[int],
        dtype: DTypeLike | None = None,
        *,
        device: Device | Sharding | None = None,
        out_sharding: Sharding | PartitionSpec | None = None,
    ) -> Array: ...


class MakerLike(Protocol):
    """`zeros_like` and `ones_like`."""

    def __call__(
        self,
        a: ArrayLike,
        dtype: DTypeLike | None = None,
        shape: int | Sequence[int] | None = None,
        *,
        device: Device | Sharding | None = None,
        out_sharding: Sharding | PartitionSpec | None = None,
    ) -> Array: ...


class CumulativeFunction(Protocol):
    """`cumsum` and its like."""

    def __call__(
        self, a: ArrayLike, axis: int | None = None, dtype: DTypeLike | None = None, out: None = None
    ) -> Array: ...


class RunningOfStandard(Protocol):
    """`cumulative_sum` and `cumulative_prod`."""

    def __call__(
        self, x: ArrayLike, /, *, axis: int | None = None, dtype: DTypeLike | None = None, include_initial: bool = False
    ) -> Array: ...


class Triangle(Protocol):
    """`tril` and `triu`."""

    def __call__(self, m: ArrayLike, k: int = 0) -> Array: ...


class Join(Protocol):
    """`hstack` and its like."""

    def __call__(self, tup: Sequence[ArrayLike] | ArrayLike, dtype: DTypeLike | None = None) -> Array: ...


class Quantile(Protocol):
    """`quantile`, `percentile`, and those that go past NaN."""

    def __call__(
        self,
        a: ArrayLike,
        q: ArrayLike,
        axis: Axes = None,
        out: None = None,
        overwrite_input: bool = False,
        method: str = "linear",
        keepdims: bool = False,
        *,
        weights: ArrayLike | None = None,
    ) -> Array: ...


class LaidOverAxes(Protocol):
    """`lax.reduce_sum`, and those of its like that say how the result is to lie."""

    def __call__(
        self, operand: ArrayLike, axes: Sequence[int], *, out_sharding: Sharding | PartitionSpec | None = None
    ) -> Array: ...


class OverAxes(Protocol):
    """`lax.reduce_prod` and its like."""

    def __call__(self, operand: ArrayLike, axes: Sequence[int]) -> Array: ...


class AlongAxis(Protocol):
    """`lax.cumsum` and its like."""

    def __call__(self, operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Array: ...
