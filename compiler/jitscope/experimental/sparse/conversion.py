"""Sparse arrays from dense ones and back, and some that programs begin with."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import numpy as jnp, random
from ...api import vmap
from ...core.annotations import Array, ArrayLike, DTypeLike
from ...core.trace import Tracer
from ...ops.marks import name_p
from .arrays import BCOO, JAXSparse


__all__ = ["bcoo_extract", "bcoo_fromdense", "bcoo_todense", "empty", "eye", "random_bcoo", "todense"]


def over_batch(fun: Callable[..., Any], n_batch: int) -> Callable[..., Any]:
    """`fun` mapped over so many leading axes; those of size 1 are repeated."""

    def mapped(*args: Any) -> Any:
        batch = np.broadcast_shapes(*[x.shape[:n_batch] for x in args])
        given = [jnp.broadcast_to(x, (*batch, *x.shape[n_batch:])) for x in args]
        return functools.reduce(lambda f, _: vmap(f), range(n_batch), fun)(*given)

    return mapped if n_batch else fun


def columns(indices: Any) -> tuple:
    """Places [nse, n] as an index: a vector for each axis."""
    return tuple([indices[:, i] for i in range(indices.shape[1])])


def scatter(indices: Any, data: Any, shape: tuple[int, ...]) -> Any:
    """Elements [nse, ...] summed at their places in an array of zeros."""
    zeros = jnp.zeros((*shape, *data.shape[1:]), data.dtype)
    if not shape:
        kept = jnp.sum(data, 0, dtype=data.dtype)
        return zeros + kept
    return zeros.at[columns(indices)].add(data, mode="drop")


def gather(indices: Any, dense: Any) -> Any:
    """The elements of an array at places [nse, n]; 0 for those outside."""
    if not indices.shape[1]:
        return jnp.broadcast_to(dense, (indices.shape[0], *dense.shape))
    return dense.at[columns(indices)].get(mode="fill", fill_value=0)


def sparse_shape(mat: BCOO) -> tuple[int, ...]:
    """The sizes of the sparse axes."""
    return mat.shape[mat.n_batch : mat.n_batch + mat.n_sparse]


def lies_outside(mat: BCOO) -> Any:
    """Which elements lie outside of the shape, and count as none [*batch, nse]."""
    return outside_of(mat.indices, sparse_shape(mat))


def outside_of(indices: Any, sizes: Sequence[int]) -> Any:
    """Which places [..., n] lie outside of these sizes."""
    return (indices >= beside(indices, sizes)).any(-1)


def beside(indices: Any, sizes: Sequence[int]) -> np.ndarray:
    """Numbers, one for each sparse axis, as an array that places [..., n] are compared with."""
    return np.array(sizes, indices.dtype).reshape(*[1] * (indices.ndim - 1), len(sizes))


def only(data: Any, where: Any) -> Any:
    """The elements where a mask of their leading axes holds, else zeros."""
    return jnp.where(jnp.expand_dims(where, tuple(range(where.ndim, data.ndim))), data, jnp.zeros((), data.dtype))


def repeated(mat: BCOO) -> tuple[Any, Any]:
    """Its data and indices, all that is kept once for a whole batch repeated over it."""
    batch = mat.shape[: mat.n_batch]
    data, indices = (jnp.broadcast_to(x, (*batch, *x.shape[len(batch) :])) for x in (mat.data, mat.indices))
    return data, indices


def bcoo_todense(mat: BCOO) -> Array:
    """The dense array of a BCOO; elements at one place are summed."""
    shape = sparse_shape(mat)
    dense = over_batch(lambda data, indices: scatter(indices, data, shape), mat.n_batch)(mat.data, mat.indices)
    return jnp.broadcast_to(dense, mat.shape)


def bcoo_fromdense(
    mat: ArrayLike, *, nse: int | None = None, n_batch: int = 0, n_dense: int = 0, index_dtype: DTypeLike = jnp.int32
) -> BCOO:
    """The elements of a dense array that are not zero, in order of their places.

    `nse` says how many are kept, in each example of a batch (None: as many as there are; then `mat` must not be traced). Where
    there are fewer, zeros follow, at places outside of the shape. Raises ValueError for numbers of axes that `mat` does not have.
    """
    mat = jnp.asarray(mat)
    n_sparse = mat.ndim - n_batch - n_dense
    if min(n_batch, n_dense, n_sparse) < 0:
        raise ValueError(
            f"bcoo_fromdense: an array of {mat.ndim} axes has no {n_batch} for a batch and {n_dense} dense ones"
        )
    present = (mat != 0).any(tuple(range(n_batch + n_sparse, mat.ndim)))
    shape = present.shape[n_batch:]
    if nse is None:
        count = present.sum(tuple(range(n_batch, present.ndim)))
        nse = int(count.max()) if count.size else 0
    size = int(nse)

    def places(present: Any) -> Any:
        if not shape:
            return jnp.zeros((size, 0), index_dtype)
        return jnp.stack(jnp.nonzero(present, size=size, fill_value=shape), -1).astype(index_dtype)

    indices = over_batch(places, n_batch)(present)
    data = over_batch(gather, n_batch)(indices, mat)
    return BCOO((data, indices), shape=mat.shape, indices_sorted=True, unique_indices=True)


def bcoo_extract(sparr: BCOO, arr: ArrayLike, *, assume_unique: bool | None = None) -> BCOO:
    """The elements of a dense array at the places of a sparse one of its shape. Where a place stands several times, the first
    has the element, unless places are said to differ. Raises ValueError for another shape."""
    arr = jnp.asarray(arr)
    if arr.shape != sparr.shape:
        raise ValueError(f"bcoo_extract: an array of shape {arr.shape} at the places of one of shape {sparr.shape}")
    data = over_batch(gather, sparr.n_batch)(sparr.indices, arr)
    if not (sparr.unique_indices if assume_unique is None else assume_unique):
        first = over_batch(_is_first, sparr.n_batch)(sparr.indices)
        data = only(data, first)
    return sparr._like(data)


def _is_first(indices: Any) -> Any:
    same = (indices[:, None] == indices[None]).all(-1)
    return ~jnp.tril(same, -1).any(1)


def todense(arr: ArrayLike | JAXSparse) -> Array:
    """The dense array of a sparse one; a dense one as it is."""
    if isinstance(arr, JAXSparse):
        return arr.todense()
    return name_p(arr, name=MEANT_DENSE) if isinstance(arr, Tracer) else jnp.asarray(arr)


MEANT_DENSE = "dense"
"""What a value is called that `sparsify` is to make dense."""


def _kind(sparse_format: str) -> Any:
    from . import layouts

    kinds = {"bcoo": BCOO, "bcsr": layouts.BCSR, "coo": layouts.COO, "csr": layouts.CSR, "csc": layouts.CSC}
    if sparse_format not in kinds:
        raise ValueError(f"the layouts are {', '.join(kinds)}, not {sparse_format!r}")
    return kinds[sparse_format]


def empty(
    shape: Sequence[int],
    dtype: DTypeLike | None = None,
    index_dtype: DTypeLike = "int32",
    sparse_format: str = "bcoo",
    **kwds: Any,
) -> JAXSparse:
    """A sparse array of zeros that keeps no element. `sparse_format`: bcoo, bcsr, coo, csr or csc; for a BCOO, `n_batch`,
    `n_dense` and `nse` may be given. Raises ValueError for another layout."""
    kind = _kind(sparse_format)
    shape, nse = tuple(shape), kwds.pop("nse", 0)
    if kind is not BCOO:
        return kind.fromdense(jnp.zeros(shape, dtype or float), nse=nse, index_dtype=index_dtype)
    n_batch, n_dense = kwds.pop("n_batch", 0), kwds.pop("n_dense", 0)
    n_sparse = len(shape) - n_batch - n_dense
    data = jnp.zeros((*shape[:n_batch], nse, *shape[n_batch + n_sparse :]), dtype or float)
    out = np.array(shape[n_batch : n_batch + n_sparse], index_dtype)
    places = jnp.broadcast_to(jnp.asarray(out), (*shape[:n_batch], nse, n_sparse))
    return BCOO((data, places), shape=shape, indices_sorted=True, unique_indices=True)


def eye(
    N: int, M: int | None = None, k: int = 0, dtype: DTypeLike | None = None, index_dtype: DTypeLike = "int32",
    sparse_format: str = "bcoo", **kwds: Any,
) -> JAXSparse:  # fmt: skip
    """A matrix [N, M] with ones on a diagonal. Arguments as in `jnp.eye`, layouts as in `empty`."""
    kind = _kind(sparse_format)
    M = N if M is None else M
    count = max(0, min(N + min(k, 0), M - max(k, 0)))
    if kind is not BCOO and not kwds:
        return kind.from_bcoo(eye(N, M, k, dtype, index_dtype))
    if kwds:
        return kind.fromdense(jnp.eye(N, M, k, dtype), nse=kwds.pop("nse", None), index_dtype=index_dtype, **kwds)
    rows = jnp.arange(count, dtype=index_dtype)
    places = jnp.stack([rows - min(k, 0), rows + max(k, 0)], -1)
    return BCOO((jnp.ones(count, dtype or float), places), shape=(N, M), indices_sorted=True, unique_indices=True)


def random_bcoo(
    key: ArrayLike, shape: Sequence[int], *, dtype: DTypeLike = float, indices_dtype: DTypeLike | None = None, nse: float = 0.2, n_batch: int = 0,
    n_dense: int = 0, unique_indices: bool = True, sorted_indices: bool = False,
    generator: Callable[..., Any] = random.uniform, **kwds: Any,
) -> BCOO:  # fmt: skip
    """A BCOO with random elements at random places. `nse`: how many, or, below 1, which share of all. `generator(key, shape,
    dtype, **kwds)` draws the elements. Raises ValueError for a negative `nse`, and one above the number of places where they are to
    differ."""
    shape = tuple(map(int, shape))
    n_sparse = len(shape) - n_batch - n_dense
    if n_sparse < 0 or min(n_batch, n_dense) < 0:
        raise ValueError(f"random_bcoo: shape {shape} has no {n_batch} axes for a batch and {n_dense} dense ones")
    batch, sizes, dense = shape[:n_batch], shape[n_batch : n_batch + n_sparse], shape[n_batch + n_sparse :]
    total = math.prod(sizes)
    count = math.ceil(nse * total) if 0 <= nse < 1 else int(nse)
    if count < 0 or (unique_indices and count > total):
        raise ValueError(f"random_bcoo: nse={nse} of {total} places")
    for_data, for_places = random.split(key)
    data = generator(for_data, shape=(*batch, count, *dense), dtype=dtype, **kwds)

    def places(key: Any) -> Any:
        flat = random.choice(key, total, (count,), replace=not unique_indices)
        flat = jnp.sort(flat) if sorted_indices else flat
        found = jnp.unravel_index(flat, sizes) if sizes else ()
        return jnp.stack(found, -1).astype(indices_dtype or jnp.int32) if found else jnp.zeros((count, 0), jnp.int32)

    indices = over_batch(places, n_batch)(random.split(for_places, batch) if batch else for_places)
    return BCOO((data, indices), shape=shape, indices_sorted=sorted_indices, unique_indices=unique_indices)
