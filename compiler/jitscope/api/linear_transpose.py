"""linear_transpose: the transpose of a linear function, without a point to differentiate at."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from .. import tree
from ..backend.stages import ShapeDtypeStruct
from ..control.bodies import check_leaves
from ..control.transposing import LinearFunction
from ..core import dtypes
from ..core.annotations import PyTree
from ..core.avals import aval_of
from ..ops.linear import convert
from ._flat import as_values, check_callable
from .linear_maps import refuse_reduce_axes


def linear_transpose(fun: Callable[..., PyTree], *primals: PyTree, reduce_axes: Sequence[Hashable] = ()) -> Transpose:
    """The transpose of `fun`, which is linear in all its arguments: a function from cotangents of its result to a tuple
    of cotangents of its arguments, and a pytree of what `fun` captured.

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

    captured, linear.closed = linear.closed.consts, linear.closed.replace(consts=())  # which may be another trace's
    return Transpose(linear, captured)


class Transpose:
    """From a cotangent of a linear function's result (its structure, shapes and dtypes) to a tuple of cotangents of its arguments.

    A pytree, whose leaves are the values that the function captured: compiled functions may take and give it.
    """

    __slots__ = ("captured", "linear")

    def __init__(self, linear: LinearFunction, captured: Sequence[Any]):
        self.linear, self.captured = linear, captured

    def __call__(self, cotangent: PyTree) -> tuple[PyTree, ...]:
        linear = self.linear
        cts, ct_tree = tree.flatten(cotangent)
        if ct_tree != linear.out_tree:
            raise TypeError(
                f"the cotangent has structure {ct_tree}, the result of {linear.name} {linear.out_tree}; they must agree"
            )
        given = [_fitting(ct, aval, linear.name) for ct, aval in zip(as_values(cts), linear.closed.out_avals)]
        return linear.in_tree.unflatten(linear.transpose(given, self.captured))

    def __repr__(self) -> str:
        return f"<the transpose of {self.linear.name}>"


tree.register_pytree_node(Transpose, lambda f: (f.captured, f.linear), Transpose)


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
