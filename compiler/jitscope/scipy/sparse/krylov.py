"""Generalized minimal residuals: the best solution in the space of a vector and its images, built column by column (Y. Saad and
M. Schultz, SIAM J. Sci. Stat. Comput. 7, 1986; Y. Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., section 6.5)."""

from __future__ import annotations

import functools
from typing import Any

from ... import lax, numpy as jnp, tree
from ...named_tuple import NamedTuple
from ...numpy import linalg
from ...numpy.operands import weak_as
from ...ops.indexing import dynamic_slice_p, dynamic_update_slice_p
from ..linalg import solve_triangular
from .vectors import add, norm, subtract


class Tolerances(NamedTuple):
    """Norms of the residual that are small enough: the preconditioned one between rounds, and within a round."""

    between: Any
    within: Any


def solve_by_gmres(
    A: Any,
    b: Any,
    *,
    x0: Any,
    precondition: Any,
    tolerances: Tolerances,
    restart: int,
    maxiter: Any,
    early: bool,
) -> Any:
    """Rounds of `restart` images each, until the residual is small or there were `maxiter` of them."""

    def residual(x: Any) -> Any:
        return _unit(precondition(subtract(b, A(x))))

    def body(state: Any) -> Any:
        x, unit, size, k = state
        basis, coefficients = _round(lambda v: precondition(A(v)), unit, size, tolerances.within, restart, early)
        x = add(x, tree.map(lambda v: _combined(v[:-1], coefficients).astype(v.dtype), basis))
        return x, *residual(x), k + 1

    unit, size = residual(x0)
    start = (x0, unit, size, 0)
    x, *_ = lax.while_loop(lambda s: (s[2] > tolerances.between) & (s[3] < maxiter), body, start)
    return tree.map(weak_as, x, b, x0)


def _unit(x: Any, least: Any = None) -> tuple[Any, Any]:
    """The vector of norm 1 in the direction of x, and the norm of x; both 0 if that is at most `least` (one ulp of 1)."""
    size = norm(x)
    least = jnp.finfo(size.dtype).eps if least is None else least
    some = size > least
    divisor = jnp.where(some, size, 1)
    return tree.map(lambda v: jnp.where(some, v / divisor.astype(v.dtype), 0), x), jnp.where(some, size, 0)


def _combined(rows: Any, coefficients: Any) -> Any:
    """The sum of rows, each times its coefficient."""
    return jnp.tensordot(coefficients, rows, 1, precision=lax.Precision.HIGHEST)


def _overlaps(basis: Any, x: Any) -> Any:
    """The inner product of each vector of the basis with x."""

    def of_leaf(rows: Any, leaf: Any) -> Any:
        flat = jnp.conj(rows).reshape(rows.shape[0], -1)
        return jnp.dot(flat, leaf.ravel(), precision=lax.Precision.HIGHEST)

    return functools.reduce(jnp.add, tree.leaves(tree.map(of_leaf, basis, x)))


def _orthogonal(basis: Any, x: Any) -> tuple[Any, Any]:
    """x without its parts along the basis, and these. What is left of a long vector is cleaned a second time, since rounding
    leaves as much of them as it took away."""

    def without(x: Any) -> tuple[Any, Any]:
        parts = _overlaps(basis, x)
        return subtract(x, tree.map(lambda v: _combined(v, parts).astype(v.dtype), basis)), parts

    rest, parts = without(x)

    def again(rest: Any) -> tuple[Any, Any]:
        rest, more = without(rest)
        return rest, parts + more

    return lax.cond(norm(rest) < norm(x) / 2**0.5, again, lambda rest: (rest, parts), rest)


def _step(A: Any, basis: Any, k: Any, dtype: Any) -> tuple[Any, Any, Any]:
    """The basis with one more vector, from the image of vector k; the image's parts along all of them; whether it had none but
    those."""
    image = A(tree.map(lambda v: _row(v, k), basis))
    rest, parts = _orthogonal(basis, image)
    new, length = _unit(rest, jnp.finfo(dtype).eps * norm(image))
    basis = tree.map(lambda v, x: _with_row(v, x, k + 1), basis, new)
    column = dynamic_update_slice_p(parts.astype(dtype), length.astype(dtype)[None], k + 1)
    return basis, column, length == 0


def _row(v: Any, k: Any) -> Any:
    starts = (k, *[jnp.zeros_like(k)] * (v.ndim - 1))
    return dynamic_slice_p(v, *starts, slice_sizes=(1, *v.shape[1:]))[0]


def _with_row(v: Any, x: Any, k: Any) -> Any:
    return dynamic_update_slice_p(v, x.astype(v.dtype)[None], k, *[jnp.zeros_like(k)] * (v.ndim - 1))


def _round(A: Any, unit: Any, size: Any, enough: Any, restart: int, early: bool) -> tuple[Any, Any]:
    """An orthonormal basis from `unit` on, and the coefficients of the correction in it that leaves least of the residual.

    Row k of `columns` holds the image of vector k in the basis, so its transpose is the Hessenberg matrix of the map.
    """
    basis = tree.map(lambda x: jnp.pad(x[None], [(0, restart), *[(0, 0)] * x.ndim]), unit)
    dtype = jnp.result_type(*tree.leaves(unit))
    # Columns not reached stay those of the identity, so that the triangular factor has an inverse.
    columns, zero = jnp.eye(restart, restart + 1, dtype=dtype), jnp.zeros((), "int32")
    start = _RestartState(zero, jnp.asarray(False), basis, columns)
    right = jnp.zeros(restart + 1, dtype).at[0].set(size.astype(dtype))
    make = _round_with_rotations if early else _round_at_once
    end, factor, right = make(A, start, right, enough, restart, dtype)
    right = jnp.where(jnp.arange(restart) < end.k, right[:restart], 0)
    return end.basis, solve_triangular(factor, right)


class _RestartState(NamedTuple):
    k: Any
    closed: Any
    basis: Any
    columns: Any


def _round_at_once(
    A: Any, start: _RestartState, right: Any, enough: Any, restart: int, dtype: Any
) -> tuple[_RestartState, Any, Any]:
    """All images, then one factorization; the triangular factor, and the residual in the basis that makes it so."""

    def body(s: _RestartState) -> _RestartState:
        basis, column, closed = _step(A, s.basis, s.k, dtype)
        return _RestartState(s.k + 1, closed, basis, _with_row(s.columns, column, s.k))

    end = lax.while_loop(lambda s: (s.k < restart) & ~s.closed, body, start)
    turn, factor = linalg.qr(end.columns.T)
    return end, factor, right[0] * jnp.conj(turn[0])


def _round_with_rotations(
    A: Any, start: _RestartState, right: Any, enough: Any, restart: int, dtype: Any
) -> tuple[_RestartState, Any, Any]:
    """As long as the residual is more than `enough`: each column is made part of a triangular one at once, by rotations of
    neighbouring elements; those of the residual leave, at place k + 1, its norm."""

    def body(state: Any) -> Any:
        s, right, rotations, _ = state
        basis, column, closed = _step(A, s.basis, s.k, dtype)
        column = lax.fori_loop(0, s.k, lambda i, c: _rotated(c, i, _row(rotations, i)), column)
        pair = dynamic_slice_p(column, s.k, slice_sizes=(2,))
        rotation = _rotation(pair[0], pair[1])
        right = _rotated(right, s.k, rotation)
        columns = _with_row(s.columns, _rotated(column, s.k, rotation), s.k)
        left = jnp.abs(dynamic_slice_p(right, s.k + 1, slice_sizes=(1,))[0])
        return _RestartState(s.k + 1, closed, basis, columns), right, _with_row(rotations, rotation, s.k), left

    rotations, left = jnp.zeros((restart, 2, 2), dtype), jnp.abs(right[0])
    going = lambda state: (state[0].k < restart) & ~state[0].closed & (state[3] > enough)
    end, right, _, _ = lax.while_loop(going, body, (start, right, rotations, left))
    return end, end.columns[:, :-1].T, right


def _rotation(a: Any, b: Any) -> Any:
    """The unitary matrix [[c*, s*], [-s, c]] that turns (a, b) into (·, 0)."""
    length = jnp.sqrt(jnp.square(jnp.abs(a)) + jnp.square(jnp.abs(b)))
    some = length > 0
    divisor = jnp.where(some, length, 1).astype(a.dtype)
    c, s = jnp.where(some, a / divisor, 1), jnp.where(some, b / divisor, 0)
    return jnp.stack([jnp.conj(c), jnp.conj(s), -s, c]).reshape(2, 2)


def _rotated(x: Any, i: Any, rotation: Any) -> Any:
    """A vector with its elements i and i + 1 turned."""
    pair = jnp.dot(rotation, dynamic_slice_p(x, i, slice_sizes=(2,)), precision=lax.Precision.HIGHEST)
    return dynamic_update_slice_p(x, pair, i)
