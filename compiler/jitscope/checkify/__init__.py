"""`jitscope.checkify`: checks inside compiled functions, which cannot raise: they return what failed.

def f(x, i):
    checkify.check(x[i] >= 0, "x[{i}] is {x}", i=i, x=x[i])
    return jnp.sqrt(x[i])

error, y = jit(checkify.checkify(f, errors=checkify.all_checks))(x, 7)
error.throw()
"""

from .checks import (
    Check as Check,
    CheckError as CheckError,
    Error as Error,
    all_checks as all_checks,
    automatic_checks as automatic_checks,
    check as check,
    debug_check as debug_check,
    div_checks as div_checks,
    float_checks as float_checks,
    index_checks as index_checks,
    nan_checks as nan_checks,
    user_checks as user_checks,
)
from .interpreter import check_error as check_error, checkify as checkify


__all__ = [
    "Check",
    "CheckError",
    "Error",
    "all_checks",
    "automatic_checks",
    "check",
    "check_error",
    "checkify",
    "debug_check",
    "div_checks",
    "float_checks",
    "index_checks",
    "nan_checks",
    "user_checks",
]
