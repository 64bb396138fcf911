"""Products of sparse arrays, over axes that are contracted and axes of a batch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import lax, numpy as jnp
from ...api import vmap
from ...core.annotations import Array, ArrayLike, DotDimensionNumbers, DTypeLike, PartitionSpec, PrecisionLike, Sharding
from .arrays import BCOO
from .conversion import beside, columns, gather, outside_of, over_batch, scatter, sparse_shape
from .structure import summed


__all__ = ["bcoo_dot_general", "bcoo_dot_general_sampled"]


def bcoo_dot_general(
    lhs: BCOO | ArrayLike, rhs: BCOO | ArrayLike, *, dimension_numbers: DotDimensionNumbers, precision: PrecisionLike = None, preferred_element_type: DTypeLike | None = None,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> BCOO | Array:  # fmt: skip
    """`lax.dot_general` where one operand or both are BCOO: dense, unless both are, then sparse.

    The axes of `dimension_numbers`' batch must be axes of the sparse array's batch, else NotImplementedError is raised; TypeError for
    sizes that differ.
    """
    left: Any = lhs
    right: Any = rhs
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = (
        tuple([[int(i) for i in side] for side in pair]) for pair in dimension_numbers
    )
    for i, j in (*zip(lhs_contract, rhs_contract), *zip(lhs_batch, rhs_batch)):
        if left.shape[i] != right.shape[j]:
            raise TypeError(
                f"bcoo_dot_general of shapes {left.shape} and {right.shape}: axes {i} and {j} meet, whose sizes differ"
            )
    dtype = preferred_element_type or jnp.result_type(left, right)
    if isinstance(left, BCOO) and isinstance(right, BCOO):
        return _sparse(left.astype(dtype), right.astype(dtype), lhs_contract, rhs_contract, lhs_batch, rhs_batch)
    if isinstance(left, BCOO):
        return _dense(left.astype(dtype), jnp.asarray(right, dtype), lhs_contract, rhs_contract, lhs_batch, rhs_batch)
    out = _dense(right.astype(dtype), jnp.asarray(left, dtype), rhs_contract, lhs_contract, rhs_batch, lhs_batch)
    b, free = len(lhs_batch), right.ndim - len(rhs_batch) - len(rhs_contract)
    return jnp.moveaxis(out, range(b, b + free), range(out.ndim - free, out.ndim))


def _dense(mat: BCOO, dense: Any, own: list[int], others: list[int], batch: list[int], others_batch: list[int]) -> Any:
    """[*batch, *free axes of mat, *free axes of dense]: the axes of mat's own batch are mapped over, the first first."""
    if not mat.n_batch:
        if batch:
            raise NotImplementedError(f"bcoo_dot_general: an axis of the batch is sparse in {mat!r}; use update_layout")
        return _contracted(mat, dense, own, others)
    shape, full = mat.shape, (mat.shape[0],)
    data, indices = (jnp.broadcast_to(x, full + x.shape[1:]) for x in (mat.data, mat.indices))

    def rest(axes: list[int], gone: int) -> list[int]:
        return [a - (a > gone) for a in axes if a != gone]

    def inner(data: Any, indices: Any, dense: Any) -> Any:
        return _dense(BCOO((data, indices), shape=shape[1:]), dense, *axes)

    other = others[own.index(0)] if 0 in own else others_batch[batch.index(0)] if 0 in batch else None
    gone = dense.ndim if other is None else other
    axes = rest(own, 0), rest(others, gone), rest(batch, 0), rest(others_batch, gone)
    place = batch.index(0) if 0 in batch else 0 if 0 in own else len(batch)
    out = vmap(inner, in_axes=(0, 0, other), out_axes=place)(data, indices, dense)
    return out.sum(0) if 0 in own else out


def _contracted(mat: BCOO, dense: Any, own: list[int], others: list[int]) -> Any:
    """Without a batch: for each element the part of the dense operand at its place, summed where it goes."""
    s = mat.n_sparse
    pairs = sorted(zip(own, others))
    free = [i for i in range(s) if i not in own]
    rest = [j for j in range(dense.ndim) if j not in others]
    met = [i for i, _ in pairs if i < s]
    turned = dense.transpose([*[j for _, j in pairs], *rest])
    parts = gather(mat.indices[:, np.array(met, int)], turned)  # [nse, *contracted dense axes, *rest]
    dense_met = [i - s + 1 for i, _ in pairs if i >= s]
    numbers = ((dense_met, list(range(1, 1 + len(dense_met)))), ([0], [0]))
    products = lax.dot_general(mat.data, parts, numbers)  # [nse, *free dense axes, *rest]
    # An element outside along an axis that is contracted met zeros, and along a free one it is dropped.
    return scatter(mat.indices[:, np.array(free, int)], products, tuple([mat.shape[i] for i in free]))


def _sparse(x: BCOO, y: BCOO, own: list[int], others: list[int], batch: list[int], others_batch: list[int]) -> BCOO:
    b = len(batch)
    if x.n_dense or y.n_dense or not (batch == others_batch == list(range(b))) or not (x.n_batch == y.n_batch == b):
        raise NotImplementedError(
            f"bcoo_dot_general of {x!r} and {y!r}: both must have the product's axes of the batch in front and no others, and "
            "no dense axes; use update_layout"
        )
    mine = [i for i in range(b, x.ndim) if i not in own]
    theirs = [j for j in range(b, y.ndim) if j not in others]
    shape = [*x.shape[:b], *[x.shape[i] for i in mine], *[y.shape[j] for j in theirs]]
    out = shape[b:]

    def take(indices: Any, axes: list[int]) -> Any:
        return indices[:, np.array([a - b for a in axes], int)]

    def product(xd: Any, xi: Any, yd: Any, yi: Any) -> tuple[Any, Any]:
        inside = ~outside_of(xi, sparse_shape(x))[:, None] & ~outside_of(yi, sparse_shape(y))[None]
        meet = inside & (take(xi, own)[:, None] == take(yi, others)[None]).all(-1)
        data = jnp.where(meet, xd[:, None] * yd[None], jnp.zeros((), xd.dtype))
        left = jnp.broadcast_to(take(xi, mine)[:, None], (*meet.shape, len(mine)))
        right = jnp.broadcast_to(take(yi, theirs)[None], (*meet.shape, len(theirs)))
        places = jnp.where(meet[..., None], jnp.concatenate([left, right.astype(xi.dtype)], -1), beside(left, out))
        return data.reshape(-1), places.reshape(math.prod(places.shape[:-1]), len(out))

    found = over_batch(product, b)(x.data, x.indices, y.data, y.indices)
    return summed(BCOO(found, shape=shape), min(x.nse * y.nse, math.prod(shape[b:])), False)


def bcoo_dot_general_sampled(
    A: ArrayLike, B: ArrayLike, indices: ArrayLike, *, dimension_numbers: DotDimensionNumbers
) -> Array:
    """The elements at places `indices` [*batch, nse, n] of `lax.dot_general(A, B)`: the `data` of a BCOO."""
    full = lax.dot_general(jnp.asarray(A), jnp.asarray(B), dimension_numbers)
    indices = jnp.asarray(indices)
    return over_batch(lambda i, x: x.at[columns(i)].get(mode="fill", fill_value=0), indices.ndim - 2)(indices, full)
