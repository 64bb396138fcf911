"""The language of the compiler: avals, dtypes, jaxprs, primitives, traces.

Imports nothing above it. `primitive.Primitive` documents the contract of an operation's rules, `trace` how values flow
through transformations, `staging` how a Python function becomes a jaxpr.

Beside that it has the public names of `jax.core`, which are found when they are asked for.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from .late import late as _late


if _TYPE_CHECKING:  # what is loaded late, for editors and type checkers
    from ..api import ensure_compile_time_eval as ensure_compile_time_eval
    from ..extend.core import (
        concrete_or_error as concrete_or_error,
        find_top_trace as find_top_trace,
        gensym as gensym,
        get_opaque_trace_state as get_opaque_trace_state,
        is_concrete as is_concrete,
        jaxprs_in_params as jaxprs_in_params,
        new_jaxpr_eqn as new_jaxpr_eqn,
        primal_dtype_to_tangent_dtype as primal_dtype_to_tangent_dtype,
        valid_jaxtype as valid_jaxtype,
    )
    from ..interpreters.xla import pytype_aval_mappings as pytype_aval_mappings
    from ..symbolic.dimension import max_dim as max_dim, min_dim as min_dim
    from .avals import *
    from .effects import *
    from .jaxpr import Atom as Atom, DebugInfo as DebugInfo
    from .staging import eval_jaxpr as eval_jaxpr
    from .trace import Trace as Trace, Tracer as Tracer
else:
    _late(
        globals(),
        {
            ".avals": "AbstractValue ShapedArray",
            ".effects": "Effect Effects no_effects",
            ".jaxpr": "Atom DebugInfo",
            ".staging": "eval_jaxpr",
            ".trace": "Trace Tracer",
            "..api": "ensure_compile_time_eval",
            "..extend.core": "concrete_or_error find_top_trace gensym get_opaque_trace_state is_concrete jaxprs_in_params "
            "new_jaxpr_eqn primal_dtype_to_tangent_dtype valid_jaxtype",
            "..interpreters.xla": "pytype_aval_mappings",
            "..symbolic.dimension": "max_dim min_dim",
        },
    )
