"""jitscope: a tracing compiler for array programs that shows everything it does.

`import jitscope as jx; import jitscope.numpy as jnp`: the names and the semantics are JAX's. In a notebook,
`%load_ext jitscope` and `%%jit`.
"""

import importlib
from typing import Any

from .core.collector import paused_collector as _paused_collector


with _paused_collector():
    from . import numpy as numpy, observe as observe, tree as tree

from .api import *
from .control.closures import *
from .control.custom_jvp import custom_jvp as custom_jvp
from .control.custom_vjp import custom_vjp as custom_vjp
from .control.policies import checkpoint_policies as checkpoint_policies
from .control.refs import *
from .core.config import *
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
