"""Sparse arrays: what all layouts share, and `BCOO`, elements with their places."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ... import numpy as jnp, tree
from ...core.annotations import Array, ArrayLike, Axes, Device, DTypeLike, Sharding


__all__ = ["BCOO", "JAXSparse", "SparseEfficiencyError", "SparseEfficiencyWarning"]


class SparseEfficiencyError(ValueError):
    """A layout that would keep more than it need."""


class SparseEfficiencyWarning(UserWarning):
    """A layout that keeps more than it need."""


class JAXSparse:
    """Base of sparse arrays. `data` are the elements that are kept, `shape` is that of the dense array.

    `nse` is how many elements are kept (in each example of a batch); operators give sparse arrays where zeros stay zeros, else
    they raise NotImplementedError.
    """

    data: Any
    shape: Any
    nse: int
    _parts: ClassVar[tuple[str, ...]] = ()
    _flags: ClassVar[tuple[str, ...]] = ()
    """Attributes that say what is known of the places."""
    __array_priority__ = 100
    __hash__ = None  # pyright: ignore[reportAssignmentType]

    if TYPE_CHECKING:  # what the table below holds cannot be seen by type checkers

        def __add__(self, other: Any, /) -> Any: ...
        def __radd__(self, other: Any, /) -> Any: ...
        def __sub__(self, other: Any, /) -> Any: ...
        def __rsub__(self, other: Any, /) -> Any: ...
        def __mul__(self, other: Any, /) -> Any: ...
        def __rmul__(self, other: Any, /) -> Any: ...
        def __truediv__(self, other: Any, /) -> Any: ...
        def __rtruediv__(self, other: Any, /) -> Any: ...
        def __matmul__(self, other: Any, /) -> Any: ...
        def __rmatmul__(self, other: Any, /) -> Any: ...
        def __pow__(self, other: Any, /) -> Any: ...
        def __neg__(self) -> Any: ...
        def __abs__(self) -> Any: ...
        def __getitem__(self, other: Any, /) -> Any: ...

    def __init__(self, args: Sequence[Any], *, shape: Sequence[int]):
        self._shape = tuple(map(int, shape))
        for name, part in zip(self._parts, args, strict=True):
            setattr(self, name, jnp.asarray(part))

    @property
    def size(self) -> int:
        """The number of elements of the dense array."""
        return math.prod(self.shape)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the elements."""
        return self.data.dtype

    @property
    def T(self) -> Any:
        """The axes in reverse order."""
        return self.transpose()

    def transpose(self, axes: Sequence[int] | None = None) -> Any:
        """The axes in another order (None: reversed). Raises NotImplementedError where the layout does not allow it."""
        raise NotImplementedError(f"{type(self).__name__}.transpose")

    def todense(self) -> Array:
        """The dense array; elements kept at one place are summed. Raises NotImplementedError in a layout that does not say how."""
        raise NotImplementedError(f"{type(self).__name__}.todense")

    def block_until_ready(self) -> Any:
        """Itself, when its arrays are computed."""
        for name in self._parts:
            getattr(self, name).block_until_ready()
        return self

    def _static(self) -> tuple:
        return self._shape, *[getattr(self, name) for name in self._flags]

    @classmethod
    def _made(cls, static: tuple, parts: Sequence[Any]) -> Any:
        """From any leaves: trees are made of other things than arrays, too."""
        self = object.__new__(cls)
        self._shape, *flags = static
        for name, part in zip((*cls._flags, *cls._parts), (*flags, *parts)):
            setattr(self, name, part)
        return self

    def tree_flatten(self) -> tuple[tuple, tuple]:
        """The arrays, and what is static."""
        return tuple([getattr(self, name) for name in self._parts]), self._static()

    @classmethod
    def tree_unflatten(cls, aux_data: tuple, children: Sequence[Any]) -> Any:
        """From what `tree_flatten` gives."""
        return cls._made(aux_data, children)

    def __repr__(self) -> str:
        name = type(self).__name__
        try:
            of = "".join([f", {k}={v}" for k in ("n_batch", "n_dense") if (v := getattr(self, k, 0))])
            return f"{name}({self.dtype.name}{list(self.shape)}, nse={self.nse}{of})"
        except Exception:
            return f"<{name} of {[getattr(self, part, None) for part in self._parts]!r}>"

    def __len__(self) -> int:
        return self.shape[0]

    def __bool__(self) -> bool:
        if self.size != 1:
            return self.shape[0] > 0 if self.ndim else True
        return bool(self.todense().reshape(()))


def _operator(name: str, swapped: bool = False) -> Callable[..., Any]:
    def method(self: Any, *others: Any) -> Any:
        from .operators import apply

        return apply(name, *(others[::-1] if swapped else ()), self, *(() if swapped else others))

    return method


for _name in "neg pos abs add sub mul truediv pow matmul gt ge lt le eq ne getitem".split():
    setattr(JAXSparse, f"__{_name}__", _operator(_name))
for _name in "add sub mul truediv pow matmul".split():
    setattr(JAXSparse, f"__r{_name}__", _operator(_name, swapped=True))


@tree.register_pytree_node_class
class BCOO(JAXSparse):
    """Elements with their places: `data` [*batch, nse, *dense] and `indices` [*batch, nse, n_sparse], integers.

    The axes of `shape` are those of the batch, those that are sparse, and dense ones. Axes of a batch may have size 1 in one of
    the arrays: then they are repeated. Places outside of the shape count as none; what stands at one place is summed.
    `indices_sorted` and `unique_indices` say that places are in order, and differ. Raises ValueError where the arrays do not fit.
    """

    _parts, _flags = ("data", "indices"), ("indices_sorted", "unique_indices")
    data: Any
    indices: Any

    def __init__(
        self,
        args: Sequence[Any],
        *,
        shape: Sequence[int],
        indices_sorted: bool = False,
        unique_indices: bool = False,
    ):
        super().__init__(args, shape=shape)
        self.indices_sorted, self.unique_indices = bool(indices_sorted), bool(unique_indices)
        if self.indices.ndim < 2 or self.n_dense < 0 or len(self._shape) != self._rank:
            raise ValueError(
                f"BCOO: data of shape {self.data.shape} and indices of shape {self.indices.shape} are no array of shape "
                f"{self._shape}: data have the shape [*batch, nse, *dense], indices [*batch, nse, n_sparse]"
            )
        if self.data.shape[self.n_batch] != self.indices.shape[-2]:
            raise ValueError(
                f"BCOO: {self.data.shape[self.n_batch]} elements and {self.indices.shape[-2]} places; there must be as many"
            )

    @property
    def _rank(self) -> int:
        return self.n_batch + self.n_sparse + self.n_dense

    @property
    def shape(self) -> tuple[int, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The shape of the dense array. Where vmap takes axes of a batch away, or brings some, they go with the arrays."""
        missing = self._rank - len(self._shape)
        if missing <= 0:
            return self._shape[-missing:]
        data, indices = self.data.shape, self.indices.shape
        return (*[max(data[i], indices[i]) for i in range(missing)], *self._shape)

    @property
    def nse(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """How many elements are kept, in each example of a batch."""
        return self.indices.shape[-2]

    @property
    def n_batch(self) -> int:
        """The number of axes of the batch."""
        return self.indices.ndim - 2

    @property
    def n_sparse(self) -> int:
        """The number of sparse axes."""
        return self.indices.shape[-1]

    @property
    def n_dense(self) -> int:
        """The number of dense axes."""
        return self.data.ndim - 1 - self.n_batch

    @classmethod
    def fromdense(
        cls,
        mat: ArrayLike,
        *,
        nse: int | None = None,
        index_dtype: DTypeLike = np.int32,
        n_dense: int = 0,
        n_batch: int = 0,
    ) -> BCOO:
        """The elements of `mat` that are not zero. See `bcoo_fromdense`."""
        from .conversion import bcoo_fromdense

        return bcoo_fromdense(mat, nse=nse, index_dtype=index_dtype, n_dense=n_dense, n_batch=n_batch)

    @classmethod
    def from_scipy_sparse(
        cls, mat: Any, *, index_dtype: DTypeLike | None = None, n_dense: int = 0, n_batch: int = 0
    ) -> BCOO:
        """From a matrix of `scipy.sparse`. Raises NotImplementedError for axes of a batch and dense ones."""
        if n_dense or n_batch:
            raise NotImplementedError("BCOO.from_scipy_sparse: a matrix of SciPy has neither a batch nor dense axes")
        coo = mat.tocoo()
        places = np.stack([coo.row, coo.col], -1).astype(index_dtype or np.int32)
        return cls((coo.data, places), shape=mat.shape)

    def todense(self) -> Array:
        """The dense array; elements kept at one place are summed."""
        from .conversion import bcoo_todense

        return bcoo_todense(self)

    def transpose(self, axes: Sequence[int] | None = None) -> BCOO:
        """The axes in another order (None: reversed); those of the batch, sparse and dense ones stay among themselves. Raises as
        `bcoo_transpose`."""
        from .structure import bcoo_transpose

        return bcoo_transpose(self, permutation=range(self.ndim)[::-1] if axes is None else axes)

    def sum(self, axis: Axes = None, dtype: DTypeLike | None = None, keepdims: bool = False) -> BCOO | Array:
        """The sum over some axes (None: all), sparse unless it is a number; with `keepdims` these stay, of size 1."""
        from .structure import bcoo_reduce_sum

        mat = self if dtype is None else self.astype(dtype)
        axes = list(range(self.ndim)) if axis is None else [axis] if isinstance(axis, int) else list(axis)
        summed = bcoo_reduce_sum(mat, axes=axes)
        found = summed if summed.shape else summed.todense()
        if not keepdims:
            return found
        gone = {i % self.ndim for i in axes}
        return found.reshape([1 if i in gone else n for i, n in enumerate(self.shape)])

    def reshape(self, *shape: int | Sequence[int]) -> BCOO:
        """Under another shape, one size of which may be -1."""
        from .structure import bcoo_reshape

        sizes: list[Any] = list(shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape)
        if -1 in sizes:
            sizes[sizes.index(-1)] = self.size // -math.prod(sizes)
        return bcoo_reshape(self, new_sizes=sizes)

    def astype(self, dtype: DTypeLike, copy: bool = False, device: Device | Sharding | None = None) -> BCOO:
        """With elements of another dtype, on `device` (None: where they are)."""
        return self._like(self.data.astype(dtype, copy, device))

    def sort_indices(self) -> BCOO:
        """With places in order."""
        from .structure import bcoo_sort_indices

        return bcoo_sort_indices(self)

    def sum_duplicates(self, nse: int | None = None, remove_zeros: bool = True) -> BCOO:
        """With one element at each place, in order. `nse`: how many are kept (None: as many as there are, which must be known);
        with `remove_zeros` places that only have zeros are left out."""
        from .structure import summed

        return summed(self, nse, remove_zeros)

    def update_layout(
        self, *, n_batch: int | None = None, n_dense: int | None = None, on_inefficient: str | None = "error"
    ) -> BCOO:
        """With other numbers of axes in the batch and dense ones. See `bcoo_update_layout`."""
        from .structure import bcoo_update_layout

        return bcoo_update_layout(self, n_batch=n_batch, n_dense=n_dense, on_inefficient=on_inefficient)

    def _like(self, data: Any) -> BCOO:
        """Other elements at the same places."""
        return BCOO((data, self.indices), shape=self.shape, indices_sorted=self.indices_sorted, unique_indices=self.unique_indices)  # fmt: skip

    def __iter__(self) -> Iterator[Any]:
        for i in range(self.shape[0]):
            yield self[i]  # pyright: ignore[reportIndexIssue]
