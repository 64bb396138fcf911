"""BCOO arrays under other shapes: axes moved, joined, cut and summed; places sorted and made different."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import lax, numpy as jnp
from .arrays import BCOO, SparseEfficiencyError, SparseEfficiencyWarning
from .conversion import beside, lies_outside, only, outside_of, over_batch, repeated, scatter, sparse_shape


__all__ = ["bcoo_broadcast_in_dim", "bcoo_concatenate", "bcoo_dynamic_slice", "bcoo_reduce_sum", "bcoo_reshape", "bcoo_rev",
           "bcoo_slice", "bcoo_sort_indices", "bcoo_squeeze", "bcoo_sum_duplicates", "bcoo_transpose",
           "bcoo_update_layout"]  # fmt: skip


def kinds_of(mat: BCOO, axes: Sequence[int]) -> tuple[list[int], list[int], list[int]]:
    """Which of some axes are of the batch, sparse, and dense, each counted from the first of its kind."""
    b, s = mat.n_batch, mat.n_batch + mat.n_sparse
    axes = [int(a) + mat.ndim * (a < 0) for a in axes]
    return [a for a in axes if a < b], [a - b for a in axes if b <= a < s], [a - s for a in axes if a >= s]


def bcoo_transpose(mat: BCOO, *, permutation: Sequence[int]) -> BCOO:
    """With axes in another order. Raises ValueError for what is no permutation, NotImplementedError where axes of the batch,
    sparse and dense ones would mix."""
    permutation = [int(p) for p in permutation]
    if sorted(permutation) != list(range(mat.ndim)):
        raise ValueError(f"bcoo_transpose: {tuple(permutation)} is no order of {mat.ndim} axes")
    batch, sparse, dense = kinds_of(mat, permutation)
    if permutation != [*batch, *[a + mat.n_batch for a in sparse], *[a + mat.n_batch + mat.n_sparse for a in dense]]:
        raise NotImplementedError(
            f"bcoo_transpose: order {tuple(permutation)} mixes the {mat.n_batch} axes of the batch, {mat.n_sparse} sparse and "
            f"{mat.n_dense} dense ones; use update_layout first"
        )
    b = mat.n_batch
    data = mat.data.transpose((*batch, b, *[a + b + 1 for a in dense]))
    indices = mat.indices.transpose((*batch, b, b + 1))[..., np.array(sparse, int)]
    shape = [mat.shape[p] for p in permutation]
    in_order = mat.indices_sorted and sparse == sorted(sparse)
    return BCOO((data, indices), shape=shape, indices_sorted=in_order, unique_indices=mat.unique_indices)


def _order(indices: Any) -> Any:
    return jnp.lexsort([indices[:, i] for i in reversed(range(indices.shape[1]))])


def bcoo_sort_indices(mat: BCOO) -> BCOO:
    """With places in order, the first axis first."""
    if not mat.n_sparse:
        return mat

    def ordered(data: Any, indices: Any) -> tuple[Any, Any]:
        order = _order(indices)
        return data[order], indices[order]

    data, indices = over_batch(ordered, mat.n_batch)(mat.data, mat.indices)
    return BCOO((data, indices), shape=mat.shape, indices_sorted=True, unique_indices=mat.unique_indices)


def bcoo_sum_duplicates(mat: BCOO, nse: int | None = None) -> BCOO:
    """With one element at each place, in order. `nse`: how many are kept in each example of a batch; None: as many as there
    are. Raises ValueError for None where the array is traced."""
    return summed(mat, nse, False)


def summed(mat: BCOO, nse: int | None, remove_zeros: bool) -> BCOO:
    """`bcoo_sum_duplicates`; with `remove_zeros` without places that have zeros alone."""
    own = sparse_shape(mat)

    def numbered(data: Any, indices: Any) -> tuple[Any, Any, Any, Any]:
        outside = outside_of(indices, own)
        if remove_zeros:
            outside |= (data == 0).all(tuple(range(1, data.ndim)))
        indices = jnp.where(outside[:, None], beside(indices, own), indices)
        order = _order(indices) if own else jnp.arange(indices.shape[0])
        indices, outside = indices[order], outside[order]
        new = (indices[1:] != indices[:-1]).any(-1)
        number = jnp.concatenate([jnp.zeros(min(1, indices.shape[0]), int), jnp.cumsum(new, dtype=int)])
        count = jnp.max(jnp.where(outside, 0, number + 1), initial=0)
        return data[order], indices, jnp.where(outside, indices.shape[0], number), count

    data, indices, number, count = over_batch(numbered, mat.n_batch)(mat.data, mat.indices)
    if nse is None:
        try:
            nse = int(count.max()) if count.size else 0
        except Exception as error:
            raise ValueError(
                "bcoo_sum_duplicates: how many places differ is not known while a function is traced; say how many to keep: nse=…"
            ) from error
    size = int(nse)

    def joined(data: Any, indices: Any, number: Any) -> tuple[Any, Any]:
        places = jnp.broadcast_to(beside(indices, own), (size, len(own)))
        return scatter(number[:, None], data, (size,)), places.at[number].set(indices, mode="drop")

    out = over_batch(joined, mat.n_batch)(data, indices, number)
    return BCOO(out, shape=mat.shape, indices_sorted=True, unique_indices=True)


def bcoo_reduce_sum(mat: BCOO, *, axes: Sequence[int]) -> BCOO:
    """The sum over some axes."""
    batch, sparse, dense = kinds_of(mat, axes)
    kept = [i for i in range(mat.n_sparse) if i not in sparse]
    data, indices, b = mat.data, mat.indices[..., np.array(kept, int)], mat.n_batch
    if sparse:  # what lies outside would be seen no longer
        inside = ~outside_of(mat.indices, sparse_shape(mat))
        data = only(jnp.broadcast_to(data, (*inside.shape, *data.shape[b + 1 :])), inside)
    data = data.sum(tuple([a + b + 1 for a in dense]), dtype=data.dtype)
    if batch:
        data, indices = (jnp.broadcast_to(x, (*mat.shape[:b], *x.shape[b:])) for x in (data, indices))
        rest = [a for a in range(b) if a not in batch]
        data = data.transpose((*rest, *batch, *range(b, data.ndim)))
        indices = indices.transpose((*rest, *batch, b, b + 1))
        r = len(rest)
        nse = math.prod(data.shape[r : b + 1])
        data = data.reshape(*data.shape[:r], nse, *data.shape[b + 1 :])
        indices = indices.reshape(*indices.shape[:r], nse, indices.shape[-1])
    gone = {a + mat.ndim * (a < 0) for a in axes}
    shape = [n for a, n in enumerate(mat.shape) if a not in gone]
    same = not (batch or sparse)
    return BCOO((data, indices), shape=shape, indices_sorted=same and mat.indices_sorted, unique_indices=same and mat.unique_indices)  # fmt: skip


def _fewer(mat: BCOO) -> BCOO:
    """Not more elements than there are places."""
    places = math.prod(sparse_shape(mat))
    return summed(mat, places, False) if mat.nse > places else mat


def bcoo_reshape(mat: BCOO, *, new_sizes: Sequence[int], dimensions: Any = None, sharding: Any = None) -> BCOO:
    """Under another shape of the same size. Axes of the batch and dense ones keep their sizes, else NotImplementedError is raised;
    ValueError for another size."""
    if dimensions is not None:
        mat = bcoo_transpose(mat, permutation=dimensions)
    sizes = tuple(map(int, new_sizes))
    if math.prod(sizes) != mat.size:
        raise ValueError(f"bcoo_reshape: {mat.size} elements do not fit shape {sizes}")
    b, d, own = mat.n_batch, mat.n_dense, sparse_shape(mat)
    to = sizes[b : len(sizes) - d]
    if sizes[:b] != mat.shape[:b] or sizes[len(sizes) - d :] != mat.shape[mat.ndim - d :]:
        raise NotImplementedError(
            f"bcoo_reshape: from {mat.shape} to {sizes} axes of the batch or dense ones would change; use update_layout first"
        )

    def moved(indices: Any) -> Any:
        flat = sum(
            [indices[:, i] * math.prod(own[i + 1 :]) for i in range(len(own))],
            jnp.zeros(indices.shape[0], indices.dtype),
        )
        outside = outside_of(indices, own)
        found = [flat // math.prod(to[i + 1 :]) % n for i, n in enumerate(to)]
        places = [jnp.where(outside, n, place) for n, place in zip(to, found)]
        return jnp.stack(places, -1).astype(indices.dtype) if to else jnp.zeros((indices.shape[0], 0), indices.dtype)

    indices = over_batch(moved, b)(mat.indices)
    return BCOO((mat.data, indices), shape=sizes, indices_sorted=mat.indices_sorted, unique_indices=mat.unique_indices)


def bcoo_squeeze(arr: BCOO, *, dimensions: Sequence[int]) -> BCOO:
    """Without some axes of size 1."""
    batch, sparse, dense = kinds_of(arr, dimensions)
    b = arr.n_batch
    data = jnp.squeeze(arr.data, (*batch, *[a + b + 1 for a in dense]))
    kept = [i for i in range(arr.n_sparse) if i not in sparse]
    # What lay outside along an axis that goes must stay outside, or be zero.
    lost = lies_outside(arr)
    out = beside(arr.indices, [sparse_shape(arr)[i] for i in kept])
    indices = jnp.where(lost[..., None], out, arr.indices[..., np.array(kept, int)])
    indices = jnp.squeeze(indices, tuple(batch))
    gone = {a + arr.ndim * (a < 0) for a in dimensions}
    shape = [n for a, n in enumerate(arr.shape) if a not in gone]
    if not kept:
        data = only(data, jnp.squeeze(~lost, tuple(batch)))
    return BCOO((data, indices), shape=shape, indices_sorted=arr.indices_sorted, unique_indices=arr.unique_indices)


def bcoo_slice(
    mat: BCOO, *, start_indices: Sequence[int], limit_indices: Sequence[int], strides: Sequence[int] | None = None
) -> BCOO:
    """From `start_indices` to `limit_indices` (excluded) along each axis, in steps of `strides`."""
    steps = [1] * mat.ndim if strides is None else [int(s) for s in strides]
    starts, limits = list(map(int, start_indices)), list(map(int, limit_indices))
    shape = [len(range(a, min(z, n), s)) for a, z, s, n in zip(starts, limits, steps, mat.shape)]
    return _cut(mat, starts, shape, steps)


def bcoo_dynamic_slice(mat: BCOO, start_indices: Sequence[Any], slice_sizes: Sequence[int]) -> BCOO:
    """`slice_sizes` elements along each axis, from starts that may be traced; those too near the end count from the end."""
    sizes = list(map(int, slice_sizes))
    starts = [
        jnp.clip(jnp.where(a < 0, a + n, a), 0, n - size)
        for a, n, size in zip(map(jnp.asarray, start_indices), mat.shape, sizes)
    ]
    return _cut(mat, starts, sizes, [1] * mat.ndim)


def _cut(mat: BCOO, starts: list[Any], shape: list[int], steps: list[int]) -> BCOO:
    b, s = mat.n_batch, mat.n_batch + mat.n_sparse

    def part(x: Any, axis: int, of: int) -> Any:
        if x.shape[axis] == 1 < mat.shape[of]:  # repeated over the batch
            return x
        return jnp.take(x, starts[of] + np.arange(shape[of]) * steps[of], axis)

    data, indices = mat.data, mat.indices
    for axis in range(b):
        data, indices = part(data, axis, axis), part(indices, axis, axis)
    for axis in range(s, mat.ndim):
        data = part(data, axis - s + b + 1, axis)
    sizes = beside(indices, shape[b:s])
    if any(not isinstance(a, int) for a in starts[b:s]) or any(
        (a, n, t) != (0, m, 1) for a, n, t, m in zip(starts[b:s], shape[b:s], steps[b:s], sparse_shape(mat))
    ):
        start = jnp.stack([jnp.asarray(a, indices.dtype) for a in starts[b:s]]).reshape(sizes.shape)
        step = beside(indices, steps[b:s])
        moved = (indices - start) // step
        inside = ((indices >= start) & ((indices - start) % step == 0) & (moved < sizes)).all(-1)
        indices = jnp.where(inside[..., None], moved, sizes)
        data = only(data, inside)
    return _fewer(BCOO((data, indices), shape=shape, unique_indices=mat.unique_indices))


def bcoo_rev(operand: BCOO, dimensions: Sequence[int]) -> BCOO:
    """With the order along some axes reversed."""
    batch, sparse, dense = kinds_of(operand, dimensions)
    b = operand.n_batch
    data = lax.rev(operand.data, [*[a for a in batch if operand.data.shape[a] > 1], *[a + b + 1 for a in dense]])
    indices = lax.rev(operand.indices, [a for a in batch if operand.indices.shape[a] > 1])
    sizes = beside(indices, sparse_shape(operand))
    turned = beside(indices, [i in sparse for i in range(operand.n_sparse)]).astype(bool)
    indices = jnp.where(turned & (indices < sizes), sizes - 1 - indices, indices)
    return BCOO((data, indices), shape=operand.shape, unique_indices=operand.unique_indices)


def bcoo_concatenate(operands: Sequence[BCOO], *, dimension: int) -> BCOO:
    """One after another along an axis, of the batch or sparse. Raises ValueError for shapes that do not fit, NotImplementedError
    for dense axes and for other numbers of axes in the batch."""
    first = operands[0]
    axis = dimension + first.ndim * (dimension < 0)
    if len({(m.n_batch, m.n_dense, *m.shape[:axis], *m.shape[axis + 1 :]) for m in operands}) != 1:
        raise ValueError(f"bcoo_concatenate: {', '.join(map(repr, operands))} do not fit along axis {axis}")
    batch, sparse, dense = kinds_of(first, [axis])
    shape = [*first.shape]
    shape[axis] = sum(m.shape[axis] for m in operands)
    b = first.n_batch
    if dense:
        raise NotImplementedError("bcoo_concatenate: along a dense axis")
    if batch:
        nse = max(m.nse for m in operands)
        every = [_padded(m, nse) for m in operands]
        data = jnp.concatenate([m.data for m in every], axis)
        return BCOO((data, jnp.concatenate([m.indices for m in every], axis)), shape=shape)
    before, parts = 0, []
    for m in operands:
        offset = beside(m.indices, [before if [i] == sparse else 0 for i in range(m.n_sparse)])
        sizes = beside(m.indices, shape[b : b + m.n_sparse])
        moved = jnp.where(lies_outside(m)[..., None], sizes, m.indices + offset)
        parts.append(repeated(BCOO((m.data, moved), shape=m.shape)))
        before += m.shape[axis]
    return BCOO([jnp.concatenate(part, b) for part in zip(*parts)], shape=shape)


def _padded(mat: BCOO, nse: int) -> BCOO:
    """With so many elements, zeros outside of the shape, and nothing repeated over the batch."""
    b = mat.n_batch
    new = (*mat.shape[:b], nse - mat.nse)
    data, indices = repeated(mat)
    nowhere = jnp.broadcast_to(np.array(sparse_shape(mat), indices.dtype), (*new, mat.n_sparse))
    zeros = jnp.zeros((*new, *data.shape[b + 1 :]), data.dtype)
    return BCOO((jnp.concatenate([data, zeros], b), jnp.concatenate([indices, nowhere], b)), shape=mat.shape)


def bcoo_broadcast_in_dim(
    mat: BCOO, *, shape: Sequence[int], broadcast_dimensions: Sequence[int], sharding: Any = None
) -> BCOO:
    """With its axis i at broadcast_dimensions[i] of `shape`; axes of size 1 are repeated. New axes in front belong to the
    batch, those behind dense axes are dense, all others are sparse, or of the batch where it has no sparse ones."""
    shape, at = tuple(map(int, shape)), [int(a) for a in broadcast_dimensions]
    b, d = mat.n_batch, mat.n_dense
    first_dense = at[mat.ndim - d] if d else len(shape)
    first_sparse = at[b] if mat.n_sparse else first_dense
    data_at = [*at[:b], first_sparse, *[a - first_dense + first_sparse + 1 for a in at[mat.ndim - d :]]]
    old = mat.data.shape
    sizes = [1] * (first_sparse + 1 + len(shape) - first_dense)
    for place, n in zip(data_at, old):
        sizes[place] = n
    for i, a in enumerate(range(first_dense, len(shape))):
        sizes[first_sparse + 1 + i] = shape[a]
    data = lax.broadcast_in_dim(mat.data, sizes, data_at)
    spread = [1] * first_sparse + [mat.nse, mat.n_sparse]
    for place, n in zip(at[:b], mat.indices.shape):
        spread[place] = n
    indices = lax.broadcast_in_dim(mat.indices, spread, [*at[:b], first_sparse, first_sparse + 1])
    own, sparse_at = sparse_shape(mat), at[b : mat.ndim - d]
    outside = outside_of(indices, own)
    new = jnp.zeros_like(outside, indices.dtype)
    parts = [indices[..., sparse_at.index(a)] if a in sparse_at else new for a in range(first_sparse, first_dense)]
    for i, a in enumerate(range(first_sparse, first_dense)):
        n, had = shape[a], own[sparse_at.index(a)] if a in sparse_at else 1
        if had < n:  # every element stands at all places of this axis
            parts = [jnp.repeat(p, n, first_sparse) for p in parts]
            data, outside = jnp.repeat(data, n, first_sparse), jnp.repeat(outside, n, first_sparse)
            places = jnp.tile(jnp.arange(n, dtype=indices.dtype), outside.shape[-1] // n)
            parts[i] = jnp.broadcast_to(places, outside.shape)
    places = [jnp.where(outside, n, p) for n, p in zip(shape[first_sparse:first_dense], parts)]
    indices = jnp.stack(places, -1) if places else jnp.zeros((*outside.shape, 0), indices.dtype)
    return BCOO((data, indices), shape=shape)


def bcoo_update_layout(
    mat: BCOO, *, n_batch: int | None = None, n_dense: int | None = None, on_inefficient: str | None = "error"
) -> BCOO:
    """The same array with other numbers of axes in the batch and dense ones.

    Where more of them make more elements to keep, `on_inefficient` says what happens: SparseEfficiencyError ("error"), a
    SparseEfficiencyWarning ("warn") or nothing (None). Raises ValueError for more axes than there are.
    """
    b, d = mat.n_batch if n_batch is None else n_batch, mat.n_dense if n_dense is None else n_dense
    if b < 0 or d < 0 or b + d > mat.ndim:
        raise ValueError(f"bcoo_update_layout: an array of {mat.ndim} axes has no {b} for a batch and {d} dense ones")
    if (b, d) == (mat.n_batch, mat.n_dense):
        return mat
    if (b > mat.n_batch or d > mat.n_dense) and on_inefficient is not None:
        what = f"of {mat!r}, n_batch={b} and n_dense={d} keep more than need be; on_inefficient=None allows it"
        if on_inefficient == "error":
            raise SparseEfficiencyError(what)
        import warnings

        warnings.warn(what, SparseEfficiencyWarning, stacklevel=3)
    while mat.n_batch > b:
        mat = _less_batch(mat)
    while mat.n_dense > d:
        mat = _less_dense(mat)
    while mat.n_batch < b:
        mat = _more_batch(mat)
    return _more_dense(mat, d) if mat.n_dense < d else mat


def _less_batch(mat: BCOO) -> BCOO:
    """The last axis of the batch becomes sparse."""
    mat, b = BCOO(repeated(mat), shape=mat.shape), mat.n_batch
    n = mat.shape[b - 1]
    row = jnp.broadcast_to(jnp.arange(n, dtype=mat.indices.dtype)[:, None, None], (*mat.indices.shape[:-1], 1))
    indices = jnp.concatenate([jnp.where(lies_outside(mat)[..., None], n, row), mat.indices], -1)
    data = mat.data.reshape(*mat.data.shape[: b - 1], -1, *mat.data.shape[b + 1 :])
    return BCOO((data, indices.reshape(*indices.shape[: b - 1], -1, indices.shape[-1])), shape=mat.shape)


def _less_dense(mat: BCOO) -> BCOO:
    """The first dense axis becomes sparse."""
    b, n = mat.n_batch, mat.data.shape[mat.n_batch + 1]
    indices = jnp.repeat(mat.indices, n, b)
    column = jnp.broadcast_to(jnp.tile(jnp.arange(n, dtype=indices.dtype), mat.nse)[:, None], (*indices.shape[:-1], 1))
    lost = jnp.repeat(lies_outside(mat), n, b)[..., None]
    indices = jnp.concatenate([indices, jnp.where(lost, n, column)], -1)
    data = mat.data.reshape(*mat.data.shape[:b], -1, *mat.data.shape[b + 2 :])
    return BCOO((data, indices), shape=mat.shape)


def _more_batch(mat: BCOO) -> BCOO:
    """The first sparse axis becomes one of the batch: each row keeps as many elements as all had."""
    b, own = mat.n_batch, sparse_shape(mat)
    n = own[0]

    def rows(data: Any, indices: Any) -> tuple[Any, Any]:
        here = indices[None, :, 0] == jnp.arange(n, dtype=indices.dtype)[:, None]
        rest = beside(indices[None], own[1:])
        return only(jnp.broadcast_to(data, (n, *data.shape)), here), jnp.where(
            here[..., None], indices[None, :, 1:], rest
        )

    return BCOO(over_batch(rows, b)(mat.data, mat.indices), shape=mat.shape)


def _more_dense(mat: BCOO, n_dense: int) -> BCOO:
    """The last sparse axes become dense: each element becomes the array of those that share its first places."""
    axes = mat.n_sparse - (n_dense - mat.n_dense)
    own = sparse_shape(mat)

    def spread(data: Any, indices: Any) -> Any:
        one = lax.map(lambda x: scatter(x[1][None], x[0][None], own[axes:]), (data, indices[:, axes:]))
        outside = outside_of(indices, own)
        return one, jnp.where(outside[:, None], beside(indices, own[:axes]), indices[:, :axes])

    return BCOO(over_batch(spread, mat.n_batch)(mat.data, mat.indices), shape=mat.shape)
