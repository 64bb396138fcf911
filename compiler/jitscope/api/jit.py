"""`jit`, and forgetting what it compiled."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..backend import evaluate  # noqa: F401  (puts the evaluating trace in place)
from ..backend.compile import clear_executables
from ..backend.dispatch import JitFunction, clear_traces
from ..backend.evaluate import clear_programs
from ..backend.static import StaticSpec


def jit(
    fun: Callable[..., Any] | None = None,
    *,
    static_argnums: Any = None,
    static_argnames: Any = None,
    donate_argnums: Any = None,
    donate_argnames: Any = None,
    device: Any = None,
    compiler_options: dict[str, Any] | None = None,
    auto_static: bool = False,
) -> Any:
    """`fun` compiled: the first call for each kind of argument traces and compiles it, later ones run the program.

    Arguments are pytrees of arrays and numbers. Those in `static_argnums` or `static_argnames` are part of the program
    instead (hashable; each value gets its own), the memory of those in `donate_argnums` or `donate_argnames` may be
    taken by results (they are deleted). `compiler_options` are XLA flags by name. `auto_static`: text, None, callables,
    types and enums passed directly are static, and a call without any array or number runs as Python.

    The result has `trace`, `lower`, `eval_shape`, `clear_cache`, and the Python function as `__wrapped__`. Also a
    decorator, with or without arguments. Raises TypeError for arguments or results that are no arrays.
    """
    if fun is None:
        return functools.partial(
            jit,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
            donate_argnums=donate_argnums,
            donate_argnames=donate_argnames,
            device=device,
            compiler_options=compiler_options,
            auto_static=auto_static,
        )
    if not callable(fun):
        raise TypeError(f"jit compiles functions; it got {type(fun).__name__}")
    spec = StaticSpec(fun, static_argnums, static_argnames, donate_argnums, donate_argnames)
    options = tuple(sorted((compiler_options or {}).items()))
    return JitFunction(fun, spec, options, device, auto_static)


def clear_caches() -> None:
    """Forget all traces and compiled programs."""
    clear_traces()
    clear_programs()
    clear_executables()
