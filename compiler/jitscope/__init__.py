"""jitscope: a tracing compiler for array programs that shows everything it does.

`import jitscope as jx; import jitscope.numpy as jnp`: the names and the semantics are JAX's. In a notebook,
`%load_ext jitscope` and `%%jit`.
"""

import importlib
from typing import Any

from .core.collector import paused_collector as _paused_collector


with _paused_collector():
    from . import numpy as numpy, observe as observe, tree as tree

from .api import (
    Array as Array,
    Device as Device,
    ShapeDtypeStruct as ShapeDtypeStruct,
    block_until_ready as block_until_ready,
    checkpoint as checkpoint,
    clear_caches as clear_caches,
    copy_to_host_async as copy_to_host_async,
    default_backend as default_backend,
    device_count as device_count,
    device_get as device_get,
    device_put as device_put,
    devices as devices,
    effects_barrier as effects_barrier,
    ensure_compile_time_eval as ensure_compile_time_eval,
    eval_shape as eval_shape,
    fwd_and_bwd as fwd_and_bwd,
    grad as grad,
    hessian as hessian,
    host_count as host_count,
    host_id as host_id,
    host_ids as host_ids,
    jacfwd as jacfwd,
    jacobian as jacobian,
    jacrev as jacrev,
    jit as jit,
    jvp as jvp,
    linear_transpose as linear_transpose,
    linearize as linearize,
    live_arrays as live_arrays,
    local_device_count as local_device_count,
    local_devices as local_devices,
    make_jaxpr as make_jaxpr,
    make_mesh as make_mesh,
    named_call as named_call,
    named_scope as named_scope,
    pmap as pmap,
    process_count as process_count,
    process_index as process_index,
    process_indices as process_indices,
    pure_callback as pure_callback,
    remat as remat,
    shard_map as shard_map,
    typeof as typeof,
    value_and_grad as value_and_grad,
    vjp as vjp,
    vmap as vmap,
)
from .control.closures import closure_convert as closure_convert, custom_gradient as custom_gradient
from .control.custom_jvp import custom_jvp as custom_jvp
from .control.custom_vjp import custom_vjp as custom_vjp
from .control.policies import checkpoint_policies as checkpoint_policies
from .control.refs import (
    Ref as Ref,
    empty_ref as empty_ref,
    free_ref as free_ref,
    freeze as freeze,
    new_ref as new_ref,
)
from .core.config import (
    allow_f16_reductions as allow_f16_reductions,
    array_garbage_collection_guard as array_garbage_collection_guard,
    auto_pcast as auto_pcast,
    check_tracer_leaks as check_tracer_leaks,
    checking_leaks as checking_leaks,
    config as config,
    debug_infs as debug_infs,
    debug_key_reuse as debug_key_reuse,
    debug_nans as debug_nans,
    default_device as default_device,
    default_matmul_precision as default_matmul_precision,
    default_prng_impl as default_prng_impl,
    disable_jit as disable_jit,
    enable_checks as enable_checks,
    enable_custom_prng as enable_custom_prng,
    enable_x64 as enable_x64,
    explain_cache_misses as explain_cache_misses,
    legacy_prng_key as legacy_prng_key,
    log_compiles as log_compiles,
    make_user_context as make_user_context,
    no_execution as no_execution,
    no_tracing as no_tracing,
    numpy_dtype_promotion as numpy_dtype_promotion,
    numpy_rank_promotion as numpy_rank_promotion,
    random_seed_offset as random_seed_offset,
    remove_size_one_mesh_axis_from_type as remove_size_one_mesh_axis_from_type,
    softmax_custom_jvp as softmax_custom_jvp,
    thread_guard as thread_guard,
    threefry_partitionable as threefry_partitionable,
    traceback_filtering as traceback_filtering,
    transfer_guard as transfer_guard,
    transfer_guard_device_to_device as transfer_guard_device_to_device,
    transfer_guard_device_to_host as transfer_guard_device_to_host,
    transfer_guard_host_to_device as transfer_guard_host_to_device,
)
from .core.dtypes import float0 as float0


# Names that are loaded when first used. Those of the kernel extension are the only door that leads up.
_LATE = {
    "NamedSharding": "jitscope.sharding",
    "P": "jitscope.sharding",
    "print_environment_info": "jitscope.api.environment",
    "reshard": "jitscope.sharding",
    "load_ipython_extension": "jitscope_kernel",
    "unload_ipython_extension": "jitscope_kernel",
    "inspect": "jitscope_kernel",
}
_ROOMS = (
    "ad",
    "ad_checkpoint",
    "api_util",
    "checkify",
    "custom_batching",
    "custom_derivatives",
    "debug",
    "dlpack",
    "dtypes",
    "errors",
    "example_libraries",
    "experimental",
    "export",
    "extend",
    "ffi",
    "flatten_util",
    "image",
    "interpreters",
    "ir",
    "lax",
    "monitoring",
    "nn",
    "optimizers",
    "profiler",
    "random",
    "ref",
    "scipy",
    "sharding",
    "stages",
    "test_util",
    "tree_util",
    "typing",
    "version",
)


def __getattr__(name: str) -> Any:
    if name in _LATE:
        return getattr(importlib.import_module(_LATE[name]), name)
    if name in _ROOMS:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATE, *_ROOMS})
