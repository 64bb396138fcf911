"""jitscope: a tracing compiler for array programs that shows everything it does.

`import jitscope as jx; import jitscope.numpy as jnp`: the names and the semantics are JAX's. In a notebook,
`%load_ext jitscope` and `%%jit`.
"""

import importlib
from typing import Any

from . import numpy as numpy, observe as observe, tree as tree
from .api import (
    ShapeDtypeStruct as ShapeDtypeStruct,
    block_until_ready as block_until_ready,
    clear_caches as clear_caches,
    device_get as device_get,
    device_put as device_put,
    devices as devices,
    eval_shape as eval_shape,
    grad as grad,
    jit as jit,
    jvp as jvp,
    linearize as linearize,
    live_arrays as live_arrays,
    make_jaxpr as make_jaxpr,
    value_and_grad as value_and_grad,
    vjp as vjp,
    vmap as vmap,
)
from .backend.array import Array as Array
from .core.config import (
    config as config,
    default_device as default_device,
    disable_jit as disable_jit,
    enable_x64 as enable_x64,
)


# The only door that leads up: names of the kernel extension, loaded when first used.
_ABOVE = {
    "load_ipython_extension": "jitscope_kernel",
    "unload_ipython_extension": "jitscope_kernel",
    "inspect": "jitscope_kernel",
}
_ROOMS = ("lax", "random")


def __getattr__(name: str) -> Any:
    if name in _ABOVE:
        return getattr(importlib.import_module(_ABOVE[name]), name)
    if name in _ROOMS:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
