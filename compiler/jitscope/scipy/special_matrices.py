"""Matrices with a structure, made of vectors (along the last axis; leading axes are batches) or of a size."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.annotations import Array, ArrayLike, DTypeLike
from ..core.avals import aval_of
from ..eager.functions import eager_jit
from ..numpy.arithmetic import absolute
from ..numpy.creation import asarray
from ..numpy.dtypes import requested
from ..numpy.operands import broadcast, broadcast_shape, integer, promoted
from ..numpy.selecting import take
from ..numpy.structure import array_operand, atleast_1d
from ..ops import linalg as ops
from ..ops.elementwise import div_p, eq_p
from ..ops.indexing import iota
from ..ops.linear import (
    add_p,
    concatenate_p,
    convert,
    full,
    neg_p,
    pad_p,
    reshape,
    rev_p,
    slice_in_dim,
    sub_p,
    where,
)


__all__ = ["block_diag", "circulant", "companion", "convolution_matrix", "dft", "fiedler", "fiedler_companion",
           "hadamard", "hankel", "helmert", "hilbert", "invhilbert", "invpascal", "leslie", "pascal", "toeplitz"]  # fmt: skip


def _vectors(name: str, *xs: Any, inexact: bool = False) -> list[Any]:
    """Operands of one dtype, with an axis at least."""
    values, _, _, _ = promoted(name, xs, inexact)
    arrays = [array_operand(name, x) for x in values]
    return [atleast_1d(x) for x in arrays]


def _of_one_batch(*xs: Any) -> list[Any]:
    batch = broadcast_shape(*[aval_of(x).shape[:-1] for x in xs])
    return [broadcast(x, aval_of(x).shape, (*batch, aval_of(x).shape[-1])) for x in xs]


def _picked(x: Any, places: np.ndarray) -> Any:
    """Entries along the last axis in the arrangement of a matrix of places."""
    if not places.size:
        return full((*aval_of(x).shape[:-1], *places.shape), 0, aval_of(x).dtype)
    return take(x, places, axis=-1, mode="clip")


def _strong(x: Any) -> Any:
    return convert(x, aval_of(x).dtype)


def _part(x: Any, start: int, stop: int) -> Any:
    return slice_in_dim(x, start, stop, axis=-1)


def _joined(*xs: Any) -> Any:
    return concatenate_p(*xs, dimension=aval_of(xs[0]).ndim - 1)


# Of vectors ----------------------------------------------------------------------------------------------------------


@eager_jit()
def toeplitz(c: ArrayLike, r: ArrayLike | None = None) -> Array:
    """Matrices [..., m, n] constant along diagonals, with first column `c` [..., m] and first row `r` [..., n] (None:
    conj(c)), of which the first entry is not read."""
    if r is None:
        (x,) = _vectors("toeplitz", c)
        y = ops.conjugate(x)
    else:
        x, y = _vectors("toeplitz", c, r)
    x, y = _of_one_batch(x, y)
    m, n = aval_of(x).shape[-1], aval_of(y).shape[-1]
    turned = rev_p(x, dimensions=(aval_of(x).ndim - 1,))
    line = _joined(turned, _part(y, min(1, n), n))
    return _strong(_picked(line, m - 1 - np.arange(m)[:, None] + np.arange(n)))


@eager_jit()
def hankel(c: ArrayLike, r: ArrayLike | None = None) -> Array:
    """Matrices [..., m, n] constant along antidiagonals, with first column `c` [..., m] and last row `r` [..., n]
    (None: zeros, as long as c), of which the first entry is not read. Raises ValueError for scalars."""
    given = [c] if r is None else [c, r]
    for x in given:
        if not aval_of(array_operand("hankel", x)).ndim:
            raise ValueError("hankel takes vectors; it got a scalar")
    x, *rest = _vectors("hankel", *given)
    y = rest[0] if rest else full(aval_of(x).shape, 0, aval_of(x).dtype)
    x, y = _of_one_batch(x, y)
    m, n = aval_of(x).shape[-1], aval_of(y).shape[-1]
    return _strong(_picked(_joined(x, _part(y, min(1, n), n)), np.arange(m)[:, None] + np.arange(n)))


@eager_jit()
def circulant(c: ArrayLike) -> Array:
    """Matrices [..., n, n] whose columns are `c` [..., n], rotated by one more place each."""
    (x,) = _vectors("circulant", c)
    n = aval_of(x).shape[-1]
    return _picked(x, (np.arange(n)[:, None] - np.arange(n)) % max(n, 1))


@eager_jit()
def leslie(f: ArrayLike, s: ArrayLike) -> Array:
    """Leslie matrices [..., n, n]: fecundities `f` [..., n] in the first row, survival rates `s` [..., n - 1] below the
    diagonal. Raises ValueError for other lengths, and n < 2."""
    x, y = _vectors("leslie", f, s)
    n, m = aval_of(x).shape[-1], aval_of(y).shape[-1]
    if n < 2 or m != n - 1:
        raise ValueError(f"leslie takes f of 2 entries or more and s of one less; they have {n} and {m}")
    x, y = _of_one_batch(x, y)
    return _row_and_below(x, y)


def _row_and_below(row: Any, below: Any) -> Any:
    """Matrices [..., n, n] with a first row [..., n] and entries [..., n - 1] below the diagonal, else zeros."""
    shape = (*aval_of(row).shape, aval_of(row).shape[-1])
    rows, columns = (iota(dtypes.int32, shape, len(shape) - 2 + i) for i in range(2))
    zeros = full(shape, 0, aval_of(row).dtype)
    last = _joined(below, _part(full(aval_of(row).shape, 0, aval_of(row).dtype), 0, 1))
    lower = where(eq_p(rows, add_p(columns, np.int32(1))), ops.over_rows(last, shape), zeros)
    return where(eq_p(rows, np.int32(0)), ops.over_rows(row, shape), lower)


@eager_jit()
def companion(a: ArrayLike) -> Array:
    """Companion matrices [..., n - 1, n - 1] of polynomials with coefficients `a` [..., n], highest power first. Raises
    ValueError for n < 2."""
    (x,) = _vectors("companion", a, inexact=True)
    n = aval_of(x).shape[-1]
    if n < 2:
        raise ValueError(f"companion takes 2 coefficients or more; it got {n}")
    row = neg_p(_normalized(x))
    ones = full((*aval_of(x).shape[:-1], n - 2), 1, aval_of(x).dtype)
    return _row_and_below(row, ones)


def _normalized(x: Any) -> Any:
    """The coefficients after the first, divided by it."""
    n = aval_of(x).shape[-1]
    rest, first = _part(x, 1, n), _part(x, 0, 1)
    return div_p(rest, broadcast(first, aval_of(first).shape, aval_of(rest).shape))


@eager_jit()
def fiedler(a: ArrayLike) -> Array:
    """Fiedler matrices [..., n, n], |a_i - a_j|, of vectors [..., n]."""
    (x,) = _vectors("fiedler", a)
    shape = (*aval_of(x).shape, aval_of(x).shape[-1])
    return absolute(sub_p(ops.over_columns(x, shape), ops.over_rows(x, shape)))


@eager_jit()
def fiedler_companion(a: ArrayLike) -> Array:
    """Fiedler's pentadiagonal companion matrices [..., n - 1, n - 1] of polynomials with coefficients `a` [..., n],
    highest power first. Raises ValueError for n = 0."""
    (x,) = _vectors("fiedler_companion", a, inexact=True)
    *batch, n = aval_of(x).shape
    if not n:
        raise ValueError(f"fiedler_companion takes a coefficient or more; it got shape {aval_of(x).shape}")
    k, dtype = n - 1, aval_of(x).dtype
    # Each entry is a constant or one of the coefficients: pick all from one line, 0 and 1 coming first.
    places = np.zeros((k, k), int)
    for i in range(0, k, 2):
        if i + 1 < k:
            places[i, i + 1] = 3 + i  # -a_{i + 2}
        if i + 2 < k:
            places[i, i + 2] = 1
        if i >= 2:
            places[i, i - 1] = 2 + i
    places[3::2, 1:-2:2][np.diag_indices(len(range(3, k, 2)))] = 1
    if k:
        places[0, 0] = 2
    if k > 1:
        places[1, 0] = 1
    constants = [full((*batch, 1), i, dtype) for i in (0, 1)]
    return _picked(_joined(*constants, neg_p(_normalized(x))), places)


@eager_jit(static="n mode")
def convolution_matrix(a: ArrayLike, n: int, mode: str = "full") -> Array:
    """The matrix that convolves a vector of length `n` with `a` [..., m]: [..., m + n - 1, n] for `mode` "full", the
    middle max(m, n) rows for "same", the max(m, n) - min(m, n) + 1 without borders for "valid". Raises ValueError for
    other modes, scalars, empty vectors and n < 1."""
    count = integer("convolution_matrix", n, "n")
    x = array_operand("convolution_matrix", a)
    m = aval_of(x).shape[-1] if aval_of(x).ndim else 0
    if count <= 0 or not m:
        raise ValueError(
            f"convolution_matrix takes a vector of one entry or more and n ≥ 1; it got {aval_of(x).short()}, {n}"
        )
    if mode not in ("full", "valid", "same"):
        raise ValueError(f"convolution_matrix: mode is 'full', 'valid' or 'same', not {mode!r}")
    trim = 0 if mode == "full" else min(count, m) - 1
    before, after = (trim, trim) if mode == "valid" else (trim // 2, trim - trim // 2)
    rows = np.arange(before, m + count - 1 - after)[:, None]
    places = rows - np.arange(count)
    line = _joined(full((*aval_of(x).shape[:-1], 1), 0, aval_of(x).dtype), x)
    return _picked(line, np.where((places >= 0) & (places < m), places + 1, 0))


def block_diag(*arrs: ArrayLike) -> Array:
    """The matrix with the given matrices [m, n], [p, q], … along its diagonal and zeros elsewhere: [m + p + …, n + q +
    …]. Vectors count as rows, numbers as matrices of one entry. Raises ValueError for arrays of higher rank."""
    return _block_diag(list(arrs)) if arrs else full((1, 0), 0, dtypes.default_float())


@eager_jit()
def _block_diag(arrs: Any) -> Any:
    values, _, _, _ = promoted("block_diag", arrs)
    blocks = [array_operand("block_diag", x) for x in values]
    for number, x in enumerate(blocks):
        if aval_of(x).ndim > 2:
            raise ValueError(f"block_diag takes matrices; its argument {number} has shape {aval_of(x).shape}")
    blocks = [reshape(x, (1,) * (2 - aval_of(x).ndim) + aval_of(x).shape) for x in blocks]
    total, before, rows = sum(aval_of(x).shape[1] for x in blocks), 0, []
    for x in blocks:
        after = total - before - aval_of(x).shape[1]
        nothing = np.asarray(0).astype(aval_of(x).dtype)[()]
        rows.append(pad_p(x, nothing, padding_config=((0, 0, 0), (before, after, 0))))
        before += aval_of(x).shape[1]
    return concatenate_p(*rows, dimension=0)


# Of a size -----------------------------------------------------------------------------------------------------------


def _float(value: int) -> float:
    """An integer as a float: infinite if it is too large."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _entries(name: str, n: Any, entry: Any) -> np.ndarray:
    """The matrix of exact entries, in double precision."""
    count = integer(name, n, "n")
    return np.array([[_float(entry(i, j)) for j in range(count)] for i in range(count)], float).reshape(count, count)


def _made(values: np.ndarray, dtype: Any) -> Any:
    with np.errstate(over="ignore"):
        return asarray(values.astype(dtype))


def hilbert(n: int) -> Array:
    """The Hilbert matrix [n, n], 1 / (i + j + 1), in the default float."""
    places = np.arange(integer("hilbert", n, "n"))
    return _made(1 / (places[:, None] + places + 1.0), dtypes.default_float())


def invhilbert(n: int) -> Array:
    """The inverse [n, n] of `hilbert(n)`, its entries exact before they are rounded to the default float."""

    def entry(i: int, j: int) -> int:
        sign = -1 if (i + j) % 2 else 1
        return sign * (i + j + 1) * math.comb(n + i, n - j - 1) * math.comb(n + j, n - i - 1) * math.comb(i + j, i) ** 2

    return _made(_entries("invhilbert", n, entry), dtypes.default_float())


def _kind(name: str, kind: str | None) -> str:
    if kind not in (None, "symmetric", "lower", "upper"):
        raise ValueError(f"{name}: kind is 'symmetric', 'lower' or 'upper', not {kind!r}")
    return kind or "symmetric"


def pascal(n: int, kind: str | None = None) -> Array:
    """The Pascal matrix [n, n] in float32: binomial coefficients i + j over i ("symmetric", None), or those of i over j
    as a "lower" or "upper" triangle. Raises ValueError for another kind."""
    kind = _kind("pascal", kind)
    found = _entries("pascal", n, (lambda i, j: math.comb(i + j, i)) if kind == "symmetric" else math.comb)
    return _made(found.T if kind == "upper" else found, np.float32)


def invpascal(n: int, kind: str | None = None) -> Array:
    """The inverse [n, n] of `pascal(n, kind)`, in the default float."""
    kind = _kind("invpascal", kind)

    def triangle(i: int, j: int) -> int:
        return (-1) ** ((i - j) % 2) * math.comb(i, j)

    def symmetric(i: int, j: int) -> int:
        return sum(triangle(k, i) * triangle(k, j) for k in range(max(i, j), n))

    found = _entries("invpascal", n, symmetric if kind == "symmetric" else triangle)
    return _made(found.T if kind == "upper" else found, dtypes.default_float())


def helmert(n: int, full: bool = False) -> Array:
    """The Helmert matrix [n - 1, n] with orthonormal rows, each orthogonal to constants; with `full` the constant one
    comes first. Raises ValueError for n < 1."""
    count = integer("helmert", n, "n")
    if count < 1:
        raise ValueError(f"helmert: n must be positive, not {n}")
    k = np.arange(1, count)[:, None]
    places = np.arange(count)
    rows = np.where(places < k, 1.0, np.where(places == k, -k, 0.0)) / np.sqrt(k * (k + 1.0))
    if full:
        rows = np.concatenate([np.full((1, count), 1 / math.sqrt(count)), rows])
    return _made(rows, dtypes.default_float())


def hadamard(n: int, dtype: DTypeLike | None = int) -> Array:
    """Sylvester's Hadamard matrix [n, n] of ones and minus ones. Raises ValueError unless n is a power of two."""
    count = integer("hadamard", n, "n")
    if count < 1 or count & (count - 1):
        raise ValueError(f"hadamard: n must be a power of 2, not {n}")
    places = np.arange(count)
    odd = np.bitwise_count(places[:, None] & places) % 2
    return _made(np.where(odd, -1, 1), requested(dtype, "hadamard"))


def dft(n: int, scale: str | None = None, *, dtype: DTypeLike | None = None) -> Array:
    """The matrix [n, n] of the Fourier transform, exp(-2πi jk / n), complex; `scale` "sqrtn" divides by the root of n,
    "n" by n. Raises ValueError for another scale and dtypes that are not complex."""
    if scale not in (None, "sqrtn", "n"):
        raise ValueError(f"dft: scale is 'sqrtn', 'n' or None, not {scale!r}")
    to = dtypes.complex_of(dtypes.default_float()) if dtype is None else requested(dtype, "dft")
    if not dtypes.is_complex(to):
        raise ValueError(f"dft: the dtype must be complex, not {to}")
    count = integer("dft", n, "n")
    places = np.arange(count)
    found = np.exp(-2j * np.pi * (places[:, None] * places % max(count, 1)) / max(count, 1))
    return _made(found / {None: 1, "sqrtn": math.sqrt(count), "n": count}[scale] if count else found, to)
