"""The transformations, as users call them."""

from ..backend.stages import ShapeDtypeStruct as ShapeDtypeStruct
from .arrays import Array as Array, typeof as typeof
from .callbacks import pure_callback as pure_callback
from .checkpoint import checkpoint as checkpoint, remat as remat
from .devices import (
    Device as Device,
    block_until_ready as block_until_ready,
    device_get as device_get,
    device_put as device_put,
    devices as devices,
    live_arrays as live_arrays,
)
from .gradients import fwd_and_bwd as fwd_and_bwd, grad as grad, value_and_grad as value_and_grad
from .jacobians import hessian as hessian, jacfwd as jacfwd, jacobian as jacobian, jacrev as jacrev
from .jit import clear_caches as clear_caches, jit as jit
from .linear_maps import jvp as jvp, linearize as linearize, vjp as vjp
from .linear_transpose import linear_transpose as linear_transpose
from .looking import (
    ensure_compile_time_eval as ensure_compile_time_eval,
    eval_shape as eval_shape,
    make_jaxpr as make_jaxpr,
)
from .many_devices import make_mesh as make_mesh, pmap as pmap, shard_map as shard_map
from .processes import (
    copy_to_host_async as copy_to_host_async,
    default_backend as default_backend,
    device_count as device_count,
    effects_barrier as effects_barrier,
    host_count as host_count,
    host_id as host_id,
    host_ids as host_ids,
    local_device_count as local_device_count,
    local_devices as local_devices,
    process_count as process_count,
    process_index as process_index,
    process_indices as process_indices,
)
from .scopes import named_call as named_call, named_scope as named_scope
from .vmap import vmap as vmap
