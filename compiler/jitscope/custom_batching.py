"""`jitscope.custom_batching`: functions whose mapped form is a rule of their own, under JAX's module name."""

from .control.custom_vmap import *
