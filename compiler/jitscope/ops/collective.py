"""Collectives: operations along a named axis, which `vmap(..., axis_name=...)` opens, or a mesh of devices inside `shard_map`.

Mapping over the axis resolves them: a sum over examples becomes a reduction of the mapped dimension. Along an axis of devices
they are lowered to an exchange between these. Elsewhere they have no meaning.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.avals import ShapedArray, aval_of, physical
from ..core.axes import axis_size as _axis_size
from ..core.part_types import Sums, laid_of, sums_of, varying, with_sums, with_varying
from ..core.primitive import Primitive
from ..core.trace import Tracer
from ..core.varying import checked_axes, manual, sum_invariant, vary_over
from .elementwise import div_p, eq_p
from .families import check_kind, is_zero, pure, scalar_like, zero_of
from .indexing import GatherDimensionNumbers, GatherScatterMode, dynamic_slice_p, gather_p, iota
from .linear import convert, divided, moveaxis, mul_p, reduce_sum_p, reshape
from .nan_of_max import lost_between_devices
from .reduce import reduce_max_p, reduce_min_p
from .sort_keys import floats, integer_of, nan_beyond


class Collective(Primitive):
    """Base of operations along one named axis, the parameter `axis_name`. They are resolved by `along`."""

    def named_axes(self, *, axis_name, **params):
        return (axis_name,)

    types_itself = True

    def lower(self, ctx, /, *values, axis_name, **params):
        here = manual()
        if here is not None and axis_name in here.axes:
            return self.among_devices(ctx, *values, axis_name=axis_name, **params)
        raise NameError(f"{self.name} runs along the axis {axis_name!r}, but it is compiled outside of it: call it inside "
                        f"vmap(..., axis_name={axis_name!r})")  # fmt: skip

    def jvp(self, primals, tangents, /, **params):
        (x,), (t,) = primals, tangents
        out = self.bind(x, **params)
        return out, zero_of(out) if is_zero(t) else self.bind(t, **params)

    def batch(self, axis, args, dims, /, *, axis_name, **params):
        if axis.name == axis_name:
            refuse_groups(self.name, params)
            examples = [_example(aval_of(x), d) for x, d in zip(args, dims)]
            self.abstract(*examples, axis_name=axis_name, **params)  # nobody else will check what does not fit
            return self.along(axis, *args, *dims, **params)
        (x,), (dim,) = args, dims
        return self.beside(axis.move(x, dim, 0), axis_name=axis_name, **params), 0

    def among_devices(self, ctx: Any, /, *values: Any, **params: Any) -> Any:
        """`lower`, where the axis is one of a mesh of devices."""
        raise self.missing("among_devices")

    def along(self, axis: Any, x: Any, dim: int | None, /, **params: Any) -> tuple[Any, int | None]:
        """The result of all examples, and the axis they lie along (None: it is the same for all)."""
        raise self.missing("along")

    def beside(self, x: Any, /, **params: Any) -> Any:
        """The operation on an operand, and with a result, that have an unrelated axis in front."""
        raise self.missing("beside")


def refuse_groups(name: str, params: Any) -> None:
    """Raise NotImplementedError for groups of examples."""
    if params.get("axis_index_groups") is not None:
        raise NotImplementedError(
            f"{name}: vmap has no axis_index_groups (devices do, under shard_map and pmap). Use two nested vmaps with a name each, and "
            "name the inner one"
        )


def _example(aval: ShapedArray, dim: int | None) -> ShapedArray:
    return aval if dim is None else aval.update(shape=(*aval.shape[:dim], *aval.shape[dim + 1:]))  # fmt: skip


# Reductions ----------------------------------------------------------------------------------------------------------


class AllReduce(Collective):
    """A reduction over the examples along the named axes in `axes`; each of them gets the result."""

    def __init__(self, name: str, accepts: str, reduction: Primitive, combine: str):
        super().__init__(name)
        self.accepts, self.reduction, self.combine = accepts, reduction, combine

    def named_axes(self, *, axes, axis_index_groups=None):
        return axes

    def abstract(self, x, /, *, axes, axis_index_groups=None):
        check_kind(self.name, x, self.accepts)
        for name in axes:
            _axis_size(name)
        return pure(x if axis_index_groups is not None else with_varying(x, varying(x) - frozenset(axes)))

    def lower(self, ctx, /, *values, axes, axis_index_groups):
        here = manual()
        if here is not None and all(name in here.axes for name in axes):
            return self.among_devices(ctx, *values, axes=axes, axis_index_groups=axis_index_groups)
        return super().lower(ctx, *values, axis_name=axes[0])

    def among_devices(self, ctx, x, /, *, axes, axis_index_groups):
        return ctx.all_reduce(x, axes, self.combine, axis_index_groups)

    def batch(self, axis, args, dims, /, *, axes, axis_index_groups=None):
        (x,), (dim,) = args, dims
        check_kind(self.name, aval_of(x), self.accepts)
        if axis.name not in axes:
            return self.bind(x, axes=axes, axis_index_groups=axis_index_groups), dim
        refuse_groups(self.name, {"axis_index_groups": axis_index_groups})
        out = self.of_equals(x, axis.size) if dim is None else self.reduction(x, axes=(dim,))
        rest = tuple(name for name in axes if name != axis.name)
        return self.bind(out, axes=rest, axis_index_groups=None) if rest else out, None

    def of_equals(self, x: Any, size: int) -> Any:
        """The result where all examples hold `x`."""
        return x


class Sum(AllReduce):
    """The sum over the examples."""

    def of_equals(self, x, size):
        return mul_p(x, scalar_like(x, size))

    def transpose(self, ct, x, /, **params):
        return [psum_p(ct, **params)]


class Choose(AllReduce):
    """The greatest or the least of the examples' values; the tangent is the mean of those that reach it."""

    def among_devices(self, ctx, x, /, *, axes, axis_index_groups):
        if not lost_between_devices(ctx, ctx.apart):
            return super().among_devices(ctx, x, axes=axes, axis_index_groups=axis_index_groups)
        (given,), bits = ctx.avals_in, ctx.inline(lambda x: nan_beyond(x, self is pmax_p), x)
        found = super().among_devices(ctx, bits, axes=axes, axis_index_groups=axis_index_groups)
        return ctx.inline(lambda x: floats(x, given.dtype), found, avals=[given.update(dtype=integer_of(given.dtype))])

    def jvp(self, primals, tangents, /, *, axes, axis_index_groups=None):
        (x,), (t,) = primals, tangents
        out = self.bind(x, axes=axes, axis_index_groups=axis_index_groups)
        if is_zero(t):
            return out, zero_of(out)
        at = convert(eq_p(x, out), aval_of(x).dtype)
        total = lambda v: over(psum_p, v, axes, (), axis_index_groups)
        return out, div_p(total(mul_p(t, at)), total(at))


def over(primitive: AllReduce, x: Any, axes: tuple[Hashable, ...], own: tuple[int, ...], groups: Any = None) -> Any:
    if own:
        rank = aval_of(x).ndim
        x = primitive.reduction(x, axes=tuple(sorted(position(primitive.name, i, rank) for i in own)))
    if not axes:
        return x
    checked = checked_axes(axes)
    if not checked:
        return primitive(x, axes=axes, axis_index_groups=groups)
    if primitive is psum_p:
        if terms := sums_of(aval_of(x)).unreduced & checked:
            x = sum_invariant(x, tuple(n for n in axes if n in terms))
            axes = tuple(n for n in axes if n not in terms)
            return over(primitive, x, axes, (), groups)
        check_alike("psum", x, checked)
    if groups is not None and primitive is psum_p:
        raise NotImplementedError(
            "psum: with axis_index_groups it is the same on some devices alone, which types inside shard_map cannot say. Pass "
            "check_vma=False to shard_map, or use a mesh with an axis for the groups"
        )
    x = vary_over(x, checked)
    if groups is not None:
        return primitive(x, axes=axes, axis_index_groups=groups)
    others = tuple(name for name in axes if name not in checked)
    x = primitive(x, axes=others, axis_index_groups=None) if others else x
    along = tuple(name for name in axes if name in checked)
    return sum_invariant(x, along) if primitive is psum_p else primitive(x, axes=along, axis_index_groups=None)


def check_alike(name: str, x: Any, axes: frozenset) -> None:
    """Raises ValueError for a value that differs between the devices along some of these axes and is the same along others."""
    if reduced := sums_of(aval_of(x)).reduced & axes:
        raise ValueError(
            f"{name} of {aval_of(x).short()}: it is reduced over {', '.join(sorted(map(str, reduced)))}, all devices have the same. What to do: leave "
            "that axis out"
        )
    same = axes - varying(aval_of(x))
    if same and same != axes and isinstance(x, Tracer):
        said = tuple(sorted(map(str, same)))
        raise ValueError(
            f"{name} of {aval_of(x).short()} over {', '.join(sorted(map(str, axes)))}: along {', '.join(said)} all devices have the same, which "
            f"would be counted once for each. What to do: leave that axis out, or, if it is meant, lax.pcast(x, {said}, to='varying')"
        )


psum_p = Sum("psum", "iufc", reduce_sum_p, "add")
pmax_p = Choose("pmax", "biufc", reduce_max_p, "maximum")
pmin_p = Choose("pmin", "biufc", reduce_min_p, "minimum")


# Exchange ------------------------------------------------------------------------------------------------------------


class AxisIndex(Collective):
    """The number of the example along the axis, int32."""

    def abstract(self, /, *, axis_name):
        _axis_size(axis_name)
        return pure(with_varying(ShapedArray((), dtypes.int32), checked_axes((axis_name,))))

    def among_devices(self, ctx, /, *, axis_name):
        return ctx.device_number(axis_name)

    def along(self, axis, /):
        return iota(dtypes.int32, (axis.size,)), 0


axis_index_p = AxisIndex("axis_index")


class AllGather(Collective):
    """The values of all examples, side by side along a new axis `all_gather_dimension`; if `tiled`, one after another
    along that axis."""

    def abstract(self, x, /, *, all_gather_dimension, axis_name, axis_size, tiled, axis_index_groups=None):
        _check_size(axis_name, axis_size, axis_index_groups)
        at, shape = all_gather_dimension, list(x.shape)
        if not 0 <= at < x.ndim + (not tiled):
            raise ValueError(f"all_gather of {x.short()}: there is no axis {at}")
        shape[at: at + tiled] = [axis_size * shape[at] if tiled else axis_size]  # fmt: skip
        return pure(reshaped(x, shape, new=None if tiled else at))

    def among_devices(self, ctx, x, /, *, all_gather_dimension, axis_name, axis_size, tiled, axis_index_groups=None):
        if tiled or not ctx.apart:
            return ctx.all_gather(x, (axis_name,), all_gather_dimension, axis_index_groups)
        shape = list(physical(ctx.avals_in[0]).shape)
        shape.insert(all_gather_dimension, 1)
        row = ctx.hlo.reshape(ctx.type(physical(ctx.avals_in[0]).update(shape=tuple(shape))), x)
        return ctx.all_gather(row, (axis_name,), all_gather_dimension, axis_index_groups)

    def transpose(self, ct, x, /, *, all_gather_dimension, **same):
        return [reduce_scatter_p(ct, scatter_dimension=all_gather_dimension, **same)]

    def along(self, axis, x, dim, /, *, all_gather_dimension, axis_size, tiled, axis_index_groups=None):
        x = axis.move(x, dim, all_gather_dimension)
        return merged(x, all_gather_dimension) if tiled else x, None

    def beside(self, x, /, *, all_gather_dimension, **same):
        return self(x, all_gather_dimension=all_gather_dimension + 1, **same)


class AllGatherInvariant(AllGather):
    """The same, taken for a value that does not differ between devices: what flows back to a device is its part of the cotangent."""

    def abstract(self, x, /, *, axis_name, **params):
        out, effects = super().abstract(x, axis_name=axis_name, **params)
        return with_varying(out, varying(out) - {axis_name}), effects

    def transpose(self, ct, x, /, *, all_gather_dimension, axis_name, axis_size, tiled, axis_index_groups=None):
        at, shape = all_gather_dimension, list(aval_of(ct).shape)
        shape[at] = shape[at] // axis_size
        begin = mul_p(axis_index_p(axis_name=axis_name), np.int32(shape[at]))
        begins = [begin if i == at else vary_over(np.int32(0), (axis_name,)) for i in range(len(shape))]
        part = dynamic_slice_p(vary_over(ct, (axis_name,)), *begins, slice_sizes=tuple(shape))
        return [part if tiled else reshape(part, (*shape[:at], *shape[at + 1 :]))]


class AllGatherReduced(AllGather):
    """The same, taken for a value that is reduced over the axis: what flows back to a device is its part of the sum of the cotangents."""

    def abstract(self, x, /, *, axis_name, **params):
        out, effects = super().abstract(x, axis_name=axis_name, **params)
        out = with_varying(out, varying(out) - {axis_name})
        return with_sums(out, Sums(sums_of(out).unreduced, sums_of(out).reduced | {axis_name})), effects

    def transpose(self, ct, x, /, *, all_gather_dimension, **same):
        return [unreduced_reduce_scatter_p(ct, scatter_dimension=all_gather_dimension, **same)]


class ReduceScatter(Collective):
    """The sum over the examples, of which each keeps its part along `scatter_dimension`: one element, and the axis goes,
    or, if `tiled`, an equal share of it."""

    def abstract(self, x, /, *, scatter_dimension, axis_name, axis_size, tiled, axis_index_groups=None):
        _check_size(axis_name, axis_size, axis_index_groups)
        check_kind("reduce_scatter", x, "iufc")
        at, shape = scatter_dimension, list(x.shape)
        if not 0 <= at < x.ndim:
            raise ValueError(f"psum_scatter of {x.short()}: there is no axis {at}")
        if (shape[at] % axis_size) if tiled else shape[at] != axis_size:
            how = f"be a multiple of {axis_size}" if tiled else f"be {axis_size}"
            raise ValueError(f"psum_scatter of {x.short()} over the axis {axis_name!r}, which has {axis_size} examples: "
                             f"the size of axis {at} must {how}")  # fmt: skip
        shape[at: at + 1] = [shape[at] // axis_size] if tiled else []  # fmt: skip
        return pure(reshaped(x, shape, gone=None if tiled else at))

    def among_devices(self, ctx, x, /, *, scatter_dimension, axis_name, axis_size, tiled, axis_index_groups=None):
        part = ctx.reduce_scatter(x, (axis_name,), scatter_dimension, axis_index_groups)
        return part if tiled else ctx.hlo.reshape(ctx.type(ctx.avals_out[0]), part)

    def transpose(self, ct, x, /, *, scatter_dimension, **same):
        return [all_gather_p(ct, all_gather_dimension=scatter_dimension, **same)]

    def along(self, axis, x, dim, /, *, scatter_dimension, axis_size, tiled, axis_index_groups=None):
        x = psum_p.of_equals(x, axis.size) if dim is None else reduce_sum_p(x, axes=(dim,))
        return divided(x, scatter_dimension, axis_size) if tiled else x, scatter_dimension

    def beside(self, x, /, *, scatter_dimension, **same):
        return reduce_scatter_p(x, scatter_dimension=scatter_dimension + 1, **same)


class UnreducedReduceScatter(ReduceScatter):
    """The same of a value whose sum over the axis is open."""

    def abstract(self, x, /, *, axis_name, **params):
        out, effects = super().abstract(x, axis_name=axis_name, **params)
        return with_varying(out, varying(out) | {axis_name}), effects

    def transpose(self, ct, x, /, *, scatter_dimension, **same):
        return [all_gather_reduced_p(ct, all_gather_dimension=scatter_dimension, **same)]


class AllToAll(Collective):
    """Example i sends part j of its value along `split_axis` to example j, which puts what it gets side by side along a
    new axis `concat_axis` (the split one is gone); if `tiled`, one after another along that axis."""

    def abstract(self, x, /, *, split_axis, concat_axis, axis_name, tiled, axis_index_groups=None):
        size, shape = group_size(axis_name, axis_index_groups), list(x.shape)
        if not 0 <= split_axis < x.ndim or not 0 <= concat_axis < x.ndim:
            raise ValueError(f"all_to_all of {x.short()}: there are no axes {split_axis} and {concat_axis}")
        if (shape[split_axis] % size) if tiled else shape[split_axis] != size:
            how = f"be a multiple of {size}" if tiled else f"be {size}"
            raise ValueError(f"all_to_all of {x.short()} along the axis {axis_name!r}, which has {size} examples: the size "
                             f"of axis {split_axis} must {how}")  # fmt: skip
        if tiled:
            shape[split_axis] //= size
            shape[concat_axis] *= size
        else:
            del shape[split_axis]
            shape.insert(concat_axis, size)
        moved = {} if tiled else {"gone": split_axis, "new": concat_axis}
        return pure(reshaped(x, shape, **moved))

    def among_devices(self, ctx, x, /, *, split_axis, concat_axis, axis_name, tiled, axis_index_groups=None):
        if tiled:
            return ctx.all_to_all(x, (axis_name,), split_axis, concat_axis, axis_index_groups)
        # The parts are rows of an axis of their own, which is where results are put side by side.
        return ctx.inline(lambda v: self._by_rows(v, split_axis, concat_axis, axis_name, axis_index_groups), x)

    def _by_rows(self, x, split_axis, concat_axis, axis_name, groups):
        x = moveaxis(x, split_axis, 0)
        x = all_to_all_p(x, split_axis=0, concat_axis=0, axis_name=axis_name, tiled=True, axis_index_groups=groups)
        return moveaxis(x, 0, concat_axis)

    def transpose(self, ct, x, /, *, split_axis, concat_axis, **same):
        return [all_to_all_p(ct, split_axis=concat_axis, concat_axis=split_axis, **same)]

    def along(self, axis, x, dim, /, *, split_axis, concat_axis, tiled, axis_index_groups=None):
        x = axis.move(x, dim, 0)
        if tiled:
            x = divided(x, split_axis + 1, axis.size)
        # Receivers in front, senders after them.
        x = moveaxis(x, split_axis + 1, 0)
        x = moveaxis(x, 1, concat_axis + 1)
        return merged(x, concat_axis + 1) if tiled else x, 0

    def beside(self, x, /, *, split_axis, concat_axis, **same):
        return all_to_all_p(x, split_axis=split_axis + 1, concat_axis=concat_axis + 1, **same)


class Permute(Collective):
    """Example `b` gets the value of example `a` for each pair (a, b) in `perm`, zeros where there is none. Of a tuple of axes the last
    one counts fastest; all of them are a mesh's."""

    def named_axes(self, *, axis_name, **params):
        return axis_name if isinstance(axis_name, tuple) else (axis_name,)

    def abstract(self, x, /, *, axis_name, perm):
        size, sides = math.prod(map(_axis_size, self.named_axes(axis_name=axis_name))), list(zip(*perm))
        if any(len(set(side)) != len(side) or not all(0 <= i < size for i in side) for side in sides):
            raise ValueError(f"ppermute along the axis {axis_name!r}, which has {size} examples: {perm} must be pairs "
                             "(source, destination) in which no source and no destination comes twice")  # fmt: skip
        return pure(x)

    def lower(self, ctx, x, /, *, axis_name, perm):
        here = manual()
        if isinstance(axis_name, tuple) and here is not None and all(name in here.axes for name in axis_name):
            return ctx.collective_permute(x, axis_name, perm)
        return super().lower(ctx, x, axis_name=axis_name, perm=perm)

    def among_devices(self, ctx, x, /, *, axis_name, perm):
        return ctx.collective_permute(x, (axis_name,), perm)

    def batch(self, axis, args, dims, /, *, axis_name, perm):
        if isinstance(axis_name, tuple) and axis.name in axis_name:
            raise NotImplementedError(
                f"ppermute along {axis_name} under a vmap over {axis.name!r}: along several axes it runs over those of a mesh alone. "
                "What to do: apply it to one axis after the other"
            )
        return super().batch(axis, args, dims, axis_name=axis_name, perm=perm)

    def transpose(self, ct, x, /, *, axis_name, perm):
        return [ppermute_p(ct, axis_name=axis_name, perm=tuple((b, a) for a, b in perm))]

    def along(self, axis, x, dim, /, *, perm):
        if dim is None and len(perm) == axis.size:
            return x, None
        x = axis.move(x, dim, 0)
        sources = np.full((axis.size, 1), axis.size, np.int32)  # out of bounds: zeros
        for source, destination in perm:
            sources[destination] = source
        shape = aval_of(x).shape
        numbers = GatherDimensionNumbers(tuple(range(1, len(shape))), (0,), (0,))
        return gather_p(x, sources, dimension_numbers=numbers, slice_sizes=(1, *shape[1:]), unique_indices=True,
                        indices_are_sorted=False, mode=GatherScatterMode.FILL_OR_DROP, fill_value=0), 0  # fmt: skip

    def beside(self, x, /, **same):
        return ppermute_p(x, **same)


all_gather_p = AllGather("all_gather")
all_gather_invariant_p = AllGatherInvariant("all_gather_invariant")
all_gather_reduced_p = AllGatherReduced("all_gather_reduced")
reduce_scatter_p = ReduceScatter("reduce_scatter")
unreduced_reduce_scatter_p = UnreducedReduceScatter("unreduced_reduce_scatter")
all_to_all_p = AllToAll("all_to_all")
ppermute_p = Permute("ppermute")


def group_size(axis_name: Hashable, groups: Any) -> int:
    """The number of examples that exchange with each other along an axis."""
    return _axis_size(axis_name) if groups is None else len(groups[0])


def _check_size(axis_name: Hashable, size: int, groups: Any) -> None:
    if group_size(axis_name, groups) != size:
        raise ValueError(f"the axis {axis_name!r} has {_axis_size(axis_name)} examples here, not {size}")


def reshaped(x: ShapedArray, shape: list[int], gone: int | None = None, new: int | None = None) -> ShapedArray:
    """The aval of another shape, without the axis `gone`, with the axis `new`. Raises ValueError where devices do not divide it."""
    mark = x.mark
    if mark is not None and gone is not None:
        mark = mark.without(gone)
    if mark is not None and new is not None:
        mark = mark.beside(new)
    found = x.update(shape=tuple(shape), sharding=mark)
    if (laid := laid_of(found)) is not None:
        laid.check(found.shape)
    return found


def merged(x: Any, at: int) -> Any:
    """Axes `at` and the next one as one."""
    shape = aval_of(x).shape
    return reshape(x, (*shape[:at], shape[at] * shape[at + 1], *shape[at + 2:]))  # fmt: skip


def position(name: str, axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise ValueError(f"{name}: there is no axis {axis} among {rank}")
    return axis % rank
