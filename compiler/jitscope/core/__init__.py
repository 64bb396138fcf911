"""The language of the compiler: avals, dtypes, jaxprs, primitives, traces.

Imports nothing above it. `primitive.Primitive` documents the contract of an operation's rules, `trace` how values flow
through transformations, `staging` how a Python function becomes a jaxpr.

Beside that it has the public names of `jax.core`, which are found when they are asked for.
"""

import importlib
from typing import Any


_PUBLIC = {
    "AbstractValue": "core.avals",
    "Atom": "core.jaxpr",
    "DebugInfo": "core.jaxpr",
    "Effect": "core.effects",
    "Effects": "core.effects",
    "ShapedArray": "core.avals",
    "Trace": "core.trace",
    "Tracer": "core.trace",
    "ensure_compile_time_eval": "api",
    "eval_jaxpr": "core.staging",
    "max_dim": "symbolic.dimension",
    "min_dim": "symbolic.dimension",
    "no_effects": "core.effects",
    "concrete_or_error": "extend.core",
    "find_top_trace": "extend.core",
    "gensym": "extend.core",
    "get_opaque_trace_state": "extend.core",
    "jaxprs_in_params": "extend.core",
    "new_jaxpr_eqn": "extend.core",
    "primal_dtype_to_tangent_dtype": "extend.core",
    "valid_jaxtype": "extend.core",
}


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(f"jitscope.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
