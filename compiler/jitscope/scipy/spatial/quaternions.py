"""Formulas of unit quaternions (x, y, z, w), along the last axis."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import numpy as jnp
from ...eager.functions import eager_jit
from ...numpy import linalg
from ...numpy.operands import lenient, operand


_SMALL = 1e-3
"""Angles up to this one are treated by series."""


def _parts(quat: Any) -> list[Any]:
    return [quat[..., i] for i in range(4)]


def _length(x: Any) -> Any:
    return jnp.sqrt(jnp.sum(x * x, -1))


def _radians(x: Any, degrees: Any) -> Any:
    x = jnp.asarray(operand("Rotation", x, inexact=True))
    if isinstance(degrees, (bool, np.bool_)):
        return jnp.deg2rad(x) if degrees else x
    return jnp.where(degrees, jnp.deg2rad(x), x)


def _in_degrees(x: Any, degrees: Any) -> Any:
    if isinstance(degrees, (bool, np.bool_)):
        return jnp.rad2deg(x) if degrees else x
    return jnp.where(degrees, jnp.rad2deg(x), x)


@lenient
@eager_jit(nested=True)
def normalized(quat: Any) -> Any:
    """Quaternions [..., 4] of length 1."""
    return _normalized(jnp.asarray(quat))


@lenient
@eager_jit(nested=True)
def product(p: Any, q: Any) -> Any:
    """The composition of rotations p and q, both [..., 4]: Hamilton's product, brought to length 1."""
    p, q = jnp.asarray(p), jnp.asarray(q)
    return _normalized(_product(p, q))


def _normalized(quat: Any) -> Any:
    return quat / _length(quat)[..., None]


def _product(p: Any, q: Any) -> Any:
    """W. R. Hamilton's product: scalars p₀, q₀ and vectors p, q give p₀ q₀ - p·q and p₀ q + q₀ p + p × q."""
    (a, b, c, d), (e, f, g, h) = _parts(p), _parts(q)
    return jnp.stack(
        [
            d * e + h * a + b * g - c * f,
            d * f + h * b + c * e - a * g,
            d * g + h * c + a * f - b * e,
            d * h - a * e - b * f - c * g,
        ],
        -1,
    )


@lenient
@eager_jit(static="inverse", nested=True)
def applied(quat: Any, vectors: Any, inverse: Any) -> Any:
    """Vectors [..., 3] rotated, or rotated back where `inverse`."""
    matrix = _matrix(jnp.asarray(quat))
    turned = jnp.swapaxes(matrix, -1, -2)
    known = isinstance(inverse, (bool, np.bool_))
    matrix = (turned if inverse else matrix) if known else jnp.where(inverse, turned, matrix)
    return (matrix @ jnp.asarray(vectors)[..., None])[..., 0]


@lenient
@eager_jit(nested=True)
def as_matrix(quat: Any) -> Any:
    """The rotation matrices [..., 3, 3] of quaternions [..., 4]."""
    return _matrix(jnp.asarray(quat))


def _matrix(quat: Any) -> Any:
    x, y, z, w = _parts(quat)
    xx, yy, zz, ww = x * x, y * y, z * z, w * w
    xy, zw, xz, yw, yz, xw = x * y, z * w, x * z, y * w, y * z, x * w
    elements = [
        xx - yy - zz + ww,
        2 * (xy - zw),
        2 * (xz + yw),
        2 * (xy + zw),
        yy - xx - zz + ww,
        2 * (yz - xw),
        2 * (xz - yw),
        2 * (yz + xw),
        zz - xx - yy + ww,
    ]
    return jnp.stack(elements, -1).reshape(*x.shape, 3, 3)


@lenient
@eager_jit(nested=True)
def from_matrix(matrix: Any) -> Any:
    """The quaternions [..., 4] of rotation matrices [..., 3, 3]."""
    m = jnp.asarray(matrix)
    diagonal = [m[..., i, i] for i in range(3)]
    trace = diagonal[0] + diagonal[1] + diagonal[2]
    # Four times a component times the quaternion; best is that of the greatest component.
    candidates = []
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        row: list[Any] = [None, None, None, m[..., k, j] - m[..., j, k]]
        row[i] = 1 - trace + 2 * diagonal[i]
        row[j] = m[..., j, i] + m[..., i, j]
        row[k] = m[..., k, i] + m[..., i, k]
        candidates.append(row)
    differences = [m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]]
    candidates.append([*differences, 1 + trace])
    chosen = jnp.argmax(jnp.stack([*diagonal, trace], -1), -1)[..., None]
    rows = [jnp.stack(row, -1) for row in candidates]
    return _normalized(jnp.select([chosen == i for i in range(3)], rows[:3], rows[3]))


@lenient
@eager_jit(nested=True)
def from_mrp(mrp: Any) -> Any:
    mrp = jnp.asarray(mrp)
    total = jnp.sum(mrp * mrp, -1)[..., None] + 1
    return jnp.concatenate([2 * mrp, 2 - total], -1) / total


@lenient
@eager_jit(nested=True)
def as_mrp(quat: Any) -> Any:
    quat = jnp.asarray(quat)
    scalar = quat[..., 3:]
    sign = jnp.where(scalar < 0, -1.0, 1.0)
    return sign * quat[..., :3] / (1.0 + sign * scalar)


@lenient
@eager_jit(static="degrees", nested=True)
def from_rotvec(rotvec: Any, degrees: Any) -> Any:
    """The quaternions [..., 4] of rotation vectors [..., 3], in radians or degrees."""
    rotvec = _radians(rotvec, degrees)
    angle = _length(rotvec)[..., None]
    square = angle * angle
    small = 0.5 - square / 48 + square * square / 3840
    scale = jnp.where(angle <= _SMALL, small, jnp.sin(angle / 2) / angle)
    return jnp.concatenate([scale * rotvec, jnp.cos(angle / 2)], -1)


@lenient
@eager_jit(static="degrees", nested=True)
def as_rotvec(quat: Any, degrees: Any) -> Any:
    """The rotation vectors [..., 3] of quaternions [..., 4], in radians or degrees."""
    quat = jnp.asarray(quat)
    quat = jnp.where(quat[..., 3:] < 0, -quat, quat)
    angle = 2.0 * jnp.arctan2(_length(quat[..., :3])[..., None], quat[..., 3:])
    square = angle * angle
    small = 2 + square / 12 + 7 * square * square / 2880
    scale = jnp.where(angle <= _SMALL, small, angle / jnp.sin(angle / 2))
    return _in_degrees(scale, degrees) * quat[..., :3]


@lenient
@eager_jit(nested=True)
def inverse(quat: Any) -> Any:
    """The rotations back, [..., 4]."""
    quat = jnp.asarray(quat)
    return quat * jnp.array([-1, -1, -1, 1], quat.dtype)


@lenient
@eager_jit(nested=True)
def magnitude(quat: Any) -> Any:
    """The angles [...] of rotations [..., 4], in radians."""
    quat = jnp.asarray(quat)
    return 2.0 * jnp.arctan2(_length(quat[..., :3]), jnp.abs(quat[..., 3]))


@lenient
@eager_jit(static="canonical scalar_first", nested=True)
def as_quat(quat: Any, canonical: bool, scalar_first: bool) -> Any:
    quat = jnp.asarray(quat)
    if canonical:
        negative = jnp.zeros((), bool)
        for i in (2, 1, 0, 3):
            part = quat[..., i : i + 1]
            negative = (part < 0) | ((part == 0) & negative)
        quat = jnp.where(negative, -quat, quat)
    return jnp.roll(quat, 1, -1) if scalar_first else quat


@lenient
@eager_jit(nested=True)
def mean(quat: Any, weights: Any) -> Any:
    quat = jnp.asarray(quat)
    weighted = quat.T if weights is None else jnp.asarray(weights).astype(quat.dtype) * quat.T
    return linalg.eigh(jnp.dot(weighted, quat))[1][:, -1]


# Euler angles --------------------------------------------------------------------------------------------------------


@eager_jit(static="degrees axes intrinsic", nested=True)
def from_euler(angles: Any, degrees: Any, axes: tuple[int, ...], intrinsic: bool) -> Any:
    angles = jnp.atleast_1d(_radians(angles, degrees))
    if angles.shape[-1] != len(axes):
        raise ValueError(f"from_euler: {len(axes)} axes need as many angles along the last axis of {angles.shape}")
    turns = [_about(axis, angles[..., i]) for i, axis in enumerate(axes)]
    total = turns[0]
    for turn in turns[1:]:
        total = _product(total, turn) if intrinsic else _product(turn, total)
    return total


def _about(axis: int, angle: Any) -> Any:
    """The rotation about an axis of space."""
    zero = jnp.zeros_like(angle / 2.0)
    parts = [zero, zero, zero, jnp.cos(angle / 2.0)]
    parts[axis] = jnp.sin(angle / 2.0)
    return jnp.stack(parts, -1)


@lenient
@eager_jit(static="degrees axes intrinsic", nested=True)
def as_euler(quat: Any, degrees: Any, axes: tuple[int, ...], intrinsic: bool) -> Any:
    """E. Bernardes and S. Viollet, Quaternion to Euler angles conversion, PLoS ONE 17 (2022)."""
    parts = _parts(jnp.asarray(quat))
    i, j, k = axes[::-1] if intrinsic else axes
    symmetric = i == k
    k = 3 - i - j if symmetric else k
    sign = (i - j) * (j - k) * (k - i) // 2
    x, y, z, w = parts[i], parts[j], parts[k] * sign, parts[3]
    a, b, c, d = (w, x, y, z) if symmetric else (w - y, x + z, y + w, z - x)
    middle = 2 * jnp.arctan2(jnp.hypot(c, d), jnp.hypot(a, b))
    half_sum, half_difference = jnp.arctan2(b, a), jnp.arctan2(d, c)
    # Where the middle angle leaves but a sum or a difference of the others, all of it goes to the first.
    near = 1e-7 if jnp.finfo(middle.dtype).bits == 64 else 1e-6
    at_zero, at_half = jnp.abs(middle) <= near, jnp.abs(middle - np.pi) <= near
    clear = ~(at_zero | at_half)
    alone = jnp.where(at_zero, 2 * half_sum, 2 * half_difference * (1 if intrinsic else -1))
    # The one about the first fixed axis is the difference; it comes last of those that turn with the body.
    difference, total = half_sum - half_difference, half_sum + half_difference
    first, third = (total, difference) if intrinsic else (difference, total)
    first, third = jnp.where(clear, first, alone), jnp.where(clear, third, 0)
    if not symmetric:
        middle = middle - np.pi / 2
        first, third = (first * sign, third) if intrinsic else (first, third * sign)
    angles = jnp.stack([first, middle, third], -1)
    return _in_degrees((angles + np.pi) % (2 * math.pi) - np.pi, degrees)
