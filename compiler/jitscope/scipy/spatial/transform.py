"""`jitscope.scipy.spatial.transform`: rotations in space, and what lies between them."""

from .rotations import Rotation as Rotation
from .slerp import Slerp as Slerp
