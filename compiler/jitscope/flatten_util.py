"""A tree of arrays as one vector, under the name of `jax.flatten_util`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from . import tree
from .core import dtypes
from .core.annotations import Array, ArrayLike, PyTree
from .core.avals import ShapedArray, aval_of
from .numpy import array, concatenate, ravel
from .ops.linear import convert_element_type_p, reshape, slice_in_dim


def ravel_pytree(pytree: PyTree) -> tuple[Array, Callable[[ArrayLike], PyTree]]:
    """The leaves of a tree one after the other in a vector of their common dtype, and the function that takes it back.

    That function takes a vector of the same size and dtype and gives the tree, each leaf in its shape and dtype (of
    complex numbers, leaves that were real get the real part). A tree without leaves is a vector of size 0. Both are
    differentiable. Raises TypePromotionError for leaves without a common dtype; the function raises ValueError for another
    size, TypeError for another dtype.
    """
    leaves, treedef = tree.flatten(pytree)
    flat, unravel = _ravel(leaves)
    return flat, _Unravel(treedef, unravel)


def _ravel(leaves: Sequence[Any]) -> tuple[Any, _Layout]:
    if not leaves:
        return array([]), _Layout((), dtypes.default_float())
    avals = tuple(aval_of(leaf) for leaf in leaves)
    dtype = dtypes.promote(*[(a.dtype, a.weak_type) for a in avals])[0]
    if any(a.dtype != dtype for a in avals):
        leaves = [convert_element_type_p(leaf, new_dtype=dtype, weak_type=False) for leaf in leaves]
    return concatenate([ravel(x) for x in leaves]), _Layout(avals, dtype)


class _Layout:
    """How the leaves lie in the vector. Equal for equal avals, so that a program that takes one is not traced again."""

    def __init__(self, avals: tuple[ShapedArray, ...], dtype: Any):
        self.avals, self.dtype = avals, dtype
        self.size = sum(a.size for a in avals)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Layout) and (self.avals, self.dtype) == (other.avals, other.dtype)

    def __hash__(self) -> int:
        return hash((self.avals, self.dtype))

    def split(self, flat: Any) -> list[Any]:
        own = aval_of(flat)
        if own.shape != (self.size,):
            raise ValueError(f"unravel takes a vector of size {self.size}, as ravel_pytree gave; it got {own.short()}")
        one_dtype = all(aval.dtype == self.dtype for aval in self.avals)
        if own.dtype != self.dtype and not one_dtype:
            raise TypeError(
                f"unravel takes {self.dtype.name}, as ravel_pytree gave; it got {own.short()}: use "
                f".astype({self.dtype.name!r})"
            )
        parts, start = [], 0
        for aval in self.avals:
            part = reshape(slice_in_dim(flat, start, start + aval.size), aval.shape)
            parts.append(part if one_dtype else _back(part, aval))
            start += aval.size
        return parts


def _back(part: Any, aval: ShapedArray) -> Any:
    if aval_of(part).dtype == aval.dtype:
        return part
    return convert_element_type_p(part, new_dtype=aval.dtype, weak_type=False)


@tree.register_static
class _Unravel:
    """From the vector back to the tree. Equal for equal trees, so that it may be a static argument; as any other argument, it
    has no leaves."""

    def __init__(self, treedef: Any, layout: _Layout):
        self.treedef, self.layout = treedef, layout

    def __call__(self, flat: Any) -> Any:
        return self.treedef.unflatten(self.layout.split(flat))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Unravel) and (self.treedef, self.layout) == (other.treedef, other.layout)

    def __hash__(self) -> int:
        return hash((self.treedef, self.layout))

    def __repr__(self) -> str:
        return f"<unravel {self.layout.dtype.name}[{self.layout.size}] to {self.treedef}>"
