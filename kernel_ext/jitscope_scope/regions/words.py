"""Which functions and methods have a compiled counterpart, and why others have none."""

from __future__ import annotations

import ast
import random
from types import BuiltinFunctionType, FunctionType, ModuleType

import numpy as np


ARRAY_METHODS = frozenset(
    "sum mean dot copy astype reshape ravel flatten transpose max min argmax argmin std var cumsum cumprod clip conj "
    "conjugate all any prod round squeeze swapaxes trace diagonal repeat take set add multiply mul min max divide get "
    "apply power".split()
)
ARRAY_ATTRIBUTES = frozenset("T shape ndim size dtype real imag at itemsize nbytes mT".split())
AVERAGES = frozenset("mean median std var average nanmean".split())
"""Functions and methods that NumPy computes in float64 of whole numbers and truth values."""
STATIC_ATTRIBUTES = frozenset("shape ndim size dtype itemsize nbytes".split())
BUILTINS = frozenset("any all abs min max len float int bool complex range sum enumerate zip tuple list pow".split())
NOT_PURE = frozenset(
    "copyto put place putmask fill_diagonal seterr errstate set_printoptions vectorize frompyfunc "
    "apply_along_axis put_along_axis may_share_memory shares_memory".split()
)
ITERATORS = frozenset("nditer ndenumerate ndindex".split())
FILES = frozenset("save savez savez_compressed savetxt load loadtxt genfromtxt fromfile memmap tofile".split())
PRINTS = frozenset("print input open display".split())
MODULES = {
    "random": ("random", "draws from Python's random generator"),
    "time": ("time", "reads the clock"),
    "datetime": ("time", "reads the clock"),
    "os": ("effect", "speaks with the operating system"),
    "sys": ("effect", "speaks with the interpreter"),
    "subprocess": ("effect", "starts a process"),
    "io": ("input or output", "reads or writes"),
    "pathlib": ("input or output", "reads or writes files"),
    "json": ("input or output", "reads or writes text"),
    "pickle": ("input or output", "reads or writes objects"),
    "logging": ("input or output", "writes a log"),
}
_IN_PLACE = frozenset("sort fill resize itemset put partition setflags byteswap".split())
_AMBIGUOUS = frozenset("f beta gamma power sample bytes spawn bit_generator getstate setstate seed getrandbits".split())
DRAWS = frozenset(
    n
    for kind in (np.random.Generator, np.random.RandomState, random.Random)
    for n in dir(kind)
    if not n.startswith("_") and n not in _AMBIGUOUS and n.islower()
)
"""Methods of random generators, but for names that other objects' methods have as well."""
_LIST = frozenset(
    "append extend pop insert remove clear update setdefault add popitem discard appendleft popleft".split()
)


def why_not_function(value: object, said: str) -> tuple[str, str] | None:
    """Why a called function has no compiled counterpart: the cut's word and a note; None where it may have one."""
    if isinstance(value, type) and value in (
        float,
        int,
        bool,
        complex,
        tuple,
        list,
        range,
        zip,
        enumerate,
        reversed,
        slice,
    ):
        return None
    name = getattr(value, "__name__", said)
    module = getattr(value, "__module__", None) or _module_of_method(value)
    if isinstance(value, BuiltinFunctionType) and module == "builtins":
        if name in PRINTS:
            return "input or output", f"`{name}` is called"
        return None if name in BUILTINS else ("object", f"Python's `{name}` is called")
    root = module.partition(".")[0]
    if root in ("__main__", "cell"):
        return "object", f"an object of `{said}` is made" if isinstance(
            value, type
        ) else f"`{said}` is no plain function"
    if root == "builtins":
        return "object", f"Python's `{said}` is called"
    if module.startswith("numpy.random"):
        if isinstance(value, type) or name == "default_rng":
            return "random", f"`{said}` makes a random generator"
        does = "sets the state of" if name in ("seed", "set_state") else "draws from"
        return "random", f"`{said}` {does} NumPy's random generator"
    if root == "numpy":
        if name in FILES:
            return "input or output", f"`{said}` reads or writes a file"
        if name in ITERATORS:
            return "object", f"`{said}` is gone through by Python"
        return ("effect", f"`{said}` acts on what it is given") if name in NOT_PURE else None
    if root in MODULES:
        word, note = MODULES[root]
        return word, f"`{said}` {note}"
    if root in ("_io", "IPython"):
        return "input or output", f"`{said}` is called"
    return (
        None
        if root in ("math", "jitscope", "jax")
        else ("other library", f"`{said}` is of {root.lstrip('_') or 'another library'}")
    )


def why_not_method(name: str) -> tuple[str, str]:
    """Why a method of a value has no compiled counterpart."""
    if name in ("item", "tolist"):
        return "value read by Python", f"`.{name}()` makes Python numbers"
    if name in _IN_PLACE:
        return "effect", f"`.{name}()` changes the array in place"
    if name in _LIST:
        return "object", f"`.{name}()` changes a Python container"
    if name in ("write", "writelines", "read", "readline", "flush", "tofile", "savefig", "dump"):
        return "input or output", f"`.{name}()` reads or writes"
    if name in DRAWS:
        return "random", f"`.{name}()` draws from a random generator"
    return "object", f"`.{name}()` is a method of an object"


def counterpart(value: object, math_too: bool = True) -> str | None:
    """The dotted name below `jitscope.numpy` of a function or class of NumPy or `math`; None where there is none."""
    import jitscope.numpy as jnp

    name = getattr(value, "__name__", "")
    module = getattr(value, "__module__", None) or ""
    if math_too and module == "math":
        name = {
            "pow": "power",
            "fabs": "abs",
            "asin": "arcsin",
            "acos": "arccos",
            "atan": "arctan",
            "atan2": "arctan2",
            "asinh": "arcsinh",
            "acosh": "arccosh",
            "atanh": "arctanh",
        }.get(name, name)
        return (
            name if hasattr(jnp, name) and name not in ("floor", "ceil", "trunc", "gcd", "lcm", "factorial") else None
        )
    if name == "bool":
        return "bool_"
    for prefix in ("linalg", "fft"):
        if module.startswith(f"numpy.{prefix}"):
            return f"{prefix}.{name}" if hasattr(getattr(jnp, prefix), name) else None
    return name if hasattr(jnp, name) else None


def special(value: object) -> str | None:
    """The name below `scipy.special` of a function of `math` that NumPy does not have."""
    if getattr(value, "__module__", "") != "math":
        return None
    return {"erf": "erf", "erfc": "erfc", "lgamma": "gammaln"}.get(getattr(value, "__name__", ""))


def of_users(value: object) -> bool:
    """Whether a value is a function that Python code of a cell made."""
    return isinstance(value, FunctionType) and (
        value.__code__.co_filename.startswith("<cell") or value.__globals__.get("__name__") == "__main__"
    )


def is_static(value: object) -> bool:
    """Whether a value is known while tracing: whole numbers, texts, None, types, and tuples of those."""
    if isinstance(value, tuple):
        return all(map(is_static, value))
    return value is None or isinstance(value, (bool, int, str, type, slice))


def _module_of_method(value: object) -> str:
    owner = getattr(value, "__self__", None)
    if owner is None:
        return type(value).__module__ if type(value).__name__ == "ufunc" else ""
    return type(owner).__module__ if not isinstance(owner, ModuleType) else owner.__name__


def dotted(node: ast.expr) -> str:
    """The text of an expression, for people."""
    return ast.unparse(node)
