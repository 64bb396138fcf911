"""Interpolation between rotations, at a constant speed of turning (K. Shoemake, SIGGRAPH 1985)."""

from __future__ import annotations

from typing import Any

from ... import numpy as jnp
from ...core.annotations import ArrayLike
from ...core.avals import aval_of
from ...eager.functions import eager_jit
from ...named_tuple import NamedTuple
from ...numpy.operands import lenient
from . import quaternions
from .rotations import Rotation


class Slerp(NamedTuple):
    """Rotations [n] at `times` [n], and those between: `Slerp.init(times, rotations)`, then `slerp(time)`.

    A tree of arrays. `timedelta` [n - 1]: the time to the next; `rotations` [n - 1]: all but the last; `rotvecs` [n - 1, 3]: the
    way to the next. Times must increase, which is not checked.
    """

    times: Any
    timedelta: Any
    rotations: Rotation
    rotvecs: Any

    @classmethod
    def init(cls, times: ArrayLike, rotations: Rotation) -> Slerp:
        """Raises TypeError for other things than a Rotation, ValueError for fewer than two and for times of another shape."""
        if not isinstance(rotations, Rotation):
            raise TypeError(f"Slerp.init: rotations is a Rotation, not {type(rotations).__name__}")
        if rotations.single or len(rotations) == 1:
            raise ValueError("Slerp.init: rotations must be two or more")
        times = jnp.asarray(times)
        if times.shape != (len(rotations),):
            raise ValueError(f"Slerp.init: times of the shape {times.shape} for {len(rotations)} rotations")
        times, steps, rotvecs = _prepared(times, rotations.quat)
        return cls(times, steps, Rotation(rotations.quat[:-1]), rotvecs)

    def __call__(self, times: ArrayLike) -> Rotation:
        """The rotations at `times`, a number or [m]; beyond the ends the turning goes on. Raises ValueError for more axes."""
        times = jnp.asarray(times)
        if times.ndim > 1:
            raise ValueError(f"Slerp: times are a number or a vector, not of the shape {times.shape}")
        return Rotation(_between(self.times, self.timedelta, self.rotations.quat, self.rotvecs, times))


@lenient
@eager_jit(nested=True)
def _prepared(times: Any, quat: Any) -> tuple[Any, Any, Any]:
    quat = jnp.asarray(quat)
    times = jnp.asarray(times).astype(quat.dtype)
    way = quaternions.product(quaternions.inverse(quat[:-1]), quat[1:])
    return times, jnp.diff(times), quaternions.as_rotvec(way, False)


@lenient
@eager_jit(nested=True)
def _between(known: Any, steps: Any, quat: Any, rotvecs: Any, times: Any) -> Any:
    times = jnp.asarray(times).astype(aval_of(known).dtype)
    index = jnp.maximum(jnp.searchsorted(known, times) - 1, 0)
    share = (times - known[index]) / steps[index]
    return quaternions.product(quat[index], quaternions.from_rotvec(rotvecs[index] * share[..., None], False))
