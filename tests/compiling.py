"""How programs are compiled: as users compile them, or in less time (`extent.Way`); and how they are computed without code."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tests import extent
from tests.extent import Way


if TYPE_CHECKING:
    from jitscope.core.jaxpr import ClosedJaxpr


_now: dict[str, Any] = {}  # the options that hold, once they were set


@cache
def _as_users() -> Callable[[], bytes]:
    """What gives XLA's options as they are."""
    from jitscope.xla import program  # now: conftest.py must set its variables before

    return program.default_options


@cache
def _given(options: tuple[tuple[str, bool | int], ...]) -> bytes:
    """What XLA is told with these options besides. A process reads XLA_FLAGS once, so that another one is asked."""
    code = "from jitscope.xla import program; print(program.default_options().hex())"
    env = os.environ | extent.flags(**dict(options))
    said = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True).stdout
    return bytes.fromhex(said)


def compile_in(way: Way) -> None:
    """From now on programs are compiled so. Those that were compiled with other options are forgotten."""
    if way.options != _now:
        import jitscope
        from jitscope.xla import program

        as_users = _as_users()
        program.default_options = partial(_given, tuple(way.options.items())) if way.options else as_users
        jitscope.clear_caches()
        _now.clear()
        _now.update(way.options)


WRONG = (b"top_k", b"count_leading_zeros")
"""What XLA computes wrongly of constants: integers in some orders of axes; with 0.10.2 negative ones."""


def once(fun: Callable[..., Any]) -> Callable[..., Any]:
    """`jit(fun)` for one call. At `make test` its arguments are written into the program as constants: XLA computes what follows from them
    while it compiles, and makes code of the rest alone (loops, calls of LAPACK). That takes a fifth of the time.

    Tests that are compiled as users compile have `jit(fun)` itself, and so have programs that take keys or call Python.
    """
    import jitscope as jx

    run = jx.jit(fun, compiler_options=extent.QUICK)

    def value(*args: Any) -> Any:
        traced = run.trace(*args)
        results = evaluated(traced.jaxpr, jx.tree.leaves(args))
        return run(*args) if results is None else jx.tree.unflatten(traced.out_tree, results)

    return value


def evaluated(closed: ClosedJaxpr, arguments: Sequence[Any]) -> list[Any] | None:
    """The results of a program for these arguments (see `once`); None if the test's programs are compiled as users compile them, or
    if this one calls Python or has keys."""
    from jitscope.backend.array import Array
    from jitscope.backend.lowering import lower_jaxpr
    from jitscope.core.dtypes import is_extended
    from jitscope.core.jaxpr import ClosedJaxpr, Jaxpr
    from jitscope.xla import mlir
    from jitscope.xla.callbacks import calls_python
    from jitscope.xla.program import Executable, compile_options

    if not _now or any(is_extended(aval.dtype) for aval in [*closed.in_avals, *closed.out_avals]):
        return None
    jaxpr, constants = (
        closed.jaxpr,
        [*closed.consts, *(np.asarray(x, a.dtype) for x, a in zip(arguments, closed.in_avals))],
    )
    constant = Jaxpr([*jaxpr.constvars, *jaxpr.invars], [], jaxpr.outvars, jaxpr.eqns, jaxpr.effects, jaxpr.debug)
    module = mlir.to_bytecode(lower_jaxpr(ClosedJaxpr(constant, constants), "evaluated"))
    if calls_python(module) or any(name in module for name in WRONG):
        return None
    outputs = [(aval.shape, aval.dtype) for aval in closed.out_avals]
    program = Executable.compile(module, outputs, options=compile_options(overrides=extent.QUICK))
    return [Array(buf, aval) for buf, aval in zip(program.run([]), closed.out_avals)]
