"""The language of the compiler: avals, dtypes, jaxprs, primitives, traces.

Imports nothing above it. `primitive.Primitive` documents the contract of an operation's rules, `trace` how values flow
through transformations, `staging` how a Python function becomes a jaxpr.

Beside that it has the public names of `jax.core`, which are found when they are asked for.
"""

from .late import late as _late


__getattr__, __dir__ = _late(
    globals(),
    {
        ".avals": "AbstractValue ShapedArray",
        ".effects": "Effect Effects no_effects",
        ".jaxpr": "Atom DebugInfo",
        ".staging": "eval_jaxpr",
        ".trace": "Trace Tracer",
        "..api": "ensure_compile_time_eval",
        "..extend.core": "concrete_or_error find_top_trace gensym get_opaque_trace_state jaxprs_in_params new_jaxpr_eqn "
        "primal_dtype_to_tangent_dtype valid_jaxtype",
        "..interpreters.xla": "pytype_aval_mappings",
        "..symbolic.dimension": "max_dim min_dim",
    },
)
