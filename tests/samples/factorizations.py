"""Factorizations and triangular systems."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from jitscope.core.dtypes import int32
from jitscope.ops import linalg

from .registry import Sample, samples


SHAPES = {"one": (1, 1), "matrix": (3, 3), "batch": (2, 1, 3, 3), "empty": (0, 0), "no matrices": (0, 2, 2)}
OBLONG = {**SHAPES, "wide": (2, 2, 4), "tall": (4, 2), "no rows": (2, 0, 3)}


def _of_lapack(draw, dtype):
    return draw.dtype.name in linalg.LAPACK_DTYPES


def _adjoint(a):
    return np.conj(np.swapaxes(a, -1, -2))


def _from_lower(a):
    """The Hermitian matrix whose lower triangle is that of `a`."""
    lower = np.tril(a, -1)
    diagonal = np.real(np.diagonal(a, axis1=-2, axis2=-1))
    return lower + _adjoint(lower) + diagonal[..., None] * np.eye(a.shape[-1])


@samples(linalg.cholesky_p, "fc")
def _(draw, dtype):
    for label, shape in SHAPES.items() if _of_lapack(draw, dtype) else ():
        a = draw(shape)
        positive = (a @ _adjoint(a) + 2 * np.eye(shape[-1])).astype(dtype)
        yield Sample(
            label, [positive], lambda a: np.linalg.cholesky(_from_lower(a)).astype(a.dtype), holomorphic=False, loose=10
        )


@samples(linalg.triangular_solve_p, "fc")
def _(draw, dtype):
    flags = ("left_side", "lower", "transpose_a", "conjugate_a", "unit_diagonal")
    for number, (label, shape) in enumerate([*SHAPES.items(), *[(f"matrix {i}", (3, 3)) for i in range(8)]]):
        if not _of_lapack(draw, dtype):
            return
        params = dict(zip(flags, [bool((number * 7 + 5) >> bit & 1) for bit in range(5)]))
        n = shape[-1]
        a = draw(shape) + 3 * np.eye(n).astype(dtype)
        b = draw((*shape[:-2], n, 2) if params["left_side"] else (*shape[:-2], 2, n))
        yield Sample(
            f"{label} {' '.join(f for f, on in params.items() if on)}",
            [a, b],
            lambda a, b, p=params: _solved(a, b, **p),
            params,
            linear=[[1]],
            holomorphic=not params["conjugate_a"],
            loose=10,
        )


def _solved(a, b, left_side, lower, transpose_a, conjugate_a, unit_diagonal):
    a = np.tril(a) if lower else np.triu(a)
    if unit_diagonal:
        a = np.tril(a, -1) + np.triu(a, 1) + np.eye(a.shape[-1])
    a = np.conj(a) if conjugate_a else a
    a = np.swapaxes(a, -1, -2) if transpose_a else a
    if left_side:
        return np.linalg.solve(a, b).astype(b.dtype)
    return np.swapaxes(np.linalg.solve(np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2)), -1, -2).astype(b.dtype)


@samples(linalg.lu_p, "fc")
def _(draw, dtype):
    for label, shape in OBLONG.items() if _of_lapack(draw, dtype) else ():
        yield Sample(label, [draw(shape)], _factored, result=[dtype, int32, int32], loose=20)


def _factored(a):
    *batch, m, n = a.shape
    k = min(m, n)
    found = np.zeros_like(a), np.zeros((*batch, k), np.int32), np.zeros((*batch, m), np.int32)
    for at in np.ndindex(*batch):
        order = np.arange(m)
        if a.size:
            found[0][at], pivots = scipy.linalg.lu_factor(a[at])
            for i, j in enumerate(pivots):
                order[[i, j]] = order[[j, i]]
            found[1][at] = pivots
        found[2][at] = order
    return list(found)
