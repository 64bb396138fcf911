"""Products and sums of BCOO arrays, element by element."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import numpy as jnp
from ...core.annotations import Array, ArrayLike
from .arrays import BCOO
from .conversion import bcoo_todense, beside, gather, only, outside_of, over_batch, repeated, sparse_shape
from .structure import bcoo_broadcast_in_dim, bcoo_update_layout


__all__ = ["bcoo_multiply_dense", "bcoo_multiply_sparse"]


def bcoo_multiply_dense(sp_mat: BCOO, v: ArrayLike) -> Array:
    """The elements of the product with an array that broadcasts to its shape, at the same places: the `data` of the product."""
    v = jnp.asarray(v)
    if v.ndim == 0 or v.size == 1:
        return sp_mat.data * v.reshape(())
    dense = jnp.broadcast_to(v, sp_mat.shape)
    return sp_mat.data * over_batch(gather, sp_mat.n_batch)(sp_mat.indices, dense)


def bcoo_multiply_sparse(lhs: BCOO, rhs: BCOO) -> BCOO:
    """The product of two arrays of one shape and layout. It keeps nse · nse elements, or as many as there are with the one that has
    different places; ValueError for other shapes, NotImplementedError for other layouts."""
    if lhs.shape != rhs.shape:
        raise ValueError(f"bcoo_multiply_sparse: shapes {lhs.shape} and {rhs.shape} differ")
    if (lhs.n_batch, lhs.n_dense) != (rhs.n_batch, rhs.n_dense):
        raise NotImplementedError(
            f"bcoo_multiply_sparse: {lhs!r} and {rhs!r} differ in layout; use update_layout first"
        )
    own = sparse_shape(lhs)

    def product(x: Any, xs: Any, y: Any, ys: Any) -> tuple[Any, Any]:
        here = (xs[:, None] == ys[None]).all(-1) & ~outside_of(xs, own)[:, None]
        data = x[:, None] * y[None]
        places = jnp.where(here[..., None], xs[:, None], beside(xs[None], own))
        return only(data, here).reshape(-1, *data.shape[2:]), places.reshape(math.prod(places.shape[:-1]), len(own))

    out = over_batch(product, lhs.n_batch)(lhs.data, lhs.indices, rhs.data, rhs.indices)
    return BCOO(out, shape=lhs.shape)


def add(x: Any, y: Any, sign: int = 1) -> Any:
    """The sum of two arrays, one of them sparse at least: dense where one is."""
    dtype = jnp.result_type(x, y)
    if not isinstance(x, BCOO) or not isinstance(y, BCOO):
        mat, dense = (x, y) if isinstance(x, BCOO) else (y, x)
        dense = jnp.asarray(dense)
        if sign < 0:
            raise NotImplementedError("the difference of a sparse and a dense array; use todense()")
        if np.broadcast_shapes(mat.shape, dense.shape) != dense.shape:
            raise NotImplementedError(
                f"the sum of {mat!r} and a dense array of shape {dense.shape} would be a dense array of shape "
                f"{np.broadcast_shapes(mat.shape, dense.shape)}; use todense() if that is meant"
            )
        return bcoo_todense(mat).astype(dtype) + dense
    x, y = x.astype(dtype), y.astype(dtype)
    shape = np.broadcast_shapes(x.shape, y.shape)
    x, y = (_wide(m, shape) for m in (x, y))
    y = y if sign > 0 else y._like(-y.data)
    return _joined(x, y)


def _wide(mat: BCOO, shape: tuple[int, ...]) -> BCOO:
    if mat.shape == shape:
        return mat
    at = range(len(shape) - mat.ndim, len(shape))
    wide = bcoo_broadcast_in_dim(mat, shape=shape, broadcast_dimensions=at)
    return bcoo_update_layout(wide, n_batch=mat.n_batch)


def _joined(x: BCOO, y: BCOO) -> BCOO:
    """The elements of both."""
    if (x.n_batch, x.n_dense) != (y.n_batch, y.n_dense):
        raise NotImplementedError(f"the sum of {x!r} and {y!r}, which differ in layout; use update_layout first")
    return BCOO([jnp.concatenate(part, x.n_batch) for part in zip(repeated(x), repeated(y))], shape=x.shape)
