"""jitscope: a tracing compiler for array programs that shows everything it does.

`import jitscope as jx; import jitscope.numpy as jnp`: the names and the semantics are JAX's. In a notebook,
`%load_ext jitscope` and `%%jit`.
"""

from .core.collector import paused_collector as _paused_collector


with _paused_collector():
    from . import numpy as numpy, observe as observe, tree as tree

from .api import *
from .api import LATE as _LATE
from .control.closures import *
from .control.custom_jvp import custom_jvp as custom_jvp
from .control.custom_vjp import custom_vjp as custom_vjp
from .control.policies import checkpoint_policies as checkpoint_policies
from .control.refs import *
from .core.config import *
from .core.dtypes import float0 as float0
from .core.late import late as _late


__getattr__, __dir__ = _late(
    globals(),
    {f".api{module}": names for module, names in _LATE.items()}
    | {
        ".api.environment": "__version__ print_environment_info",
        ".backend.array": "Shard",
        ".core.slices": "ds",
        ".sharding": ". NamedSharding P get_abstract_mesh get_mesh set_mesh use_abstract_mesh",
        "jitscope_kernel": "load_ipython_extension unload_ipython_extension find_nan inspect",  # the only import of what stands above
    }
    | {
        f".{module}": "."
        for module in (
            "ad ad_checkpoint api_util checkify custom_batching custom_derivatives debug distributed dlpack dtypes errors example_libraries "
            "experimental export extend ffi flatten_util image interpreters ir lax monitoring nn optimizers profiler random ref "
            "lib scipy stages test_util tree_util typing version"
        ).split()
    },
)
