"""Collectives: operations along a named axis, which `vmap(..., axis_name=...)` opens, or a mesh of devices inside `shard_map`.

Mapping over the axis resolves them: a sum over examples becomes a reduction of the mapped dimension. Along an axis of devices
they are lowered to an exchange between these. Elsewhere they have no meaning.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from .. import tree
from ..core import dtypes
from ..core.avals import ShapedArray, aval_of, is_python_scalar, physical
from ..core.axes import axis_size as _axis_size
from ..core.primitive import Primitive
from ..core.varying import checked_axes, manual, sum_invariant, varied, varying, with_varying
from .elementwise import div_p, eq_p
from .families import check_kind, is_zero, pure, scalar_like, zero_of
from .indexing import GatherDimensionNumbers, GatherScatterMode, gather_p, iota
from .linear import add_p, convert, full, moveaxis, mul_p, reduce_sum_p, reshape, where
from .reduce import reduce_max_p, reduce_min_p


__all__ = [
    "all_gather",
    "all_to_all",
    "axis_index",
    "axis_size",
    "pbroadcast",
    "pmax",
    "pmean",
    "pmin",
    "ppermute",
    "pshuffle",
    "psum",
    "psum_scatter",
    "pswapaxes",
]  # fmt: skip


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


def _example(aval: ShapedArray, dim: int | None) -> ShapedArray:
    return aval if dim is None else aval.update(shape=(*aval.shape[:dim], *aval.shape[dim + 1:]))  # fmt: skip


# Reductions ----------------------------------------------------------------------------------------------------------


class AllReduce(Collective):
    """A reduction over the examples along the named axes in `axes`; each of them gets the result."""

    def __init__(self, name: str, accepts: str, reduction: Primitive, combine: str):
        super().__init__(name)
        self.accepts, self.reduction, self.combine = accepts, reduction, combine

    def named_axes(self, *, axes):
        return axes

    def abstract(self, x, /, *, axes):
        check_kind(self.name, x, self.accepts)
        for name in axes:
            _axis_size(name)
        return pure(with_varying(x, varying(x) - frozenset(axes)))

    def lower(self, ctx, /, *values, axes):
        here = manual()
        if here is not None and all(name in here.axes for name in axes):
            return ctx.all_reduce(*values, axes, self.combine)
        return super().lower(ctx, *values, axis_name=axes[0])

    def batch(self, axis, args, dims, /, *, axes):
        (x,), (dim,) = args, dims
        check_kind(self.name, aval_of(x), self.accepts)
        if axis.name not in axes:
            return self.bind(x, axes=axes), dim
        out = self.of_equals(x, axis.size) if dim is None else self.reduction(x, axes=(dim,))
        rest = tuple(name for name in axes if name != axis.name)
        return self.bind(out, axes=rest) if rest else out, None

    def of_equals(self, x: Any, size: int) -> Any:
        """The result where all examples hold `x`."""
        return x


class Sum(AllReduce):
    """The sum over the examples."""

    def of_equals(self, x, size):
        return mul_p(x, scalar_like(x, size))

    def transpose(self, ct, x, /, *, axes):
        return [psum_p(ct, axes=axes)]


class Choose(AllReduce):
    """The greatest or the least of the examples' values; the tangent is the mean of those that reach it."""

    def jvp(self, primals, tangents, /, *, axes):
        (x,), (t,) = primals, tangents
        out = self.bind(x, axes=axes)
        if is_zero(t):
            return out, zero_of(out)
        at = convert(eq_p(x, out), aval_of(x).dtype)
        return out, div_p(_over(psum_p, mul_p(t, at), axes, ()), _over(psum_p, at, axes, ()))


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

    def abstract(self, x, /, *, all_gather_dimension, axis_name, axis_size, tiled):
        _check_size(axis_name, axis_size)
        at, shape = all_gather_dimension, list(x.shape)
        if not 0 <= at < x.ndim + (not tiled):
            raise ValueError(f"all_gather of {x.short()}: there is no axis {at}")
        shape[at: at + tiled] = [axis_size * shape[at] if tiled else axis_size]  # fmt: skip
        return pure(x.update(shape=tuple(shape)))

    def among_devices(self, ctx, x, /, *, all_gather_dimension, axis_name, axis_size, tiled):
        if tiled or not ctx.apart:
            return ctx.all_gather(x, (axis_name,), all_gather_dimension)
        shape = list(physical(ctx.avals_in[0]).shape)
        shape.insert(all_gather_dimension, 1)
        row = ctx.hlo.reshape(ctx.type(physical(ctx.avals_in[0]).update(shape=tuple(shape))), x)
        return ctx.all_gather(row, (axis_name,), all_gather_dimension)

    def transpose(self, ct, x, /, *, all_gather_dimension, **same):
        return [reduce_scatter_p(ct, scatter_dimension=all_gather_dimension, **same)]

    def along(self, axis, x, dim, /, *, all_gather_dimension, axis_size, tiled):
        x = axis.move(x, dim, all_gather_dimension)
        return _merged(x, all_gather_dimension) if tiled else x, None

    def beside(self, x, /, *, all_gather_dimension, **same):
        return all_gather_p(x, all_gather_dimension=all_gather_dimension + 1, **same)


class ReduceScatter(Collective):
    """The sum over the examples, of which each keeps its part along `scatter_dimension`: one element, and the axis goes,
    or, if `tiled`, an equal share of it."""

    def abstract(self, x, /, *, scatter_dimension, axis_name, axis_size, tiled):
        _check_size(axis_name, axis_size)
        check_kind("reduce_scatter", x, "iufc")
        at, shape = scatter_dimension, list(x.shape)
        if not 0 <= at < x.ndim:
            raise ValueError(f"psum_scatter of {x.short()}: there is no axis {at}")
        if (shape[at] % axis_size) if tiled else shape[at] != axis_size:
            how = f"be a multiple of {axis_size}" if tiled else f"be {axis_size}"
            raise ValueError(f"psum_scatter of {x.short()} over the axis {axis_name!r}, which has {axis_size} examples: "
                             f"the size of axis {at} must {how}")  # fmt: skip
        shape[at: at + 1] = [shape[at] // axis_size] if tiled else []  # fmt: skip
        return pure(x.update(shape=tuple(shape)))

    def among_devices(self, ctx, x, /, *, scatter_dimension, axis_name, axis_size, tiled):
        part = ctx.reduce_scatter(x, (axis_name,), scatter_dimension)
        return part if tiled else ctx.hlo.reshape(ctx.type(ctx.avals_out[0]), part)

    def transpose(self, ct, x, /, *, scatter_dimension, **same):
        return [all_gather_p(ct, all_gather_dimension=scatter_dimension, **same)]

    def along(self, axis, x, dim, /, *, scatter_dimension, axis_size, tiled):
        x = psum_p.of_equals(x, axis.size) if dim is None else reduce_sum_p(x, axes=(dim,))
        return _divided(x, scatter_dimension, axis_size) if tiled else x, scatter_dimension

    def beside(self, x, /, *, scatter_dimension, **same):
        return reduce_scatter_p(x, scatter_dimension=scatter_dimension + 1, **same)


class AllToAll(Collective):
    """Example i sends part j of its value along `split_axis` to example j, which puts what it gets side by side along a
    new axis `concat_axis` (the split one is gone); if `tiled`, one after another along that axis."""

    def abstract(self, x, /, *, split_axis, concat_axis, axis_name, tiled):
        size, shape = _axis_size(axis_name), list(x.shape)
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
        return pure(x.update(shape=tuple(shape)))

    def among_devices(self, ctx, x, /, *, split_axis, concat_axis, axis_name, tiled):
        if tiled:
            return ctx.all_to_all(x, (axis_name,), split_axis, concat_axis)
        # The parts are rows of an axis of their own, which is where results are put side by side.
        return ctx.inline(lambda v: self._by_rows(v, split_axis, concat_axis, axis_name), x)

    def _by_rows(self, x, split_axis, concat_axis, axis_name):
        x = moveaxis(x, split_axis, 0)
        x = all_to_all_p(x, split_axis=0, concat_axis=0, axis_name=axis_name, tiled=True)
        return moveaxis(x, 0, concat_axis)

    def transpose(self, ct, x, /, *, split_axis, concat_axis, **same):
        return [all_to_all_p(ct, split_axis=concat_axis, concat_axis=split_axis, **same)]

    def along(self, axis, x, dim, /, *, split_axis, concat_axis, tiled):
        x = axis.move(x, dim, 0)
        if tiled:
            x = _divided(x, split_axis + 1, axis.size)
        # Receivers in front, senders after them.
        x = moveaxis(x, split_axis + 1, 0)
        x = moveaxis(x, 1, concat_axis + 1)
        return _merged(x, concat_axis + 1) if tiled else x, 0

    def beside(self, x, /, *, split_axis, concat_axis, **same):
        return all_to_all_p(x, split_axis=split_axis + 1, concat_axis=concat_axis + 1, **same)


class Permute(Collective):
    """Example `b` gets the value of example `a` for each pair (a, b) in `perm`, zeros where there is none."""

    def abstract(self, x, /, *, axis_name, perm):
        size, sides = _axis_size(axis_name), list(zip(*perm))
        if any(len(set(side)) != len(side) or not all(0 <= i < size for i in side) for side in sides):
            raise ValueError(f"ppermute along the axis {axis_name!r}, which has {size} examples: {perm} must be pairs "
                             "(source, destination) in which no source and no destination comes twice")  # fmt: skip
        return pure(x)

    def among_devices(self, ctx, x, /, *, axis_name, perm):
        return ctx.collective_permute(x, axis_name, perm)

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
reduce_scatter_p = ReduceScatter("reduce_scatter")
all_to_all_p = AllToAll("all_to_all")
ppermute_p = Permute("ppermute")


def _check_size(axis_name: Hashable, size: int) -> None:
    if _axis_size(axis_name) != size:
        raise ValueError(f"the axis {axis_name!r} has {_axis_size(axis_name)} examples here, not {size}")


def _merged(x: Any, at: int) -> Any:
    """Axes `at` and the next one as one."""
    shape = aval_of(x).shape
    return reshape(x, (*shape[:at], shape[at] * shape[at + 1], *shape[at + 2:]))  # fmt: skip


def _divided(x: Any, at: int, parts: int) -> Any:
    """The axis `at` as two: `parts`, and the rest."""
    shape = aval_of(x).shape
    return reshape(x, (*shape[:at], parts, shape[at] // parts, *shape[at + 1:]))  # fmt: skip


# Functions of trees --------------------------------------------------------------------------------------------------


def _names(axis_name: Any) -> tuple[Hashable, ...]:
    return tuple(axis_name) if isinstance(axis_name, (tuple, list)) else (axis_name,)


def _one_name(name: str, axis_name: Any) -> Hashable:
    names = _names(axis_name)
    if len(names) != 1:
        raise NotImplementedError(
            f"{name} runs along one named axis, not along {names}: apply it to one after the other"
        )
    return names[0]


def _split_axes(axis_name: Any) -> tuple[tuple[Hashable, ...], tuple[int, ...]]:
    """The named axes, and the numbers of the value's own axes, which JAX takes beside them."""
    names = _names(axis_name)
    own = tuple(n for n in names if isinstance(n, int) and not isinstance(n, bool))
    return tuple(n for n in names if n not in own), own


def _over(primitive: AllReduce, x: Any, axes: tuple[Hashable, ...], own: tuple[int, ...]) -> Any:
    if own:
        rank = aval_of(x).ndim
        x = primitive.reduction(x, axes=tuple(sorted(_position(primitive.name, i, rank) for i in own)))
    if not axes:
        return x
    checked = checked_axes(axes)
    if not checked:
        return primitive(x, axes=axes)
    x = varied(x, checked)
    others = tuple(name for name in axes if name not in checked)
    x = primitive(x, axes=others) if others else x
    along = tuple(name for name in axes if name in checked)
    return sum_invariant(x, along) if primitive is psum_p else primitive(x, axes=along)


def _without_groups(name: str, axis_index_groups: Any) -> None:
    if axis_index_groups is not None:
        raise NotImplementedError(
            f"{name}: axis_index_groups come in a later release for axes of devices; vmap has none of them, in JAX as well. Use two "
            "axes with a name each, of the mesh or of two nested vmaps, and name the inner one"
        )


def axis_size(axis_name: Any) -> int:
    """The number of examples along a named axis, or along several together. Raises NameError for an unknown one."""
    return math.prod(map(_axis_size, _names(axis_name)))


def axis_index(axis_name: Any) -> Any:
    """The number of the example along a named axis (int32); of several, the last one varies fastest.

    Raises NameError for an unknown axis.
    """
    first, *others = _names(axis_name)
    index = axis_index_p(axis_name=first)
    for name in others:
        index = add_p(mul_p(index, np.int32(_axis_size(name))), axis_index_p(axis_name=name))
    return index


def psum(x: Any, axis_name: Any, *, axis_index_groups: None = None) -> Any:
    """The sum of each leaf over the examples along a named axis, or several; integers among them name axes of the leaf. Booleans are counted; of a Python number
    the sum is a Python number. Raises NameError for an unknown axis."""
    _without_groups("psum", axis_index_groups)
    axes, own = _split_axes(axis_name)

    def leaf(x):
        if is_python_scalar(x) and not own:
            return x * axis_size(axes)
        x = convert(x, dtypes.int32) if aval_of(x).dtype == dtypes.bool_ else x
        return _over(psum_p, x, axes, own)

    return tree.map(leaf, x)


def pmean(x: Any, axis_name: Any, *, axis_index_groups: None = None) -> Any:
    """The mean of each leaf over the examples; of integers, a float. Raises NameError for an unknown axis."""
    _without_groups("pmean", axis_index_groups)
    axes, own = _split_axes(axis_name)
    size = axis_size(axes)

    def leaf(x):
        if is_python_scalar(x) and not own:
            return x if isinstance(x, (float, complex)) else float(x)
        total = _over(psum_p, convert(x, dtypes.to_inexact(aval_of(x).dtype)), axes, own)
        count = size * math.prod(aval_of(x).shape[i] for i in own)
        return div_p(total, scalar_like(total, count))

    return tree.map(leaf, x)


def pmax(x: Any, axis_name: Any, *, axis_index_groups: None = None) -> Any:
    """The greatest value of each leaf among the examples, element by element. Raises NameError for an unknown axis."""
    _without_groups("pmax", axis_index_groups)
    axes, own = _split_axes(axis_name)
    return tree.map(lambda x: _over(pmax_p, x, axes, own), x)


def pmin(x: Any, axis_name: Any, *, axis_index_groups: None = None) -> Any:
    """The least value of each leaf among the examples, element by element. Raises NameError for an unknown axis."""
    _without_groups("pmin", axis_index_groups)
    axes, own = _split_axes(axis_name)
    return tree.map(lambda x: _over(pmin_p, x, axes, own), x)


def all_gather(
    x: Any, axis_name: Any, *, axis_index_groups: None = None, axis: int = 0, tiled: bool = False, to: str = "varying"
) -> Any:
    """Each leaf of all examples: side by side along a new axis, or one after another along that axis if `tiled`.

    Of several named axes the last varies fastest. `to` ("varying" or "reduced") says what shard_map takes the result for;
    under vmap it changes nothing. Raises ValueError for another `to` and an axis that the leaf
    does not have, NameError for an unknown name.
    """
    _without_groups("all_gather", axis_index_groups)
    if to not in ("varying", "reduced"):
        raise ValueError(f"all_gather: to is 'varying' or 'reduced', not {to!r}")
    *outer, last = _names(axis_name)

    def leaf(x):
        at = _position("all_gather", axis, aval_of(x).ndim + (not tiled))
        x = all_gather_p(
            varied(x, checked_axes(_names(axis_name))),
            all_gather_dimension=at,
            axis_name=last,
            axis_size=_axis_size(last),
            tiled=tiled,
        )
        for name in reversed(outer):
            x = all_gather_p(x, all_gather_dimension=at, axis_name=name, axis_size=_axis_size(name), tiled=True)
        return x

    return tree.map(leaf, x)


def psum_scatter(
    x: Any, axis_name: Any, *, scatter_dimension: int = 0, axis_index_groups: None = None, tiled: bool = False
) -> Any:
    """The sum of each leaf over the examples, of which each gets its part along `scatter_dimension`.

    Raises NameError for an unknown axis, ValueError for sizes that do not fit.
    """
    _without_groups("psum_scatter", axis_index_groups)
    names = _names(axis_name)
    sizes = tuple(map(_axis_size, names))

    def leaf(x):
        at = _position("psum_scatter", scatter_dimension, aval_of(x).ndim)
        if len(names) > 1 and not tiled:
            _check_parts("psum_scatter", x, at, names, math.prod(sizes), tiled)
            shape = aval_of(x).shape
            x = reshape(x, (*shape[:at], *sizes, *shape[at + 1 :]))
        for name, size in zip(names, sizes):
            x = reduce_scatter_p(
                varied(x, checked_axes((name,))), scatter_dimension=at, axis_name=name, axis_size=size, tiled=tiled
            )
        return x

    return tree.map(leaf, x)


def all_to_all(
    x: Any,
    axis_name: Hashable,
    split_axis: int,
    concat_axis: int,
    *,
    axis_index_groups: None = None,
    tiled: bool = False,
) -> Any:
    """Each leaf cut along `split_axis`, a part for each example, and what comes from the others put together along
    `concat_axis`. Raises NameError for an unknown axis, ValueError for sizes that do not fit."""
    _without_groups("all_to_all", axis_index_groups)
    names = _names(axis_name)

    def leaf(x):
        rank, x = aval_of(x).ndim, varied(x, checked_axes(names))
        at, to = (_position("all_to_all", a, rank) for a in (split_axis, concat_axis))
        if len(names) != 1:
            return _all_to_all_of_several(x, names, at, to, tiled)
        return all_to_all_p(x, axis_name=names[0], split_axis=at, concat_axis=to, tiled=tiled)

    return tree.map(leaf, x)


def _all_to_all_of_several(x: Any, names: tuple[Hashable, ...], at: int, to: int, tiled: bool) -> Any:
    """Along several named axes as one, whose last part varies fastest: along one after the other, with the parts in front."""
    sizes = tuple(map(_axis_size, names))
    count = math.prod(sizes)
    _check_parts("all_to_all", x, at, names, count, tiled)
    x = moveaxis(_divided(x, at, count) if tiled else x, at, 0)
    rest = aval_of(x).shape[1:]
    x = reshape(x, (*sizes, *rest))
    for i, name in enumerate(names):
        x = all_to_all_p(x, axis_name=name, split_axis=i, concat_axis=i, tiled=False)
    x = moveaxis(reshape(x, (count, *rest)), 0, to)
    return _merged(x, to) if tiled else x


def _check_parts(name: str, x: Any, at: int, names: tuple[Hashable, ...], count: int, tiled: bool) -> None:
    aval = aval_of(x)
    if (aval.shape[at] % count) if tiled else aval.shape[at] != count:
        how = f"be a multiple of {count}" if tiled else f"be {count}"
        raise ValueError(
            f"{name} of {aval.short()} along the axes {names}, which have {count} examples together: the size of axis {at} must "
            f"{how}"
        )


def ppermute(x: Any, axis_name: Hashable, perm: Sequence[tuple[int, int]]) -> Any:
    """Each leaf sent from example to example by the pairs (source, destination); who gets nothing has zeros.

    Raises NameError for an unknown axis, ValueError for pairs that are no permutation.
    """
    pairs, name = tuple((int(a), int(b)) for a, b in perm), _one_name("ppermute", axis_name)
    return tree.map(lambda x: ppermute_p(varied(x, checked_axes((name,))), axis_name=name, perm=pairs), x)


def pshuffle(x: Any, axis_name: Hashable, perm: Sequence[int]) -> Any:
    """Each leaf of example `perm[i]` at example i. Raises NameError and ValueError as `ppermute`."""
    return ppermute(x, axis_name, [(source, i) for i, source in enumerate(perm)])


def pswapaxes(x: Any, axis_name: Hashable, axis: int, *, axis_index_groups: None = None) -> Any:
    """The named axis exchanged with an axis of each leaf, which has its size. Raises as `all_to_all`."""
    return all_to_all(x, axis_name, axis, axis, axis_index_groups=axis_index_groups)


def pbroadcast(x: Any, axis_name: Hashable, source: int) -> Any:
    """Each leaf of example number `source`, for all. Raises NameError for an unknown axis."""

    def leaf(x):
        mine = eq_p(axis_index(axis_name), np.int32(source))
        nothing = full(aval_of(x).shape, 0, aval_of(x).dtype)
        return psum_p(where(mine, x, nothing), axes=_names(axis_name))

    return tree.map(leaf, x)


def _position(name: str, axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise ValueError(f"{name}: there is no axis {axis} among {rank}")
    return axis % rank
