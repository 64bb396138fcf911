"""Write down what JAX answers: `python -m tests.oracle.record [NAME …] [--all]`, in an environment with jax 0.12. NAME is a file of
samples or a table of cases. What has not changed is kept, but with --all; a program that has changed under its old name is not
noticed. `--names` records the public names instead.

The answers are those of jax 0.12.0.1 with Python 3.13; where these differ from those of 0.10.2 in last digits alone, the latter stand.
So they do for texts of Python's, for jaxprs with `scan`, whose parameters are flat trees since 0.11, and for the order of the sums in a third
derivative.
"""

from __future__ import annotations

import inspect
import json
import sys
import types
import warnings
from typing import Any

import numpy

from tests.oracle import recorded, samples, tables
from tests.oracle.answers import ask
from tests.oracle.library import Library
from tests.oracle.names import MODULES, NUMPYS, RECORDED


def entry(jax: Library, function: samples.Function) -> dict[str, Any]:
    answers = {dtype: [recorded.encode(a) for a in ask(jax, function, dtype, jax.jx.jit)] for dtype in function.dtypes}
    return {"digest": function.digest, "signature": jax.signature(function.name), "answers": answers}


def record(jax: Library, file: str, anew: bool) -> None:
    before, found = recorded.load(file), {}
    for function in samples.functions(file):
        old = before.get(function.name, {})
        if anew or old.get("digest") != function.digest:
            try:
                found[function.name] = entry(jax, function)
                print(function.name, flush=True)
            except Exception as error:  # XLA refuses a program that JAX traces: what was recorded of the others is kept
                print(f"{function.name} NOT RECORDED: {type(error).__name__}: {error}", flush=True)
        else:
            found[function.name] = old
    recorded.write(file, found)


def kind(value: Any) -> str:
    if isinstance(value, types.ModuleType):
        return "module"
    if isinstance(value, type):
        return "class"
    if type(value).__module__ in ("typing", "types") and not isinstance(value, types.FunctionType):
        return "constant"  # an alias of types
    if type(value).__name__ == "Primitive" or "Primitive" in [t.__name__ for t in type(value).__mro__]:
        return "primitive"
    if callable(value) and not isinstance(value, numpy.dtype) and type(value).__name__ != "_ScalarMeta":
        return "function"
    return "constant"


def names() -> dict[str, dict[str, str]]:
    found = {}
    for module in MODULES:
        public = vars(sys.modules[f"jax.{module}"])
        found[module] = {n: kind(v) for n, v in sorted(public.items()) if not n.startswith("_")}
    found["Array"] = {
        n: "function" if inspect.isroutine(v) else "constant"
        for n, v in sorted(vars_of(sys.modules["jax.numpy"].zeros(3)).items())
        if not n.startswith("_")
    }
    return found


def numpys() -> dict[str, Any]:
    """NumPy's own public functions."""
    functions = [n for n, v in sorted(vars(numpy).items()) if not n.startswith("_") and kind(v) == "function"]
    return {"version": numpy.__version__, "functions": functions}


def vars_of(x: Any) -> dict[str, Any]:
    return {n: getattr(type(x), n, None) for n in dir(x)}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    jax = Library("jax")
    chosen = [a for a in sys.argv[1:] if not a.startswith("--")]
    if "--names" in sys.argv:
        RECORDED.write_text(json.dumps(names(), indent=0) + "\n")
        NUMPYS.write_text(json.dumps(numpys(), indent=0) + "\n")
    else:
        for name in chosen or [*samples.files(), *(table.name for table in tables.tables())]:
            if name in samples.files():
                record(jax, name, "--all" in sys.argv)
            else:
                print(name, tables.record(jax, name, "--all" in sys.argv), flush=True)
