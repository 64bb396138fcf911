"""The transformations, as users call them."""

from ..backend.stages import ShapeDtypeStruct as ShapeDtypeStruct
from .devices import (
    block_until_ready as block_until_ready,
    device_get as device_get,
    device_put as device_put,
    devices as devices,
    live_arrays as live_arrays,
)
from .gradients import grad as grad, value_and_grad as value_and_grad
from .jit import clear_caches as clear_caches, jit as jit
from .linear_maps import jvp as jvp, linearize as linearize, vjp as vjp
from .looking import eval_shape as eval_shape, make_jaxpr as make_jaxpr
from .vmap import vmap as vmap
