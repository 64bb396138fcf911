"""One program for a whole function: what makes eager calls cheap.

Outside any trace a function of this package runs as one compiled program, cached by the avals of its arrays and the values
of its static arguments. While tracing it simply runs, so that its equations land in the jaxpr being recorded.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from ..backend.array import Array, common_device, to_array
from ..backend.compile import Program, compile_jaxpr
from ..backend.evaluate import QUICK, ROUNDED_OTHERWISE, caches
from ..backend.watching import checked as checked_keys, watched
from ..core.avals import ShapedArray
from ..core.config import settings
from ..core.jaxpr import ClosedJaxpr, DebugInfo
from ..core.recent import Recent
from ..core.staging import trace_to_jaxpr
from ..core.trace import Tracer, evaluating
from ..xla import client
from ..xla.errors import XlaError
from ..xla.garbage import collect, due
from ..xla.program import RuntimeFailure


MAX_PROGRAMS = 4096


def program_cache() -> Recent:
    """A new cache of programs, which `clear_caches` empties."""
    cache = Recent(MAX_PROGRAMS)
    caches.append(cache)
    return cache


Runner = Callable[[Sequence[Any]], Any]
"""Runs a program on buffers: an array, or a container of arrays."""


def runner(closed: ClosedJaxpr, rebuild: Callable[[list[Array]], Any] | None) -> Runner:
    """How to run a program; with `debug_key_reuse`, after a look at the keys it gets, with `debug_nans` with one at its
    results."""
    run = watched(closed, closed.jaxpr.debug.name, _runner(closed, rebuild))
    return checked_keys(closed, run) if settings().debug_key_reuse else run


def _runner(closed: ClosedJaxpr, rebuild: Callable[[list[Array]], Any] | None) -> Runner:
    """The shortest way to run a program: the usual one, of one result, does in one frame what `Program.run` does."""
    program = compile_jaxpr(closed, _options(closed), settings().default_device)
    finish = rebuild or _first
    if rebuild is not None or not program.takes_all:
        return lambda bufs: finish(_run(closed, program, bufs))
    executable, (aval,) = program.executable, program.out_avals
    handlers = executable.handlers

    def run(bufs: Sequence[Any]) -> Array:
        if due():
            collect()
        try:
            return Array(executable.raw_execute(bufs).consume_with_handlers(handlers)[0], aval)
        except RuntimeFailure:
            pass  # told apart outside, so that the error shown is the only one
        return _run(closed, program, bufs)[0]

    return run


_SLOWER = ROUNDED_OTHERWISE.union(("dot_general", "transpose", "cumsum", "cumprod", "cummax", "cummin"))


def _options(closed: ClosedJaxpr) -> Any:
    """XLA's older emitter is quicker with all but these."""
    return () if any(eqn.primitive.name in _SLOWER for eqn in closed.eqns) else QUICK


def _first(outs: list[Array]) -> Array:
    return outs[0]


def _run(closed: ClosedJaxpr, program: Program, bufs: Sequence[Any]) -> list[Array]:
    """Run where the arrays are: on another device than the first, by a program for that one."""
    try:
        return program.run(bufs)
    except XlaError:
        device = common_device([buf for buf in bufs if buf.aval.shape] or bufs) if bufs else program.executable.device
        if device == program.executable.device and all(client.device_of(buf) == device for buf in bufs):
            raise
    key = ("on device", device)
    if key not in closed.derived:
        closed.derived[key] = compile_jaxpr(closed, _options(closed), device)
    # Numbers go where the arrays are.
    there = [buf if client.device_of(buf) == device else client.copy_to_device(buf, device) for buf in bufs]
    return closed.derived[key].run(there)


def compile_function(fun: Callable[..., Any], avals: Sequence[ShapedArray], name: str) -> Runner:
    """The program of a Python function of arrays; it gives an array, or a tuple or list of arrays."""
    rebuild: list[Any] = []

    def flat(*args: Any) -> list[Any]:
        out = fun(*args)
        if not isinstance(out, (tuple, list)):
            rebuild.append(None)
            return [out]
        rebuild.append(out._make if hasattr(out, "_make") else type(out))  # pyright: ignore[reportAttributeAccessIssue]
        return list(out)

    closed = trace_to_jaxpr(flat, avals, DebugInfo(name))
    return runner(closed, rebuild[0])


class _Hole:
    """Stands for an array in the structure of a call's arguments."""


_hole = _Hole()


class _Unfusable(Exception):
    """A static argument is not hashable, or a value has no place in a program: run operation by operation."""


def _dynamic(x: Any, avals: list[Any], bufs: list[Any]) -> Any:
    """Take the arrays out of an argument; what remains is its structure."""
    if type(x) is Array:
        avals.append(x.aval)
        bufs.append(x.buf)
        return _hole
    if isinstance(x, (list, tuple)):
        return (type(x), *[_dynamic(item, avals, bufs) for item in x])
    if x is None or isinstance(x, (str, slice)):
        return x
    if isinstance(x, Tracer):
        raise _Unfusable
    array = to_array(x)
    avals.append(array.aval)
    bufs.append(array.buf)
    return _hole


_PLAIN = frozenset((bool, int, str, type(None), type))
"""Types of static values that stand for themselves in a key."""
_INTS = frozenset((int,))


def _static(x: Any) -> Any:
    """A static value that is not plain, as part of a key. Raises TypeError if it is not hashable."""
    if isinstance(x, (list, tuple)):
        return tuple(x) if _INTS.issuperset(map(type, x)) else tuple(map(_static, x))
    if isinstance(x, Array):
        raise _Unfusable
    hash(x)
    return (type(x), x) if isinstance(x, (float, complex)) else x  # 1.0 and 1 are equal


def _restore(structure: Any, arrays: Any) -> Any:
    if structure is _hole:
        return next(arrays)
    if isinstance(structure, tuple):
        return [_restore(item, arrays) for item in structure[1:]]
    return structure


def fused(*, static: str = "") -> Callable[[Any], Any]:
    """Decorator: outside any trace, run the function as one program.

    `static` names the parameters (separated by blanks) that are no arrays: each of their values gets its own program. Of
    the others, arrays, numbers, and lists and tuples of these are operands; the function sees sequences as lists.
    """
    names = frozenset(static.split())

    def decorate(fun: FunctionType) -> Callable[..., Any]:
        code = fun.__code__  # inspect.signature takes a hundred times as long
        count = code.co_argcount
        fixed = tuple(name in names for name in code.co_varnames[:count])
        rest = bool(code.co_flags & inspect.CO_VARARGS)
        assert names <= set(code.co_varnames[: count + code.co_kwonlyargcount]), fun
        programs = program_cache()

        @functools.wraps(fun)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if not evaluating():
                return fun(*args, **kwargs)
            key: list[Any] = [settings()]
            bufs: list[Any] = []
            try:
                for x, still in zip(args, fixed):
                    if still:
                        key.append(x if type(x) in _PLAIN else _static(x))
                    elif type(x) is Array:
                        key.append(x.aval)
                        bufs.append(x.buf)
                    else:
                        key.append(None if x is None else (_dynamic(x, key, bufs),))
                if len(args) > len(fixed):
                    if not rest:
                        return fun(*args, **kwargs)  # raises
                    key.append((_dynamic(args[len(fixed) :], key, bufs),))
                for name, x in kwargs.items():
                    key.append(name)
                    if name in names:
                        key.append(x if type(x) in _PLAIN else _static(x))
                    else:
                        key.append((_dynamic(x, key, bufs),))
                found = tuple(key)
                run = programs.get(found)
            except (_Unfusable, TypeError):
                return fun(*args, **kwargs)
            if run is None:
                run = programs.again(found) or programs.keep(found, _build(fun, names, fixed, args, kwargs))
            return run(bufs)

        return wrapper

    return decorate


def _build(fun: Callable[..., Any], names: frozenset, fixed: tuple[bool, ...], args: tuple, kwargs: dict) -> Runner:
    avals: list[Any] = []
    bufs: list[Any] = []
    flags = fixed + (False,) * (len(args) - len(fixed))
    places = [x if still else _dynamic(x, avals, bufs) for x, still in zip(args, flags)]
    named = {name: x if name in names else _dynamic(x, avals, bufs) for name, x in kwargs.items()}

    def call(*arrays: Any) -> Any:
        given = iter(arrays)
        inner = [x if still else _restore(x, given) for x, still in zip(places, flags)]
        return fun(*inner, **{name: x if name in names else _restore(x, given) for name, x in named.items()})

    return compile_function(call, avals, fun.__name__)
