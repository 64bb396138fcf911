"""jitscope: a tracing compiler for array programs that shows everything it does.

`import jitscope as jx; import jitscope.numpy as jnp`: the names and the semantics are JAX's. In a notebook,
`%load_ext jitscope` and `%%jit`.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from .core.collector import paused_collector as _paused_collector
from .core.late import late as _late, no_names as _no_names


try:
    with _paused_collector():
        from . import numpy as numpy, tree as tree
except ModuleNotFoundError as _error:  # the scope looks at text without jaxlib
    if _error.name != "jaxlib":
        raise
    _no_names(globals(), "programs are compiled by jaxlib, which is not installed", "jaxlib")
else:
    from .api import *
    from .api import LATE as _LATE
    from .control.closures import *
    from .control.custom_jvp import custom_jvp as custom_jvp
    from .control.custom_vjp import custom_vjp as custom_vjp
    from .control.policies import checkpoint_policies as checkpoint_policies
    from .control.refs import *
    from .core.config import *
    from .core.dtypes import float0 as float0

    if not _TYPE_CHECKING:
        _late(
            globals(),
            {f".api{module}": names for module, names in _LATE.items()}
            | {
                ".api.environment": "__version__ print_environment_info",
                ".backend.array": "Shard",
                ".core.slices": "ds",
                ".sharding": ". NamedSharding P get_abstract_mesh get_mesh set_mesh use_abstract_mesh",
                "jitscope_kernel": "load_ipython_extension unload_ipython_extension find_nan inspect step targets tune untune",  # what stands above
                "jitscope_scope.observe": ".",
            }
            | {
                f".{module}": "."
                for module in (
                    "ad ad_checkpoint api_util checkify custom_batching custom_derivatives debug distributed dlpack dtypes errors example_libraries "
                    "experimental export extend ffi flatten_util image interpreters ir lax memory monitoring nn optimizers profiler random ref "
                    "lib scipy stages test_util tree_util typing version"
                ).split()
            },
        )


if _TYPE_CHECKING:  # what is loaded late, for editors and type checkers
    from jitscope_kernel import (
        find_nan as find_nan,
        inspect as inspect,
        load_ipython_extension as load_ipython_extension,
        step as step,
        targets as targets,
        tune as tune,
        unload_ipython_extension as unload_ipython_extension,
        untune as untune,
    )
    from jitscope_scope import observe as observe

    from . import (
        ad as ad,
        ad_checkpoint as ad_checkpoint,
        api_util as api_util,
        checkify as checkify,
        custom_batching as custom_batching,
        custom_derivatives as custom_derivatives,
        debug as debug,
        distributed as distributed,
        dlpack as dlpack,
        dtypes as dtypes,
        errors as errors,
        example_libraries as example_libraries,
        experimental as experimental,
        export as export,
        extend as extend,
        ffi as ffi,
        flatten_util as flatten_util,
        image as image,
        interpreters as interpreters,
        ir as ir,
        lax as lax,
        lib as lib,
        memory as memory,
        monitoring as monitoring,
        nn as nn,
        optimizers as optimizers,
        profiler as profiler,
        random as random,
        ref as ref,
        scipy as scipy,
        sharding as sharding,
        stages as stages,
        test_util as test_util,
        tree_util as tree_util,
        typing as typing,
        version as version,
    )
    from .api.environment import __version__ as __version__, print_environment_info as print_environment_info
    from .api.jacobians import hessian as hessian, jacfwd as jacfwd, jacobian as jacobian, jacrev as jacrev
    from .api.linear_transpose import linear_transpose as linear_transpose
    from .api.many_devices import (
        device_put_replicated as device_put_replicated,
        device_put_sharded as device_put_sharded,
        make_array_from_callback as make_array_from_callback,
        make_array_from_process_local_data as make_array_from_process_local_data,
        make_array_from_single_device_arrays as make_array_from_single_device_arrays,
        make_mesh as make_mesh,
        reshard as reshard,
    )
    from .api.sharded import pmap as pmap, shard_map as shard_map, smap as smap
    from .backend.array import Shard as Shard
    from .core.slices import ds as ds
    from .sharding import (
        NamedSharding as NamedSharding,
        P as P,
        get_abstract_mesh as get_abstract_mesh,
        get_mesh as get_mesh,
        set_mesh as set_mesh,
        use_abstract_mesh as use_abstract_mesh,
    )
