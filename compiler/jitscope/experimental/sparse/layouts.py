"""Matrices in other layouts: `COO` (rows and columns), `CSR` and `CSC` (rows or columns one after another), `BCSR` (CSR with a
batch and dense axes)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import numpy as jnp, tree
from ...core.annotations import Array, ArrayLike, DotDimensionNumbers, DTypeLike, PartitionSpec, PrecisionLike, Sharding
from .arrays import BCOO, JAXSparse
from .conversion import bcoo_fromdense, over_batch
from .products import bcoo_dot_general
from .structure import bcoo_sort_indices, bcoo_transpose, summed


__all__ = ["BCSR", "COO", "CSC", "CSR", "bcsr_dot_general", "bcsr_fromdense", "bcsr_sum_duplicates", "bcsr_todense",
           "coo_fromdense", "coo_matmat", "coo_matvec", "coo_todense", "csr_fromdense", "csr_matmat", "csr_matvec",
           "csr_todense"]  # fmt: skip


def _pointers(rows: Any, n: int, dtype: Any) -> Any:
    """Where each row begins among elements in order of rows [n + 1]; those of rows that are not there come last."""
    return jnp.searchsorted(rows, jnp.arange(n + 1, dtype=rows.dtype), side="left").astype(dtype)


def _rows(indptr: Any, nse: int) -> Any:
    """The row of each element; those behind the last row belong to none."""
    return (jnp.searchsorted(indptr, jnp.arange(nse, dtype=indptr.dtype), side="right") - 1).astype(indptr.dtype)


class _Matrix(JAXSparse):
    """What a layout of matrices needs besides its way to BCOO and back."""

    @property
    def shape(self) -> tuple[int, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The shape of the dense matrix."""
        return self._shape

    @property
    def nse(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """How many elements are kept."""
        return self.data.shape[0]

    def to_bcoo(self) -> BCOO:
        """The same array as a BCOO. Raises NotImplementedError in a layout that has no way to it."""
        raise NotImplementedError(f"{type(self).__name__}.to_bcoo")

    @classmethod
    def from_bcoo(cls, arr: BCOO) -> Any:
        """The same array in this layout. Raises NotImplementedError in one that has no way from a BCOO."""
        raise NotImplementedError(f"{cls.__name__}.from_bcoo")

    @classmethod
    def fromdense(cls, mat: Any, *, nse: int | None = None, index_dtype: Any = np.int32) -> Any:
        """The elements of a dense matrix that are not zero, `nse` of them (None: as many as there are)."""
        return cls.from_bcoo(bcoo_fromdense(mat, nse=nse, index_dtype=index_dtype))

    def todense(self) -> Any:
        return self.to_bcoo().todense()

    def sum(self, axis: Any = None, dtype: Any = None) -> Any:
        """The sum over all axes, a number, or over some, as a BCOO."""
        return self.to_bcoo().sum(axis, dtype)

    def _like(self, data: Any) -> Any:
        return type(self)._made(
            self._static(), [data if name == "data" else getattr(self, name) for name in self._parts]
        )


def _check_turned(axes: Sequence[int] | None) -> None:
    if axes is not None and tuple(i % 2 for i in axes) != (1, 0):
        raise NotImplementedError(f"transpose: the axes of a matrix are turned, (1, 0), not {tuple(axes)}")


@tree.register_pytree_node_class
class COO(_Matrix):
    """A matrix by its elements `data`, their rows `row` and columns `col`, [nse] each."""

    _parts, _flags = ("data", "row", "col"), ("_rows_sorted", "_cols_sorted")
    row: Any
    col: Any

    def __init__(
        self, args: tuple[Any, Any, Any], *, shape: Sequence[int], rows_sorted: bool = False, cols_sorted: bool = False
    ):
        super().__init__(args, shape=shape)
        self._rows_sorted, self._cols_sorted = rows_sorted, cols_sorted

    def to_bcoo(self) -> BCOO:
        """The same array as a BCOO."""
        return BCOO(
            (self.data, jnp.stack([self.row, self.col], -1)), shape=self.shape, indices_sorted=self._rows_sorted
        )

    @classmethod
    def from_bcoo(cls, arr: BCOO) -> COO:
        """The same matrix in this layout."""
        return cls((arr.data, arr.indices[:, 0], arr.indices[:, 1]), shape=arr.shape, rows_sorted=arr.indices_sorted)

    def transpose(self, axes: Sequence[int] | None = None) -> COO:
        """The matrix transposed, as COO. Raises NotImplementedError for `axes` that leave it as it is."""
        _check_turned(axes)
        return COO((self.data, self.col, self.row), shape=self.shape[::-1], rows_sorted=self._cols_sorted, cols_sorted=self._rows_sorted)  # fmt: skip


@tree.register_pytree_node_class
class CSR(_Matrix):
    """A matrix by rows: elements `data` and their columns `indices` [nse], and where each row begins, `indptr` [rows + 1]."""

    _parts = ("data", "indices", "indptr")
    indices: Any
    indptr: Any

    def to_bcoo(self) -> BCOO:
        """The same array as a BCOO."""
        places = jnp.stack([_rows(self.indptr, self.nse).astype(self.indices.dtype), self.indices], -1)
        return BCOO((self.data, places), shape=self.shape)

    @classmethod
    def from_bcoo(cls, arr: BCOO) -> CSR:
        """The same matrix in this layout."""
        arr = arr if arr.indices_sorted else bcoo_sort_indices(arr)
        rows = _pointers(arr.indices[:, 0], arr.shape[0], arr.indices.dtype)
        return cls((arr.data, arr.indices[:, 1], rows), shape=arr.shape)

    def transpose(self, axes: Sequence[int] | None = None) -> CSC:
        """The matrix transposed, as CSC. Raises NotImplementedError for `axes` that leave it as it is."""
        _check_turned(axes)
        return CSC((self.data, self.indices, self.indptr), shape=self.shape[::-1])


@tree.register_pytree_node_class
class CSC(_Matrix):
    """A matrix by columns: elements `data` and their rows `indices` [nse], and where each column begins, `indptr` [columns + 1]."""

    _parts = ("data", "indices", "indptr")
    indices: Any
    indptr: Any

    def to_bcoo(self) -> BCOO:
        """The same array as a BCOO."""
        return bcoo_transpose(self.transpose().to_bcoo(), permutation=(1, 0))

    @classmethod
    def from_bcoo(cls, arr: BCOO) -> CSC:
        """The same matrix in this layout."""
        return CSR.from_bcoo(bcoo_transpose(arr, permutation=(1, 0))).transpose()

    def transpose(self, axes: Sequence[int] | None = None) -> CSR:
        """The matrix transposed, as CSR. Raises NotImplementedError for `axes` that leave it as it is."""
        _check_turned(axes)
        return CSR((self.data, self.indices, self.indptr), shape=self.shape[::-1])


@tree.register_pytree_node_class
class BCSR(_Matrix):
    """A matrix by rows, with a batch in front and dense axes behind: `data` [*batch, nse, *dense], columns `indices`
    [*batch, nse], and where each row begins, `indptr` [*batch, rows + 1]."""

    _parts, _flags = ("data", "indices", "indptr"), ("indices_sorted", "unique_indices")
    indices: Any
    indptr: Any

    def __init__(
        self,
        args: tuple[Any, Any, Any],
        *,
        shape: Sequence[int],
        indices_sorted: bool = False,
        unique_indices: bool = False,
    ):
        super().__init__(args, shape=shape)
        self.indices_sorted, self.unique_indices = bool(indices_sorted), bool(unique_indices)

    n_sparse = 2

    @property
    def n_batch(self) -> int:
        """The number of axes of the batch."""
        return self.indices.ndim - 1

    @property
    def n_dense(self) -> int:
        """The number of dense axes."""
        return self.data.ndim - self.indices.ndim

    @property
    def nse(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """How many elements are kept, in each example of a batch."""
        return self.indices.shape[-1]

    @property
    def shape(self) -> tuple[int, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The shape of the dense array; axes that vmap takes away are gone."""
        return self._shape[max(0, len(self._shape) - (self.n_batch + 2 + self.n_dense)) :]

    @classmethod
    def fromdense(
        cls,
        mat: ArrayLike,
        *,
        nse: int | None = None,
        index_dtype: DTypeLike = np.int32,
        n_dense: int = 0,
        n_batch: int = 0,
    ) -> BCSR:
        """The elements of `mat` that are not zero. See `bcoo_fromdense`."""
        return cls.from_bcoo(bcoo_fromdense(mat, nse=nse, index_dtype=index_dtype, n_dense=n_dense, n_batch=n_batch))

    @classmethod
    def from_scipy_sparse(
        cls, mat: Any, *, index_dtype: DTypeLike | None = None, n_dense: int = 0, n_batch: int = 0
    ) -> BCSR:
        """From a matrix of `scipy.sparse`."""
        return cls.from_bcoo(BCOO.from_scipy_sparse(mat, index_dtype=index_dtype, n_dense=n_dense, n_batch=n_batch))

    @classmethod
    def from_bcoo(cls, arr: BCOO) -> BCSR:
        """The same array in this layout. Raises NotImplementedError unless two axes are sparse."""
        if arr.n_sparse != 2:
            raise NotImplementedError(f"BCSR has two sparse axes; {arr!r} has {arr.n_sparse}")
        arr = arr if arr.indices_sorted else bcoo_sort_indices(arr)
        n = arr.shape[arr.n_batch]
        indptr = over_batch(lambda places: _pointers(places[:, 0], n, places.dtype), arr.n_batch)(arr.indices)
        return cls((arr.data, arr.indices[..., 1], indptr), shape=arr.shape, indices_sorted=True, unique_indices=arr.unique_indices)  # fmt: skip

    def to_bcoo(self) -> BCOO:
        """The same array as a BCOO."""
        nse = self.nse
        rows = over_batch(lambda indptr: _rows(indptr, nse), self.n_batch)(self.indptr)
        places = jnp.stack([rows.astype(self.indices.dtype), self.indices], -1)
        return BCOO((self.data, places), shape=self.shape, indices_sorted=self.indices_sorted, unique_indices=self.unique_indices)  # fmt: skip

    def transpose(self, axes: Sequence[int] | None = None) -> BCSR:
        """The axes in another order (None: reversed). Raises NotImplementedError where two axes do not stay sparse."""
        return BCSR.from_bcoo(self.to_bcoo().transpose(axes))

    def sum_duplicates(self, nse: int | None = None, remove_zeros: bool = True) -> BCSR:
        """With one element at each place, in order. See `BCOO.sum_duplicates`."""
        return BCSR.from_bcoo(summed(self.to_bcoo(), nse, remove_zeros))


# Functions ------------------------------------------------------------------------------------------------------------


def bcsr_fromdense(
    mat: ArrayLike, *, nse: int | None = None, n_batch: int = 0, n_dense: int = 0, index_dtype: DTypeLike = jnp.int32
) -> BCSR:
    """The elements of a dense array that are not zero, by rows. See `bcoo_fromdense`."""
    return BCSR.fromdense(mat, nse=nse, n_batch=n_batch, n_dense=n_dense, index_dtype=index_dtype)


def bcsr_todense(mat: BCSR) -> Array:
    """The dense array of a BCSR."""
    return mat.todense()


def bcsr_sum_duplicates(mat: BCSR, nse: int | None = None) -> BCSR:
    """With one element at each place, in order. See `bcoo_sum_duplicates`."""
    return mat.sum_duplicates(nse, remove_zeros=False)


def bcsr_dot_general(
    lhs: BCSR | ArrayLike, rhs: ArrayLike, *, dimension_numbers: DotDimensionNumbers, precision: PrecisionLike = None, preferred_element_type: DTypeLike | None = None,
    out_sharding: Sharding | PartitionSpec | None = None,
) -> BCOO | Array:  # fmt: skip
    """`lax.dot_general` of a BCSR and a dense array. See `bcoo_dot_general`."""
    both: list[Any] = [x.to_bcoo() if isinstance(x, BCSR) else x for x in (lhs, rhs)]
    return bcoo_dot_general(*both, dimension_numbers=dimension_numbers, preferred_element_type=preferred_element_type)


def coo_fromdense(mat: ArrayLike, *, nse: int | None = None, index_dtype: DTypeLike = jnp.int32) -> COO:
    """The elements of a dense matrix that are not zero, with rows and columns."""
    return COO.fromdense(mat, nse=nse, index_dtype=index_dtype)


def csr_fromdense(mat: ArrayLike, *, nse: int | None = None, index_dtype: DTypeLike = np.int32) -> CSR:
    """The elements of a dense matrix that are not zero, by rows."""
    return CSR.fromdense(mat, nse=nse, index_dtype=index_dtype)


def coo_todense(mat: COO | CSR) -> Array:
    """The dense matrix of a COO or CSR."""
    return mat.todense()


def coo_matvec(mat: COO | CSR, v: ArrayLike, transpose: bool = False) -> Array:
    """The product of a matrix, or its transpose, with a vector."""
    return (mat.T if transpose else mat) @ jnp.asarray(v)  # pyright: ignore[reportOperatorIssue]


def coo_matmat(mat: COO | CSR, B: ArrayLike, *, transpose: bool = False) -> Array:
    """The product of a matrix, or its transpose, with a dense matrix."""
    return (mat.T if transpose else mat) @ jnp.asarray(B)  # pyright: ignore[reportOperatorIssue]


csr_todense, csr_matvec, csr_matmat = coo_todense, coo_matvec, coo_matmat
