"""What stages say of their arguments."""

from __future__ import annotations

import dataclasses

import numpy as np

from ..core.avals import ShapedArray


@dataclasses.dataclass(frozen=True)
class ArgInfo:
    """What a stage says of one array among its arguments, a leaf of trees: its aval (shape, dtype), and whether its memory is
    given away."""

    aval: ShapedArray
    donated: bool

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return self.aval.shape

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the array, as the program takes it."""
        return self.aval.dtype
