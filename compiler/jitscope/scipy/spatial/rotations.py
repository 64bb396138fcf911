"""Rotations, kept as unit quaternions (x, y, z, w)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Any

from ... import numpy as jnp, random
from ...core.annotations import Array, ArrayLike, DTypeLike
from ...named_tuple import NamedTuple
from . import quaternions


class Rotation(NamedTuple):
    """One rotation, or an array of them: `quat` [4] or [..., 4], with the scalar last.

    A tree with one leaf, so it goes through jit, vmap and grad. Unlike SciPy's, it does not check what it is made of, `from_euler`
    takes as many angles as `seq` has letters along the last axis, `mean` does not normalize its weights (which changes nothing),
    and there is no warning where Euler angles are ambiguous (the third one is 0 then).
    """

    quat: Any

    @classmethod
    def concatenate(cls, rotations: Sequence[Rotation]) -> Rotation:
        """All of several arrays of rotations."""
        return cls(jnp.concatenate([rotation.quat for rotation in rotations]))

    @classmethod
    def from_euler(cls, seq: str, angles: ArrayLike, degrees: bool = False) -> Rotation:
        """Rotations about the axes that `seq` names, one after the other: fixed ones ("xyz") or those of the body ("XYZ").

        `angles` is a number or [..., len(seq)]. Raises ValueError for other letters, both kinds at once, more than three, and
        the same axis twice in a row.
        """
        axes, intrinsic = _axes(seq, 1)
        return cls(quaternions.from_euler(angles, degrees, axes, intrinsic))

    @classmethod
    def from_matrix(cls, matrix: ArrayLike) -> Rotation:
        """From rotation matrices [..., 3, 3], by the greatest of the four components (F. Markley, J. Guidance 31, 2008)."""
        return cls(quaternions.from_matrix(matrix))

    @classmethod
    def from_mrp(cls, mrp: ArrayLike) -> Rotation:
        """From modified Rodrigues parameters [..., 3]: tan(angle / 4) times the axis."""
        return cls(quaternions.from_mrp(mrp))

    @classmethod
    def from_quat(cls, quat: ArrayLike) -> Rotation:
        """From quaternions [..., 4] of any length but 0."""
        return cls(quaternions.normalized(quat))

    @classmethod
    def from_rotvec(cls, rotvec: ArrayLike, degrees: bool = False) -> Rotation:
        """From vectors [..., 3] along the axis, as long as the angle."""
        return cls(quaternions.from_rotvec(rotvec, degrees))

    @classmethod
    def identity(cls, num: int | None = None, dtype: DTypeLike | None = float) -> Rotation:
        """The rotation that changes nothing, or an array of `num` of them."""
        one = jnp.array([0.0, 0.0, 0.0, 1.0], dtype=dtype)
        return cls(one if num is None else jnp.tile(one, (num, 1)))

    @classmethod
    def random(cls, random_key: ArrayLike, num: int | None = None) -> Rotation:
        """A rotation, or an array of `num` of them, all equally likely: a point of the unit sphere in four dimensions."""
        return cls.from_quat(random.normal(random_key, (4,) if num is None else (num, 4)))

    def __getitem__(self, indexer: Any) -> Rotation:  # pyright: ignore[reportIncompatibleMethodOverride]
        if self.single:
            raise TypeError("a single rotation has no elements")
        return Rotation(self.quat[indexer])

    def __len__(self) -> int:
        if self.single:
            raise TypeError("a single rotation has no len()")
        return self.quat.shape[0]

    def __mul__(self, other: Any) -> Rotation:  # pyright: ignore[reportIncompatibleMethodOverride]
        """First `other`, then this one."""
        return Rotation(quaternions.product(self.quat, other.quat))

    def apply(self, vectors: ArrayLike, inverse: bool = False) -> Array:
        """The vectors [..., 3], rotated (or back, if `inverse`)."""
        return quaternions.applied(self.quat, vectors, inverse)

    def as_euler(self, seq: str, degrees: bool = False) -> Array:
        """Angles [..., 3] about the three axes of `seq` (see `from_euler`), from -π to π; of the second one half of that.

        Raises ValueError for another number of letters, besides the errors of `from_euler`.
        """
        axes, intrinsic = _axes(seq, 3)
        return quaternions.as_euler(self.quat, degrees, axes, intrinsic)

    def as_matrix(self) -> Array:
        """Matrices [..., 3, 3]."""
        return quaternions.as_matrix(self.quat)

    def as_mrp(self) -> Array:
        """Modified Rodrigues parameters [..., 3], of length 1 at most."""
        return quaternions.as_mrp(self.quat)

    def as_rotvec(self, degrees: bool = False) -> Array:
        """Vectors [..., 3] along the axis, as long as the angle, π at most."""
        return quaternions.as_rotvec(self.quat, degrees)

    def as_quat(self, canonical: bool = False, scalar_first: bool = False) -> Array:
        """Quaternions [..., 4]; `canonical`: of the two that mean the same, that whose scalar (or first component that is not 0)
        is positive."""
        return quaternions.as_quat(self.quat, canonical, scalar_first)

    def inv(self) -> Rotation:
        """The rotation back."""
        return Rotation(quaternions.inverse(self.quat))

    def magnitude(self) -> Array:
        """The angle [...], from 0 to π."""
        return quaternions.magnitude(self.quat)

    def mean(self, weights: ArrayLike | None = None) -> Rotation:
        """The rotation nearest to all of an array [n], weighted by `weights` [n]: the first eigenvector of the sum of products
        of quaternions (F. Markley et al., J. Guidance 30, 2007). Raises ValueError for weights of another shape."""
        count = len(self)
        weights = None if weights is None else jnp.asarray(weights)
        if weights is not None and weights.shape != (count,):
            raise ValueError(f"Rotation.mean: weights of the shape {weights.shape} for {count} rotations")
        return Rotation(quaternions.mean(self.quat, weights))

    @property
    def single(self) -> bool:
        """Whether it is one rotation and not an array of them."""
        return self.quat.ndim == 1


def _axes(seq: str, least: int) -> tuple[tuple[int, ...], bool]:
    """The numbers of the axes, and whether they turn with the body."""
    if not least <= len(seq) <= 3:
        raise ValueError(f"seq must name {'three axes' if least == 3 else 'one to three axes'}, it is {seq!r}")
    intrinsic = re.fullmatch("[XYZ]+", seq) is not None
    if not intrinsic and not re.fullmatch("[xyz]+", seq):
        raise ValueError(f"seq must be letters of 'xyz' (fixed axes) or of 'XYZ' (axes of the body), it is {seq!r}")
    if any(a == b for a, b in itertools.pairwise(seq)):
        raise ValueError(f"seq must not name an axis twice in a row, it is {seq!r}")
    return tuple("xyz".index(letter) for letter in seq.lower()), intrinsic
