"""The transformations, as users call them."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from ..backend.stages import ShapeDtypeStruct
from ..core.late import late as _late
from .abstract_tracing import *
from .arrays import *
from .callbacks import pure_callback
from .checkpoint import checkpoint, remat
from .devices import *
from .gradients import *
from .jit import *
from .linear_maps import *
from .processes import *
from .scopes import *
from .vmap import vmap


__all__ = ["Array", "Device", "Inline", "ShapeDtypeStruct", "block_until_ready", "checkpoint", "clear_caches",
           "copy_to_host_async", "default_backend", "device_count", "device_get", "device_put", "devices",
           "effects_barrier", "ensure_compile_time_eval", "eval_shape", "fwd_and_bwd", "grad", "host_count",
           "host_id", "host_ids", "jit", "jvp", "linearize", "live_arrays", "local_device_count",
           "local_devices", "make_jaxpr", "named_call", "named_scope", "process_count", "process_index",
           "process_indices", "pure_callback", "remat", "typeof", "value_and_grad", "vjp", "vmap"]  # fmt: skip


# What most programs never touch is loaded when first used.
LATE = {
    ".jacobians": "hessian jacfwd jacobian jacrev",
    ".linear_transpose": "linear_transpose",
    ".many_devices": "device_put_replicated device_put_sharded make_array_from_callback make_array_from_process_local_data "
    "make_array_from_single_device_arrays make_mesh reshard",
    ".sharded": "pmap shard_map smap",
}
if _TYPE_CHECKING:  # what is loaded late, for editors and type checkers
    from .jacobians import *
    from .linear_transpose import linear_transpose as linear_transpose
    from .many_devices import (
        device_put_replicated as device_put_replicated,
        device_put_sharded as device_put_sharded,
        make_array_from_callback as make_array_from_callback,
        make_array_from_process_local_data as make_array_from_process_local_data,
        make_array_from_single_device_arrays as make_array_from_single_device_arrays,
        make_mesh as make_mesh,
        reshard as reshard,
    )
    from .sharded import *
else:
    _late(globals(), LATE)
