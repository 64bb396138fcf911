"""`jitscope.experimental.sparse.linalg`: equations with sparse matrices, and eigenvalues of matrices that are known by their products."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import numpy as jnp
from ...api.callbacks import pure_callback
from ...backend.stages import ShapeDtypeStruct
from ...control.linear_solve import custom_linear_solve
from ...core.annotations import Array, ArrayLike
from .eigenvalues import lobpcg_standard
from .layouts import CSR


__all__ = ["lobpcg_standard", "spsolve"]


def spsolve(
    data: ArrayLike, indices: ArrayLike, indptr: ArrayLike, b: ArrayLike, tol: float = 1e-6, reorder: int = 1
) -> Array:
    """The x [n] for which A x = b, for a sparse matrix A [n, n] by rows: `data` [nse], the columns of its elements `indices` [nse],
    and where each row begins `indptr` [n + 1]; `b` [n] has the dtype of `data`.

    SciPy solves it, called by the compiled program (`vmap`: once for each example); derivatives with respect to `data` and `b`
    solve with A, or with its transpose. `tol` and `reorder` (0 to 3) are for solvers on GPUs and change nothing. Raises ValueError
    for other shapes, dtypes or values of `reorder`.
    """
    data, indices, indptr, b = map(jnp.asarray, (data, indices, indptr, b))
    _check(data, indices, indptr, b, reorder)

    def solve(transposed: bool) -> Any:
        like = ShapeDtypeStruct(b.shape, b.dtype)
        run = _solved_transposed if transposed else _solved
        return lambda _, y: pure_callback(run, like, data, indices, indptr, y, vmap_method="sequential")

    matrix = CSR((data, indices, indptr), shape=(b.size, b.size))
    return custom_linear_solve(lambda x: matrix @ x, b, solve(False), solve(True))


def _check(data: Any, indices: Any, indptr: Any, b: Any, reorder: int) -> None:
    if data.dtype != b.dtype:
        raise ValueError(f"spsolve: data are {data.dtype.name} and b is {b.dtype.name}; they must agree")
    if not all(jnp.issubdtype(x.dtype, jnp.integer) for x in (indices, indptr)):
        raise ValueError(f"spsolve: indices and indptr are integers, not {indices.dtype.name} and {indptr.dtype.name}")
    if any(x.ndim != 1 for x in (data, indices, indptr, b)) or indptr.size != b.size + 1 or data.shape != indices.shape:
        shapes = ", ".join(
            f"{name} {list(x.shape)}" for name, x in zip(("data", "indices", "indptr", "b"), (data, indices, indptr, b))
        )
        raise ValueError(f"spsolve: data and indices have the shape [nse], b [n] and indptr [n + 1]; here are {shapes}")
    if reorder not in range(4):
        raise ValueError(f"spsolve: reorder is 0, 1, 2 or 3, not {reorder!r}")


def _solved(data: Any, indices: Any, indptr: Any, b: Any, transposed: bool = False) -> np.ndarray:
    from scipy import sparse
    from scipy.sparse.linalg import spsolve as solve  # few programs need it

    n = len(b)
    matrix = sparse.csr_matrix(tuple(map(np.asarray, (data, indices, indptr))), shape=(n, n))
    return np.asarray(solve((matrix.T if transposed else matrix).tocsc(), np.asarray(b)), b.dtype)


def _solved_transposed(*args: Any) -> np.ndarray:
    return _solved(*args, transposed=True)
