"""Attention by scaled dot products."""

from __future__ import annotations

import math
from typing import Any, Literal, overload

import numpy as np

from .. import lax, numpy as jnp
from ..core import dtypes
from ..core.annotations import Array, ArrayLike
from ..core.avals import aval_of
from ..eager.functions import eager_jit
from ..numpy.operands import lenient
from .activations import array
from .normalizing import logsumexp, softmax


__all__ = ["dot_product_attention"]


@overload
def dot_product_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    bias: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    *,
    scale: ArrayLike | None = None,
    is_causal: bool = False,
    query_seq_lengths: ArrayLike | None = None,
    key_value_seq_lengths: ArrayLike | None = None,
    local_window_size: int | tuple[int, int] | None = None,
    implementation: str | None = None,
    return_residual: Literal[False] = False,
) -> Array: ...
@overload
def dot_product_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    bias: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    *,
    scale: ArrayLike | None = None,
    is_causal: bool = False,
    query_seq_lengths: ArrayLike | None = None,
    key_value_seq_lengths: ArrayLike | None = None,
    local_window_size: int | tuple[int, int] | None = None,
    implementation: str | None = None,
    return_residual: Literal[True],
) -> tuple[Array, Array]: ...
@lenient
def dot_product_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    bias: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    *,
    scale: ArrayLike | None = None,
    is_causal: bool = False,
    query_seq_lengths: ArrayLike | None = None,
    key_value_seq_lengths: ArrayLike | None = None,
    local_window_size: int | tuple[int, int] | None = None,
    implementation: str | None = None,
    return_residual: bool = False,
) -> Array | tuple[Array, Array]:
    """softmax(scale * query · keyᵀ + bias) · value, for each batch and head.

    query [B, T, N, H], key and value [B, S, K, H], all of one dtype; without a batch, three axes. N is a multiple of K: that many
    heads share a key. `bias` (added to the logits) and `mask` (booleans: False is left out) are [B, N, T, S], where B, N, T and S
    may be 1. `scale`: 1 / sqrt(H) if None. `is_causal` leaves out keys after the query; `local_window_size` (left, right), or one
    int for both, keys farther away; `query_seq_lengths` and `key_value_seq_lengths` (i32 [B]) what lies past the end (such queries
    give 0). A query that may attend to nothing gives the mean of the values.

    The result has query's shape and dtype; with `return_residual` a tuple of it and the logarithms of the softmax's sums
    [B, T, N], which have no derivative. Logits and softmax are float32 at least. `implementation` is None or "xla". Raises
    ValueError for shapes and dtypes that do not fit and for an unknown implementation, NotImplementedError for "cudnn".
    """
    if implementation == "cudnn":
        raise NotImplementedError(
            "dot_product_attention: 'cudnn' needs an NVIDIA GPU; leave implementation out, or take 'xla'"
        )
    if implementation not in (None, "xla"):
        raise ValueError(f"dot_product_attention: implementation is None or 'xla', not {implementation!r}")
    shape = np.shape(query)
    given = {"query": query, "key": key, "value": value, "bias": bias, "mask": mask}
    arrays = {name: None if x is None else _of_four_axes(name, x) for name, x in given.items()}
    lengths = {"query_seq_lengths": query_seq_lengths, "key_value_seq_lengths": key_value_seq_lengths}
    lengths = {name: None if n is None else jnp.asarray(n) for name, n in lengths.items()}
    _check(**arrays, **lengths)
    window = (local_window_size,) * 2 if isinstance(local_window_size, int) else local_window_size
    scale = 1 / math.sqrt(shape[-1]) if scale is None and shape[-1] else 1.0 if scale is None else scale
    ends = tuple(lengths.values())
    found = _attend(*arrays.values(), scale, *ends, bool(is_causal), window, bool(return_residual))  # pyright: ignore[reportCallIssue]
    if len(shape) == 4:
        return found
    if not return_residual:
        return jnp.reshape(found, shape)
    out, residual = found
    return jnp.reshape(out, shape), jnp.reshape(residual, shape[:-1])


def _of_four_axes(name: str, x: Any) -> Any:
    x = array(f"dot_product_attention, {name},", x)
    return jnp.expand_dims(x, tuple(range(4 - x.ndim))) if x.ndim < 4 else x


def _check(query: Any, key: Any, value: Any, bias: Any, mask: Any, **lengths: Any) -> None:
    where = "dot_product_attention:"
    if key.ndim != 4:
        raise ValueError(f"{where} key is [batch, keys, heads, size]; it got {aval_of(key).short()}")
    batch, keys, heads, size = key.shape
    if value.shape != key.shape or value.dtype != key.dtype:
        raise ValueError(f"{where} value {aval_of(value).short()} must be like key {aval_of(key).short()}")
    if query.ndim != 4 or (query.shape[0], query.shape[3], query.dtype) != (batch, size, key.dtype):
        raise ValueError(
            f"{where} query {aval_of(query).short()} must have the dtype, the batch and the last axis of key {aval_of(key).short()}"
        )
    queries, own_heads = query.shape[1:3]
    if not heads or own_heads % heads:
        raise ValueError(
            f"{where} query has {own_heads} heads, which is not a multiple of the {heads} of key and value"
        )
    if mask is not None and mask.dtype != dtypes.bool_:
        raise ValueError(f"{where} mask must be of booleans, not {mask.dtype.name}; to add to the logits, use bias")
    for name, x in (("bias", bias), ("mask", mask)):
        full = (batch, own_heads, queries, keys)
        if x is not None and (x.ndim != 4 or any(n not in (1, m) for n, m in zip(x.shape, full))):
            raise ValueError(f"{where} {name} {aval_of(x).short()} does not broadcast to {full}")
    for name, n in lengths.items():
        if n is not None and (n.shape != (batch,) or not dtypes.is_integer(n.dtype)):
            raise ValueError(
                f"{where} {name} must be {batch} integers, one for each of the batch, not {aval_of(n).short()}"
            )


@eager_jit(static="is_causal window with_residual")
def _attend(
    query: Any,
    key: Any,
    value: Any,
    bias: Any,
    mask: Any,
    scale: Any,
    query_ends: Any,
    key_ends: Any,
    is_causal: bool,
    window: Any,
    with_residual: bool,
) -> Any:
    """The result [B, T, N, H], and with it, if asked for, the logarithms [B, T, N]."""
    (batch, queries, own_heads, size), (keys, heads) = query.shape, key.shape[1:3]
    groups = own_heads // heads
    # The heads that share a key go side by side into one product, whose result no one has to transpose.
    rows = jnp.transpose(jnp.reshape(query, (batch, queries, heads, groups, size)), (0, 2, 3, 1, 4))
    rows = jnp.reshape(rows, (batch, heads, groups * queries, size))
    wide = jnp.promote_types(query.dtype, jnp.float32)
    logits = lax.dot_general(rows, key, (((3,), (3,)), ((0, 1), (0, 2))), preferred_element_type=wide)
    logits = jnp.reshape(logits * jnp.asarray(scale, wide), (batch, heads, groups, queries, keys))
    if bias is not None:
        logits = (logits + _grouped(bias, heads)).astype(wide)
    seen = _seen(queries, keys, is_causal, window, query_ends, key_ends)
    if mask is not None:
        seen.append(_grouped(mask, heads))
    if seen:
        least = -0.7 * min(float(jnp.finfo(wide).max), float(jnp.finfo(jnp.float32).max))
        allowed = seen[0]
        for more in seen[1:]:
            allowed = jnp.logical_and(allowed, more)
        logits = jnp.where(allowed, logits, least)
    shares = softmax(logits).astype(key.dtype)
    shares = jnp.reshape(shares, (batch, heads, groups * queries, keys))
    out = lax.dot_general(shares, value, (((3,), (1,)), ((0, 1), (0, 2))))
    out = jnp.transpose(jnp.reshape(out, (batch, heads, groups, queries, size)), (0, 3, 1, 2, 4))
    out = jnp.reshape(out, (batch, queries, own_heads, size))
    if query_ends is not None:
        inside = jnp.arange(queries) < query_ends[:, None]
        out = out * inside[:, :, None, None].astype(out.dtype)
    if not with_residual:
        return out
    sums = jnp.transpose(logsumexp(logits, axis=-1), (0, 3, 1, 2)).astype(key.dtype)
    return out, lax.stop_gradient(jnp.reshape(sums, (batch, queries, own_heads)))


def _grouped(x: Any, heads: int) -> Any:
    """[B, N, T, S] as [B, K, G, T, S]."""
    batch, own, queries, keys = x.shape
    return jnp.reshape(x, (batch, 1, 1, queries, keys) if own == 1 else (batch, heads, own // heads, queries, keys))


def _seen(queries: int, keys: int, is_causal: bool, window: Any, query_ends: Any, key_ends: Any) -> list[Any]:
    """Which keys a query may attend to, as masks that broadcast to [B, K, G, T, S]."""
    found: list[Any] = []
    if not is_causal and window is None and query_ends is None and key_ends is None:
        return found
    at, of = jnp.arange(queries)[:, None], jnp.arange(keys)
    if is_causal:
        found.append(of <= at)
    if window is not None:
        left, right = window
        found += [of >= at - left, of <= at + right]
    if query_ends is not None:
        found.append(at < query_ends[:, None, None, None, None])
    if key_ends is not None:
        found.append(of < key_ends[:, None, None, None, None])
    return found
