"""The general dot product: sums of products over any axes, with any others side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core import dtypes
from ..core.avals import ShapedArray, aval_of
from ..xla.cpu_tuning import ROW_BLOCKS, TRANSPOSED_OPERANDS
from .families import Bilinear, pure, same_dtype
from .linear import convert, transpose
from .precision import Precision as Precision, as_precision as as_precision, computed_as, is_algorithm, swapped


def free_axes(rank: int, *taken: Sequence[int]) -> tuple[int, ...]:
    """The axes that are neither summed over nor shared."""
    used = {a for axes in taken for a in axes}
    return tuple(i for i in range(rank) if i not in used)


class DotGeneral(Bilinear):
    """Sums of products of two arrays of one dtype.

    `dimension_numbers` is ((axes of x, axes of y that are summed over in pairs), (axes of x, axes of y that are shared)).
    The result has the shared axes, then the other axes of x, then those of y. It is of `preferred_element_type` (None:
    the operands' dtype), in which integers and small floats are summed. `precision` is None, one Precision for each
    operand, or an algorithm.
    """

    def abstract(self, x, y, /, *, dimension_numbers, precision, preferred_element_type):
        dtype = _result_dtype(same_dtype("dot_general", (x, y)), preferred_element_type, x, y)
        (x_sum, y_sum), (x_shared, y_shared) = dimension_numbers
        _check_axes(x, y, x_sum, y_sum, x_shared, y_shared)
        shape = [x.shape[a] for a in x_shared]
        shape += [x.shape[a] for a in free_axes(x.ndim, x_sum, x_shared)]
        shape += [y.shape[a] for a in free_axes(y.ndim, y_sum, y_shared)]
        return pure(ShapedArray(tuple(shape), dtype, x.weak_type and y.weak_type))

    def lower(self, ctx, x, y, /, *, dimension_numbers, precision, preferred_element_type):
        (x_aval, y_aval), out = ctx.avals_in, ctx.avals_out[0]
        if is_algorithm(precision):
            own = {"dimension_numbers": dimension_numbers, "precision": None}
            return ctx.inline(lambda x, y: _by_algorithm(x, y, out.dtype, precision, own), x, y)
        (x_sum, y_sum), (x_shared, y_shared) = dimension_numbers
        x, x_sum, x_shared = _without_transpose(ctx, x, x_sum, x_shared)
        y, y_sum, y_shared = _without_transpose(ctx, y, y_sum, y_shared)
        dtype = _computed_in(x_aval.dtype, out.dtype)
        x, y = ctx.convert(x, x_aval.dtype, dtype), ctx.convert(y, y_aval.dtype, dtype)
        wide = out.dtype if dtype.itemsize <= out.dtype.itemsize and dtypes.WIDER.get(out.dtype) != dtype else dtype
        made = out.update(dtype=wide)
        blocks = _row_blocks(ctx, x, y, x_sum, y_sum) if dtype == wide == x_aval.dtype and not x_shared else 1
        if blocks > 1:
            x, y = (_in_blocks(ctx, v, blocks, dtype) for v in (x, y))
            x_sum = y_sum = [1]
            x_shared = y_shared = [0]
            made = made.update(shape=(blocks, *made.shape))
        numbers = ctx.hlo.DotDimensionNumbers.get(
            lhs_batching_dimensions=x_shared,
            rhs_batching_dimensions=y_shared,
            lhs_contracting_dimensions=x_sum,
            rhs_contracting_dimensions=y_sum,
        )
        config = precision and ctx.ir.ArrayAttr.get([ctx.hlo.PrecisionAttr.get(p.name) for p in precision])
        result = ctx.hlo.dot_general(ctx.type(made), x, y, numbers, precision_config=config)
        if blocks > 1:
            return ctx.reduce(result, 0, ctx.hlo.add, (0,))
        return ctx.convert(result, wide, out.dtype)

    def transpose_left(self, ct, aval, y, /, *, dimension_numbers, precision, preferred_element_type):
        (x_sum, y_sum), (x_shared, y_shared) = dimension_numbers
        start, end = aval.ndim - len(x_sum), aval_of(ct).ndim  # of the axes of y
        numbers = (x_sum, y_sum), (x_shared, y_shared)
        return _other_factor(ct, aval, y, *numbers, tuple(range(start, end)), precision)

    def transpose_right(self, ct, x, aval, /, *, dimension_numbers, precision, preferred_element_type):
        (x_sum, y_sum), (x_shared, y_shared) = dimension_numbers
        start, end = len(x_shared), aval_of(x).ndim - len(x_sum)  # of the axes of x
        numbers = (y_sum, x_sum), (y_shared, x_shared)
        return _other_factor(ct, aval, x, *numbers, tuple(range(start, end)), precision)

    def batch(self, axis, args, dims, /, *, dimension_numbers, **params):
        (x, y), (x_dim, y_dim) = args, dims
        (x_sum, y_sum), (x_shared, y_shared) = dimension_numbers
        x_sum, x_shared = _shifted(x_sum, x_dim), _shifted(x_shared, x_dim)
        y_sum, y_shared = _shifted(y_sum, y_dim), _shifted(y_shared, y_dim)
        if x_dim is not None and y_dim is not None:
            x_shared, y_shared, out = (x_dim, *x_shared), (y_dim, *y_shared), 0
        elif x_dim is not None:
            out = len(x_shared) + free_axes(aval_of(x).ndim, x_sum, x_shared).index(x_dim)
        else:
            x_free = free_axes(aval_of(x).ndim, x_sum, x_shared)
            out = len(x_shared) + len(x_free) + free_axes(aval_of(y).ndim, y_sum, y_shared).index(y_dim)
        return dot_general_p(x, y, dimension_numbers=((x_sum, y_sum), (x_shared, y_shared)), **params), out

    def shown_params(self, params):
        summed, shared = params["dimension_numbers"]
        shown = {"dimension_numbers": (tuple(map(list, summed)), tuple(map(list, shared)))}
        return shown | {k: v for k, v in params.items() if k != "dimension_numbers" and v is not None}


dot_general_p = DotGeneral("dot_general")


def dot_general(
    lhs: Any, rhs: Any, dimension_numbers: Any, precision: Any = None, preferred_element_type: Any = None
) -> Any:
    """`dot_general_p` from sequences of axes and names (`precision` as in `as_precision`). Raises TypeError for dtypes,
    axes and sizes that do not fit, ValueError for an unknown precision."""
    (x_sum, y_sum), (x_shared, y_shared) = dimension_numbers
    numbers = (_ints(x_sum), _ints(y_sum)), (_ints(x_shared), _ints(y_shared))
    preferred = None if preferred_element_type is None else dtypes.canonicalize(preferred_element_type)
    return dot_general_p(
        lhs, rhs, dimension_numbers=numbers, precision=as_precision(precision), preferred_element_type=preferred
    )


def _ints(axes: Any) -> tuple[int, ...]:
    return tuple(int(a) for a in axes)


# Rules ---------------------------------------------------------------------------------------------------------------


def _check_axes(x: ShapedArray, y: ShapedArray, x_sum, y_sum, x_shared, y_shared) -> None:
    for aval, which, summed, shared in ((x, "first", x_sum, x_shared), (y, "second", y_sum, y_shared)):
        used = (*summed, *shared)
        if any(not 0 <= a < aval.ndim for a in used) or len(set(used)) != len(used):
            raise TypeError(
                f"dot_general of {x.short()} and {y.short()}: axes {used} do not name distinct axes of the "
                f"{which}, {aval.short()}"
            )
    for verb, x_axes, y_axes in (("sums over", x_sum, y_sum), ("pairs", x_shared, y_shared)):
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


def _without_transpose(ctx, value, summed, shared):
    """The operand of the transpose that made `value`, with the axes renamed; `value` itself if it was made otherwise, or
    if its free axes would come in another order."""
    owner = value.owner
    tuned = TRANSPOSED_OPERANDS.holds(ctx.module.platform)
    if not tuned or getattr(owner, "name", None) != "stablehlo.transpose":
        return value, summed, shared
    permutation = list(ctx.ir.DenseI64ArrayAttr(owner.attributes["permutation"]))
    if not _is_sorted(tuple(permutation[a] for a in free_axes(len(permutation), summed, shared))):
        return value, summed, shared
    return owner.operands[0], [permutation[a] for a in summed], [permutation[a] for a in shared]


def _by_algorithm(x, y, result, precision, params):
    """The product with both sides, and the sum, in the types of an algorithm."""
    left, right, total = computed_as(precision, aval_of(x).dtype, aval_of(y).dtype, result)
    product = dot_general_p(convert(x, left), convert(y, right), preferred_element_type=total, **params)
    return convert(product, result)


def _row_blocks(ctx, x, y, x_sum, y_sum):
    """In how many parts a vector times a matrix is summed."""
    if not ROW_BLOCKS.holds(ctx.module.platform):
        return 1
    shapes = [tuple(ctx.ir.RankedTensorType(v.type).shape) for v in (x, y)]
    (x_shape, y_shape), sums = shapes, [list(x_sum), list(y_sum)]
    if sorted(map(len, shapes)) != [1, 2] or sums != [[0], [0]]:
        return 1
    rows, columns = max((x_shape, y_shape), key=len)
    least = ROW_BLOCKS.value
    if (
        rows < least["rows"]
        or rows * columns < least["numbers"]
        or ctx.avals_out[0].dtype.name not in ("float32", "float64")
    ):
        return 1
    return next((k for k in least["parts"] if rows % k == 0), 1)


def _in_blocks(ctx, value, blocks, dtype):
    """An operand with its first axis divided."""
    rows, *rest = ctx.ir.RankedTensorType(value.type).shape
    return ctx.reshape(value, ShapedArray((blocks, rows // blocks, *rest), dtype))


def _shifted(axes: tuple[int, ...], dim: int | None) -> tuple[int, ...]:
    """Where axes are once there is another one at `dim`."""
    return axes if dim is None else tuple(a + (a >= dim) for a in axes)


def _other_factor(ct, aval, y, summed, shared, y_part, precision):
    """The cotangent of the factor x (of `aval`) beside `y`, whose free axes are `y_part` in `ct`. The axes of the product
    come out in one of two orders; the one that needs no transpose is taken."""
    (x_sum, y_sum), (x_shared, y_shared) = summed, shared
    ct_shared = tuple(range(len(x_shared)))
    y_free = free_axes(aval_of(y).ndim, y_sum, y_shared)
    x_free = free_axes(aval.ndim, x_sum, x_shared)
    by_y = tuple(x for _, x in sorted(zip(y_sum, x_sum)))  # axes of y come out in the order they have in y
    ct, y = _one_dtype(ct, y, aval)
    ct_first = (*x_shared, *x_free, *by_y)
    y_first = (*x_shared, *by_y, *x_free)
    if _is_sorted(y_first) and not _is_sorted(ct_first):
        numbers = (y_free, y_part), (y_shared, ct_shared)
        out, order = dot_general_p(y, ct, dimension_numbers=numbers, **_params(precision, swap=True)), y_first
    else:
        numbers = (y_part, y_free), (ct_shared, y_shared)
        out, order = dot_general_p(ct, y, dimension_numbers=numbers, **_params(precision)), ct_first
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
