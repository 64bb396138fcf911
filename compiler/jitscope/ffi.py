"""`jitscope.ffi`: native functions that compiled programs call, under JAX's names.

Write the function with XLA's header `xla/ffi/api/ffi.h` (its folder is `include_dir()`), compile it into a library, load that
with ctypes, register the handler, and call it with `ffi_call`.
"""

from .control.ffi_call import ffi_call
from .xla.ffi import capsule as pycapsule, include_dir, register_target as register_ffi_target


__all__ = ["ffi_call", "include_dir", "pycapsule", "register_ffi_target"]
