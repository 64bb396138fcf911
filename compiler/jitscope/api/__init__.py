"""The transformations, as users call them."""

from ..backend.stages import ShapeDtypeStruct
from .arrays import *
from .callbacks import pure_callback
from .checkpoint import checkpoint, remat
from .devices import *
from .gradients import *
from .jacobians import *
from .jit import *
from .linear_maps import *
from .linear_transpose import linear_transpose
from .looking import *
from .many_devices import *
from .processes import *
from .scopes import *
from .sharded import *
from .vmap import vmap


__all__ = ["Array", "Device", "ShapeDtypeStruct", "block_until_ready", "checkpoint", "clear_caches",
           "copy_to_host_async", "default_backend", "device_count", "device_get", "device_put", "device_put_replicated",
           "device_put_sharded", "devices",
           "effects_barrier", "ensure_compile_time_eval", "eval_shape", "fwd_and_bwd", "grad", "hessian", "host_count",
           "host_id", "host_ids", "jacfwd", "jacobian", "jacrev", "jit", "jvp", "linear_transpose", "linearize",
           "live_arrays", "local_device_count", "local_devices", "make_array_from_callback",
           "make_array_from_process_local_data", "make_array_from_single_device_arrays", "make_jaxpr", "make_mesh", "named_call",
           "named_scope", "pmap", "process_count", "process_index", "process_indices", "pure_callback", "remat",
           "reshard", "shard_map", "smap", "typeof", "value_and_grad", "vjp", "vmap"]  # fmt: skip
