"""`jitscope.scipy.spatial.transform`: rotations in space, and what lies between them."""

from .rotations import Rotation
from .slerp import Slerp


__all__ = ["Rotation", "Slerp"]
