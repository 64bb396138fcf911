"""linear_transpose: the transpose of a linear function, without a point to differentiate at."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any

from .. import tree
from ..backend.stages import ShapeDtypeStruct
from ..control.bodies import check_leaves, name_of
from ..control.transposing import LinearFunction
from ..core import dtypes
from ..core.avals import aval_of
from ..ops.linear import convert
from ._flat import as_values, check_callable
from .linear_maps import refuse_reduce_axes


if TYPE_CHECKING:
    from ..typing import PyTree


def linear_transpose(
    fun: Callable[..., PyTree], *primals: PyTree, reduce_axes: Sequence[Hashable] = ()
) -> Callable[[PyTree], tuple[PyTree, ...]]:
    """The transpose of `fun`, which is linear in all its arguments: a function from cotangents of its result to a tuple
    of cotangents of its arguments.

    `primals` say what the arguments are like (arrays, or ShapeDtypeStructs: the values are not read). Complex functions
    are transposed without conjugation. Raises TypeError, naming the line, if `fun` is not linear, or if arguments and
    results are neither all floats or complex numbers nor all integers; the transpose raises TypeError for cotangents
    that do not fit the result. Of x + 1, which is affine, it is the transpose of x.

    >>> jx.linear_transpose(lambda x: 3 * x, 1.0)(2.0)
    (Array(6., dtype=float32, weak_type=True),)
    """
    refuse_reduce_axes(reduce_axes, "linear_transpose")
    check_callable(fun, "linear_transpose")
    leaves, in_tree = tree.flatten(tree.map(_described, primals))
    linear = LinearFunction(
        fun, in_tree, check_leaves(leaves, primals, "linear_transpose was called with, at arguments")
    )

    def transposed(cotangent: Any) -> tuple:
        cts, ct_tree = tree.flatten(cotangent)
        if ct_tree != linear.out_tree:
            raise TypeError(
                f"the cotangent has structure {ct_tree}, the result of {name_of(fun)} {linear.out_tree}; they must agree"
            )
        given = [_fitting(ct, aval, name_of(fun)) for ct, aval in zip(as_values(cts), linear.closed.out_avals)]
        return in_tree.unflatten(linear.transpose(given))

    return transposed


def _described(x: Any) -> Any:
    """What has a shape and a dtype and is no array, as ShapeDtypeStruct."""
    return x if hasattr(x, "aval") or not (hasattr(x, "shape") and hasattr(x, "dtype")) else ShapeDtypeStruct.like(x)


def _fitting(ct: Any, wanted: Any, name: str) -> Any:
    aval = aval_of(ct)
    alike = dtypes.is_inexact(aval.dtype) and dtypes.is_complex(aval.dtype) == dtypes.is_complex(wanted.dtype)
    fits = aval.dtype == wanted.dtype or (aval.weak_type and alike)
    if aval.shape != wanted.shape or not fits:
        raise TypeError(f"the result of {name} is {wanted.short()} and its cotangent {aval.short()}; they must agree")
    return ct if aval.dtype == wanted.dtype else convert(ct, wanted.dtype)
