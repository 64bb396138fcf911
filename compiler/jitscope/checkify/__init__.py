"""`jitscope.checkify`: checks inside compiled functions, which cannot raise: they return what failed.

def f(x, i):
    checkify.check(x[i] >= 0, "x[{i}] is {x}", i=i, x=x[i])
    return jnp.sqrt(x[i])

error, y = jit(checkify.checkify(f, errors=checkify.all_checks))(x, 7)
error.throw()
"""

from .checks import *
from .interpreter import checkify


__all__ = ["BatchedError", "Check", "CheckError", "DivisionByZeroError", "Error", "ErrorCategory", "FailedCheckError",
           "JaxRuntimeError", "NaNError", "OOBError", "all_checks", "automatic_checks", "check", "check_error",
           "checkify", "debug_check", "div_checks", "float_checks", "index_checks", "init_error", "nan_checks",
           "user_checks"]  # fmt: skip
