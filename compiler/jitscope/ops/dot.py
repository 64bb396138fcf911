"""The general dot product: sums of products over any axes, with any others side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..core import dtypes
from ..core.avals import ShapedArray, aval_of
from ..core.meshes_in_force import summed_later
from ..core.part_types import sums_of
from ..symbolic.dimension import is_static
from ..xla import mlir
from ..xla.cpu_tuning import ROW_BLOCKS, TRANSPOSED_OPERANDS
from .families import Bilinear, pure, same_dtype
from .linear import convert, transpose
from .precision import as_precision, computed_as, is_algorithm, swapped
from .small_products import product_form


Axes = tuple[int, ...]


def free_axes(rank: int, *taken: Sequence[int]) -> tuple[int, ...]:
    """The axes that are neither contracting nor batch axes."""
    used = {a for axes in taken for a in axes}
    return tuple([i for i in range(rank) if i not in used])


class DotGeneral(Bilinear):
    """Sums of products of two arrays of one dtype.

    `dimension_numbers` is ((axes of x, axes of y that are contracted in pairs), (batch axes of x, of y)).
    The result has the batch axes, then the other axes of x, then those of y. It is of `preferred_element_type` (None:
    the operands' dtype), in which integers and small floats are summed. `precision` is None, one Precision for each
    operand, or an algorithm. `unreduced`: mesh axes that cut contracted axes of both, over which the sum is left open.
    """

    sums = "dot"

    def abstract(self, x, y, /, *, dimension_numbers, precision, preferred_element_type, unreduced=()):
        dtype = _result_dtype(same_dtype("dot_general", (x, y)), preferred_element_type, x, y)
        (x_contracting, y_contracting), (x_batch, y_batch) = dimension_numbers
        _check_axes(x, y, x_contracting, y_contracting, x_batch, y_batch)
        shape = [x.shape[a] for a in x_batch]
        shape += [x.shape[a] for a in free_axes(x.ndim, x_contracting, x_batch)]
        shape += [y.shape[a] for a in free_axes(y.ndim, y_contracting, y_batch)]
        return pure(ShapedArray(tuple(shape), dtype, x.weak_type and y.weak_type))

    def lower(self, ctx, x, y, /, *, dimension_numbers, precision, preferred_element_type, unreduced=()):
        (x_aval, y_aval), out, values = ctx.avals_in, ctx.avals_out[0], (x, y)
        if is_algorithm(precision):
            own = {"dimension_numbers": dimension_numbers, "precision": None}
            return ctx.inline(lambda x, y: _by_algorithm(x, y, out.dtype, precision, own), x, y)
        (x_contracting, y_contracting), (x_batch, y_batch) = dimension_numbers
        x, x_contracting, x_batch = _without_transpose(ctx, x, x_contracting, x_batch)
        y, y_contracting, y_batch = _without_transpose(ctx, y, y_contracting, y_batch)
        dtype = _computed_in(x_aval.dtype, out.dtype)
        plain = x_aval.dtype == dtype == out.dtype and not unreduced
        module = ctx.module
        if plain and (form := product_form(x_aval, y_aval, dimension_numbers, module.platform, module.loops > 0)):
            ctx.rewritten(form.words, form.rule)
            return ctx.inline(lambda x, y: form.product(x, y, dimension_numbers), *values)
        x, y = ctx.convert(x, x_aval.dtype, dtype), ctx.convert(y, y_aval.dtype, dtype)
        wide = out.dtype if dtype.itemsize <= out.dtype.itemsize and dtypes.WIDER.get(out.dtype) != dtype else dtype
        made = out.update(dtype=wide)
        blocks = (
            _row_blocks(ctx, x, y, x_contracting, y_contracting) if dtype == wide == x_aval.dtype and not x_batch else 1
        )
        if blocks > 1:
            ctx.rewritten(f"written as a sum of {blocks} products, each of a part of the rows", ROW_BLOCKS)
            x, y = (_in_blocks(ctx, v, blocks, dtype) for v in (x, y))
            x_contracting = y_contracting = [1]
            x_batch = y_batch = [0]
            made = made.update(shape=(blocks, *made.shape))
        numbers = _numbers(tuple(x_contracting), tuple(y_contracting), tuple(x_batch), tuple(y_batch))
        config = precision and ctx.ir.ArrayAttr.get([ctx.hlo.PrecisionAttr.get(p.name) for p in precision])
        result = ctx.hlo.dot_general(ctx.type(made), x, y, numbers, precision_config=config)
        if blocks > 1:
            return ctx.reduce(result, 0, ctx.hlo.add, (0,))
        return ctx.convert(result, wide, out.dtype)

    def transpose_left(self, ct, aval, y, /, *, dimension_numbers, precision, preferred_element_type, unreduced=()):
        (x_contracting, y_contracting), (x_batch, y_batch) = dimension_numbers
        start, end = aval.ndim - len(x_contracting), aval_of(ct).ndim  # of the axes of y
        numbers = (x_contracting, y_contracting), (x_batch, y_batch)
        return _other_factor(ct, aval, y, *numbers, tuple(range(start, end)), precision)

    def transpose_right(self, ct, x, aval, /, *, dimension_numbers, precision, preferred_element_type, unreduced=()):
        (x_contracting, y_contracting), (x_batch, y_batch) = dimension_numbers
        start, end = len(x_batch), aval_of(x).ndim - len(x_contracting)  # of the axes of x
        numbers = (y_contracting, x_contracting), (y_batch, x_batch)
        return _other_factor(ct, aval, x, *numbers, tuple(range(start, end)), precision)

    def batch(self, axis, args, dims, /, *, dimension_numbers, **params):
        (x, y), (x_dim, y_dim) = args, dims
        (x_contracting, y_contracting), (x_batch, y_batch) = dimension_numbers
        x_contracting, x_batch = _shifted(x_contracting, x_dim), _shifted(x_batch, x_dim)
        y_contracting, y_batch = _shifted(y_contracting, y_dim), _shifted(y_batch, y_dim)
        if x_dim is not None and y_dim is not None:
            x_batch, y_batch, out = (x_dim, *x_batch), (y_dim, *y_batch), 0
        elif x_dim is not None:
            out = len(x_batch) + free_axes(aval_of(x).ndim, x_contracting, x_batch).index(x_dim)
        else:
            x_free = free_axes(aval_of(x).ndim, x_contracting, x_batch)
            if not x_batch and _few_vectors(aval_of(x), aval_of(y), x_free, y_dim, params):
                numbers = ((y_contracting, x_contracting), ((), ()))
                return dot_general_p(y, x, dimension_numbers=numbers, **params), 0
            out = len(x_batch) + len(x_free) + free_axes(aval_of(y).ndim, y_contracting, y_batch).index(y_dim)
        return dot_general_p(
            x, y, dimension_numbers=((x_contracting, y_contracting), (x_batch, y_batch)), **params
        ), out

    def shown_params(self, params):
        contracting, batch = params["dimension_numbers"]
        shown = {"dimension_numbers": (tuple(map(list, contracting)), tuple(map(list, batch)))}
        return shown | {k: v for k, v in params.items() if k != "dimension_numbers" and v is not None and v != ()}


dot_general_p = DotGeneral("dot_general")


def _few_vectors(x: ShapedArray, y: ShapedArray, x_free: Sequence[int], y_dim: Any, params: Any) -> bool:
    """Whether `y` holds vectors, no more of them than the product of `x` with each has elements. Their axis then goes first: loops over
    the product run along its last axis, which is to be the long one (loops of 3 take several times as long as those of 500)."""
    plain = params["precision"] is None and params.keys() <= {"precision", "preferred_element_type"}
    if not plain or y.ndim != 1 + x.ndim - len(x_free):
        return False
    sizes = [y.shape[y_dim], *[x.shape[i] for i in x_free]]
    return is_static(sizes) and sizes[0] <= math.prod(sizes[1:])


def dot_general(
    lhs: Any, rhs: Any, dimension_numbers: Any, precision: Any = None, preferred_element_type: Any = None
) -> Any:
    """`dot_general_p` from sequences of axes and names (`precision` as in `as_precision`). Raises TypeError for dtypes,
    axes and sizes that do not fit, ValueError for an unknown precision."""
    numbers = tuple([tuple([tuple(map(int, axes)) for axes in pair]) for pair in dimension_numbers])
    preferred = None if preferred_element_type is None else dtypes.explicit(preferred_element_type)
    params = {"precision": as_precision(precision), "preferred_element_type": preferred}
    return _product(lhs, rhs, numbers, params, summed_later.get())


def _product(lhs: Any, rhs: Any, numbers: Any, params: dict[str, Any], later: frozenset) -> Any:
    """The product; over those of the mesh axes `later` that cut what is summed, the sum is left open."""
    if later:
        from ..core.explicit import cut_alike  # of several devices

        if open_over := cut_alike(aval_of(lhs), aval_of(rhs), numbers[0], later):
            params = {**params, "unreduced": open_over}
    return dot_general_p(lhs, rhs, dimension_numbers=numbers, **params)


# Rules ---------------------------------------------------------------------------------------------------------------


def _check_axes(x: ShapedArray, y: ShapedArray, x_contracting, y_contracting, x_batch, y_batch) -> None:
    for aval, which, contracting, batch in (
        (x, "first", x_contracting, x_batch),
        (y, "second", y_contracting, y_batch),
    ):
        used = (*contracting, *batch)
        if any([not 0 <= a < aval.ndim for a in used]) or len(set(used)) != len(used):
            raise TypeError(
                f"dot_general of {x.short()} and {y.short()}: axes {used} do not name distinct axes of the "
                f"{which}, {aval.short()}"
            )
    for verb, x_axes, y_axes in (("contracts", x_contracting, y_contracting), ("pairs", x_batch, y_batch)):
        if len(x_axes) != len(y_axes):
            raise TypeError(
                f"dot_general of {x.short()} and {y.short()} {verb} axes {tuple(x_axes)} of the first and "
                f"{tuple(y_axes)} of the second: there must be as many of one as of the other"
            )
        for a, b in zip(x_axes, y_axes):
            if x.shape[a] != y.shape[b]:
                raise TypeError(
                    f"dot_general of {x.short()} and {y.short()} {verb} axis {a} of the first, which has size "
                    f"{x.shape[a]}, and axis {b} of the second, which has size {y.shape[b]}: the sizes must be equal"
                )


def _result_dtype(dtype: Any, preferred: Any, x: ShapedArray, y: ShapedArray) -> Any:
    if dtypes.kind(dtype) not in "biufc":
        raise TypeError(f"dot_general multiplies numbers; it got {x.short()} and {y.short()}")
    if preferred is None or preferred == dtype:
        return dtype
    old, new = dtypes.kind(dtype), dtypes.kind(preferred)
    if not (
        new in {"b": "iufc", "i": "iufc", "u": "iufc", "f": "iufc", "c": "c"}[old]
        and (old == "f" or preferred.itemsize >= dtype.itemsize)
    ):
        raise TypeError(
            f"dot_general of {x.short()} and {y.short()} cannot give {preferred.name}, which does not hold "
            f"{dtype.name}: convert the result with .astype({preferred.name!r})"
        )
    return preferred


def _computed_in(dtype, result):
    """The dtype in which elements are multiplied: a result of another kind (floats from integers) is computed in its own,
    and XLA has no products of integers of less than a byte."""
    if dtypes.kind(dtype) != dtypes.kind(result):
        return result
    return dtypes.WIDER.get(result, result) if dtype in dtypes.WIDER and dtypes.is_integer(dtype) else dtype


@mlir.of_context(1024)
def _numbers(x_contracting: Axes, y_contracting: Axes, x_batch: Axes, y_batch: Axes) -> Any:
    return mlir.bindings().hlo.DotDimensionNumbers.get(
        lhs_batching_dimensions=x_batch,
        rhs_batching_dimensions=y_batch,
        lhs_contracting_dimensions=x_contracting,
        rhs_contracting_dimensions=y_contracting,
    )


def _without_transpose(ctx, value, contracting, batch):
    """The operand of the transpose that made `value`, with the axes renamed; `value` itself if it was made otherwise, or
    if its free axes would come in another order."""
    owner = value.owner
    tuned = TRANSPOSED_OPERANDS.holds(ctx.module.platform)
    if not tuned or getattr(owner, "name", None) != "stablehlo.transpose":
        return value, contracting, batch
    permutation = list(ctx.ir.DenseI64ArrayAttr(owner.attributes["permutation"]))
    if not _is_sorted(tuple(permutation[a] for a in free_axes(len(permutation), contracting, batch))):
        return value, contracting, batch
    return owner.operands[0], [permutation[a] for a in contracting], [permutation[a] for a in batch]


def _by_algorithm(x, y, result, precision, params):
    """The product with both sides, and the sum, in the types of an algorithm."""
    left, right, total = computed_as(precision, aval_of(x).dtype, aval_of(y).dtype, result)
    product = dot_general_p(convert(x, left), convert(y, right), preferred_element_type=total, **params)
    return convert(product, result)


def _row_blocks(ctx, x, y, x_contracting, y_contracting):
    """In how many parts a vector, or a column, times a matrix is summed."""
    if min(_columns(aval) for aval in ctx.avals_in) != 1 or not ROW_BLOCKS.holds(ctx.module.platform):
        return 1
    shapes = [tuple(ctx.ir.RankedTensorType(v.type).shape) for v in (x, y)]
    (x_shape, y_shape), sums = shapes, [list(x_contracting), list(y_contracting)]
    if sums != [[0], [0]]:
        return 1
    rows, columns = x_shape[0], math.prod(x_shape[1:]) * math.prod(y_shape[1:])
    least = ROW_BLOCKS.value
    if (
        rows < least["rows"]
        or rows * columns < least["numbers"]
        or ctx.avals_out[0].dtype.name not in ("float32", "float64")
    ):
        return 1
    return next((k for k in least["parts"] if rows % k == 0), 1)


def _columns(aval):
    """How many columns a matrix has, a vector one; 0 for others."""
    return math.prod(aval.shape[1:]) if 1 <= aval.ndim <= 2 and is_static(aval.shape) else 0


def _in_blocks(ctx, value, blocks, dtype):
    """An operand with its first axis divided."""
    rows, *rest = ctx.ir.RankedTensorType(value.type).shape
    return ctx.reshape(value, ShapedArray((blocks, rows // blocks, *rest), dtype))


def _shifted(axes: tuple[int, ...], dim: int | None) -> tuple[int, ...]:
    """Where axes are once there is another one at `dim`."""
    return axes if dim is None else tuple(a + (a >= dim) for a in axes)


def _other_factor(ct, aval, y, contracting, batch, y_part, precision):
    """The cotangent of the factor x (of `aval`) beside `y`, whose free axes are `y_part` in `ct`. The axes of the product
    come out in one of two orders; the one that needs no transpose is taken."""
    (x_contracting, y_contracting), (x_batch, y_batch) = contracting, batch
    ct_batch = tuple(range(len(x_batch)))
    y_free = free_axes(aval_of(y).ndim, y_contracting, y_batch)
    x_free = free_axes(aval.ndim, x_contracting, x_batch)
    by_y = tuple(
        x for _, x in sorted(zip(y_contracting, x_contracting))
    )  # axes of y come out in the order they have in y
    ct, y = _one_dtype(ct, y, aval)
    ct_first = (*x_batch, *x_free, *by_y)
    y_first = (*x_batch, *by_y, *x_free)
    if _is_sorted(y_first) and not _is_sorted(ct_first):
        numbers = (y_free, y_part), (y_batch, ct_batch)
        out, order = _product(y, ct, numbers, _params(precision, swap=True), sums_of(aval).reduced), y_first
    else:
        numbers = (y_part, y_free), (ct_batch, y_batch)
        out, order = _product(ct, y, numbers, _params(precision), sums_of(aval).reduced), ct_first
    return convert(transpose(out, _inverse(order)), aval.dtype)


def _one_dtype(ct, y, aval):
    """A cotangent wider than the operands (bfloat16 summed in float32) keeps its precision until the end; of a narrower
    one the operands decide."""
    given, own = aval_of(ct).dtype, aval.dtype
    if given == own:
        return ct, y
    dtype = given if given.itemsize > own.itemsize else own
    return convert(ct, dtype), convert(y, dtype)


def _params(precision, swap=False):
    return {"precision": swapped(precision) if swap else precision, "preferred_element_type": None}


def _is_sorted(axes: tuple[int, ...]) -> bool:
    return list(axes) == sorted(axes)


def _inverse(order: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(range(len(order)), key=order.__getitem__))
