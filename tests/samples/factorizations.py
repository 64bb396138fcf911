"""Factorizations of matrices, and systems of equations with special ones."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from jitscope.core.dtypes import complex64, complex128, float32, float64, int32
from jitscope.ops import eigen, householder, linalg, schur, svd, tridiagonal

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


@samples(linalg.lu_pivots_to_permutation_p, "i")
def _(draw, dtype):
    for label, shape, size in (("rows", (2, 3), 4), ("one", (1,), 1), ("none", (2, 0), 3), ("empty", (0, 2), 2)):
        steps = np.arange(shape[-1], dtype=dtype)
        pivots = steps + draw.random.integers(0, 100, shape, dtype=dtype) % (size - steps)
        yield Sample(label, [pivots.astype(dtype)], lambda p, n=size: _permuted(p, n), {"permutation_size": size})


def _permuted(pivots, size):
    found = np.broadcast_to(np.arange(size, dtype=np.int32), (*pivots.shape[:-1], size)).copy()
    for at in np.ndindex(*pivots.shape[:-1]):
        for i, j in enumerate(pivots[at]):
            found[at][[i, j]] = found[at][[j, i]]
    return found


@samples(linalg.cholesky_update_p, "f")
def _(draw, dtype):
    for label, shape in SHAPES.items() if _of_lapack(draw, dtype) else ():
        r = np.triu(draw(shape)) + 3 * np.eye(shape[-1], dtype=dtype)
        yield Sample(label, [r, draw(shape[:-1])], _updated, loose=10)


def _updated(r, w):
    r = np.triu(r)
    whole = np.swapaxes(r, -1, -2) @ r + w[..., :, None] * w[..., None, :]
    return np.swapaxes(np.linalg.cholesky(whole), -1, -2)


# Orthogonal factors --------------------------------------------------------------------------------------------------


@samples(householder.geqrf_p, "fc")
def _(draw, dtype):
    for label, shape in OBLONG.items() if _of_lapack(draw, dtype) else ():
        yield Sample(label, [draw(shape)], _reflections, loose=20, rules=VALUES)


@samples(householder.geqp3_p, "fc")
def _(draw, dtype):
    for label, shape in OBLONG.items() if _of_lapack(draw, dtype) else ():
        yield Sample(label, [draw(shape)], _pivoted_reflections, result=[dtype, int32, dtype], loose=20, rules=VALUES)


VALUES = ("abstract", "lower", "batch")
"""The rules of operations that have no derivative."""


def _each(a, results, fun):
    """`fun` of each matrix; `results` are its results' shapes and dtypes."""
    batch = a.shape[:-2]
    outs = [np.zeros((*batch, *shape), dtype) for shape, dtype in results]
    for at in np.ndindex(*batch) if a.size else ():
        for out, found in zip(outs, fun(a[at])):
            out[at] = found
    return outs


def _reflections(a):
    m, n = a.shape[-2:]
    return _each(a, [((m, n), a.dtype), ((min(m, n),), a.dtype)], lambda x: scipy.linalg.qr(x, mode="raw")[0])


def _pivoted_reflections(a):
    m, n = a.shape[-2:]

    def one(x):
        (factors, taus), _, order = scipy.linalg.qr(x, mode="raw", pivoting=True)
        return factors, order, taus

    found = _each(a, [((m, n), a.dtype), ((n,), np.int32), ((min(m, n),), a.dtype)], one)
    return found if a.size else [found[0], np.broadcast_to(np.arange(n), found[1].shape), found[2]]


def _whole_product(a, taus):
    """The product of all reflections, square."""
    m, k = a.shape[-2], taus.shape[-1]
    q = np.broadcast_to(np.eye(m, dtype=a.dtype), (*a.shape[:-2], m, m))
    for i in range(k):
        v = np.where(np.arange(m) < i, 0, np.where(np.arange(m) == i, 1, a[..., :, i]))
        q = q - (q @ v[..., None]) * taus[..., i, None, None] * np.conj(v)[..., None, :]
    return q


@samples(householder.householder_product_p, "fc")
def _(draw, dtype):
    shapes = {"tall": (4, 2), "batch": (2, 1, 3, 3), "few": (3, 3), "no columns": (2, 3, 0)}
    for label, shape in shapes.items() if _of_lapack(draw, dtype) else ():
        count = 1 if label == "few" else shape[-1]
        yield Sample(label, [draw(shape), draw((*shape[:-2], count))],
                     lambda a, taus: _whole_product(a, taus)[..., : a.shape[-1]], holomorphic=False, loose=20)  # fmt: skip


@samples(householder.ormqr_p, "fc")
def _(draw, dtype):
    for number, left in enumerate((True, False, True, False) if _of_lapack(draw, dtype) else ()):
        params = {"left": left, "transpose": number > 1}
        batch = (2,) if number == 1 else ()
        c = draw((*batch, 3, 2) if left else (*batch, 2, 3))
        yield Sample(
            f"{'left' if left else 'right'}{' adjoint' * (number > 1)}",
            [draw((*batch, 3, 2)), draw((*batch, 2)), c],
            lambda a, taus, c, p=params: _turned(a, taus, c, **p),
            params,
            linear=[[2]],
            holomorphic=False,
            loose=20,
        )
    if _of_lapack(draw, dtype):
        empty = [draw((0, 3, 2)), draw((0, 2)), draw((0, 3, 1))]
        yield Sample("empty", empty, lambda a, taus, c: c, {"left": True, "transpose": False}, rules=VALUES)


def _turned(a, taus, c, left, transpose):
    q = _whole_product(a, taus)
    q = _adjoint(q) if transpose else q
    return q @ c if left else c @ q


@samples(householder.qr_p, "fc")
def _(draw, dtype):
    cases = [(shape, False, full) for shape in OBLONG for full in (False, True)]
    cases += [("tall", True, False), ("wide", True, True), ("empty", True, True), ("matrix", True, False)]
    for shape, pivoting, full in cases if _of_lapack(draw, dtype) else ():
        params = {"pivoting": pivoting, "full_matrices": full}
        yield Sample(
            f"{shape}{' pivoting' * pivoting}{' full' * full}",
            [draw(OBLONG[shape])],
            lambda a, p=params: _qr(a, **p),
            params,
            result=[dtype, dtype, *[int32] * pivoting],
            holomorphic=False,
            loose=50,
        )


def _qr(a, pivoting, full_matrices):
    m, n = a.shape[-2:]
    k = m if full_matrices else min(m, n)
    mode = "full" if full_matrices else "economic"
    shapes = [((m, k), a.dtype), ((k, n), a.dtype), *[((n,), np.int32)] * pivoting]
    found = _each(a, shapes, lambda x: scipy.linalg.qr(x, mode=mode, pivoting=pivoting))
    if not a.size:
        found[0][...] = np.eye(m, k)
        if pivoting:
            found[2][...] = np.arange(n)
    return found


# Eigenvalues and singular values -------------------------------------------------------------------------------------


def _real(dtype):
    return {complex64: float32, complex128: float64}.get(dtype, dtype)


def _complex(dtype):
    return {float32: complex64, float64: complex128}.get(dtype, dtype)


def _weighted(left, right, number):
    """left · diag(1, 2, …) · right: what does not change when vectors of a pair turn by the same phase."""
    weights = np.arange(1, number + 1)
    return (left[..., :number] * weights.astype(left.dtype)) @ right[..., :number, :]


@samples(eigen.eigh_p, "fc")
def _(draw, dtype):
    for number, (label, shape) in enumerate(SHAPES.items() if _of_lapack(draw, dtype) else ()):
        params = {"lower": number % 2 == 0, "subset_by_index": None}

        def fun(a, p=params):
            vectors, values = eigen.eigh_p(a, **p)
            return [values, _invariant(vectors)]

        a = draw(shape) + np.diag(np.arange(shape[-1]) * 3).astype(dtype)
        yield Sample(f"{label}{' lower' * params['lower']}", [a], lambda a, p=params: _eigh(a, p["lower"]), params,
                     result=[_real(dtype), dtype], fun=fun, holomorphic=False, loose=50)  # fmt: skip
    if _of_lapack(draw, dtype):
        params = {"lower": True, "subset_by_index": (1, 2)}
        yield Sample("part", [draw((3, 3))], lambda a: _eigh(a, True)[0][1:2], params, result=_real(dtype), rules=VALUES,
                     fun=lambda a: eigen.eigh_p(a, **params)[1])  # fmt: skip


def _invariant(vectors):
    n = vectors.aval.shape[-1]
    weights = _counts(n, vectors)
    return linalg.product(weights * vectors, linalg.adjoint(vectors))


def _counts(n, like):
    """1, 2, … along the rows of matrices like `like`."""
    return np.broadcast_to(np.arange(1, n + 1).astype(like.aval.dtype), like.aval.shape)


def _eigh(a, lower):
    values, vectors = np.linalg.eigh(_from_lower(a if lower else _adjoint(a)))
    return values, _weighted(vectors, _adjoint(vectors), a.shape[-1])


@samples(eigen.eig_p, "fc")
def _(draw, dtype):
    names = ("compute_left_eigenvectors", "compute_right_eigenvectors", "enable_eigvec_derivs")
    for number, (label, shape) in enumerate(SHAPES.items() if _of_lapack(draw, dtype) else ()):
        for left, right in ((number % 2 == 0, True), (False, False)):
            params = dict(zip(names, (left, right, True)))

            def fun(a, p=params):
                values, *vectors = eigen.eig_p(a, **p)
                square = values * values
                sums = [linalg.reduce_sum_p(x, axes=(x.aval.ndim - 1,)) for x in (values, square, square * values)]
                sets = [linalg.over_rows(values, v.aval.shape) * v for v in vectors]
                return [*sums, *[linalg.product(w, linalg.swapped(v)) for w, v in zip(sets, vectors)]]

            a = draw(shape) + np.diag(np.arange(shape[-1]) * 2).astype(dtype)
            yield Sample(f"{label}{' left' * left}{' right' * right}", [a],
                         lambda a, left=left, right=right: _eig(a, left, right), params, result=_complex(dtype), fun=fun,
                         holomorphic=False, loose=200)  # fmt: skip


def _eig(a, left, right):
    """What does not change with the order of the eigenvalues and the sign of the vectors, but does with their phase:
    sums of powers, and V diag(w) Vᵀ."""
    n, dtype = a.shape[-1], np.complex128

    def one(x):
        values, *vectors = _list(scipy.linalg.eig(x, left=left, right=right))
        return [*[np.sum(values**k) for k in (1, 2, 3)], *[(v * values) @ v.T for v in vectors]]

    return _each(a, [*[((), dtype)] * 3, *[((n, n), dtype)] * (left + right)], one)


def _list(x):
    return list(x) if isinstance(x, tuple) else [x]


@samples(svd.svd_p, "fc")
def _(draw, dtype):
    cases = [(shape, full, uv) for shape in OBLONG for full, uv in ((False, True), (True, False))]
    cases += [("wide", True, True), ("tall", True, True), ("matrix", True, True), ("no rows", True, True)]
    for shape, full, uv in cases if _of_lapack(draw, dtype) else ():
        routine = "gesvd" if shape == "matrix" else "gesdd"
        params = {"full_matrices": full, "compute_uv": uv, "subset_by_index": None, "routine": routine}

        def fun(a, p=params):
            s, *vectors = svd.svd_p(a, **p)
            return [s, *(_pairs(*vectors) if vectors else ())]

        m, n = OBLONG[shape][-2:]
        yield Sample(
            f"{shape}{' full' * full}{'' if uv else ' values'}",
            [draw(OBLONG[shape])],
            lambda a, full=full, uv=uv: _svd(a, full, uv),
            params,
            result=[_real(dtype), *[dtype] * (3 * uv)],
            fun=fun,
            holomorphic=False,
            loose=100,
            rules=VALUES if full and uv and m != n else None,
        )
    if _of_lapack(draw, dtype):
        params = {"full_matrices": False, "compute_uv": True, "subset_by_index": (1, 2), "routine": "gesdd"}
        part = lambda a: (
            _weighted(*[np.linalg.svd(a, full_matrices=False)[i] for i in (0, 2)], 2)
            - _weighted(*[np.linalg.svd(a, full_matrices=False)[i] for i in (0, 2)], 1)
        )
        yield Sample("part", [draw((3, 3))], lambda a: part(a) / 2, params, rules=VALUES, loose=20,
                     fun=lambda a: linalg.product(*svd.svd_p(a, **params)[1:]))  # fmt: skip


def _pairs(u, vh):
    """What singular vectors amount to: the weighted sum of pairs, and that they are orthonormal."""
    k = min(u.aval.shape[-1], vh.aval.shape[-2])
    thin, flat = (linalg.slice_in_dim(x, 0, k, axis=axis) for x, axis in ((u, -1), (vh, -2)))
    weights = _counts(k, thin)
    orthonormal = [linalg.product(linalg.adjoint(u), u), linalg.product(vh, linalg.adjoint(vh))]
    return [linalg.product(weights * thin, flat), *orthonormal]


def _svd(a, full, uv):
    if not uv:
        return [np.linalg.svd(a, compute_uv=False)]
    u, s, vh = np.linalg.svd(a, full_matrices=full)
    return s, _weighted(u, vh, s.shape[-1]), _adjoint(u) @ u, vh @ _adjoint(vh)


# Simpler forms -------------------------------------------------------------------------------------------------------


@samples(schur.schur_p, "fc")
def _(draw, dtype):
    for label, shape in SHAPES.items() if _of_lapack(draw, dtype) else ():

        def fun(a):
            form, vectors = schur.schur_p(a, compute_schur_vectors=True)
            below = linalg.triangle(form, offset=-2)
            return [linalg.product(vectors, linalg.product(form, linalg.adjoint(vectors))),
                    linalg.product(vectors, linalg.adjoint(vectors)), below]  # fmt: skip

        yield Sample(label, [draw(shape)], lambda a: (a, np.eye(a.shape[-1]) + 0 * a, 0 * a),
                     {"compute_schur_vectors": True}, fun=fun, loose=100, rules=VALUES)  # fmt: skip
    if _of_lapack(draw, dtype):
        params = {"compute_schur_vectors": False}
        a = np.triu(draw((3, 3)))
        yield Sample("form", [a], lambda a: a, params, fun=lambda a: schur.schur_p(a, **params), loose=50, rules=VALUES)


@samples(schur.hessenberg_p, "fc")
def _(draw, dtype):
    for label, shape in SHAPES.items() if _of_lapack(draw, dtype) else ():
        yield Sample(label, [draw(shape)], _hessenberg, loose=50, rules=VALUES)


def _hessenberg(a):
    n = a.shape[-1]
    shapes = [((n, n), a.dtype), ((max(n - 1, 0),), a.dtype)]
    (routine,) = scipy.linalg.get_lapack_funcs(("gehrd",), (a,))
    return _each(a, shapes, lambda x: routine(x)[:2] if n > 1 else (x, np.zeros(0)))


@samples(schur.tridiagonal_p, "fc")
def _(draw, dtype):
    for number, (label, shape) in enumerate(SHAPES.items() if _of_lapack(draw, dtype) else ()):
        if not shape[-1]:
            continue
        lower = number % 2 == 0
        yield Sample(f"{label}{' lower' * lower}", [draw(shape)], lambda a, lower=lower: _tridiagonal(a, lower),
                     {"lower": lower}, result=[dtype, _real(dtype), _real(dtype), dtype], loose=50, rules=VALUES)  # fmt: skip


def _tridiagonal(a, lower):
    n, real = a.shape[-1], a.real.dtype
    shapes = [((n, n), a.dtype), ((n,), real), ((n - 1,), real), ((n - 1,), a.dtype)]
    (routine,) = scipy.linalg.get_lapack_funcs(("hetrd" if a.dtype.kind == "c" else "sytrd",), (a,))
    if n > 1:
        return _each(a, shapes, lambda x: routine(x, lower=int(lower))[:4])
    return _each(a, shapes, lambda x: (x.real if a.dtype.kind == "c" else x, x[0].real, np.zeros(0), np.zeros(0)))


@samples(tridiagonal.tridiagonal_solve_p, "fc")
def _(draw, dtype):
    for label, shape in SHAPES.items() if _of_lapack(draw, dtype) else ():
        for perturb in (False, True) if label == "matrix" else (False,):
            diagonals = [draw(shape[:-1]), draw(shape[:-1]) + np.asarray(5, dtype), draw(shape[:-1])]
            yield Sample(
                f"{label}{' perturbed' * perturb}",
                [*diagonals, draw((*shape[:-1], 2))],
                _tridiagonal_solved,
                {"perturb_singular": perturb},
                linear=[[3]],
                loose=10,
            )


def _tridiagonal_solved(dl, d, du, b):
    n = d.shape[-1]
    eye = np.eye(n)
    whole = d[..., None] * eye + dl[..., None] * np.eye(n, k=-1) + du[..., None] * np.eye(n, k=1)
    return np.linalg.solve(whole, b)
