"""`jitscope.custom_derivatives`: functions with derivative rules of their own, under JAX's module name."""

from .control.closures import closure_convert as closure_convert, custom_gradient as custom_gradient
from .control.custom_jvp import custom_jvp as custom_jvp, custom_jvp_call_p as custom_jvp_call_p
from .control.custom_vjp import (
    CustomVJPPrimal as CustomVJPPrimal,
    custom_vjp as custom_vjp,
    custom_vjp_call_p as custom_vjp_call_p,
    custom_vjp_primal_tree_values as custom_vjp_primal_tree_values,
)
from .control.rule_values import SymbolicZero as SymbolicZero, zero_from_primal as zero_from_primal
from .control.ruled_call import CustomJVPException as CustomJVPException, CustomVJPException as CustomVJPException
