"""`jitscope.custom_derivatives`: functions with derivative rules of their own, under JAX's module name."""

from .control.closures import *
from .control.custom_jvp import *
from .control.custom_vjp import *
from .control.custom_vjp_primal import *
from .control.linear_call import linear_call as linear_call
from .control.rule_call import *
from .control.rule_values import *
