"""Trees of arrays as vectors, and linear maps of them."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from ... import lax, numpy as jnp, tree
from ...api import Array
from ...core.avals import aval_of
from ...core.trace import Tracer
from ...numpy.operands import operand_and_aval


class SupportsMatmul(Protocol):
    """A matrix, dense or sparse."""

    def __matmul__(self, other: Any, /) -> Any: ...


def identity(x: Any) -> Any:
    return x


def linear_map(name: str, f: Any) -> Callable[[Any], Any]:
    """A function of vectors from a function, a square matrix or an object with `@`. Raises ValueError for other matrices,
    TypeError for other objects."""
    if callable(f):
        return f
    if not hasattr(f, "__matmul__"):
        raise TypeError(f"{name}: a linear map is a function, a square matrix or an object with @, not {f!r}")
    shape = getattr(f, "shape", None)
    if shape is not None and (len(shape) != 2 or shape[0] != shape[1]):
        raise ValueError(f"{name}: the matrix of a linear map must be square, not of shape {shape}")
    matrix: Any = f
    if isinstance(f, (np.ndarray, Array, Tracer)):
        return lambda x: jnp.dot(matrix, x, precision=lax.Precision.HIGHEST)
    return lambda x: f @ x


def vectors(name: str, b: Any, x0: Any) -> tuple[Any, Any]:
    """The right-hand side and the first guess (None: zeros) as trees of arrays. Raises ValueError where their structures or
    shapes differ, TypeError for leaves that are not arrays."""
    b = tree.map(lambda x: jnp.asarray(operand_and_aval(name, x, 1)[0]), b)
    if x0 is None:
        return b, tree.map(jnp.zeros_like, b)
    x0 = tree.map(lambda x: jnp.asarray(operand_and_aval(name, x, 2)[0]), x0)
    if tree.structure(x0) != tree.structure(b):
        raise ValueError(f"{name}: x0 must have the structure of b, {tree.structure(b)}, not {tree.structure(x0)}")
    for own, other in zip(map(aval_of, tree.leaves(x0)), map(aval_of, tree.leaves(b))):
        if own.shape != other.shape:
            raise ValueError(f"{name}: x0 must have the shapes of b; it has {own.short()} for {other.short()}")
    return b, x0


def add(x: Any, y: Any) -> Any:
    return tree.map(operator.add, x, y)


def subtract(x: Any, y: Any) -> Any:
    return tree.map(operator.sub, x, y)


def scaled(scale: Any, x: Any) -> Any:
    return tree.map(lambda leaf: scale * leaf, x)


def _total(products: Any) -> Any:
    return functools.reduce(operator.add, tree.leaves(products), 0)


def vdot(x: Any, y: Any) -> Any:
    """The inner product, conjugate in `x`."""
    return _total(tree.map(functools.partial(jnp.vdot, precision=lax.Precision.HIGHEST), x, y))


def real_vdot(x: Any, y: Any) -> Any:
    """The real part of the inner product, a float."""
    return _total(tree.map(_real_product, x, y))


def _real_product(x: Any, y: Any) -> Any:
    of_reals = functools.partial(jnp.vdot, precision=lax.Precision.HIGHEST)
    if jnp.iscomplexobj(x) or jnp.iscomplexobj(y):
        return of_reals(x.real, y.real) + of_reals(x.imag, y.imag)
    return of_reals(x, y)


def norm(x: Any) -> Any:
    return jnp.sqrt(real_vdot(x, x))
