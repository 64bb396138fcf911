"""`jitscope.scipy.cluster.vq`: the nearest of given vectors."""

from __future__ import annotations

from ... import lax, numpy as jnp
from ...core import dtypes
from ...core.annotations import Array, ArrayLike
from ...eager.functions import eager_jit
from ...numpy.operands import promoted


_FOR_EACH_ROW = lax.GatherDimensionNumbers((), (1,), (1,), (0,), (0,))


@eager_jit(static="check_finite", nested=True)
def vq(obs: ArrayLike, code_book: ArrayLike, check_finite: bool = True) -> tuple[Array, Array]:
    """For each row of `obs` [m, n] the number of the nearest row of `code_book` [k, n], the first of equals, and its distance.

    Gives integers [m] and floats [m]; vectors [m] and [k] are taken as columns. Integers become floats. `check_finite` changes
    nothing: a compiled program cannot raise. Raises ValueError for arrays of different ranks or of other ranks than 1 and 2.
    """
    (x, codes), avals, _, _ = promoted("vq", (obs, code_book), inexact=True)
    ranks = [a.ndim for a in avals]
    if ranks[0] != ranks[1] or ranks[0] not in (1, 2):
        shown = " and ".join(a.short() for a in avals)
        raise ValueError(f"vq: obs and code_book must both be matrices or both vectors, not {shown}")
    x, codes = jnp.asarray(x), jnp.asarray(codes)
    if ranks[0] == 1:
        x, codes = x[:, None], codes[:, None]
    gaps = x[:, None] - codes[None]
    squares = jnp.square(jnp.abs(gaps)) if dtypes.is_complex(gaps.dtype) else gaps * gaps
    distances = jnp.sum(squares, -1)
    nearest = jnp.argmin(distances, -1)
    return nearest, jnp.sqrt(lax.gather(distances, nearest[:, None], _FOR_EACH_ROW, (1, 1), mode="promise_in_bounds"))
