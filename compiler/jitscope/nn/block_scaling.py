"""Products of numbers of 4 and 8 bits, of which each block along the contracting axis has a scale of its own.

Where JAX has these on some GPUs only, here they are written out, for every device: the numbers are scaled in float32 and multiplied
there, so that the result is what such a GPU gives, up to rounding; nothing is saved in time.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import lax, numpy as jnp
from ..control.custom_vjp import custom_vjp
from ..core import dtypes
from ..core.annotations import Array, ArrayLike, DotDimensionNumbers, DTypeLike
from ..core.avals import aval_of
from ..eager.functions import eager_jit
from ..numpy.dtypes import requested
from ..numpy.operands import lenient
from .activations import array


__all__ = ["get_scaled_dot_general_config", "scaled_dot_general", "scaled_matmul"]


@dataclass(slots=True)
class BlockScaleConfig:
    """How numbers are quantized: blocks of `block_size` in `data_type`, with scales in `scale_type`, and for all of them
    `global_scale` (f32 [1], or None)."""

    mode: str
    block_size: int
    data_type: Any
    scale_type: Any
    global_scale: Any
    infer_only: bool


@dataclass(frozen=True)
class _Blocks:
    """A BlockScaleConfig without its array."""

    mode: str
    size: int
    data: Any
    scale: Any


def get_scaled_dot_general_config(mode: str, global_scale: ArrayLike | None = None) -> BlockScaleConfig:
    """The configuration "mxfp8" (blocks of 32 float8_e4m3fn, scales that are powers of 2) or "nvfp4" (blocks of 16 float4_e2m1fn,
    scales in float8_e4m3fn, and `global_scale`, f32 [1], 1 if None). Raises ValueError for others."""
    if mode == "nvfp4":
        one = jnp.ones((1,), jnp.float32) if global_scale is None else global_scale
        return BlockScaleConfig(mode, 16, dtypes.canonicalize(jnp.float4_e2m1fn), jnp.float8_e4m3fn.dtype, one, False)
    if mode == "mxfp8":
        return BlockScaleConfig(mode, 32, jnp.float8_e4m3fn.dtype, jnp.float8_e8m0fnu.dtype, None, False)
    raise ValueError(f"get_scaled_dot_general_config: mode is 'nvfp4' or 'mxfp8', not {mode!r}")


@lenient
def scaled_matmul(
    lhs: ArrayLike,
    rhs: ArrayLike,
    lhs_scales: ArrayLike,
    rhs_scales: ArrayLike,
    preferred_element_type: DTypeLike = np.float32,
) -> Array:
    """lhs · rhsᵀ, after each block of K // K_s elements along the last axis was multiplied by its scale.

    lhs [B, M, K], rhs [B, N, K], lhs_scales [B, M, K_s], rhs_scales [B, N, K_s], K a multiple of K_s; the result is [B, M, N] in
    `preferred_element_type`. Raises ValueError for shapes that do not fit.
    """
    given = (lhs, rhs, lhs_scales, rhs_scales)
    arrays = [array(f"scaled_matmul, argument {i},", x) for i, x in enumerate(given)]
    _check(*arrays)
    return _scaled_matmul(*arrays, requested(preferred_element_type, "scaled_matmul"))  # pyright: ignore[reportCallIssue]


def _check(lhs: Any, rhs: Any, lhs_scales: Any, rhs_scales: Any) -> None:
    shapes = " and ".join(aval_of(x).short() for x in (lhs, rhs, lhs_scales, rhs_scales))
    if any(x.ndim != 3 for x in (lhs, rhs, lhs_scales, rhs_scales)):
        raise ValueError(f"scaled_matmul takes four arrays of three axes; it got {shapes}")
    (batch, rows, size), (blocks,) = lhs.shape, lhs_scales.shape[2:]
    columns = rhs.shape[1]
    wanted = ((batch, rows, size), (batch, columns, size), (batch, rows, blocks), (batch, columns, blocks))
    if (
        tuple(x.shape for x in (lhs, rhs, lhs_scales, rhs_scales)) != wanted
        or size % max(blocks, 1)
        or (size and not blocks)
    ):
        raise ValueError(
            f"scaled_matmul takes [B, M, K], [B, N, K], [B, M, K_s] and [B, N, K_s], K a multiple of K_s; it got {shapes}"
        )


@eager_jit(static="preferred")
def _scaled_matmul(lhs: Any, rhs: Any, lhs_scales: Any, rhs_scales: Any, preferred: Any) -> Any:
    left, right = _spread(lhs, lhs_scales), _spread(rhs, rhs_scales)
    return jnp.einsum("bmk,bnk->bmn", left, right, preferred_element_type=jnp.float32).astype(preferred)


def _spread(x: Any, scales: Any) -> Any:
    """The numbers that a quantized array stands for, in float32."""
    blocks = scales.shape[2]
    apart = jnp.reshape(x.astype(jnp.float32), (*x.shape[:2], blocks, x.shape[2] // max(blocks, 1)))
    return jnp.reshape(apart * scales.astype(jnp.float32)[..., None], x.shape)


@lenient
def scaled_dot_general(
    lhs: ArrayLike,
    rhs: ArrayLike,
    dimension_numbers: DotDimensionNumbers,
    preferred_element_type: DTypeLike = np.float32,
    configs: Sequence[BlockScaleConfig] | None = None,
    implementation: str | None = None,
) -> Array:
    """lax.dot_general of operands that are quantized first, by the configurations of lhs, of rhs and of gradients (`configs`,
    see `get_scaled_dot_general_config`); None: lax.dot_general itself.

    `dimension_numbers`: ((contracting of lhs, of rhs), (batch of lhs, of rhs)). The contracting axes together must be a multiple of the block
    size, in derivatives the other ones too. Derivatives take the operands as they are, not as quantized. Raises TypeError for a
    `preferred_element_type` other than float32, bfloat16 and float16, ValueError for sizes that do not fit. `implementation` is
    ignored, with a DeprecationWarning.
    """
    if implementation is not None:
        warnings.warn("scaled_dot_general: implementation is ignored", DeprecationWarning, stacklevel=2)
    if configs is None:
        return lax.dot_general(lhs, rhs, dimension_numbers, preferred_element_type=preferred_element_type)
    preferred = requested(preferred_element_type, "scaled_dot_general")
    if preferred not in (dtypes.float32, dtypes.bfloat16, dtypes.float16):
        raise TypeError(f"scaled_dot_general gives float32, bfloat16 or float16, not {preferred.name}")
    (left, right), (left_batch, right_batch) = dimension_numbers
    dims = ((tuple(left), tuple(right)), (tuple(left_batch), tuple(right_batch)))
    lhs, rhs = array("scaled_dot_general", lhs), array("scaled_dot_general", rhs)
    kinds = tuple(_Blocks(c.mode, c.block_size, c.data_type, c.scale_type) for c in configs)
    return _scaled_dot(lhs, rhs, tuple(c.global_scale for c in configs), dims, preferred, kinds)


def _quantized(x: Any, kind: _Blocks, whole: Any) -> tuple[Any, Any]:
    """[B, M, K] as numbers of few bits and their scales [B, M, K / block size]."""
    size = x.shape[-1]
    if not size or size % kind.size:
        raise ValueError(
            f"scaled_dot_general: {size} numbers are summed; that must be a multiple of the block size {kind.size}"
        )
    blocks = jnp.reshape(x, (*x.shape[:-1], size // kind.size, kind.size))
    most = float(jnp.finfo(kind.data).max)
    if kind.mode == "mxfp8":
        scales = _power_of_two(jnp.max(jnp.abs(blocks), -1, keepdims=True) / most)
        scaled = blocks / scales.astype(jnp.float32).astype(x.dtype)
    elif kind.mode == "nvfp4":
        blocks = blocks / whole
        needed = jnp.max(jnp.abs(blocks), -1, keepdims=True) / most
        scales = jnp.clip(needed, 0, float(jnp.finfo(kind.scale).max)).astype(kind.scale)
        scaled = blocks / lax.optimization_barrier(scales).astype(jnp.float32)
    else:
        raise ValueError(f"scaled_dot_general: the mode is 'mxfp8' or 'nvfp4', not {kind.mode!r}")
    numbers = jnp.clip(scaled, -most, most).astype(kind.data)
    return jnp.reshape(numbers, x.shape), scales[..., 0]


def _power_of_two(x: Any) -> Any:
    """The next power of 2 that is not below x (>= 0), as float8_e8m0fnu, which holds exponents alone."""
    bits = lax.bitcast_convert_type(x.astype(jnp.float32), jnp.uint32)
    exponent, rest = bits >> 23, bits & 0x7FFFFF
    tiny = (exponent == 0) & (rest <= 0x400000)
    up = (rest > 0) & (exponent != 254) & ~tiny
    return lax.bitcast_convert_type((exponent + up).astype(jnp.uint8), jnp.float8_e8m0fnu)


def _as_three(x: Any, batch: Sequence[int], contracting: Sequence[int]) -> Any:
    """x as [batch, others, contracting]."""
    kept = [i for i in range(x.ndim) if i not in batch and i not in contracting]
    sizes = [int(np.prod([x.shape[i] for i in axes], dtype=int)) for axes in (batch, kept, contracting)]
    return jnp.reshape(jnp.transpose(x, (*batch, *kept, *contracting)), sizes)


def _product(lhs: Any, rhs: Any, dims: Any, preferred: Any, kinds: Any, wholes: Any) -> Any:
    """The product of two operands after quantizing; without kinds, of the operands as they are."""
    (left, right), (left_batch, right_batch) = dims
    a, b = _as_three(lhs, left_batch, left), _as_three(rhs, right_batch, right)
    shape = (
        *[lhs.shape[i] for i in left_batch],
        *[lhs.shape[i] for i in range(lhs.ndim) if i not in (*left, *left_batch)],
        *[rhs.shape[i] for i in range(rhs.ndim) if i not in (*right, *right_batch)],
    )
    if kinds is None:
        return jnp.reshape(jnp.einsum("bmk,bnk->bmn", a, b, preferred_element_type=preferred), shape)
    (a, a_scales), (b, b_scales) = (_quantized(x, k, w) for x, k, w in zip((a, b), kinds, wholes))
    wide = jnp.float32.dtype if kinds[0].mode == "nvfp4" else preferred
    out = _scaled_matmul(a, b, a_scales, b_scales, wide)
    if kinds[0].mode == "nvfp4":
        out = (out * (wholes[0] * wholes[1])).astype(preferred)
    return jnp.reshape(out, shape)


def _gradient(g: Any, y: Any, like: Any, dims: Any, swapped: bool, preferred: Any, kinds: Any) -> Any:
    """The cotangent of the operand `like`, y being the other one; `swapped`: `like` is the right one."""
    (own, others), (own_batch, other_batch) = dims
    kept = [i for i in range(like.ndim) if i not in (*own, *own_batch)]
    other_kept = [i for i in range(y.ndim) if i not in (*others, *other_batch)]
    first = len(own_batch) + (0 if swapped else len(kept))
    of_g = tuple(range(first, first + len(other_kept)))
    back = ((of_g, tuple(other_kept)), (tuple(range(len(own_batch))), other_batch))
    out = _product(g, y, back, preferred, None if kinds[0].mode == "nvfp4" else kinds, (None, None))
    # Its axes: the batch, those kept, and the contracting ones in the order of y's.
    contracting = [own[others.index(i)] for i in sorted(others)]
    order = np.argsort([*own_batch, *kept, *contracting])
    return jnp.transpose(out, tuple(int(i) for i in order)).astype(like.dtype)


def _scaled_dot_of(lhs: Any, rhs: Any, wholes: Any, dims: Any, preferred: Any, kinds: Any) -> Any:
    return _product(lhs, rhs, dims, preferred, kinds[:2], wholes[:2])


_scaled_dot = custom_vjp(_scaled_dot_of, nondiff_argnums=(3, 4, 5))


def _forward(lhs: Any, rhs: Any, wholes: Any, dims: Any, preferred: Any, kinds: Any) -> Any:
    return _scaled_dot(lhs, rhs, wholes, dims, preferred, kinds), (lhs, rhs, wholes)


def _backward(dims: Any, preferred: Any, kinds: Any, kept: Any, g: Any) -> Any:
    lhs, rhs, wholes = kept
    swapped_dims = tuple((b, a) for a, b in dims)
    for_left = _gradient(g, rhs, lhs, dims, False, preferred, (kinds[2], kinds[1]))
    for_right = _gradient(g, lhs, rhs, swapped_dims, True, preferred, (kinds[2], kinds[0]))
    if kinds[2].mode == "nvfp4":
        for_left = _where_held(for_left, lhs, kinds[0], wholes[0])
        for_right = _where_held(for_right, rhs, kinds[1], wholes[1])
    return for_left, for_right, None


def _where_held(ct: Any, x: Any, kind: _Blocks, whole: Any) -> Any:
    """A number that is cut has no derivative."""
    most = float(jnp.finfo(kind.data).max) * float(jnp.finfo(kind.scale).max)
    return jnp.where(jnp.abs(x) <= whole.reshape(()) * most, ct, 0)


_scaled_dot.defvjp(_forward, _backward)
